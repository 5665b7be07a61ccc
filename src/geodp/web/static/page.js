"use strict";
// Small comforts; every page works without them.
function mark() {
  document.querySelectorAll(".field .wrong").forEach(function (said) {
    var input = document.getElementById(said.id.replace("wrong-", ""));
    if (input) { input.setAttribute("aria-invalid", said.textContent.trim() ? "true" : "false"); }
  });
}
document.addEventListener("htmx:afterSettle", mark);
document.addEventListener("submit", function (event) {
  var form = event.target;
  if (form.method !== "post") { return; }
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  form.querySelectorAll("button").forEach(function (button) {
    button.setAttribute("aria-disabled", "true");
    if (button.dataset.busy) { button.textContent = button.dataset.busy; }
  });
});
window.addEventListener("pageshow", function (event) {
  if (event.persisted) { window.location.reload(); }
});
