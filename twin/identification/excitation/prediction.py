"""Standard errors that a motion leads to: by derivatives of forces, and by a simulated run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control import make_controller
from twin.engines.stability import dividing_step
from twin.identification.linear.model import linear_model
from twin.identification.linear.regressor import regressor
from twin.identification.linear.samples import ForceSamples, Where
from twin.identification.linear.unknowns import linear_part
from twin.identification.parameters import Parameter
from twin.identification.prediction.optimise import (
    difference_steps,
    first_jacobian,
    project_out_discontinuities,
)
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import recording_of
from twin.identification.result.doubts import doubt_of_play
from twin.identification.result.predictions import check_predictable
from twin.identification.visibility import Visibility, visibility
from twin.logs import log_of
from twin.model.derivatives import inverse_dynamics_derivatives
from twin.model.machine_model import MachineModel
from twin.motion.motion import Motion
from twin.plant.plant import Plant
from twin.simulation.simulate import simulate

DELAY_SIGNS = {
    "leg.drive.delay": 1.0,
    "leg.drive.current_lag": 1.0,
    "signal.coordinates.delay": 1.0,
    "signal.forces.delay": -1.0,
}
"""Parameters that shift forces against the motion in time, and to which side."""

TILT_DERIVATIVES = {"tilt.x": np.array([0.0, -1.0, 0.0]), "tilt.y": np.array([1.0, 0.0, 0.0])}
"""Derivatives of the direction of gravity by tilts of the base, at none."""

SAMPLE_RATE = 20.0
"""Independent samples per second of forces that are low-passed at 10 Hz [1/s]."""

RATE_STEP = 1e-4
"""[s] over which the rates of forces are differences."""

TRACKER_RATE = 100.0
"""Poses per second of a tracker. Adopted."""


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
    known = [each for each in parameters if each in linear or each.path in DELAY_SIGNS]
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
        own = [each for each in linear if each.path not in {*TILT_DERIVATIVES, *DELAY_SIGNS}]
        self._own = [paths.index(each.path) for each in own]
        self._delays = {
            paths.index(path): DELAY_SIGNS[path] for path in DELAY_SIGNS if path in paths
        }
        self._tilts = {
            paths.index(path): TILT_DERIVATIVES[path] for path in TILT_DERIVATIVES if path in paths
        }
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
        course = platform.constrain(*motion.sample(time + side * RATE_STEP))
        states = ForceSamples(*course, np.zeros((len(time), platform.n_actuators)))
        inside = states.inside(platform)
        ends.append(platform.inverse_dynamics(*course, deflection=inside))
    return np.asarray((ends[1] - ends[0]) / RATE_STEP)


def trial(platform: MachineModel, motion: Motion, parameters: Sequence[Parameter]) -> Visibility:
    """Return what predictions of the closed loop along a motion would show of parameters.

    The machine of the file follows the motion under computed torque, through its drives and
    sensors. The Jacobian is that of `twin identify` at its end: without what comes and goes with
    single events. A play that shows in few impacts keeps its spread.

    Args:
        platform: the machine, with drives.
        motion: that it shall follow.
        parameters: all that shall be identified together.

    Raises:
        InputError: a machine that predictions do not support, or a motion that is too short.
    """
    check_predictable(platform)
    law = make_controller("computed_torque", platform, motion)
    step, plant = dividing_step(platform, law.period), Plant(platform)
    run = simulate(platform, motion.duration, controller=law, plant=plant, timestep=step)
    log = log_of(run)
    every = max(1, round(1.0 / (TRACKER_RATE * step)))
    log = log.with_channels(log["pose"].kept(slice(None, None, every)))
    problem = PredictionProblem(platform, recording_of(log, platform), parameters)
    values = np.array([each.nominal for each in parameters])
    spreads = np.array([each.spread for each in parameters])
    rows = first_jacobian([problem]) * spreads
    steps = difference_steps(rows.T @ rows + np.eye(len(values)), parameters)
    slopes = project_out_discontinuities(problem, values, steps).slopes.reshape(-1, len(values))
    seen = visibility(slopes / spreads, parameters)
    turns = problem.turns(platform).sum(axis=0)
    unsure = [bool(doubt_of_play(each, turns, 0.0)) for each in parameters]
    return replace(seen, expected_errors=np.where(unsure, spreads, seen.expected_errors))
