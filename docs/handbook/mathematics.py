"""Formulae as MathML, which browsers draw by themselves: pages load nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

logger = getLogger(__name__)


def add_renderer(app: Sphinx) -> None:
    """Tell Sphinx of the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _displayed(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(_mathml(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("formula: %s", error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"
