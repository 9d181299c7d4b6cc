"""Nodes of a machine: where the scene model has its bodies, sent only when they move or change."""

import numpy as np
import pytest
import viser
from conftest import MACHINES
from numpy.testing import assert_allclose, assert_array_equal
from paths import shifted
from viser_rig import messages_sent

import twin
from twin.model.ball import ball_for
from twin.page.scene.machine_scene import (
    COLOUR_LEVELS,
    OVERLAY_TINT,
    MachineScene,
    as_bytes,
    palette,
)
from twin.simulation.simulate import Scene

CLOSE = {"rtol": 3e-5, "atol": 3e-8}
"""Pages are not told of moves that are smaller."""


@pytest.fixture(scope="module")
def viser_server():
    """A server that no page is connected to."""
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield server
    server.stop()


@pytest.fixture
def server(viser_server):
    """A server with an empty scene."""
    viser_server.scene.reset()
    return viser_server


@pytest.fixture
def sent(server, monkeypatch):
    """What is sent to pages from here on."""
    return messages_sent(server, monkeypatch)


def assert_in_place(machine):
    """Compare all nodes with the scene model, in the room."""
    scene_model = machine.scene_model
    assert_allclose(machine.root.position, scene_model.displacement, **CLOSE)
    for body, node in machine.bodies.items():
        if body != "base":
            assert_allclose(node.position, scene_model.data.body(body).xpos, **CLOSE)
            assert_allclose(node.wxyz, scene_model.data.body(body).xquat, **CLOSE)


def test_what_stands_still_sends_nothing(stewart, server, sent):
    machine = MachineScene(server, stewart)
    scene = Scene(shifted(stewart.home, 0.0, 0.0, 0.02), None, stewart.home)
    machine.update(scene)
    sent.clear()
    machine.update(scene)
    assert not sent
    machine.update(Scene(scene.pose, None, shifted(stewart.home, 0.01, 0.0, 0.0)))
    assert [message.name for message in sent] == ["/machine/ghost"]
    sent.clear()
    machine.update(Scene(shifted(scene.pose, 0.01, 0.0, 0.0), None, scene.ghost))
    names = [message.name for message in sent]
    assert "/machine/platform" in names
    assert len(names) == len({(type(message), message.name) for message in sent})
    assert len(names) <= 2 * len(machine.bodies)


def test_a_slow_motion_arrives(stewart, server):
    """Each step alone is too small to be sent."""
    machine = MachineScene(server, stewart)
    for k in range(1, 61):
        machine.update(Scene(shifted(stewart.home, 0.0, 0.0, 3e-6 * k)))
    assert_in_place(machine)


@pytest.mark.parametrize("height", [40.0, np.nan])
def test_what_cannot_be_drawn_stays_as_it_was(server, height):
    platform = twin.load("rss")
    machine = MachineScene(server, platform)
    assert machine.update(Scene(shifted(platform.home, 0.0, 0.0, 0.02)))
    before = {body: node.position.copy() for body, node in machine.bodies.items()}
    assert not machine.update(Scene(shifted(platform.home, 0.0, 0.0, height)))
    for body, node in machine.bodies.items():
        assert_array_equal(node.position, before[body])
    assert machine.update(Scene(platform.home))


def test_ghost_and_ball_are_seen_where_there_are_any(stewart, server):
    ball = ball_for(stewart.parameters)
    machine = MachineScene(server, stewart, ball=ball)
    ghost, rolling = machine.bodies["ghost"], machine.bodies["ball"]
    assert not ghost.visible
    assert not rolling.visible
    place = np.array([0.1, 0.0, 1.1, 1.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0])
    machine.update(Scene(stewart.home, None, stewart.home, place))
    assert ghost.visible
    assert rolling.visible
    assert_allclose(rolling.position, place[:3], **CLOSE)
    machine.show("ghost", False)
    assert not ghost.visible
    machine.update(Scene(stewart.home, None, stewart.home))
    assert not ghost.visible
    assert not rolling.visible
    machine.show("ghost", True)
    assert ghost.visible


def test_the_ghost_is_not_seen_where_the_platform_is(server):
    machine = MachineScene(server, twin.load("stewart"))
    [ghost] = [mesh for (body, _), mesh in machine.parts.items() if body == "ghost"]
    plate = machine.parts["platform", "platform"]
    assert (ghost.vertices.min(axis=0) > plate.vertices.min(axis=0)).all()
    assert (ghost.vertices.max(axis=0)[:2] < plate.vertices.max(axis=0)[:2]).all()
    assert ghost.opacity < 1.0


def test_legs_take_the_colours_of_their_values(stewart, server, sent):
    machine = MachineScene(server, stewart)
    tubes = [machine.parts[f"leg_{i}_housing", "housing"] for i in range(1, 7)]
    own = tubes[0].color
    machine.colour_legs("force", [0.0, 1.0, np.nan, 0.5, 2.0, 0.001])
    scale = [as_bytes(colour) for colour in palette("force")]
    found = [tube.color for tube in tubes]
    assert found[:3] == [scale[0], scale[-1], own]
    assert found[4:] == [scale[-1], scale[0]]
    sent.clear()
    machine.colour_legs("force", [0.0, 1.0, np.nan, 0.5, 1.5, 0.2 / COLOUR_LEVELS])
    assert not sent
    machine.colour_legs("force", [0.0, 1.0, np.nan, 0.5, 1.5, 0.4])
    assert {message.name.split("/")[2] for message in sent} <= {"leg_6_housing", "leg_6_rod"}
    machine.colour_legs("stroke", np.zeros(6))
    red = as_bytes(palette("stroke")[0])
    assert {tube.color for tube in tubes} == {red}
    machine.colour_legs("none")
    assert {tube.color for tube in tubes} == {own}


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_every_leg_can_be_coloured(server, name):
    platform = twin.load(name)
    machine = MachineScene(server, platform)
    before = {key: mesh.color for key, mesh in machine.parts.items()}
    for leg in range(platform.n_actuators):
        values = np.full(platform.n_actuators, np.nan)
        values[leg] = 1.0
        machine.colour_legs("force", values)
        changed = [key for key, mesh in machine.parts.items() if mesh.color != before[key]]
        assert changed
        assert all(body.startswith(f"leg_{leg + 1}_") for body, _ in changed)


def test_a_second_machine_is_its_own(server):
    platform = twin.load("srspm")
    first = MachineScene(server, platform)
    second = MachineScene(server, platform, name="comparison", ghost=False, tint=OVERLAY_TINT)
    second.update(Scene(shifted(platform.home, 0.0, 0.0, 0.05)))
    second.colour_legs("force", np.ones(6))
    assert_array_equal(first.bodies["platform"].position, platform.home[:3])
    assert {mesh.opacity for mesh in second.parts.values()} == {OVERLAY_TINT.opacity}
    assert {mesh.side for mesh in second.parts.values()} == {"back"}, "the first is not covered"
    assert first.parts["platform", "platform"].opacity is None
    assert first.parts["platform", "platform"].color != second.parts["platform", "platform"].color
    assert not {"ghost", "base"} & set(second.bodies)
    second.remove()
    assert server.scene.get_handle_by_name("/comparison") is None
    assert first.update(Scene(shifted(platform.home, 0.0, 0.0, 0.01)))
    assert_in_place(first)
