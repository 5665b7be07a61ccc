"""The API page grows with ``geodp.__all__``; references to private modules find the public name."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import geodp

MARKER, MODULES_MARKER = "PUBLIC-NAMES", "PUBLIC-MODULES"
MODULES = ("inference", "io", "plots", "report", "testing", "testing.audit")


def _names() -> list[str]:
    """The public names."""
    return list(getattr(geodp, "__all__", []))


def _block(directive: str, name: str) -> list[str]:
    return [f".. {directive}:: geodp.{name}", ""]


def _listing() -> str:
    groups: dict[str, list[str]] = {"autofunction": [], "autoclass": [], "autoexception": []}
    for name in _names():
        value = getattr(geodp, name)
        if inspect.ismodule(value):
            continue
        if not inspect.isclass(value):
            groups["autofunction" if callable(value) else "autodata"].append(name)
        elif issubclass(value, BaseException):
            groups["autoexception"].append(name)
        else:
            groups["autoclass"].append(name)
    lines: list[str] = []
    titles = {"autofunction": "Functions", "autoclass": "Classes", "autoexception": "Errors"}
    for directive, names in groups.items():
        if not names:
            continue
        title = titles[directive]
        lines += [
            "",
            f"## {title}",
            "",
            "```{eval-rst}",
            ".. autosummary::",
            "   :nosignatures:",
            "",
        ]
        lines += [f"   geodp.{name}" for name in names] + [""]
        for name in names:
            lines += _block(directive, name)
        lines += ["```"]
    return "\n".join(lines) if lines else "No public names yet."


def _modules() -> str:
    """A table for each public module: its names and the first sentences of their help."""
    lines: list[str] = []
    for short in MODULES:
        module = importlib.import_module(f"geodp.{short}")
        lines += ["", f"## geodp.{short}", "", inspect.getdoc(module) or "", "", "| name | |"]
        lines += ["|---|---|"]
        for name in module.__all__:
            said = (inspect.getdoc(getattr(module, name)) or "").split("\n\n")[0]
            text = " ".join(said.replace("``", "`").split()).replace("|", "\\|")
            lines += [f"| `{name}` | {text} |"]
    return "\n".join(lines)


def _insert(app: Sphinx, docname: str, source: list[str]) -> None:
    for marker, listing in ((MARKER, _listing), (MODULES_MARKER, _modules)):
        if marker in source[0]:
            source[0] = source[0].replace(marker, listing())


def _escape(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A bar is mathematics in our docstrings, never a substitution."""
    for i, line in enumerate(lines):
        if "|" in line and ">>>" not in line:
            parts = re.split(r"(``.*?``)", line)
            lines[i] = "".join(
                p if p.startswith("``") else re.sub(r"(?<!\\)\|", r"\\|", p) for p in parts
            )


def _describe(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our sections say ``name : description``; napoleon wants the description on its own line."""
    listed = False
    out: list[str] = []
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        if re.fullmatch(r"-{3,}", following):
            listed = line in ("Parameters", "Attributes", "Raises", "Returns")
        entry = re.fullmatch(r"(\S.*?) : (.+)", line)
        out += [entry[1], f"    {entry[2]}"] if listed and entry else [line]
    lines[:] = out


def _signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, text: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Type aliases by their name."""
    plain = [s and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", s) for s in (text, returns)]
    return plain[0], plain[1]


def _resolve(app: Sphinx, env: Any, node: nodes.Element, content: nodes.Node) -> Any:
    """A private name's public twin, or plain text; a public name that is missing stays an error."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    last = target.rpartition(".")[2]
    if re.fullmatch(r"geodp\.\w+", target):
        return None
    if last in _names():
        python = env.get_domain("py")
        found = python.objects.get(f"geodp.{last}")
        if found is not None:
            builder, here = app.builder, node.get("refdoc", env.docname)
            return python.resolve_xref(
                env, here, builder, node["reftype"], f"geodp.{last}", node, content
            )
    return content


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _insert)
    app.connect("autodoc-process-docstring", _describe, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _escape)
    app.connect("autodoc-process-signature", _signature)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
