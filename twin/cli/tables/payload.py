"""Tables of payload searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.payload.dynamic import DynamicPayload
from twin.analysis.payload.static import StaticPayload
from twin.analysis.payload.worst_phase import WorstPhase
from twin.charts.text import number, value_text
from twin.cli.console import Column, table
from twin.platform import Platform

TOO_HEAVY = "none: the legs alone are too heavy"

Row = tuple[str, str, str]


def print_static(platform: Platform, found: StaticPayload) -> None:
    """Print the largest payload at rest."""
    unit = platform.coordinate_unit
    least = found.continuous
    rows: list[Row] = [
        ("positions searched", str(len(found.extensions)), f"{found.skipped} left out"),
        ("holds", _mass(found.passes_kg), ""),
        ("does not hold", _mass(found.fails_kg), _place("first", found.first_failure, unit)),
        (
            "largest on the grid",
            _mass(found.exact_limit_kg),
            f"leg {found.exact_leg}{_place(' at', found.exact_position, unit)}",
        ),
        (
            "largest anywhere",
            _mass(least.limit_kg),
            f"leg {least.leg}{_place(' at', least.position, unit)}, "
            + ("a corner of the range" if least.corner else "not a corner of the range"),
        ),
    ]
    limits = f"{value_text(found.limits.tolist())} {platform.force_unit} ({found.sense})"
    _show(rows, f"{platform.name}: payload at rest, limits {limits}")


def print_dynamic(
    platform: Platform, forwards: DynamicPayload, backwards: DynamicPayload, worst: WorstPhase
) -> None:
    """Print the largest payloads under shaking: in phase, rotations backwards, worst phases."""
    unit = platform.coordinate_unit
    rows: list[Row] = []
    for name, found in (("in phase", forwards), ("rotations backwards", backwards)):
        left = ", ".join(map(str, found.left_out))
        first = _place("first", found.first_failure, unit)
        first += "" if found.first_frequency is None else f", {found.first_frequency:g} Hz"
        rows += [
            (f"{name}: positions left out per frequency", left, ""),
            (f"{name}: holds", _mass(found.passes_kg), ""),
            (f"{name}: does not hold", _mass(found.fails_kg), first),
            (
                f"{name}: largest on the grid",
                _mass(found.exact_limit_kg),
                f"leg {found.exact_leg}{_place(' at', found.exact_position, unit)}, "
                f"{found.exact_frequency:g} Hz",
            ),
        ]
    rows += [
        ("worst phases: holds", _mass(worst.passes_kg), ""),
        (
            "worst phases: does not hold",
            _mass(worst.fails_kg),
            _place("first", worst.first_failure, unit),
        ),
        (
            "worst phases: largest on the grid",
            _mass(worst.limit_kg),
            f"leg {worst.leg}{_place(' at', worst.position, unit)}, {worst.frequency:g} Hz",
        ),
        ("worst phases: bound of small motions", _mass(worst.bound_kg), ""),
    ]
    rates = ", ".join(f"{rate:g}" for rate in forwards.criterion.frequencies)
    _show(rows, f"{platform.name}: payload under shaking, {rates} Hz")


def _show(rows: list[Row], title: str) -> None:
    table((Column("quantity"), Column("mass or number"), Column("place")), rows, title)


def _mass(value: float | None) -> str:
    if value is None:
        return "none"
    if value <= 0.0:
        return TOO_HEAVY
    return f"{number(value)} kg" if np.isfinite(value) else "all runs left out"


def _place(word: str, position: Any, unit: str) -> str:
    if position is None:
        return ""
    return f"{word} ({', '.join(f'{value:.4g}' for value in position)}) {unit}"
