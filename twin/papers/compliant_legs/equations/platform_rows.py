"""The moving platform's own equations: mass matrix and forces about the reference point."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.vectors import cross_matrix, dot, outer, rotation_matrix


def platform_mass_matrix(machine: CompliantMachine, pose: FloatArray) -> FloatArray:
    """Return `(batch, 6, 6)` of poses `(batch, 7)`: kinetic energy = twist^T M twist / 2.

    Reference: compliant-leg paper, equation (9), in velocities instead of angle rates and with a
    centre of mass that need not be the reference point.
    """
    rotation = rotation_matrix(pose)
    center = rotation @ machine.platform_center
    moment = machine.platform_mass * cross_matrix(center)
    matrix = np.zeros((len(pose), 6, 6))
    matrix[:, :3, :3] = machine.platform_mass * np.eye(3)
    matrix[:, 3:, :3], matrix[:, :3, 3:] = moment, -moment
    matrix[:, 3:, 3:] = _inertia_about_reference(machine, rotation, center)
    return matrix


def platform_forces(machine: CompliantMachine, pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return `(batch, 6)` gravity minus gyroscopic terms: M acceleration = this + wrenches."""
    rotation = rotation_matrix(pose)
    center = rotation @ machine.platform_center
    omega = twist[:, 3:]
    weight = machine.platform_mass * machine.weight_direction
    momentum = (_inertia_about_reference(machine, rotation, center) @ omega[..., None])[..., 0]
    centripetal = np.cross(omega, np.cross(omega, center))
    return np.concatenate(
        [
            weight - machine.platform_mass * centripetal,
            np.cross(center, weight) - np.cross(omega, momentum),
        ],
        axis=-1,
    )


def _inertia_about_reference(
    machine: CompliantMachine, rotation: FloatArray, center: FloatArray
) -> FloatArray:
    about_center = rotation @ machine.platform_inertia @ np.swapaxes(rotation, -1, -2)
    distance = dot(center, center)[..., None, None] * np.eye(3) - outer(center, center)
    return np.asarray(about_center + machine.platform_mass * distance)
