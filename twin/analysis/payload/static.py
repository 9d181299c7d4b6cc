"""The largest payload that a machine holds at rest, over a grid of actuator positions.

The static forces of a body that keeps its geometry are affine in its mass, so one pass over the
grid covers all masses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.continuous import ContinuousLimit, continuous_limit
from twin.analysis.payload.positions import grid_positions
from twin.analysis.payload.scaled import (
    START_KG,
    STEP_KG,
    AffineForces,
    ScaledPayload,
    as_sense,
    first_lowest,
    mass_steps,
)
from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.model.motions import REST

GRID = 4
"""Positions per actuator; Stewart thesis, section 4.2.1: thirds of the stroke."""


class StaticPayload(NamedTuple):
    """Result of a static search; masses [kg] are of the whole body on the legs."""

    limits: FloatArray
    """`(n,)` of the actuators [N] or [N m]"""
    sense: str
    """"magnitude" or "signed" """
    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad], in search order"""
    poses: FloatArray
    """`(k, 7)`"""
    skipped: int
    """positions of the grid that the machine cannot take"""
    forces: AffineForces
    """at every position"""
    passes_kg: float | None
    """last mass that holds everywhere; None: not even the first one"""
    fails_kg: float | None
    """the next one"""
    first_failure: FloatArray | None
    """`(n,)` first position at which that one does not hold"""
    exact_limit_kg: float
    """largest mass on the grid, between the steps"""
    exact_position: FloatArray
    """`(n,)` where it is reached"""
    exact_leg: int
    """that reaches its limit there, from 1"""
    continuous: ContinuousLimit
    """the least over all positions between the grid's"""

    def largest_force(self, mass: Any) -> FloatArray:
        """Return the largest force or torque on the grid with bodies of masses `(m,)` [kg].

        Raises:
            InputError: not finite, or not `(m,)`.
        """
        masses = as_floats(mass, "mass")
        if masses.ndim != 1:
            raise InputError("mass", f"must have one axis, got shape {masses.shape}")
        values = [self.forces.of(kilograms) for kilograms in masses]
        if self.sense == "magnitude":
            values = [np.abs(value) for value in values]
        return np.array([value.max() for value in values])


def static_payload(
    platform: MachineModel,
    *,
    limit: Any = None,
    grid: int = GRID,
    start: float = START_KG,
    step: float = STEP_KG,
    sense: str = "magnitude",
) -> StaticPayload:
    """Return the largest payload a machine holds at rest.

    Args:
        platform: the machine.
        limit: largest force [N] or torque [N m] of the actuators, default what its file gives.
        grid: positions per actuator, evenly from end to end.
        start: first mass [kg] tried.
        step: what is added to it [kg].
        sense: "magnitude", or "signed" for pushing forces alone, as the thesis' code.

    Raises:
        InputError: legs that give way, no limit known, no gravity, or numbers out of range.
        SingularPoseError: a position of the grid is singular.

    Reference:
        Stewart thesis, section 4.2.1 and appendix A.5.
    """
    machine, chosen = ScaledPayload(platform, limit), as_sense(sense)
    if not platform.parameters.gravity > 0.0:
        raise InputError("platform", f"{platform.name} has no gravity: a payload weighs nothing")
    if isinstance(grid, bool) or not isinstance(grid, int) or grid < 2:
        raise InputError("grid", f"must be a whole number from 2 on, got {grid!r}")
    positions = grid_positions(platform, np.linspace(0.0, 1.0, grid))
    forces = machine.forces(positions.poses, REST, REST)
    masses = forces.largest_mass(machine.limits, chosen)
    limits = masses.min(axis=1)
    lowest, leg = first_lowest(masses)
    passes, fails = mass_steps(float(limits[lowest]), start, step)
    first = None if fails is None else positions.extensions[int((limits < fails).argmax())]
    return StaticPayload(
        limits=machine.limits,
        sense=chosen,
        extensions=positions.extensions,
        poses=positions.poses,
        skipped=positions.skipped,
        forces=forces,
        passes_kg=passes,
        fails_kg=fails,
        first_failure=first,
        exact_limit_kg=float(limits[lowest]),
        exact_position=positions.extensions[lowest],
        exact_leg=leg + 1,
        continuous=continuous_limit(machine, positions, forces, chosen),
    )
