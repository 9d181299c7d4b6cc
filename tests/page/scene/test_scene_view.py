"""The scene of a page: layers, a second machine, views, pushes and the trace."""

import numpy as np
import pytest
import viser
from numpy.testing import assert_allclose, assert_array_equal
from paths import poses_within_limits, shifted
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within
from viser_rig import messages_sent

import twin
from twin.machine.payload import Occupant, seated_on
from twin.page.scene import machine_scene as trace_file
from twin.page.scene.machine_scene import centre_of_mass
from twin.page.scene.scene_view import LAYERS, SceneView, touched, viewpoint
from twin.simulation.simulate import Scene

CLOSE = {"rtol": 3e-5, "atol": 1e-7}


@pytest.fixture(scope="module")
def server():
    """A server that no page is connected to."""
    opened = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield opened
    opened.stop()


@pytest.fixture
def view(server, stewart):
    """The scene of one machine."""
    made = SceneView(server, stewart)
    yield made
    made.remove()


@pytest.fixture
def moments(monkeypatch):
    """The clock [s] that the trace reads: its last entry."""
    now = [0.0]
    # The trace ends after seconds that nobody waits for.
    monkeypatch.setattr(trace_file.clock, "monotonic", lambda: now[-1])
    return now


def node(server, name):
    """Return a node by its name."""
    return server.scene.get_handle_by_name(name)


# Layers.


NODES = {
    "ground": "/ground",
    "trace": "/machine/trace",
    "centre_of_mass": "/machine/platform/centre_of_mass",
    "base_frame": "/machine/base/axes",
    "platform_frame": "/machine/platform/axes",
    "joint_frames": "/machine/leg_3_housing/axes",
    "leg_numbers": "/machine/leg_3_housing/number",
}


def test_layers_are_switched(subtests, server, view):
    for layer in NODES:
        with subtests.test(f"{layer}"):
            before = {name: node(server, path).visible for name, path in NODES.items()}
            assert before == {name: LAYERS[name].shown for name in NODES}
            wanted = not before[layer]
            view.show(layer, wanted)
            assert view.shown(layer) == wanted
            assert {name: node(server, path).visible for name, path in NODES.items()} == {
                **before,
                layer: wanted,
            }
            view.show(layer, before[layer])
            assert node(server, NODES[layer]).visible == before[layer]


def test_what_lies_inside_is_seen(view):
    plate = view.machine.parts["platform", "platform"]
    view.show("trace", True)
    view.show("centre_of_mass", True)
    view.show("trace", False)
    assert plate.opacity < 1.0
    view.show("centre_of_mass", False)
    assert plate.opacity is None


def test_the_centre_of_mass_has_the_occupant_in_it(server, stewart):
    """As the machine whose platform has the occupant as added mass."""
    occupant = Occupant(stature=1.8, mass=80.0)
    view = SceneView(server, stewart, payload=occupant)
    seated = seated_on(stewart.parameters, occupant).platform.body.center_of_mass
    assert_allclose(centre_of_mass(view.machine), seated, rtol=1e-9, atol=1e-12)
    marked = node(server, NODES["centre_of_mass"]).position
    assert_allclose(marked, seated, **CLOSE)
    assert marked[2] > 0.05
    view.remove()


# Machines.


@pytest.mark.slow
def test_another_machine_replaces_the_first(server, view):
    view.show("leg_numbers", True)
    view.show("ground", False)
    view.update(Scene(view.machine.platform.home), 0.0, Scene(view.machine.platform.home))
    rss = twin.load("rss")
    view.replace(rss)
    assert view.machine.platform is rss
    assert node(server, "/comparison") is None
    assert node(server, "/machine/leg_1_housing") is None
    assert node(server, "/machine/leg_1_crank/number").visible
    assert not node(server, "/ground").visible
    with refused("payload"):
        view.replace(rss, payload="luggage")
    assert view.update(Scene(shifted(rss.home, 0.0, 0.0, 0.02)), 0.1)


@pytest.mark.slow
def test_cameras_stay_where_the_machine_is_replaced(server, view, stewart, monkeypatch):
    """Pages turn their cameras when the root of all nodes, whose name is empty, is turned."""
    sent = messages_sent(server, monkeypatch)
    view.replace(stewart)
    names = [message.name for message in sent]
    assert "/machine/platform" in names
    assert "" not in names


# What moves with the platform.


