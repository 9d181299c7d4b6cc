"""What a validation case is: a key, words for the report, and a function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from twin.errors import InputError
from twin.simulation.platform import Platform
from twin.validation.results import CaseResult, Figure, Measure, Statement, Table

Condition = Callable[[Platform], str]
"""Says why a case makes no sense for a machine; an empty text where it does."""


@dataclass(frozen=True)
class Case:
    """The words of a case; every module in `cases` holds one as `CASE` beside its `run`.

    Raises:
        InputError: machines or kinds of legs are left out without a reason.
    """

    key: str
    title: str
    description: str
    machines: tuple[str, ...] = ()
    """names of the only machines it makes sense for; empty: every machine"""
    kinds: tuple[str, ...] = ()
    """the only kinds of legs it makes sense for; empty: every kind"""
    because: str = ""
    """why other machines or kinds of legs are left out"""
    needs_gravity: bool = False
    """whether nothing would move without gravity"""
    condition: Condition | None = None
    """what else decides"""
    cost: float = 1.0
    """[s] it takes about, for the costliest machine; the costliest cases are started first"""

    def __post_init__(self) -> None:
        if (self.machines or self.kinds) and not self.because:
            raise InputError("because", f"{self.key} leaves machines out and does not say why")

    def obstacle(self, platform: Platform) -> str:
        """Return why the case makes no sense for a machine; an empty text where it does."""
        if self.machines and platform.name not in self.machines:
            return self.because
        if self.kinds and platform.kind not in self.kinds:
            return self.because
        if self.needs_gravity and not platform.parameters.gravity > 0.0:
            return "the machine has no gravity: without forces nothing would move"
        return self.condition(platform) if self.condition else ""

    def applies(self, platform: Platform) -> bool:
        """Return whether the case makes sense for a machine."""
        return not self.obstacle(platform)

    def result(
        self,
        platform: Platform,
        measures: Iterable[Measure],
        plots: Iterable[Figure] = (),
        statements: Iterable[Statement] = (),
        tables: Iterable[Table] = (),
    ) -> CaseResult:
        """Return the outcome on one machine."""
        return CaseResult(
            machine=platform.name,
            case=self.key,
            title=self.title,
            description=self.description,
            measures=tuple(measures),
            plots=tuple(plots),
            statements=tuple(statements),
            tables=tuple(tables),
        )


class CaseModule(Protocol):
    """A module in `cases`."""

    CASE: Case

    def run(self, platform: Platform) -> CaseResult:
        """Run the case on one machine."""
        ...
