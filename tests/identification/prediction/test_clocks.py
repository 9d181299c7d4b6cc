"""Commands on another clock than the encoders: found, removed and said."""

from dataclasses import replace

import numpy as np
import pytest
from recorded_motion import HIDDEN, nominal, recorded
from refusals import refused
from tolerance import assert_within

from twin.identification.prediction.recording import recording_of
from twin.identification.prediction.rollouts import synchronised
from twin.identification.result.identify import identify
from twin.logs import log_of

pytestmark = pytest.mark.quick


def recording(controller):
    return recording_of(log_of(recorded(controller)), nominal())


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["computed_torque", "cascade"])
@pytest.mark.parametrize("early", [0.03, -0.02])
def test_another_clock_is_found(controller, early):
    """Within what the delay (1 ms more), lag, friction and velocity loops of the machine add."""
    other = recording(controller)
    other = replace(other, command_time=other.command_time - early)
    found, moved = synchronised(other, nominal())
    assert_within(moved, early, 3e-3)
    assert np.allclose(found.command_time, other.command_time + moved)


@pytest.mark.parametrize("early", [0.3, -0.3])
def test_clocks_that_differ_by_more_are_refused_with_their_channel(early):
    other = recording("computed_torque")
    other = replace(other, command_time=other.command_time - early)
    side = "later" if early > 0.0 else "earlier"
    with refused(f"command_forces: fit .* (0.29|0.3).* s {side}"):
        synchronised(other, nominal())


@pytest.mark.parametrize("controller", ["computed_torque", "cascade"])
def test_delays_are_no_difference_of_clocks(controller):
    given = recording(controller)
    found, moved = synchronised(given, nominal())
    assert found is given
    assert moved == 0.0


def test_motion_that_says_nothing_moves_nothing():
    given = recording("computed_torque")
    noise = np.random.default_rng(0).normal(size=given.commands.shape)
    assert synchronised(replace(given, commands=noise), nominal())[1] == 0.0


@pytest.mark.slow
def test_an_identification_removes_it_and_says_so():
    log = log_of(recorded())
    late = log.with_channels(log["command_forces"].delayed(0.02))
    names = [name for name in HIDDEN if not name.endswith("delay")]
    found = identify(nominal(), [late], names, if_unobservable="prior")
    assert "clocks of commands and encoders differ by -1" in " ".join(found.notes)
    assert found.values[0] == pytest.approx(HIDDEN["platform.body.mass"], rel=5e-3)
