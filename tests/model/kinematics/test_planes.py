"""Legs in planes: what follows from height, roll and pitch, against closed forms."""

import json
import tomllib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tolerance import assert_within

import twin
from twin.analysis.feasibility.course import PoseBox
from twin.analysis.feasibility.joint_angles import required_stroke
from twin.analysis.platform import Platform
from twin.analysis.workspace.region import motion_ranges
from twin.errors import InputError, UnreachablePoseError
from twin.machine.file.read import parameters_from
from twin.machine.machine import parameters_path
from twin.motion.cueing.algorithm import machine_ranges
from twin.motion.specification import axes_from_home
from twin.simulation.live.steering import Axes

pytestmark = pytest.mark.quick

RANDOM = np.random.default_rng(5)
TILTS = RANDOM.uniform(-0.2, 0.2, (20, 2))
HEIGHTS = RANDOM.uniform(-0.01, 0.01, 20)
MACHINES = ("tripod", "balancer")
SIDEWAYS = np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.0])


def tilted(platform):
    """Return poses `(20, 7)` at heights about home, tilted, whatever x, y and yaw."""
    turns = Rotation.from_euler("XY", TILTS).as_quat()[:, [3, 0, 1, 2]]
    heights = platform.home[2] + HEIGHTS
    return np.column_stack([np.zeros((20, 2)), heights, turns])


def closed_form(platform, poses):
    """Return the poses of three legs whose hinges lie along the circle of their joints.

    With the joints at 0, 120 and 240 deg on a radius r, the planes y = 0 and y = +- sqrt(3) x give
    R_yx = R_xy, so the platform tilts about a horizontal axis, x = r (R_xx - R_yy) / 2 and
    y = -r R_yx. Joints that begin at another angle turn the frame.
    """
    first = platform.platform_joints[0]
    radius, start = np.hypot(*first[:2]), Rotation.from_euler("z", np.arctan2(first[1], first[0]))
    normals = Rotation.from_quat(poses[:, [4, 5, 6, 3]]).apply([0.0, 0.0, 1.0])
    axes = np.cross([0.0, 0.0, 1.0], start.inv().apply(normals))
    angles = np.arccos(normals[:, 2])[:, None]
    turns = Rotation.from_rotvec(angles * axes / np.linalg.norm(axes, axis=1, keepdims=True))
    matrix = turns.as_matrix()
    x, y = 0.5 * radius * (matrix[:, 0, 0] - matrix[:, 1, 1]), -radius * matrix[:, 1, 0]
    places = start.apply(np.column_stack([x, y, poses[:, 2]]))
    return places, (start * turns * start.inv()).as_matrix()


@pytest.mark.parametrize("name", MACHINES)
def test_parasitic_motion_is_that_of_the_closed_form(name):
    platform = twin.load(name)
    poses = platform.constrain(tilted(platform)).pose
    places, turns = closed_form(platform, poses)
    assert np.abs(places[:, :2]).max() > 1e-3
    assert_within(poses[:, :3], places, 1e-14)
    assert_within(Rotation.from_quat(poses[:, [4, 5, 6, 3]]).as_matrix(), turns, 1e-13)


@pytest.mark.parametrize("name", MACHINES)
def test_rates_and_accelerations_are_those_of_the_constrained_poses(name, derivative):
    """Along a smooth course of height, roll and pitch."""
    platform = twin.load(name)

    def pose(time):
        turn = Rotation.from_euler(
            "XY", [0.2 * np.sin(3.0 * time + 0.4), 0.15 * np.cos(2.0 * time)]
        )
        height = platform.home[2] + 0.005 * np.sin(4.0 * time)
        quaternion = turn.as_quat()[[3, 0, 1, 2]]
        return platform.constrain([0.0, 0.0, height, *quaternion]).pose

    def twist(time):
        turn = Rotation.from_quat(pose(time)[[4, 5, 6, 3]])

        def spun(step):
            later = Rotation.from_quat(pose(time + step)[[4, 5, 6, 3]])
            return (later * turn.inv()).as_rotvec()

        linear = derivative(lambda step: pose(time + step)[:3], 5e-3)
        return np.concatenate([linear, derivative(spun, 5e-3)])

    rates, changes = twist(0.0), derivative(twist, 5e-3)
    held = platform.constrain(pose(0.0), rates + SIDEWAYS, changes + SIDEWAYS)
    assert_within(held.twist, rates, 1e-9)
    assert_within(held.acceleration, changes, 1e-7)


