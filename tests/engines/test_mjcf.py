"""The generated MJCF: what MuJoCo makes of it is read back and compared with the parameters."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.engines.mechanism import make_mechanism
from twin.engines.mjcf import add_inertial, robot_xml, scene_xml
from twin.machine import MachineParameters
from twin.machine.machine import assets_folder
from twin.machine.mechanism import Mass, Plate

GENERATORS = {"robot.xml": robot_xml, "scene.xml": scene_xml}

EIGENVALUES = 1e-11
"""MuJoCo stops its diagonalisation of a tensor at 1e-12 relative."""


def compiled(platform):
    model = mujoco.MjModel.from_xml_string(robot_xml(platform))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def body_tensor(model, body):
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    turn = turn.reshape(3, 3)
    return turn @ np.diag(model.body_inertia[body]) @ turn.T


@pytest.mark.parametrize("file", GENERATORS)
@pytest.mark.parametrize("machine", twin.machine_names())
def test_committed_file_is_what_the_parameters_give(machine, file):
    number = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
    committed = (assets_folder() / machine / file).read_text(encoding="utf-8")
    generated = GENERATORS[file](twin.load(machine))
    assert number.sub("#", committed) == number.sub("#", generated), "run: twin export"
    have, want = (np.array(number.findall(text), float) for text in (committed, generated))
    # Sines differ in the last digit between processors; the file has fifteen.
    assert_allclose(have, want, rtol=1e-13, atol=1e-14)


def test_home_keyframe_is_the_initial_state(platform):
    model, data = compiled(platform)
    assert_array_equal(model.key("home").qpos, data.qpos)


@pytest.mark.parametrize("machine", twin.machine_names())
def test_committed_scene_steps_without_any_warning(machine, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = mujoco.MjModel.from_xml_path(str(assets_folder() / machine / "scene.xml"))
    data = mujoco.MjData(model)
    for _ in range(200):
        mujoco.mj_step(model, data)
    assert not data.warning.number.any()
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())
    # 0.2 s of free fall; 2e-7 m measured at the file's 1 ms.
    for k in range(model.neq):
        apart = data.site_xpos[model.eq_obj1id[k]] - data.site_xpos[model.eq_obj2id[k]]
        assert np.linalg.norm(apart) < 1e-6


def test_flat_bodies_of_any_orientation_are_accepted():
    random = np.random.default_rng(0)
    for _ in range(50):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        small, middle = random.uniform(0.1, 1.0, 2)
        tensor = turn @ np.diag([small, middle, small + middle]) @ turn.T
        body = Element("body")
        SubElement(body, "freejoint")
        add_inertial(body, Mass(1.0, np.zeros(3), tensor))
        text = ElementTree.tostring(body, encoding="unicode")
        model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
        assert_within(body_tensor(model, 1), tensor, EIGENVALUES)


def test_joints_in_one_vertical_plane_still_give_a_plate(stewart):
    content = stewart.parameters.model_dump()
    heights = (0.0, 0.2, -0.1, 0.1, 0.3, -0.2)
    places = (-0.4, -0.25, -0.1, 0.1, 0.25, 0.4)
    content["platform"]["joints"] = {
        "source": "test",
        "coordinates": [(x, 0.0, z) for x, z in zip(places, heights, strict=True)],
    }
    content["leg"]["actuator"] |= {"minimum": 0.1, "maximum": 3.0}
    platform = Platform(MachineParameters.model_validate(content))
    shapes = make_mechanism(platform.parameters).body("platform").shapes
    (plate,) = (shape for shape in shapes if isinstance(shape, Plate))
    assert np.linalg.matrix_rank(plate.outline) == 2
    model, _ = compiled(platform)
    assert model.nbody == 15
