"""A validation case: its name, its text for the report, and the machines it applies to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import cleandoc

from twin.analysis.platform import Platform
from twin.errors import InputError
from twin.validation.results import CaseResult, Entry, Measure, Plot, Quantity, Statement, Table

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
    """the only kinds of legs it applies to; empty: every kind"""
    because: str = ""
    """reason why other machines or kinds of legs are left out"""
    needs_gravity: bool = False
    """whether the case makes no sense without gravity, since nothing would move"""
    condition: Condition | None = None
    """further condition on the machine; None: none"""
    cost: float = 1.0
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

    def applies(self, platform: Platform) -> bool:
        """Return True where the case applies to a machine."""
        return not self.obstacle(platform)

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


def validation_case(
    *,
    machines: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    because: str = "",
    needs_gravity: bool = False,
    condition: Condition | None = None,
    cost: float = 1.0,
) -> Callable[[Callable[[Platform], CaseResult]], Case]:
    """Return a decorator that makes a case of a function `check_<name>(platform)`.

    The case is called what follows `check_`; the function's docstring is its text. The arguments
    are fields of `Case`.

    Raises:
        InputError: machines or kinds of legs are left out without a reason.
    """

    def decorate(run: Callable[[Platform], CaseResult]) -> Case:
        return Case(
            run.__name__.removeprefix("check_"),
            cleandoc(run.__doc__ or ""),
            run,
            machines,
            kinds,
            because,
            needs_gravity,
            condition,
            cost,
        )

    return decorate
