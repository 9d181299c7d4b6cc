"""A validation case: its name, its text for the report, and the machines it applies to.

Its result has measures with tolerances, statements, tables and figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Literal, NamedTuple

from twin.analysis.platform import Platform
from twin.charts.panels import Line
from twin.errors import InputError

Verdict = Literal["pass", "fail", "info"]
Agreement = Literal["reproduced", "differs", "not given"]

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
    """whether the value is expected to lie at its bound, like a limit that is reached exactly; then
    no margin is asked for"""

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

Curve = Line
"""One line of a plot."""


class Panel:
    """One set of axes: curves against the plot's common x axis."""

    def __init__(self, y_label: str, *curves: Curve, log_y: bool = False) -> None:
        self.y_label, self.curves, self.log_y = y_label, curves, log_y


class Plot:
    """Panels one above the other with a common x axis, e.g. engine and reference, error below."""

    def __init__(
        self,
        title: str,
        x_label: str,
        *panels: Panel,
        log_x: bool = False,
        caption: str = "",
    ) -> None:
        self.title, self.x_label, self.panels = title, x_label, panels
        self.log_x, self.caption = log_x, caption


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
        if self.error:
            return "fail"
        judged: tuple[Measure | Statement, ...] = (*self.measures, *self.statements)
        return overall([entry.verdict for entry in judged])


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Return "fail" if any verdict is, "pass" if any is and none fails; nothing judged: "info"."""
    if "fail" in verdicts:
        return "fail"
    return "pass" if "pass" in verdicts else "info"


def slowest(results: Sequence[CaseResult], count: int = 5) -> list[CaseResult]:
    """Return the cases that took longest, the slowest first."""
    return sorted(results, key=lambda result: -result.seconds)[:count]


Condition = Callable[[Platform], str]
"""Returns the reason why a case does not apply to a machine; an empty text where it does."""


@dataclass(frozen=True)
class Case:
    """A comparison of engines, models or published numbers, which `run` makes for one machine.

    Raises:
        InputError: machines or kinds of legs are left out without a reason.
    """

    key: str
    """name of the case, also its anchor in the report"""
    text: str
    """the title, then what is compared with what, for an engineer"""
    run: Callable[[Platform], CaseResult]
    """returns the result on one machine"""
    machines: tuple[str, ...] = ()
    """names of the only machines it applies to; empty: every machine"""
    kinds: tuple[str, ...] = ()
    """the only kinds of legs it applies to, such as `rss`; empty: every kind"""
    because: str = ""
    """reason why other machines or kinds of legs are left out"""
    needs_gravity: bool = False
    """whether the case makes no sense without gravity, since nothing would move"""
    condition: Condition | None = None
    """further condition on the machine; None: none"""
    run_time: float = 1.0
    """[s] approximate run time on the slowest machine; the slowest cases are started first"""

    def __post_init__(self) -> None:
        if (self.machines or self.kinds) and not self.because:
            raise InputError("because", f"{self.key} leaves machines out and does not say why")

    @property
    def title(self) -> str:
        """The first line of the text, without its full stop."""
        return self.text.partition("\n")[0].removesuffix(".")

    @property
    def description(self) -> str:
        """The text below the title, as one line."""
        return " ".join(self.text.partition("\n")[2].split())

    def obstacle(self, platform: Platform) -> str:
        """Return the reason why the case does not apply to a machine; empty where it does."""
        if self.machines and platform.name not in self.machines:
            return self.because
        if self.kinds and platform.kind not in self.kinds:
            return self.because
        if self.needs_gravity and not platform.parameters.gravity > 0.0:
            return "the machine has no gravity: without forces nothing would move"
        return self.condition(platform) if self.condition else ""

    def result(
        self,
        platform: Platform,
        entries: Iterable[Entry],
        plots: Iterable[Plot] = (),
        statements: Iterable[Statement] = (),
        tables: Iterable[Table] = (),
    ) -> CaseResult:
        """Return the outcome on one machine, from its measures and quantities and the rest."""
        entries = tuple(entries)
        return CaseResult(
            machine=platform.name,
            case=self.key,
            title=self.title,
            description=self.description,
            measures=tuple(entry for entry in entries if isinstance(entry, Measure)),
            quantities=tuple(entry for entry in entries if isinstance(entry, Quantity)),
            plots=tuple(plots),
            statements=tuple(statements),
            tables=tuple(tables),
        )


def validation_case(**fields: Any) -> Callable[[Callable[[Platform], CaseResult]], Case]:
    """Return a decorator that makes a case of a function `check_<name>(platform)`.

    The case is called what follows `check_`; the function's docstring is its text. The arguments
    are further fields of `Case`.

    Raises:
        InputError: machines or kinds of legs are left out without a reason.
    """

    def decorate(run: Callable[[Platform], CaseResult]) -> Case:
        name = run.__name__.removeprefix("check_")
        return Case(name, cleandoc(run.__doc__ or ""), run, **fields)

    return decorate
