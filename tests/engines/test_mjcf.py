"""The generated MJCF: what MuJoCo makes of it is read back and compared with the parameters."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np
import pytest

import twin
from twin.catalogue import assets_folder
from twin.engines.appearance import drawing
from twin.engines.mjcf import robot_xml, scene_xml
from twin.engines.mjcf_elements import add_inertial
from twin.parameters import MachineParameters
from twin.parameters.derived import home_leg_frames, leg_bodies
from twin.platform import Platform

GENERATORS = {"robot.xml": robot_xml, "scene.xml": scene_xml}

EIGENVALUES = 1e-11
"""MuJoCo stops its diagonalisation of a tensor at 1e-12 relative."""

SECTIONS = ("worldbody", "asset", "equality", "actuator", "sensor", "keyframe")


def compiled(platform: Platform) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(robot_xml(platform))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def body_tensor(model: mujoco.MjModel, body: int) -> np.ndarray:
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    turn = turn.reshape(3, 3)
    return turn @ np.diag(model.body_inertia[body]) @ turn.T


@pytest.mark.parametrize("file", GENERATORS)
@pytest.mark.parametrize("machine", twin.machine_names())
def test_committed_file_is_what_the_parameters_give(machine: str, file: str) -> None:
    number = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
    committed = (assets_folder() / machine / file).read_text(encoding="utf-8")
    generated = GENERATORS[file](twin.load(machine))
    assert number.sub("#", committed) == number.sub("#", generated), "run: twin export"
    have, want = (np.array(number.findall(text), float) for text in (committed, generated))
    # Sines differ in the last digit between processors; the file has fifteen.
    np.testing.assert_allclose(have, want, rtol=1e-13, atol=1e-14)


def test_masses_centres_and_tensors(platform: Platform) -> None:
    model, _ = compiled(platform)
    rigid, legs = platform.parameters.platform.body, leg_bodies(platform.parameters)
    wanted = {
        "platform": (rigid.mass, rigid.center_of_mass_vector, rigid.inertia_tensor),
        **{f"leg_{i + 1}_housing": tuple(part[i] for part in legs[:3]) for i in range(6)},
        **{f"leg_{i + 1}_rod": tuple(part[i] for part in legs[3:]) for i in range(6)},
    }
    assert model.nbody == 1 + len(wanted)
    for name, (mass, center, tensor) in wanted.items():
        body = model.body(name).id
        assert model.body_mass[body] == pytest.approx(mass, rel=1e-14)
        np.testing.assert_allclose(model.body_ipos[body], center, rtol=1e-14, atol=1e-15)
        error = np.abs(body_tensor(model, body) - tensor).max()
        assert error < EIGENVALUES * np.abs(tensor).max(), name


def test_points_axes_and_frames_at_home(platform: Platform) -> None:
    model, data = compiled(platform)
    frames, vectors = home_leg_frames(platform.parameters), platform.parameters.home_leg_vectors
    close = {"rtol": 0.0, "atol": 1e-14}
    np.testing.assert_allclose(data.qpos[:7], platform.home, **close)
    np.testing.assert_array_equal(data.qpos[7:], 0.0)
    np.testing.assert_allclose(data.site("reference").xpos, platform.home[:3], **close)
    for leg in range(platform.n_actuators):
        name, base = f"leg_{leg + 1}", platform.base_joints[leg]
        tip = base + vectors[leg]
        np.testing.assert_allclose(data.site(f"{name}_base_joint").xpos, base, **close)
        np.testing.assert_allclose(data.site(f"{name}_tip").xpos, tip, **close)
        np.testing.assert_allclose(data.site(f"{name}_platform_joint").xpos, tip, **close)
        axes = [data.joint(f"{name}_{joint}") for joint in ("first", "second", "actuator")]
        for joint, axis in zip(
            axes[:2], (platform.first_axes[leg], frames[leg][:, 0]), strict=True
        ):
            np.testing.assert_allclose(joint.xaxis, axis, **close)
            np.testing.assert_allclose(joint.xanchor, base, **close)
        np.testing.assert_allclose(axes[2].xaxis, frames[leg][:, 2], **close)
        for body in ("housing", "rod"):
            matrix = data.body(f"{name}_{body}").xmat.reshape(3, 3)
            np.testing.assert_allclose(matrix, frames[leg], **close)
        limits = model.joint(f"{name}_actuator").range + platform.home_lengths[leg]
        actuator = platform.parameters.leg.actuator
        np.testing.assert_allclose(limits, [actuator.minimum, actuator.maximum], **close)


def test_home_keyframe_is_the_initial_state(platform: Platform) -> None:
    model, data = compiled(platform)
    np.testing.assert_array_equal(model.key("home").qpos, data.qpos)


@pytest.mark.parametrize("file", GENERATORS)
def test_every_element_has_its_own_name(file: str, platform: Platform) -> None:
    root = ElementTree.fromstring(GENERATORS[file](platform))
    elements = [
        e for section in SECTIONS for e in root.iterfind(f"{section}//") if e.tag != "inertial"
    ]
    names = [(element.tag, element.get("name")) for element in elements]
    assert len(names) >= 6
    assert all(name for _, name in names)
    assert len(names) == len(set(names))


def test_compiled_elements_are_named(platform: Platform) -> None:
    model, _ = compiled(platform)
    kinds = {
        model.body: model.nbody,
        model.joint: model.njnt,
        model.geom: model.ngeom,
        model.site: model.nsite,
        model.actuator: model.nu,
        model.sensor: model.nsensor,
        model.equality: model.neq,
        model.mesh: model.nmesh,
        model.material: model.nmat,
        model.key: model.nkey,
    }
    for element, count in kinds.items():
        assert count > 0
        assert all(element(i).name for i in range(count))


def test_drawing_has_neither_mass_nor_contact(platform: Platform) -> None:
    model, _ = compiled(platform)
    legs = leg_bodies(platform.parameters)
    total = platform.parameters.platform.body.mass + legs.housing_mass.sum() + legs.rod_mass.sum()
    assert model.body_mass.sum() == pytest.approx(total, rel=1e-14)
    assert not model.geom_contype.any()
    assert not model.geom_conaffinity.any()


@pytest.mark.parametrize("machine", twin.machine_names())
def test_committed_scene_steps_without_any_warning(
    machine: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = mujoco.MjModel.from_xml_path(str(assets_folder() / machine / "scene.xml"))
    data = mujoco.MjData(model)
    for _ in range(200):
        mujoco.mj_step(model, data)
    assert not data.warning.number.any()
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())
    # 0.2 s of free fall; 2e-7 m measured at the file's 1 ms.
    for leg in range(1, model.nu + 1):
        apart = data.site(f"leg_{leg}_tip").xpos - data.site(f"leg_{leg}_platform_joint").xpos
        assert np.linalg.norm(apart) < 1e-6


def test_flat_bodies_of_any_orientation_are_accepted() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        small, middle = random.uniform(0.1, 1.0, 2)
        tensor = turn @ np.diag([small, middle, small + middle]) @ turn.T
        body = Element("body")
        SubElement(body, "freejoint")
        add_inertial(body, 1.0, np.zeros(3), tensor)
        text = ElementTree.tostring(body, encoding="unicode")
        model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
        np.testing.assert_allclose(body_tensor(model, 1), tensor, rtol=0, atol=EIGENVALUES)


def test_joints_in_one_vertical_plane_still_give_a_plate(stewart: Platform) -> None:
    content = stewart.parameters.model_dump()
    heights = (0.0, 0.2, -0.1, 0.1, 0.3, -0.2)
    places = (-0.4, -0.25, -0.1, 0.1, 0.25, 0.4)
    content["platform"]["joints"] = {
        "source": "test",
        "coordinates": [(x, 0.0, z) for x, z in zip(places, heights, strict=True)],
    }
    content["leg"]["actuator"] |= {"minimum": 0.1, "maximum": 3.0}
    platform = Platform(MachineParameters.model_validate(content))
    assert np.linalg.matrix_rank(drawing(platform.parameters).platform_outline) == 2
    model, _ = compiled(platform)
    assert model.nbody == 14
