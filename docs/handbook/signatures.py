"""Signatures of the interface as a reader wants them: types without their checks, short values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.inspect import TypeAliasForwardRef

CHECKED = re.compile(r"(?<![\w.])~?(?:\w+\.)*Annotated\[")

NO_CODE = re.compile(r"<(?:function|factory|class|object|bound|built-in)\b|\bobject at 0x")
"""In the text of a value that no reader could write."""

SCALAR = re.compile(r"\bnp\.(?:float64|int64|bool)\(([^()]*)\)")

LONGEST_VALUE, LONGEST_DEFAULT = 100, 60
"""Characters of the value of a constant and of a default that are shown."""

LEFT_OUT = "..."
"""Stands for a longer one."""


def without_checks(text: str) -> str:
    """Return a signature in which `Annotated[type, checks ...]` is the type alone."""
    while (found := CHECKED.search(text)) and (ends := list(_ends(text, found.end()))):
        text = text[: found.start()] + text[found.end() : ends[0]] + text[ends[-1] + 1 :]
    return text


def without_long_defaults(arguments: str) -> str:
    """Return the arguments of a signature, `...` for defaults that are long or no code."""
    begin, parts = 1, []
    ends = list(_ends(arguments, begin))
    if not ends or ends[-1] != len(arguments) - 1:
        return arguments
    for end in ends:
        name, sign, value = _split_default(arguments[begin:end])
        parts.append(name + sign + short(value, LONGEST_DEFAULT) if sign else name)
        begin = end + 1
    return f"({','.join(parts)})"


def short(value: str, longest: int) -> str:
    """Return the text of a value, `...` where it is longer or no code."""
    value = SCALAR.sub(r"\1", value)
    return LEFT_OUT if len(value) > longest or NO_CODE.search(value) else value


def plain_signature(*event: Any) -> tuple[str | None, str | None]:
    """Return arguments and result as Sphinx asks for them with `autodoc-process-signature`."""
    arguments, result = (without_checks(part or "") or None for part in event[-2:])
    return arguments and without_long_defaults(arguments), result


def name_aliases() -> None:
    """Let the types that `autodoc_type_aliases` names be written by their names inside others."""
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]


def shorten_values(app: Any, doctree: nodes.document, name: str) -> None:
    """Put `...` for long values of constants, in place; leave out what types stand for if long."""
    for node in doctree.findall(addnodes.desc_annotation):
        value = node.children[-1]
        if node.astext().lstrip().startswith("=") and isinstance(value, nodes.Text):
            node.replace(value, nodes.Text(short(value.astext(), LONGEST_VALUE)))
    for node in list(doctree.findall(nodes.paragraph)):
        text = node.astext()
        if text.startswith("alias of ") and (len(text) > LONGEST_VALUE or CHECKED.search(text)):
            node.parent.remove(node)


def _ends(text: str, begin: int) -> Iterator[int]:
    """Yield the places of commas from `begin` on, and of the bracket that closes what is there."""
    depth, quote, k = 0, "", begin
    while k < len(text):
        letter = text[k]
        if quote:
            k += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[({":
            depth += 1
        elif letter in "])}":
            depth -= 1
            if depth < 0:
                yield k
                return
        elif letter == "," and depth == 0:
            yield k
        k += 1


def _split_default(part: str) -> tuple[str, str, str]:
    """Return a parameter, the sign before its default and the default, which may be missing."""
    found = re.match(r"(?P<name>\s*\*{0,2}\w+)(?P<sign>=)(?P<value>.*)", part, re.DOTALL)
    found = found or re.match(r"(?P<name>.*?)(?P<sign> = )(?P<value>.*)", part, re.DOTALL)
    return (found["name"], found["sign"], found["value"]) if found else (part, "", "")
