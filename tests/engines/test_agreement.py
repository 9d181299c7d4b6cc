"""Motions of all engines against the equations of motion, integrated by an independent program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from twin.arrays import FloatArray
from twin.engines.engine import Engine, State
from twin.platform import Platform

Fresh = Callable[..., Engine]

BARS = {
    # Rounding of both integrations, which the fall of 0.3 s magnifies.
    ("analytic", "validation"): 1e-11,
    # Order four: 1e-12 measured.
    ("analytic", "fast"): 1e-11,
    # The project's bars; 1e-8 and 4e-10 measured.
    ("mujoco", "validation"): 1e-6,
    ("bullet", "validation"): 1e-7,
    # Half a step times the change of velocity, 5 m/s at most.
    ("mujoco", "fast"): 3e-3,
    ("bullet", "fast"): 3e-3,
}
"""Largest error [m, rad] of the pose after 0.3 s with steps of 1 ms."""

DURATION = 0.3

ORDERS = {
    ("analytic", "fast"): (4, 20e-3),
    ("mujoco", "validation"): (2, 2e-3),
    ("mujoco", "fast"): (1, 2e-3),
    ("bullet", "validation"): (3, 4e-3),
    ("bullet", "fast"): (1, 4e-3),
}
"""Order of convergence and the largest step [s] at which the leading term of the error rules."""

EQUILIBRIUM = {"analytic": 1e-14, "mujoco": 1e-7, "bullet": 1e-14}
"""Distance [m, rad] from home after 0.2 s: rounding, and the legs' weight on MuJoCo's soft loops
(1e-8 measured)."""


def bar_of(engine: Engine) -> float:
    return BARS[engine.name, engine.preset]


@pytest.fixture
def reference() -> Callable[..., State]:
    """Return a function that integrates the public forward dynamics under held forces."""

    def end(
        platform: Platform, forces: FloatArray, wrench: Any, start: Any, timestep: float
    ) -> State:
        def derivative(_: float, y: FloatArray, force: FloatArray) -> FloatArray:
            w, x, y_, z = y[3:7]
            turning = 0.5 * np.array([[-x, -y_, -z], [w, z, -y_], [-z, w, x], [y_, -x, w]])
            unit = np.r_[y[:3], y[3:7] / np.linalg.norm(y[3:7])]
            acceleration = platform.forward_dynamics(unit, y[7:], force, wrench)
            return np.r_[y[7:10], turning @ y[10:], acceleration]

        y = np.concatenate(start)
        for force in np.atleast_2d(forces):
            span = timestep if forces.ndim == 2 else DURATION
            solution = solve_ivp(
                derivative, (0.0, span), y, "DOP853", args=(force,), rtol=3e-14, atol=1e-14
            )
            y = solution.y[:, -1]
        pose = np.r_[y[:3], y[3:7] / np.linalg.norm(y[3:7])]
        rates = platform.jacobian(pose) @ y[7:]
        return State(DURATION, pose, y[7:], platform.inverse_kinematics(pose), rates)

    return end


def test_free_fall(fresh: Fresh, free_fall: Any, reference: Any, pose_error: Any) -> None:
    engine = fresh()
    motion = free_fall(engine.platform)
    wanted = reference(engine.platform, *motion, engine.timestep)
    assert wanted.pose[2] < engine.platform.home[2] - 0.1
    assert pose_error(motion.run(engine, DURATION), wanted) < bar_of(engine)


def test_pushed_machine(fresh: Fresh, push: Any, reference: Any, pose_error: Any) -> None:
    engine = fresh()
    motion = push(engine.platform)
    wanted = reference(engine.platform, *motion, engine.timestep)
    assert np.linalg.norm(wanted.pose - engine.platform.home) > 1e-2
    state = motion.run(engine, DURATION)
    bar = bar_of(engine)
    assert pose_error(state, wanted) < bar
    np.testing.assert_allclose(state.lengths, wanted.lengths, rtol=0, atol=bar)
    # Velocities are of the first order in MuJoCo, and lose one to the quotient in Bullet.
    np.testing.assert_allclose(state.twist, wanted.twist, rtol=0, atol=10 * bar)
    np.testing.assert_allclose(state.rates, wanted.rates, rtol=0, atol=10 * bar)


def test_forces_are_held_over_each_step(
    fresh: Fresh, push: Any, reference: Any, pose_error: Any
) -> None:
    """Forces that alternate: an engine that blended neighbours would be late by half a step."""
    engine = fresh()
    hold, _, start = push(engine.platform)
    steps = np.arange(100)[:, None]
    phase = 2 * np.pi * 5.0 * steps * engine.timestep + np.arange(6)
    forces = hold * (1.0 + 0.1 * np.sin(phase) + 0.5 * (-1.0) ** steps)
    wanted = reference(engine.platform, forces, None, start, engine.timestep)
    engine.reset(*start)
    for row in forces:
        state = engine.step(row)
    assert pose_error(state, wanted) < bar_of(engine)
    if engine.preset == "validation":
        shifted = reference(engine.platform, np.roll(forces, 1, axis=0), None, start, 1e-3)
        assert pose_error(shifted, wanted) > 10 * bar_of(engine)


def test_wrench_does_the_work_of_the_leg_forces_it_replaces(fresh: Fresh) -> None:
    """By virtual work J^T f acts as f does; from rest the difference is of second order."""
    engine = fresh()
    platform = engine.platform
    slack = 1e-2 if engine.name == "mujoco" else 1e-5  # of MuJoCo's soft loops, 2e-3 measured
    for leg in range(platform.n_actuators):
        forces = np.zeros(platform.n_actuators)
        forces[leg] = 10.0 * platform.parameters.platform.body.mass
        engine.reset()
        pushed = engine.step(np.zeros(6), platform.jacobian(platform.home).T @ forces).twist
        engine.reset()
        driven = engine.step(forces).twist
        assert np.abs(pushed - driven).max() < slack * np.abs(driven).max()


def test_every_axis_of_the_wrench(
    fresh: Fresh, free_fall: Any, pose_error: Any, make: Callable[..., Engine]
) -> None:
    engine = fresh()
    platform = engine.platform
    exact = make("analytic", platform)
    forces = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    for wrench in 0.2 * forces.sum() * np.eye(6):
        motion = free_fall(platform)._replace(forces=forces, wrench=wrench)
        wanted = motion.run(exact, 0.05)
        effect = pose_error(wanted, exact.reset())
        # The first order counts 51 halves of a step squared for 50: an error of 2 %.
        slack = 0.03 * effect if engine.preset == "fast" else bar_of(engine)
        assert effect > 10 * slack
        assert pose_error(motion.run(engine, 0.05), wanted) < slack


def test_holding_forces_hold(fresh: Fresh, pose_error: Any) -> None:
    engine = fresh()
    platform, home = engine.platform, engine.reset()
    forces = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    for _ in range(200):
        state = engine.step(forces)
    assert pose_error(state, home) < EQUILIBRIUM[engine.name]
    falling = engine.step(np.zeros(6)).twist
    assert falling[2] < -0.1 * engine.timestep * platform.parameters.gravity


def test_legs_follow_the_platform(fresh: Fresh, push: Any) -> None:
    engine = fresh()
    platform, motion = engine.platform, push(engine.platform)
    state = motion.run(engine, DURATION)
    # Softness of the loops; of the first order in the rates: 3e-8 and 2e-4 measured.
    slack = 1e-7 if engine.preset == "validation" else 2e-6
    lengths, rates = platform.inverse_kinematics(state.pose), platform.jacobian(state.pose)
    np.testing.assert_allclose(state.lengths, lengths, rtol=0, atol=slack)
    np.testing.assert_allclose(state.rates, rates @ state.twist, rtol=0, atol=500 * slack)
    assert engine.loop_gap < 2 * slack


@pytest.mark.parametrize("engine_name", ["mujoco", "bullet"], indirect=True)
def test_own_defaults_cost_accuracy(
    make: Callable[..., Engine], engine_name: str, platform: Platform, push: Any, pose_error: Any
) -> None:
    """Damping, soft loops and loose solvers, whatever the time step."""
    motion = push(platform)
    wanted = motion.run(make("analytic", platform), 0.1)
    runs = [
        motion.run(make(engine_name, platform, largest_gap=1.0, engine_defaults=defaults), 0.1)
        for defaults in (False, True)
    ]
    tuned, untuned = (pose_error(run, wanted) for run in runs)
    assert untuned > 1e3 * tuned


@pytest.mark.parametrize(("name", "preset"), ORDERS)
def test_order_of_convergence(
    make: Callable[..., Engine],
    platform: Platform,
    name: str,
    preset: str,
    push: Any,
    pose_error: Any,
) -> None:
    pytest.importorskip("pybullet" if name == "bullet" else "numpy")
    motion, (order, largest) = push(platform), ORDERS[name, preset]
    wanted = motion.run(make("analytic", platform), 0.12)
    errors = [
        pose_error(motion.run(make(name, platform, largest / 2**k, preset), 0.12), wanted)
        for k in range(3)
    ]
    # Higher terms still show at the largest step.
    np.testing.assert_allclose(
        np.log2(np.divide(errors[:-1], errors[1:])), order, rtol=0, atol=0.15
    )
