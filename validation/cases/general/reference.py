"""Laws of the analytic reference."""

from __future__ import annotations

from twin.analysis.platform import Platform
from twin.validation.case import CaseResult, Plot, validation_case
from twin.validation.measures.equilibrium import duration_for, fall_scale, rest
from twin.validation.measures.laws import balance_of, dynamic_laws, free_motion, kinematic_laws
from twin.validation.measures.sampling import random_states

STATE_COUNT = 1000
"""Number of random states at which the laws are checked."""

FREE_MOTION = 0.3
"""[s] Longest free motion: so short that no falling leg reaches the first axis of its joint."""


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
    plot = Plot(
        "Energy drift of the reference in free motion",
        "time [s]",
        balance.panel("drift / largest kinetic energy"),
        caption="No actuator forces, gravity on, started at home with a random velocity. What "
        "dampers and friction have taken is added.",
    )
    return check_reference.result(platform, measures, (plot,))
