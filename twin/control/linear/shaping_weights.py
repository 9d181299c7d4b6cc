"""Weights of loop shaping: decoupled actuator channels, each with PI and lead.

Forces f of its actuators accelerate a rigid machine by q'' = (E' M^-1 E) f + .., so that the forces
m = (E' M^-1 E)^-1 u accelerate every actuator by its own u alone: each channel is 1/s^2. Its
weight, for the crossover w_c, is

    w(s) = k (1 + w_i / s) (1 + a s / w_c) / (1 + s / (a w_c)),   |w(j w_c)| = w_c^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace
from twin.errors import InputError


class ShapingWeights(NamedTuple):
    """Specification of one channel."""

    crossover: float = 10.0
    """[Hz]"""
    integral: float = 0.2
    """Corner w_i of the integral part, in parts of the crossover"""
    lead: float = 3.0
    """a: the lead acts from 1/a to a times the crossover; 1: none"""


def channel_masses(linear: LinearMachine) -> FloatArray:
    """Return (E' M^-1 E)^-1 `(n, n)` [kg]: forces per acceleration of the actuators.

    Raises:
        InputError: actuators that cannot be accelerated one by one.
    """
    mobility = linear.force_input.T @ np.linalg.solve(linear.mass, linear.force_input)
    if linear.size != len(mobility) or not np.linalg.cond(mobility) < 1e12:
        raise InputError(
            "linear", f"{linear.platform.name} has actuators that do not move one by one"
        )
    return np.asarray(np.linalg.inv(mobility))


def shaping_filter(masses: FloatArray, weights: ShapingWeights) -> StateSpace:
    """Return the weight W `(n, n)` [N/m] in front of the machine, two states per channel.

    Raises:
        InputError: a crossover or corner not above zero, or a lead below one.
    """
    crossover = 2.0 * np.pi * positive(weights.crossover, "crossover")
    corner = positive(weights.integral, "integral") * crossover
    spread = positive(weights.lead, "lead")
    if spread < 1.0:
        raise InputError("lead", f"must be one or more, got {spread!r}")
    top, pole = crossover / spread, crossover * spread
    # w = k (s + w_i) (s / top + 1) / (s (s / pole + 1)) = k (d + r_0 / s + r_1 / (s + pole))
    at = 1j * crossover
    size = abs((at + corner) * (at / top + 1.0) / (at * (at / pole + 1.0)))
    gain = crossover**2 / size
    d = pole / top
    slow = corner
    fast = pole * (corner - pole) * (1.0 - pole / top) / -pole
    one = np.eye(len(masses))
    return StateSpace(
        np.asarray(np.kron(one, np.diag([0.0, -pole]))),
        np.asarray(np.kron(one, np.ones((2, 1)))),
        masses @ np.kron(one, gain * np.array([[slow, fast]])),
        gain * d * masses,
    )
