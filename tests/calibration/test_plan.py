"""Plans keep all limits, show more than poses at random, and can be visited."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, assert_each_refused
from tolerance import max_abs

import twin
from twin.calibration import LegErrors, calibrate, plan, poses_within, simulated
from twin.calibration.measured import POSE_COMPONENTS
from twin.calibration.pose_plan import write_table, write_visits
from twin.calibration.simulated import joints_allow
from twin.logs import read_log
from twin.motion import read_recording
from twin.motion.specification import convention_of
from twin.rotations import displacement

pytestmark = pytest.mark.quick


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart", "rss", "driving_simulator"])
def test_plan_is_inside_and_better_than_chance(name, tmp_path):
    machine = twin.load(name)
    found = plan(machine, 20)
    assert machine.within_limits(found.poses).all()
    assert len(np.unique(found.poses, axis=0)) == 20
    assert found.observability["O1"] > 1.2 * found.random["O1"]
    table = read_log(write_table(found, machine, tmp_path / "plan.csv"))
    assert_array_equal(table["coordinates"].values, found.coordinates)
    path = write_visits(found, machine, tmp_path / "visits.csv")
    motion = read_recording(path, machine.home, convention=convention_of(machine))
    # Six seconds out of home and at rest, six back and at rest.
    at = motion.sample(5.0 + 12.0 * np.arange(20))
    assert max_abs(displacement(at.pose, found.poses)) < 1e-6
    assert max_abs(at.twist) < 1e-6
    between = motion.sample(np.linspace(0.0, motion.duration, 500)).pose
    assert machine.within_limits(machine.constrain(between).pose).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frames", "measured"), [("known", POSE_COMPONENTS), ("both", ("z", "roll", "pitch"))]
)
def test_expected_errors_are_those_that_are_found(stewart, frames, measured):
    found = plan(stewart, 30, frames=frames, tolerance=2e-4, measured=measured)
    legs = LegErrors(stewart)
    ends = []
    for seed in range(3):
        errors = 2e-4 * legs.scales * np.random.default_rng(seed).normal(size=legs.shape)
        poses = simulated(stewart, found.poses, errors, seed=seed, measured=measured)
        done = calibrate(stewart, poses, frames=frames, tolerance=2e-4, holdout=0.0)
        other = simulated(stewart, poses_within(stewart, 50, 9), errors, measured=measured)
        ends.append((done.errors_of(other)[1].position ** 2).mean())
        wrong = (done.errors - errors) / found.standard_errors
        assert 0.5 < np.sqrt((wrong**2).mean()) < 1.6
    expected = np.sqrt((found.expected.position**2).mean())
    assert_allclose(np.sqrt(np.mean(ends)), expected, rtol=0.4)


def test_limits_of_joints_hold(tmp_path):
    path = tmp_path / "limited.toml"
    limit = '[leg.base_joint]\nmaximum_angle = "4 deg"\n'
    path.write_text(f'extends = "stewart"\nsource = "a test"\n{limit}')
    machine = twin.load(path)
    assert joints_allow(machine, poses_within(machine, 50)).all()
    assert not joints_allow(machine, poses_within(twin.load("stewart"), 50)).all()


def test_wrong_options(stewart):
    counts = (2, 1e9, 3.5, np.nan)
    assert_all_refused(lambda count: plan(stewart, count), [(count, "plan") for count in counts])
    assert_each_refused(
        lambda **options: plan(**{"machine": stewart, "count": 5} | options),
        {
            "machine": ["stewart"],
            "frames": ["x"],
            "measured": [("w",), (), 3],
            "noise": [(0.0, 0.0, 0.0), (-1e-5, 1e-5, 0.0), 1e-5],
            "tolerance": [0.0, "1 mm"],
            "seed": [-1, 1.5],
        },
    )


def test_exact_instruments_still_give_a_plan():
    found = plan(twin.load("stewart"), 6, noise=(1e-12, 1e-12, 0.0))
    assert np.isfinite(found.standard_errors).all()
    assert np.isfinite(found.expected.position).all()
    # Six poses do not show everything, however exactly they are measured.
    assert found.standard_errors.max() > 1e-4
