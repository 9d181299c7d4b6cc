"""A calibrated machine as a file on top of the old one, and its offsets for logs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.calibration.calibration import Calibration
from twin.errors import InputError
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT
from twin.kernels.legs.rss.kinematics import CRANK_LENGTH, ROD_LENGTH, ZERO

DECIMAL_PLACES = 9
"""Decimal places of lengths [m], directions and angles [rad]."""


def machine_text(found: Calibration, base: str, note: str, path: str | Path) -> str:
    """Return the text of a file on top of the old one: joints, cranks, a record of the errors.

    Offsets of cranks are in their directions at angle 0. Those of leg lengths are in the record
    alone: lengths of a machine are those between its joints.

    Args:
        found: a calibration.
        base: name of the machine, or path of its file.
        note: where the numbers are from.
        path: where the text will be written.

    Raises:
        InputError: a machine whose cranks have `axis_angles`.
    """
    if Path(base).suffix == ".toml":
        base = os.path.relpath(Path(base).absolute(), Path(path).absolute().parent)
    errors, machine = found.model.errors, found.machine
    values, lines = found.errors, [f"extends = {json.dumps(base)}"]
    applied = getattr(machine.parameters.configuration, "applied", "")
    if applied:
        lines.append(f"configuration = {json.dumps(applied)}")
    lines.append(f"source = {json.dumps(note)}")
    rows = errors.rows(values)
    for side, start in (("base", BASE_JOINT), ("platform", PLATFORM_JOINT)):
        points = rows[:, start : start + 3]
        table = {"layout": "points", "order": range(1, len(rows) + 1), "coordinates": points}
        lines += _table(f"{side}.joints", table)
    if errors.has_crank:
        for number, (row, offset) in enumerate(zip(rows, values[:, -1], strict=True), start=1):
            lines += _table(f"leg.{number}", _crank(found, number, row, float(offset)))
    record = {"names": errors.names, "errors": values, "standard_errors": found.standard_errors}
    record |= found.frames._asdict()
    return "\n".join([*lines, *_table("identified", record), ""])


def offsets_text(found: Calibration) -> str:
    """Return a mapping file for logs that adds the offsets to channels `coordinates 1` and on."""
    n, unit = found.machine.n_actuators, found.machine.coordinate_unit
    offsets = [f"{value:.{DECIMAL_PLACES}f} {unit}" for value in found.errors[:, -1]]
    channels = [f"coordinates {number}" for number in range(1, n + 1)]
    return (
        "\n".join(_table("signals.coordinates", {"channels": channels, "offset": offsets})) + "\n"
    )


def _crank(found: Calibration, number: int, row: FloatArray, offset: float) -> dict[str, Any]:
    """Return the entries of a crank, turned by its offset."""
    leg = found.machine.parameters.legs[number - 1]
    if getattr(leg, "axis_angles", None) is not None:
        raise InputError("leg.axis_angles", "give `axis` as directions in the machine's file")
    axis, zero = row[AXIS : AXIS + 3], row[ZERO : ZERO + 3]
    turned = np.cos(offset) * zero + np.sin(offset) * np.cross(axis, zero)
    place = found.machine.parameters.home_places[number - 1]
    return {
        "axis": leg.side(place) * axis,  # type: ignore[attr-defined]
        "zero": turned,
        "crank_length": row[CRANK_LENGTH],
        "rod_length": row[ROD_LENGTH],
    }


def _table(name: str, entries: dict[str, Any]) -> list[str]:
    return ["", f"[{name}]", *(f"{key} = {_value(value)}" for key, value in entries.items())]


def _value(value: Any) -> str:
    """Return a text, a number, or a list of these, as TOML; infinite standard errors as `inf`."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Iterable):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        text = f"{value:.{DECIMAL_PLACES}f}".rstrip("0") if np.isfinite(value) else "inf"
        return f"{text}0" if text.endswith(".") else text
    return str(value)
