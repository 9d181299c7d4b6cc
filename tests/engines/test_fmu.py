"""Units of FMI against the analytic engine, the standard and wrong use."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from fmu_rig import UnitFile, UnitRun, unit_of
from numpy.typing import NDArray
from scales import scale_of
from typer.testing import CliRunner

import twin
from twin import cli
from twin.analysis.payload.body import Payload
from twin.engines import make_engine
from twin.engines.fmu import library
from twin.engines.fmu.library import compiler, machine_header
from twin.engines.fmu.unit import write_unit
from twin.engines.fmu.variables import unit_blocks
from twin.engines.stability import suitable_timestep
from twin.errors import InputError, MissingDependencyError, StateError
from twin.machine.body import six
from twin.platform import Platform

pytestmark = pytest.mark.quick

STEPS = 40
"""Integration steps of a run: enough for every term of the equations to act."""

AGREEMENT = 1e-9
"""[m, rad; per s] between a unit and the engine, relative to numbers above one."""

BODY = Payload(
    3.0, [0.02, -0.03, 0.05], [[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.5]]
)
PAYLOAD = [BODY.mass, *BODY.center, *six(BODY.inertia)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the units."""
    return tmp_path_factory.mktemp("units")


@pytest.fixture
def unit(platform: Platform, folder: Path) -> UnitFile:
    """Return the unit of every machine in FMI 3.0."""
    return unit_of(platform, folder)


@pytest.fixture
def stewart_unit(stewart: Platform, folder: Path) -> UnitFile:
    """Return the unit of one machine, for what does not depend on it."""
    return unit_of(stewart, folder)


def reference(
    platform: Platform, state: NDArray[np.float64], step: float, loads: Any
) -> NDArray[np.float64]:
    """Return state, coordinates and rates of the analytic engine after each load."""
    engine = make_engine("analytic", platform, step, "fast")
    engine.reset(state[:7], state[7:13], state[13:])
    found = []
    for load in loads:
        now = engine.step(*load)
        found.append(np.concatenate([*now[1:3], now.deflection, now.lengths, now.rates]))
    return np.array(found)


def test_moves_as_the_analytic_engine(
    unit: UnitFile, random_motion: Any, random_internal: Any
) -> None:
    """Forces, wrench and payload change on the way, from a start in motion."""
    platform, step, random = (
        unit.platform,
        suitable_timestep(unit.platform),
        np.random.default_rng(7),
    )
    pose, twist, _ = random_motion(platform, 7)
    start = np.concatenate([pose, 0.1 * twist, random_internal(platform, 7)])
    scale, half = scale_of(platform), STEPS // 2
    forces = 0.5 * scale.effort * random.normal(size=(STEPS, platform.n_actuators))
    wrenches = 0.1 * scale.wrench * random.normal(size=(STEPS, 6))
    loads = list(zip(forces, wrenches, strict=True))
    run = UnitRun(unit, state=start, payload=PAYLOAD)
    assert run.get(unit.state) == pytest.approx(start, abs=1e-15)
    found = []
    for k, (force, wrench) in enumerate(loads):
        run.set(forces=force, wrench=wrench)
        if k == half:
            run.set(payload=np.zeros(10))
        run.step(step)
        found.append(run.state)
        assert (run.get(unit.outputs[-platform.n_actuators :]) == force).all()
    loaded = reference(platform.with_(payload=BODY), start, step, loads[:half])
    empty = reference(platform, loaded[-1, : len(start)], step, loads[half:])
    expected = np.concatenate([loaded, empty])
    without = reference(platform, start, step, loads)
    sizes = np.maximum(1.0, np.abs(expected))
    assert (np.abs(np.array(found) - expected) / sizes).max() < AGREEMENT
    assert (np.abs(without - expected) / sizes).max() > 1e3 * AGREEMENT


def test_is_valid(unit: UnitFile) -> None:
    assert validate_fmu(str(unit.file)) == []
    n, springs = unit.platform.n_actuators, unit.platform.n_deflections
    assert len(unit.outputs) == 13 + 2 * springs + 3 * n
    assert len(unit.starts) == n + 6 + 10 + 13 + 2 * springs


def test_rests_at_home_by_default(unit: UnitFile) -> None:
    """A stranger who runs it as it is sees a machine that stands still."""
    found = fmpy.simulate_fmu(str(unit.file), stop_time=0.02, output_interval=2e-3)
    assert len(found) == 11
    pose = np.stack([found[name] for name in unit.state[:7]], axis=1)
    assert pose == pytest.approx(np.tile(unit.platform.home, (11, 1)), abs=1e-9)


