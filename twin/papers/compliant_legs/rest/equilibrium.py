"""Equilibrium of the platform under locked actuators."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_pose, as_vector
from twin.errors import StateError
from twin.papers.compliant_legs.loads import NO_LOAD, Load
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.rest.statics import (
    StaticForces,
    locked_deflection,
    locked_stiffness,
    static_forces,
)
from twin.papers.compliant_legs.vectors import least_squares
from twin.rotations import displaced

ITERATIONS = 60

CONVERGED = 1e-13
"""Last step of Newton's method in metres and radians: rounding of metres."""


class Equilibrium(NamedTuple):
    """A state of rest."""

    pose: FloatArray
    """`(7,)`"""
    deflection: FloatArray
    """delta1 `(n,)` [m]"""
    extension: FloatArray
    """delta2 `(n,)` [m]"""
    forces: FloatArray
    """Actuator forces `(n,)` [N], extension positive"""
    reactions: FloatArray
    """`(n, 3)` [N] of the platform on the legs' tips, base axes"""
    load: Load
    """External load it is in balance with"""


def locked_equilibrium(
    machine: CompliantMachine, extension: Any, given: Load = NO_LOAD, guess: Any = None
) -> Equilibrium:
    """Return the equilibrium with locked actuators, by Newton's method.

    Args:
        machine: the machine.
        extension: delta2 of the locked actuators `(n,)` [m].
        given: external load.
        guess: pose `(7,)` to start from; default home.

    Raises:
        InputError: wrong shapes, not finite.
        StateError: no equilibrium near the guess; `data` holds pose, residual and iterations.
    """
    lengths = as_vector(extension, "extension", machine.n_legs)
    pose = machine.home if guess is None else as_pose(as_vector(guess, "guess", 7), "guess")
    for _ in range(ITERATIONS):
        deflection, forces, at = _locked(machine, pose, lengths, given)
        step = least_squares(locked_stiffness(machine, at), at.platform)
        # Half a metre or radian is the largest step that stays on this side of the legs.
        step /= max(1.0, 2.0 * float(np.abs(step).max()))
        pose = displaced(pose, step)
        if np.abs(step).max() < CONVERGED:
            deflection, forces, at = _locked(machine, pose, lengths, given)
            return Equilibrium(pose, deflection, lengths, forces, -at.joints, given)
    raise StateError(
        f"no equilibrium found in {ITERATIONS} steps: the springs may be too soft for the load, or "
        "the guess too far away. Start closer, or check stiffness and extension.",
        {"pose": pose, "residual": at.platform, "iterations": ITERATIONS},
    )


def _locked(
    machine: CompliantMachine, pose: FloatArray, extension: FloatArray, given: Load
) -> tuple[FloatArray, FloatArray, StaticForces]:
    """Return deflections, actuator forces and all forces with springs in balance."""
    deflection = locked_deflection(machine, pose, extension)
    springs = static_forces(machine, pose, deflection, np.zeros(machine.n_legs), given).springs
    return deflection, springs, static_forces(machine, pose, deflection, springs, given)
