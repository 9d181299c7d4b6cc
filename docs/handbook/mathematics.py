"""Formulae as MathML, which browsers draw by themselves: pages load nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def add_renderer(app: Sphinx) -> None:
    """Tell Sphinx of the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _displayed(writer: Any, node: nodes.math_block) -> None:
    code = node.astext()
    if "\\\\" in code and "\\begin" not in code:
        code = f"\\begin{{align}}{code}\\end{{align}}"
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(tex2mathml(code, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode
