"""Joint coordinates of straight legs: a chain of rotations that must end at the platform joints."""

import numpy as np
import pytest
from legs_at_home import home_leg_frames
from numpy.testing import assert_array_equal
from paths import poses_near
from scipy.spatial.transform import Rotation
from tips import tips_of
from tolerance import assert_within
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform

STRAIGHT = ("ups", "strut", "viscoelastic")
MACHINES = [name for name in twin.machine_names() if twin.load(name).kind in STRAIGHT]
assert len(MACHINES) == 4


@pytest.fixture(scope="module", params=[*MACHINES, *(f"lopsided {kind}" for kind in STRAIGHT)])
def straight(request):
    """Every machine whose legs are straight lines, and such without symmetry."""
    name, _, kind = request.param.partition(" ")
    return Platform(machine_without_symmetry(kind)) if kind else twin.load(name)


@pytest.fixture(scope="module")
def poses(straight):
    """Poses about home."""
    return poses_near(straight, 100, 41, 0.15)


def lengths(platform, values):
    """Return the legs' lengths: home and what slides in the leg, spring and actuator together."""
    return values[..., 2:].sum(axis=-1) + platform.home_coordinates


def leg_rotations(platform, angles):
    """Return `(k, n, 3, 3)` leg to base by turning about the first, then the second axis."""
    frames = home_leg_frames(platform.parameters)
    first = Rotation.from_rotvec((angles[..., :1] * platform.first_axes).reshape(-1, 3)).as_matrix()
    second = Rotation.from_rotvec((angles[..., 1:2] * frames[:, :, 0]).reshape(-1, 3)).as_matrix()
    return (first @ second).reshape(*angles.shape[:-1], 3, 3) @ frames


def test_values_are_zero_at_home(platform):
    legs = platform.leg_coordinates(platform.home)
    # Rounding of the home frames, and of the angle of a crank.
    assert_within(legs.values, 0.0, 5e-15)
    assert_array_equal(legs.rates, 0.0)
    assert_array_equal(legs.accelerations, 0.0)


def test_chain_ends_at_the_platform_joints(straight, poses):
    values = straight.leg_coordinates(poses).values
    along = leg_rotations(straight, values)[..., 2]
    tips = straight.base_joints + lengths(straight, values)[..., None] * along
    # Rounding of angles and products, times lengths about one metre.
    assert_within(tips, tips_of(straight, poses), 3e-15)


def test_leg_frame_is_s2_and_the_leg(straight, poses):
    rotations = leg_rotations(straight, straight.leg_coordinates(poses).values)
    second = np.cross(straight.first_axes, rotations[..., 2])
    second /= np.linalg.norm(second, axis=-1)[..., None]
    assert_within(rotations[..., 0], second, 3e-15)  # rounding
    # The second axis stays perpendicular to the first: it is a universal joint.
    assert_within((rotations[..., 0] * straight.first_axes).sum(-1), 0.0, 3e-15)


@pytest.mark.parametrize("straight", ["compliant_stewart", "lopsided viscoelastic"], indirect=True)
def test_springs_and_actuators_share_the_leg(straight, poses):
    k, random = straight.n_deflections, np.random.default_rng(43)
    twists = random.normal(size=(100, 6))
    deflection, second = random.normal(size=(100, 2 * k)), random.normal(size=(100, k))
    still = straight.leg_coordinates(poses, twists, twists)
    legs = straight.leg_coordinates(
        poses, twists, twists, deflection=deflection, deflection_acceleration=second
    )
    for part, rest, spring in zip(legs, still, (*np.split(deflection, 2, 1), second), strict=True):
        assert_array_equal(rest[..., 2], 0.0)
        assert_array_equal(part[..., 2], spring)
        assert_array_equal(part[..., :2], rest[..., :2])
        assert_within(part[..., 2:].sum(-1), rest[..., 3], 1e-14)
