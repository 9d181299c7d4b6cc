"""Motions of all engines against the equations of motion, integrated by an independent program."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tolerance import assert_within

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


LONGEST = 300
"""Steps of a motion."""


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
