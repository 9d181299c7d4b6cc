"""Numbers, their units and signs behind formulae that no end of a line takes apart."""

from __future__ import annotations

import re

MARKUP = re.compile(
    r"(<(pre|code|script|style|title|math|svg)\b.*?</\2>|<span class=w>.*?</span>|<[^>]*>)",
    re.DOTALL,
)
"""What is no text: tags, and elements whose content stays as it is."""

UNITS = (
    r"%|[mnµ]?m[²³]?|dm³|[mµn]?s|min|k?N(?: m| s/m| s)?(?:/\w+)?|k?g|kg m²?|k?Hz|deg(?:/s)?|dB|W|"
    r"V|A|[mµn]?rad(?:/s)?|m/s²?|mm/s|[kM]B|MiB|GiB"
)

MEASURED = re.compile(rf"(?<=\d) (?:{UNITS})(?![\w/])")

POWER_OF_TEN = re.compile(r"-?\d[\d.]*e-\d+")

SPREAD = re.compile(r"(?<=\d) (?=± \d)")

BEHIND_FORMULA = re.compile(r"(?<=</math>)(?=[.,;:)])")


def unbroken(html: str) -> str:
    """Return a page of which numbers and units stay on one line."""
    found = MARKUP.split(html)
    # Every third part is text; between two of them are markup and the name of its element.
    found[::3] = map(_whole, found[::3])
    found[2::3] = [""] * len(found[2::3])
    return BEHIND_FORMULA.sub("\N{WORD JOINER}", "".join(found))


def _whole(text: str) -> str:
    text = MEASURED.sub(lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    text = SPREAD.sub("\N{NO-BREAK SPACE}", text)
    return POWER_OF_TEN.sub(r"<span class=w>\g<0></span>", text)
