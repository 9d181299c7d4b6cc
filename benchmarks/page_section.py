"""A part of a page that a benchmark writes, between its marks."""

from __future__ import annotations

from pathlib import Path

from twin.basics.files import write_text
from twin.errors import InputError


def write_section(page: Path, name: str, body: str) -> None:
    """Replace what stands between `<!-- name: begin -->` and `<!-- name: end -->` of a page.

    Raises:
        InputError: the page does not have both marks once, in this order.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise InputError("page", f"{page} must have {begin} and then {end}, each once")
    head, tail = text.split(begin)[0], text.split(end)[1]
    write_text(page, f"{head}{begin}\n{body}\n{end}{tail}")