def test_crank_angles_are_those_of_the_published_sketch():
    """Legs B and C of Ball-Balancer-V2; its formula for leg A is up to 27 urad off theirs."""
    platform = twin.load("balancer")
    poses = platform.constrain(tilted(platform)).pose
    normals = Rotation.from_quat(poses[:, [4, 5, 6, 3]]).apply([0.0, 0.0, 1.0])
    base, joint, crank, rod = 2.0 * 25.4e-3, 3.125 * 25.4e-3, 1.75 * 25.4e-3, 93.2e-3
    found = platform.inverse_kinematics(poses)
    for side, leg in ((-1.0, 1), (1.0, 2)):
        n_x, n_y, n_z = -normals[:, 0], -normals[:, 1], normals[:, 2]
        bend = (n_x**2 - side * np.sqrt(3.0) * n_x * n_y) / (n_z + 1.0)
        inward = base - joint * (1.0 - bend)
        rise = poses[:, 2] + 0.5 * joint * (side * np.sqrt(3.0) * n_x - n_y)
        reach = np.hypot(inward, rise)
        angle = np.arccos(inward / reach)
        angle += np.arccos((reach**2 + crank**2 - rod**2) / (2.0 * reach * crank))
        assert_within(found[:, leg], np.pi - angle, 1e-12)


@pytest.mark.parametrize("name", MACHINES)
def test_a_pose_off_the_planes_is_refused_with_the_nearest(name):
    platform = twin.load(name)
    pose = tilted(platform)[0]
    with pytest.raises(InputError, match=r"height, roll and pitch.*The nearest is \[") as caught:
        platform.inverse_kinematics(pose)
    nearest = json.loads(caught.value.message.split("nearest is ")[1].split("]")[0] + "]")
    assert_within(nearest, platform.constrain(pose).pose, 1e-9)
    assert_within(
        platform.constrain(platform.constrain(pose).pose).pose, platform.constrain(pose).pose, 1e-15
    )


@pytest.mark.parametrize("name", [*MACHINES, "driving_simulator"])
def test_axes_of_poses_lead_back_to_them(name):
    """Roll and pitch from a home that is tilted, without the turn that follows from them."""
    content = tomllib.loads(parameters_path(name).read_text())
    platform = twin.load(name)
    if name == "balancer":
        home = platform.constrain(tilted(platform)[3]).pose
        content["home"] |= {"position": home[:3].tolist(), "orientation": home[3:].tolist()}
        platform = Platform(parameters_from(content, "platform.toml"))
    wanted = RANDOM.uniform(-0.02, 0.02, (10, 3))
    turns = Rotation.from_euler("XY", wanted[:, 1:]) * Rotation.from_quat(
        platform.home[[4, 5, 6, 3]]
    )
    start = platform.home[:3] + [0.0, 0.0, 1.0] * wanted[:, :1]
    poses = platform.constrain(np.hstack([start, turns.as_quat()[:, [3, 0, 1, 2]]])).pose
    assert_within(axes_from_home(platform, poses)[:, 2:], wanted, 1e-14)


