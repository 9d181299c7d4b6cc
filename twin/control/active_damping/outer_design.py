"""The outer loop of HAC-LAC: LQG on the pose of a machine whose legs are damped by local laws.

State feedback on (x, z, s): state of the machine with its drives, of the local laws, and the
platform's displacement summed up. Added forces r cost r'r; a displacement d costs the
square of equivalent forces,

    H d,   H = J'^-1 M w_h^2 + G_0^-1,

those that move the platform's mass at the bandwidth w_h and those that displace it at rest against
the locally closed loops (G_0: displacement per added force); sums cost (H w_h / 5)^2. The
machine's state is estimated by a Kalman filter from coordinates, rates and forces; dry friction of
the motors counts as a force that disturbs them. The commands of the drives are known, so
that the laws need no estimate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray, positive
from twin.control.active_damping.closed_loop import closed_loop
from twin.control.active_damping.driven_plant import driven_plant
from twin.control.active_damping.laws import LocalLaw
from twin.control.active_damping.riccati import riccati
from twin.control.drive_model import drive_model
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace

INTEGRAL = 0.2
"""Corner of the integral part per bandwidth."""

FORCE_NOISE = 1.0
"""[N] Adopted: of the legs' forces as read."""


class OuterLoop(NamedTuple):
    """Design of the outer loop of HAC-LAC: its gain and the machine that it acts on."""

    gain: FloatArray
    """`(n, s + n + 6)` on (x, z, s)"""
    machine: StateSpace
    """sampled, with its drives: from forces to coordinates, rates and forces"""
    filter: FloatArray
    """`(s, 3n)` Kalman gain on (q, q', F)"""
    displacement: FloatArray
    """`(6, s)` of the platform per state"""
    inverse: FloatArray
    """`(6, n)` displacement per coordinates, springs in series added"""
    springs: FloatArray
    """`(n, n)` deflections at rest of springs in series per force, zero where there are none"""
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
    """Return the outer loop around a machine with local laws, drives and sensors included.

    Args:
        linear: the machine, of six degrees of freedom.
        law: in every leg.
        bandwidth: w_h / 2 pi [Hz].
        noise: of exact coordinates [m]; of the rates, that over 10 ms. Encoders have their steps'.
        disturbance: wrench [N], [N m] that shakes the platform in every period.

    Raises:
        InputError: numbers not above zero.
    """
    outer = 2.0 * np.pi * positive(bandwidth, "bandwidth")
    gain, regulated = _regulator(linear, law, outer)
    d, n = linear.size - linear.platform.n_deflections, linear.platform.n_actuators
    plant = driven_plant(linear, law.period, ("wrench", "forces"), ("displacement",))
    drives = drive_model(linear.platform)
    shaken = plant.B[:, n:] * np.concatenate(
        [np.full(6, positive(disturbance, "disturbance")), drives.friction]
    )
    read = plant.C[: 3 * n]
    sigma = np.maximum(positive(noise, "noise"), drives.resolution / np.sqrt(12.0))
    counted = drives.resolution > 0.0
    swift = np.where(counted, np.sqrt(2.0) * sigma / law.period, sigma / 0.01)
    errors = np.diag(np.concatenate([sigma, swift, np.full(n, FORCE_NOISE)]) ** 2)
    covariance = riccati(plant.A.T, read.T, shaken @ shaken.T, errors)
    innovation = read @ covariance @ read.T + errors
    kalman = np.asarray(np.linalg.solve(innovation, read @ covariance).T)
    errors_move = plant.A @ (np.eye(len(plant.A)) - kalman @ read)
    poles = np.concatenate([np.linalg.eigvals(part) for part in (regulated, errors_move)])
    rates = np.log(np.where(np.abs(poles) < 1e-300, 1e-300, poles.astype(complex))) / law.period
    machine = StateSpace(plant.A, plant.B[:, :n], read, np.zeros((3 * n, n)), law.period)
    springs: FloatArray = np.zeros((n, n))
    if linear.size > d:
        springs = np.asarray(np.linalg.solve(linear.stiffness[d:, d:], linear.force_input[d:]))
    inverse = np.asarray(np.linalg.inv(linear.force_input[:d].T))
    return OuterLoop(gain, machine, kalman, plant.C[3 * n :], inverse, springs, np.asarray(rates))


def _regulator(linear: LinearMachine, law: LocalLaw, outer: float) -> tuple[FloatArray, FloatArray]:
    """Return the gain `(n, s + n + 6)` on (x, z, s), and the matrix of the regulated loop."""
    inner = closed_loop(linear, law, outputs=("displacement",))
    d, n = linear.size - linear.platform.n_deflections, linear.platform.n_actuators
    size = len(inner.A)
    dynamics = np.zeros((size + 6, size + 6))
    dynamics[:size, :size], dynamics[size:, size:] = inner.A, np.eye(6)
    dynamics[size:, :size] = law.period * inner.C
    input_matrix = np.vstack([inner.B, np.zeros((6, n))])
    jacobian = linear.force_input[:d].T
    still = inner.C @ np.linalg.solve(np.eye(size) - inner.A, inner.B)
    holding = np.linalg.solve(jacobian.T, linear.mass[:d, :d] * outer**2) + np.linalg.inv(still)
    stiff = np.hstack([holding @ inner.C, np.zeros((n, 6))])
    summed = np.hstack([np.zeros((n, size)), INTEGRAL * outer * holding])
    cost = stiff.T @ stiff + summed.T @ summed
    worth = riccati(dynamics, input_matrix, cost, np.eye(n))
    gain = np.linalg.solve(
        np.eye(n) + input_matrix.T @ worth @ input_matrix, input_matrix.T @ worth @ dynamics
    )
    return np.asarray(gain), dynamics - input_matrix @ gain
