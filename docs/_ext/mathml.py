"""Render formulas as MathML with the converter that docutils ships (2-clause BSD)."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

_NAMED = "sin|cos|tan|cot|sinh|cosh|coth|ln|min|max"
_SPACED = re.compile(
    rf"<mi>({_NAMED})</mi>(?P<up>(?:\s*<m[ino]>[^<]*</m[ino]>\s*</msup>)?)"
    r"(?:\s*<mo>&ApplyFunction;</mo>)?(?=\s*(?P<open><mo[^>]*>[({]</mo>)?)"
)
_BARS = re.compile(r"<mo[^>]*>([|‖⟨⟩])</mo>")


def _space(match: re.Match[str]) -> str:
    """A named function as an operator with TeX's thin spaces; browsers set none by themselves."""
    after = "0" if match["open"] else "0.17em"
    return f'<mo lspace="0.17em" rspace="{after}">{match[1]}</mo>{match["up"]}'


def _mathml(node: nodes.Element, block: bool) -> str:
    tex = node.astext().strip()
    if block and ("\\\\" in tex or "&" in tex) and "\\begin" not in tex:
        tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    try:
        text = tex2mathml(tex, as_block=block)
    except MathError as error:
        raise ExtensionError(f"{node.source}:{node.line}: {error} in the formula {tex}") from error
    text = _SPACED.sub(_space, text).replace("ˉ", "¯")  # the macron that fonts draw as a bar
    return _BARS.sub(r'<mo lspace="0" rspace="0" stretchy="false">\1</mo>', text)


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
