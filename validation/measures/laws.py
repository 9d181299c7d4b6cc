"""Laws of mechanics that every reference has to obey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import IntegrationError
from twin.model.integrate import Solution, integrate
from twin.validation.case import Entry, Measure
from twin.validation.measures.comparison import actuator_rates, coordinate_name
from twin.validation.measures.equilibrium import fall_scale, fastest_rate
from twin.validation.measures.sampling import (
    RandomStates,
    followed,
    largest,
    later,
    rate_per_speed,
    relative_error,
)

MAX_DRIFT = 1e-10
"""Energy drift, relative to the largest kinetic energy, that the integrator's tolerance of 1e-12
allows."""

BALANCE_REASON = (
    "limit of the reference integrator (Dormand-Prince, 1e-12 per step); losses are summed up by "
    "Gauss's rule over each step"
)

GAUSS_NODES = 5
"""Number of nodes of Gauss's rule: the integrator's polynomial between steps is of fourth order."""

ENERGY_ROUNDINGS = 32.0
"""Number of roundings of the total energy that add up over a motion. Engineering choice."""

ROUNDED_REASON = "; hardly any energy moves in so short a time, and rounding of the total shows"

DIFFERENCE_STEP = 3e-4
"""[s] Longest difference step: balance between truncation (fourth power of it) and rounding
(divided by it)."""

DIFFERENCE_RATE = 0.05
"""Largest product of the difference step and the fastest rate of the free motion."""

DIFFERENCE_TURN = 2.5e-4
"""[rad] Largest rotation of a crank in a difference step."""

DIFFERENCE_GROWTH = 1e-11
"""Largest product of the fourth power of the difference step, acceleration and square of velocity,
both as rates of turn [rad/s2, rad/s]: the energy of a light platform on stiff springs, which gains
speed fast while it turns, leaves some four times as much per largest share."""

GUESS_TIME = 1e-3
"""[s] Time after a state whose pose is the initial guess of forward kinematics."""

ROUNDING_REASON = (
    "rounding: 2e-16 times the condition of Jacobian and mass matrix leaves 1e-12 at most; "
    "a wrong term shows at 1e-3"
)

DIFFERENCES_REASON = (
    "fourth-order differences with a step of at most 0.3 ms: truncation and rounding leave 1e-10; "
    "a wrong term shows at 1e-3"
)


class EnergyBalance(NamedTuple):
    """Energy of a motion that is driven only by its initial energy and gravity."""

    time: FloatArray
    """`(k,)` [s] ends of the integrator's steps"""
    drift: FloatArray
    """`(k,)` change of the total energy plus the dissipated energy, relative to the largest kinetic
    energy"""
    total: FloatArray
    """`(k,)` [J] kinetic and potential energy"""
    rounding: float
    """rounding error of the total energy, relative to the largest kinetic energy"""

    def measure(self, name: str) -> Measure:
        """Return the largest drift; `name` begins the measure's name."""
        name = f"{name}, per largest kinetic energy"
        rounding_dominates = self.rounding > MAX_DRIFT
        return Measure(
            name,
            self.drift.max(),
            max(MAX_DRIFT, self.rounding),
            BALANCE_REASON + (ROUNDED_REASON if rounding_dominates else ""),
        )


def free_motion(platform: Platform, duration: float, **start: Any) -> Solution:
    """Return the motion without forces, halved in length until all legs can follow it.

    Args:
        platform: the machine.
        duration: [s] at most.
        start: `pose`, `twist` and `deflection` as in `integrate`.
    """
    try:
        solution = integrate(platform, duration, **start)
    except IntegrationError as error:
        return free_motion(platform, 0.5 * error.data["time"], **start)
    if followed(platform, solution.pose):
        return solution
    return free_motion(platform, 0.5 * duration, **start)


