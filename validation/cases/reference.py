"""The analytic reference against itself: laws it has to obey whatever its equations look like."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from twin.arrays import FloatArray
from twin.dynamics.integrate import integrate
from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import log_curve
from twin.validation.durations import duration_for, time_scale
from twin.validation.metrics import relative_error
from twin.validation.results import CaseResult, Measure, Panel, Plot
from twin.validation.sampling import RandomStates, moved, platform_radius, random_states

CASE = Case(
    key="reference",
    title="Laws of the analytic reference",
    description=(
        "The reference is held against laws that do not depend on how its equations were derived: "
        "inverse dynamics undoes forward dynamics, the change of energy is the power of forces and "
        "wrench, the kinetic energy is the quadratic form of a symmetric mass matrix, the Jacobian "
        "and its derivative are those of the leg lengths, forward kinematics undoes inverse "
        "kinematics, and free motion keeps its energy. Random poses inside the leg limits, random "
        "velocities, forces and wrenches."
    ),
)

STATES = 1000
DIFFERENCE_STEP = 3e-4
"""[s] at most: balance between truncation (fourth power of it) and rounding (divided by it)."""

FREE_MOTION = 0.3
"""[s] at most; not so long that a falling leg may come to lie along its joint's first axis."""

ROUNDING = (
    "rounding: 2e-16 times the condition of Jacobian and mass matrix leaves 1e-12 at most; "
    "a wrong term shows at 1e-3"
)
DIFFERENCES = (
    "fourth-order differences with a step of at most 0.3 ms: truncation and rounding leave 1e-10; "
    "a wrong term shows at 1e-3"
)


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    states = random_states(platform, STATES)
    generator = np.random.default_rng(1)
    scale = np.abs(platform.inverse_dynamics(*states)).max()
    forces = generator.uniform(-scale, scale, (STATES, platform.n_actuators))
    wrench = generator.uniform(-scale, scale, (STATES, 6))
    wrench[:, 3:] *= platform_radius(platform)
    drift, time = _energy_drift(platform, states)
    measures = (
        *_dynamics(platform, states, forces, wrench),
        *_kinematics(platform, states),
        Measure(
            f"energy drift in {time[-1]:g} s of free motion, per largest kinetic energy",
            float(drift.max()),
            "1",
            1e-10,
            "bar of the reference integrator (Dormand-Prince, 1e-12 per step)",
        ),
    )
    plot = Plot(
        "Energy drift of the reference in free motion",
        "time [s]",
        (
            Panel(
                "drift / largest kinetic energy",
                (log_curve("energy drift", time, drift),),
                log_y=True,
            ),
        ),
        caption="No actuator forces, gravity on, started at home with a random velocity.",
    )
    return CASE.result(platform, measures, (plot,))


def _dynamics(
    platform: Platform, states: RandomStates, forces: FloatArray, wrench: FloatArray
) -> tuple[Measure, ...]:
    pose, twist, _ = states
    acceleration = platform.forward_dynamics(pose, twist, forces, wrench)
    again = platform.inverse_dynamics(pose, twist, acceleration, wrench)
    mass = platform.mass_matrix(pose)
    kinetic = platform.energy(pose, twist)[0]
    form = 0.5 * np.einsum("ki,kij,kj->k", twist, mass, twist)

    def energy(time: float) -> FloatArray:
        kinetic, potential = platform.energy(moved(pose, twist, time), twist + acceleration * time)
        return kinetic + potential

    rates = np.einsum("kij,kj->ki", platform.jacobian(pose), twist)
    shares = np.hstack([forces * rates, wrench * twist])
    imbalance = np.abs(_rate(platform, energy) - shares.sum(axis=1)) / np.abs(shares).max(axis=1)
    return (
        Measure(
            "forces: inverse dynamics of forward dynamics",
            float(relative_error(again, forces).max()),
            "1",
            1e-10,
            ROUNDING,
        ),
        Measure(
            "power balance dE/dt = forces . rates + wrench . twist, per largest share",
            float(imbalance.max()),
            "1",
            1e-9,
            DIFFERENCES,
        ),
        Measure(
            "kinetic energy against twist' M twist / 2",
            float((np.abs(form - kinetic) / kinetic).max()),
            "1",
            1e-12,
            "rounding of a sum of some hundred terms",
        ),
    )


def _kinematics(platform: Platform, states: RandomStates) -> tuple[Measure, ...]:
    pose, twist, acceleration = states
    lengths = platform.inverse_kinematics(pose)
    jacobian = platform.jacobian(pose)
    rates = np.einsum("kij,kj->ki", jacobian, twist)
    seconds = np.einsum("kij,kj->ki", jacobian, acceleration) + np.einsum(
        "kij,kj->ki", platform.jacobian_derivative(pose, twist), twist
    )

    def lengths_at(time: float) -> FloatArray:
        return platform.inverse_kinematics(moved(pose, twist, time))

    def rates_at(time: float) -> FloatArray:
        later = platform.jacobian(moved(pose, twist, time))
        return np.asarray(np.einsum("kij,kj->ki", later, twist + acceleration * time))

    found = platform.forward_kinematics(lengths)
    residual = np.abs(platform.inverse_kinematics(found) - lengths).max()
    return (
        Measure(
            "leg rates: Jacobian against differences",
            float(relative_error(_rate(platform, lengths_at), rates).max()),
            "1",
            1e-9,
            DIFFERENCES,
        ),
        Measure(
            "leg accelerations: Jacobian derivative against differences",
            float(relative_error(_rate(platform, rates_at), seconds).max()),
            "1",
            1e-9,
            DIFFERENCES,
        ),
        Measure(
            "forward kinematics from home, residual of the lengths",
            float(residual),
            "m",
            1e-12,
            "bar of the forward kinematics",
        ),
        Measure(
            "forward kinematics from home, pose found again",
            float(np.abs(found[:, :3] - pose[:, :3]).max()),
            "m",
            1e-10,
            "residual times condition of the Jacobian; another assembly branch shows at 0.1 m",
        ),
    )


def _rate(platform: Platform, function: Callable[[float], FloatArray]) -> FloatArray:
    h = DIFFERENCE_STEP * time_scale(platform)
    near, far = function(h) - function(-h), function(2.0 * h) - function(-2.0 * h)
    return (8.0 * near - far) / (12.0 * h)


def _energy_drift(platform: Platform, states: RandomStates) -> tuple[FloatArray, FloatArray]:
    solution = integrate(
        platform,
        duration_for(platform, FREE_MOTION),
        twist=time_scale(platform) * states.twist[0],
    )
    kinetic, potential = platform.energy(solution.pose, solution.twist)
    total = kinetic + potential
    return np.abs(total - total[0])[1:] / kinetic.max(), solution.time[1:]
