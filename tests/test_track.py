"""The command `track`: every controller on the machine it is for, files, and the safe stop."""

from typing import get_args

import numpy as np
import pytest
from console import console
from numpy.testing import assert_allclose, assert_array_equal
from tolerance import assert_within

import twin
from twin.analysis.inertial import read_inertial_log
from twin.analysis.tracking import TrackingErrors
from twin.cli.options import ControllerName
from twin.control import controller_names
from twin.logs import check_log, read_log, signal_units
from twin.simulation.simulate import Trajectory

DAMPING = ("iff", "dvf", "hac_lac")
MACHINES = {name: "micro_hexapod" if name in DAMPING else "stewart" for name in controller_names()}


def test_every_controller_has_a_name():
    assert set(get_args(ControllerName)) == set(controller_names())


@pytest.mark.slow
@pytest.mark.parametrize("name", controller_names())
def test_every_controller_holds_its_machine(name):
    machine = MACHINES[name]
    result = console(f"track {machine} --controller {name} --motion still --duration 0.1")
    assert "position" in result.output


@pytest.mark.slow
def test_motions(subtests, tmp_path):
    for motion in ["sine", "step", "lift", "chirp"]:
        with subtests.test(f"{motion}"):
            out, plot = tmp_path / "run.npz", tmp_path / "run.html"
            console(
                "track stewart --configuration hardware --fidelity fast --duration 0.5 --axis pitch"
                " --motion", motion, "--out", out, "--report", plot,
            )  # fmt: skip
            saved = Trajectory.load(out)
            assert TrackingErrors(saved).time[-1] == pytest.approx(0.499)
            assert plot.read_text().startswith("<!")


def test_a_run_is_written_as_a_log(tmp_path):
    """The signals of the loop, with the commands at the times from which on they are in force."""
    pytest.importorskip("mcap", reason="mcap is not installed")
    line = "track stewart --configuration hardware --duration 0.1 --fidelity fast --out"
    for name in ("run.mcap", "run.npz"):
        console(line, tmp_path / name)
    log, saved = read_log(tmp_path / "run.mcap"), Trajectory.load(tmp_path / "run.npz")
    machine = twin.load("stewart", "hardware")
    units, signals = signal_units(machine), saved.signals
    motion = {"coordinates": saved.lengths, "rates": saved.rates, "forces": saved.forces}
    motion |= {"pose": saved.pose, "twist": saved.twist}
    loop = {name: signals[name] for name in ("setpoint", "measured", "reference_pose")}
    loop |= {"command_rates": signals["command"], "gyroscope": signals["inertial"][:, 3:]}
    for time, table in ((saved.time, motion), (signals["time"], loop)):
        for name, values in table.items():
            assert log[name].units == units[name], name
            assert_array_equal(log[name].values, values)
            assert_within(log[name].time, time, 5e-10)
    assert log.metadata["machine"] == "stewart"
    assert not [each for each in check_log(log, machine) if each.check in ("clock", "unit")]


def write_heave(path, duration):
    """Write a recorded heave that begins and ends at rest."""
    time = np.arange(0, duration + 1e-9, 0.01)
    rows = [f"{t:.3f},{5 * np.sin(2 * np.pi * t / duration) ** 2:.6f}" for t in time]
    path.write_text("time [s],z [mm]\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.slow
def test_recordings_are_followed_to_their_end(tmp_path):
    file, out = write_heave(tmp_path / "run.csv", 5.0), tmp_path / "run.npz"
    console("track srspm --fidelity fast --motion", file, "--out", out)
    assert twin.Trajectory.load(out).time[-1] == pytest.approx(5.0, abs=1e-9)
    short = console("track srspm --duration 0.1 --fidelity fast --motion", file)
    assert "the first 0.1 s of a motion of 5 s (--duration)" in short.output


@pytest.mark.parametrize("command", ["track", "feasible"])
def test_axes_that_a_machine_cannot_move_are_refused(command, tmp_path):
    result = console(command, "driving_simulator", "--motion", "sine", "--axis", "x", code=2)
    assert "must be one of z, roll, pitch" in result.output
    file = write_heave(tmp_path / "run.csv", 0.5)
    file.write_text(file.read_text().replace("z [mm]", "x [mm]"))
    result = console(command, "driving_simulator", "--motion", file, code=2)
    assert "cannot move along x" in result.output


def test_a_safe_stop_ends_with_exit_code_1():
    result = console("track stewart --axis z --amplitude 0.3 --fidelity fast", code=1)
    assert "stopped: " in result.output


def test_what_the_inertial_sensor_told_is_a_log_for_imu(tmp_path):
    file = tmp_path / "run.csv"
    console(
        "track stewart --configuration hardware --fidelity fast --duration 1 "
        "--motion sine --axis pitch --frequency 2 --readings",
        file,
    )  # fmt: skip
    log = read_inertial_log(file)
    assert_allclose(np.diff(log.time), 5e-3, rtol=1e-9)
    assert np.abs(log.angular_rate[:, 1]).max() > 0.02
    assert_allclose(log.specific_force[:, 2].mean(), 9.81, rtol=0.05)


def test_machines_without_an_inertial_sensor_write_no_log(tmp_path):
    result = console("track stewart --duration 0.1 --readings", tmp_path / "run.csv", code=2)
    assert "inertial sensor" in result.stderr
    assert not list(tmp_path.iterdir())


def test_too_much_is_said_before():
    result = console("track stewart --amplitude 0.06 --frequency 1.5 --duration 0.2")
    assert "sine motion of 0.2 s: not feasible" in result.output
    assert "that its actuator gives" in result.output
