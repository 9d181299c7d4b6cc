"""RSS legs: the chain of crank, elbow and rod, its two branches, and poses out of reach."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from paths import poses_near
from scipy.spatial.transform import Rotation
from tips import tips_of
from tolerance import assert_within
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.errors import SingularPoseError, UnreachablePoseError
from twin.machine.machine import MachineParameters

ROUNDING = 4e-15
"""[m] of angles and products, times lengths about one metre."""


@pytest.fixture(scope="module")
def rss():
    """The catalogue's machine, of which a paper speaks."""
    return twin.load("rss")


@pytest.fixture(scope="module", params=["catalogue", "lopsided"])
def machine(request, rss):
    """A machine of one kind of leg, and one whose legs differ in lengths, axes and branch."""
    return rss if request.param == "catalogue" else Platform(machine_without_symmetry("rss"))


def column(platform, name):
    """Return a number of each leg `(n,)`."""
    return np.array([getattr(leg, name) for leg in platform.parameters.legs])


def zeros(platform):
    """Return where each crank points at angle zero: its `zero` made perpendicular to its axis."""
    directions = column(platform, "zero")
    along = (directions * platform.first_axes).sum(axis=1)
    across = directions - along[:, None] * platform.first_axes
    return across / np.linalg.norm(across, axis=1)[:, None]


def chain(platform, values):
    """Return second axes, rod directions and tips by turning about one joint after another.

    The home frames are those of the joints' definition: the elbow's first axis is the crank's, its
    second one normalise(axis x rod).
    """
    poses = platform.home[None]
    homes = platform.inverse_kinematics(poses)[0]
    zero, axes = zeros(platform), platform.first_axes
    cranks = np.cos(homes)[:, None] * zero + np.sin(homes)[:, None] * np.cross(axes, zero)
    elbows = column(platform, "crank_length")[:, None] * cranks
    rods = tips_of(platform, poses)[0] - platform.base_joints - elbows
    second = np.cross(axes, rods)
    second /= np.linalg.norm(second, axis=1)[:, None]

    def about(angles, directions):
        vectors = (angles[..., None] * directions).reshape(-1, 3)
        return Rotation.from_rotvec(vectors).as_matrix().reshape(*angles.shape, 3, 3)

    crank = about(values[..., 0], axes)
    first = crank @ about(values[..., 1], axes)
    rod = first @ about(values[..., 2], second)
    turned = [
        np.einsum("...ij,...j->...i", *pair)
        for pair in ((crank, elbows), (first, second), (rod, rods))
    ]
    along = turned[2] / np.linalg.norm(turned[2], axis=-1)[..., None]
    return turned[1], along, platform.base_joints + turned[0] + turned[2]


def test_chain_ends_at_the_platform_joints(machine):
    """The second axis of the elbow is perpendicular to the crank's axis and to the rod."""
    poses = poses_near(machine, 100, 51, 0.1)
    second, along, tips = chain(machine, machine.leg_coordinates(poses).values)
    assert_within(tips, tips_of(machine, poses), ROUNDING)
    expected = np.cross(machine.first_axes, along)
    expected /= np.linalg.norm(expected, axis=-1)[..., None]
    assert_within(second, expected, ROUNDING)


@pytest.mark.parametrize(("height", "angle", "digits"), [(1.1, 0.17443, 5), (0.35, 0.0169, 4)])
def test_angles_of_the_published_machine(rss, height, angle, digits):
    """Extended-configuration-space paper and its code, section 6: start and task."""
    found = rss.inverse_kinematics([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0])
    assert_within(found, angle, 0.51 * 10.0**-digits)


def with_branch(platform, branch):
    """Return the machine with all elbows on one side."""
    content = platform.parameters.model_dump()
    content["leg"] |= {"branch": branch}
    content["leg"]["actuator"] |= {"minimum": -3.0, "maximum": 3.0}
    return Platform(MachineParameters.model_validate(content))


