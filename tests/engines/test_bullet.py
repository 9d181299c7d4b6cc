"""PyBullet behind the engine protocol: states, accuracy, repeatability, and what stops it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import twin
from twin.engines import make_engine
from twin.engines.engine import PRESETS, State
from twin.engines.guard import replay
from twin.errors import (
    ClosedEngineError,
    InputError,
    MissingDependencyError,
    SimulationStoppedError,
    SingularPoseError,
)
from twin.platform import Platform

pb = pytest.importorskip("pybullet")

ROUNDING = 1e-12
"""Some hundred operations on numbers of order one."""

TRAJECTORY = 1e-7
"""[m, rad] The project's bar for the extrapolation at 1 ms after 0.3 s; 1e-9 measured."""

TREE = 1e-9
"""Relative; the project's bar for the projection. 2e-15 measured."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let dumps fall into a folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def run(engine: Any, duration: float, forces: Any, wrench: Any, start: Any) -> State:
    state = engine.reset(*start)
    for _ in range(round(duration / engine.timestep)):
        state = engine.step(forces, wrench)
    return state


def pose_error(one: State, other: State) -> float:
    """Return the larger of the distance [m] and the angle [rad] between two poses."""
    turn = min(np.linalg.norm(one.pose[3:] - s * other.pose[3:]) for s in (1.0, -1.0))
    return float(max(np.linalg.norm(one.pose[:3] - other.pose[:3]), 2.0 * turn))


def same_bits(one: State, other: State) -> bool:
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(one, other, strict=True)
    )


def push(platform: Platform) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return forces, a wrench and a start that keep the machine inside its range for 0.3 s."""
    hold = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    mass = platform.parameters.platform.body.mass
    forces = hold * np.array([1.08, 0.97, 1.05, 1.02, 0.99, 1.04])
    wrench = 0.1 * mass * np.array([5.0, -3.0, 8.0, 1.0, 2.0, -1.0])
    return forces, wrench, (platform.home, np.array([0.1, -0.05, 0.1, 0.2, -0.1, 0.3]))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(3))
