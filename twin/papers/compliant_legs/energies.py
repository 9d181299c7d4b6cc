"""Energies of a machine with viscoelastic legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.equations.platform_rows import platform_mass_matrix
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.state import checked_state, leg_state
from twin.papers.compliant_legs.vectors import dot, rotation_matrix


def energy(
    machine: CompliantMachine, pose: Any, twist: Any = None, deflection: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Return kinetic and potential energy `(...)` [J], zero at z = 0 and with relaxed springs.

    Arguments as for `solve_free`.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
        SingularPoseError: a leg has no length.

    Reference: compliant-leg paper, equations (9), (10), (30), corrected.
    """
    shape, (poses, twists, deflections) = checked_state(machine, pose, twist, deflection)
    legs = leg_state(machine, poses, twists, deflections)
    mass = platform_mass_matrix(machine, poses)
    kinetic = dot(twists, (mass @ twists[..., None])[..., 0]) / 2.0
    squares = legs.radius_rates**2 + legs.radii**2 * legs.turning_squared[..., None]
    kinetic = kinetic + (legs.masses * squares).sum(axis=(-1, -2)) / 2.0
    center = poses[:, :3] + rotation_matrix(poses) @ machine.platform_center
    heights = (legs.first_moment * legs.direction[..., 2]).sum(axis=-1)
    heights = heights + (legs.masses.sum(axis=-1) * machine.base_joints[:, 2]).sum()
    lifted = machine.gravity * (machine.platform_mass * center[:, 2] + heights)
    stretched = (machine.stiffness * legs.deflection**2).sum(axis=-1) / 2.0
    return np.asarray(kinetic).reshape(shape), np.asarray(lifted + stretched).reshape(shape)
