"""Sentences that the papers print, each with its place, from one file per paper here."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from twin.errors import InputError
from twin.validation.results import AGREEMENTS, Agreement, Statement


class Printed(NamedTuple):
    """One sentence of a paper."""

    source: str
    """paper and section, figure, table or equation"""
    text: str
    recorded: Agreement
    """the verdict on record"""

    def judged(self, ours: str, same: bool, why: str = "") -> Statement:
        """Return it as reproduced if it is the `same`, else as differing: `why` then."""
        return Statement.judged(self.source, self.text, ours, same, why, self.recorded)

    def not_given(self, ours: str, why: str) -> Statement:
        """Return it as one that gives no number to compare with."""
        return Statement(self.source, self.text, ours, "not given", why, self.recorded)


class Paper:
    """A paper: `paper["name"]` is a sentence of it, `str(paper)` its title.

    Attributes:
        title: as in the report.
        sentences: by name.

    Raises:
        InputError: the verdict on record of a sentence is unknown.
    """

    def __init__(self, name: str) -> None:
        file = Path(__file__).parent / f"{name}.toml"
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        self.title: str = content.pop("title")
        self.sentences = {
            key: Printed(f"{self.title}, {entry['place']}", entry["says"], entry["verdict"])
            for key, entry in content.items()
        }
        for key, sentence in self.sentences.items():
            if sentence.recorded not in AGREEMENTS:
                raise InputError(f"{name}.{key}.verdict", f"must be one of {', '.join(AGREEMENTS)}")

    def __getitem__(self, name: str) -> Printed:
        return self.sentences[name]

    def __str__(self) -> str:
        return self.title


THESIS = Paper("stewart_thesis")
EXTENDED = Paper("extended_configuration_space")
VISCOELASTIC = Paper("viscoelastic_legs")
SIMULATOR = Paper("driving_simulator")
HEXAPOD = Paper("micro_hexapod")
