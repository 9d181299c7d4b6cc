"""The command `imu`: table, figures, compensated motion, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from resonant import STEP, followed, logged, wanted
from typer.testing import CliRunner

from twin.analysis.inertial.log_file import table_text, write_inertial_log
from twin.cli import imu as command
from twin.cli.application import app
from twin.motion import read_recording


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imu")
    motion = wanted(6.0)
    time = np.arange(int(6.0 / STEP) + 1) * STEP
    pitch = motion.axes(time).values[:, 4]
    (folder / "motion.csv").write_text(table_text(["time [s]", "pitch [rad]"], [time, pitch]))
    log = logged(followed(motion))
    write_inertial_log(log, folder / "log.csv")
    rows = np.column_stack([np.arange(len(log.time)), log.specific_force, log.angular_rate])
    np.savetxt(folder / "imuData.txt", rows)
    return folder


def test_everything_it_writes(files: Path) -> None:
    pytest.importorskip("plotly")
    assert isinstance(app, typer.Typer)
    assert command.imu
    names = ("log.csv", "motion.csv", "out.html", "out.csv", "out.json")
    log, motion, page, changed, numbers = (str(files / name) for name in names)
    result = CliRunner().invoke(
        app,
        [
            *("imu", log, "--machine", "stewart", "--motion", motion, "--bandwidth", "75"),
            *("--plot", page, "--compensated", changed, "--json", numbers),
        ],
    )
    assert result.exit_code == 0, result.output
    assert "wy: rms demanded" in result.output
    content = json.loads(Path(numbers).read_text())
    wy = content["channels"]["wy"]
    near = int(np.abs(np.array(wy["frequency"]) - 70.0).argmin())
    assert 20.0 * np.log10(wy["amplification"][near]) == pytest.approx(4.3, abs=0.5)
    assert "compensation" in content
    assert "plotly" in Path(page).read_text()
    assert read_recording(changed, [0, 0, 0.9]).duration == pytest.approx(6.0)


def test_layout_of_the_thesis(files: Path) -> None:
    motion = str(files / "motion.csv")
    arguments = ["imu", str(files / "imuData.txt"), "--machine", "stewart", "--motion", motion]
    units = ["--layout", "thesis", "--force-unit", "m/s2", "--rate-unit", "rad/s"]
    result = CliRunner().invoke(app, [*arguments, *units])
    assert result.exit_code == 0, result.output
    assert "wy: rms demanded" in result.output


def test_faults_end_in_one_line(files: Path) -> None:
    motion = str(files / "motion.csv")
    for log in ("motion.csv", "none.csv"):
        arguments = ["imu", str(files / log), "--machine", "stewart", "--motion", motion]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert "twin: " in result.stderr
