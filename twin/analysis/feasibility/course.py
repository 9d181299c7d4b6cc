"""Course of a task for a verdict: poses at rest or samples of a motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.mobility import check_convention
from twin.basics.arrays import BoolArray, FloatArray, whole_number
from twin.errors import InputError, brief
from twin.kernels.kinematics.inverse import inverse_kinematics_batch
from twin.model.evaluation import run
from twin.model.machine_model import MachineModel
from twin.model.motions import PlatformMotion
from twin.motion import Motion
from twin.motion.fitting import followed

SAMPLES = 1001
"""Times along a motion. A peak between two of them is higher than both by less than a millionth of
its curvature times the square of the duration."""


class Course(NamedTuple):
    """Samples of a task, one row per time or pose at rest."""

    time: FloatArray
    """`(k,)` [s], zero at rest"""
    motion: PlatformMotion
    """in arrays of k rows"""
    places: tuple[str, ...]
    """names of poses at rest; none for a motion"""

    def place(self, row: int) -> str:
        """Return the time or the name of the pose of a row."""
        return self.places[row] if self.places else f"{self.time[row]:.4g} s"

    def rows(self, chosen: Any) -> Course:
        """Return the rows that a mask or a slice chooses."""
        indices = np.arange(len(self.time))[chosen]
        places = tuple(self.places[i] for i in indices) if self.places else ()
        motion = PlatformMotion(*(part[indices] for part in self.motion))
        return Course(self.time[indices], motion, places)


def rest_course(platform: MachineModel, poses: FloatArray, places: tuple[str, ...]) -> Course:
    """Return poses `(k, 7)` at rest, each for itself."""
    count = len(poses)
    motion = platform.constrain(poses, np.zeros((count, 6)), np.zeros((count, 6)))
    return Course(np.zeros(count), motion, places)


MOST_SAMPLES = 1_000_000


def motion_course(platform: MachineModel, motion: Any, samples: Any = SAMPLES) -> Course:
    """Return a motion at `samples` times from start to end.

    Raises:
        InputError: not a motion, fewer than two samples, or a convention whose angles the machine
            cannot have.
    """
    if not isinstance(motion, Motion):
        raise InputError("motion", f"must be one of twin.motion, not {brief(motion)}")
    whole_number(samples, "samples", 2, MOST_SAMPLES)
    check_convention(platform, motion.convention)
    time = np.linspace(0.0, motion.duration, samples)
    return Course(time, followed(platform, motion, time), ())


def reached(platform: MachineModel, poses: FloatArray) -> BoolArray:
    """Return `(k, n)` whether each leg reaches each pose, its actuator's range left out."""
    coordinates = np.empty((len(poses), platform.n_actuators))
    run(inverse_kinematics_batch, (platform.constants.legs,), (poses, coordinates))
    return np.isfinite(coordinates)
