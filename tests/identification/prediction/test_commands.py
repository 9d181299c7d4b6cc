"""Commands on their way to the motors: delays that are no whole steps, converters, lag."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tolerance import assert_within

from twin.analysis.platform import load
from twin.identification.prediction.recording import Recording
from twin.identification.prediction.rollouts import delayed_commands
from twin.kernels.plant import columns as column
from twin.plant.drives import drive_constants

pytestmark = pytest.mark.quick

STEP, PERIOD = 5e-4, 1e-3
RANDOM = np.random.default_rng(7)
TIME = PERIOD * np.arange(60)


def machine(delay, lag):
    hardware = load("stewart", configuration="hardware")
    return hardware.with_(parameters={"leg.drive.delay": delay, "leg.drive.current_lag": lag})


def delayed(commands, delay, lag=0.0):
    found = machine(delay, lag)
    constants = drive_constants(found, STEP)
    times = STEP * np.arange(2 * len(TIME) - 1)
    recording = Recording(TIME, commands, "force", TIME, commands)
    given, feedforward = delayed_commands(recording, found, constants, times)
    assert feedforward is None
    return given


def test_delays_of_whole_steps_shift_what_is_held():
    digit = drive_constants(machine(0.0, 0.0), STEP)[0, column.EFFORT_RESOLUTION]
    commands = digit * RANDOM.integers(-500, 500, (len(TIME), 6))
    held = np.repeat(commands, 2, axis=0)[: 2 * len(TIME) - 2]
    for steps in (0, 1, 3):
        given = delayed(commands, steps * STEP)
        assert_allclose(given[steps:], held[: len(held) - steps], rtol=1e-12, atol=1e-6)


def test_converters_round_and_end_below_their_range():
    constants = drive_constants(machine(0.0, 0.0), STEP)[0]
    digit, peak = constants[column.EFFORT_RESOLUTION], constants[column.PEAK_EFFORT]
    commands = np.full((len(TIME), 6), 10.4 * digit)
    assert_allclose(delayed(commands, 0.0), 10.0 * digit)
    assert_allclose(delayed(np.full_like(commands, 2.0 * peak), 0.0), peak - digit)
    assert_allclose(delayed(np.full_like(commands, -2.0 * peak), 0.0), -peak)


def test_what_lags_moves_with_any_delay():
    """Parts of a step are exact: the lag filters a command that changes inside the step."""
    commands = np.repeat(np.where(np.arange(len(TIME)) < 20, 0.0, 300.0)[:, None], 6, axis=1)
    delay, lag = 0.3 * STEP, 0.8e-3
    given = delayed(commands, delay, lag)[:, 0]
    height = delayed(commands, 0.0)[-1, 0]
    since = np.maximum(STEP * np.arange(len(given) + 1) - 20.0 * PERIOD - delay, 0.0)
    integral = height * (since + lag * np.expm1(-since / lag))
    assert_allclose(given, np.diff(integral) / STEP, rtol=1e-9, atol=1e-6)


def test_lag_is_the_same_at_uneven_times():
    """One command that comes 10 ns late changes next to nothing."""
    commands = RANDOM.normal(0.0, 300.0, (len(TIME), 6))
    late = TIME.copy()
    late[30] += 1e-5 * PERIOD
    found, times = machine(0.3 * STEP, 0.8e-3), STEP * np.arange(2 * len(TIME) - 1)
    even, uneven = (
        delayed_commands(
            Recording(TIME, commands, "force", at, commands),
            found,
            drive_constants(found, STEP),
            times,
        )[0]
        for at in (TIME, late)
    )
    assert_within(uneven, even, 1e-2)
