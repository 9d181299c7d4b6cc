"""Prediction errors of the true machine and of the file's, under forces and under speeds."""

import numpy as np
import pytest
from recorded_motion import HIDDEN, nominal, recorded

from twin.identification.parameters import select
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import recording_of
from twin.logs import log_of

pytestmark = pytest.mark.quick


def rms(problem, values):
    """Return the prediction errors, rms [m]."""
    return float(np.sqrt((problem.errors(values) ** 2).mean()) * problem.noise[0])


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["computed_torque", "cascade"])
def test_the_true_machine_predicts_its_encoders(controller):
    """Counts of 1.24 um leave 0.36 um; some speeds are too small for their rounding to be white.

    The steps are those of the recorded simulation.
    """
    machine = nominal()
    parameters = select(machine, list(HIDDEN))
    recording = recording_of(log_of(recorded(controller)), machine)
    assert recording.mode == {"computed_torque": "force", "cascade": "velocity"}[controller]
    problem = PredictionProblem(machine, recording, parameters).finer(8)
    assert rms(problem, np.array(list(HIDDEN.values()))) < 0.45e-6
    assert rms(problem, np.array([each.nominal for each in parameters])) > 1e-5


@pytest.mark.slow
def test_corrections_turn_white_noise_round_as_the_ratio_says():
    """An observer of constant speed, with the gains of the problem, on noise alone."""
    machine = nominal()
    recording = recording_of(log_of(recorded()), machine)
    problem = PredictionProblem(machine, recording, select(machine, "platform.body.mass"), 0.04)
    samples, random = problem.windows.samples, np.random.default_rng(2)
    share = np.exp(-3.0 / samples)
    position, speed = np.zeros(400), np.zeros(400)
    errors = np.empty((400, 40 * samples))
    for k in range(errors.shape[1]):
        errors[:, k] = position - random.normal(size=400)
        position += speed - (1.0 - share**2) * errors[:, k] - (1.0 - share) ** 2 * errors[:, k]
        speed -= (1.0 - share) ** 2 * errors[:, k]
    windows = errors[:, 20 * samples :].reshape(-1, samples)
    ratio = samples * (windows.mean(axis=1) ** 2).mean() / (windows**2).mean()
    assert problem.noise_ratio == pytest.approx(ratio, rel=0.05)
    assert problem.noise_ratio < 0.3


@pytest.mark.slow
def test_errors_of_some_segments_are_those_of_all():
    """For several sets of values, and with several windows in a segment."""
    machine = nominal()
    recording, parameters = recording_of(log_of(recorded()), machine), select(machine, list(HIDDEN))
    problem = PredictionProblem(machine, recording, parameters, 0.02)
    count, own = len(problem.windows.first), problem.windows.counted
    assert own > 1
    values = np.array([each.nominal for each in problem.parameters]) * np.ones((3, 1))
    values[1:, 0] += [1.0, 2.0]
    errors = problem.errors(values)
    for chosen in (np.array([2, 0]), np.arange(count)):
        windows = (own * chosen[:, None] + np.arange(own)).ravel()
        assert np.allclose(problem.part(chosen).errors(values), errors[:, windows], rtol=1e-9)
    sums = (errors**2).sum(axis=(1, 2))
    assert sums[2] < sums[1] < sums[0], "nearer to the hidden mass"
