"""The console command: answers, files, exit codes, and one clear line for every error."""

import json
import re
import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
import typer
from console import console
from numpy.testing import assert_array_equal

import twin
from twin import cli
from twin.cli import machines, new, options
from twin.engines import engine_names
from twin.engines.export import EXPORT_FORMATS
from twin.engines.mjcf import robot_xml, scene_xml
from twin.engines.urdf import robot_urdf
from twin.errors import ParameterError
from twin.identification.parameters import PARAMETER_GROUPS, TERM_GROUPS
from twin.machine import machine as catalogue
from twin.machine.file.read import LEG_KINDS
from twin.model.engine import FIDELITIES
from twin.validation.case import CaseResult, Measure
from twin.validation.report import page as report

COMMANDS = tuple(name for names in cli.COMMAND_GROUPS.values() for name in names)


def refused(*arguments):
    """Return the message of a command that must end with exit code 2 and one line."""
    result = console(*arguments, code=2)
    assert "Traceback" not in result.output
    assert not result.stdout
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("twin: ")
    return str(lines[0])


def test_version_and_help():
    assert console("--version").output.strip() == f"platform-twin {twin.__version__}"
    assert tuple(typer.main.get_command(cli.app).commands) == COMMANDS
    shown = console("--help").output
    assert all(f" {name} " in shown for name in (*cli.COMMAND_GROUPS, *COMMANDS))


def test_choices_are_all_there_are():
    """The command line repeats them, so that `--help` need not import what they choose."""
    assert set(get_args(options.EngineName)) == set(engine_names())
    assert set(get_args(options.FidelityName)) == set(FIDELITIES)
    assert set(get_args(machines.FormatName)) == set(EXPORT_FORMATS)
    assert set(new.LEG_KINDS) == set(LEG_KINDS)
    assert (*options.MODEL_GROUPS, *options.TERM_GROUPS) == tuple(PARAMETER_GROUPS)
    assert tuple(TERM_GROUPS) == options.TERM_GROUPS


def test_help_names_every_group_of_parameters():
    commands = typer.main.get_command(cli.app).commands
    for name in ("identify", "excite"):
        (parameters,) = (each for each in commands[name].params if each.name == "parameters")
        assert set(PARAMETER_GROUPS) <= set(re.findall(r"\w+", parameters.help)), name


def test_options_have_one_name():
    commands = typer.main.get_command(cli.app).commands
    for name, command in commands.items():
        for parameter in command.params:
            assert len(parameter.opts) == 1, f"{name}: {parameter.opts}"


def test_new_writes_a_machine(tmp_path):
    target = tmp_path / "mine.toml"
    console("new", target)
    console("info", target)
    assert "exists" in refused("new", target)


SHEET = {
    **{"base-radius": "300 mm", "base-spacing": "20 deg", "platform-radius": "200 mm"},
    **{"platform-spacing": "60 mm", "stroke": "6 in", "shortest": "400 mm", "force": "500 lbf"},
}
"""A data sheet as options of `new`."""


def options_of(sheet):
    """Return options of the command line."""
    return [word for name, value in sheet.items() for word in (f"--{name}", value)]


@pytest.mark.quick
def test_new_from_a_data_sheet(tmp_path):
    target = tmp_path / "mine.toml"
    result = console("new", target, *options_of(SHEET))
    assert "twin feasible" in result.stdout
    assert twin.load(target).maximum_coordinates[0] == pytest.approx(0.5524)


@pytest.mark.quick
def test_new_names_missing_options(tmp_path):
    message = refused("new", tmp_path / "mine.toml", "--base-radius", "1 m", "--stroke", "1 m")
    assert "--base-spacing: missing; also needed: --platform-radius" in message
    message = refused("new", tmp_path / "mine.toml", *options_of(SHEET | {"stroke": "6 kg"}))
    assert "--stroke: '6 kg' has no unit of the right kind" in message
    assert not list(tmp_path.iterdir())


