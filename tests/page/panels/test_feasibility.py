"""Verdicts on the page: they follow the described motion and the setpoint."""

from time import monotonic, sleep

import pytest

pytest.importorskip("viser")

from twin.page.panels.motion import MotionPanel
from twin.page.panels.state import FeasibilityPanel, verdict_line
from twin.page.requests import Requests
from twin.page.server.page_server import PageServer
from twin.simulation.live.machine_session import MachineSession

pytestmark = pytest.mark.quick


STEP = 0.2
"""[s] that the machine advances between two refreshes."""


@pytest.fixture
def gui():
    with PageServer(port=0) as server:
        yield server.viser.gui


@pytest.mark.seconds
def test_verdicts_follow_the_controls(gui):
    session = MachineSession("stewart")
    motions = MotionPanel(gui, Requests(lambda function: function()), session)
    panel = FeasibilityPanel(gui, session, motions)

    def shown(words):
        until = monotonic() + 60.0
        while words not in panel.text.content and monotonic() < until:
            panel.refresh()
            sleep(0.01)
        return words in panel.text.content

    assert shown("Motion: ")
    assert shown("Rest at the setpoint: ")
    assert "not feasible" not in panel.text.content
    assert all(margin is not None and margin.holds for margin in panel.closest.values())
    motions.amplitude.value = 400.0
    assert shown("not feasible")
    assert "speed" in panel.text.content
    motion, rest = panel.closest["motion"], panel.closest["at rest"]
    assert motion is not None and rest is not None and rest.holds and not motion.holds
    session.close()


def test_a_motion_is_judged_while_it_is_played(gui):
    session = MachineSession("stewart")
    motions = MotionPanel(gui, Requests(lambda function: function()), session)
    panel = FeasibilityPanel(gui, session, motions)
    motions.play()
    assert session.playing
    until = monotonic() + 60.0
    while panel.closest["motion"] is None and monotonic() < until:
        if session.time < 8.0:
            session.advance(STEP)
        panel.refresh()
        sleep(0.02)
    assert panel.closest["motion"] is not None and panel.closest["at rest"] is None
    assert session.playing and "Rest" not in panel.text.content
    session.close()


def test_a_line_names_three_of_many_limits(stewart):
    from twin.motion import SineMotion

    motion = SineMotion(stewart.home, amplitude={"z": 2.0}, frequency=9.0, duration=1.0)
    found = stewart.feasibility(motion)
    assert len(found.violated) > 3
    text = verdict_line("A & B", found)
    assert text.startswith("A &amp; B: <b")
    assert f"and {len(found.violated) - 3} more" in text
