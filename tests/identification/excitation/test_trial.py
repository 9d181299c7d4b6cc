"""Errors that a trial expects, beside those of an identification from another engine."""

import numpy as np
import pytest
from recorded_motion import FAST, moved, nominal, part, sines
from refusals import refused

import twin
from twin.identification.excitation import trial
from twin.identification.parameters import select
from twin.identification.result.identify import identify

pytestmark = pytest.mark.quick


TRUTH = {
    "platform.body.mass": 101.3,
    "leg.drive.delay": 0.003,
    "leg.drive.backlash": 6e-5,
    "leg.drive.stiffness": 21e6,
}


def shaken(speed):
    """Return a motion whose fast sines unload the legs if they are large."""
    speeds = dict.fromkeys(("x", "y", "roll", "pitch", "yaw"), speed * FAST)
    return sines(nominal(), speeds, seed=1)


@pytest.mark.slow
def test_errors_of_play_and_stiffness_are_those_of_an_identification():
    machine, motion = nominal(), shaken(0.07)
    parameters = select(machine, list(TRUTH))
    expected = trial(machine, motion, parameters).expected_errors
    log = moved(machine, TRUTH, motion, engine="mujoco")
    found = identify(machine, [part(log, "measured", "command_forces")], list(TRUTH))
    assert np.isfinite(found.margins).all()
    ratios = found.standard_errors / expected
    assert ((ratios > 0.5) & (ratios < 5.0)).all()
    assert (np.abs(found.values - list(TRUTH.values())) < 6.0 * expected).all()
    assert (expected < 0.02 * np.array([each.prior_std for each in parameters])).all()


@pytest.mark.slow
def test_a_play_that_no_leg_crosses_keeps_its_spread():
    machine = nominal()
    parameters = select(machine, ["leg.drive.backlash", "leg.drive.stiffness"])
    seen = trial(machine, shaken(0.01), parameters)
    assert seen.shares[0] == 1.0
    assert seen.shares[1] < 0.5


def test_a_machine_without_commands_is_refused():
    machine = twin.load("driving_simulator", "hardware")
    with refused("one actuator per degree"):
        trial(machine, shaken(0.01), select(machine, "leg.drive.backlash"))
