"""A recorded motion as one table: columns with units in their names, and metadata.

Signals of a closed loop are in the rows of their times, empty (NaN) in the others. Where a control
instant has no row of its own, all signals follow below the motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import product
from math import prod
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError, listed
from twin.simulation.recorded.motion import ARRAYS, RecordedMotion

FORMAT = 1
SIGNAL = "signal: "
"""Before the names of a closed loop's signals."""

POSE = ("x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz")
TWIST = ("vx [m/s]", "vy [m/s]", "vz [m/s]", "wx [rad/s]", "wy [rad/s]", "wz [rad/s]")
INERTIAL = ("ax [m/s2]", "ay [m/s2]", "az [m/s2]", *TWIST[3:])


def metadata_of(motion: RecordedMotion) -> dict[str, Any]:
    """Return where a motion comes from, as texts and numbers."""
    apart = (*ARRAYS, "signals")
    origin = {f.name: getattr(motion, f.name) for f in fields(motion) if f.name not in apart}
    return {"format": FORMAT, **origin}


def shapes_of(motion: RecordedMotion) -> dict[str, Any]:
    """Return the numbers of columns that a table needs beside the metadata."""
    signals = {name: list(value.shape[1:]) for name, value in motion.signals.items()}
    widths = {"actuators": motion.lengths.shape[1], "deflections": motion.deflection.shape[1]}
    return {**widths, "signals": signals}


def table_of(motion: RecordedMotion) -> tuple[list[str], FloatArray]:
    """Return the names of the columns, and the values `(rows, columns)`, NaN where empty."""
    shapes = shapes_of(motion)
    rows = signal_rows(motion)
    count = max(len(motion), int(rows.max(initial=-1)) + 1)
    names, parts = [], []
    for key, labels in _columns(shapes, motion.coordinate_unit):
        signal = key.startswith(SIGNAL)
        values = motion.signals[key.removeprefix(SIGNAL)] if signal else getattr(motion, key)
        part = np.full((count, len(labels)), np.nan)
        part[rows if signal else slice(len(motion))] = values.reshape(len(values), len(labels))
        names += labels
        parts.append(part)
    return names, np.hstack(parts)


def content_of(
    names: Sequence[str], values: FloatArray, metadata: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a trajectory from a table, in any order of its columns.

    Args:
        names: of the columns.
        values: `(rows, columns)`.
        metadata: what `metadata_of` and `shapes_of` give.

    Raises:
        InputError: a column is missing.
    """
    content = dict(metadata)
    shapes = {key: content.pop(key) for key in ("actuators", "deflections", "signals")}
    widths = (shapes["actuators"], shapes["deflections"], *map(prod, shapes["signals"].values()))
    if max(widths) > len(names):
        raise InputError("path", f"has {len(names)} columns, too few for what it says it holds")
    content["signals"] = {}
    places = {name: number for number, name in enumerate(names)}
    for key, labels in _columns(shapes, str(content.get("coordinate_unit"))):
        missing = [label for label in labels if label not in places]
        if missing:
            raise InputError("path", f"the table has no column {listed(missing)}")
        part = values[:, [places[label] for label in labels]]
        part = part[~np.isnan(part).all(axis=1)]
        name = key.removeprefix(SIGNAL)
        if key.startswith(SIGNAL):
            content["signals"][name] = part.reshape(len(part), *shapes["signals"][name])
        else:
            content[name] = part[:, 0] if name == "time" else part
    return content


def signal_rows(motion: RecordedMotion) -> Any:
    """Return the rows `(m,)` of a motion's table that the signals are in."""
    signals = motion.signals
    count = len(next(iter(signals.values()), ()))
    time = signals.get("time")
    below = np.arange(len(motion), len(motion) + count)
    if time is None or not len(motion) or time.ndim != 1:
        return below
    rows = np.minimum(np.searchsorted(motion.time, time), len(motion) - 1)
    same = np.array_equal(motion.time[rows], time) and (np.diff(rows) > 0).all()
    return rows if same else below


def _columns(shapes: dict[str, Any], unit: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields of a trajectory and the names of their columns."""
    n, half = shapes["actuators"], shapes["deflections"] // 2
    cranks = unit == "rad"
    coordinate, force = ("angle", "torque") if cranks else ("length", "force")
    numbers, springs = range(1, n + 1), range(1, half + 1)
    yield "time", ["time [s]"]
    yield "pose", list(POSE)
    yield "twist", list(TWIST)
    yield "lengths", [f"{coordinate} {k} [{unit}]" for k in numbers]
    yield "rates", [f"{coordinate} rate {k} [{unit}/s]" for k in numbers]
    yield "forces", [f"{force} {k} [{'N m' if cranks else 'N'}]" for k in numbers]
    if half:
        deflections = [f"deflection {k} [m]" for k in springs]
        yield "deflection", deflections + [f"deflection rate {k} [m/s]" for k in springs]
    for name, shape in shapes["signals"].items():
        yield SIGNAL + name, [f"{SIGNAL}{label}" for label in _labels(name, shape, unit)]


def _labels(name: str, shape: Sequence[int], unit: str) -> list[str]:
    """Return the names of a signal's columns, with units where the loop itself records it."""
    known = {"reference_pose": POSE, "inertial": INERTIAL}.get(name, ())
    if len(known) == prod(shape):
        return [f"{name} {label}" for label in known]
    units = {"time": " [s]", "setpoint": f" [{unit}]", "measured": f" [{unit}]"}
    indices = product(*(range(1, size + 1) for size in shape))
    return [" ".join([*name.split(), *map(str, index)]) + units.get(name, "") for index in indices]
