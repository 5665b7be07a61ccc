"""Render formulas as MathML with the converter that docutils ships (public domain)."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def _mathml(node: nodes.Element, block: bool) -> str:
    tex = node.astext().strip()
    if block and ("\\\\" in tex or "&" in tex) and "\\begin" not in tex:
        tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    try:
        return tex2mathml(tex, as_block=block)
    except MathError as error:
        raise ExtensionError(f"{node.source}:{node.line}: {error} in the formula {tex}") from error


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = writer.builder.env.get_domain("math").get_equation_number_for(node["label"])
        writer.body.append(f'<span class="eqno">({number or node["number"]})</span>')
    writer.body.append(_mathml(node, block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
