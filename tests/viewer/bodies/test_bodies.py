"""Bodies of machines: closed, in their places, and without any influence on the motion."""

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from conftest import MACHINES
from numpy.testing import assert_array_equal
from tolerance import assert_within

import twin
from twin.engines.mechanism import make_mechanism
from twin.engines.mjcf import mechanism_xml
from twin.machine.mechanism import BASE_NAME
from twin.viewer.bodies.fittings import ACCENT_MATERIAL
from twin.viewer.bodies.machine import dress, machine_bodies, picture_drawing

pytestmark = pytest.mark.quick


def dressed(platform):
    """Return MuJoCo's model with simple shapes, and with bodies."""
    machine = make_mechanism(platform.parameters)
    plain = mechanism_xml(machine, 1e-4)
    robot = ElementTree.fromstring(plain)
    dress(robot, machine_bodies(platform.parameters, machine))
    texts = (plain, ElementTree.tostring(robot, encoding="unicode"))
    return tuple(mujoco.MjModel.from_xml_string(text) for text in texts)


def at_home(platform, body, mesh):
    """Return the vertices `(v, 3)` [m] of a mesh in the base frame, the machine at home."""
    origin, turn = make_mechanism(platform.parameters).home_frames[body]
    return mesh.vertices @ turn.T + origin


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_moves_the_same_with_bodies_as_without(name):
    """Masses, springs, loops and forces: one state and its acceleration, to the last bit."""
    plain, rich = dressed(twin.load(name))
    assert rich.nmesh > 10
    for mask in (rich.geom_contype, rich.geom_conaffinity):
        assert not mask.any()
    assert set(rich.geom_group) == {2}
    found = []
    for model in (plain, rich):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        random = np.random.default_rng(3)
        data.qvel[:] = 0.1 * random.normal(size=model.nv)
        data.ctrl[:] = random.normal(size=model.nu)
        for _ in range(5):
            mujoco.mj_step(model, data)
        assert data.ncon == 0
        found.append([model.body_mass, model.body_inertia, data.qpos, data.qvel, data.qacc])
    for mine, its in zip(*found, strict=True):
        assert_array_equal(mine, its)


@pytest.mark.parametrize("name", MACHINES)
def test_bodies_reach_from_joint_to_joint(name):
    """Every leg has a body of its own: near its base joint, near its platform joint, between."""
    platform = twin.load(name)
    machine = make_mechanism(platform.parameters)
    parts = machine_bodies(platform.parameters, machine)
    look = picture_drawing(platform.parameters)
    near = 1.3 * max(look.base_joint_radius, look.platform_joint_radius)
    for place in platform.parameters.home_leg_geometry:
        own = [part for part in parts if part.body.startswith(f"leg_{place.number}_")]
        assert ACCENT_MATERIAL in {part.material for part in own}
        points = np.concatenate([at_home(platform, part.body, part.mesh) for part in own])
        for joint in (place.base, place.base + place.vector):
            assert np.linalg.norm(points - joint, axis=1).min() < near
    base = np.concatenate([p.mesh.vertices for p in parts if p.body == BASE_NAME])
    assert_within(base[:, 2].min(), look.floor, 1e-12)
