"""Machines on pillars: where the feet stand, what the fixed one forbids, and closed forms."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from paths import moved
from refusals import refused
from scipy.spatial.transform import Rotation
from tips import tips_of
from tolerance import assert_within, max_abs
from turns import turn_of
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform

ROUNDING = 2e-15
"""[m] of angles and products, times lengths about one metre."""

SOLVED = 1e-13
"""Rounding of six equations solved for accelerations of the order of ten."""


class Plate(NamedTuple):
    """A machine on pillars at random heights, rolls and pitches."""

    platform: Platform
    height: Any
    roll: Any
    pitch: Any
    pose: Any
    twist: Any
    acceleration: Any

    @property
    def fixed(self):
        """Index of the fixed foot."""
        return int(self.platform.parameters.leg.fixed_foot) - 1

    @property
    def normal(self):
        """Unit vectors `(k, 3)` perpendicular to the plate."""
        return turn_of(self.pose).apply([0.0, 0.0, 1.0])

    @property
    def feet(self):
        """Where the pillars end `(k, n, 3)`: their length below the corners, along the normal."""
        lengths = self.platform.inverse_kinematics(self.pose)
        return tips_of(self.platform, self.pose) - lengths[..., None] * self.normal[:, None]


@pytest.fixture(scope="module", params=["catalogue", "lopsided"])
def plate(request):
    """The driving simulator, and a machine with uneven corners whose second foot is fixed."""
    if request.param == "catalogue":
        platform = twin.load("driving_simulator")
    else:
        platform = Platform(machine_without_symmetry("pillar"))
    random = np.random.default_rng(61)
    height = platform.home[2] + random.uniform(-0.05, 0.05, 100)
    roll, pitch = random.uniform(-0.3, 0.3, (2, 100))
    turn = Rotation.from_euler("XY", np.stack([roll, pitch], 1)).as_quat(scalar_first=True)
    wanted = np.column_stack([random.normal(size=(100, 2)), height, turn])
    motion = platform.constrain(wanted, *random.normal(size=(2, 100, 6)))
    return Plate(platform, height, roll, pitch, *motion)


def test_feet_stand_on_the_floor(plate):
    heights = plate.feet[..., 2]
    expected = np.broadcast_to(plate.platform.base_joints[:, 2], heights.shape)
    assert_within(heights, expected, ROUNDING)


def test_the_fixed_foot_does_not_move(plate):
    held = plate.feet[:, plate.fixed]
    wanted = np.broadcast_to(plate.platform.base_joints[plate.fixed], held.shape)
    assert_within(held, wanted, ROUNDING)
    others = np.delete(plate.feet - plate.platform.base_joints, plate.fixed, axis=1)
    assert np.linalg.norm(others, axis=-1).max() > 0.01, "nothing slides"


def test_constrain_keeps_height_roll_and_pitch(plate):
    assert_within(plate.pose[:, 2], plate.height, ROUNDING)
    roll, pitch, yaw = turn_of(plate.pose).as_euler("XYZ").T
    assert_within(roll, plate.roll, ROUNDING)
    assert_within(pitch, plate.pitch, ROUNDING)
    assert_within(yaw, 0.0, ROUNDING)


def test_constrain_keeps_the_motion_of_height_and_normal(plate):
    """Whatever the given motion does about the normal, which no pillar machine can follow."""
    random = np.random.default_rng(62)
    twist, acceleration = random.normal(size=(2, 100, 6))
    found = plate.platform.constrain(plate.pose, twist, acceleration)
    normal = plate.normal
    assert_within(found.pose, plate.pose, 4e-16)

    def turning(twist, acceleration):
        spin = np.cross(twist[:, 3:], normal)
        return spin, np.cross(acceleration[:, 3:], normal) + np.cross(twist[:, 3:], spin)

    for before, after in zip(
        turning(twist, acceleration), turning(found.twist, found.acceleration), strict=True
    ):
        assert_within(after, before, SOLVED)
    for before, after in ((twist, found.twist), (acceleration, found.acceleration)):
        assert_within(after[:, 2], before[:, 2], SOLVED)


def test_constrain_follows_a_motion_that_yaws(plate, derivative):
    """The motion found is that of the constrained poses, also where the given ones have yaw."""
    random = np.random.default_rng(64)
    twist, acceleration = random.normal(size=(2, 100, 6))
    turned = Rotation.from_rotvec([0.0, 0.0, 0.4]) * turn_of(plate.pose)
    pose = np.hstack([plate.pose[:, :3] + 0.01, turned.as_quat(scalar_first=True)])
    found = plate.platform.constrain(pose, twist, acceleration)

    def place(time):
        return moved(plate.platform, pose, twist, acceleration, time)[:, :3]

    # Rounding 1e-16 over the smallest step, 2.5e-4, and over its square.
    assert_within(derivative(place, 1e-3), found.twist[:, :3], 1e-11)
    steps = (8e-3, 4e-3, 2e-3)
    second = [(place(h) - 2 * place(0.0) + place(-h)) / h**2 for h in steps]
    first = [(4 * fine - coarse) / 3 for coarse, fine in itertools.pairwise(second)]
    extrapolated = (16 * first[1] - first[0]) / 15
    assert_within(extrapolated, found.acceleration[:, :3], 1e-8)


def test_constrain_leaves_possible_motions_alone(plate):
    motion = (plate.pose, plate.twist, plate.acceleration)
    for found, given in zip(plate.platform.constrain(*motion), motion, strict=True):
        assert_within(found, given, SOLVED)


def test_joints_are_places_of_the_feet_and_angles_of_the_fixed_one(plate):
    platform, fixed = plate.platform, plate.fixed
    legs = platform.leg_coordinates(plate.pose)
    lengths = platform.inverse_kinematics(plate.pose)
    assert_within(legs.values[..., 2], lengths - platform.home_coordinates, ROUNDING)
    sliding = np.delete(np.arange(platform.n_actuators), fixed)
    assert_within(
        legs.values[:, sliding, :2], (plate.feet - platform.base_joints)[:, sliding, :2], ROUNDING
    )
    home = turn_of(platform.home).as_euler("XYZ")
    angles = np.stack([plate.roll - home[0], plate.pitch - home[1]], axis=1)
    assert_within(legs.values[:, fixed, :2], angles, ROUNDING)


def test_conditions_forbid_sliding_and_yawing(plate):
    """Of six twists, C leaves three: the feet's rates and the turning about the vertical vanish."""
    rows = plate.platform.constraints(plate.pose)
    assert rows.shape == (100, 3, 6)
    assert (np.linalg.matrix_rank(rows) == 3).all()
    free = np.linalg.svd(rows)[2][:, 3:]
    for k in range(3):
        legs = plate.platform.leg_coordinates(plate.pose, free[:, k])
        others = np.delete(legs.rates, plate.fixed, axis=1)
        assert max_abs(others[..., :2]) > 0.01
        # Where the foot is held, its universal joint and its actuator are all that moves.
        moving = free[:, k, :3] + np.cross(
            free[:, k, 3:], plate.platform.base_joints[plate.fixed] - plate.pose[:, :3]
        )
        rise = legs.rates[:, plate.fixed, 2, None] * plate.normal
        assert_within(moving, rise, 1e-14)


