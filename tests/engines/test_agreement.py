"""Motions of all engines against the equations of motion, integrated by an independent program."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tolerance import assert_within

from twin.engines.base import suitable_timestep
from twin.model.engine import State

TOLERANCES = {
    # Rounding of both integrations, which the fall of 0.3 s magnifies.
    ("analytic", "accurate"): 1e-11,
    # Order four: 1e-9 measured for cranks, which turn fastest, 1e-12 for lengths.
    ("analytic", "fast"): 1e-8,
    # The project's limits; 2e-8 and 1e-8 measured.
    ("mujoco", "accurate"): 1e-6,
    ("bullet", "accurate"): 1e-7,
    # Half a step times the change of velocity, 5 m/s at most.
    ("mujoco", "fast"): 3e-3,
    ("bullet", "fast"): 3e-3,
}
"""Largest error [m, rad] of the pose after a free fall."""

STRUT_TOLERANCES = {("analytic", "fast"): 1e-8, ("mujoco", "fast"): 1e-5, ("bullet", "fast"): 1e-5}
"""The same of machines whose struts hold them to within 30 micrometres, at 24 steps for a period
of their fastest mode: 4e-9 and 6e-6 measured."""

UNTUNED = ("stewart", "driving_simulator", "micro_hexapod")
"""Machines with an engine's own settings: bodies that float, that joints carry, and on struts."""

LONGEST = 300
"""Steps of a motion."""

ORDERS = {
    ("analytic", "fast"): (4, 20),
    ("mujoco", "accurate"): (2, 2),
    ("mujoco", "fast"): (1, 2),
    ("bullet", "accurate"): (3, 4),
    ("bullet", "fast"): (1, 4),
}
"""Order of convergence and the largest step, in milliseconds for machines without springs, at
which the leading term of the error rules."""

EQUILIBRIUM = {"analytic": 1e-14, "mujoco": 1e-7, "bullet": 1e-14}
"""Distance [m, rad] from home after 200 steps: rounding, and the legs' weight on MuJoCo's soft
loops (1e-8 measured)."""


def tolerance_of(engine):
    key = engine.name, engine.fidelity
    return (
        STRUT_TOLERANCES.get(key, TOLERANCES[key])
        if engine.platform.kind == "strut"
        else TOLERANCES[key]
    )


def steps_of(engine):
    """Return a number of steps in which a machine falls over a good part of its height."""
    seconds = 0.3 * float(np.sqrt(engine.platform.home_reaches.mean()))
    return min(LONGEST, round(seconds / engine.timestep))


@pytest.fixture
def reference():
    """Return a function that integrates the public forward dynamics under held forces."""

    def end(engine, forces, wrench, start):
        platform = engine.platform

        def derivative(_, y, force):
            w, x, y_, z = y[3:7]
            turning = 0.5 * np.array([[-x, -y_, -z], [w, z, -y_], [-z, w, x], [y_, -x, w]])
            unit = np.r_[y[:3], y[3:7] / np.linalg.norm(y[3:7])]
            unit, twist, _ = platform.constrain(unit, y[7:13])
            rates = platform.forward_dynamics(unit, twist, force, wrench, deflection=y[13:])
            inside = y[13 + platform.n_deflections :]
            return np.r_[y[7:10], turning @ y[10:13], rates[:6], inside, rates[6:]]

        y = np.concatenate(start)
        steps = len(forces) if forces.ndim == 2 else steps_of(engine)
        for force in np.atleast_2d(forces):
            span = engine.timestep * (1 if forces.ndim == 2 else steps)
            solution = solve_ivp(
                derivative, (0.0, span), y, "DOP853", args=(force,), rtol=3e-14, atol=1e-14
            )
            y = solution.y[:, -1]
        pose = np.r_[y[:3], y[3:7] / np.linalg.norm(y[3:7])]
        pose, twist, _ = platform.constrain(pose, y[7:13])
        lengths, rates = platform.inverse_kinematics(pose), platform.jacobian(pose) @ twist
        return State(steps * engine.timestep, pose, twist, lengths, rates, y[13:])

    return end


def run(motion, engine):
    return motion.run(engine, steps_of(engine) * engine.timestep)


def test_free_fall(fresh, free_fall, reference, pose_error):
    engine = fresh()
    platform, motion = engine.platform, free_fall(engine.platform)
    wanted = reference(engine, *motion)
    # Struts do not let go.
    if platform.kind != "strut":
        assert wanted.pose[2] < platform.home[2] - 0.1 * platform.home_reaches.mean()
    assert pose_error(run(motion, engine), wanted) < tolerance_of(engine)


@pytest.mark.every_machine
def test_pushed_machine(fresh, push, reference, pose_error):
    engine = fresh()
    motion = push(engine.platform)
    wanted = reference(engine, *motion)
    state, tolerance = run(motion, engine), tolerance_of(engine)
    assert pose_error(wanted, engine.reset()) > 2 * tolerance
    assert pose_error(state, wanted) < tolerance
    # Lengths are off by the softness of MuJoCo's loops.
    assert_within(state.lengths, wanted.lengths, 2 * tolerance)
    # Velocities are of the first order in MuJoCo, and lose one to the quotient in Bullet; struts
    # make them 2600 per second times displacements.
    slack = (1000 if engine.platform.kind == "strut" else 10) * tolerance
    assert_within(state.twist, wanted.twist, slack)
    assert_within(state.rates, wanted.rates, slack)
    assert_within(state.deflection, wanted.deflection, slack)


