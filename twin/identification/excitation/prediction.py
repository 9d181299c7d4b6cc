"""Derivatives of forces along a motion by parameters, before any test is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.linear.model import linear_model
from twin.identification.linear.regressor import regressor
from twin.identification.linear.samples import ForceSamples, Where
from twin.identification.linear.unknowns import linear_part
from twin.identification.parameters.parameter import Parameter
from twin.model.derivatives import inverse_dynamics_derivatives
from twin.model.machine_model import MachineModel
from twin.motion.motion import Motion

DELAYS = {
    "leg.drive.delay": 1.0,
    "leg.drive.current_lag": 1.0,
    "signal.coordinates.delay": 1.0,
    "signal.forces.delay": -1.0,
}
"""Parameters that shift forces against the motion in time, and to which side."""

TILTS = {"tilt.x": np.array([0.0, -1.0, 0.0]), "tilt.y": np.array([1.0, 0.0, 0.0])}
"""Derivatives of the direction of gravity by tilts of the base, at none."""

RATE = 20.0
"""Independent samples per second of forces that are low-passed at 10 Hz [1/s]."""

AHEAD = 1e-4
"""[s] over which the rates of forces are differences."""


def place_of_forces(platform: MachineModel) -> Where:
    """Return where forces are measured: in the motors of a machine with drives, else on legs."""
    drives = [leg.drive for leg in platform.parameters.legs]
    return "motors" if all(drive is not None for drive in drives) else "legs"


def predictable(
    platform: MachineModel, parameters: Sequence[Parameter]
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """Return the parameters whose errors can be predicted, then the others.

    Predictable are those of the linear stage, and delays and lags.
    """
    linear = linear_part(platform, parameters, place_of_forces(platform))
    known = [each for each in parameters if each in linear or each.path in DELAYS]
    return tuple(known), tuple(each for each in parameters if each not in known)


class Prediction:
    """Derivatives of forces along motions of one machine by predictable parameters."""

    def __init__(self, platform: MachineModel, parameters: Sequence[Parameter]) -> None:
        """Prepare all that does not depend on the motion.

        Args:
            platform: the machine.
            parameters: predictable ones.
        """
        self._platform, self._where = platform, place_of_forces(platform)
        paths = [each.path for each in parameters]
        self._count, n = len(paths), platform.n_actuators
        linear = linear_part(platform, parameters, self._where)
        own = [each for each in linear if each.path not in {*TILTS, *DELAYS}]
        self._own = [paths.index(each.path) for each in own]
        self._delays = {paths.index(path): DELAYS[path] for path in DELAYS if path in paths}
        self._tilts = {paths.index(path): TILTS[path] for path in TILTS if path in paths}
        self._model = None
        if own:
            rest, none = np.zeros((1, 6)), np.zeros((1, n))
            states = ForceSamples(platform.home[None], rest, rest, none, self._where)
            self._model = linear_model(platform, own, states)
            self._slopes = self._model.slopes([each.nominal for each in own])

    def jacobian(self, motion: Motion, samples: int) -> tuple[FloatArray, Any]:
        """Return derivatives `(rows, p)` at `samples` times, and the leg of each row, from 0.

        Rows in which a drive may stick are left out.

        Raises:
            UnreachablePoseError: a leg cannot reach a pose.
            SingularPoseError: a state without a solution.
        """
        # In the middle of equal spans, so that the ends at rest do not count twice.
        time = (np.arange(samples) + 0.5) * motion.duration / samples
        platform, n = self._platform, self._platform.n_actuators
        course = platform.constrain(*motion.sample(time))
        states = ForceSamples(*course, np.zeros((samples, n)), self._where)
        found = np.zeros((samples, n, self._count))
        moving = np.ones((samples, n), dtype=bool)
        if self._model is not None:
            model = self._model
            first = regressor(platform, model.bodies, model.single, states, np.zeros(3))
            moving, q = first.moving, first.matrix.shape[-1]
            columns = first.matrix @ self._slopes[:q]
            columns += first.rest[..., None] * self._slopes[q] + self._slopes[-n:]
            found[..., self._own] = columns
        if self._delays:
            rates = _force_rates(platform, motion, time)
            for column, side in self._delays.items():
                found[..., column] = side * rates
        if self._tilts:
            inside = states.inside(platform)
            slopes = inverse_dynamics_derivatives(platform, *course, deflection=inside).gravity
            for column, direction in self._tilts.items():
                found[..., column] = slopes @ direction * platform.parameters.gravity
        return found[moving], np.nonzero(moving)[1]


def _force_rates(platform: MachineModel, motion: Motion, time: FloatArray) -> FloatArray:
    """Return the rates `(k, n)` of the forces on the legs [N/s] or [N m/s]."""
    ends = []
    for side in (-0.5, 0.5):
        course = platform.constrain(*motion.sample(time + side * AHEAD))
        states = ForceSamples(*course, np.zeros((len(time), platform.n_actuators)))
        inside = states.inside(platform)
        ends.append(platform.inverse_dynamics(*course, deflection=inside))
    return np.asarray((ends[1] - ends[0]) / AHEAD)
