"""The command `imu`: table, figures, compensated motion, JSON."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from console import console
from resonant import STEP, followed, logged, wanted

from twin.analysis.inertial import (
    channel_of_axis,
    compare_log,
    compensate,
    read_inertial_log,
    response_figure,
    write_inertial_log,
)
from twin.analysis.platform import load
from twin.basics.text_table import csv_text
from twin.cli import logs as command
from twin.cli.application import app
from twin.motion import read_recording


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imu")
    motion = wanted(6.0)
    time = np.arange(int(6.0 / STEP) + 1) * STEP
    pitch = motion.axes(time).values[:, 4]
    (folder / "motion.csv").write_text(csv_text(["time [s]", "pitch [rad]"], [time, pitch]))
    log = logged(followed(motion))
    write_inertial_log(log, folder / "log.csv")
    rows = np.column_stack([np.arange(len(log.time)), log.specific_force, log.angular_rate])
    np.savetxt(folder / "imuData.txt", rows)
    return folder


def test_everything_it_writes(files):
    pytest.importorskip("plotly")
    assert isinstance(app, typer.Typer)
    assert command.imu
    names = ("log.csv", "motion.csv", "out.html", "out.csv", "out.json")
    log, motion, page, changed, numbers = (str(files / name) for name in names)
    options = ("--report", page, "--compensated", changed, "--json", numbers)
    result = console(
        *("imu", "stewart", log, "--motion", motion, "--configuration", "hardware"), *options
    )
    assert "wy: rms reference" in result.output
    content = json.loads(Path(numbers).read_text())
    wy = content["channels"]["wy"]
    near = int(np.abs(np.array(wy["frequency"]) - 70.0).argmin())
    assert 20.0 * np.log10(wy["amplification"][near]) == pytest.approx(4.3, abs=0.5)
    assert "compensation" in content
    assert "plotly" in Path(page).read_text()
    assert read_recording(changed, [0, 0, 0.9]).duration == pytest.approx(6.0)


def test_layout_of_the_thesis(files):
    motion = str(files / "motion.csv")
    arguments = ["imu", "stewart", str(files / "imuData.txt"), "--motion", motion]
    units = ["--layout", "thesis", "--force-unit", "m/s2", "--rate-unit", "rad/s"]
    result = console(*arguments, *units)
    assert "wy: rms reference" in result.output


def test_a_channel_shows_the_change_of_its_own_axis(files):
    pytest.importorskip("plotly")
    platform = load("stewart", "hardware")
    motion = read_recording(files / "motion.csv", platform.home)
    sensor = platform.parameters.imu
    assert sensor is not None
    found = compare_log(platform, motion, read_inertial_log(files / "log.csv"), sensor)
    change = compensate(motion, found)
    for channel in found.responses:
        names = {line.name for line in response_figure(found, channel, change).data}
        told = {name for name in names if name.startswith("change of ")}
        moved = "pitch" in change.gains and channel == channel_of_axis("pitch", sensor)
        assert told == ({"change of pitch"} if moved else set())
