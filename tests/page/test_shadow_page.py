"""The page of a shadow: its process, its pictures, and the pose that is drawn as the machine's."""

from __future__ import annotations

import time
from urllib.request import urlopen

import numpy as np
import pytest

from twin.link.protocol import Sample
from twin.link.transport.arrivals import Counts
from twin.page.server.page_server import PageServer
from twin.page.shadow_page import Picture, ShadowPage, ShadowWindow, measured_pose
from twin.platform import load
from twin.rotations import displacement
from twin.shadow.alarm import Alarm
from twin.shadow.derive import NEVER
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import Shadow

pytestmark = pytest.mark.quick

PATIENCE = 60.0
"""[s]"""


class Nothing:
    """A source without samples."""

    counts, ended = Counts(), True

    def receive(self, timeout: float) -> None:
        """Return nothing."""

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.slow
def test_a_page_in_its_own_process() -> None:
    """It is served, asks for a picture, and ends with the loop; nothing waits for it."""
    stewart = load("stewart", "hardware")
    session = ShadowSession(Shadow(stewart, thresholds=NEVER), Nothing())
    home = stewart.home_coordinates
    state = session.take(Sample("measurement", 1e-3, {"coordinates": home}, 1))
    lost = home + 1e-4 * np.eye(6)[0]
    measured = measured_pose(stewart, Sample("measurement", 1e-3, {"coordinates": lost}), state)
    apart = stewart.inverse_kinematics(measured) - stewart.inverse_kinematics(state.pose)
    assert apart == pytest.approx(lost - state.coordinates, abs=1e-7)

    window = ShadowWindow(stewart, 0, browser=False)
    process = window._process
    try:
        with urlopen(window.url) as page:
            assert page.status == 200
        until = time.monotonic() + PATIENCE
        while not window._connection.poll() and time.monotonic() < until:
            time.sleep(0.01)
        window.offer(session)
        assert not window._connection.poll()  # it has been answered
        while not window._connection.poll() and time.monotonic() < until:
            time.sleep(0.01)
        assert process.is_alive()  # it has drawn the picture, and asks for the next one
    finally:
        window.close()
    assert not process.is_alive()
    window.offer(session)  # a page that is gone changes nothing


def test_pictures_have_numbers_and_alarms() -> None:
    """The difference in micrometres and the newest alarm first."""
    stewart = load("stewart", "hardware")
    shadow = Shadow(stewart, thresholds=NEVER)
    state = shadow.update(Sample("measurement", 1e-3, {"coordinates": stewart.home_coordinates}, 1))
    measured = state.pose + np.eye(7)[2] * 321e-6
    alarms = (Alarm(1.0, "counts", 4, 25.0, "counts"), Alarm(2.0, "payload", None, 9.0, "kg"))
    with PageServer(port=0) as server:
        page = ShadowPage(server.viser, stewart)
        page.show(Picture(state, measured, alarms, 3))
        assert "321 \u00b5m" in page._difference.content
        text = page._alarms.content
        assert 0 < text.index("payload, machine, 9 kg") < text.index("counts, leg 4, 25 counts")
        assert displacement(measured, state.pose)[2] == pytest.approx(321e-6)
