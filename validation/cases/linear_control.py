"""LQR and loop shaping on the linearised machine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.linear import LinearMachine, discretise, linearise
from twin.control.linear.loop_shaping import (
    LoopShaping,
    achieved_gamma,
    margins,
    perturbed_poles,
    random_change,
)
from twin.control.linear.lqr import Lqr, accumulated_cost, predicted_cost
from twin.model.machine_base import ZERO_VECTOR
from twin.rotations import displaced, displacement
from twin.simulation.simulate import simulate
from twin.validation.case import CaseResult, Entry, Measure, validation_case
from twin.validation.measures.sampling import largest

START_DIRECTION = np.array([1.0, -2.0, 1.5, 1.0, 2.0, -1.0])
"""Direction of the initial displacement from home, x, y, z and rotation vector, in parts of its
size."""

START_SIZE = 1e-6
"""[m], [rad] Size of the initial displacement: small enough for second-order terms to vanish, large
enough for fifteen digits."""

CONTROL_PERIOD = 1e-3
"""[s] Control period, and time step of the runs."""

FREE_DURATION = 0.2
"""[s] Duration of the run without a controller."""

COST_DURATION = 1.5
"""[s] Duration of the run with LQR: long enough for the whole cost to accrue."""

FACTOR_CHANGES = 30
"""Number of random changes of the coprime factors under which the loop has to be stable."""

FREQUENCY_GRID = np.geomspace(0.03, 1000.0, 500)
"""[Hz] Frequencies at which gains are compared."""

RANDOM_SEED = 7
"""Seed of the random changes."""


@validation_case(
    machines=("stewart", "srspm"),
    because="the designs are shown on two rigid machines with six prismatic actuators",
    run_time=2.0,
)
def check_linear_control(platform: Platform) -> CaseResult:
    """LQR and loop shaping on the linearised machine.

    The machine is linearised about home. Its small free motion is compared with the nonlinear one.
    The cost that the linear quadratic regulator promises is compared with the cost of the nonlinear
    machine, from a micrometre beside home. The H-infinity loop shaping design is held against its
    own promises: margins, and stability under all coprime factor changes below epsilon.
    """
    nonlinear_motion, predicted = _free_motion(platform, linearise(platform))
    free_motion = Measure(
        "free motion against the linear one, per displacement",
        largest(nonlinear_motion - predicted) / largest(nonlinear_motion),
        1e-4,
        "second order: the displacement times the machine's curvature of about 1/m, ten times "
        "over as the unstable motion grows",
    )
    return check_linear_control.result(
        platform, [free_motion, _regulator(platform), *_loop_shaping(platform)]
    )


def _free_motion(platform: Platform, linear: LinearMachine) -> tuple[FloatArray, FloatArray]:
    """Return displacements `(k, 6)` of the machine and of its linearisation."""
    pose = displaced(platform.home, START_SIZE * START_DIRECTION)
    trajectory = simulate(
        platform, FREE_DURATION, pose, forces=linear.point.forces, timestep=CONTROL_PERIOD
    )
    model = discretise(linear.system("forces", "displacement"), CONTROL_PERIOD)
    state, displacements = np.concatenate([START_SIZE * START_DIRECTION, np.zeros(6)]), []
    for _ in range(len(trajectory)):
        displacements.append(model.C @ state)
        state = model.A @ state
    return displacement(trajectory.pose, platform.home), np.array(displacements)


def _regulator(platform: Platform) -> Measure:
    controller = Lqr(platform, period=CONTROL_PERIOD)
    design = controller.design
    holding_forces = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR)
    initial_state = np.concatenate([START_SIZE * START_DIRECTION, np.zeros(6)])
    trajectory = simulate(
        platform,
        COST_DURATION,
        displaced(platform.home, initial_state[:6]),
        controller=controller,
        timestep=CONTROL_PERIOD,
        fidelity="fast",
    )
    states, forces = trajectory.signals["error"], trajectory.signals["command"] - holding_forces
    cost_ratio = accumulated_cost(design, states, forces) / predicted_cost(design, initial_state)
    return Measure(
        "LQR: cost paid against x_0' P x_0",
        abs(cost_ratio - 1.0),
        1e-5,
        "second order of a start of a micrometre",
    )


def _loop_shaping(platform: Platform) -> Iterator[Entry]:
    controller = LoopShaping(platform, period=CONTROL_PERIOD)
    design, rng = controller.design, np.random.default_rng(RANDOM_SEED)
    yield Measure(
        "loop shaping: reached gamma per designed",
        achieved_gamma(design, FREQUENCY_GRID) / design.gamma,
        1.0 + 1e-9,
        "the design's promise, on a grid of frequencies",
    )
    yield Measure(
        f"loop shaping: fastest growth under {FACTOR_CHANGES} random factor changes of 0.999 "
        "epsilon",
        max(
            float(perturbed_poles(design, random_change(6, 0.999 * design.epsilon, rng)).real.max())
            for _ in range(FACTOR_CHANGES)
        ),
        0.0,
        "small gain theorem: none may grow",
        "1/s",
    )
    stability_margins = margins(design.shaped, design.robust, FREQUENCY_GRID)
    epsilon = design.epsilon
    yield Measure(
        "loop shaping: smallest phase margin of a channel",
        stability_margins.phase.min(),
        float(2.0 * np.degrees(np.arcsin(epsilon))),
        "2 arcsin epsilon",
        "deg",
        at_least=True,
    )
    yield Measure(
        "loop shaping: smallest gain margin of a channel",
        stability_margins.gain.min(),
        (1.0 + epsilon) / (1.0 - epsilon),
        "(1 + epsilon) / (1 - epsilon)",
        at_least=True,
    )
    pose = displaced(platform.home, 1e-3 * START_DIRECTION)
    trajectory = simulate(
        platform, 2.0, pose, controller=controller, timestep=CONTROL_PERIOD, fidelity="fast"
    )
    yield Measure(
        "loop shaping: displacement of one millimetre that is left after 2 s",
        largest(displacement(trajectory.pose[-1], platform.home)),
        1e-7,
        "the integral part's poles have decayed by more than ten thousand",
        "m",
    )
