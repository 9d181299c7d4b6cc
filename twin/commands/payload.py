"""Find the largest payload of a machine."""

from __future__ import annotations

import json as notation
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from twin.analysis.payload.criterion import THESIS_CRITERION
from twin.analysis.payload.dynamic import DYNAMIC_START_KG, DynamicPayload, dynamic_payload
from twin.analysis.payload.record import payload_record
from twin.analysis.payload.scaled import START_KG
from twin.analysis.payload.static import StaticPayload, static_payload
from twin.analysis.payload.worst_phase import WorstPhase, worst_phase
from twin.basics.files import write_text
from twin.charts.text import number, value_text
from twin.commands.console import Column, line, table
from twin.commands.options import PAGE, check_files, told_as
from twin.simulation.platform import Platform, load

PATIENCE = 2.0
"""[s] after which progress is shown."""

SWEEP_FREQUENCIES = np.geomspace(2.0, 70.0, 24)
"""[Hz] of the plot."""

TOO_HEAVY = "none: the legs alone are too heavy"

Row = tuple[str, str, str]


def payload(
    machine: str,
    configuration: str | None,
    json: Path | None,
    plot: Path | None,
    *,
    dynamic: bool,
    start: float | None,
    checked: bool,
    **options: Any,
) -> None:
    """Search, print a table, and write what was asked for.

    The JSON holds: machine, parameters (their hash), force_unit, coordinate_unit, limits `(n,)`,
    sense, positions, skipped, passes_kg, fails_kg (null: none), first_failure `(n,)` (extensions
    beyond the lower ends of the actuators, or null), exact_limit_kg, exact_position `(n,)`,
    exact_leg (from 1); continuous_limit_kg, continuous_position `(n,)`, continuous_pose `(7,)`,
    continuous_leg, continuous_at_corner; dynamic (null without): in_phase, backwards (rotations
    as the thesis prints them), each with passes_kg, fails_kg, first_failure,
    first_failure_frequency, exact_limit_kg, exact_position, exact_frequency, exact_leg and left_out
    (runs beyond an actuator's ends or speeds, per frequency), worst_phase with passes_kg, fails_kg,
    first_failure, bound_kg, limit_kg, position, frequency, phases `(6,)` (x, y, z, yaw, pitch,
    roll) and leg, and frequencies. Numbers that are infinite are null.

    Raises:
        InputError: as `static_payload` and `dynamic_payload`, or files that cannot be written.
    """
    check_files(json=(json, ""), plot=(plot, PAGE))
    platform = load(machine, configuration)
    with told_as(shares="grid"):
        still = static_payload(platform, start=START_KG if start is None else start, **options)
    _print_static(platform, still)
    shaken = None
    if dynamic:
        common = {key: options[key] for key in ("limit", "step", "sense")}
        first = DYNAMIC_START_KG if start is None else start
        common |= {"start": first, "checked": checked}
        shaken = _shaken(platform, common)
        _print_dynamic(platform, *shaken)
    if json is not None:
        text = notation.dumps(payload_record(platform, still, shaken), indent=2, allow_nan=False)
        line(f"wrote {write_text(json, text + chr(10))}")
    if plot is not None:
        line(f"wrote {_plotted(platform, still, shaken, plot, options)}")


def _shaken(
    platform: Platform, common: dict[str, Any]
) -> tuple[DynamicPayload, DynamicPayload, WorstPhase]:
    from rich.console import Console
    from rich.progress import Progress

    begin = clock.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as shown:

        def told(name: str) -> Callable[[int, int], None]:
            task = shown.add_task(name, visible=False)

            def tell(done: int, parts: int) -> None:
                patient = clock.monotonic() - begin < PATIENCE
                shown.update(task, completed=done, total=parts, visible=not patient)

            return tell

        forwards = dynamic_payload(platform, progress=told("in phase"), **common)
        criterion = THESIS_CRITERION.backwards()
        backwards = dynamic_payload(platform, criterion, progress=told("backwards"), **common)
        return forwards, backwards, worst_phase(platform, progress=told("phases"), **common)


def _print_static(platform: Platform, found: StaticPayload) -> None:
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


def _print_dynamic(
    platform: Platform, forwards: DynamicPayload, backwards: DynamicPayload, worst: WorstPhase
) -> None:
    unit = platform.coordinate_unit
    rows: list[Row] = []
    for name, found in (("in phase", forwards), ("rotations backwards", backwards)):
        left = ", ".join(map(str, found.left_out))
        first = _place("first", found.first_failure, unit)
        first += "" if found.first_frequency is None else f", {found.first_frequency:g} Hz"
        rows += [
            (f"{name}: positions left out per frequency", left, ""),
            (f"{name}: stands", _mass(found.passes_kg), ""),
            (f"{name}: does not stand", _mass(found.fails_kg), first),
            (
                f"{name}: largest on the grid",
                _mass(found.exact_limit_kg),
                f"leg {found.exact_leg}{_place(' at', found.exact_position, unit)}, "
                f"{found.exact_frequency:g} Hz",
            ),
        ]
    rows += [
        ("worst phases: stands", _mass(worst.passes_kg), ""),
        (
            "worst phases: does not stand",
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
    table((Column("what"), Column("mass or number"), Column("where")), rows, title)


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


def _plotted(
    platform: Platform,
    still: StaticPayload,
    shaken: tuple[DynamicPayload, DynamicPayload, WorstPhase] | None,
    plot: Path,
    options: dict[str, Any],
) -> Path:
    from twin.analysis.payload.figures import static_figure, sweep_figure
    from twin.analysis.payload.sweep import frequency_sweep
    from twin.charts.panels import write_figure

    if shaken is None:
        return write_figure(static_figure(platform, still), plot)
    forwards, _, worst = shaken
    common = {key: options[key] for key in ("limit", "sense")}
    sweep = frequency_sweep(platform, forwards, worst, SWEEP_FREQUENCIES, **common)
    return write_figure(sweep_figure(platform, sweep), plot)
