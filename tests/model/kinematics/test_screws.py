"""Legs with two universal joints: the twist of their rods, and screws that turn with it."""

import tomllib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.calibration import LegErrors, calibrate, poses_within, simulated
from twin.calibration.calibration import machine_text, offsets_text
from twin.errors import ParameterError
from twin.machine.file.read import parameters_from
from twin.machine.machine import parameters_path
from twin.rotations import displacement

pytestmark = pytest.mark.quick

NAME = "linuxcnc_hexapod"
RANDOM = np.random.default_rng(8)
POSES = poses_within(twin.load(NAME), 60, seed=4)
BASE_AXES = RANDOM.normal(size=(6, 3))
PLATFORM_AXES = -Rotation.from_rotvec(RANDOM.uniform(-0.3, 0.3, (6, 3))).apply(BASE_AXES)
"""Roughly opposite to those of the base, where the published formula holds."""


def content(**leg):
    """Return the machine's file with changes of its legs; None removes an entry."""
    file = tomllib.loads(parameters_path(NAME).read_text())
    file["leg"] = {key: value for key, value in (file["leg"] | leg).items() if value is not None}
    return file


def machine(**leg):
    return Platform(parameters_from(content(**leg), "platform.toml"))


def screw(lead, hand="right"):
    return {"source": "Test", "lead": lead, "hand": hand}


def with_axes(lead):
    """Return the machine with other axes on every leg, base and platform."""
    file = content(screw=screw(lead))
    axes = zip(BASE_AXES, PLATFORM_AXES, strict=True)
    file["variant"] = [
        {"source": "Test", "legs": [number], "first_axis": [*base], "platform_axis": [*platform]}
        for number, (base, platform) in enumerate(axes, start=1)
    ]
    return Platform(parameters_from(file, "platform.toml"))


def published_corrections(platform, poses, base_axes, platform_axes, lead):
    """Return the corrections `(m, 6)` [m] of LinuxCNC's genhexkins for universal joints' twist.

    lead asin(y . x') / 2 pi with y along Z x (s x Z) of the base's joint and x' along t x Z of the
    platform's, where x' is roughly opposite to s x Z.
    """
    turns = Rotation.from_quat(poses[:, 3:], scalar_first=True).as_matrix()
    along = poses[:, None, :3] + platform.platform_joints @ turns.mT - platform.base_joints
    x, other = np.cross(base_axes, along), np.cross(platform_axes @ turns.mT, along)
    y = np.cross(along, x)
    sines = (y * other).sum(axis=2) / np.linalg.norm(y, axis=2) / np.linalg.norm(other, axis=2)
    return lead * np.arcsin(sines) / (2.0 * np.pi)


def test_twist_is_that_of_the_published_correction():
    poses, lead = POSES[:20], 0.02
    plain, bent = machine(screw=None), with_axes(lead)
    lengths = plain.inverse_kinematics(poses)
    with_home = np.vstack([plain.home, poses])
    corrections = published_corrections(plain, with_home, BASE_AXES, PLATFORM_AXES, lead)
    changes = corrections[1:] - corrections[0]
    assert np.abs(changes).max() > 1e-3
    assert_within(bent.inverse_kinematics(poses) - lengths, changes, 1e-15)


def test_hands_are_opposite_and_the_twist_grows_with_the_lead():
    plain = machine(screw=None).inverse_kinematics(POSES)
    right, left, fine = (
        machine(screw=screw(lead, hand)).inverse_kinematics(POSES) - plain
        for lead, hand in ((0.02, "right"), (0.02, "left"), (0.01, "right"))
    )
    assert np.abs(right).max() > 1e-3
    assert_within(right, -left, 1e-15)
    assert_within(right, 2.0 * fine, 1e-15)


@pytest.mark.seconds
def test_pose_errors_without_the_coupling():
    """LinuxCNC's machine with screws of 20 mm: 0.76 mm on average, 1.4 at worst."""
    bent = twin.load("linuxcnc_hexapod")
    plain = bent.with_(parameters={"leg.screw.lead": 1e-9})
    random = np.random.default_rng(1)
    positions = bent.home[:3] + random.uniform(-0.15, 0.15, (20_000, 3))
    turns = Rotation.from_rotvec(np.radians(random.uniform(-15.0, 15.0, (20_000, 3))))
    poses = np.hstack([positions, turns.as_quat(scalar_first=True)])
    poses = poses[bent.within_limits(poses)]
    taken = plain.forward_kinematics(bent.inverse_kinematics(poses), guess=poses)
    distances = np.linalg.norm(displacement(poses, taken)[:, :3], axis=1)
    assert len(poses) > 5000
    assert_within(distances.mean(), 0.76e-3, 0.02e-3)
    assert_within(distances.max(), 1.45e-3, 0.15e-3)


@pytest.mark.slow
def test_calibration_returns_to_the_noise_with_the_coupling_alone():
    bent, plain = machine(screw=screw(0.02)), machine(screw=None)
    errors = 2e-4 * np.random.default_rng(2).normal(size=LegErrors(bent).shape)
    poses = simulated(bent, POSES, errors, seed=1)
    left = {}
    for name, platform in (("bent", bent), ("plain", plain)):
        found = calibrate(platform, poses, frames="known", holdout=0.0)
        left[name] = found.errors_of(poses)[1].position.mean()
    assert left["bent"] < 30e-6
    assert left["plain"] > 5.0 * left["bent"]


@pytest.mark.seconds
def test_a_calibrated_file_counts_the_twist_from_its_own_home(tmp_path):
    bent = machine(screw=screw(0.02))
    errors = 2e-3 * np.random.default_rng(2).normal(size=LegErrors(bent).shape)
    poses = simulated(bent, POSES, errors)
    found = calibrate(bent, poses, frames="known", holdout=0.0)
    path = tmp_path / "calibrated.toml"
    path.write_text(machine_text(found, NAME, "Test", path))
    offsets = tomllib.loads(offsets_text(found))["signals"]["coordinates"]["offset"]
    recorded = np.array(poses.coordinates) + [float(text.split()[0]) for text in offsets]
    again = twin.load(path).inverse_kinematics(POSES)
    assert_within(recorded, again, 1e-8)


def test_what_cannot_twist_is_refused():
    rod = {"source": "Test", "mass": 2.0, "center": -0.2, "transverse_inertia": 0.1}
    cases = (
        ({"rod": rod | {"kind": "symmetric", "axial_inertia": 0.3}}, "no rigid body has these"),
        ({"rod": rod | {"kind": "rigid"}}, "'symmetric', 'cylinder'"),
        ({"platform_axis": [0.0, 0.0, 0.0]}, "must be a direction"),
        ({"screw": screw(-0.01)}, "greater than 0"),
    )
    for change, message in cases:
        with pytest.raises(ParameterError, match=message):
            machine(**change)
    along = machine().parameters.home_leg_vectors[0]
    with pytest.raises(ParameterError, match="lies along the axis of its upper joint"):
        machine(platform_axis=[*along])