@pytest.mark.parametrize("machine", ["driving_simulator", "compliant_stewart"])
def test_second_version_moves_as_the_third(machine: str, folder: Path) -> None:
    runs = []
    for fmi in (2, 3):
        unit = unit_of(twin.load(machine), folder, fmi)
        assert validate_fmu(str(unit.file)) == []
        run = UnitRun(unit, payload=PAYLOAD, wrench=[3.0, -2.0, 40.0, 1.0, 2.0, 3.0], time=5.0)
        for _ in range(10):
            run.step(2e-3)
        runs.append(run.state)
    assert (runs[0] == runs[1]).all()
    assert abs(runs[0][2] - twin.load(machine).home[2]) > 1e-6


def test_communication_steps_need_no_multiple(stewart_unit: UnitFile) -> None:
    """Multiples change nothing; others are divided evenly into shorter steps."""
    ends = {}
    for name, spans in {"one": [0.01], "ten": [1e-3] * 10, "odd": [2.5e-3] * 4}.items():
        run = UnitRun(stewart_unit, wrench=[100.0, 50.0, -300.0, 20.0, 10.0, 5.0])
        for span in spans:
            run.step(span)
        ends[name] = run.state
    assert (ends["one"] == ends["ten"]).all()
    assert ends["odd"] == pytest.approx(ends["one"], abs=1e-12)
    assert (ends["odd"] != ends["one"]).any()


def test_instances_share_nothing(stewart_unit: UnitFile) -> None:
    """Many threads, each with its own payload and wrench, against one after the other."""

    def ride(k: int) -> NDArray[np.float64]:
        run = UnitRun(stewart_unit, wrench=[10.0 * k, 0.0, -5.0 * k, 0.0, 1.0, 0.0])
        for step in range(100):
            run.set({"payload.mass": float(k + step % 3)})
            run.step(1e-3)
        return run.state

    alone = [ride(k) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ride, range(8)))
    assert (np.array(alone) == np.array(together)).all()
    assert np.ptp(alone, axis=0).max() > 1e-3


def test_kept_states_continue_alike(stewart_unit: UnitFile) -> None:
    run = UnitRun(stewart_unit, wrench=[0.0, 30.0, -200.0, 5.0, 0.0, 9.0], payload=PAYLOAD)
    run.step(0.02)
    kept = run.fmu.getFMUState()
    saved = run.fmu.serializeFMUState(kept)
    run.step(0.02)
    first = run.state
    other = UnitRun(stewart_unit, wrench=np.zeros(6))
    other.fmu.setFMUState(other.fmu.deserializeFMUState(saved))
    for again in (run, other):
        again.fmu.setFMUState(kept if again is run else again.fmu.getFMUState())
        again.time = 0.02
        again.step(0.02)
        assert (again.state == first).all()
    run.fmu.freeFMUState(kept)
    run.fmu.reset()
    run.begin()
    assert (run.get(run.unit.state) == [*run.unit.platform.home, *np.zeros(6)]).all()
    for damaged in (saved[:-1], b"x" + saved[1:], saved[:64] + b"\xff" * (len(saved) - 64)):
        with pytest.raises(FMICallException):
            other.fmu.deserializeFMUState(damaged)


def test_a_singular_pose_ends_the_run(machine_of: Callable[[str], Platform], folder: Path) -> None:
    """Cranks and rods are pulled straight: the unit keeps the last state that exists."""
    unit = unit_of(machine_of("rss"), folder)
    run = UnitRun(unit, wrench=[0.0, 0.0, 2e4, 0.0, 0.0, 0.0])
    with pytest.raises(FMICallException):
        run.step(1.0)
    assert "singular" in run.messages[-1]
    last = run.state
    assert np.isfinite(last).all()
    assert last[2] > unit.platform.home[2] + 0.05
    with pytest.raises(FMICallException):
        run.step(1e-3)
    assert "reset it" in run.messages[-1]
    run.fmu.reset()
    run.begin()
    run.step(1e-3)


WRONG_STARTS = {
    "stewart": [
        ({"start.pose.qw": 1.1}, "quaternion must have norm 1, got 1.1"),
        ({"payload.mass": -1.0}, "no body has mass -1 kg"),
        ({"payload.inertia.xx": 3.0, "payload.inertia.yy": 1.0}, "no body has mass 0 kg"),
        ({"payload.inertia.xy": 1.0}, "no body has mass 0 kg"),
        ({"start.pose.x": np.inf}, "start.pose.x must be a number"),
        ({"pose.x": 1.0}, "pose.x is an output"),
    ],
    "driving_simulator": [
        ({"start.pose.x": 0.01}, "move the fixed foot or turn it"),
        ({"start.twist.wz": 0.01}, "move the fixed foot or turn it"),
    ],
    "rss": [({"start.pose.z": 9.0}, "a leg cannot reach it")],
}


