"""The command `cue`: what it prints, what it writes, how it refuses."""

from typing import get_args

import numpy as np
import pytest
from typer.testing import CliRunner

import twin
import twin.cli.cue
from twin.cli.application import app
from twin.motion import read_recording

RUN = CliRunner()


def test_a_recorded_manoeuvre_becomes_a_motion_and_a_figure(tmp_path, stewart):
    pytest.importorskip("plotly")
    manoeuvre, out, plot = (
        tmp_path / name for name in ("manoeuvre.csv", "motion.csv", "figure.html")
    )
    time = np.arange(0.0, 1.6, 0.02)
    rows = [f"{t:.3f},{-2.0 * np.sin(2.0 * t):.6f},0,9.81" for t in time]
    manoeuvre.write_text("time [s],fx [m/s2],fy [m/s2],fz [m/s2]\n" + "\n".join(rows))
    arguments = [
        "cue",
        "stewart",
        "--algorithm",
        "classical",
        "--compare-all",
        "--input",
        str(manoeuvre),
    ]
    result = RUN.invoke(app, [*arguments, "--out", str(out), "--report", str(plot)])
    assert result.exit_code == 0, result.output
    for word in ("classical", "adaptive", "predictive", "at rest", "surge", "ms a step"):
        assert word in result.output
    motion = read_recording(out, stewart.home)
    assert motion.duration == pytest.approx(1.58)
    assert stewart.within_limits(motion.sample(time[:-2]).pose).all()
    text = plot.read_text()
    assert "perceived surge [m\\u002fs\\u00b2]" in text
    assert "share of actuator speed" in text


def test_wrong_use_ends_in_one_line(subtests):
    for arguments, message in [
        (
            ["stewart", "--manoeuvre", "slalom", "--input", "a.csv"],
            "takes the place of --manoeuvre",
        ),
        (["stewart", "--manoeuvre", "slalom", "--head", "1,2"], "head"),
        (["stewart", "--manoeuvre", "slalom", "--out", "motion.txt"], "out: must end in .csv"),
    ]:
        with subtests.test(f"{arguments}"):
            result = RUN.invoke(app, ["cue", *arguments])
            assert result.exit_code == 2
            assert message in result.output
            assert "Traceback" not in result.output


def test_names_on_the_command_line_are_those_of_the_package():
    from twin.motion.cueing import ALGORITHMS, MANOEUVRES

    assert list(get_args(twin.cli.cue.AlgorithmName)) == list(ALGORITHMS)
    told = RUN.invoke(app, ["cue", "stewart", "--manoeuvre", "turn.csv"]).output
    assert all(name in told for name in MANOEUVRES)
    assert "--input takes a file" in " ".join(told.split())