def on_hinges(toward, platform_angles):
    """Return the tripod with hinges at a right angle to its legs, toward directions `(3, 3)`."""
    content = tomllib.loads(parameters_path("tripod").read_text())
    content["platform"]["joints"]["angles"] = platform_angles
    vectors = np.array(parameters_from(content, "platform.toml").home_leg_vectors)
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    axes = toward - (toward * directions).sum(axis=1, keepdims=True) * directions
    content["leg"]["first_axis"] = axes[0].tolist()
    content["variant"] = [
        {"source": "Test", "legs": [number], "first_axis": axes[number - 1].tolist()}
        for number in (2, 3)
    ]
    return Platform(parameters_from(content, "platform.toml"))


@pytest.mark.slow
def test_all_poses_on_leaning_hinges_are_found():
    tripod = twin.load("tripod")
    leans = np.array([[0.0, 0.0, 0.3], [0.0, 0.0, -0.2], [0.0, 0.0, 0.15]])
    platform = on_hinges(tripod.first_axes + leans, ["0 deg", "120 deg", "240 deg"])
    modes = platform.forward_kinematics_all(platform.home_coordinates)
    assert_within(modes[0], platform.home, 1e-12)
    assert 1 < len(modes) <= 16  # Lee and Shah: a polynomial of degree eight in a squared unknown
    lengths = platform.inverse_kinematics(modes)
    assert_within(lengths, np.tile(platform.home_coordinates, (len(modes), 1)), 1e-12)


def hinges_to_the_middle():
    """Return a tripod of which no turn brings all tips into their planes beyond some tilt."""
    return on_hinges(twin.load("tripod").base_joints / 0.14, ["20 deg", "140 deg", "260 deg"])


def test_ranges_end_where_the_planes_part():
    platform = hinges_to_the_middle()
    low, high = {one.axis: one.span for one in motion_ranges(platform)}["roll"]
    assert -0.6 < low < 0.0 < high < 0.6
    ends = Rotation.from_euler("xy", [[low, 0], [high, 0], [1.05 * high, 0]]).as_quat()[
        :, [3, 0, 1, 2]
    ]
    poses = np.hstack([np.tile(platform.home[:3], (3, 1)), ends])
    assert platform.within_limits(platform.constrain(poses[:2]).pose).all()
    assert platform.within_limits(poses[2:]).tolist() == [False]
    for refusing in (platform.constrain, platform.inverse_kinematics):
        with pytest.raises(UnreachablePoseError, match=r"entry 0.* m off the planes") as caught:
            refusing(poses[2:])
        assert np.abs(caught.value.data["pose"][:2]).max() < 0.14


@pytest.mark.seconds
def test_searches_end_where_the_planes_part():
    platform = hinges_to_the_middle()
    low, high = {one.axis: one.span for one in motion_ranges(platform)}["roll"]
    roll = next(axis for axis in Axes(platform).ranges if axis.name == "roll")
    assert_within(np.radians([roll.low, roll.high]), [low, high], 5e-3)
    box = PoseBox.about(platform.home, {"roll": (1.3 * low, 1.3 * high)}, "roll_pitch")
    found = required_stroke(platform, box)
    assert len(found.unreachable) and np.isfinite(found.stroke).all()
    assert np.all(machine_ranges(platform).travel[[2, 4, 5]] > 0.0)


@pytest.mark.parametrize("name", MACHINES)
def test_a_turn_about_the_normal_and_a_shift_are_taken_back(name):
    """The nearer of the two poses of a height and normal is found from 80 degrees away."""
    platform = twin.load(name)
    wanted = platform.constrain(tilted(platform)).pose
    turns = Rotation.from_quat(wanted[:, [4, 5, 6, 3]])
    for angle in (-1.4, 0.7, 1.4):
        turned = Rotation.from_rotvec(angle * turns.apply([0.0, 0.0, 1.0])) * turns
        moved = np.hstack([wanted[:, :3] + [0.03, -0.02, 0.0], turned.as_quat()[:, [3, 0, 1, 2]]])
        found = platform.constrain(moved).pose
        assert_within(found[:, :3], wanted[:, :3], 1e-13)
        assert_within(np.abs((found[:, 3:] * wanted[:, 3:]).sum(axis=1)), 1.0, 1e-13)
