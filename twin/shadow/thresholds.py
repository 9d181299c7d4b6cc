"""Sizes of faults below which no alarm is raised, from the machine's file or from a file of theirs.

They say what is worth a report. What noise and the model's errors look like is learned from the
machine while it is healthy; see `detectors`.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from twin.basics.files import write_text
from twin.basics.toml import read_toml
from twin.control.gains import drive_model
from twin.errors import ParameterError, brief
from twin.model.machine_model import MachineModel, as_model

FRICTION_FRACTION = 0.25
"""Engineering choice: rise of friction worth a report, as a fraction of the file's dry friction."""

MIN_FRICTION_FRACTION = 0.01
"""Engineering choice: least rise of friction worth a report, as a fraction of the largest force
that holds the machine at home.
"""

LOAD_FRACTION = 0.1
"""Engineering choice: unexplained force worth a report, as a fraction of the largest force that
holds the machine at home; it is at least the rise of friction worth a report.
"""

PAYLOAD_FRACTION = 0.05
"""Engineering choice: change of the payload worth a report, as a fraction of the platform's mass.
"""

BACKLASH_FRACTION = 0.4
"""Engineering choice: growth of backlash worth a report, as a fraction of the file's."""

MIN_BACKLASH = 2e-5
"""[m, rad] Engineering choice: least growth of backlash, and of a slip, worth a report."""

MOTOR_FRACTION = 0.1
"""Engineering choice: error of a motor's force worth a report, as a fraction of it."""

MAX_INNOVATION = 6.0
"""Number of standard deviations above which the innovation of an encoder is a jump: one in 5 10^8
normal innovations is larger, for six encoders at 1 kHz one in a day.
"""


class Thresholds(NamedTuple):
    """Sizes of faults that are worth a report; what is smaller raises no alarm."""

    friction: float
    """rise of friction [N, N m]"""
    backlash: float
    """growth of backlash, and twice the slip [m, rad]"""
    payload: float
    """[kg]"""
    force: float
    """root mean square over the legs of an unexplained force [N, N m]"""
    motor: float
    """error of a motor's force, as a fraction of it"""
    jump: float
    """innovation of an encoder, in standard deviations"""


INFINITE_THRESHOLDS = Thresholds(*[np.inf] * len(Thresholds._fields))
"""Infinite thresholds, with which a shadow never raises an alarm of these kinds."""


def default_thresholds(machine: MachineModel) -> Thresholds:
    """Return the thresholds that follow from a machine's file.

    Raises:
        InputError: not a machine.
    """
    model = as_model(machine)
    drives, rest = drive_model(model), np.zeros(6)
    holding = float(np.abs(model.inverse_dynamics(model.home, rest, rest)).max())
    friction = FRICTION_FRACTION * float(drives.friction.max())
    friction = max(friction, MIN_FRICTION_FRACTION * holding)
    return Thresholds(
        friction=friction,
        backlash=max(BACKLASH_FRACTION * 2.0 * float(drives.half_backlash.max()), MIN_BACKLASH),
        payload=PAYLOAD_FRACTION * model.parameters.platform.body.mass,
        force=max(LOAD_FRACTION * holding, friction),
        motor=MOTOR_FRACTION,
        jump=MAX_INNOVATION,
    )


def write_thresholds(thresholds: Thresholds, path: str | Path) -> Path:
    """Write thresholds to a TOML file and return its path.

    Raises:
        InputError: the file cannot be written.
    """
    rows = [f"{name} = {value!r}" for name, value in thresholds._asdict().items()]
    return write_text(path, "# Thresholds of twin shadow, in SI\n" + "\n".join(rows) + "\n")


def read_thresholds(path: str | Path) -> Thresholds:
    """Return the thresholds of a TOML file.

    Raises:
        ParameterError: unreadable, not TOML, or not the numbers of `Thresholds`, each above zero.
    """
    content = read_toml(path)
    known_fields, thresholds, problems = Thresholds._fields, {}, []
    for name in dict.fromkeys((*known_fields, *content)):
        value = content.get(name)
        if name not in known_fields:
            problems.append((name, f"unknown threshold; known: {', '.join(known_fields)}"))
        elif value is None:
            problems.append((name, "missing; add it, or take the default thresholds"))
        elif type(value) not in (int, float) or not value > 0:
            problems.append((name, f"must be a number above zero, not {brief(value)}"))
        else:
            thresholds[name] = float(value) if value <= sys.float_info.max else math.inf
    if problems:
        raise ParameterError(path, problems)
    return Thresholds(**thresholds)