def test_the_trace_is_the_way_of_its_point(view, stewart, moments):
    view.show("trace", True)
    point = np.array([0.2, 0.1, 0.05])
    view.trace.follow(point)
    way = []
    for k, pose in enumerate(poses_within_limits(stewart, 9, 3)):
        moments.append(1.0 + k)
        view.update(Scene(pose), 0.1 * k)
        turn = Rotation.from_quat(pose[3:], scalar_first=True)
        way.append(pose[:3] + turn.apply(point))
    segments = view.trace.node.points
    assert_within(segments[-8:, 0], way[:-1], 1e-6)
    assert_within(segments[-8:, 1], way[1:], 1e-6)
    assert (segments[:-8] == segments[0, 0]).all()
    view.update(Scene(stewart.home), 0.05)
    moments.append(20.0)
    view.update(Scene(stewart.home), 0.06)
    assert np.ptp(view.trace.node.points, axis=(0, 1)).max() < 1e-6


def test_the_trace_is_sent_ten_times_a_second_at_most(view, stewart, moments):
    view.show("trace", True)
    moments.append(5.0)
    view.update(Scene(stewart.home), 0.0)
    before = view.trace.node.points.copy()
    moments.append(5.09)
    view.update(Scene(shifted(stewart.home, 0.02, 0.0, 0.0)), 0.5)
    assert_array_equal(view.trace.node.points, before)
    moments.append(5.11)
    view.update(Scene(shifted(stewart.home, 0.02, 0.0, 0.0)), 0.5)
    assert_within(view.trace.node.points[-1, 1, 0], 0.02, 1e-6)


def test_a_push_is_seen_while_it_acts(server, view, stewart):
    point, force = np.array([0.2, 0.0, 0.0]), np.array([0.0, 300.0, 0.0])
    view.push.begin(force, np.zeros(3), point, time=2.0, duration=0.5)
    arrow = node(server, "/machine/push/force")
    assert view.push.node.visible
    assert arrow.visible
    assert not node(server, "/machine/push/moment").visible
    start, end = arrow.points[0]
    assert_within(end, 0.0, 1e-9)
    along = (end - start) / np.linalg.norm(end - start)
    assert_within(along, [0.0, 1.0, 0.0], 1e-6)
    pose = shifted(stewart.home, 0.03, 0.0, 0.01)
    view.update(Scene(pose), 2.4)
    assert_allclose(view.push.node.position, pose[:3] + point, **CLOSE)
    view.show("push", False)
    assert not view.push.node.visible
    view.show("push", True)
    assert view.push.node.visible
    view.update(Scene(pose), 2.5)
    view.show("push", True)
    assert not view.push.node.visible


def test_a_reset_ends_a_push(view, stewart):
    view.push.begin(np.ones(3), np.ones(3), np.zeros(3), time=2.0, duration=0.5)
    for time in (0.0, 2.1):
        view.update(Scene(stewart.home), time)
        assert not view.push.node.visible


def test_a_moment_is_drawn_in_its_sense(server, view):
    axis = np.array([0.0, 0.0, -20.0])
    view.push.begin(np.zeros(3), axis, np.zeros(3), time=0.0, duration=1.0)
    assert not node(server, "/machine/push/force").visible
    assert node(server, "/machine/push/moment").visible
    arrows = node(server, "/machine/push/moment").points
    for start, end in arrows:
        assert (end - start) @ axis > 0.0 and not np.cross(end - start, axis).any()


def test_touched_point_is_in_the_platform_frame(view, stewart):
    [pose] = poses_within_limits(stewart, 1, 7)
    shaken = np.array([0.01, 0.02, 0.03])
    view.update(Scene(pose, base_displacement=shaken), 0.0)
    mesh = view.machine.parts["platform", "platform"]
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    point = middles[middles[:, 2].argmax()]
    turn = Rotation.from_quat(pose[3:], scalar_first=True)
    down = turn.apply([0.0, 0.0, -2.0])
    above = shaken + pose[:3] + turn.apply(point) - down
    assert_within(touched(view.machine, above, down), point, 1e-6)
    assert touched(view.machine, above, -down) is None


# Cameras.


def test_all_of_the_machine_lies_between_near_and_far(server, view):
    first, target = server.initial_camera, viewpoint(view.machine, "overview").target
    assert_allclose(first.position, viewpoint(view.machine, "overview").position)
    assert first.near < 0.1 * np.linalg.norm(first.position - target)
    assert first.far > 10.0 * view.machine.size
