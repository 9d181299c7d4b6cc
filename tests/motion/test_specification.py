"""Tank runs of a size that actuators can follow."""

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within

from twin.motion import TankTrackMotion
from twin.motion.cueing.workspace_use import workspace_use
from twin.motion.specification import MotionSpecification, fitted_tank_course

pytestmark = pytest.mark.quick


def test_the_default_run_of_the_console_stays_within_limits(platform):
    run = MotionSpecification("tank", "z", None, 1.0, 4.0).motion_of(platform)
    assert run is not None
    use = workspace_use(platform, run, 1e-3)
    # The run is scaled once; legs are not quite linear in it.
    assert use.speed < 0.803
    assert use.length < 0.83


def test_a_smaller_share_makes_a_smaller_run(stewart):
    time = np.linspace(0.0, 4.0, 200)
    large, small = (
        fitted_tank_course(stewart, 0.05, 4.0, share).axes(time).values for share in (0.8, 0.4)
    )
    assert_within(2.0 * small, large, 1e-9 * np.abs(large).max())


def test_a_run_that_fits_stays_as_it_is(stewart):
    time = np.linspace(0.0, 4.0, 200)
    run = fitted_tank_course(stewart, 1e-3, 4.0)
    asked = TankTrackMotion(stewart.home, duration=4.0, peak_pitch=1e-3)
    assert np.array_equal(run.axes(time).values, asked.axes(time).values)


def test_an_amplitude_that_is_given_is_kept(stewart):
    run = MotionSpecification("tank", "z", 0.05, 1.0, 4.0).motion_of(stewart)
    assert run is not None
    assert workspace_use(stewart, run, 1e-3).speed > 1.0


@pytest.mark.parametrize(
    ("given", "field"),
    [((0.0, 4.0), "peak_pitch"), ((0.05, 1.0), "duration"), ((0.05, 4.0, np.nan), "fraction")],
)
def test_wrong_numbers_are_refused(stewart, given, field):
    with refused(field):
        fitted_tank_course(stewart, *given)
