"""Motions from files: tables of axes or leg coordinates, saved runs, and logs with poses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import as_text
from twin.basics.files import as_path
from twin.basics.text_table import COMMENT_MARK, TextTable
from twin.errors import InputError, listed
from twin.logs.files import read_log
from twin.logs.log import Log
from twin.logs.mapping import LogMapping, guessed_mapping
from twin.machine.quantity import TITLE_PATTERN
from twin.model.forward_kinematics import poses_along
from twin.model.machine_model import MachineModel, as_model
from twin.motion import RecordedMotion, axis_names, read_recording
from twin.motion.specification import axes_from_home, convention_of
from twin.motion.table import known_columns

TEXT_FILES = (".csv", ".txt")
"""Endings of files that may be a table of axes."""

POSE_SIGNALS = ("reference_pose", "pose")
"""Poses that make a motion, the reference before what was measured."""

LEG_SIGNALS = ("setpoint", "coordinates")
"""Leg coordinates that make a motion, the setpoint before what was measured."""

BASE_ORIGIN = (0.0, 0.0, 0.0)
"""[m] Origin of the base, from which absolute axes count."""


def read_motion(
    path: Any,
    machine: MachineModel,
    *,
    columns: Mapping[str, str] | None = None,
    absolute: bool = False,
) -> RecordedMotion:
    """Return the motion in a file.

    A table of axes has columns such as `z [mm]` and `pitch [deg]`; see `read_recording`. A saved
    run or a log gives its poses, those wanted before those reached. A table with one column per
    leg, such as `leg 1 [mm]`, gives the poses of its coordinates.

    Args:
        path: .csv, .txt, or any file of `read_log`.
        machine: that moves.
        columns: axis, or time -> title of the column in a table, with the unit where the file has
            none, such as `{"z": "Heave [mm]"}`; other columns are left out. Default: titles are
            the names of the axes.
        absolute: whether axes are in the base frame; default: relative to home.

    Raises:
        InputError: a file that cannot be read, or without any of these.
    """
    platform, file = as_model(machine), as_path(path)
    convention = convention_of(platform)
    if columns or (file.suffix in TEXT_FILES and _has_axes(file, convention)):
        titles = {axis: _title(title) for axis, title in (columns or {}).items()}
        if len({name for name, _ in titles.values()}) < len(titles):
            raise InputError("columns", "two axes have the same column; give each its own")
        return read_recording(
            file,
            BASE_ORIGIN if absolute else platform.home,
            convention=convention,
            columns={name: axis for axis, (name, _) in titles.items()} or None,
            units={axis: unit for axis, (_, unit) in titles.items() if unit},
        )
    if absolute:
        raise InputError("absolute", f"is for tables of axes; {file} has poses or leg coordinates")
    log = read_log(file)
    if not any(name in log.names for name in (*POSE_SIGNALS, *LEG_SIGNALS)):
        mapping = tomllib.loads(guessed_mapping(log))
        if "signals" not in mapping:
            raise InputError(
                str(file),
                "has no axis of a motion, no pose and no column per leg; say which column is which "
                f"axis (--column 'z=Heave [mm]'). Its columns: {listed(log.names)}",
            )
        log = LogMapping.of(mapping, file).apply(log, platform)
    return motion_of_log(log, platform)


def motion_of_log(log: Log, machine: MachineModel) -> RecordedMotion:
    """Return the motion that a log's poses, or else its leg coordinates, describe.

    Raises:
        InputError: neither of the two, or coordinates that no pose fits.
    """
    platform = as_model(machine)
    name = next(
        (name for name in (*POSE_SIGNALS, *LEG_SIGNALS) if name in log.names and len(log[name])),
        None,
    )
    if name is None:
        raise InputError("motion", f"the file has no {', '.join((*POSE_SIGNALS, *LEG_SIGNALS))}")
    channel = log[name]
    poses = channel.values if name in POSE_SIGNALS else poses_along(platform, channel.values)
    return motion_of_poses(platform, channel.time, poses)


def motion_of_poses(machine: MachineModel, time: Any, poses: Any) -> RecordedMotion:
    """Return the motion through poses `(k, 7)` of a machine at times `(k,)` [s]."""
    convention = convention_of(machine)
    pose = machine.constrain(poses).pose if machine.dof < 6 else poses
    values = axes_from_home(machine, pose)
    values[:, 3:] = np.unwrap(values[:, 3:], axis=0)
    columns = dict(zip(axis_names(convention), values.T, strict=True))
    return RecordedMotion(machine.home, time, columns, convention=convention)


def _has_axes(file: Path, convention: str) -> bool:
    """Return whether the header of a text file names an axis of a motion."""
    table = TextTable(file)
    if table.first_line.startswith(f"{COMMENT_MARK} twin "):
        return False
    axes = set(known_columns(convention)) - {"time"}
    return any(_title(name)[0] in axes for name in table.layout.names)


def _title(text: str) -> tuple[str, str]:
    """Return name and unit of a column's title."""
    match = TITLE_PATTERN.fullmatch(as_text(text, "columns").strip())
    return (match["name"], match["unit"] or "") if match else (text, "")
