"""The stepping loop: forces of every kind, thinning, progress, and stops that replay."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import twin
from twin.analysis.platform import Platform
from twin.engines import make_engine
from twin.engines.base import KEPT_STEPS, replay
from twin.errors import ClosedEngineError, InputError, SimulationStoppedError
from twin.model.engine import State
from twin.model.integrate import ForceTable, integrate
from twin.simulation.trajectory import Trajectory

pytestmark = pytest.mark.quick

TWIST = [0.05, 0.0, 0.1, 0.0, 0.2, 0.0]


def start_twist(platform: Platform) -> NDArray[np.float64]:
    """Return a twist that the machine can have at home; slow where stiff struts answer it."""
    slow = 1e-3 if platform.kind == "strut" else 1.0
    return platform.constrain(platform.home, slow * np.array(TWIST)).twist


def step_of(platform: Platform) -> float:
    """Return a time step [s] that resolves the machine's fastest mode."""
    return 1e-4 if platform.kind == "strut" else 1e-3


def assert_same(found: Trajectory, expected: Trajectory) -> None:
    """Assert that two motions are equal bit for bit."""
    for name in ("time", "pose", "twist", "lengths", "rates", "forces", "deflection"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_shape_and_start(platform: Platform) -> None:
    twist, step = start_twist(platform), 2.0 * step_of(platform)
    motion = platform.simulate(10 * step, twist=twist, timestep=step)
    assert motion.pose.shape == (11, 7)
    np.testing.assert_array_equal(motion.pose[0], platform.home)
    np.testing.assert_array_equal(motion.twist[0], twist)
    np.testing.assert_allclose(motion.time, step * np.arange(11), rtol=1e-15)
    # A pose handed in is normalised once more: rounding.
    lengths = platform.inverse_kinematics(motion.pose)
    if platform.n_deflections:
        assert motion.deflection.shape == (11, 2 * platform.n_deflections)
        assert motion.deflection[-1, 0] != 0.0
    np.testing.assert_allclose(motion.lengths, lengths, rtol=0, atol=1e-15)
    rates = np.einsum("kij,kj->ki", platform.jacobian(motion.pose), motion.twist)
    np.testing.assert_allclose(motion.rates, rates, rtol=0, atol=1e-15)


def test_steps_are_the_integral_of_the_held_forces(platform: Platform) -> None:
    steps = 50
    twist, step = start_twist(platform), step_of(platform)
    forces = np.random.default_rng(2).normal(size=(steps, platform.n_actuators)) * 100.0
    motion = platform.simulate(steps * step, twist=twist, forces=forces, timestep=step)
    table = ForceTable(step * np.arange(steps), forces)
    solution = integrate(platform, steps * step, twist=twist, forces=table)
    # The engine is bound to 1e-13 per step, the integrator to 1e-12 over fifty.
    np.testing.assert_allclose(motion.pose[-1], solution.pose[-1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion.twist[-1], solution.twist[-1], rtol=0, atol=1e-11)


def test_fast_fidelity_is_one_runge_kutta_step(platform: Platform) -> None:
    twist, step = start_twist(platform), step_of(platform)
    motion = platform.simulate(50 * step, twist=twist, fidelity="fast", timestep=step)
    solution = integrate(platform, 50 * step, twist=twist, method="rk4", timestep=step)
    # The same arithmetic; 0.05 / 50 and 1e-3 may differ in the last digit.
    np.testing.assert_allclose(motion.pose, solution.pose, rtol=0, atol=1e-14)
    assert motion.fidelity == "fast"


def test_constant_array_and_function_agree(platform: Platform) -> None:
    constant = np.linspace(50.0, 100.0, platform.n_actuators)
    arguments: dict[str, Any] = {"twist": start_twist(platform), "timestep": 1e-3}
    expected = platform.simulate(0.01, forces=constant, **arguments)
    assert_same(platform.simulate(0.01, forces=np.tile(constant, (10, 1)), **arguments), expected)
    assert_same(platform.simulate(0.01, forces=lambda t, s: constant, **arguments), expected)
    assert_same(platform.simulate(0.01, forces=constant.tolist(), **arguments), expected)


def test_function_sees_time_and_state(platform: Platform) -> None:
    seen: list[tuple[float, State]] = []

    def forces(time: float, state: State) -> Any:
        seen.append((time, state))
        return 10.0 * state.rates

    motion = platform.simulate(0.01, twist=start_twist(platform), forces=forces)
    assert len(seen) == 10
    np.testing.assert_array_equal([time for time, _ in seen], motion.time[:-1])
    np.testing.assert_array_equal([state.pose for _, state in seen], motion.pose[:-1])
    np.testing.assert_array_equal(motion.forces[:-1], 10.0 * motion.rates[:-1])
    np.testing.assert_array_equal(motion.forces[-1], motion.forces[-2])


def test_function_may_reuse_its_array(stewart: Platform) -> None:
    buffer = np.empty(6)

    def forces(time: float, state: State) -> Any:
        buffer[:] = 1e3 * time
        return buffer

    motion = stewart.simulate(0.01, forces=forces)
    np.testing.assert_array_equal(motion.forces[:-1, 0], 1e3 * motion.time[:-1])


@pytest.mark.parametrize("forces", [lambda time: [0.0] * 6, lambda: [0.0] * 6, lambda a, b, c: a])
def test_functions_with_other_arguments_are_refused(stewart: Platform, forces: Any) -> None:
    with pytest.raises(InputError, match=r"forces\(time, state\)"):
        stewart.simulate(0.01, forces=forces)


def test_states_are_copies(stewart: Platform) -> None:
    engine = make_engine("analytic", stewart)
    first = engine.reset(twist=TWIST)
    kept = first.pose.copy()
    engine.step(np.zeros(6))
    np.testing.assert_array_equal(first.pose, kept)
    first.pose[:] = 0.0
    assert engine.state.pose[3] != 0.0


@pytest.mark.parametrize("every", [2, 5, 10])
def test_thinning_keeps_every_so_many_steps(platform: Platform, every: int) -> None:
    twist = start_twist(platform)
    forces = np.random.default_rng(3).normal(size=(10, platform.n_actuators)) * 50.0
    full = platform.simulate(0.01, twist=twist, forces=forces)
    thin = platform.simulate(0.01, twist=twist, forces=forces, every=every)
    np.testing.assert_array_equal(thin.time, full.time[::every])
    np.testing.assert_array_equal(thin.pose, full.pose[::every])
    np.testing.assert_array_equal(thin.forces[:-1], forces[::every])


def test_wrench_acts(stewart: Platform) -> None:
    free = stewart.simulate(0.01)
    pushed = stewart.simulate(0.01, wrench=[1000.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert pushed.pose[-1][0] > free.pose[-1][0] + 1e-5


def test_given_engine_stays_open_and_keeps_its_step(stewart: Platform) -> None:
    engine = make_engine("analytic", stewart, timestep=2e-3, fidelity="fast")
    motion = stewart.simulate(0.02, twist=TWIST, engine=engine, timestep=1e-5)
    assert motion.timestep == 2e-3
    assert len(motion) == 11
    np.testing.assert_array_equal(engine.state.pose, motion.pose[-1])
    assert_same(twin.simulate(stewart, 0.02, twist=TWIST, engine=engine), motion)
    engine.close()
    with pytest.raises(ClosedEngineError):
        engine.step(np.zeros(6))


def test_engine_of_another_machine_is_refused(stewart: Platform, srspm: Platform) -> None:
    with pytest.raises(InputError, match="engine"):
        srspm.simulate(0.01, engine=make_engine("analytic", stewart))


def test_same_input_same_motion(platform: Platform) -> None:
    twist, forces = start_twist(platform), np.ones(platform.n_actuators)
    assert_same(
        platform.simulate(0.02, twist=twist, forces=forces),
        platform.simulate(0.02, twist=twist, forces=forces),
    )


def test_loaded_motion_can_be_continued(platform: Platform, tmp_path: Path) -> None:
    twist = start_twist(platform)
    whole = platform.simulate(0.02, twist=twist)
    half = Trajectory.load(platform.simulate(0.01, twist=twist).save(tmp_path / "half.npz"))
    state = {"pose": half.pose[-1], "twist": half.twist[-1], "deflection": half.deflection[-1]}
    rest = platform.simulate(0.01, **state)
    # A pose handed in is normalised once more: rounding of the quaternion, which springs answer.
    np.testing.assert_allclose(rest.pose[-1], whole.pose[-1], rtol=0, atol=2e-15)


def test_progress_appears_only_when_asked_or_slow(
    stewart: Platform, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = stewart.simulate(0.2, progress=False)
    assert capsys.readouterr() == ("", "")
    assert_same(stewart.simulate(0.2), expected)
    assert capsys.readouterr() == ("", "")
    assert_same(stewart.simulate(0.2, progress=True), expected)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "stewart in analytic" in shown.err
    assert "100%" in shown.err
    from twin.basics import progress

    monkeypatch.setattr(progress, "DELAY_OF_BAR", 0.0)
    assert_same(stewart.simulate(0.2), expected)
    assert capsys.readouterr() == ("", ""), "a log file is no terminal"


def test_bad_arguments_name_their_field(subtests: pytest.Subtests, stewart: Platform) -> None:
    for field, arguments in [
        ("duration", {"duration": 0.0}),
        ("duration", {"duration": -0.01}),
        ("duration", {"duration": 0.0105}),
        ("duration", {"duration": 1e300}),
        ("duration", {"duration": "1"}),
        ("duration", {"duration": [0.01]}),
        ("timestep", {"timestep": 0.0}),
        ("timestep", {"timestep": np.nan}),
        ("pose", {"pose": np.zeros(7)}),
        ("pose", {"pose": np.zeros((2, 7))}),
        ("twist", {"twist": np.zeros(5)}),
        ("wrench", {"wrench": np.zeros(7)}),
        ("forces", {"forces": np.zeros((9, 6))}),
        ("forces", {"forces": np.zeros((10, 6, 1))}),
        ("forces", {"forces": "full"}),
        ("forces(time, state)", {"forces": lambda t, s: np.full(6, np.nan)}),
        ("forces(time, state)", {"forces": lambda t, s: None}),
        ("forces(time, state)", {"forces": lambda t, s: 1.0}),
        ("engine", {"engine": "adams"}),
        ("engine", {"engine": None}),
        ("engine", {"engine": 5}),
        ("fidelity", {"fidelity": "best"}),
        ("fidelity", {"fidelity": ["fast"]}),
        ("every", {"every": 0}),
        ("every", {"every": 3}),
        ("every", {"every": 2.0}),
        ("every", {"every": True}),
        ("colour", {"colour": "red"}),
        ("largest_gap", {"largest_gap": "wide"}),
    ]:
        with subtests.test(f"{field}"):
            with pytest.raises(InputError) as caught:
                twin.simulate(stewart, **{"duration": 0.01, **arguments})
            assert caught.value.field == field


def test_other_things_than_platforms_are_refused() -> None:
    for thing in ("stewart", None, 5):
        with pytest.raises(InputError, match="platform"):
            twin.simulate(thing, 0.01)  # type: ignore[arg-type]


@pytest.mark.parametrize("fidelity", ["accurate", "fast"])
def test_absurd_forces_stop_and_replay(
    platform: Platform, fidelity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    twist, step, n = start_twist(platform), step_of(platform), platform.n_actuators

    def forces(time: float, state: State) -> Any:
        return np.full(n, 1e200 if time > 119.5 * step else 1.0)

    options: dict[str, Any] = {"twist": twist, "fidelity": fidelity, "timestep": step}
    with pytest.raises(SimulationStoppedError) as caught:
        platform.simulate(200 * step, forces=forces, **options)
    dump = caught.value.data["dump"]
    assert dump.parent == tmp_path
    assert str(dump) in str(caught.value)
    assert caught.value.data["reason"] in str(caught.value)
    states = replay(dump)
    # The stopping step is the 121st; the dump begins anew when its history is full.
    assert len(states) == 1 + 121 - KEPT_STEPS
    assert list(tmp_path.iterdir()) == [dump], "the replay leaves files behind"
    good = platform.simulate(120 * step, forces=np.ones(n), **options)
    for state, row in zip(states[:-1], itertools.count(KEPT_STEPS), strict=False):
        assert state.time == good.time[row]
        np.testing.assert_array_equal(state.pose, good.pose[row])
        np.testing.assert_array_equal(state.twist, good.twist[row])
    np.testing.assert_array_equal(states[-1].twist, caught.value.data["state"].twist)


def test_leg_driven_onto_its_first_axis_stops(
    srspm: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a spin of its own the leg cannot say how it turns: no state may be made up."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = srspm.base_joints[0] - srspm.platform_joints[0] + np.array([0.0, 0.5, 0.4])
    start = [*place, 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(SimulationStoppedError):
        srspm.simulate(0.5, pose=start, twist=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])


def test_files_that_are_no_dump_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, engine="analytic")
    text = tmp_path / "text.npz"
    text.write_text("no dump")
    empty = tmp_path / "empty.npz"
    empty.write_bytes(b"")
    cut = tmp_path / "cut.npz"
    cut.write_bytes(other.read_bytes()[:50])
    for path in (other, text, empty, cut, tmp_path, tmp_path / "missing.npz"):
        with pytest.raises(InputError, match="dump"):
            replay(path)
    for value in (None, 5):
        with pytest.raises(InputError, match="path: must be the path"):
            replay(value)  # type: ignore[arg-type]


def test_saved_states_continue_bit_for_bit(platform: Platform) -> None:
    engine = make_engine("analytic", platform)
    engine.reset(twist=start_twist(platform))
    forces = np.ones(platform.n_actuators)
    engine.step(forces)
    saved = engine.save()
    expected = [engine.step(forces) for _ in range(3)]
    for target in (engine, make_engine("analytic", platform)):
        target.restore(saved)
        for state in expected:
            again = target.step(forces)
            assert again.time == state.time
            np.testing.assert_array_equal(again.pose, state.pose)
            np.testing.assert_array_equal(again.twist, state.twist)


def test_states_of_another_engine_are_refused(stewart: Platform, srspm: Platform) -> None:
    engine = make_engine("analytic", stewart)
    engine.reset()
    saved = engine.save()
    damaged = [
        b"",
        b"twin",
        saved[:-1],
        saved + b"\0",
        saved[: len(saved) // 2],
        b"x" + saved,
        saved[:-8] + np.array([np.nan]).tobytes(),
        None,
        "text",
        5,
    ]
    others = [make_engine("analytic", srspm), make_engine("analytic", stewart, timestep=2e-3)]
    others.append(make_engine("analytic", stewart, fidelity="fast"))
    for other in others:
        with pytest.raises(InputError, match="saved"):
            other.restore(saved)
    for value in damaged:
        with pytest.raises(InputError, match="saved"):
            engine.restore(value)  # type: ignore[arg-type]
    np.testing.assert_array_equal(engine.state.pose, stewart.home)


def test_failed_reset_leaves_no_state(stewart: Platform) -> None:
    engine = make_engine("analytic", stewart)
    for arguments in ({"pose": np.zeros(7)}, {"twist": [np.nan] * 6}):
        with pytest.raises(InputError):
            engine.reset(**arguments)
        with pytest.raises(ClosedEngineError):
            _ = engine.state
