"""Result of a validation case: measures with tolerances, statements, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from twin.basics.arrays import FloatArray
from twin.errors import InputError

Verdict = Literal["pass", "fail", "info"]
Agreement = Literal["reproduced", "differs", "not given"]
AGREEMENT_KINDS: tuple[Agreement, ...] = get_args(Agreement)
CurveStyle = Literal["line", "dash", "dot", "markers", "line+markers"]

UNEXPECTED_REASON = "a fault, or parameters that are not the paper's"
"""Reason why a statement differs that is on record as reproduced."""


@dataclass(frozen=True)
class Measure:
    """One number and its tolerance; a value that is not finite fails."""

    name: str
    value: float
    tolerance: float
    reason: str
    """why the tolerance has this value"""
    unit: str = "1"
    """"1" for a ratio or a count"""
    at_least: bool = False
    """the tolerance is a lower bound instead of an upper one"""
    at_bound: bool = False
    """the value may lie at its bound by design, like that of a limit that is reached exactly"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))

    @property
    def verdict(self) -> Verdict:
        """Whether the value keeps its tolerance."""
        if self.at_least:
            return "pass" if self.value >= self.tolerance else "fail"
        return "pass" if self.value <= self.tolerance else "fail"


class Quantity(NamedTuple):
    """A number for orientation, without tolerance and verdict."""

    name: str
    value: float
    note: str = ""
    unit: str = "1"
    """"1" for a ratio or a count"""


Entry = Measure | Quantity
"""One number of a case."""


@dataclass(frozen=True)
class Curve:
    """One line of a plot; `x` and `y` are `(k,)`."""

    name: str
    x: FloatArray
    y: FloatArray
    style: CurveStyle = "line"


@dataclass(init=False)
class Panel:
    """One set of axes: curves against the plot's common x axis."""

    y_label: str
    curves: tuple[Curve, ...]
    log_y: bool

    def __init__(self, y_label: str, *curves: Curve, log_y: bool = False) -> None:
        self.y_label, self.curves, self.log_y = y_label, curves, log_y


@dataclass(init=False)
class Plot:
    """Panels one above the other with a common x axis, e.g. engine and reference, error below."""

    title: str
    x_label: str
    panels: tuple[Panel, ...]
    log_x: bool
    caption: str
    names: tuple[str, ...]
    """names of the places 1, 2, ... of the x axis, where these are no numbers"""

    def __init__(
        self,
        title: str,
        x_label: str,
        *panels: Panel,
        log_x: bool = False,
        caption: str = "",
        names: Sequence[str] = (),
    ) -> None:
        self.title, self.x_label, self.panels = title, x_label, panels
        self.log_x, self.caption, self.names = log_x, caption, tuple(names)


@dataclass(frozen=True)
class Table:
    """Numbers in rows and columns, as texts.

    Raises:
        InputError: a row that has not one text per column.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise InputError("rows", f"{self.title}: every row needs {len(self.columns)} texts")


@dataclass(frozen=True)
class Statement:
    """A sentence or value that a paper prints, with our value.

    Its verdict is on record: a change, for the better too, fails the case.

    Raises:
        InputError: it differs, or the paper gives no number, and nothing says why.
    """

    source: str
    """paper and section, figure, table or equation"""
    printed: str
    ours: str
    agreement: Agreement
    why: str = ""
    """what explains the difference, or what the paper leaves out"""
    recorded: Agreement = "reproduced"

    def __post_init__(self) -> None:
        if self.agreement != "reproduced" and not self.why:
            raise InputError("why", f"{self.source}: {self.agreement}, and nothing says why")

    @property
    def verdict(self) -> Verdict:
        """Whether the agreement is the one on record."""
        return "pass" if self.agreement == self.recorded else "fail"

    @classmethod
    def judged(
        cls,
        source: str,
        printed: str,
        ours: str,
        same: bool,
        why: str = "",
        recorded: Agreement = "reproduced",
    ) -> Statement:
        """Return a statement that is reproduced if it is the `same`, else differs: `why` then."""
        if same:
            return cls(source, printed, ours, "reproduced", recorded=recorded)
        reason = why or (UNEXPECTED_REASON if recorded == "reproduced" else "")
        return cls(source, printed, ours, "differs", reason, recorded)


class LeftOut(NamedTuple):
    """A case that makes no sense for a machine."""

    machine: str
    case: str
    title: str
    reason: str


@dataclass(frozen=True)
class CaseResult:
    """The outcome of one case on one machine."""

    machine: str
    case: str
    """short key, also its anchor in the report"""
    title: str
    description: str
    """what is compared with what, in a few sentences for an engineer"""
    measures: tuple[Measure, ...]
    quantities: tuple[Quantity, ...] = ()
    plots: tuple[Plot, ...] = ()
    statements: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    seconds: float = 0.0
    error: str = ""
    """why the case could not be run; such a case fails"""

    @property
    def verdict(self) -> Verdict:
        """Fail if a measure or statement fails or the case could not run; info: nothing judged."""
        verdicts = {measure.verdict for measure in self.measures}
        verdicts |= {statement.verdict for statement in self.statements}
        if self.error or "fail" in verdicts:
            return "fail"
        return "pass" if "pass" in verdicts else "info"


def slowest(results: Sequence[CaseResult], count: int = 5) -> list[CaseResult]:
    """Return the cases that took longest, the slowest first."""
    return sorted(results, key=lambda result: -result.seconds)[:count]
