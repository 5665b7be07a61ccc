"""The page in a real browser, served by the command: what a person does, sees and breaks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import geodp as gd

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; source .ci/chromium")
PATIENCE = 60_000  # milliseconds


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        home = tmp_path_factory.mktemp("browser")
        made = play.chromium.launch_persistent_context(
            home, executable_path=CHROMIUM, args=ARGUMENTS, viewport={"width": 1280, "height": 900}
        )
        made.set_default_timeout(PATIENCE)
        yield made
        made.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The first line that the command prints; and a ledger with a budget of mu = 1."""
    place = tmp_path_factory.mktemp("served")
    gd.Ledger.create(place / "budget.db", gd.GaussianDP(1), unit="person")
    np.save(place / "points.npy", np.full((50, 2), 0.25))
    words = ["serve", "--port", "0", "--no-browser", "--ledger", str(place / "budget.db")]
    with subprocess.Popen(
        [sys.executable, "-m", "geodp", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        first = process.stdout.readline().strip()
        yield first, place
        process.terminate()
        process.wait(20)


@pytest.fixture
def asked(chromium, address):
    """Every address that the browser asks for, checked when the test is over."""
    seen = []
    chromium.on("request", lambda request: seen.append(request.url))
    yield seen
    here = address[0].split("?")[0]
    assert seen
    assert [url for url in seen if not url.startswith(here)] == []


@pytest.fixture
def page(chromium, address, asked):
    made = chromium.new_page()
    errors = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.goto(address[0])
    yield made
    made.close()
    assert errors == []


def here(address):
    return address[0].split("?")[0]


def plan(page, address, mu, dataset="study"):
    """Fill in the form of a release and go on to its plan."""
    page.goto(f"{here(address)}release")
    fields = {"space": "euclidean:2", "radius": "1", "amount": mu, "dataset": dataset}
    for name, text in fields.items():
        page.fill(f"#{name}", text)
    page.fill("#file", str(address[1] / "points.npy"))
    page.select_option("#mechanism", "wrapped-gaussian")
    page.click("text=Plan this release")
    page.wait_for_selector("#digest")


def left(address):
    return gd.Ledger(address[1] / "budget.db").left


def reserved(address):
    return sum(e["kind"] == "reserve" for e in gd.Ledger(address[1] / "budget.db").history())


def test_the_curve_follows_the_form(page):
    assert "token" not in page.url
    before = page.locator("#view .charts svg").first.text_content()
    answer = page.inner_text(".answer")
    page.fill("#n", "20000")
    page.wait_for_function(
        "said => document.querySelector('.answer').textContent != said", arg=answer
    )
    assert "0.000354" in page.inner_text(".answer")
    page.fill("#target", "0.02")
    page.wait_for_selector("#needed")
    assert page.locator("#view .charts svg").count() == 3
    assert "n=20000" in page.url
    page.select_option("#notion", "pure")
    page.wait_for_function(
        "() => document.querySelector('.answer').textContent.includes('wrapped-l2-laplace')"
    )
    assert page.locator("#view .charts svg").first.text_content() != before
    assert page.get_attribute("#view .charts svg path.curve", "d").count("L") > 8
    page.reload()
    assert page.input_value("#n") == "20000"


def test_rows_that_take_longer_come_in_by_themselves(page):
    page.fill("#space", "euclidean:2")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#view tbody th')].length > 5"
        " && !document.querySelector('#view').textContent.includes('being computed')"
        " && document.querySelector('#view').textContent.includes('data units')"
    )
    assert page.locator("#view th:has-text('riemannian-laplace')").count() == 2


def test_a_bad_field_says_so_beside_itself(page):
    page.fill("#radius", "wide")
    page.wait_for_selector("#wrong-radius:not(:empty)")
    assert page.inner_text("#wrong-radius") == "The radius must be a number."
    assert page.get_attribute("#radius", "aria-invalid") == "true"
    page.fill("#radius", "1")
    page.wait_for_selector("#wrong-radius", state="hidden")
    page.wait_for_selector('#radius[aria-invalid="false"]')


def test_release_receipt_reload_double_click_and_race(page, chromium, address):
    plan(page, address, "0.6")
    assert reserved(address) == 0
    page.dblclick("text=Spend and release")
    page.wait_for_selector(".verdict.ok")
    receipt = page.url
    assert reserved(address) == 1
    page.reload()
    page.wait_for_selector(".verdict.ok")
    page.go_back()
    assert "This plan was released" in page.inner_text(".answer")
    page.click("text=Spend and release")
    page.wait_for_selector(".verdict.ok")
    assert page.url == receipt
    assert reserved(address) == 1
    page.goto(f"{here(address)}ledger")
    assert page.inner_text("#left") == "mu 0.8"
    page.click("text=Entry 3")
    page.wait_for_selector(".verdict.ok")
    with page.expect_download() as waited:
        page.click("text=Download the receipt")
    document = json.loads(Path(waited.value.path()).read_text(encoding="utf-8"))
    assert all(check.passed for check in gd.verify(gd.Release.from_json(document)))

    other = chromium.new_page()  # two tabs want the last of the budget
    plan(page, address, "0.8")
    plan(other, address, "0.8")
    for tab in (page, other):
        tab.evaluate("setTimeout(() => document.querySelector('main form button').click(), 50)")
    said = []
    for tab in (page, other):
        tab.wait_for_selector(".verdict.ok, .warning")
        said.append(tab.locator(".warning").count())
    other.close()
    assert sorted(said) == [0, 1]
    assert reserved(address) == 2
    assert left(address) is None


def test_keyboard_alone(page, address):
    page.goto(f"{here(address)}receipt")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Verify":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#wrong-receipt:not(:empty)")


