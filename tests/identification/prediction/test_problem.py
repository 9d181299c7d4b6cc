"""Prediction errors of the true machine and of the file's, under forces and under speeds."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_motion import HIDDEN, nominal, recorded

from twin.basics.arrays import FloatArray
from twin.identification.parameters import select
from twin.identification.prediction.problem import PredictionProblem, without
from twin.identification.prediction.recording import recording_of
from twin.logs import log_of

pytestmark = pytest.mark.quick


def left(problem: PredictionProblem, values: FloatArray) -> float:
    """Return the errors that the starts do not explain, rms [m]."""
    found = problem.linearised(values, by_parameters=False)
    errors = without(found.by_starts, found.errors)
    return float(np.sqrt((errors**2).mean()) * problem.noise[0])


@pytest.mark.parametrize("controller", ["computed_torque", "cascade"])
def test_the_true_machine_predicts_its_encoders(controller: str) -> None:
    """Counts of 1.24 um leave 0.36 um; some speeds are too small for their rounding to be white."""
    machine = nominal()
    parameters = select(machine, list(HIDDEN))
    recording = recording_of(log_of(recorded(controller)), machine)
    assert recording.mode == {"computed_torque": "force", "cascade": "velocity"}[controller]
    problem = PredictionProblem(machine, recording, parameters)
    truth = np.array(list(HIDDEN.values()))
    raw = np.linalg.norm(problem.errors(truth))
    problem.improve_starts(truth)
    assert np.linalg.norm(problem.errors(truth)) < 0.8 * raw
    assert left(problem, truth) < 1.2e-6
    assert left(problem, np.array([each.nominal for each in parameters])) > 1e-5
