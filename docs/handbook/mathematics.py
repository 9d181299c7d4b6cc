"""Formulae as MathML, which browsers draw by themselves: pages load nothing from elsewhere."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

logger = getLogger(__name__)

ACCENTS = {"dot": "\u0307", "ddot": "\u0308", "hat": "\u0302", "bar": "\u0304"}

TALL_ACCENTS = {"dot": "\u02d9", "ddot": "\u00a8", "hat": "\u02c6", "bar": "\u00af"}

TALL = frozenset("fβδζθλξϕΓΔΘΛΞΠΣΦΨΩ")
"""Letters in which common fonts draw a combining mark instead of above them, or an index over f."""

ACCENTED = re.compile(r"\\(dot|ddot|hat|bar)\s*(?:\{\s*(\\?[A-Za-z]+)\s*\}|(\\[A-Za-z]+|[A-Za-z]))")

TIGHT = re.compile(r"<mo([^>]*)>([|‖/])</mo>")
"""Bars and strokes, around which browsers leave the space of a relation or a product."""

APPLIED = re.compile(r"<mo>&ApplyFunction;</mo>(?!\s*<mo[^>]*>\()")
"""Between a function and what follows without brackets."""

FACTOR = re.compile(
    r"((?:</(?:mi|mn|msub|msup|msubsup|mrow|mover)>|[)\]]</mo>)\s*)(?=<mi[^>]*>\w{2,}</mi>\s*<mo>&Apply)"
)
"""Before a function that follows a factor; browsers leave no space here or there."""

THIN = '<mspace width="0.17em"></mspace>'

PRIMES = re.compile(
    r"(?P<text>\\text\w*\{[^{}]*\})|(?P<primes>'+)(?:\^(?:\{(?P<group>[^{}]*)\}|(?P<one>\w)))?"
)
"""Text, or apostrophes with what is raised after them."""

FIRST_STAND_IN = 0x10D0
"""Georgian letters, of which no formula has any."""


def add_renderer(app: Sphinx) -> None:
    """Tell Sphinx of the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def as_mathml(formula: str, *, as_block: bool) -> str:
    r"""Return a formula of LaTeX as MathML.

    Letters under `\dot`, `\ddot`, `\hat` and `\bar` become letters with combining marks: drawn as
    accents they need a font for mathematics. Tall letters do get accents. Indices stay beside both.
    Apostrophes outside `\text` become primes, which fonts raise themselves.

    Raises:
        MathError: docutils does not know a command.
    """
    letters: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        base = re.sub(r"<[^>]*>|\s", "", tex2mathml(found[2] or found[3], as_block=False))
        letters.append(_accented(base, found[1]))
        return f" {chr(FIRST_STAND_IN + len(letters) - 1)} "

    formula = PRIMES.sub(_with_primes, formula)
    text = str(tex2mathml(ACCENTED.sub(stand_in, formula), as_block=as_block))
    for k, letter in enumerate(letters):
        text = text.replace(f"<mi>{chr(FIRST_STAND_IN + k)}</mi>", letter)
    text = TIGHT.sub(r'<mo\1 lspace="0" rspace="0">\2</mo>', text)
    return APPLIED.sub(THIN, FACTOR.sub(rf"\1{THIN}", text))


def _with_primes(found: re.Match[str]) -> str:
    if found["text"]:
        return found["text"]
    raised = found["group"] or found["one"]
    return r"\prime " * len(found["primes"]) + (f"^{{{raised}}}" if raised else "")


def _accented(letter: str, accent: str) -> str:
    if letter in TALL:
        mark = f'<mo stretchy="false">{TALL_ACCENTS[accent]}</mo>'
        return f'<mover accent="true"><mi>{letter}</mi>{mark}</mover>'
    return f'<mi class="accented">{letter}{ACCENTS[accent]}</mi>'


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_rendered(node, as_block=False))
    raise nodes.SkipNode


def _displayed(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(_rendered(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _rendered(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return re.sub(r">\s+<", "><", as_mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("formula: %s", error, location=node)
        return ""
