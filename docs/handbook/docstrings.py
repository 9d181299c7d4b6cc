"""Docstrings, which are Markdown with Google's sections, as the markup that Sphinx reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile

CODE = re.compile(r"(`[^`]+`)")

SPECIAL = re.compile(r"([*|\\])|(?<=\w)(_)(?!\w)")
"""Characters that mean emphasis, a substitution or a reference in reStructuredText."""

ALIAS = re.compile(r"Alias for field number \d+")
"""Python's docstring of a field without one of its own."""

PAGE = re.compile(r"\bdocs/(\w+)\.md\b")
"""A page of the handbook, named by its file."""

RULE = re.compile(r"\|[\s:|-]+\|")


def as_restructured(lines: Sequence[str]) -> list[str]:
    """Return the lines of a docstring with tables, code and special characters rewritten."""
    if len(lines) and ALIAS.fullmatch(lines[0]):
        return []
    return list(_blocks(list(lines)))


def _blocks(lines: list[str]) -> Iterator[str]:
    k, before = 0, 0
    while k < len(lines):
        taken = list(takewhile(_is_row, lines[k:]))
        if taken:
            yield from _table(taken)
        elif k and not lines[k - 1].strip() and _indent(lines[k]) >= before + 4:
            taken = list(takewhile(partial(_is_inside, before), lines[k:]))
            yield from _displayed(taken, before)
        else:
            taken = lines[k : k + 1]
            before = _indent(lines[k]) if lines[k].strip() else before
            yield _text(lines[k])
        k += len(taken)


def _is_inside(before: int, line: str) -> bool:
    return not line.strip() or _indent(line) > before


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


def _displayed(lines: list[str], before: int) -> Iterator[str]:
    """Yield a block of formulae or code as it is written."""
    yield from (f"{' ' * before}::", "", *lines, "")


def _is_row(line: str) -> bool:
    text = line.strip()
    return len(text) > 2 and text.startswith("| ") and text.endswith(" |")


def _text(line: str) -> str:
    """Return a line outside tables: code in double backticks, the rest without special meaning."""
    parts = CODE.split(line)
    return "".join(
        f"``{part[1:-1]}``" if k % 2 else PAGE.sub(r":doc:`/\1`", SPECIAL.sub(r"\\\g<0>", part))
        for k, part in enumerate(parts)
    )


def _table(lines: list[str]) -> Iterator[str]:
    """Yield a table of Markdown as a list of lists, which needs no column widths."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    yield ""
    yield f"{indent}.. list-table::"
    yield f"{indent}   :header-rows: 1"
    yield ""
    for line in lines:
        if RULE.fullmatch(line.strip()):
            continue
        for k, cell in enumerate(cells(line)):
            yield f"{indent}   {'* -' if k == 0 else '  -'} {_text(cell)}".rstrip()
    yield ""


def cells(row: str) -> list[str]:
    """Return the texts of a row of a Markdown table."""
    inside = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inside)]
