"""What benchmarks print, and what they have written into pages."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from package_walk import ROOT

from twin.training import policies

pytestmark = pytest.mark.quick


def benchmark(name, monkeypatch):
    """Return a script's module."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return import_module(name)


def test_the_shipped_table_of_robustness_says_what_it_is_made_of(monkeypatch):
    script = benchmark("robustness", monkeypatch)
    shipped = json.loads((Path(policies.__path__[0]) / "robustness.json").read_text())
    assert shipped["note"] == script.note(8, "5")
    assert all(script.line(row).startswith(row["condition"]) for row in shipped["rows"])


def test_errors_of_identification_stand_beside_their_limits(monkeypatch, capsys):
    script = benchmark("identification", monkeypatch)
    script.summary(script.ESTIMATES)
    header, rule, *rows = capsys.readouterr().out.splitlines()[1:]
    assert "| limit |" in header and "| below the limit |" in header
    assert header.count("|") == rule.count("|")
    table = [row for row in rows if row.startswith("|")]
    assert len(table) > len(script.LIMITS) and {row.count("|") for row in table} == {9}
