"""A machine under a criterion: largest masses of positions, one frequency at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.criterion import Criterion
from twin.analysis.payload.scaled import ScaledPayload, as_sense
from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.kernels.dynamics.assembly import BODY_MASS, BODY_TENSOR, GRAVITY
from twin.kernels.dynamics.payload import Limits, Motion, largest_payloads
from twin.model.batch import run_batch
from twin.model.machine_model import MachineModel

SAMPLES = 24
"""Times in a period: a peak between two is missed by at most 0.9 percent of what moves."""

NEVER = 1e299
"""Masses above are infinite: compiled code has no infinity."""


class Runs(NamedTuple):
    """Runs of positions at one frequency."""

    mass: FloatArray
    """`(k,)` [kg]; infinite where left out"""
    leg: FloatArray
    """`(k,)` that reaches its limit, from 1; 0: none"""
    outcome: FloatArray
    """`(k,)` 0: done; 1: left out, beyond an actuator's ends; 2: left out, faster than one"""


class VibrationTest:
    """A machine, the limits of its actuators, and the sense of its forces.

    Attributes:
        payload: the machine with its body scaled.
        sense: "magnitude" or "signed".
    """

    def __init__(
        self,
        platform: MachineModel,
        limit: Any = None,
        sense: str = "magnitude",
        *,
        checked: bool = True,
    ) -> None:
        """Prepare the machine.

        Args:
            platform: with six actuators and degrees of freedom.
            limit: largest force [N] or torque [N m], default what the file gives.
            sense: "magnitude" or "signed".
            checked: whether runs beyond the actuators' ends or speeds are left out.

        Raises:
            InputError: another machine, legs that give way, no limit known.
        """
        self.payload = ScaledPayload(platform, limit)
        self.sense = as_sense(sense)
        if platform.dof != 6:
            raise InputError(
                "platform",
                f"{platform.name} has {platform.dof} degrees of freedom; the criterion moves six "
                "axes. The static search works for it",
            )
        actuators = [leg.actuator for leg in platform.parameters.legs]
        speeds = [np.inf if actuator.speed is None else actuator.speed for actuator in actuators]
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        limits = np.array([low, high, speeds, self.payload.limits])
        self._limits = Limits(limits, self.sense == "signed", checked)
        body = platform.constants.body
        self._unit = body.copy()
        self._unit[BODY_TENSOR : BODY_TENSOR + 6] /= body[BODY_MASS]
        self._unit[BODY_MASS] = 1.0
        self._empty = np.zeros_like(body)
        self._empty[GRAVITY:] = body[GRAVITY:]

    def run(
        self, criterion: Criterion, frequency: float, centers: FloatArray, samples: int = SAMPLES
    ) -> Runs:
        """Return the largest masses at centre poses `(k, 7)` for one frequency [Hz]."""
        course = criterion.samples(frequency, samples)
        motion = Motion(
            np.ascontiguousarray(course.pose),
            np.ascontiguousarray(course.twist),
            np.ascontiguousarray(course.acceleration),
        )
        legs = self.payload.platform.constants.legs
        constants: tuple[Any, ...] = (self._unit, self._empty, legs, motion, self._limits)
        out = np.empty((len(centers), 3))
        run_batch(largest_payloads, constants, (np.ascontiguousarray(centers), out))
        mass = np.where(out[:, 0] < NEVER, out[:, 0], np.inf)
        return Runs(mass, out[:, 1], out[:, 2])