@pytest.mark.quick
def test_new_asks_on_a_terminal(tmp_path, monkeypatch):
    """Enter takes what is suggested; an answer that does not fit is asked for again."""
    # The runner of commands gives no terminal.
    monkeypatch.setattr(new, "_on_a_terminal", lambda: True)
    target = tmp_path / "mine.toml"
    answers = ["", "310 kg", "310 mm", *[""] * 4, "0.4 m", *[""] * 7]
    found = console("new", target, input="\n".join(answers) + "\n")
    assert "a unit of mass, not of length" in found.output
    machine = twin.load(target)
    assert np.hypot(*machine.base_joints[0][:2]) == pytest.approx(0.31)
    assert machine.minimum_coordinates[0] == 0.4


def test_help_imports_no_heavy_library():
    script = (
        "import sys; from typer.testing import CliRunner; from twin.cli import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0; "
        "heavy = {'numpy', 'scipy', 'numba', 'pydantic', 'mujoco', 'pybullet', 'plotly'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_list_names_every_machine():
    result = console("list")
    for name in twin.machine_names():
        assert name in result.output
        first = " ".join(twin.load(name).parameters.title.split()[:3])
        assert first in result.output


@pytest.mark.parametrize("machine", ["stewart", "driving_simulator"])
def test_info_shows_parameters_and_facts(machine):
    platform = twin.load(machine)
    output = console("info", machine).output
    assert platform.hash in output
    for text in ("leg.actuator", "kg m2", "condition number", "z range", "source:"):
        assert text in output
    assert f"{float(platform.condition_number(platform.home)):.6g}" in output


def test_simulate_saves_and_plots(tmp_path):
    file, page = tmp_path / "motion.npz", tmp_path / "motion.html"
    options = ("--duration", 0.02, "--timestep", 0.002, "--engine", "mujoco", "--fidelity", "fast")
    result = console(
        "simulate stewart", *options, "--force", "hold", "--out", file, "--report", page
    )
    motion = twin.Trajectory.load(file)
    assert (motion.engine, motion.fidelity, motion.timestep) == ("mujoco", "fast", 0.002)
    assert len(motion) == 11
    platform = twin.load("stewart")
    held = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    assert_array_equal(motion.forces, np.tile(held, (11, 1)))
    assert page.stat().st_size > 1_000_000
    assert str(file) in result.output.replace("\n", "")


def test_simulate_takes_start_and_forces():
    platform = twin.load("srspm")
    pose = np.add(platform.home, [0.01, 0, 0, 0, 0, 0, 0])
    twist, forces = np.arange(6) / 10, np.arange(6)
    texts = [",".join(str(value) for value in values) for values in (pose, twist, forces)]
    end = platform.simulate(0.01, pose=pose, twist=twist, forces=forces).pose[-1]
    options = ("--pose", texts[0], "--twist", texts[1], "--force", texts[2], "--every", 2)
    output = console("simulate srspm --duration 0.01", *options).output
    for value in end:
        assert f"{round(value, 6) + 0.0:.6f}" in output


def test_simulate_says_when_legs_leave_their_limits():
    assert "limits" in console("simulate srspm --duration 0.3 --force 0").output
    assert "limits" not in console("simulate srspm --duration 0.01").output


def test_nothing_that_is_read_is_written_to(tmp_path):
    motion, content = tmp_path / "motion.csv", "time [s],z [m]\n0,0\n0.1,0.001\n0.2,0\n"
    motion.write_text(content)
    words = {
        "track": ("stewart", "--motion", motion, "--out", motion),
        "setpoints": ("stewart", motion, "--replace", "--out", motion),
        "imu": ("stewart", motion, "--motion", motion, "--compensated", motion),
        "cue": ("stewart", "--input", motion, "--out", motion),
    }
    for command, arguments in words.items():
        result = console(command, *arguments, code=2)
        assert "is also read" in result.output.replace("\n", " "), result.output
        assert motion.read_text() == content
    run = tmp_path / "run.csv"
    result = console("track", "stewart", "--out", run, "--readings", run, code=2)
    assert "written by another option" in " ".join(result.output.split()), result.output


def test_gains_do_not_replace_a_file_unasked(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text("mine")
    result = console("tune stewart --configuration hardware --out", mine, code=2)
    assert "--replace" in result.output
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("machine", twin.machine_names())
def test_export_writes_the_models(machine, tmp_path):
    folder = tmp_path / "deep" / "models"
    platform = twin.load(machine)
    console("export", machine, "--format", "mjcf", "--out", folder)
    console("export", machine, "--format", "urdf", "--out", folder)
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert texts == {
        "robot.xml": robot_xml(platform),
        "scene.xml": scene_xml(platform),
        "robot.urdf": robot_urdf(platform),
    }


def test_export_replaces_its_own_files_only(tmp_path):
    (tmp_path / "robot.xml").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    console("export stewart --out", tmp_path)
    assert (tmp_path / "robot.xml").read_text().startswith("<")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_validate_writes_the_report(tmp_path):
    html, data = tmp_path / "report.html", tmp_path / "report.json"
    options = ("--case", "projection", "--case", "reference", "--jobs", 1)
    result = console("validate stewart", *options, "--report", html, "--json", data)
    content = json.loads(data.read_text())
    assert [case["case"] for case in content["cases"]] == ["reference", "projection"]
    assert html.stat().st_size > 1_000_000
    assert "pass: 2 of 2 cases" in result.output


def test_validate_ends_with_one_when_a_case_fails(monkeypatch):
    measure = Measure("gap", 2.0, 1.0, "because", unit="m")
    cases = [
        CaseResult("stewart", "gap", "Gap", "Text", (measure,)),
        CaseResult("stewart", "crash", "Crash", "Text", (), error="it stopped"),
    ]
    # No machine as it is shipped fails a case.
    monkeypatch.setattr(report, "run", lambda *_, **__: cases)
    result = console("validate stewart", code=1)
    assert "fail: stewart, gap: gap is 2, must be at most 1 m" in result.output
    assert "fail: stewart, crash: it stopped" in result.output
    assert "fail: 0 of 2 cases, 0 of 1 judged measures" in result.output


def test_warm_names_every_part():
    result = console("warm stewart --environment twin/PoseTracking-v0")
    for part in ("kinematics", "dynamics", "simulation", "drives and cascade", "twin/PoseTracking"):
        assert part in result.output
    assert "environment" in refused("warm stewart --environment twin/Nothing-v0")


def test_wrong_arguments_end_in_one_line(subtests):
    for line, words in [
        ("info nosuch", "known machines: compliant_stewart, driving_simulator"),
        ("validate --case nosuch", "nosuch"),
        ("export stewart --out /proc/no/such", "/proc/no/such"),
        ("simulate stewart --duration -1", "duration"),
        ("simulate stewart --timestep 0", "timestep"),
        ("simulate stewart --force 1,2", "force"),
        ("simulate stewart --pose 0,0,1,0,0,0,0", "pose"),
        ("simulate stewart --duration 0.01 --out motion.txt", ".npz"),
    ]:
        with subtests.test(line):
            assert words in refused(line)


def test_a_bad_description_ends_in_one_line(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text('name = "bad"\ntitle = "Bad"\n')
    message = refused("info", file)
    assert str(file) in message
    assert "gravity: missing" in message
    error = ParameterError("a.toml", [("b", "is wrong"), ("c", "is missing")])
    assert cli.one_line(error) == "a.toml: b: is wrong; c: is missing"


@pytest.mark.parametrize("line", ["nosuch", "simulate", "export stewart --format sdf", "--bad"])
def test_wrong_usage_ends_with_two(line):
    console(line, code=2)


def test_interrupt_ends_with_130(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    # As Ctrl-C does at a time that cannot be met otherwise.
    monkeypatch.setattr(catalogue, "machine_names", interrupt)
    console("list", code=130)
