"""Equations of the moving platform, and of one leg, solved for its tip and its spring.

The platform has a mass matrix and forces about its reference point. The legs are described by
vectors instead of angles.

With the unit vector n along the leg, of length l, and u = dn/dt, the Lagrangian of the paper's
three point masses gives for the tip's acceleration a under the joint reaction F_r (on the leg) and
the actuator force F_act

    n . a  = (F_act + F_r . n) / m3 + g . n - l4 u^2
    a_perp = l^2 / I F_r_perp + l / I (S g_perp - 2 C u) + 2 l' u

with I = sum m r^2, S = sum m r, C = sum m r r', and for the spring

    (m1 / 4 + m2) delta1'' = -F_act - k delta1 - B delta1'
                             + (m1 r1 / 2 + m2 r2) u^2 + (m1 / 2 + m2) g . n.

Vectors need no angles, so no direction of a leg is singular. Neither m3 nor F_r is in the spring's
equation: both act on the tip, whose distance is the length l, not the deflection.

Reference: compliant-leg paper, equations (30), (55) to (58), corrected (see the errata).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import cross, cross_matrix, rotation_matrix
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.state import LegState, dot, outer


def platform_mass_matrix(machine: CompliantMachine, pose: FloatArray) -> FloatArray:
    """Return `(batch, 6, 6)` of poses `(batch, 7)`: kinetic energy = twist^T M twist / 2.

    Reference: compliant-leg paper, equation (9), in velocities instead of angle rates and with a
    centre of mass that need not be the reference point.
    """
    rotation = rotation_matrix(pose[..., 3:])
    center = rotation @ machine.platform_center
    moment = machine.platform_mass * cross_matrix(center)
    matrix = np.zeros((len(pose), 6, 6))
    matrix[:, :3, :3] = machine.platform_mass * np.eye(3)
    matrix[:, 3:, :3], matrix[:, :3, 3:] = moment, -moment
    matrix[:, 3:, 3:] = _inertia_about_reference(machine, rotation, center)
    return matrix


def platform_forces(machine: CompliantMachine, pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return `(batch, 6)` gravity minus gyroscopic terms: M acceleration = this + wrenches."""
    rotation = rotation_matrix(pose[..., 3:])
    center = rotation @ machine.platform_center
    omega = twist[:, 3:]
    weight = machine.platform_mass * machine.weight_direction
    momentum = (_inertia_about_reference(machine, rotation, center) @ omega[..., None])[..., 0]
    centripetal = cross(omega, cross(omega, center))
    return np.concatenate(
        [
            weight - machine.platform_mass * centripetal,
            cross(center, weight) - cross(omega, momentum),
        ],
        axis=-1,
    )


def _inertia_about_reference(
    machine: CompliantMachine, rotation: FloatArray, center: FloatArray
) -> FloatArray:
    about_center = rotation @ machine.platform_inertia @ np.swapaxes(rotation, -1, -2)
    distance = dot(center, center)[..., None, None] * np.eye(3) - outer(center, center)
    return np.asarray(about_center + machine.platform_mass * distance)


class LegRows(NamedTuple):
    """Coefficients of a batch of states: what is linear in reactions and actuator forces."""

    admittance: FloatArray
    """Tip acceleration per joint reaction `(batch, n, 3, 3)` [1/kg]"""
    actuation: FloatArray
    """Tip acceleration per actuator force `(batch, n, 3)` [1/kg]"""
    drift: FloatArray
    """Tip acceleration without reaction and actuator force `(batch, n, 3)` [m/s2]"""
    deflecting_force: FloatArray
    """(m1 / 4 + m2) delta1'' without actuator force `(batch, n)` [N]"""


def leg_rows(machine: CompliantMachine, legs: LegState) -> LegRows:
    """Return the coefficients of the legs' equations at a state."""
    along = outer(legs.direction, legs.direction)
    across = np.eye(3) - along
    weight = machine.weight_direction
    length, inertia = legs.length[..., None], legs.inertia[..., None]
    pull = legs.direction @ weight
    radial = pull - machine.follower_length * legs.turning_squared
    swing = legs.first_moment[..., None] * (across @ weight)
    swing = swing - 2.0 * legs.coriolis_moment[..., None] * legs.direction_rate
    drift = (
        radial[..., None] * legs.direction
        + length / inertia * swing
        + 2.0 * legs.length_rate[..., None] * legs.direction_rate
    )
    follower = machine.follower_mass[:, None]
    return LegRows(
        along / follower[..., None] + (length**2 / inertia)[..., None] * across,
        legs.direction / follower,
        drift,
        force_without_spring(machine, legs) - machine.stiffness * legs.deflection,
    )


def force_without_spring(machine: CompliantMachine, legs: LegState) -> FloatArray:
    """Return `(batch, n)` [N] what drives a deflection besides the actuator and the spring."""
    swung = (
        machine.spring_mass * legs.radii[..., 0] / 2.0 + machine.housing_mass * legs.radii[..., 1]
    )
    hanging = machine.hanging_mass * dot(legs.direction, machine.weight_direction)
    return np.asarray(
        swung * legs.turning_squared + hanging - machine.damping * legs.deflection_rate
    )