def balance_of(platform: Platform, solution: Solution) -> EnergyBalance:
    """Return the balance of a solution without actuator forces and wrench."""
    kinetic, potential = platform.energy(
        solution.pose, solution.twist, deflection=solution.deflection
    )
    total = kinetic + potential
    dissipated = np.concatenate([[0.0], np.cumsum(_losses(platform, solution))])
    largest_kinetic = kinetic.max() or 1.0
    rounding = (
        ENERGY_ROUNDINGS * np.finfo(float).eps * largest([kinetic, potential]) / largest_kinetic
    )
    drift = np.abs(total + dissipated - total[0]) / largest_kinetic
    return EnergyBalance(solution.time, drift, total, rounding)


def _losses(platform: Platform, solution: Solution) -> FloatArray:
    """Return the energy [J] that is dissipated in each step of the integrator."""
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS_NODES)
    step_sizes = np.diff(solution.time)
    states = solution.at(solution.time[:-1, None] + 0.5 * step_sizes[:, None] * (nodes + 1.0))
    # States are pose (7), twist (6), then the deflections and their rates.
    power = platform.dissipation(states[..., :7], states[..., 7:13], deflection=states[..., 13:])
    return np.asarray(0.5 * step_sizes * (power @ weights))


def dynamic_laws(platform: Platform, states: RandomStates) -> Iterator[Entry]:
    """Yield the errors of the laws that tie forces, power and kinetic energy."""
    pose, twist, _, deflection = states
    forces, wrench = _random_load(platform, states)
    accelerations = platform.forward_dynamics(pose, twist, forces, wrench, deflection=deflection)
    recovered_forces = platform.inverse_dynamics(
        pose, twist, accelerations[:, :6], wrench, deflection=deflection
    )
    effective = effective_forces(platform, pose, forces)
    yield Measure(
        "forces: inverse dynamics of forward dynamics",
        relative_error(recovered_forces, effective).max(),
        1e-10,
        ROUNDING_REASON,
    )

    def energy(time: float) -> FloatArray:
        later_pose, later_twist, later_deflection = later(platform, states, accelerations, time)
        return np.asarray(
            np.sum(platform.energy(later_pose, later_twist, deflection=later_deflection), axis=0)
        )

    terms = np.hstack(
        [
            forces * actuator_rates(platform, pose, twist, deflection),
            wrench * twist,
            -platform.dissipation(pose, twist, deflection=deflection)[:, None],
        ]
    )
    rate = _rate(platform, states, accelerations, energy)
    imbalance = np.abs(rate - terms.sum(axis=1)) / np.abs(terms).max(axis=1)
    yield Measure(
        "power balance dE/dt = forces . rates + wrench . twist - losses, per largest share",
        imbalance.max(),
        1e-9,
        DIFFERENCES_REASON,
    )
    no_deflection_rate = deflection.copy()
    no_deflection_rate[:, platform.n_deflections :] = 0.0
    kinetic = platform.energy(pose, twist, deflection=no_deflection_rate)[0]
    mass = platform.mass_matrix(pose, deflection=no_deflection_rate)
    quadratic_form = 0.5 * np.einsum("ki,kij,kj->k", twist, mass, twist)
    yield Measure(
        "kinetic energy against twist' M twist / 2",
        (np.abs(quadratic_form - kinetic) / kinetic).max(),
        1e-12,
        "rounding of a sum of some hundred terms",
    )


