"""The generated URDF: what PyBullet and Pinocchio make of it is compared with the parameters."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tolerance import assert_within

import twin
from twin.engines.mechanism import make_mechanism
from twin.engines.urdf import legs_urdf, platform_urdf, robot_urdf, roll_pitch_yaw, text
from twin.machine.machine import assets_folder


def legs_text(platform):
    return legs_urdf(make_mechanism(platform.parameters))


def platform_text(platform):
    return platform_urdf(make_mechanism(platform.parameters))


ROUNDING = 1e-14
"""A few operations on numbers of order one."""


def rotation(roll, pitch, yaw):
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    a, b, c = (math.cos(angle) for angle in (roll, pitch, yaw))
    x, y, z = (math.sin(angle) for angle in (roll, pitch, yaw))
    about_x = np.array([[1, 0, 0], [0, a, -x], [0, x, a]])
    about_y = np.array([[b, 0, y], [0, 1, 0], [-y, 0, b]])
    about_z = np.array([[c, -z, 0], [z, c, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


@pytest.mark.parametrize("machine", twin.machine_names())
def test_committed_file_is_what_the_parameters_give(machine):
    number = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
    committed = (assets_folder() / machine / "robot.urdf").read_text(encoding="utf-8")
    generated = robot_urdf(twin.load(machine))
    assert number.sub("#", committed) == number.sub("#", generated), "run: twin export"
    have, want = (np.array(number.findall(file), float) for file in (committed, generated))
    # Sines differ in the last digit between processors.
    assert_allclose(have, want, rtol=1e-12, atol=1e-12)


def test_actuator_limits(any_platform):
    platform = any_platform
    robot = ElementTree.fromstring(robot_urdf(platform))
    for i, (home, leg) in enumerate(
        zip(platform.home_coordinates, platform.parameters.legs, strict=True)
    ):
        actuator = leg.actuator
        limit = robot.find(f"joint[@name='leg_{i + 1}_actuator']/limit")
        assert float(limit.get("lower")) + home == pytest.approx(actuator.minimum, abs=ROUNDING)
        assert float(limit.get("upper")) + home == pytest.approx(actuator.maximum, abs=ROUNDING)
        for attribute, known in (("effort", actuator.effort), ("velocity", actuator.speed)):
            assert float(limit.get(attribute)) == (1e6 if known is None else known)
    slides = robot.findall("joint[@type='prismatic']/limit")
    assert all(float(slide.get("lower")) < float(slide.get("upper")) for slide in slides)
    for generate in (legs_text, platform_text):
        for limit in ElementTree.fromstring(generate(platform)).iterfind("joint/limit"):
            assert limit.keys() == ["effort", "velocity"]


def test_pinocchio_closes_the_loops(any_platform, random_motion):
    """Points, axes and joint order: a second reader closes the loops with our joint coordinates."""
    pinocchio = pytest.importorskip("pinocchio")
    platform = any_platform
    machine = make_mechanism(platform.parameters)
    model = pinocchio.buildModelFromXML(robot_urdf(platform))
    data = model.createData()
    for pose in (platform.home, *(random_motion(platform, seed)[0] for seed in range(5))):
        q = pinocchio.neutral(model)
        values = platform.leg_coordinates(pose).values.ravel()
        for name, value in zip(machine.joint_names, values, strict=True):
            joint = model.joints[model.getJointId(name)]
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            q[place] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        pinocchio.framesForwardKinematics(model, data, q)
        turn = pinocchio.Quaternion(*pose[3:]).toRotationMatrix()

        def place_of(point, q=data, turn=turn, pose=pose):
            if point.body == "platform" and platform.kind != "pillar":
                return pose[:3] + turn @ point.position
            return q.oMf[model.getFrameId(point.name)].translation

        for first, second in machine.loop_points():
            assert_within(place_of(first), place_of(second), 1e-13)
        if pose is platform.home or platform.kind == "pillar":
            frame = data.oMf[model.getFrameId("platform")]
            assert_within(frame.translation, pose[:3], 1e-13)
            assert_within(frame.rotation, turn, 1e-13)


ANGLES = st.floats(-math.pi, math.pi)


@given(ANGLES, st.one_of(ANGLES, st.sampled_from([math.pi / 2, -math.pi / 2])), ANGLES)
def test_angles_reproduce_every_rotation(roll, pitch, yaw):
    given_rotation = rotation(roll, pitch, yaw)
    angles = roll_pitch_yaw(given_rotation)
    assert_within(rotation(*angles), given_rotation, ROUNDING)


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda value: not 0.0 < abs(value) < 1e-15)))
def test_numbers_read_back_to_the_same_value(values):
    assert [float(word) for word in text(values).split()] == values