@pytest.mark.parametrize("machine", WRONG_STARTS)
def test_wrong_values_are_named(machine: str, folder: Path) -> None:
    unit = unit_of(twin.load(machine), folder)
    for values, message in WRONG_STARTS[machine]:
        run = UnitRun(unit)
        with pytest.raises(FMICallException):
            run.set(values)
            run.begin()
        assert message in run.messages[-1]


def test_wrong_calls_are_refused(stewart_unit: UnitFile) -> None:
    run = UnitRun(stewart_unit, payload=np.zeros(10))
    for time, span in ((0.0, 0.0), (0.0, -1e-3), (0.0, np.nan), (0.5, 1e-3), (0.0, 1e300)):
        with pytest.raises(FMICallException):
            run.fmu.doStep(time, span)
    with pytest.raises(FMICallException):
        run.set({"start.pose.z": 0.9})
    assert "start.pose.z is fixed after" in run.messages[-1]
    with pytest.raises(FMICallException):
        run.fmu.getFloat64([10_000])
    run.set({"payload.mass": -2.0})
    with pytest.raises(FMICallException):
        run.step(1e-3)
    assert "no body has mass -2 kg" in run.messages[-1]
    run.set({"payload.mass": 2.0})
    run.step(1e-3)


def test_needs_nothing_but_the_system(stewart_unit: UnitFile) -> None:
    """No Python, no numba: functions of C and of its mathematics, and the interface alone."""
    listed = subprocess.run(
        ["nm", "--dynamic", stewart_unit.library], capture_output=True, text=True, check=True
    )
    symbols = [line.split()[-2:] for line in listed.stdout.splitlines()]
    needed = {name.partition("@")[0] for kind, name in symbols if kind == "U"}
    shown = [name for kind, name in symbols if kind in "TD"]
    memory = {"calloc", "free", "malloc", "memcmp", "memcpy", "memset", "strcmp"}
    assert needed <= memory | {"ceil", "fmax", "snprintf", "sqrt", "vsnprintf", "__stack_chk_fail"}
    assert len(shown) > 70
    assert all(name.startswith("fmi3") for name in shown)


@cache
def header(fmi: int) -> str:
    """Return the header of a machine."""
    platform = twin.load("stewart")
    return machine_header(platform, unit_blocks(platform), 1e-3, "token", fmi)


@pytest.mark.parametrize("fmi", [2, 3])
def test_functions_are_declared_as_the_standard_declares_them(fmi: int, tmp_path: Path) -> None:
    (tmp_path / "machine.h").write_text(header(fmi))
    standard = Path(fmpy.__file__).with_name("c-code")
    warned = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-sign-compare"]
    command = [*compiler(), "-std=c11", "-fsyntax-only", *warned, "-DSTANDARD_HEADERS"]
    subprocess.run([*command, f"-I{standard}", f"-I{tmp_path}", library.SOURCE], check=True)


def test_files_are_whole_and_the_same(
    stewart_unit: UnitFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = write_unit(stewart_unit.platform, tmp_path)
    old = again.read_bytes()
    assert old == stewart_unit.file.read_bytes()
    assert zipfile.ZipFile(again).testzip() is None
    monkeypatch.setenv("CC", "false")
    with pytest.raises(StateError, match="false cannot compile the unit"):
        write_unit(stewart_unit.platform, tmp_path)
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingDependencyError, match="gcc"):
        write_unit(stewart_unit.platform, tmp_path)
    assert again.read_bytes() == old
    assert list(tmp_path.iterdir()) == [again]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fmi": 1}, "fmi"),
        ({"fmi": 3.0}, "fmi"),
        ({"timestep": 0.0}, "timestep"),
        ({"timestep": "x"}, "timestep"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        write_unit(twin.load("stewart"), tmp_path, **options)


def test_command(tmp_path: Path) -> None:
    words = ["export", "stewart", "--format", "fmu", "--out", str(tmp_path), "--fmi", "2"]
    done = CliRunner().invoke(cli.app, [*words, "--timestep", "0.5 ms"])
    assert done.exit_code == 0, done.output
    described = fmpy.read_model_description(str(tmp_path / "stewart.fmu"))
    assert described.fmiVersion == "2.0"
    assert described.variableNamingConvention == "structured"
    wrong = CliRunner().invoke(cli.app, ["export", "stewart", "--fmi", "2", "--out", str(tmp_path)])
    assert wrong.exit_code == 2
