"""Emulation on a link: step by step with controllers, and in real time on a false clock."""

import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from package_walk import ROOT
from tolerance import assert_within
from typer.testing import CliRunner

import twin
from twin import cli
from twin.link.emulated import EmulatedMachine, parse_fault
from twin.link.emulation import Emulation, Pace
from twin.link.protocol import Sample
from twin.link.recording import Recording
from twin.link.transport import UdpLink, open_source, samples
from twin.link.transport.address import Address
from twin.logs import read_log
from twin.logs.recorder import LogRecorder

pytestmark = pytest.mark.quick

LOCAL = Address("127.0.0.1", 0)
WAIT = 60.0
"""[s] Longest wait for another program."""

CONTROLLERS = ROOT / "examples" / "link"


class FalseClock:
    """A clock that only sleep and work move on."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def read(self):
        """Return the time [s]; reading it takes 1 us."""
        self.now += 1e-6
        return self.now

    def sleep(self, seconds):
        """Pass some time."""
        self.slept.append(seconds)
        self.now += seconds


def test_the_pace_counts_what_is_late_and_catches_up():
    clock = FalseClock()
    pace = Pace(1e-3, clock.read, clock.sleep)
    begun = clock.now
    for k in range(100):
        clock.now += 3.5e-3 if k == 50 else 3e-4
        pace.wait()
    assert pace.periods == 101
    assert pace.missed == 4
    assert_within(pace.worst, 2.5e-3, 2e-5)
    assert_within(clock.now - begun, 0.1, 5e-6)
    assert_within(max(clock.slept), 5e-4, 5e-6)
    assert pace.delay(0.9) < 5e-6
    clock.now += 5.0
    pace.wait()
    pace.wait()
    assert pace.missed == 5


def false_pace():
    """Return the pace of a period on a false clock."""
    clock = FalseClock()
    return Pace(1e-3, clock.read, clock.sleep)


@pytest.mark.slow
def test_measurements_go_out_before_commands_come_in():
    machine = EmulatedMachine(twin.load("stewart"))
    link, source = UdpLink(LOCAL, 6, "command"), UdpLink(LOCAL, 6, "measurement")
    recording = Recording(machine.platform, machine.period)
    emulation = Emulation(machine, link, receivers=[source.address], recording=recording)
    emulation.pace = false_pace()
    source.send(Sample("command", 0.0, {"command_rates": np.full(6, 0.01)}, 7), link.address)
    emulation.run(0.02)
    found = list(samples(source, 0.5))
    assert [each.sequence for each in found] == list(range(1, 22))
    assert [each.acknowledged for each in found] == [0] + [7] * 20
    assert_within([each.time for each in found], 1e-3 * np.arange(21), 1e-12)
    assert found[-1].values["coordinates"][0] > found[0].values["coordinates"][0]
    logged = recording.log()
    rows = [each.values["coordinates"] for each in found]
    assert_array_equal(logged["coordinates"].values, rows)
    for each in (link, source):
        each.close()


@pytest.mark.slow
def test_measurements_are_dropped_and_late_where_the_link_is_bad():
    faults = [
        parse_fault(text) for text in ("drop@0.1:fraction=0.3,for=0.2", "delay@0.5:fraction=1")
    ]
    machine = EmulatedMachine(twin.load("stewart"), faults=faults)
    link, source = UdpLink(LOCAL, 6, "command"), UdpLink(LOCAL, 6, "measurement")
    emulation = Emulation(machine, link, receivers=[source.address])
    emulation.pace = false_pace()
    emulation.run(0.6)
    count = len(list(samples(source, 0.5)))
    assert_within(source.counts.lost, 60, 25)
    assert count == 601 - 20 - source.counts.lost
    for each in (link, source):
        each.close()


@pytest.mark.slow
def test_a_short_delay_overtakes_a_long_one():
    faults = [
        parse_fault("delay@0:fraction=1,time=0.2,for=0.05"),
        parse_fault("delay@0.05:fraction=1,time=0.01"),
    ]
    machine = EmulatedMachine(twin.load("stewart"), faults=faults)
    link, source = UdpLink(LOCAL, 6, "command"), UdpLink(LOCAL, 6, "measurement")
    emulation = Emulation(machine, link, receivers=[source.address])
    emulation.pace = false_pace()
    emulation.run(0.3)
    first = next(iter(samples(source, 0.5)))
    assert first.time == pytest.approx(0.05, abs=1.5e-3)
    for each in (link, source):
        each.close()


def controlled(hardware, start):
    """Return what a controller prints, and the machine that it moved for 0.3 s step by step."""
    machine = EmulatedMachine(hardware)
    link = UdpLink(LOCAL, 6, "command")
    over = threading.Event()
    player = threading.Thread(
        target=Emulation(machine, link).run_in_steps, kwargs={"ended": over.is_set}, daemon=True
    )
    player.start()
    command = start(link.address.port)
    result = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=True)
    over.set()
    player.join(WAIT)
    link.close()
    return result.stdout, machine, link


def check_sine(printed, machine, link):
    """Check that all commands came, and that the legs are near the sine at its end."""
    assert "301 commands" in printed
    assert link.counts.received == 301
    assert link.counts.malformed == link.counts.doubled == link.counts.lost == 0
    home = machine.platform.home_coordinates
    end = home + 0.01 * np.sin(np.pi * 0.3)
    assert_within(machine.state.lengths, end, 5e-4)
    assert float(printed.split("error ")[1].split(" mm")[0]) < 1.0


def test_the_controller_in_python_follows_a_sine(hardware):
    command = [sys.executable, str(CONTROLLERS / "controller.py"), "127.0.0.1"]
    check_sine(*controlled(hardware, lambda port: [*command, str(port), "0.3"]))


def test_the_controller_in_c_follows_a_sine(hardware, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler of C")
    program = str(tmp_path / "controller")
    source = str(CONTROLLERS / "controller.c")
    strict = ["-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *strict, source, "-o", program, "-lm"], check=True, timeout=WAIT)
    check_sine(*controlled(hardware, lambda port: [program, str(port), "0.3"]))


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(cli.app, ["emulate", *map(str, arguments)])


@pytest.mark.seconds
def test_the_command_plays_and_writes_a_log(hardware, tmp_path):
    hidden = tmp_path / "hidden.toml"
    hidden.write_text('platform.body.mass = 150\nleg.2.drive.backlash = "0.3 mm"\n')
    log = tmp_path / "run.csv"
    options = ["--listen", "127.0.0.1:0", "--duration", "50 ms", "--log", log]
    options += ["--values", hidden, "--values", "gravity=9.8", "--noise", "forces=1"]
    result = run("stewart", "--configuration", "hardware", "--fault", "friction@20 ms", *options)
    assert result.exit_code == 0, result.output
    assert "missed deadlines" in result.output
    assert "commands: nothing received" in result.output
    read = read_log(log)
    assert len(read["coordinates"]) == 51
    held = hardware.with_(parameters={"platform.body.mass": 150.0, "gravity": 9.8})
    expected = held.inverse_dynamics(hardware.home, np.zeros(6), np.zeros(6))
    assert_within(read["motor_forces"].values[0], expected, 5.0)
    replayed = open_source(f"replay:{log}", hardware)
    assert len(list(samples(replayed, 1.0))) == 51


def test_measurements_go_only_where_the_user_allows():
    options = ["--listen", "127.0.0.1:0", "--duration", "1 ms", "--to", "198.51.100.7:5005"]
    for allowed in ([], ["--allow-remote", "192.0.2.1"]):
        result = run("stewart", *options, *allowed)
        assert result.exit_code == 2 and "198.51.100.7" in result.output


def test_a_run_is_recorded_block_by_block_as_it_is_at_once(tmp_path):
    """Commands lie a period before their samples, also where a block begins."""
    machine = EmulatedMachine(twin.load("stewart"))
    whole = Recording(machine.platform, machine.period)
    recorder = LogRecorder(tmp_path / "run.csv", {})
    parts = Recording(machine.platform, machine.period, recorder)
    for k in range(250):
        sample = machine.step()
        for each in (whole, parts):
            each.add(sample)
        if k == 130:
            parts.flush()
    machine.close()
    written = parts.finish()
    found, wanted = read_log(written), whole.log()
    assert found.names == wanted.names
    for name in wanted.names:
        assert_array_equal(found[name].time, wanted[name].time)
        assert_array_equal(found[name].values, wanted[name].values)
