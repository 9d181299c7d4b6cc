"""Required stroke: no pose of the box asks for more, and the named poses ask for just that."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.feasibility.course import PoseBox
from twin.analysis.feasibility.joint_angles import required_stroke
from twin.motion import SineMotion, axis_names

WIDTH = st.tuples(st.floats(-1.0, 0.3), st.floats(0.0, 1.3))
CONVENTION = st.sampled_from(["yaw_pitch_roll", "fixed_xyz", "moving_xyz", "rotation_vector"])
MACHINES = twin.machine_names()


def box(machine, widths, name):
    """Return a box of some hundredths of the machine's size, ranges in these parts of it."""
    size = float(machine.home_reaches.mean())
    scale = np.array([0.05 * size] * 3 + [0.15] * 3)
    pairs = {
        axis: (scale[k] * min(ends), scale[k] * max(ends))
        for k, (axis, ends) in enumerate(zip(axis_names(name), widths, strict=False))
    }
    return PoseBox.about(machine.home, pairs, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=4)
@given(st.lists(WIDTH, min_size=6, max_size=6), CONVENTION, st.integers(0, 1000))
def test_no_pose_of_the_box_asks_for_more(name, widths, convention, seed):
    machine = twin.load(name)
    wanted = box(machine, widths, convention if machine.dof == 6 else "roll_pitch")
    found = required_stroke(machine, wanted)
    assert len(found.unreachable) == 0
    random = np.random.default_rng(seed).uniform(wanted.low, wanted.high, (3000, len(wanted.low)))
    edges = np.where(random < 0.5 * (wanted.low + wanted.high), wanted.low, wanted.high)
    mixed = np.where(np.random.default_rng(seed).random(random.shape) < 0.5, random, edges)
    tried = wanted.poses(np.vstack([random, mixed, wanted.corners()]))
    values = machine.inverse_kinematics(machine.constrain(tried).pose)
    assert (values >= found.minimum - 1e-10).all()
    assert (values <= found.maximum + 1e-10).all()
    for poses, ends in ((found.minimum_poses, found.minimum), (found.maximum_poses, found.maximum)):
        reached = np.diag(machine.inverse_kinematics(poses))
        assert_within(reached, ends, 1e-12)


@pytest.mark.slow
def test_wide_boxes_with_several_extremes(subtests, stewart):
    """Turned by two radians a leg has several extremes; a search from one place misses some."""
    for seed in range(3):
        with subtests.test(f"{seed}"):
            random = np.random.default_rng(seed)
            width = random.uniform(0.3, 1.0, 6) * [0.6, 0.6, 0.6, 2.5, 1.2, 1.2]
            middle = random.uniform(-0.3, 0.3, 6) * width
            pairs = np.stack([middle - width, middle + width], axis=1)
            wanted = PoseBox.about(stewart.home, dict(zip(axis_names(), pairs, strict=True)))
            found = required_stroke(stewart, wanted)
            tried = random.uniform(wanted.low, wanted.high, (100_000, 6))
            edges = np.where(random.random(tried.shape) < 0.5, wanted.low, wanted.high)
            mixed = np.where(random.random(tried.shape) < 0.4, tried, edges)
            values = stewart.inverse_kinematics(wanted.poses(np.vstack([tried, mixed])))
            assert (values >= found.minimum - 1e-10).all()
            assert (values <= found.maximum + 1e-10).all()
            # The samples come close: they would notice an extreme that was missed.
            assert (values.max(axis=0) - found.maximum).min() > -0.05


def test_heave_in_closed_form(srspm):
    """Straight up from home, a leg of horizontal reach r is sqrt(r^2 + z^2) long."""
    found = required_stroke(srspm, PoseBox.about(srspm.home, {"z": (-0.05, 0.07)}))
    across = np.hypot(*srspm.parameters.home_leg_vectors[:, :2].T)
    low, high = (np.hypot(across, srspm.home[2] + rise) for rise in (-0.05, 0.07))
    assert_within(found.minimum, low, 1e-14)
    assert_within(found.maximum, high, 1e-14)
    assert_within(found.stroke, high - low, 1e-14)
    assert_within(found.lower_margin, low - 1.12, 1e-14)
    assert_within(found.upper_margin, 1.30 - high, 1e-14)
    assert found.possible


def test_extreme_inside_the_box(srspm):
    """Sideways past the foot of a leg, the leg is shortest where it stands upright."""
    leg = 0
    vector = srspm.parameters.home_leg_vectors[leg]
    wanted = PoseBox.about(srspm.home, {"x": (-3.0, 3.0), "y": (-3.0, 3.0)})
    found = required_stroke(srspm, wanted)
    assert found.minimum[leg] == pytest.approx(vector[2], abs=1e-11)
    place = found.minimum_poses[leg][:2] - srspm.home[:2]
    assert_within(place, -vector[:2], 1e-5)
    assert not found.possible


def test_axes_are_those_of_motions(stewart):
    ranges = {"x": (0.02, 0.02), "yaw": (0.1, 0.1), "roll": (-0.2, -0.2)}
    wanted = PoseBox.about(stewart.home, ranges)
    motion = SineMotion(
        stewart.home,
        amplitude={"x": 0.02, "yaw": 0.1, "roll": -0.2},
        frequency=1.0,
        phase=np.pi / 2,
        duration=1.0,
    )
    found = required_stroke(stewart, wanted)
    assert_within(found.minimum_poses[0], motion(0.0).pose, 1e-15)
    assert_array_equal(found.minimum, found.maximum)


def test_poses_out_of_reach_are_named():
    machine = twin.load("rss")
    # Stretched legs reach 1.52 m from their base joints.
    found = required_stroke(machine, PoseBox.about(machine.home, {"z": (0.0, 2.0)}))
    assert len(found.unreachable)
    assert found.unreachable[:, 2].max() == pytest.approx(machine.home[2] + 2.0)
    assert not found.possible
    assert np.isfinite(found.stroke).all()
    with refused("reaches no pose"):
        required_stroke(machine, PoseBox.about(machine.home, {"z": (3.0, 4.0)}))


def test_bad_ranges(stewart):
    bad = ({}, None, {"heave": (0.0, 1.0)}, {"z": (1.0, 0.0)}, {"z": 1.0}, {"z": (0.0, np.nan)})
    assert_all_refused(
        lambda ranges: PoseBox.about(stewart.home, ranges),
        [(ranges, "ranges") for ranges in bad],
    )
    with refused("pose_box"):
        required_stroke(stewart, {"z": (0.0, 0.1)})
