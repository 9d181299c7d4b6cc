"""The command: tables, files that load, and refused options."""

import numpy as np
import pytest
from tolerance import assert_within
from typer.testing import CliRunner

import twin
from twin import cli
from twin.calibration import LegErrors, calibrate, poses_within, read_poses, simulated
from twin.calibration.calibration import machine_text
from twin.calibration.report import error_rows
from twin.charts.results import cell_text
from twin.logs import Channel, Log, LogMapping, read_log, write_log
from twin.rotations import displacement

pytestmark = pytest.mark.quick


def run(*arguments):
    """Run the console command in this process."""
    return CliRunner().invoke(cli.app, ["calibrate", *map(str, arguments)])


def written(name, path):
    """Return a machine and its errors, whose measured poses are written."""
    machine = twin.load(name)
    legs = LegErrors(machine)
    errors = 2e-4 * legs.scales * np.random.default_rng(2).normal(size=legs.shape)
    poses = simulated(machine, poses_within(machine, 40, 1), errors, seed=1)
    units = (machine.coordinate_unit,) * machine.n_actuators
    channels = [Channel("coordinates", poses.numbers, poses.coordinates, units)]
    names = zip(("x", "y", "z", "yaw", "pitch", "roll"), poses.values.T, strict=True)
    channels += [
        Channel(part, poses.numbers, values, "m" if part in "xyz" else "rad")
        for part, values in names
    ]
    write_log(Log(tuple(channels)), path)
    return machine, errors


def joint_error(found):
    """Return the first error of the first leg with its standard error, as it is shown."""
    return f"{1e6 * found.errors[0, 0]:.0f} +- {1e6 * found.standard_errors[0, 0]:.0f}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart", "rss"])
def test_files_of_a_calibrated_machine(name, tmp_path):
    machine, errors = written(name, tmp_path / "poses.csv")
    out, offsets = tmp_path / "new.toml", tmp_path / "offsets.toml"
    words = (name, tmp_path / "poses.csv", "--frames", "known", "--tolerance", "0.2 mm")
    report = tmp_path / "calibrate.html"
    result = run(*words, "--out", out, "--offsets", offsets, "--report", report)
    assert result.exit_code == 0, result.output
    assert "position, after" in result.output
    found = calibrate(
        machine, read_poses(tmp_path / "poses.csv", machine), frames="known", tolerance=2e-4
    )
    page = report.read_text()
    shown = (cell_text(error_rows(found)[1][1]), joint_error(found))
    for text in shown:
        assert text in result.output
        assert f">{text}</td>" in page
    assert "default-src 'none'" in page
    made = twin.load(out)
    other = simulated(machine, poses_within(machine, 20, 3), errors)
    coordinates = other.coordinates
    if machine.coordinate_unit == "m":
        coordinates = coordinates + found.errors[:, -1]
    poses = made.forward_kinematics(coordinates)
    off = np.linalg.norm(displacement(poses, other.poses)[:, :3], axis=1)
    assert_within(off, found.errors_of(other)[1].position, 2e-8)
    rules = LogMapping.read(offsets)
    log = Log(
        tuple(
            Channel(f"coordinates {leg + 1}", other.numbers, column, machine.coordinate_unit)
            for leg, column in enumerate(other.coordinates.T)
        )
    )
    mapped = rules.apply(log, machine)["coordinates"].values
    assert_within(mapped, other.coordinates + found.errors[:, -1], 1e-9)


@pytest.mark.slow
def test_plan(tmp_path):
    out = tmp_path / "plan.csv"
    result = run("micro_hexapod", "--plan", 12, "--measured", "x,y,z", "--out", out)
    assert result.exit_code == 0, result.output
    assert "as many random poses" in result.output
    assert len(read_log(out)["coordinates"]) == 12


@pytest.mark.seconds
def test_refused(subtests, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("stewart", "poses.csv")
    for words, message in [
        ((), "--plan"),
        (("poses.csv", "--plan", 5), "--plan"),
        (("nosuch.csv",), "does not exist"),
        (("--plan", 5, "--out", "plan.toml"), "out"),
        (("--plan", 5, "--offsets", "a.toml"), "offsets"),
        (("--plan", 5, "--report", "a.html"), "report"),
        (("poses.csv", "--visits", "a.csv"), "visits"),
        (("poses.csv", "--tolerance", "2 deg"), "tolerance"),
    ]:
        with subtests.test(f"{words}"):
            result = run("stewart", *words)
            assert result.exit_code == 2
            assert message in result.output


def test_base_of_a_file_is_found_from_the_new_one(stewart, tmp_path):
    poses = simulated(stewart, poses_within(stewart, 12, 1))
    found = calibrate(stewart, poses, frames="known", tolerance=1e-4)
    text = machine_text(found, str(tmp_path / "old" / "mine.toml"), "measured", tmp_path / "a.toml")
    assert text.startswith('extends = "old/mine.toml"')
