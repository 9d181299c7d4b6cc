"""Numbers, their units, options and signs beside formulae that no end of a line takes apart."""

from __future__ import annotations

import re

WHOLE = "<span class=whole>{}</span>"

MARKUP = re.compile(
    r"(<(pre|code|script|style|title|math|svg)\b.*?</\2>|<span class=whole>.*?</span>|<[^>]*>)",
    re.DOTALL,
)
"""What is no text: tags, and elements whose content stays as it is."""

UNITS = (
    r"%|[mnµ]?m[²³]?|dm³|[mµn]?s|min|k?N(?: m| s/m| s)?(?:/\w+)?|k?g|kg m²?|k?Hz|deg(?:/s)?|dB|W|"
    r"V|A|[mµn]?rad(?:/s)?|m/s²?|mm/s|[kM]B|MiB|GiB"
)

MEASURED = re.compile(rf"(?<=\d) (?:{UNITS})(?![\w/])")

POWER_OF_TEN = re.compile(r"-?\d[\d.]*e-\d+")

SPREAD = re.compile(r"(?<=\d) ± (?=-?\d)")

RATIO = re.compile(
    r"(?<![\w/.-])(?:1|[kM]?N(?:\N{NO-BREAK SPACE}(?:m|s))?|[mnµ]?m|deg|[mµn]?rad|k?g|[AVW])"
    r"/(?:[mµ]?m|s|rad|deg|kg|[AVN]|Hz|min)[²³]?(?![\w/])"
)
"""A unit that a browser would break behind its slash."""

FORMULA = re.compile(
    r"(?<!<span class=whole>)(?<!<span class=whole>\()"
    r"(\(?<math\b(?![^>]*display=\"block\")(?:(?!</math>).)*</math>[.,;:)]+|"
    r"\(<math\b(?![^>]*display=\"block\")(?:(?!</math>).)*</math>)",
    re.DOTALL,
)
"""A formula in a line with the signs that belong to it."""

CODE = re.compile(r'(?<=<code class="literal">)[^<]*(?=</code>)')

OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
"""Of a command, in code inside a sentence."""


def unbroken(html: str) -> str:
    """Return a page in which numbers and units, options, formulae and signs stay on one line."""
    found = MARKUP.split(html)
    # Every third part is text; between two of them are markup and the name of its element.
    found[::3] = map(_whole, found[::3])
    found[2::3] = [""] * len(found[2::3])
    html = FORMULA.sub(WHOLE.format(r"\1"), "".join(found))
    return CODE.sub(lambda code: OPTION.sub(WHOLE.format(r"\g<0>"), code[0]), html)


def _whole(text: str) -> str:
    text = MEASURED.sub(lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    text = SPREAD.sub("\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}", text)
    text = RATIO.sub(WHOLE.format(r"\g<0>"), text)
    return POWER_OF_TEN.sub(WHOLE.format(r"\g<0>"), text)
