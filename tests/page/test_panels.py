"""Controls of the page without a browser: what people do with them, and what they show."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

pytest.importorskip("viser")

from viser_rig import inputs, use

from twin.errors import InputError
from twin.page.charts import LiveCharts
from twin.page.panels.machine import GainNumbers, MachinePanel, RunPanel, SavePanel, rounded_gain
from twin.page.panels.motion import AxisSliders, MotionPanel
from twin.page.panels.set_up import FILE_MOTION_NOTE, SetUpPanel
from twin.page.panels.state import PushPanel, default_force
from twin.page.panels.view import ComparePanel, ViewPanel
from twin.page.requests import Requests
from twin.page.scene.scene_view import SceneView
from twin.page.server.page_server import PageServer
from twin.simulation.live.machine_session import MachineSession
from twin.simulation.live.runner import Runner
from twin.simulation.live.settings import gain_unit


class Client:
    """Somebody at the page, who keeps what is said and sent."""

    def __init__(self):
        self.said = []
        self.files = {}

    def add_notification(self, title, body, **_):
        """Keep what is said."""
        self.said.append(f"{title}: {body}")

    def send_file_download(self, filename, content, **_):
        """Keep what is sent."""
        self.files[filename] = content


class Gone(Client):
    """Somebody who has closed the page."""

    def add_notification(self, *_, **__):
        """Fail as a closed connection may."""
        raise ConnectionError("closed")


class Desk:
    """viser's controls, and hands that use them as a browser would."""

    def __init__(self, gui):
        self.gui = gui
        self.client = Client()
        self.requests = Requests(lambda function: function())

    def find(self, label):
        """Return the newest control with a label."""
        return inputs(self.gui, label)[-1]

    def use(self, label, value=True, client=None):
        """Change a control's value, or press a button."""
        use(self.find(label), value, client or self.client)


@pytest.fixture(scope="module")
def server():
    with PageServer(port=0) as opened:
        yield opened


@pytest.fixture
def desk(server):
    yield Desk(server.viser.gui)
    server.viser.gui.reset()


@pytest.fixture(scope="module")
def shared():
    session = MachineSession("stewart")
    yield session
    session.close()


@pytest.fixture
def session(shared):
    shared.configure(
        engine="mujoco", controller="cascade", gains={}, comparison=None, configuration=None
    )
    shared.reset()
    return shared


def test_a_number_that_is_being_typed_may_lie_outside(desk, session):
    AxisSliders(desk.gui, desk.requests, session)
    desk.use("z [mm]", 4000.0)
    assert 0.0 < session.target[2] <= session.axes[2].high


def test_sliders_follow_without_asking_for_anything(desk, session, monkeypatch):
    sliders = AxisSliders(desk.gui, desk.requests, session)
    asked = []
    session.move_to([0, 0, 30, 0, 5, 0])
    # What is asked of a session can only be seen here.
    monkeypatch.setattr(session, "move_to", asked.append)
    sliders.refresh()
    assert desk.find("z [mm]").value == 30.0
    assert desk.find("pitch [deg]").value == 5.0
    assert not asked


def test_sliders_do_not_pull_at_a_hand(desk, session, later):
    sliders = AxisSliders(desk.gui, desk.requests, session)
    desk.use("x [mm]", 50.0)
    session.home()
    sliders.refresh()
    assert desk.find("x [mm]").value == 50.0
    later("panels.motion", 2.0)
    sliders.refresh()
    assert desk.find("x [mm]").value == 0.0


def test_every_kind_of_motion_plays(subtests, desk, session):
    for kind in ["sine", "step", "lift", "chirp", "tank"]:
        with subtests.test(f"{kind}"):
            MotionPanel(desk.gui, desk.requests, session)
            desk.use("Kind", kind)
            assert desk.find("Axis").disabled == (kind == "tank")
            assert desk.find("Frequency [Hz]").disabled == (kind not in ("sine", "chirp"))
            desk.use("Start motion")
            assert not desk.client.said
            assert session.playing


def test_the_proposed_amplitude_is_of_the_axis(desk, session):
    MotionPanel(desk.gui, desk.requests, session)
    assert desk.find("Amplitude [mm]").value > 5.0
    desk.use("Axis", "pitch")
    assert 0.5 < desk.find("Amplitude [deg]").value < 10.0
    desk.use("Start motion")
    session.advance(1.3)
    assert abs(session.setpoint[4]) > 0.01
    assert_within(session.setpoint[:3], 0.0, 1e-9)


