"""Energy along free motions of the reference: what is left, and what dampers and friction took."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import IntegrationError
from twin.model.integrate import integrate
from twin.model.solution import Solution
from twin.validation.measures.comparison import log_curve
from twin.validation.measures.sampling import followed
from twin.validation.results import Measure, Panel

MAX_DRIFT = 1e-10
"""Energy drift per largest kinetic energy that the integrator's tolerance of 1e-12 allows."""

BALANCE_REASON = (
    "bar of the reference integrator (Dormand-Prince, 1e-12 per step); losses are summed up by "
    "Gauss's rule over each step"
)

NODES = 5
"""Of Gauss's rule: the integrator's own polynomial between steps is of fourth order."""

ROUNDINGS = 32.0
"""Roundings of the total energy that add up over a motion. Adopted."""

ROUNDED_REASON = "; hardly any energy moves in so short a time, and rounding of the total shows"


class EnergyBalance(NamedTuple):
    """Energy of a motion that starts with all of it."""

    time: FloatArray
    """`(k,)` [s] ends of the integrator's steps"""
    drift: FloatArray
    """`(k,)` change of the total energy and of what was lost, per largest kinetic energy"""
    lost: FloatArray
    """`(k,)` [J] taken by dampers and friction"""
    total: FloatArray
    """`(k,)` [J] kinetic and potential energy"""
    rounding: float
    """[1] of the total energy, per largest kinetic energy"""

    def measure(self, name: str) -> Measure:
        """Return the largest drift; `name` begins the measure's name."""
        name = f"{name}, per largest kinetic energy"
        rounded = self.rounding > MAX_DRIFT
        reason = BALANCE_REASON + (ROUNDED_REASON if rounded else "")
        return Measure(name, self.drift.max(), max(MAX_DRIFT, self.rounding), reason)

    def panel(self, y_label: str = "energy drift / largest kinetic energy") -> Panel:
        """Return the drift over time."""
        curve = log_curve("energy drift", self.time[1:], self.drift[1:])
        return Panel(y_label, curve, log_y=True)


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
    lost = np.concatenate([[0.0], np.cumsum(_losses(platform, solution))])
    largest = kinetic.max() if kinetic.max() > 0.0 else 1.0
    rounding = ROUNDINGS * np.finfo(float).eps * float(np.abs([kinetic, potential]).max()) / largest
    drift = np.abs(total + lost - total[0]) / largest
    return EnergyBalance(solution.time, drift, lost, total, rounding)


def _losses(platform: Platform, solution: Solution) -> FloatArray:
    """Return the energy [J] lost in each step."""
    places, weights = np.polynomial.legendre.leggauss(NODES)
    widths = np.diff(solution.time)
    times = solution.time[:-1, None] + 0.5 * widths[:, None] * (places + 1.0)
    states = solution.at(times)
    power = platform.dissipation(states[..., :7], states[..., 7:13], deflection=states[..., 13:])
    return np.asarray(0.5 * widths * (power @ weights))
