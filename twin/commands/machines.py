"""List, show, begin and export machines."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from twin.charts.text import value_text
from twin.commands.console import Column, line, table
from twin.machine.catalogue import machine_names
from twin.simulation.platform import load


def list_machines() -> None:
    """Print the shipped machines."""
    rows = []
    for name in machine_names():
        platform = load(name)
        counts = (str(platform.dof), str(platform.n_actuators))
        rows.append((name, platform.parameters.title, *counts))
    titles = (Column("machine"), Column("title"), Column("degrees of freedom", True))
    table((*titles, Column("actuators", True)), rows)


def info(machine: str, configuration: str | None = None) -> None:
    """Print a machine's parameters with their sources, and figures that follow from them."""
    from twin.analysis.machine_summary import machine_summary
    from twin.machine.describe import describe

    platform = load(machine, configuration)
    line(f"{platform.name}: {platform.parameters.title}", bold=True)
    line(f"{platform.dof} dof, {platform.n_actuators} actuators, parameters {platform.hash}")
    columns = [Column(name) for name in ("parameter", "value", "unit", "description")]
    for (path, source), group in groupby(
        describe(platform.parameters), lambda p: (p.table, p.source)
    ):
        rows = [(p.name, value_text(p.value, p.unit), p.unit, p.description) for p in group]
        table(columns, rows, f"{path or 'machine'} (source: {source})")
    facts = [(f.name, value_text(f.value), f.unit, f.note) for f in machine_summary(platform)]
    names = ("quantity", "value", "unit", "note")
    table([Column(name) for name in names], facts, "what follows from them")


def new(path: Path, legs: str) -> None:
    """Write a commented platform.toml for a new machine."""
    from twin.machine.template import write_template

    written = write_template(path, legs)
    line(f"wrote {written}; fill in your numbers, then check them with: twin info {written}")


def export(machine: str, configuration: str | None, form: str, folder: Path) -> None:
    """Write a machine's model files and print their names."""
    from twin.engines.export import export as write_model

    for path in write_model(load(machine, configuration), form, folder):
        line(f"wrote {path}")