def upload(desk, name, content):
    desk.use("Motion from CSV", SimpleNamespace(name=name, content=content.encode()))


def test_an_uploaded_motion_plays(desk, session):
    """It is in no link, and the page says so."""
    motions = MotionPanel(desk.gui, desk.requests, session)
    set_up = SetUpPanel(desk.gui, desk.requests, session, motions, [])
    assert not set_up.missing.content
    times = np.linspace(0.0, 2.0, 41)
    rows = [f"{time},{10.0 * np.sin(np.pi * time) ** 3}" for time in times]
    upload(desk, "C:/courses/bump.csv", "\n".join(["time [s],z [mm]", *rows]))
    assert desk.client.said == ["bump.csv: 2 s; Start motion plays it."]
    assert desk.find("Kind").value == "bump.csv"
    set_up.refresh()
    assert FILE_MOTION_NOTE in set_up.missing.content and "bump" not in desk.find("Set-up").value
    desk.use("Start motion")
    session.advance(0.8)
    assert_within(session.setpoint[2], 10.0, 2.0)


def test_a_bad_upload_is_told_and_loses_nothing(desk, session):
    MotionPanel(desk.gui, desk.requests, session)
    upload(desk, "bad.csv", "time [s],z [mm]\n0,1\n1,oops\n")
    assert desk.client.said[0].startswith("Not possible: bad.csv: line 3")
    assert desk.find("Kind").value == "sine"
    desk.use("Start motion")
    assert session.playing


def test_choices_made_while_the_run_is_busy_all_count(desk, session):
    """What is done for the first sets the controls back before the second has its turn."""
    waiting = []
    MachinePanel(desk.gui, Requests(waiting.append), session)
    compare = ComparePanel(desk.gui, Requests(waiting.append), session)
    for label, value in (("Engine", "bullet"), ("Controller", "computed_torque")):
        desk.use(label, value)
    desk.use("Second engine", "analytic")
    for order in waiting:
        order()
    found = session.settings
    assert (found.engine, found.controller) == ("bullet", "computed_torque")
    assert found.comparison == "analytic"
    compare.refresh()


def test_the_largest_difference_begins_anew_with_the_run(desk, session):
    panel = ComparePanel(desk.gui, desk.requests, session)
    desk.use("Second engine", "mujoco")
    desk.use("MuJoCo defaults", True)
    session.advance(0.5)
    panel.refresh()
    assert panel.largest[0] > 1.0
    session.reset()
    panel.refresh()
    assert panel.largest[0] < 1.0


def test_a_refused_choice_is_told_and_taken_back(desk, session):
    MachinePanel(desk.gui, desk.requests, session)
    desk.use("Controller", "iff")
    assert desk.client.said[0].startswith("Not possible: ")
    assert desk.find("Controller").value == "cascade"
    assert session.settings.controller == "cascade"


def test_a_gain_counts_when_typing_has_paused(desk, session, later):
    numbers = GainNumbers(desk.gui, desk.requests, session)
    numbers.refresh()
    before = session.gains["position_gain"]
    desk.use("position_gain [1/s]", 1.0)
    numbers.refresh()
    assert session.gains["position_gain"] == before
    desk.use("position_gain [1/s]", 12.0)
    later("requests", 1.0)
    numbers.refresh()
    assert session.gains["position_gain"] == 12.0
    assert desk.find("position_gain [1/s]").value == 12.0


def test_a_name_that_is_none_is_told(subtests, desk, session):
    for name in ["", "../run", "a" * 200, "C:run"]:
        with subtests.test(f"{name}"):
            SavePanel(desk.gui, desk.requests, lambda: "stewart.npz", session.trajectory)
            session.advance(0.2)
            desk.use("File name", name)
            desk.use("Save run")
            assert desk.client.said[0].startswith("Not possible: file name")
            assert not desk.client.files


def test_the_run_is_slowed_but_does_not_stand_still(desk, session):
    runner = Runner(session)
    RunPanel(desk.gui, desk.requests, runner, session.home)
    desk.use("Speed [\u00d7]", 0.05)
    assert runner.speed == 0.05
    desk.use("Speed [\u00d7]", 0.0)
    assert runner.speed == 0.01


