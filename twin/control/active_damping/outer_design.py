"""The outer loop of HAC-LAC: LQG on the pose of a machine whose legs are damped by local laws.

State feedback on (x, z, f, s): state of the machine, of the local laws with the forces they gave,
and the platform's displacement summed up. Added forces r cost r'r; a displacement d costs the
square of the forces that it is worth,

    H d,   H = J'^-1 M w_h^2 + G_0^-1,

what moves the platform's mass at the bandwidth w_h and what it takes at rest against the locally
closed loops (G_0: displacement per added force); sums cost (H w_h / 5)^2. The machine's state is
estimated by a Kalman filter from coordinates and rates; the actuator forces are known, so that the
laws need no estimate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.arrays import FloatArray, positive
from twin.control.active_damping.closed_loop import MEASURED, closed_loop
from twin.control.active_damping.laws import LocalLaw
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace, sampled

INTEGRAL = 0.2
"""Corner of the integral part per bandwidth."""


class OuterLoop(NamedTuple):
    """What the outer loop of HAC-LAC runs on."""

    gain: FloatArray
    """`(n, 2m + 2n + 6)` on (x, z, f, s)"""
    machine: StateSpace
    """sampled: from forces to coordinates and rates"""
    filter: FloatArray
    """`(2m, 2n)` Kalman gain on (q, q')"""
    displacement: FloatArray
    """`(6, 2m)` of the platform per state"""
    inverse: FloatArray
    """`(6, n)` displacement per coordinates, springs in series added"""
    springs: FloatArray
    """`(n, 2m)` deflections of springs in series per state, zero where there are none"""
    poles: NDArray[np.complex128]
    """[1/s] of the whole loop: those of the regulator, then those of the filter"""


def outer_loop(
    linear: LinearMachine,
    law: LocalLaw,
    bandwidth: float,
    *,
    noise: float = 1e-8,
    disturbance: float = 1.0,
) -> OuterLoop:
    """Return the outer loop around a machine with local laws.

    Args:
        linear: the machine, of six freedoms.
        law: in every leg.
        bandwidth: w_h / 2 pi [Hz].
        noise: of the measured coordinates [m]; of the rates, that over 10 ms.
        disturbance: wrench [N], [N m] that shakes the platform in every period.

    Raises:
        InputError: numbers not above zero.
    """
    from scipy.linalg import solve_discrete_are

    outer = 2.0 * np.pi * positive(bandwidth, "bandwidth")
    inner = closed_loop(linear, law, outputs=("displacement",))
    d, n = linear.size - linear.platform.n_internal, linear.platform.n_actuators
    size = len(inner.dynamics)
    dynamics = np.zeros((size + 6, size + 6))
    dynamics[:size, :size], dynamics[size:, size:] = inner.dynamics, np.eye(6)
    dynamics[size:, :size] = law.period * inner.output
    entering = np.vstack([inner.entering, np.zeros((6, n))])
    jacobian = linear.pushed[:d].T
    still = inner.output @ np.linalg.solve(np.eye(size) - inner.dynamics, inner.entering)
    holding = np.linalg.solve(jacobian.T, linear.mass[:d, :d] * outer**2) + np.linalg.inv(still)
    stiff = np.hstack([holding @ inner.output, np.zeros((n, 6))])
    summed = np.hstack([np.zeros((n, size)), INTEGRAL * outer * holding])
    cost = stiff.T @ stiff + summed.T @ summed
    riccati = solve_discrete_are(dynamics, entering, cost, np.eye(n))
    gain = np.linalg.solve(
        np.eye(n) + entering.T @ riccati @ entering, entering.T @ riccati @ dynamics
    )
    plant = sampled(linear.system(("forces", "wrench"), (*MEASURED, "displacement")), law.period)
    shaken = positive(disturbance, "disturbance") * plant.entering[:, n:]
    read = plant.output[: 2 * n]
    sigma = positive(noise, "noise")
    errors = np.diag(np.repeat([sigma**2, (sigma / 0.01) ** 2], n))
    covariance = solve_discrete_are(plant.dynamics.T, read.T, shaken @ shaken.T, errors)
    innovation = read @ covariance @ read.T + errors
    kalman = np.linalg.solve(innovation, read @ covariance).T
    machine = StateSpace(
        plant.dynamics, plant.entering[:, :n], read, np.zeros((2 * n, n)), law.period
    )
    errors_move = plant.dynamics @ (np.eye(len(plant.dynamics)) - kalman @ read)
    poles = np.concatenate(
        [np.linalg.eigvals(part) for part in (dynamics - entering @ gain, errors_move)]
    ).astype(np.complex128)
    rates = np.log(np.where(np.abs(poles) < 1e-300, 1e-300, poles)) / law.period
    springs = np.zeros((n, 2 * linear.size))
    if linear.size > d:
        springs[:, d : linear.size] = np.eye(n)
    inverse = np.asarray(np.linalg.inv(jacobian))
    return OuterLoop(
        gain, machine, kalman, plant.output[2 * n :], inverse, springs, np.asarray(rates)
    )
