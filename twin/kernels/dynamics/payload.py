"""Largest payload that the actuators move along a given motion, one centre pose after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import add_body
from twin.kernels.dynamics.inverse import fill_transposed, inverse_dynamics
from twin.kernels.dynamics.work import Work, make_work
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.inverse import coordinates_and_rates
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import solve_general
from twin.kernels.platform_state import PlatformState, platform_state

DONE, BEYOND_ENDS, TOO_FAST = 0, 1, 2
"""Outcome of a run: done, or left out because an actuator cannot follow."""


class Motion(NamedTuple):
    """Motion of s samples about a level origin, added to a centre pose."""

    shifts: FloatArray
    """`(s, 7)` poses"""
    twists: FloatArray
    """`(s, 6)`"""
    accelerations: FloatArray
    """`(s, 6)`"""


class Limits(NamedTuple):
    """Limits of the actuators, and how they are judged."""

    values: FloatArray
    """`(4, n)`: lower and upper coordinates, speeds, forces"""
    signed: bool
    """whether only positive forces are limited"""
    checked: bool
    """whether runs beyond coordinates or speeds are left out"""


@device
def add_shift(center: FloatArray, shift: FloatArray, pose: FloatArray) -> None:
    """Fill `pose` (7,) with a small motion about a level origin, added to a centre pose."""
    for i in range(3):
        pose[i] = center[i] + shift[i]
    a, b, c, d = shift[3], shift[4], shift[5], shift[6]
    w, x, y, z = center[3], center[4], center[5], center[6]
    pose[3] = a * w - b * x - c * y - d * z
    pose[4] = a * x + b * w + c * z - d * y
    pose[5] = a * y - b * z + c * w + d * x
    pose[6] = a * z + b * y - c * x + d * w


@device
def outcome(
    legs: Legs,
    center: FloatArray,
    motion: Motion,
    limits: FloatArray,
    pose: FloatArray,
    coordinates: FloatArray,
    rates: FloatArray,
) -> int:
    """Return whether the actuators keep within their ends and speeds over a whole run."""
    for s in range(motion.shifts.shape[0]):
        add_shift(center, motion.shifts[s], pose)
        coordinates_and_rates(legs, pose, motion.twists[s], coordinates, rates)
        for i in range(coordinates.shape[0]):
            # Written so that a coordinate that does not exist is beyond the ends.
            if not (limits[0, i] <= coordinates[i] <= limits[1, i]):
                return BEYOND_ENDS
            if abs(rates[i]) > limits[2, i]:
                return TOO_FAST
    return DONE


@device
def add_unit_forces(
    unit: FloatArray, state: PlatformState, acceleration: FloatArray, work: Work, extra: Work
) -> None:
    """Fill `work.right` with the forces (6,) per kilogram of the body.

    `work.jacobian` is that of the pose already.
    """
    add_body(unit, state.matrix, state.omega, extra.mass_matrix, extra.bias)
    for i in range(6):
        work.right[i] = extra.bias[i]
        for j in range(6):
            work.right[i] += extra.mass_matrix[max(i, j), min(i, j)] * acceleration[j]
    fill_transposed(work)
    solve_general(work.system, work.right, 6)


@device
def largest_mass(fixed: float, slope: float, limit: float) -> float:
    """Return the mass up to which fixed + mass * slope keeps below the limit."""
    if fixed > limit:
        return 0.0
    return (limit - fixed) / slope if slope > 0.0 else 1e300


@compiled
def largest_payloads(
    unit: FloatArray,
    empty: FloatArray,
    legs: Legs,
    motion: Motion,
    limits: Limits,
    centers: FloatArray,
    out: FloatArray,
) -> int:
    """Fill `out` (k, 3) of centre poses (k, 7): largest mass [kg], its leg from 1, outcome.

    For machines with six actuators and degrees of freedom. Singular poses hold nothing.

    Args:
        unit: body of one kilogram, `(BODY_SIZE,)`.
        empty: the same without mass.
        legs: leg constants.
        motion: about each centre pose.
        limits: of the actuators.
        centers: `(k, 7)`.
        out: `(k, 3)`, filled.

    Returns:
        -1.
    """
    work, extra = make_work(legs), make_work(legs)
    pose, rates, forces = np.empty(7), np.empty(6), np.empty(6)
    deflection, wrench, highest = np.empty(0), np.zeros(6), limits.values[3]
    for k in range(centers.shape[0]):
        out[k, 0], out[k, 1], out[k, 2] = 1e300, 0.0, 0.0
        if limits.checked:
            out[k, 2] = outcome(legs, centers[k], motion, limits.values, pose, forces, rates)
            if out[k, 2] > 0.0:
                continue
        for s in range(motion.shifts.shape[0]):
            add_shift(centers[k], motion.shifts[s], pose)
            state, acceleration = platform_state(pose, motion.twists[s]), motion.accelerations[s]
            regular = inverse_dynamics(
                empty, legs, state, deflection, acceleration, wrench, forces, work
            )
            add_unit_forces(unit, state, acceleration, work, extra)
            for i in range(6):
                mass = largest_mass(forces[i], work.right[i], highest[i])
                if not limits.signed:
                    mass = min(mass, largest_mass(-forces[i], -work.right[i], highest[i]))
                if not regular:
                    mass = 0.0
                if mass < out[k, 0]:
                    out[k, 0], out[k, 1] = mass, i + 1.0
    return -1
