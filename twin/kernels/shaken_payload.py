"""Compiled: one shaken position after the other, and the mass it stands."""

from __future__ import annotations

import numpy as np

from twin.kernels.dynamics.assembly import add_body
from twin.kernels.dynamics.inverse import fill_transposed, inverse_dynamics
from twin.kernels.dynamics.work import make_work
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.inverse import coordinates_and_rates
from twin.kernels.linear_algebra.solve import solve_general
from twin.kernels.vectors import rotation

DONE = 0
BEYOND_ENDS = 1
TOO_FAST = 2
"""What became of a run: done, or left out because an actuator cannot follow."""


@device
def moved(center, shift, pose):
    """Write the pose that a small motion about a level origin makes of a centre pose."""
    for i in range(3):
        pose[i] = center[i] + shift[i]
    a, b, c, d = shift[3], shift[4], shift[5], shift[6]
    w, x, y, z = center[3], center[4], center[5], center[6]
    pose[3] = a * w - b * x - c * y - d * z
    pose[4] = a * x + b * w + c * z - d * y
    pose[5] = a * y - b * z + c * w + d * x
    pose[6] = a * z + b * y - c * x + d * w


@device
def follows(legs, center, shifts, twists, limits, pose, coordinates, rates):
    """Return whether the actuators keep their ends and speeds over a whole run."""
    for s in range(shifts.shape[0]):
        moved(center, shifts[s], pose)
        coordinates_and_rates(legs, pose, twists[s], coordinates, rates)
        for i in range(coordinates.shape[0]):
            # Written so that a coordinate that does not exist is beyond the ends.
            if not (limits[0, i] <= coordinates[i] <= limits[1, i]):
                return 1
            if abs(rates[i]) > limits[2, i]:
                return 2
    return 0


@device
def add_unit_forces(unit, pose, twist, acceleration, work, extra):
    """Put the forces (6,) that a kilogram of the body takes into `work.right`.

    `work.jacobian` is that of the pose already.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    add_body(unit, matrix, (twist[3], twist[4], twist[5]), extra.mass_matrix, extra.bias)
    for i in range(6):
        work.right[i] = extra.bias[i]
        for j in range(6):
            work.right[i] += extra.mass_matrix[max(i, j), min(i, j)] * acceleration[j]
    fill_transposed(work)
    solve_general(work.system, work.right, 6)


@device
def largest_mass(fixed, slope, limit):
    """Return the mass up to which fixed + mass * slope keeps below the limit."""
    if fixed > limit:
        return 0.0
    return (limit - fixed) / slope if slope > 0.0 else 1e300


@compiled
def run_positions(
    unit, empty, legs, shifts, twists, accelerations, limits, signed, checked, centers, out
):
    """Fill `out` (k, 3) of centre poses (k, 7): largest mass [kg], leg from 1, what became of it.

    For machines with six actuators and degrees of freedom. `unit` is the body per kilogram, `empty`
    one without mass. `shifts` (s, 7), `twists`, `accelerations` (s, 6): the motion about a level
    origin. `limits` (4, n): lower and upper coordinates, speeds, forces. Singular poses hold
    nothing. Returns -1.
    """
    work, extra = make_work(legs), make_work(legs)
    pose, rates, forces = np.empty(7), np.empty(6), np.empty(6)
    inside, wrench = np.empty(0), np.zeros(6)
    for k in range(centers.shape[0]):
        out[k, 0], out[k, 1], out[k, 2] = 1e300, 0.0, 0.0
        if checked:
            out[k, 2] = follows(legs, centers[k], shifts, twists, limits, pose, forces, rates)
            if out[k, 2] > 0.0:
                continue
        for s in range(shifts.shape[0]):
            moved(centers[k], shifts[s], pose)
            regular = inverse_dynamics(
                empty, legs, pose, twists[s], inside, accelerations[s], wrench, forces, work
            )
            add_unit_forces(unit, pose, twists[s], accelerations[s], work, extra)
            for i in range(6):
                mass = largest_mass(forces[i], work.right[i], limits[3, i])
                if not signed:
                    mass = min(mass, largest_mass(-forces[i], -work.right[i], limits[3, i]))
                if not regular:
                    mass = 0.0
                if mass < out[k, 0]:
                    out[k, 0], out[k, 1] = mass, i + 1.0
    return -1
