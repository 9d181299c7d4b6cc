"""The command beside other programs: emulated machine and controller by UDP, a server of OPC UA."""

import socket
from itertools import count

import numpy as np
import pytest
from opcua_server import OpcUaServer
from started import PATIENCE, free_port, started
from tolerance import assert_within, max_abs
from typer.testing import CliRunner

from twin.cli import app
from twin.link.emulated import parse_fault
from twin.link.protocol import Sample
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.shadow.detectors import ALARM_KINDS
from twin.shadow.rehearsal import work, working_motion
from twin.shadow.thresholds import Thresholds, write_thresholds

pytestmark = pytest.mark.slow

LIMITS = Thresholds(friction=25.0, backlash=2e-5, payload=6.0, force=30.0, motor=0.1, jump=6.0)
LOCAL = Address("127.0.0.1", 0)
BEGUN = 1.7e9
"""[s] Time of a machine's clock that began in 1970, at its start."""

LOST = ALARM_KINDS.index("counts")


def next_of(link):
    """Return the next sample."""
    sample = link.receive(PATIENCE)
    assert sample is not None, "nothing came"
    return sample


def alarms_in(path):
    """Return the rows of a table of alarms, without the time of the day."""
    return [row.split(",")[:-1] for row in path.read_text().splitlines()[1:]]


def test_machine_controller_and_shadow_are_three_processes(stewart, tmp_path):
    """Step by step: the next command goes out when machine and shadow have replied.

    The shadow knows neither the machine's mass nor its fault. The machine's log shows it the same.
    """
    fault, end = 2.7, 2.9
    limits = write_thresholds(LIMITS, tmp_path / "limits.toml")
    alarms, again, log = (tmp_path / name for name in ("alarms.csv", "again.csv", "run.csv"))
    port = free_port(socket.SOCK_DGRAM)
    measured, estimated = UdpLink(LOCAL, 6, "measurement"), UdpLink(LOCAL, 6, "estimate")
    watching = ["shadow", "stewart", "--thresholds", limits, "--learning", 1.5]
    to = [
        "--telemetry",
        f"udp://{estimated.address}",
        "--alarms",
        alarms,
        "--duration",
        end - 0.0015,
    ]
    playing = ["emulate", "stewart", "--configuration", "hardware", "--lockstep"]
    playing += ["--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{port}", "--duration", end]
    playing += ["--values", "platform.body.mass=99 kg", "--noise", "forces=5"]
    playing += ["--noise", "pose=2e-5", "--noise", "attitude=5e-5", "--log", log]
    playing += ["--fault", f"counts@{fault}s:leg=4,counts=30"]
    motion = working_motion(stewart, end, 1)
    with (
        started(*watching, "--source", f"udp://127.0.0.1:{port}", *to) as shadow,
        started(*playing) as machine,
    ):
        shadow.wait_for("(waiting for samples)")
        address = Address("127.0.0.1", int(machine.wait_for(r"udp://127\.0\.0\.1:(\d+)")))
        found = []
        for step in range(round(1000 * end)):
            setpoint, rates = motion.coordinates[step], motion.rates[step]
            values = {"setpoint": setpoint, "command_rates": rates}
            measured.send(Sample("command", 1e-3 * step, values, step + 1), address)
            assert next_of(measured).acknowledged == step + 1
            found.append(next_of(estimated))
        assert machine.wait_end() == 0, machine.output
        assert shadow.wait_end() == 1, shadow.output
    for link in (measured, estimated):
        link.close()
    assert "missed 0, late 0" in shadow.output
    active = np.array([each.values["alarms"] for each in found])
    times = np.array([each.time for each in found])
    assert not active[times < fault].any()
    assert active[-1, LOST] == active[-1].sum() == 1.0
    [[time, kind, leg, size, unit, *_]] = alarms_in(alarms)
    assert (kind, leg, unit) == ("counts", "4", "counts")
    assert fault < float(time) < fault + 0.1
    assert_within(float(size), 30.0, 3.0)
    replayed = [*watching, "--source", f"replay:{log}", "--alarms", again]
    assert CliRunner().invoke(app, [str(each) for each in replayed]).exit_code == 1
    assert alarms_in(again) == alarms_in(alarms)


def test_samples_by_opc_ua(stewart, tmp_path):
    """At 200 Hz from the nodes of a server, which writes the next one after the estimate."""
    fault, end = 1.5, 1.7
    limits, alarms = write_thresholds(LIMITS, tmp_path / "limits.toml"), tmp_path / "alarms.csv"
    estimated = UdpLink(LOCAL, 6, "estimate")
    faults = [parse_fault(f"counts@{fault}s:leg=4,counts=60")]
    samples = list(work(stewart, working_motion(stewart, end, 1), faults=faults))[4::5]
    options = ["--rate", 200, "--learning", 0.3, "--thresholds", limits, "--alarms", alarms]
    options += ["--telemetry", f"udp://{estimated.address}", "--duration", end - 0.0075]
    with OpcUaServer(dict.fromkeys(("coordinates", "command_rates"), [0.0] * 6)) as server:
        server.write(samples[0], BEGUN)
        source = f"opcua://127.0.0.1:{server.port}"
        with started("shadow", "stewart", "--source", source, *options) as shadow:
            found = [next_of(estimated)]
            for sample in samples[1:]:
                server.write(sample, BEGUN)
                found.append(next_of(estimated))
            assert shadow.wait_end() == 1, shadow.output
    estimated.close()
    assert f"samples: {len(samples)}, missed 0, late 0" in shadow.output
    before = [k for k, each in enumerate(samples) if each.time < fault]
    errors = [found[k].values["coordinates"] - samples[k].values["coordinates"] for k in before]
    assert max_abs(errors[len(errors) // 2 :]) < 2e-5
    [[time, kind, leg, *_]] = alarms_in(alarms)
    assert (kind, leg) == ("counts", "4")
    assert 0.0 < float(time) - BEGUN - fault < 0.1


def test_a_wrong_sender_is_named_while_the_shadow_waits(tmp_path):
    """By its kind of message; a sample that lacks something is named, too."""
    limits = write_thresholds(LIMITS, tmp_path / "limits.toml")
    address = Address("127.0.0.1", free_port(socket.SOCK_DGRAM))
    wrong, right = UdpLink(LOCAL, 6, "measurement"), UdpLink(LOCAL, 6, "command")
    reasons = ("commands in place of", "samples without coordinates")
    watching = ["shadow", "stewart", "--thresholds", limits, "--source", f"udp://{address}"]
    with started(*watching) as shadow:
        shadow.wait_for("(waiting for samples)")
        for number in count(1):
            wrong.send(Sample("command", 0.0, {"setpoint": np.ones(6)}, number), address)
            right.send(Sample("measurement", 0.0, {"rates": np.ones(6)}, number), address)
            if shadow.has_ended(within=0.05) or all(each in shadow.output for each in reasons):
                break
        assert all(each in shadow.output for each in reasons), shadow.output
    wrong.close()
    right.close()
