"""Files of a plan: a table of its poses, and a motion that visits them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from twin.basics.quaternions import quaternion_product
from twin.calibration.frames import CONJUGATE
from twin.calibration.pose_plan import Plan
from twin.logs import Channel, Log, write_log
from twin.logs.channel import POSE_UNITS
from twin.model.machine_model import MachineModel
from twin.motion.axes import axis_names
from twin.motion.cueing.tables import write_motion
from twin.motion.motion import minimum_jerk
from twin.motion.recording import RecordedMotion
from twin.motion.specification import convention_of
from twin.rotations import angles_from_quaternion

PERIOD = 0.05
"""[s] between the samples of the motion."""

MOVE, REST = 4.0, 2.0
"""[s] from home to a pose, and at rest in it and at home."""


def write_table(found: Plan, machine: MachineModel, path: str | Path) -> Path:
    """Write a log with the planned coordinates and poses, one row each, numbered from 1.

    Raises:
        InputError: another ending than those of logs, or a place that cannot be written to.
    """
    number = np.arange(1.0, len(found.poses) + 1.0)
    units = (machine.coordinate_unit,) * machine.n_actuators
    channels = (
        Channel("coordinates", number, found.coordinates, units),
        Channel("reference_pose", number, found.poses, POSE_UNITS),
    )
    return write_log(Log(channels, {"machine": machine.name}), path)


def write_visits(found: Plan, machine: MachineModel, path: str | Path) -> Path:
    """Write a motion that rests in every pose, for `twin track`; between poses it passes home.

    All poses lie on ways from home on which all limits are kept.

    Raises:
        InputError: the place cannot be written to.
    """
    convention = convention_of(machine)
    back = quaternion_product(found.poses[:, 3:], machine.home[None, 3:] * CONJUGATE)
    places = np.hstack(
        [found.poses[:, :3] - machine.home[:3], angles_from_quaternion(back, convention)]
    )
    phase = np.arange(0.0, MOVE + REST, PERIOD) / MOVE
    shares = np.concatenate([minimum_jerk(phase)[0], minimum_jerk(1.0 - phase)[0]])
    samples = (places[:, None] * shares[:, None]).reshape(-1, places.shape[1])
    columns = dict(zip(axis_names(convention), samples.T, strict=True))
    time = PERIOD * np.arange(len(samples))
    motion = RecordedMotion(machine.home, time, columns, convention=convention)
    return write_motion(motion, path, PERIOD)