def accessible(page, path):
    """No wider than the screen, and nothing serious that axe finds."""
    from axe_playwright_python.sync_playwright import Axe

    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    found = Axe().run(page).response["violations"]
    serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
    assert serious == [], (path, json.dumps(found)[:2000])


def test_an_inference_on_a_phone_with_its_picture(chromium, address, asked):
    page = chromium.new_page()
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(address[0])
    page.goto(f"{here(address)}release")
    fields = {"space": "euclidean:2", "radius": "1", "amount": "0.5", "ledger": ""}
    for name, text in fields.items():
        page.fill(f"#{name}", text)
    page.fill("#file", str(address[1] / "points.npy"))
    page.select_option("#statistic", "inference")
    page.click("text=Plan this release")
    page.wait_for_selector("#digest")
    accessible(page, "plan")
    page.click("text=Spend and release")
    page.wait_for_selector("text=Download all of it")
    page.wait_for_function(
        "() => [...document.images].every(one => one.complete && one.naturalWidth > 0)"
    )
    accessible(page, "inference")
    page.click("main ul a:has-text('mean:')")
    page.wait_for_selector(".verdict.ok")
    accessible(page, "receipt")
    page.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_accessible_and_no_wider_than_the_screen(chromium, address, asked, width):
    page = chromium.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address[0])
    for path in ("?target=0.02", "?n=x", "release", "ledger", "receipt", "nowhere"):
        page.goto(here(address) + path)
        accessible(page, path)
    page.close()


def test_without_javascript(chromium, address, asked):
    """The same pages by forms alone."""
    page = chromium.new_page()
    page.route("**/*.js", lambda route: route.abort())
    page.goto(address[0])
    page.fill("#n", "20000")
    page.click("form button:has-text('Plan')")
    page.wait_for_load_state()
    assert "0.000354" in page.inner_text(".answer")
    page.click("text=Go on to a release")
    assert page.input_value("#space") == "spd:3:affine-invariant"
    page.close()


def test_persons_with_several_records_by_keyboard_and_without_javascript(chromium, address, asked):
    file = address[1] / "persons.csv"
    file.write_text("who,x,y\n" + "".join(f"p{i // 2},0.1,0.2\n" for i in range(40)))
    page = chromium.new_page()
    page.route("**/*.js", lambda route: route.abort())
    page.goto(address[0])
    page.goto(f"{here(address)}release")
    fields = {"space": "euclidean:2", "radius": "1", "amount": "0.5", "ledger": ""}
    for name, text in (fields | {"file": str(file), "unit": "person"}).items():
        page.fill(f"#{name}", text)
    page.select_option("#mechanism", "wrapped-gaussian")
    page.select_option("#header", "yes")
    page.focus("#unit")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "entities"
    page.keyboard.type("whose")
    page.keyboard.press("Enter")
    page.wait_for_selector("#wrong-entities:not(:empty)")
    accessible(page, "refused")
    page.fill("#entities", "who")
    page.keyboard.press("Enter")
    page.wait_for_selector("#digest")
    assert "of 20 persons" in page.inner_text("dl")
    accessible(page, "plan of persons")
    page.close()


def test_nobody_listens_but_this_machine(address):
    port = int(here(address).rstrip("/").rpartition(":")[2])
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("no table of sockets here")
    rows = table.read_text().splitlines()[1:]
    bound = [row.split()[1] for row in rows if row.split()[3] == "0A"]
    assert [one for one in bound if one.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]
