"""What a validation case is: a key, words for the report, and a function that runs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from twin.platform import Platform
from twin.validation.results import CaseResult, Measure, Plot, Statement


@dataclass(frozen=True)
class Case:
    """The words of a case; every module in `cases` holds one as `CASE` beside its `run`."""

    key: str
    title: str
    description: str
    machines: tuple[str, ...] = ()
    """names of the only machines it makes sense for; empty: every machine"""
    needs_gravity: bool = False
    """whether nothing would move without gravity"""

    def applies(self, platform: Platform) -> bool:
        """Return whether the case makes sense for a machine."""
        if self.needs_gravity and not platform.parameters.gravity > 0.0:
            return False
        return not self.machines or platform.name in self.machines

    def result(
        self,
        platform: Platform,
        measures: Iterable[Measure],
        plots: Iterable[Plot] = (),
        statements: Iterable[Statement] = (),
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
        )


class CaseModule(Protocol):
    """A module in `cases`."""

    CASE: Case

    def run(self, platform: Platform) -> CaseResult:
        """Run the case on one machine."""
        ...
