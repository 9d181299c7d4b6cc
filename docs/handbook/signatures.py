"""Signatures of the interface as a reader wants them: types without their checks, short values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from docutils import nodes
from pydantic import BaseModel
from sphinx import addnodes
from sphinx.util.inspect import TypeAliasForwardRef, signature, stringify_signature

CHECKED = re.compile(r"(?<![\w.])~?(?:\w+\.)*Annotated\[")

ARRAY = re.compile(
    r"~?(?:numpy\.)?ndarray\[~?tuple\[(?:~?(?:typing\.)?Any, (?:\.{3}|…)|int)\], "
    r"~?(?:numpy\.)?dtype\[~?(?:numpy\.|typing\.)?(\w+)\]\]"
)
"""An array of any shape, as Python writes its type."""

ARRAYS = {
    "float64": "FloatArray",
    "complex128": "ComplexArray",
    "int64": "IndexArray",
    "bool": "BoolArray",
    "Any": "NDArray",
}
"""Names of arrays by their kind of numbers."""

SHORT = {"show_return_annotation": False, "unqualified_typehints": True}
"""How Sphinx shall write arguments."""

PASSED_ON = re.compile(r"\(\*\w+: [^,]*, \*\*\w+: [^,]*\)")
"""Arguments of a class that passes them on as they are."""

NO_CODE = re.compile(r"(?<!['\w])<[\w.]+(?:: | object\b|\b.*?>)|\bobject at 0x")
"""In the text of a value that no reader could write."""

SCALAR = re.compile(r"\bnp\.(?:float64|int64|bool)\(([^()]*)\)")

DIGITS = re.compile(r"(?<![\w.])\d+\.\d{7,}(?:e[+-]?\d+)?")
"""A number with more digits than a reader compares."""

LARGE = re.compile(r"(?<![\w.])\d{7,}\.0(?!\d)")

VALUES = re.compile(r"\barray\((\[[^()]*\])(?:, dtype=\w+)?\)")
"""Of an array, as numpy writes them."""

PATH = re.compile(r"\b(?:\w+\.)+(?=[A-Z]\w*(?: \||$))")
"""Of a class in a union of types."""

LONGEST_VALUE, LONGEST_DEFAULT, LONGEST_NAMES = 100, 60, 300
"""Characters that are shown of the value of a constant, of a default, and of several names."""

LEFT_OUT = "..."
"""Stands for a longer one."""


def array_name(found: re.Match[str]) -> str:
    """Return the name of a type that `ARRAY` has found."""
    return ARRAYS.get(found[1], f"NDArray[{found[1]}]")


def without_checks(text: str) -> str:
    """Return a signature in which `Annotated[type, checks ...]` is the type alone.

    Arrays have their names.
    """
    text = ARRAY.sub(array_name, text)
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
    value = SCALAR.sub(r"\1", VALUES.sub(_numbers, value))
    value = LARGE.sub(lambda number: re.sub(r"e\+0*", "e", f"{float(number[0]):.6g}"), value)
    value = PATH.sub("", DIGITS.sub(lambda number: f"{float(number[0]):.6g}", value))
    return LEFT_OUT if len(value) > longest or NO_CODE.search(value) else value


def _numbers(found: re.Match[str]) -> str:
    """Return the values of an array as those of a list."""
    return re.sub(r"(?<=\d)\.\s*(?=[,\]])", ".0", re.sub(r"\s+", " ", found[1]))


def plain_signature(*event: Any) -> tuple[str | None, str | None]:
    """Return arguments and result as Sphinx asks for them with `autodoc-process-signature`."""
    value = event[3] if len(event) > 3 else None
    if getattr(value, "_is_protocol", False):
        return "", None
    arguments, result = (without_checks(part or "") or None for part in event[-2:])
    if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel:
        value.model_rebuild()
        arguments = without_checks(stringify_signature(signature(value), **SHORT))
    if isinstance(value, type) and PASSED_ON.fullmatch(arguments or ""):
        arguments = without_checks(_inherited(value) or arguments or "")
    return arguments and without_long_defaults(arguments), result


def _inherited(value: type) -> str | None:
    """Return the arguments of the class that a class passes all its arguments to."""
    for base in value.__mro__[1:-1]:
        if "__init__" in vars(base):
            found = signature(vars(base)["__init__"], bound_method=True)
            return stringify_signature(found, **SHORT)
    return None


def name_aliases() -> None:
    """Let the types that `autodoc_type_aliases` names be written by their names inside others."""
    TypeAliasForwardRef.__repr__ = lambda self: self.name  # type: ignore[method-assign]


def shorten_values(app: Any, doctree: nodes.document, name: str) -> None:
    """Put `...` for long values of constants, in place; leave out what types stand for if long."""
    for node in doctree.findall(addnodes.desc_annotation):
        value = node.children[-1]
        if node.astext().lstrip().startswith("=") and isinstance(value, nodes.Text):
            text = _names_of(node.parent) or short(value.astext(), LONGEST_VALUE)
            node.replace(value, nodes.Text(text))
        elif CHECKED.search(node.astext()):
            node.children = [nodes.Text(without_checks(node.astext()))]
    for node in list(doctree.findall(nodes.paragraph)):
        text = node.astext()
        if text.startswith("alias of ") and ARRAY.search(text):
            text = ARRAY.sub(array_name, text)
            node.children = [nodes.Text(text)]
        if text.startswith("alias of ") and (len(text) > LONGEST_VALUE or CHECKED.search(text)):
            node.parent.remove(node)


def _names_of(signature: addnodes.desc_signature) -> str:
    """Return the keys of a constant that is a dict in their order, or the texts it consists of.

    Sphinx sorts them, where their order means something.
    """
    module, name = signature.get("module"), signature.get("fullname", "")
    value = getattr(import_module(module), name, None) if module else None
    text = repr(value)
    if isinstance(value, dict) and short(text, LONGEST_VALUE) == LEFT_OUT:
        text = f"{{{', '.join(f'{key!r}: {LEFT_OUT}' for key in value)}}}"
    elif not isinstance(value, (dict, tuple)) or not all(isinstance(one, str) for one in value):
        return ""
    found = short(text, LONGEST_NAMES)
    return "" if found == LEFT_OUT else found


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
