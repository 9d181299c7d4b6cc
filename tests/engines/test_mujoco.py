"""MuJoCo behind the engine protocol: states, accuracy, repeatability, and what stops it."""

from __future__ import annotations

import importlib
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import twin
from twin.engines import make_engine
from twin.engines.engine import PRESETS, State
from twin.engines.guard import replay
from twin.engines.mujoco import MujocoEngine
from twin.errors import (
    ClosedEngineError,
    InputError,
    MissingDependencyError,
    SimulationStoppedError,
    SingularPoseError,
)
from twin.platform import Platform

ROUNDING = 1e-12
"""Some hundred operations on numbers of order one."""

TRAJECTORY = 1e-6
"""[m, rad] The project's bar for RK4 at 1 ms after 0.3 s; 6e-8 measured."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let dumps and any log file fall into a folder of the test."""
    monkeypatch.chdir(tmp_path)
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


@pytest.mark.parametrize("seed", range(3))
def test_reset_closes_the_loops_in_position_and_velocity(
    platform: Platform, random_motion: Any, seed: int
) -> None:
    engine = MujocoEngine(platform)
    pose, twist, _ = random_motion(platform, seed)
    state = engine.reset(pose, twist)
    assert state.time == 0.0
    np.testing.assert_allclose(state.pose, pose, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(state.twist, twist, rtol=0, atol=ROUNDING)
    lengths = platform.inverse_kinematics(pose)
    np.testing.assert_allclose(state.lengths, lengths, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(state.rates, platform.jacobian(pose) @ twist, rtol=0, atol=ROUNDING)
    assert engine.loop_gap < ROUNDING
    constraint_velocities = engine.data.efc_J.reshape(-1, engine.model.nv) @ engine.data.qvel
    assert len(constraint_velocities) == 3 * platform.n_actuators
    np.testing.assert_allclose(constraint_velocities, 0.0, atol=ROUNDING)


def test_sensors_tell_the_state(platform: Platform, random_motion: Any) -> None:
    engine = MujocoEngine(platform)
    pose, twist, _ = random_motion(platform, 4)
    state = engine.reset(pose, twist)
    sensed = {name: engine.data.sensor(name).data for name in _sensor_names(engine.model)}
    np.testing.assert_allclose(sensed["platform_position"], pose[:3], atol=ROUNDING)
    np.testing.assert_allclose(sensed["platform_quaternion"], pose[3:], atol=ROUNDING)
    np.testing.assert_allclose(sensed["platform_velocity"], twist[:3], atol=ROUNDING)
    np.testing.assert_allclose(sensed["platform_angular_velocity"], twist[3:], atol=ROUNDING)
    for leg in range(platform.n_actuators):
        extension = state.lengths[leg] - platform.home_lengths[leg]
        assert sensed[f"leg_{leg + 1}_position"] == pytest.approx(extension, abs=ROUNDING)
        assert sensed[f"leg_{leg + 1}_rate"] == pytest.approx(state.rates[leg], abs=ROUNDING)
    to_platform = engine.data.site("imu").xmat.reshape(3, 3).T
    np.testing.assert_allclose(
        sensed["imu_angular_velocity"], to_platform @ twist[3:], atol=ROUNDING
    )
    acceleration = platform.forward_dynamics(pose, twist, np.zeros(6))[:3]
    acceleration[2] += platform.parameters.gravity
    felt = to_platform @ acceleration
    # The constraints' impedance of 0.9999 leaves 1e-4 of the accelerations.
    np.testing.assert_allclose(sensed["imu_acceleration"], felt, atol=5e-4 * np.abs(felt).max())


def _sensor_names(model: mujoco.MjModel) -> list[str]:
    return [model.sensor(i).name for i in range(model.nsensor)]


def test_free_fall_follows_the_reference(platform: Platform) -> None:
    start = (platform.home, np.zeros(6))
    runs = [
        run(make_engine(name, platform), 0.3, np.zeros(6), None, start)
        for name in ("mujoco", "analytic")
    ]
    assert pose_error(*runs) < TRAJECTORY


def test_pushed_machine_follows_the_reference(platform: Platform) -> None:
    forces, wrench, start = push(platform)
    runs = [
        run(make_engine(name, platform), 0.3, forces, wrench, start)
        for name in ("mujoco", "analytic")
    ]
    assert pose_error(*runs) < TRAJECTORY
    assert pose_error(runs[0], State(0.0, platform.home, *runs[0][2:])) > 1e-2


@pytest.mark.parametrize(("preset", "order"), [("validation", 2), ("fast", 1)])
def test_order_of_convergence(platform: Platform, preset: str, order: int) -> None:
    forces, wrench, start = push(platform)
    reference = run(make_engine("analytic", platform, 1e-3), 0.1, forces, wrench, start)
    errors = [
        pose_error(
            run(make_engine("mujoco", platform, step, preset), 0.1, forces, wrench, start),
            reference,
        )
        for step in (2e-3, 1e-3, 5e-4)
    ]
    observed = np.log2(np.divide(errors[:-1], errors[1:]))
    # Higher terms still show at 2 ms.
    np.testing.assert_allclose(observed, order, atol=0.15)


def test_own_defaults_leave_wider_gaps_than_the_presets(platform: Platform) -> None:
    gaps = []
    for options in ({}, {"engine_defaults": True}):
        engine = make_engine("mujoco", platform, largest_gap=1.0, **options)
        run(engine, 0.1, np.zeros(6), None, (None, None))
        gaps.append(engine.loop_gap)
    assert gaps[1] > 100 * gaps[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_same_start_same_bits(platform: Platform, preset: str) -> None:
    forces, wrench, start = push(platform)
    used = make_engine("mujoco", platform, preset=preset)
    first = run(used, 0.05, forces, wrench, start)
    assert same_bits(first, run(used, 0.05, forces, wrench, start))
    fresh = make_engine("mujoco", platform, preset=preset)
    assert same_bits(first, run(fresh, 0.05, forces, wrench, start))


@pytest.mark.parametrize("preset", PRESETS)
def test_restored_state_continues_with_the_same_bits(platform: Platform, preset: str) -> None:
    forces, wrench, start = push(platform)
    engine = make_engine("mujoco", platform, preset=preset)
    before = run(engine, 0.03, forces, wrench, start)
    saved = engine.save()
    after = [engine.step(forces, wrench) for _ in range(20)]
    for other in (engine, make_engine("mujoco", platform, preset=preset)):
        assert same_bits(other.restore(saved), before)
        assert other.save() == saved
        assert all(same_bits(other.step(forces, wrench), wanted) for wanted in after)


def test_time_is_a_whole_number_of_steps(stewart: Platform) -> None:
    engine = MujocoEngine(stewart, 1e-4)
    engine.reset()
    forces = stewart.inverse_dynamics(stewart.home, np.zeros(6), np.zeros(6))
    times = [engine.step(forces).time for _ in range(50)]
    assert times == [k * 1e-4 for k in range(1, 51)]


def test_states_are_copies(stewart: Platform) -> None:
    engine = MujocoEngine(stewart)
    first = engine.reset()
    kept = [np.copy(part) for part in first]
    engine.step(np.zeros(6))
    assert all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True))


def test_wrench_lasts_one_step(stewart: Platform) -> None:
    engine = MujocoEngine(stewart)
    engine.reset()
    engine.step(np.zeros(6), np.ones(6))
    engine.step(np.zeros(6))
    assert not engine.data.qfrc_applied.any()
    assert not engine.data.xfrc_applied.any()


def test_options_reach_the_model(stewart: Platform) -> None:
    engine = MujocoEngine(
        stewart, 2e-3, solref=(0.01, 0.8), solimp=(0.8, 0.9, 0.002), integrator="Euler"
    )
    assert engine.model.opt.timestep == 2e-3
    assert engine.model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert engine.model.opt.jacobian == mujoco.mjtJacobian.mjJAC_DENSE
    np.testing.assert_array_equal(engine.model.eq_solref, [(0.01, 0.8)] * 6)
    np.testing.assert_array_equal(engine.model.eq_solimp, [(0.8, 0.9, 0.002, 0.5, 2.0)] * 6)


def test_engine_defaults_are_those_of_an_empty_model(stewart: Platform) -> None:
    text = '<mujoco><worldbody><body name="a"><freejoint/><geom size="1"/></body></worldbody>'
    text += '<equality><connect body1="a" anchor="0 0 0"/></equality></mujoco>'
    empty = mujoco.MjModel.from_xml_string(text)
    model = MujocoEngine(stewart, engine_defaults=True).model
    np.testing.assert_array_equal(model.eq_solref[0], empty.eq_solref[0])
    np.testing.assert_array_equal(model.eq_solimp[0], empty.eq_solimp[0])
    assert model.opt.tolerance == empty.opt.tolerance
    assert model.opt.iterations == empty.opt.iterations
    assert model.opt.solver == empty.opt.solver


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"timestep": 0.0}, "timestep"),
        ({"timestep": -1e-3}, "timestep"),
        ({"timestep": np.nan}, "timestep"),
        ({"timestep": "fast"}, "timestep"),
        ({"preset": "best"}, "preset"),
        ({"preset": ["fast"]}, "preset"),
        ({"integrator": "RK5"}, "integrator"),
        ({"integrator": 1}, "integrator"),
        ({"engine_defaults": 1}, "engine_defaults"),
        ({"solref": (0.01,)}, "solref"),
        ({"solref": (0.0, 1.0)}, "solref"),
        ({"solref": (-100.0, 1.0)}, "solref"),
        ({"solref": (np.inf, 1.0)}, "solref"),
        ({"solimp": (0.9, 0.95)}, "solimp"),
        ({"solimp": (0.9, 1.0, 0.001)}, "solimp"),
        ({"solimp": (0.9, 0.95, 0.0)}, "solimp"),
        ({"solimp": (0.9, 0.95, 0.001, 0.5, 0.5)}, "solimp"),
        ({"solimp": 0.9}, "solimp"),
        ({"largest_gap": 0.0}, "largest_gap"),
    ],
)
def test_bad_arguments_are_named(stewart: Platform, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        MujocoEngine(stewart, **arguments)
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
    engine = _shared_engine()
    before = engine.save()
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
def _shared_engine() -> MujocoEngine:
    engine = MujocoEngine(twin.load("stewart"))
    engine.reset()
    return engine


def test_singular_start_is_refused(stewart: Platform) -> None:
    engine = MujocoEngine(stewart)
    along_first_axis = stewart.home.copy()
    along_first_axis[:3] = (
        stewart.base_joints[0] + stewart.first_axes[0] - stewart.platform_joints[0]
    )
    with pytest.raises(SingularPoseError):
        engine.reset(along_first_axis)


def test_foreign_and_damaged_states_are_refused(stewart: Platform) -> None:
    engine = MujocoEngine(stewart)
    engine.reset()
    saved = engine.save()
    others = [
        MujocoEngine(stewart, 2e-3),
        MujocoEngine(stewart, preset="fast"),
        MujocoEngine(stewart, engine_defaults=True),
        MujocoEngine(twin.load("srspm")),
        make_engine("analytic", stewart),
    ]
    for other in others:
        other.reset()
    nan = np.full(1, np.nan).tobytes()
    damaged: list[Any] = [
        None,
        5,
        "text",
        b"",
        b"x" * 100,
        saved[:-8],
        saved + nan,
        saved[:-8] + nan,
    ]
    for bad in [*damaged, *(other.save() for other in others)]:
        with pytest.raises(InputError) as caught:
            engine.restore(bad)
        assert caught.value.field == "saved"
    assert engine.save() == saved


def test_use_before_reset_and_after_close(stewart: Platform) -> None:
    engine = MujocoEngine(stewart)
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


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", [1e8, 1e15, 1e300])
def test_absurd_forces_stop_with_a_dump_that_replays(
    platform: Platform, preset: str, size: float, own_folder: Path
) -> None:
    engine = make_engine("mujoco", platform, preset=preset)
    engine.reset()
    forces = size * np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    with pytest.raises(SimulationStoppedError) as caught:
        for _ in range(1000):
            engine.step(forces)
    dump = caught.value.data["dump"]
    assert [file.name for file in own_folder.iterdir()] == [dump.name], "no MUJOCO_LOG.TXT"
    states = replay(dump)
    assert len(states) == 1 + round(states[-1].time / engine.timestep)
    assert same_bits(states[-1], caught.value.data["state"])
    assert np.isfinite(engine.reset().pose).all()


def test_open_loops_stop_the_engine(stewart: Platform) -> None:
    engine = MujocoEngine(stewart, engine_defaults=True, largest_gap=1e-5)
    engine.reset()
    with pytest.raises(SimulationStoppedError, match="opened"):
        for _ in range(300):
            engine.step(np.zeros(6))


def test_warning_handler_of_the_user_stays(stewart: Platform) -> None:
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        engine = MujocoEngine(stewart)
        engine.reset()
        with pytest.raises(SimulationStoppedError):
            engine.step(np.full(6, 1e300))
        assert mujoco.get_mju_user_warning() == heard.append
        assert not heard
    finally:
        mujoco.set_mju_user_warning(None)


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("twin.engines.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingDependencyError, match="pip install") as caught:
        importlib.import_module("twin.engines.mujoco")
    assert caught.value.library == "mujoco"