def kinematic_laws(platform: Platform, states: RandomStates) -> Iterator[Entry]:
    """Yield the errors of the laws that tie coordinates, Jacobian and forward kinematics."""
    pose, twist, acceleration, _ = states
    coordinates = platform.inverse_kinematics(pose)
    jacobian = platform.jacobian(pose)
    velocity_term = np.einsum("kij,kj->ki", platform.jacobian_derivative(pose, twist), twist)
    coordinate_accelerations = np.einsum("kij,kj->ki", jacobian, acceleration) + velocity_term
    system_acceleration = np.hstack([acceleration, np.zeros((len(pose), platform.n_deflections))])

    def coordinates_at(time: float) -> FloatArray:
        return platform.inverse_kinematics(later(platform, states, system_acceleration, time)[0])

    def rates_at(time: float) -> FloatArray:
        later_pose, later_twist, _ = later(platform, states, system_acceleration, time)
        return np.asarray(np.einsum("kij,kj->ki", platform.jacobian(later_pose), later_twist))

    rates = np.einsum("kij,kj->ki", jacobian, twist)
    for name, function, expected in (
        ("rates: Jacobian", coordinates_at, rates),
        ("accelerations: Jacobian derivative", rates_at, coordinate_accelerations),
    ):
        name = f"actuator {name} against differences"
        yield Measure(
            name,
            relative_error(_rate(platform, states, system_acceleration, function), expected).max(),
            1e-9,
            DIFFERENCES_REASON,
        )
    recovered_pose = platform.forward_kinematics(coordinates)
    yield Measure(
        f"forward kinematics from home, residual of the {coordinate_name(platform)}s",
        largest(platform.inverse_kinematics(recovered_pose) - coordinates),
        1e-12,
        "limit of the forward kinematics",
        platform.coordinate_unit,
    )
    # From home it may be another pose with the same coordinates on home's side of singular poses.
    guess = later(platform, states, system_acceleration, GUESS_TIME)[0]
    yield Measure(
        "forward kinematics from a pose 1 ms later, pose found again",
        largest(platform.forward_kinematics(coordinates, guess)[:, :3] - pose[:, :3]),
        1e-10,
        "residual times condition of the Jacobian; another assembly mode shows at 1 mm and more",
        "m",
    )


def effective_forces(platform: Platform, pose: FloatArray, forces: FloatArray) -> FloatArray:
    """Return the forces `(m, n)` of smallest norm with the effect of `forces` on the platform."""
    if platform.dof == platform.n_actuators:
        return forces
    # The last right singular vectors span the twists that the constraints allow.
    dof = np.linalg.svd(platform.constraints(pose))[2][:, 6 - platform.dof :]
    reduced_jacobian = np.einsum("kij,kfj->kif", platform.jacobian(pose), dof)
    return np.asarray(
        np.einsum("kif,kfj,kj->ki", reduced_jacobian, np.linalg.pinv(reduced_jacobian), forces)
    )


def _random_load(platform: Platform, states: RandomStates) -> tuple[FloatArray, FloatArray]:
    """Return random forces `(m, n)` and wrenches `(m, 6)` as large as the states need."""
    pose, twist, acceleration, deflection = states
    rng = np.random.default_rng(1)
    holding_forces = platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection)
    scale = largest(holding_forces)
    forces = rng.uniform(-scale, scale, (len(pose), platform.n_actuators))
    wrench = rng.uniform(-scale, scale, (len(pose), 6)) * rate_per_speed(platform)
    wrench[:, 3:] *= platform.joint_radius
    return forces, wrench


def _rate(
    platform: Platform,
    states: RandomStates,
    acceleration: FloatArray,
    function: Callable[[float], FloatArray],
) -> FloatArray:
    """Return differences of a function of time [s] about states that are accelerated."""
    h, rate = DIFFERENCE_STEP * fall_scale(platform), fastest_rate(platform)
    radius = platform.joint_radius
    angular_acceleration, angular_rate = (
        max(largest(motion[:, :3]) / radius, largest(motion[:, 3:6]))
        for motion in (acceleration, states.twist)
    )
    h = min(h, (DIFFERENCE_GROWTH / (angular_acceleration * angular_rate**2)) ** 0.25)
    if platform.coordinate_unit == "rad":
        crank_rates = np.einsum("kij,kj->ki", platform.jacobian(states.pose), states.twist)
        rate = max(rate, DIFFERENCE_RATE / DIFFERENCE_TURN * largest(crank_rates))
    h = DIFFERENCE_RATE / rate if h * rate > DIFFERENCE_RATE else h
    # Central difference of fourth order.
    near_difference = function(h) - function(-h)
    far_difference = function(2.0 * h) - function(-2.0 * h)
    return (8.0 * near_difference - far_difference) / (12.0 * h)