def test_both_branches_reach_every_pose(rss):
    """Rods are equally long on both."""
    outward, inward = (with_branch(rss, branch) for branch in ("outward", "inward"))
    poses = poses_near(rss, 100, 53, 0.1)
    up, down = outward.inverse_kinematics(poses), inward.inverse_kinematics(poses)
    assert_within(up, rss.inverse_kinematics(poses), ROUNDING)
    assert (up - down > 0.1).all()
    for machine, angles in ((outward, up), (inward, down)):
        tips = chain(machine, machine.leg_coordinates(poses).values)[2]
        assert_within(tips, tips_of(machine, poses), ROUNDING)
        # A branch is never left: coordinates lead back to the pose.
        found = machine.forward_kinematics(angles)
        assert_within(found[:, :3], poses[:, :3], 1e-12)


def test_unreachable_poses_name_their_legs(rss):
    far = np.array([0.0, 0.0, 1.6, 1.0, 0.0, 0.0, 0.0])
    aside = rss.home + np.array([0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    zero = np.zeros(6)
    for pose in (far, aside):
        tips = tips_of(rss, pose[None])[0] - rss.base_joints
        across = (tips * rss.first_axes).sum(1)
        # The crank moves in a plane: what the rod must bridge is the rest of the way.
        gaps = np.hypot(np.sqrt((tips**2).sum(1) - across**2) - 0.82, across)
        expected = [int(i) + 1 for i in np.flatnonzero(gaps > 0.70)]
        assert expected
        for call in (
            rss.inverse_kinematics,
            lambda p: rss.jacobian_derivative(p, zero),
            lambda p: rss.forward_dynamics(p, zero, zero),
        ):
            with pytest.raises(UnreachablePoseError) as caught:
                call(np.stack([rss.home, pose]))
            assert caught.value.data["legs"] == expected
            assert caught.value.data["index"] == 1
            assert_array_equal(caught.value.data["pose"], pose)
    assert_array_equal(rss.within_limits([rss.home, far, aside]), [True, False, False])


def test_stretched_leg_is_singular(rss):
    """Crank and rod of leg 1 in one line, exactly: its crank cannot move the tip along it."""
    content = rss.parameters.model_dump()
    for table, first in (("base", [1.0, 0.0, 0.0]), ("platform", [0.5, 0.0, 0.0])):
        points = getattr(rss.parameters, table).joints.points.copy()
        points[0] = first
        content[table]["joints"] = {"source": "Test", "coordinates": points.tolist()}
    content["home"]["position"] = [0.5, 0.0, 1.3]
    content["leg"] |= {"crank_length": 0.75, "rod_length": 0.75}
    content["leg"]["actuator"] |= {"minimum": -3.0, "maximum": 3.0}
    long = content["leg"] | {"crank_length": 1.2, "rod_length": 0.9}
    content["variant"] = [{"legs": [2, 3, 4, 5, 6], "source": "Test", "leg": long}]
    machine = Platform(MachineParameters.model_validate(content))
    pose = np.array([0.5, 0.0, 1.5, 1.0, 0.0, 0.0, 0.0])
    zero = np.zeros(6)
    assert machine.inverse_kinematics(pose)[0] == 0.0
    for call in (
        lambda: machine.jacobian(pose),
        lambda: machine.leg_coordinates(pose),
        lambda: machine.forward_dynamics(pose, zero, zero),
        lambda: machine.inverse_dynamics(pose, zero, zero),
    ):
        with pytest.raises(SingularPoseError):
            call()
    with pytest.raises(UnreachablePoseError, match="leg 1 "):
        machine.inverse_kinematics(pose + 1e-9 * np.eye(7)[2])
    # On the way there the drive grows as the inverse root of what is left.
    left = np.array([1e-4, 1e-6, 1e-8])
    near = pose - left[:, None] * np.eye(7)[2]
    sizes = np.linalg.norm(machine.jacobian(near)[:, 0, :3], axis=1)
    assert_allclose(sizes[1:] / sizes[:-1], 10.0, rtol=1e-3)
