"""Trial of a motion: a simulated run in the closed loop, and what its log would show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from twin.control import make_controller
from twin.engines.stability import dividing_step
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
from twin.model.machine_model import MachineModel
from twin.motion.motion import Motion
from twin.plant.plant import Plant
from twin.simulation.simulate import simulate

TRACKER = 100.0
"""Poses per second of a tracker. Adopted."""


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
    every = max(1, round(1.0 / (TRACKER * step)))
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