def test_reset_closes_the_loops_in_position_and_velocity(
    platform: Platform, random_motion: Any, preset: str, seed: int
) -> None:
    engine = make_engine("bullet", platform, preset=preset)
    pose, twist, _ = random_motion(platform, seed)
    state = engine.reset(pose, twist)
    assert state.time == 0.0
    np.testing.assert_allclose(state.pose, pose, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(state.twist, twist, rtol=0, atol=ROUNDING)
    lengths = platform.inverse_kinematics(pose)
    np.testing.assert_allclose(state.lengths, lengths, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(state.rates, platform.jacobian(pose) @ twist, rtol=0, atol=ROUNDING)
    assert engine.loop_gap < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_acceleration_from_rest_is_exact(platform: Platform, random_motion: Any, seed: int) -> None:
    """One step from rest has no error of integration yet: solver, masses and points alone count."""
    pose, wrench, forces = random_motion(platform, seed)
    engine = make_engine("bullet", platform, preset="fast")
    engine.reset(pose)
    twist = engine.step(forces, wrench).twist
    acceleration = platform.forward_dynamics(pose, np.zeros(6), forces, wrench)
    # The velocity is that of the centre of mass, carried to the reference point's place after the
    # step: second order in the speed.
    slack = 1e-8 * np.abs(acceleration).max() + np.linalg.norm(twist[3:]) ** 2
    assert np.abs(twist / engine.timestep - acceleration).max() < slack


def test_free_fall_follows_the_reference(platform: Platform) -> None:
    start = (platform.home, np.zeros(6))
    runs = [
        run(make_engine(name, platform), 0.3, np.zeros(6), None, start)
        for name in ("bullet", "analytic")
    ]
    assert pose_error(*runs) < TRAJECTORY


def test_pushed_machine_follows_the_reference(platform: Platform) -> None:
    forces, wrench, start = push(platform)
    runs = [
        run(make_engine(name, platform), 0.3, forces, wrench, start)
        for name in ("bullet", "analytic")
    ]
    assert pose_error(*runs) < TRAJECTORY
    np.testing.assert_allclose(runs[0].lengths, runs[1].lengths, rtol=0, atol=TRAJECTORY)
    # Rates lose one order of the step to the difference quotient.
    np.testing.assert_allclose(runs[0].rates, runs[1].rates, rtol=0, atol=10 * TRAJECTORY)
    assert pose_error(runs[0], State(0.0, platform.home, *runs[0][2:])) > 1e-2


def test_changing_forces_follow_the_reference(platform: Platform) -> None:
    hold, _, start = push(platform)
    engines = [make_engine(name, platform) for name in ("bullet", "analytic")]
    states = [engine.reset(*start) for engine in engines]
    for k in range(300):
        forces = hold * (1.0 + 0.1 * np.sin(2 * np.pi * 5.0 * k * 1e-3 + np.arange(6)))
        states = [engine.step(forces) for engine in engines]
    assert pose_error(*states) < TRAJECTORY


@pytest.mark.parametrize(("preset", "order"), [("validation", 3), ("fast", 1)])
def test_order_of_convergence(platform: Platform, preset: str, order: int) -> None:
    forces, wrench, start = push(platform)
    reference = run(make_engine("analytic", platform), 0.1, forces, wrench, start)
    errors = [
        pose_error(
            run(make_engine("bullet", platform, step, preset), 0.1, forces, wrench, start),
            reference,
        )
        for step in (4e-3, 2e-3, 1e-3)
    ]
    observed = np.log2(np.divide(errors[:-1], errors[1:]))
    # Higher terms still show at 4 ms.
    np.testing.assert_allclose(observed, order, atol=0.3)


def test_own_defaults_cost_accuracy(platform: Platform) -> None:
    """Damping and an iterative solver leave an error that no smaller step removes."""
    forces, wrench, start = push(platform)
    reference = run(make_engine("analytic", platform), 0.1, forces, wrench, start)
    errors = []
    for options in ({}, {"engine_defaults": True}):
        engine = make_engine("bullet", platform, largest_gap=1.0, **options)
        errors.append(pose_error(run(engine, 0.1, forces, wrench, start), reference))
    assert errors[1] > 1e3 * errors[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_same_start_same_bits(platform: Platform, preset: str) -> None:
    forces, wrench, start = push(platform)
    used = make_engine("bullet", platform, preset=preset)
    first = run(used, 0.05, forces, wrench, start)
    assert same_bits(first, run(used, 0.05, forces, wrench, start))
    fresh = make_engine("bullet", platform, preset=preset)
    assert same_bits(first, run(fresh, 0.05, forces, wrench, start))


@pytest.mark.parametrize("preset", PRESETS)
def test_restored_state_continues_with_the_same_bits(platform: Platform, preset: str) -> None:
    forces, wrench, start = push(platform)
    engine = make_engine("bullet", platform, preset=preset)
    before = run(engine, 0.03, forces, wrench, start)
    saved = engine.save()
    after = [engine.step(forces, wrench) for _ in range(20)]
    for other in (engine, make_engine("bullet", platform, preset=preset)):
        assert same_bits(other.restore(saved), before)
        assert other.save() == saved
        assert all(same_bits(other.step(forces, wrench), wanted) for wanted in after)


def test_saving_does_not_change_the_future(stewart: Platform) -> None:
    forces, wrench, start = push(stewart)
    engine = make_engine("bullet", stewart)
    wanted = run(engine, 0.05, forces, wrench, start)
    engine.reset(*start)
    for _ in range(50):
        engine.save()
        found = engine.step(forces, wrench)
    assert same_bits(found, wanted)


def test_engines_side_by_side_do_not_meet(stewart: Platform) -> None:
    other = twin.load("srspm")
    machines = (stewart, other, stewart)
    alone = [run(make_engine("bullet", p), 0.02, *push(p)) for p in machines]
    engines = [make_engine("bullet", p) for p in machines]
    for engine, p in zip(engines, machines, strict=True):
        engine.reset(*push(p)[2])
    for _ in range(20):
        states = [engine.step(*push(p)[:2]) for engine, p in zip(engines, machines, strict=True)]
    assert all(same_bits(a, b) for a, b in zip(alone, states, strict=True))


def test_quaternion_keeps_its_sign_through_a_turn(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart)
    for sign in (1.0, -1.0):
        pose = stewart.home * np.r_[np.ones(3), np.full(4, sign)]
        states = [engine.reset(pose, [0, 0, 0, 0, 0, 3.0])]
        states += [engine.step(np.zeros(6)) for _ in range(20)]
        turns = np.array([state.pose[3:] for state in states])
        assert sign * turns[0, 0] > 0.99
        assert (np.einsum("ij,ij->i", turns[1:], turns[:-1]) > 0.99).all()


def test_time_is_a_whole_number_of_steps(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart, 1e-4)
    engine.reset()
    times = [engine.step(np.zeros(6)).time for _ in range(50)]
    assert times == [k * 1e-4 for k in range(1, 51)]


def test_states_are_copies(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart)
    first = engine.reset()
    kept = [np.copy(part) for part in first]
    for part in engine.state[1:]:
        part[:] = 0.0
    assert same_bits(engine.state, first)
    engine.step(np.zeros(6))
    assert all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True))


def test_wrench_lasts_one_step(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart, preset="fast")
    engine.reset()
    engine.step(np.zeros(6), 100.0 * np.ones(6))
    saved = engine.save()
    wanted = engine.step(np.zeros(6), np.zeros(6))
    engine.restore(saved)
    assert same_bits(engine.step(np.zeros(6)), wanted)


def test_platform_turned_by_90_degrees_has_no_tree(stewart: Platform) -> None:
    from twin.engines.projection import projected_forces

    pose = stewart.home.copy()
    pose[3:] = np.sqrt([0.5, 0.0, 0.5, 0.0])
    with pytest.raises(SingularPoseError, match="90 deg"):
        projected_forces("bullet", stewart, pose, np.zeros(6), np.zeros(6))


@pytest.mark.parametrize("seed", range(5))
def test_tree_gives_inverse_dynamics_without_a_word(
    platform: Platform, random_motion: Any, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    from twin.engines.projection import projected_forces

    motion = random_motion(platform, 100 + seed)
    wanted = platform.inverse_dynamics(*motion)
    found = projected_forces("bullet", platform, *motion)
    assert np.abs(found - wanted).max() < TREE * np.abs(wanted).max()
    assert capfd.readouterr() == ("", "")


def test_library_is_silent() -> None:
    code = (
        "import twin; e = twin.make_engine('bullet', twin.load('stewart'));"
        "e.reset(); e.step([0.0] * 6); e.restore(e.save()); e.close(); print('end')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("end\n", "")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"timestep": 0.0}, "timestep"),
        ({"timestep": -1e-3}, "timestep"),
        ({"timestep": np.nan}, "timestep"),
        ({"timestep": "fast"}, "timestep"),
        ({"preset": "best"}, "preset"),
        ({"preset": ["fast"]}, "preset"),
        ({"engine_defaults": 1}, "engine_defaults"),
        ({"largest_gap": 0.0}, "largest_gap"),
        ({"largest_gap": np.inf}, "largest_gap"),
    ],
)
def test_bad_arguments_are_named(stewart: Platform, arguments: dict[str, Any], field: str) -> None:
    from twin.engines.bullet import BulletEngine

    with pytest.raises(InputError) as caught:
        BulletEngine(stewart, **arguments)
    assert caught.value.field == field


BAD_VECTORS = st.one_of(
    st.none().map(lambda _: "six"),
    st.integers(0, 12).filter(lambda n: n != 6).map(np.zeros),
    arrays.arrays(float, 6).filter(lambda a: not np.isfinite(a).all()),
    st.integers(0, 3).map(lambda n: np.zeros((n, 6))),
    st.just([1, 2, [3], 4, 5, 6]),
    st.just(np.zeros(6, complex)),
    st.just({"leg_1": 1.0}),
)


@given(bad=BAD_VECTORS)
def test_bad_vectors_are_refused_and_leave_the_state(bad: Any) -> None:
    engine, before = _shared_engine()
    for call in (
        lambda: engine.step(bad),
        lambda: engine.step(np.zeros(6), bad),
        lambda: engine.reset(None, bad),
        lambda: engine.reset(bad),
    ):
        with pytest.raises(InputError):
            call()
    assert engine.save() == before


@cache
def _shared_engine() -> tuple[Any, bytes]:
    engine = make_engine("bullet", twin.load("stewart"), preset="fast")
    engine.reset()
    return engine, engine.save()


def test_singular_start_is_refused(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart)
    along_first_axis = stewart.home.copy()
    along_first_axis[:3] = (
        stewart.base_joints[0] + stewart.first_axes[0] - stewart.platform_joints[0]
    )
    with pytest.raises(SingularPoseError):
        engine.reset(along_first_axis)


def test_foreign_and_damaged_states_are_refused(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart)
    engine.reset()
    saved = engine.save()
    others = [
        make_engine("bullet", stewart, 2e-3),
        make_engine("bullet", stewart, preset="fast"),
        make_engine("bullet", stewart, engine_defaults=True),
        make_engine("bullet", twin.load("srspm")),
        make_engine("analytic", stewart),
    ]
    for other in others:
        other.reset()
    changed = bytearray(saved)
    changed[-100] ^= 1
    damaged: list[Any] = [
        None,
        5,
        "text",
        b"",
        b"x" * 100,
        saved[:-8],
        saved + b"0",
        bytes(changed),
    ]
    for bad in [*damaged, *(other.save() for other in others)]:
        with pytest.raises(InputError) as caught:
            engine.restore(bad)
        assert caught.value.field == "saved"
    assert engine.save() == saved


def test_use_before_reset_and_after_close(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart)
    calls: list[Any] = [
        lambda: engine.step(np.zeros(6)),
        lambda: engine.state,
        lambda: engine.loop_gap,
        engine.save,
    ]
    for call in calls:
        with pytest.raises(ClosedEngineError, match="reset"):
            call()
    engine.reset()
    saved = engine.save()
    engine.close()
    engine.close()
    for call in [*calls, engine.reset, lambda: engine.restore(saved)]:
        with pytest.raises(ClosedEngineError, match="closed"):
            call()


def test_physics_clients_are_given_back(stewart: Platform) -> None:
    def connected() -> int:
        return sum(bool(pb.isConnected(client)) for client in range(1024))

    before = connected()
    closed, forgotten = (make_engine("bullet", stewart) for _ in range(2))
    assert connected() == before + 6
    closed.close()
    del forgotten
    assert connected() == before


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", [1e8, 1e15, 1e300])
def test_absurd_forces_stop_with_a_dump_that_replays(
    platform: Platform, preset: str, size: float, own_folder: Path
) -> None:
    forces = size * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    engine = make_engine("bullet", platform, preset=preset)
    wanted = run(engine, 0.02, np.zeros(6), None, (None, None))
    engine.reset()
    with pytest.raises(SimulationStoppedError) as caught:
        for _ in range(1000):
            engine.step(forces)
    dump = caught.value.data["dump"]
    assert [file.name for file in own_folder.iterdir()] == [dump.name]
    states = replay(dump)
    assert len(states) == 1 + round(states[-1].time / engine.timestep)
    assert same_bits(states[-1], caught.value.data["state"])
    with pytest.raises(ClosedEngineError, match="reset"):
        engine.step(np.zeros(6))
    assert same_bits(run(engine, 0.02, np.zeros(6), None, (None, None)), wanted)


def test_long_runs_replay_from_the_last_saved_state(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart, preset="fast")
    engine.reset()
    hold = stewart.inverse_dynamics(stewart.home, np.zeros(6), np.zeros(6))
    for _ in range(250):
        engine.step(hold)
    with pytest.raises(SimulationStoppedError) as caught:
        for _ in range(1000):
            engine.step(1e8 * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0]))
    states = replay(caught.value.data["dump"])
    assert states[0].time == pytest.approx(0.2)
    assert same_bits(states[-1], caught.value.data["state"])


def test_open_loops_stop_the_engine(stewart: Platform) -> None:
    engine = make_engine("bullet", stewart, largest_gap=1e-9)
    engine.reset()
    with pytest.raises(SimulationStoppedError, match="opened"):
        for _ in range(300):
            engine.step(np.zeros(6))


def test_missing_library_names_the_command(
    stewart: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("bullet", "bullet_world", "bullet_library"):
        monkeypatch.delitem(sys.modules, f"twin.engines.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "pybullet", None)
    with pytest.raises(MissingDependencyError, match="pip install pybullet") as caught:
        make_engine("bullet", stewart)
    assert caught.value.library == "pybullet"
