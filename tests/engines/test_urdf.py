"""The generated URDF: what PyBullet and Pinocchio make of it is compared with the parameters."""

from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twin
from twin.catalogue import assets_folder
from twin.engines.urdf import legs_urdf, platform_urdf, robot_urdf
from twin.engines.urdf_elements import principal_frame, roll_pitch_yaw, text
from twin.parameters.derived import leg_bodies
from twin.platform import Platform

GENERATORS = (robot_urdf, legs_urdf, platform_urdf)

ROUNDING = 1e-14
"""A few operations on numbers of order one."""


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    a, b, c = (math.cos(angle) for angle in (roll, pitch, yaw))
    x, y, z = (math.sin(angle) for angle in (roll, pitch, yaw))
    about_x = np.array([[1, 0, 0], [0, a, -x], [0, x, a]])
    about_y = np.array([[b, 0, y], [0, 1, 0], [-y, 0, b]])
    about_z = np.array([[c, -z, 0], [z, c, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def bodies(platform: Platform) -> dict[str, tuple[float, np.ndarray, np.ndarray]]:
    """Return mass, centre and tensor of every link that has mass."""
    body, legs = platform.parameters.platform.body, leg_bodies(platform.parameters)
    wanted = {"platform": (body.mass, body.center_of_mass_vector, body.inertia_tensor)}
    for i in range(platform.n_actuators):
        wanted[f"leg_{i + 1}_housing"] = tuple(part[i] for part in legs[:3])
        wanted[f"leg_{i + 1}_rod"] = tuple(part[i] for part in legs[3:])
    return wanted


@pytest.mark.parametrize("machine", twin.machine_names())
def test_committed_file_is_what_the_parameters_give(machine: str) -> None:
    number = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
    committed = (assets_folder() / machine / "robot.urdf").read_text(encoding="utf-8")
    generated = robot_urdf(twin.load(machine))
    assert number.sub("#", committed) == number.sub("#", generated), "run: twin export"
    have, want = (np.array(number.findall(file), float) for file in (committed, generated))
    # Sines differ in the last digit between processors; principal axes of nearly equal moments
    # (4 per mille apart) magnify that.
    np.testing.assert_allclose(have, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("generate", GENERATORS)
def test_same_machine_same_text(platform: Platform, generate: Any) -> None:
    assert generate(platform) == generate(Platform(platform.parameters))


@pytest.mark.parametrize("generate", GENERATORS)
def test_every_element_has_a_name_of_its_own(platform: Platform, generate: Any) -> None:
    robot = ElementTree.fromstring(generate(platform))
    for kind in ("link", "joint", "visual", "material[color]"):
        names = [element.get("name") for element in robot.iterfind(f".//{kind}")]
        assert names or kind == "joint"
        assert all(names)
        assert len(set(names)) == len(names)
    colors = {element.get("name") for element in robot.iterfind("material")}
    assert {element.get("name") for element in robot.iterfind(".//visual/material")} <= colors


def test_tree_is_complete(platform: Platform) -> None:
    robot = ElementTree.fromstring(robot_urdf(platform))
    links = {link.get("name") for link in robot.iterfind("link")}
    children = [joint.find("child").get("link") for joint in robot.iterfind("joint")]
    assert links - set(children) == {"base"}
    assert len(set(children)) == len(children)
    joints = {"continuous": 15, "prismatic": 9, "fixed": 6}
    kinds = [joint.get("type") for joint in robot.iterfind("joint")]
    assert {kind: kinds.count(kind) for kind in kinds} == joints


def test_actuator_limits(platform: Platform) -> None:
    actuator = platform.parameters.leg.actuator
    robot = ElementTree.fromstring(robot_urdf(platform))
    for i, home in enumerate(platform.home_lengths):
        limit = robot.find(f"joint[@name='leg_{i + 1}_actuator']/limit")
        assert float(limit.get("lower")) + home == pytest.approx(actuator.minimum, abs=ROUNDING)
        assert float(limit.get("upper")) + home == pytest.approx(actuator.maximum, abs=ROUNDING)
        for attribute, known in (("effort", actuator.force), ("velocity", actuator.speed)):
            assert float(limit.get(attribute)) == (1e6 if known is None else known)
    legs = ElementTree.fromstring(legs_urdf(platform))
    free = [limit.keys() for limit in legs.iterfind("joint/limit")]
    assert free == [["effort", "velocity"]] * platform.n_actuators


def test_masses_centres_and_tensors_are_exact(platform: Platform) -> None:
    wanted = bodies(platform)
    robot = ElementTree.fromstring(robot_urdf(platform))
    for link in robot.iterfind("link"):
        name, inertial = link.get("name"), link.find("inertial")
        values = inertial.find("inertia").attrib
        assert [values[term] for term in ("ixy", "ixz", "iyz")] == ["0"] * 3, "Bullet drops them"
        moments = np.diag([float(values[term]) for term in ("ixx", "iyy", "izz")])
        mass = float(inertial.find("mass").get("value"))
        if name not in wanted:
            assert mass == 0.0
            assert not moments.any()
            continue
        origin = inertial.find("origin")
        axes = rotation(*map(float, origin.get("rpy").split()))
        center = np.array(origin.get("xyz").split(), float)
        assert mass == wanted[name][0]
        np.testing.assert_allclose(center, wanted[name][1], rtol=0, atol=ROUNDING)
        tensor = wanted[name][2]
        error = np.abs(axes @ moments @ axes.T - tensor).max()
        assert error < ROUNDING * np.abs(tensor).max()


def test_bullet_reads_the_same_bodies_without_a_word(
    platform: Platform, capfd: pytest.CaptureFixture[str]
) -> None:
    pybullet = pytest.importorskip("pybullet")
    from twin.engines.bullet_library import connect, disconnect, load

    wanted = bodies(platform)
    found = {}
    capfd.readouterr()
    for text_of, fixed in ((robot_urdf, True), (legs_urdf, True), (platform_urdf, False)):
        client = connect()
        body = load(text_of(platform), client, fixed=fixed)
        names = [pybullet.getBodyInfo(body, physicsClientId=client)[0].decode()]
        count = pybullet.getNumJoints(body, physicsClientId=client)
        names += [
            pybullet.getJointInfo(body, k, physicsClientId=client)[12].decode()
            for k in range(count)
        ]
        for k, name in enumerate(names, start=-1):
            found[name] = pybullet.getDynamicsInfo(body, k, physicsClientId=client)
            mass, center, tensor = wanted.get(name, (0.0, np.zeros(3), np.zeros((3, 3))))
            assert found[name][0] == mass
            if mass > 0.0:
                axes = np.array(pybullet.getMatrixFromQuaternion(found[name][4])).reshape(3, 3)
                error = np.abs(axes @ np.diag(found[name][2]) @ axes.T - tensor).max()
                assert error < ROUNDING * np.abs(tensor).max()
                np.testing.assert_allclose(found[name][3], center, rtol=0, atol=ROUNDING)
        disconnect(client)
    assert wanted.keys() <= found.keys()
    assert capfd.readouterr() == ("", "")


def test_pinocchio_finds_tips_on_platform_joints(platform: Platform, random_motion: Any) -> None:
    """Points, axes and joint order: a second reader closes the loops with our joint coordinates."""
    pinocchio = pytest.importorskip("pinocchio")
    model = pinocchio.buildModelFromXML(robot_urdf(platform))
    data = model.createData()
    for pose in (platform.home, *(random_motion(platform, seed)[0] for seed in range(5))):
        legs = platform.leg_coordinates(pose)
        q = pinocchio.neutral(model)
        for i in range(platform.n_actuators):
            for name, angle in zip(("first", "second"), legs.angles[i], strict=True):
                joint = model.joints[model.getJointId(f"leg_{i + 1}_{name}")]
                q[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
            joint = model.joints[model.getJointId(f"leg_{i + 1}_actuator")]
            q[joint.idx_q] = legs.lengths[i] - platform.home_lengths[i]
        pinocchio.framesForwardKinematics(model, data, q)
        turn = pinocchio.Quaternion(*pose[3:]).toRotationMatrix()
        for i, point in enumerate(platform.platform_joints):
            tip = data.oMf[model.getFrameId(f"leg_{i + 1}_rod")].translation
            np.testing.assert_allclose(tip, pose[:3] + turn @ point, rtol=0, atol=ROUNDING)
            foot = data.oMf[model.getFrameId(f"leg_{i + 1}_housing")].translation
            np.testing.assert_allclose(foot, platform.base_joints[i], rtol=0, atol=ROUNDING)
            if pose is platform.home:
                socket = data.oMf[model.getFrameId(f"leg_{i + 1}_platform_joint")].translation
                np.testing.assert_allclose(tip, socket, rtol=0, atol=ROUNDING)


ANGLES = st.floats(-math.pi, math.pi)


@given(ANGLES, st.one_of(ANGLES, st.sampled_from([math.pi / 2, -math.pi / 2])), ANGLES)
def test_angles_reproduce_every_rotation(roll: float, pitch: float, yaw: float) -> None:
    given_rotation = rotation(roll, pitch, yaw)
    angles = roll_pitch_yaw(given_rotation)
    np.testing.assert_allclose(rotation(*angles), given_rotation, rtol=0, atol=ROUNDING)


@given(st.tuples(ANGLES, ANGLES, ANGLES), st.tuples(*[st.floats(0.1, 10.0)] * 3))
def test_principal_frame_is_a_rotation_that_diagonalises(
    angles: tuple[float, float, float], moments: tuple[float, float, float]
) -> None:
    turn = rotation(*angles)
    tensor = turn @ np.diag(moments) @ turn.T
    tensor = 0.5 * (tensor + tensor.T)
    axes = principal_frame(tensor)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), rtol=0, atol=ROUNDING)
    assert np.linalg.det(axes) > 0.0
    assert np.trace(axes) > 0.0
    diagonal = axes.T @ tensor @ axes
    np.testing.assert_allclose(
        diagonal, np.diag(np.diag(diagonal)), rtol=0, atol=ROUNDING * max(moments)
    )


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda value: not 0.0 < abs(value) < 1e-15)))
def test_numbers_read_back_to_the_same_value(values: list[float]) -> None:
    assert [float(word) for word in text(values).split()] == values