@pytest.mark.parametrize("other", ["computed_torque", "observer"])
def test_what_was_typed_for_one_controller_is_not_given_to_the_next(desk, session, later, other):
    numbers = GainNumbers(desk.gui, desk.requests, session)
    numbers.refresh()
    desk.use("position_gain [1/s]", 3.0)
    session.configure(controller=other)
    wanted = session.gains
    later("requests", 1.0)
    for _ in range(2):
        numbers.refresh()
    assert not desk.client.said
    assert session.gains == wanted
    for name, value in wanted.items():
        unit = gain_unit(other, name, session.platform)
        label = f"{name} [{unit}]" if unit else name
        assert desk.find(label).value == rounded_gain(value)


def test_the_traced_point_is_chosen(desk, session, later):
    points = []
    trace = SimpleNamespace(follow=points.append)
    view = SimpleNamespace(trace=trace, shown=lambda name: False, show=lambda name, shown: None)
    panel = ViewPanel(desk.gui, desk.requests, session, view)
    desk.use("Trace of", "joint 2")
    desk.use("Trace point [mm]", (10.0, 0.0, 0.0))
    later("requests", 1.0)
    panel.refresh()
    assert_within(points, [session.platform.platform_joints[1], [0.01, 0.0, 0.0]], 1e-9)


def failing(error):
    def work(_):
        raise error

    return work


def test_errors_reach_who_asked_and_nobody_else(desk):
    button, other = desk.gui.add_button("Try"), Client()
    desk.requests.on(button.on_click, failing(InputError("gain", "must be above 0")))
    desk.use("Try")
    assert desk.client.said == ["Not possible: gain: must be above 0"]
    assert not other.said


def test_faults_of_the_program_are_told_and_logged(desk, caplog):
    button = desk.gui.add_button("Try")
    desk.requests.on(button.on_click, failing(ZeroDivisionError("by zero")))
    desk.use("Try")
    assert desk.client.said == ["Error of the program: ZeroDivisionError: by zero"]
    assert "a request of the page failed" in caplog.text


def test_who_has_gone_harms_nobody(desk):
    button = desk.gui.add_button("Try")
    desk.requests.on(button.on_click, failing(InputError("gain", "must be above 0")))
    desk.use("Try", client=Gone())


def test_what_the_page_sets_itself_is_no_order(desk):
    done = []
    box = desk.gui.add_checkbox("Box", False)
    desk.requests.on(box.on_update, done.append)
    box.value = True
    assert not done
    desk.use("Box", False)
    assert len(done) == 1


def test_no_file_of_the_server_is_read(desk, session, tmp_path):
    file = tmp_path / "secret.csv"
    file.write_text("time [s],z [mm]\n0,0\n1,1\n2,0\n")
    MotionPanel(desk.gui, desk.requests, session)
    desk.use("Kind", str(file))
    desk.use("Start motion")
    assert desk.client.said[-1].startswith("Not possible: kind: ")
    assert not session.playing


# Other machines, and set-ups of links.


@pytest.fixture
def moved(session):
    yield session
    session.exchange("stewart")


def test_another_machine_brings_its_own_controls(desk, moved):
    panels = [
        AxisSliders(desk.gui, desk.requests, moved),
        MotionPanel(desk.gui, desk.requests, moved),
        MachinePanel(desk.gui, desk.requests, moved),
    ]
    moved.configure(engine="analytic", gains={"position_gain": 3.0})
    desk.use("Machine", "driving_simulator")
    assert (moved.platform.name, moved.settings.engine) == ("driving_simulator", "analytic")
    assert moved.time == 0.0 and moved.settings.gains == {}
    for panel in panels:
        panel.refresh()
    assert set(desk.find("Axis").options) == {"z", "pitch", "roll"}
    assert desk.find("Configuration").options == ("ideal", *moved.configurations)
    with refused(r"none such.*stewart"):
        moved.exchange("none such")
    assert moved.platform.name == "driving_simulator"