def test_motions_that_are_impossible_are_refused(plate):
    """The fixed foot aside, the plate turned about the vertical; the same of their rates."""
    platform, zero, off = plate.platform, np.zeros(6), 1e-8
    pose, twist, acceleration = plate.pose[0], plate.twist[0], plate.acceleration[0]
    forces = np.zeros(platform.n_actuators)
    yawed = pose.copy()
    turn = Rotation.from_rotvec([0.0, 0.0, off]) * turn_of(pose)
    yawed[3:] = turn.as_quat(scalar_first=True)
    for wrong in (pose + off * np.eye(7)[0], pose + off * np.eye(7)[1], yawed):
        for call in (
            platform.inverse_kinematics,
            lambda p: platform.energy(p, zero),
            lambda p: platform.forward_dynamics(p, zero, forces),
        ):
            with refused("constrain") as caught:
                call(np.stack([pose, wrong]))
            assert caught.value.field == "pose"
            assert "entry 1" in str(caught.value)
    for direction in (0, 1, 5):
        wrong = twist + off * np.eye(6)[direction]
        with refused(field="twist"):
            platform.forward_dynamics(pose, wrong, forces)
        wrong = acceleration + off * np.eye(6)[direction]
        with refused(field="acceleration"):
            platform.inverse_dynamics(pose, twist, wrong)


def test_rounding_is_not_refused(plate):
    platform = plate.platform
    random = np.random.default_rng(65)
    noise = [1e-12 * random.normal(size=(100, size)) for size in (7, 6, 6)]
    motion = (plate.pose, plate.twist, plate.acceleration)
    noisy = [given + added for given, added in zip(motion, noise, strict=True)]
    platform.inverse_dynamics(*noisy)
    platform.leg_coordinates(*noisy)


def test_default_acceleration_keeps_the_rates(plate):
    """Without one given, that of constant rates of height, roll and pitch is taken."""
    platform = plate.platform
    found = platform.leg_coordinates(plate.pose, plate.twist)
    still = platform.constrain(plate.pose, plate.twist).acceleration
    assert_array_equal(
        found.accelerations,
        platform.leg_coordinates(plate.pose, plate.twist, still).accelerations,
    )
    assert max_abs(still[:, :2]) > 0.1, "the fixed foot asks for nothing"
