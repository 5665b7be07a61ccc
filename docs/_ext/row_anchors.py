"""Rows of the table of experiments can be linked to, by the name of their script.

``[row](experiments.md#study)`` finds the first row that names ``study.py``; GitHub shows the same
table in ``experiments/README.md``, without anchors.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

DOCUMENT = "experiments"


def _anchors(app: Sphinx, doctree: nodes.document) -> None:
    if app.env.docname != DOCUMENT:
        return
    slugs = app.env.metadata[DOCUMENT].setdefault("myst_slugs", {})
    for row in doctree.findall(nodes.row):
        names = (re.match(r"(\w+)\.py\b", code.astext()) for code in row.findall(nodes.literal))
        name = next((found[1] for found in names if found), None)
        if name is not None and name not in slugs:
            row["ids"].append(name)
            slugs[name] = (row.line or 0, name, name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", _anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