def test_forces_are_held_over_each_step(fresh, push, reference, pose_error):
    """Forces that alternate: an engine that blended neighbours would be late by half a step."""
    engine = fresh()
    hold, _, start = push(engine.platform)
    steps, legs = np.arange(40)[:, None], np.arange(engine.platform.n_actuators)
    phase = 2 * np.pi * 5e-3 * steps + legs
    forces = hold * (1.0 + 0.1 * np.sin(phase) + 0.5 * (-1.0) ** steps)
    wanted = reference(engine, forces, None, start)
    engine.reset(*start)
    for row in forces:
        state = engine.step(row)
    assert pose_error(state, wanted) < tolerance_of(engine)
    # The springs of struts hide alternating forces.
    if engine.fidelity == "accurate" and engine.platform.kind != "strut":
        shifted = reference(engine, np.roll(forces, 1, axis=0), None, start)
        assert pose_error(shifted, wanted) > 10 * pose_error(state, wanted)


def test_wrench_does_the_work_of_the_leg_forces_it_replaces(fresh):
    """By virtual work J^T f acts as f does; from rest the difference is of second order."""
    engine = fresh()
    platform = engine.platform
    # Of MuJoCo's soft loops, 2e-3 measured; of what springs change in a step; else 4e-5.
    slack = 1e-2 if engine.name == "mujoco" or platform.kind == "strut" else 1e-4
    for leg in range(platform.n_actuators):
        forces = np.zeros(platform.n_actuators)
        forces[leg] = platform.parameters.platform.body.mass
        engine.reset()
        wrench = platform.jacobian(platform.home).T @ forces
        pushed = engine.step(np.zeros(platform.n_actuators), wrench).twist
        engine.reset()
        driven = engine.step(forces).twist
        assert_within(pushed, driven, slack * np.abs(driven).max())


def test_every_axis_of_the_wrench(fresh, free_fall, pose_error, make):
    engine = fresh()
    if engine.platform.kind == "strut":
        # Before the springs answer: their phase would have an error of the first order.
        engine = fresh(0.1)
    platform = engine.platform
    exact = make("analytic", platform, engine.timestep)
    forces = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    size = 0.2 * np.abs(forces).sum()
    if platform.kind == "strut":
        size = 1e-3 * platform.parameters.leg.axial.stiffness
    acting = 0
    for wrench in size * np.eye(6):
        motion = free_fall(platform)._replace(forces=forces, wrench=wrench)
        wanted = motion.run(exact, 50 * engine.timestep)
        effect = pose_error(wanted, exact.reset())
        # The first order counts 51 halves of a step squared for 50: an error of 2 %.
        slack = 0.03 * effect if engine.fidelity == "fast" else tolerance_of(engine)
        if effect > 1e-12:
            acting += 1
            assert effect > 10 * slack
        assert pose_error(motion.run(engine, 50 * engine.timestep), wanted) < slack + 1e-12
    # Pillars do not turn about the vertical axis.
    assert acting == (6 if platform.dof == 6 else 5)


def test_holding_forces_hold(fresh, pose_error, still):
    engine = fresh()
    platform = engine.platform
    inside = still(platform)
    home = engine.reset(deflection=inside)
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest, deflection=inside)
    for _ in range(200):
        state = engine.step(forces)
    assert pose_error(state, home) < EQUILIBRIUM[engine.name]
    falling = engine.step(np.zeros(platform.n_actuators)).twist
    assert falling[2] < -0.1 * engine.timestep * platform.parameters.gravity


def test_legs_follow_the_platform(fresh, push):
    engine = fresh()
    platform, motion = engine.platform, push(engine.platform)
    state = run(motion, engine)
    # Softness of the loops; of the first order in the rates: 6e-7 and 2e-4 measured. The feet of
    # pillars are light and carry all, cranks turn by more than their tips move.
    slack = 1e-7 if engine.fidelity == "accurate" else 2e-6
    slack *= 10 if platform.kind in ("pillar", "rss") else 1
    lengths, rates = platform.inverse_kinematics(state.pose), platform.jacobian(state.pose)
    assert_within(state.lengths, lengths, slack)
    assert_within(state.rates, rates @ state.twist, 500 * slack)
    assert engine.loop_gap < 2 * slack


@pytest.mark.parametrize("engine_name", ["mujoco", "bullet"], indirect=True)
@pytest.mark.parametrize("platform", UNTUNED, indirect=True)
def test_own_defaults_cost_accuracy(make, engine_name, platform, push, pose_error):
    """Damping, soft loops and loose solvers, whatever the time step."""
    motion, step = push(platform), suitable_timestep(platform)
    wanted = motion.run(make("analytic", platform, step), 100 * step)
    runs = [
        motion.run(
            make(engine_name, platform, step, largest_gap=1.0, engine_defaults=defaults), 100 * step
        )
        for defaults in (False, True)
    ]
    tuned, untuned = (pose_error(run, wanted) for run in runs)
    # The short steps that struts ask for help the defaults.
    assert untuned > (10 if platform.kind == "strut" else 1e3) * tuned


@pytest.mark.slow
def test_order_of_convergence(
    subtests,
    make,
    platform,
    fidelity,
    push,
    pose_error,
):
    motion = push(platform)
    # The fastest mode of struts and the turning of cranks have to be resolved well.
    step = {"strut": 8e-6, "rss": 2.5e-4}.get(platform.kind, 1e-3)
    wanted = motion.run(make("analytic", platform, step), 120 * step)
    for (name, of_fidelity), (order, largest) in ORDERS.items():
        if of_fidelity != fidelity:
            continue
        with subtests.test(name):
            pytest.importorskip("pybullet" if name == "bullet" else "numpy")
            runs = [
                motion.run(make(name, platform, largest * step / 2**k, fidelity), 120 * step)
                for k in range(3)
            ]
            errors = [pose_error(run, wanted) for run in runs]
            # Higher terms still show at the largest step.
            found = np.log2(np.divide(errors[:-1], errors[1:]))
            assert_within(found, order, 0.17)