@pytest.fixture
def set_up(desk, session, server):
    """Return the panel of the set-up, those of motion and view whose choices it keeps, a scene."""
    motions = MotionPanel(desk.gui, desk.requests, session)
    scene = SceneView(server.viser, session.platform)
    view = ViewPanel(desk.gui, desk.requests, session, scene)
    kept = [
        RunPanel(desk.gui, desk.requests, Runner(session)),
        PushPanel(desk.gui, desk.requests, session, scene),
        view,
        LiveCharts(server.viser, session.history.charts, desk.gui.add_folder("Charts")),
    ]
    yield SetUpPanel(desk.gui, desk.requests, session, motions, kept), motions, view, scene
    scene.remove()


def test_set_up_is_restored(desk, moved, set_up):
    panel, motions, view, scene = set_up
    moved.configure(engine="analytic", comparison="mujoco", gains={"position_gain": 3.0})
    moved.move_to([0, 0, 12.5, 0, 2.0, 0])
    motions.restore({"motion": "sine", "axis": "x", "amplitude": 7.0, "loop": True})
    chosen = {
        "Speed [\u00d7]": 0.25,
        "Force [N]": (0.0, -300.0, 12.5),
        "For [s]": 0.5,
        "Leg colour": "force",
        "Leg numbers": True,
        "Dark": True,
        "Energy": True,
        "Actuator forces": False,
    }
    usual = {label: desk.find(label).value for label in chosen}
    for label, value in chosen.items():
        desk.use(label, value)
    view.restore(view.chosen | {"trace": (0.0, 0.0, 40.0)})
    panel.refresh()
    text, before = desk.find("Set-up").value, moved.settings
    panel.restore("machine=driving_simulator&z=5&motion=lift&axis=pitch&amplitude=0.5&playing=True")
    assert moved.platform.name == "driving_simulator" and moved.playing
    assert desk.find("Amplitude [deg]").value > 0.0 and not desk.find("Loop").value
    usual["Force [N]"] = (default_force(moved), 0.0, 0.0)
    usual["Dark"] = True  # as it is, unless the text says otherwise
    assert {label: desk.find(label).value for label in chosen} == usual
    assert not scene.shown("leg_numbers")
    panel.restore(text)
    assert {label: desk.find(label).value for label in chosen} == chosen
    assert scene.shown("leg_numbers")
    assert_allclose(scene.trace.point, [0.0, 0.0, 0.04])
    assert (moved.platform.name, moved.settings) == ("stewart", before)
    assert_within(moved.target, [0, 0, 12.5, 0, 2.0, 0], 1e-9)
    assert (desk.find("Axis").value, desk.find("Amplitude [mm]").value) == ("x", 7.0)
    panel.refresh()
    assert desk.find("Set-up").value == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "machine=/etc/passwd",
        "machine=stewart&motion=run.csv",
        "machine=stewart&axis=w",
        "machine=stewart&configuration=none",
        "machine=stewart&gain.none=1",
        "machine=stewart&motion=sine&axis=z&frequency=-1",
        "machine=stewart&colour=green",
        "machine=stewart&layers=walls",
        "machine=stewart&charts=none",
    ],
)
def test_set_up_of_unknown_names_is_refused(desk, session, set_up, text):
    panel, motions, *_ = set_up
    before = motions.chosen
    desk.requests.ask(desk.client, lambda: panel.restore(text))
    assert len(desk.client.said) == 1 and "Not possible" in desk.client.said[0]
    assert motions.chosen == before and session.platform.name == "stewart"


def test_click_pushes_away_from_the_camera(desk, session, server):
    view = SceneView(server.viser, session.platform)
    PushPanel(desk.gui, desk.requests, session, view)
    home = session.platform.home[:3]

    def click(x, y):
        above = {"ray_origin": home + np.array([x, y, 2.0]), "ray_direction": (0.0, 0.0, -2.0)}
        callback = next(iter(view.machine.parts["platform", "platform"]._impl.click_cb))
        callback.callback(SimpleNamespace(client=desk.client, **above))

    click(0.9, 0.1)
    assert session.disturbance is None
    click(0.05, -0.02)
    acting = session.disturbance
    assert acting is not None and view.push.node.visible
    assert_within(acting.force, [0.0, 0.0, -default_force(session)], 1e-9)
    assert_within(acting.point[:2], [0.05, -0.02], 1e-3)
    view.remove()
