"""The page of a shadow: its process, its pictures, and the pose that is drawn as the machine's."""

import socket
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from started import free_port, started
from tolerance import assert_within

from twin.analysis.platform import load
from twin.link.emulated import parse_fault
from twin.link.protocol import Sample
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.page.server.page_server import PageServer
from twin.page.shadow_page import ShadowFrame, ShadowPage, measured_pose
from twin.rotations import displacement
from twin.shadow.detectors import Alarm
from twin.shadow.rehearsal import work, working_motion
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS, write_thresholds

pytestmark = pytest.mark.quick

PATIENCE = 60.0
"""[s]"""


def test_the_measured_pose_has_the_measured_coordinates():
    stewart = load("stewart", "hardware")
    home = stewart.home_coordinates
    shadow = Shadow(stewart, thresholds=INFINITE_THRESHOLDS)
    state = shadow.update(Sample("measurement", 1e-3, {"coordinates": home}, 1))
    lost = home + 1e-4 * np.eye(6)[0]
    measured = measured_pose(stewart, Sample("measurement", 1e-3, {"coordinates": lost}), state)
    apart = stewart.inverse_kinematics(measured) - stewart.inverse_kinematics(state.pose)
    assert_within(apart, lost - state.coordinates, 1e-7)


@pytest.mark.seconds
def test_pictures_have_numbers_and_alarms():
    """The difference in micrometres and the newest alarm first."""
    stewart = load("stewart", "hardware")
    shadow = Shadow(stewart, thresholds=INFINITE_THRESHOLDS)
    state = shadow.update(Sample("measurement", 1e-3, {"coordinates": stewart.home_coordinates}, 1))
    measured = state.pose + np.eye(7)[2] * 321e-6
    alarms = (Alarm(1.0, "counts", 4, 25.0, "counts"), Alarm(2.0, "payload", None, 9.0, "kg"))
    with PageServer(port=0) as server:
        page = ShadowPage(server.viser, stewart)
        page.show(ShadowFrame(state, measured, alarms, 3))
        assert "321 \u00b5m" in page.difference.content
        text = page.alarms.content
        assert 0 < text.index("payload, machine, 9 kg") < text.index("counts, leg 4, 25 counts")
        assert displacement(measured, state.pose)[2] == pytest.approx(321e-6)


@pytest.mark.slow
def test_the_command_shows_its_alarm_in_a_browser(visit, tmp_path):
    """The page stays while no samples come, and goes with the command."""
    stewart = load("stewart", "hardware")
    limits = write_thresholds(INFINITE_THRESHOLDS._replace(jump=6.0), tmp_path / "limits.toml")
    faults = [parse_fault("counts@1.5s:leg=4,counts=60")]
    samples = list(work(stewart, working_motion(stewart, 1.7, 1), faults=faults))[4::5]
    port, local = free_port(socket.SOCK_DGRAM), Address("127.0.0.1", 0)
    machine, estimated = UdpLink(local, 6, "command"), UdpLink(local, 6, "estimate")
    options = ["--source", f"udp://127.0.0.1:{port}", "--rate", "0.2 kHz", "--learning", "300 ms"]
    options += ["--thresholds", limits, "--telemetry", f"udp://{estimated.address}"]
    options += ["--duration", samples[-2].time - 0.001, "--page", "--port", 0, "--no-browser"]
    with started("shadow", "stewart", *options) as command:
        command.wait_for("(waiting for samples)")
        machine.send(samples[0], Address("127.0.0.1", port))
        url = command.wait_for(r"page: (\S+)")
        assert estimated.receive(PATIENCE) is not None
        for sample in samples[1:-1]:
            machine.send(sample, Address("127.0.0.1", port))
            assert estimated.receive(PATIENCE) is not None
        person = visit(url)
        person.has_text("counts, leg 4")
        person.has_text("watching; 0 samples missed")
        person.close()
        machine.send(samples[-1], Address("127.0.0.1", port))
        assert command.wait_end() == 1
    with pytest.raises(URLError):
        urlopen(url)
    machine.close()
    estimated.close()
