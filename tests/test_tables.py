"""Tables on the console: at most 100 columns wide, every number with its unit, nothing cut off."""

from __future__ import annotations

from typing import ClassVar

import pytest
from console import console
from own_machines import own_machine
from rich.table import Table

import twin
from twin.cli import console as tables
from twin.cli.console import MAX_WIDTH, table

pytestmark = pytest.mark.quick

COUNTS = {"dof", "leg", "legs", "actuators", "iteration", "responses", "runs", "whole"}
"""Titles of numbers without a unit."""


class Recorded(Table):
    """A table that remembers all tables that were made."""

    made: ClassVar[list[Table]] = []

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        Recorded.made.append(self)


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    """All tables that are printed."""
    monkeypatch.setattr(tables, "RichTable", Recorded)
    Recorded.made.clear()
    return Recorded.made


def assert_units(shown):
    """Check that every number has a unit: in its column's title, in its row's, or beside it."""
    titles = [str(column.header) for column in shown.columns]
    rows = [str(cell) for cell in shown.columns[0].cells]
    for column, title in zip(shown.columns, titles, strict=True):
        if column.justify == "right" and title not in COUNTS:
            by_row = bool(rows) and all("[" in row for row in rows)
            by_cell = all("%" in str(cell) or str(cell) == "beyond" for cell in column.cells)
            assert "[" in title or "unit" in titles or by_row or by_cell, (titles, rows)


COMMANDS = (
    "list",
    *(f"info {name}" for name in twin.machine_names()),
    "info eight",
    "feasible stewart",
    "simulate stewart --duration '1 ms'",
    "simulate eight --duration '1 ms'",
    "track stewart --duration '20 ms'",
    "payload stewart --grid 2",
    "payload hobby --grid 2",
    "tune stewart --fidelity fast --first-gains '21900,3.19 ms'",
    "frequency stewart --fidelity fast --duration 2 --high '40 Hz'",
)


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_tables_of_commands(line, recorded, tmp_path):
    for name in ("eight", "hobby"):
        line = line.replace(name, str(own_machine(name, tmp_path)))
    result = console(line)
    assert recorded
    for shown in recorded:
        assert_units(shown)
    tables = [
        text
        for text in result.stdout.splitlines()
        if text.startswith((" ", "\N{BOX DRAWINGS LIGHT HORIZONTAL}"))
    ]
    assert max(map(len, tables)) <= MAX_WIDTH
    assert "\N{HORIZONTAL ELLIPSIS}" not in result.stdout


def test_numbers_of_wide_tables_are_printed_in_parts(recorded, capsys):
    columns = ["machine", *(f"figure {k} [unit]" for k in range(20))]
    rows = [("name", *(f"{k + 0.123456789:.9f}" for k in range(20))) for _ in range(2)]
    table(columns, rows, "wide")
    text = capsys.readouterr().out
    assert len(recorded) > 1
    assert max(map(len, text.splitlines())) <= MAX_WIDTH
    for cell in rows[0]:
        assert text.count(cell) >= 2


def test_texts_wrap_and_long_words_fold(capsys):
    words = " ".join(["words"] * 60)
    table(["quantity", "note", "unit"], [("a" * 150, words, "m")])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= MAX_WIDTH
    assert text.count("words") == 60
    assert text.count("a") >= 150
