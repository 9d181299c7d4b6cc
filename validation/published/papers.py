"""Sentences that the papers print, each with its place, from one file per paper here."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from twin.validation.results import UNEXPECTED, Statement


class Printed(NamedTuple):
    """One sentence of a paper."""

    source: str
    """paper and section, figure, table or equation"""
    text: str

    def judged(self, ours: str, same: bool, why: str = UNEXPECTED) -> Statement:
        """Return it as reproduced if it is the `same`, else as differing: `why` then."""
        return Statement.judged(*self, ours, same, why)

    def reproduced(self, ours: str) -> Statement:
        """Return it as reproduced."""
        return Statement(*self, ours, "reproduced")

    def differs(self, ours: str, why: str) -> Statement:
        """Return it as known to differ."""
        return Statement(*self, ours, "differs", why)

    def not_given(self, ours: str, why: str) -> Statement:
        """Return it as one that gives no number to compare with."""
        return Statement(*self, ours, "not given", why)


class Paper:
    """A paper: `paper["name"]` is a sentence of it, `str(paper)` its title.

    Attributes:
        title: as in the report.
        sentences: by name.
    """

    def __init__(self, name: str) -> None:
        file = Path(__file__).parent / f"{name}.toml"
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        self.title: str = content.pop("title")
        self.sentences = {
            key: Printed(f"{self.title}, {entry['place']}", entry["says"])
            for key, entry in content.items()
        }

    def __getitem__(self, name: str) -> Printed:
        return self.sentences[name]

    def __str__(self) -> str:
        return self.title


THESIS = Paper("stewart_thesis")
EXTENDED = Paper("extended_configuration_space")
VISCOELASTIC = Paper("viscoelastic_legs")
SIMULATOR = Paper("driving_simulator")
HEXAPOD = Paper("micro_hexapod")
