"""Formulae in the plain notation of docstrings, such as `x' = -a_b^2 / (m + phi)`, as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "kappa", "lambda", "mu", "xi"),
    *("pi", "rho", "sigma", "tau", "phi", "psi", "omega", "Gamma", "Delta", "Phi", "Psi", "Omega"),
)

FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "det")
"""Functions with a command of their own."""

SIGNS = {"sum": r"\sum", "perp": r"\perp"}

OPERATORS = {
    "<=": r"\le",
    ">=": r"\ge",
    "<-": r"\leftarrow",
    "..": r"\ldots",
    " . ": r"\cdot",
    " x ": r"\times",
    " | ": r"\;|\;",
}
"""Signs in LaTeX; a dot or an x with a blank on each side is a product."""

RELATION = re.compile(r"(<=|>=|<-|=)")

NAME = re.compile(
    r"(?!(?<=[\w)] )x [A-Za-z(])(?P<base>[A-Za-z]+)(?P<number>\d*)(?P<first>'*)"
    r"(?P<star>\*(?!\S))?(?P<below>(?:_(?:[A-Za-z0-9]+|\([^()]*\)))*)(?P<primes>'*)"
)

NUMBER = re.compile(r"\d+(?:\.\d+)?")

POWER = re.compile(r"\^(-?\d+|[A-Za-z]+|\([^()]*\))")

OPERATOR = re.compile(r"<=|>=|<-|\.\.|.")

NO_FORMULA = re.compile(r"^\[|\+=|[`\"#$%&{}\\]")
"""In matrices that are drawn with blanks, and in code."""


class Item(NamedTuple):
    """A part of a formula."""

    latex: str
    kind: str
    """"term", "words" of plain text, "blank", "operator" """
    inside: str = ""
    """of a term in a fraction: without its brackets"""


def formulae(lines: Sequence[str]) -> str | None:
    """Return a block of formulae in LaTeX, a line for each; None for code, tables, matrices."""
    joined: list[str] = []
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    for line in lines:
        if not line.strip():
            continue
        if joined and line[margin] == " ":
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line.strip())
    for line in joined:
        if (
            NO_FORMULA.search(line)
            or not RELATION.search(line)
            or line.count("(") != line.count(")")
        ):
            return None
    if len(joined) == 1:
        return as_latex(joined[0])
    pairs = [RELATION.split(line, maxsplit=1) for line in joined]
    return r" \\ ".join(f"{as_latex(a.rstrip())} &{as_latex(sign + b)}" for a, sign, b in pairs)


def as_latex(text: str) -> str:
    """Return plain notation in LaTeX; all letters and numbers stay."""
    found: list[Item] = []
    items = list(_items(text))
    k = 0
    while k < len(items):
        before, after = _beside(found, len(found), -1), _beside(items, k, 1)
        if items[k].latex == "/" and before is not None and after is not None:
            latex = rf"\frac{{{found[before].inside}}}{{{items[after].inside}}}"
            found[before:] = [Item(latex, "term", latex)]
            k = after
        else:
            found.append(items[k])
        k += 1
    return "".join(_spaced(found))


def _beside(items: Sequence[Item], k: int, step: int) -> int | None:
    """Return the place of the term next to `k`, blanks left out; None if there is none."""
    k += step
    while 0 <= k < len(items) and items[k].kind == "blank":
        k += step
    return k if 0 <= k < len(items) and items[k].inside else None


def _items(text: str) -> Iterator[Item]:
    k = 0
    while k < len(text):
        if text[k] == " ":
            end = k + len(text[k:]) - len(text[k:].lstrip())
            yield Item(r"\quad " if end > k + 1 else " ", "blank")
        elif text[k] == "(":
            inside, power, end = _group(text, k)
            whole = _bracketed(inside) + power
            yield Item(whole, "term", whole if power else inside)
        elif name := NAME.match(text, k):
            item, end = _named(text, name)
            yield item
        elif number := NUMBER.match(text, k):
            power, end = _power(text, number.end())
            yield Item(number[0] + power, "term", number[0] + power)
        else:
            found = OPERATOR.match(text, k)
            assert found is not None
            power, end = _power(text, found.end())
            apart = f" {found[0]} "
            sign = apart if text[k - 1 : k + 2] == apart else found[0]
            yield Item(f"{OPERATORS.get(sign, found[0])} {power}".strip(), "operator")
        k = end


def _named(text: str, name: re.Match[str]) -> tuple[Item, int]:
    """Return a name with its indices, and what it is applied to; and where that ends."""
    base = name["base"]
    power, after = _power(text, name.end(), len(name["first"] + name["primes"]))
    applied = after < len(text) and text[after] == "("
    if base in ("sqrt", "int") and applied:
        inside, power, end = _group(text, after)
        latex = rf"\sqrt{{{inside}}}" if base == "sqrt" else rf"\int {inside}\,\mathrm{{d}}t"
        return Item(latex + power, "operator"), end
    below = [part.strip("()") for part in re.findall(r"_(\([^()]*\)|[A-Za-z0-9]+)", name["below"])]
    if re.fullmatch("[A-Z][a-z]", base):
        base, below = base[0], [base[1], *below]
    elif _symbol(base).startswith(r"\text") and any(len(part) > 1 for part in below):
        base, below = "_".join([base, *below]), []
    index = ",".join(filter(None, [name["number"], *map(as_latex, below)]))
    star = "^{*}" if name["star"] else ""
    latex = _symbol(base) + (f"_{{{index}}}" if index else "") + star + power
    plain = latex == rf"\text{{{base}}}"
    if applied:
        inside, outer, after = _group(text, after)
        latex = f"{latex}{_bracketed(inside)}{outer}"
        plain = False
    if base in (*FUNCTIONS, *SIGNS):
        return Item(f"{latex} ", "operator"), after
    return Item(latex, "words") if plain else Item(latex, "term", latex), after


def _bracketed(inside: str) -> str:
    """Return brackets around a formula, as high as its fractions."""
    return rf"\left({inside}\right)" if r"\frac" in inside else f"({inside})"


def _symbol(base: str) -> str:
    if base in (*GREEK, *FUNCTIONS):
        return rf"\{base} "
    if len(base) == 1 or re.fullmatch("d[A-Za-z]", base):
        return base
    return SIGNS.get(base, rf"\text{{{base}}}")


def _power(text: str, k: int, primes: int = 0) -> tuple[str, int]:
    """Return `primes`, what is raised after them from `text[k]` on, and where that ends."""
    found = POWER.match(text, k)
    late = 0 if found else len(text[k:]) - len(text[k:].lstrip("'"))
    signs = r"\prime " * (primes + late)
    if not found:
        return signs, k + late
    raised = r"\mathsf T" if found[1].strip("()") == "T" else as_latex(found[1].strip("()"))
    return f"{signs}^{{{raised}}}", found.end()


def _group(text: str, k: int) -> tuple[str, str, int]:
    """Return what is in the brackets from `text[k]` on, its power, and where that ends."""
    close, depth = k, 1
    while depth and close + 1 < len(text):
        close += 1
        depth += {"(": 1, ")": -1}.get(text[close], 0)
    return as_latex(text[k + 1 : close]), *_power(text, close + 1)


def _spaced(items: Sequence[Item]) -> Iterator[str]:
    """Yield the parts, with spaces where a word meets a term or another word."""
    for k, item in enumerate(items):
        sides = [*items[max(k - 1, 0) : k], *items[k + 1 : k + 2]]
        apart = item.latex == " " and "operator" not in {each.kind for each in sides}
        if apart and any(r"\text" in each.latex for each in sides):
            yield r"\ " if all(each.kind == "words" for each in sides) else r"\,"
        else:
            yield item.latex
