"""The analytic reference against itself: laws it has to obey whatever its equations look like."""

from __future__ import annotations

from twin.simulation.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import log_curve
from twin.validation.durations import duration_for, fall_scale
from twin.validation.energy import BALANCE_REASON, balance_of, free_motion
from twin.validation.equilibrium import rest
from twin.validation.laws import dynamic_laws, kinematic_laws
from twin.validation.results import CaseResult, Measure, Panel, Plot
from twin.validation.sampling import random_states

CASE = Case(
    key="reference",
    title="Laws of the analytic reference",
    description=(
        "The reference is held against laws that do not depend on how its equations were derived: "
        "inverse dynamics undoes forward dynamics, the change of energy is the power of forces and "
        "wrench less what dampers and friction take, the kinetic energy is the quadratic form of a "
        "symmetric mass matrix, the Jacobian and its derivative are those of the actuator "
        "coordinates, forward kinematics undoes inverse kinematics, and free motion keeps its "
        "energy but for losses. Random poses inside the actuators' limits, random velocities, "
        "forces and wrenches."
    ),
)

STATES = 1000

FREE_MOTION = 0.3
"""[s] at most; not so long that a falling leg may come to lie along its joint's first axis."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    states = random_states(platform, STATES)
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
        Measure(
            f"energy drift in {balance.time[-1]:.4g} s of free motion, per largest kinetic energy",
            float(balance.drift.max()),
            "1",
            1e-10,
            BALANCE_REASON,
        ),
    )
    curve = log_curve("energy drift", balance.time[1:], balance.drift[1:])
    plot = Plot(
        "Energy drift of the reference in free motion",
        "time [s]",
        (Panel("drift / largest kinetic energy", (curve,), log_y=True),),
        caption="No actuator forces, gravity on, started at home with a random velocity. What "
        "dampers and friction have taken is added.",
    )
    return CASE.result(platform, measures, (plot,))
