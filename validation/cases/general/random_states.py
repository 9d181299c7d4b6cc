"""Laws of the analytic reference, and projections of the engines' trees, on random states."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.validation.case import CaseResult, Panel, Plot, validation_case
from twin.validation.measures.comparison import projection_errors
from twin.validation.measures.equilibrium import duration_for, fall_scale, rest
from twin.validation.measures.laws import balance_of, dynamic_laws, free_motion, kinematic_laws
from twin.validation.measures.sampling import random_states

STATE_COUNT = 1000
"""Number of random states at which the laws are checked."""

FREE_MOTION = 0.3
"""[s] Longest free motion: so short that no falling leg reaches the first axis of its joint."""

PROJECTED_STATE_COUNT = 50
"""Number of random states put into the open tree of each engine."""


@validation_case()
def check_reference(platform: Platform) -> CaseResult:
    """Laws of the analytic reference.

    The reference is held against laws that do not depend on the derivation of its equations.
    Inverse dynamics undoes forward dynamics. The change of energy is the power of forces and wrench
    less the losses in dampers and friction. The kinetic energy is the quadratic form of a symmetric
    mass matrix. The Jacobian and its derivative are those of the actuator coordinates. Forward
    kinematics undoes inverse kinematics. Free motion keeps its energy except for losses. Poses are
    random inside the actuators' limits, with random velocities, forces and wrenches.
    """
    states = random_states(platform, STATE_COUNT)
    motion = free_motion(
        platform,
        duration_for(platform, FREE_MOTION),
        twist=platform.constrain(platform.home, fall_scale(platform) * states.twist[0]).twist,
        deflection=rest(platform).deflection,
    )
    balance = balance_of(platform, motion)
    measures = (
        *dynamic_laws(platform, states),
        *kinematic_laws(platform, states),
        balance.measure(f"energy drift in {balance.time[-1]:.4g} s of free motion"),
    )
    return check_reference.result(platform, measures)


@validation_case(run_time=0.5)
def check_projection(platform: Platform) -> CaseResult:
    """Algebraic projection on random states.

    Random states with random accelerations are put into each engine's open tree (loops cut where
    the engine closes them by constraints). The tree's own inverse dynamics is projected through the
    loop-closure Jacobian onto the actuators. It has to give the reference's actuator forces, those
    of smallest norm where there are more actuators than degrees of freedom. No constraint solver
    and no time step take part: agreement proves that the engine's model has the right masses,
    inertias, centres of mass, points and axes.
    """
    states = random_states(platform, PROJECTED_STATE_COUNT)
    measures, curves = projection_errors(
        platform, states, x=np.arange(1.0, PROJECTED_STATE_COUNT + 1.0)
    )
    points = [curve._replace(style="markers") for curve in curves]
    panel = Panel("largest error / largest force", *points, log_y=True)
    return check_projection.result(
        platform, measures, (Plot("Projected actuator forces", "state", panel),)
    )
