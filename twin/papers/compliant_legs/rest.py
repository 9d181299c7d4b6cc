"""Machine with viscoelastic legs at rest: forces, equilibrium, small motions, modes, load cases.

At rest a leg with deflection delta1 and actuator force F_act pushes the platform at its joint with

    f = F_act n + m3 (g . n) n + S / l (g - (g . n) n)

and its spring with F_spring = -F_act - k delta1 + (m1 / 2 + m2) g . n along delta1. A displacement
(translation, rotation vector) moves the tip by dt = G displacement and the leg by dn = P dt / l,
P = 1 - n n^T.

Small motions about an equilibrium with locked actuators have six degrees of freedom, the
displacement of the platform. Each deflection follows the leg's length, delta1 = J displacement,
and

    K = J^T k J + K_preload,   C = J^T B J,   M = M_platform + sum G^T (E + (m1/4 + m2) n n^T) G.

K_preload comes from turning the forces of the equilibrium: gravity on legs and platform, and spring
forces that are not zero. Without them, zero gravity and no deflection, K = J^T k J exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import (
    ComplexArray,
    FloatArray,
    as_vector,
    cross_matrix,
    one_pose,
    rotation_matrix,
)
from twin.errors import StateError
from twin.papers.compliant_legs.equations import leg_rows, platform_forces, platform_mass_matrix
from twin.papers.compliant_legs.machine import (
    LOAD_FRAMES,
    NO_LOAD,
    CompliantMachine,
    LegState,
    Load,
    least_squares,
    leg_state,
    load,
    load_derivative,
    outer,
    solved,
    tip_matrices,
    wrench_in_base,
)
from twin.rotations import displaced, displacement

MAX_ITERATIONS = 60

STEP_TOLERANCE = 1e-13
"""Newton step [m, rad] below which the equilibrium has converged: rounding of metres."""


class StaticForces(NamedTuple):
    """Forces at one pose at rest, and how they change with a displacement of the platform."""

    platform: FloatArray
    """Sum on the platform `(6,)` [N, N m] about the reference point, base axes"""
    springs: FloatArray
    """Forces along the deflections `(n,)` [N]"""
    joints: FloatArray
    """Forces of the legs on the platform `(n, 3)` [N], base axes"""
    platform_by_displacement: FloatArray
    """`(6, 6)` change of `platform` by a displacement of the platform"""
    platform_by_deflection: FloatArray
    """`(6, n)` change of `platform` per deflection; its transpose is the change of `springs` per
    displacement of the platform"""
    jacobian: FloatArray
    """`(n, 6)` change of leg lengths per displacement; row i is the wrench of actuator i's unit
    force on the platform"""


def static_forces(
    machine: CompliantMachine,
    pose: FloatArray,
    deflection: FloatArray,
    forces: FloatArray,
    load: Load,
) -> StaticForces:
    """Return the forces at rest at a pose `(7,)` with deflections and actuator forces `(n,)`."""
    legs = _legs_at_rest(machine, pose, deflection)
    tips = tip_matrices(legs.arm[0])
    direction, length = legs.direction[0], legs.length[0]
    weight = machine.weight_direction
    transverse_projector = np.eye(3) - outer(direction, direction)
    transverse_weight = transverse_projector @ weight
    axial_weight = direction @ weight
    weight_moment_ratio = legs.first_moment[0] / length
    joints = (forces + machine.follower_mass * axial_weight)[
        :, None
    ] * direction + weight_moment_ratio[:, None] * transverse_weight

    axial_column = (machine.follower_mass - weight_moment_ratio)[:, None, None]
    length_column = length[:, None, None]
    derivative = (forces[:, None, None] * transverse_projector) / length_column
    derivative += (
        axial_column
        * (axial_weight[:, None, None] * transverse_projector + outer(direction, transverse_weight))
        / length_column
    )
    derivative += axial_column * outer(transverse_weight, direction) / length_column
    by_displacement = (np.swapaxes(tips, -1, -2) @ derivative @ tips).sum(axis=0)
    by_displacement[3:, 3:] += (cross_matrix(joints) @ cross_matrix(legs.arm[0])).sum(axis=0)

    center = rotation_matrix(pose[..., 3:]) @ machine.platform_center
    by_displacement[3:, 3:] += machine.platform_mass * cross_matrix(weight) @ cross_matrix(center)
    by_displacement += load_derivative(load, pose)
    lifted = (machine.hanging_mass / length)[:, None] * transverse_weight
    tip_wrenches = np.swapaxes(tips, -1, -2) @ np.stack([joints, lifted, direction], axis=-1)
    platform = platform_forces(machine, pose[None], np.zeros((1, 6)))[0]
    platform = platform + tip_wrenches[:, :, 0].sum(axis=0) + wrench_in_base(load, pose)
    springs = machine.hanging_mass * axial_weight - forces - machine.stiffness * deflection
    return StaticForces(
        platform,
        springs,
        joints,
        by_displacement,
        tip_wrenches[:, :, 1].T,
        tip_wrenches[:, :, 2],
    )


def locked_stiffness(machine: CompliantMachine, statics: StaticForces) -> FloatArray:
    """Return the static stiffness `(6, 6)` [N/m, N, N m] with locked actuators.

    Rows: force and moment that a displacement (translation [m], rotation vector [rad]) needs.
    """
    forces = statics.platform_by_deflection.T - machine.stiffness[:, None] * statics.jacobian
    derivative = (
        statics.platform_by_displacement + statics.platform_by_deflection @ statics.jacobian
    )
    return -(derivative + statics.jacobian.T @ forces)


def locked_deflection(
    machine: CompliantMachine, pose: FloatArray, extension: FloatArray
) -> FloatArray:
    """Return the deflections `(n,)` [m] at a pose `(7,)` with actuators at extensions `(n,)`."""
    relaxed = _legs_at_rest(machine, pose, np.zeros(machine.n_legs))
    return np.asarray(relaxed.extension[0] - extension)


def _legs_at_rest(machine: CompliantMachine, pose: FloatArray, deflection: FloatArray) -> LegState:
    deflection = np.concatenate([deflection, np.zeros_like(deflection)])
    return leg_state(machine, pose[None], np.zeros((1, 6)), deflection[None])


class Equilibrium(NamedTuple):
    """A state of rest."""

    pose: FloatArray
    """`(7,)` of the platform in the base: position [m], unit quaternion (scalar first)"""
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
    machine: CompliantMachine, extension: Any, load: Load = NO_LOAD, guess: Any = None
) -> Equilibrium:
    """Return the equilibrium with locked actuators, by Newton's method.

    Args:
        machine: the machine.
        extension: delta2 of the locked actuators `(n,)` [m].
        load: external load.
        guess: pose `(7,)` to start from; default home.

    Raises:
        InputError: wrong shapes, not finite.
        StateError: no equilibrium near the guess; `data` holds pose, residual and iterations.
    """
    lengths = as_vector(extension, "extension", machine.n_legs)
    pose = machine.home if guess is None else one_pose(guess, "guess")
    for _ in range(MAX_ITERATIONS):
        deflection, forces, statics = _locked(machine, pose, lengths, load)
        pose_step = least_squares(locked_stiffness(machine, statics), statics.platform)
        # Half a metre or radian is the largest step that stays on this side of the legs.
        pose_step /= max(1.0, 2.0 * float(np.abs(pose_step).max()))
        pose = displaced(pose, pose_step)
        if np.abs(pose_step).max() < STEP_TOLERANCE:
            deflection, forces, statics = _locked(machine, pose, lengths, load)
            return Equilibrium(pose, deflection, lengths, forces, -statics.joints, load)
    raise StateError(
        f"no equilibrium found in {MAX_ITERATIONS} steps: the springs may be too soft for the "
        "load, or the guess too far away. Start closer, or check stiffness and extension.",
        {"pose": pose, "residual": statics.platform, "iterations": MAX_ITERATIONS},
    )


def _locked(
    machine: CompliantMachine, pose: FloatArray, extension: FloatArray, load: Load
) -> tuple[FloatArray, FloatArray, StaticForces]:
    """Return deflections, actuator forces and all forces with springs in balance."""
    deflection = locked_deflection(machine, pose, extension)
    springs = static_forces(machine, pose, deflection, np.zeros(machine.n_legs), load).springs
    return deflection, springs, static_forces(machine, pose, deflection, springs, load)


class Linearisation(NamedTuple):
    """M x'' + C x' + K x = forces, for displacements and deflections from an equilibrium."""

    mass: FloatArray
    """`(size, size)` M"""
    damping: FloatArray
    """`(size, size)` C"""
    stiffness: FloatArray
    """`(size, size)`; not symmetric where a moment of constant direction acts"""


def locked_linearisation(machine: CompliantMachine, equilibrium: Equilibrium) -> Linearisation:
    """Return the small motions of the platform about an equilibrium with locked actuators."""
    forces = static_forces(
        machine, equilibrium.pose, equilibrium.deflection, equilibrium.forces, equilibrium.load
    )
    jacobian = forces.jacobian
    mass = platform_and_legs(machine, equilibrium)
    return Linearisation(
        mass + jacobian.T @ (machine.deflecting_mass[:, None] * jacobian),
        jacobian.T @ (machine.damping[:, None] * jacobian),
        locked_stiffness(machine, forces),
    )


def platform_and_legs(machine: CompliantMachine, equilibrium: Equilibrium) -> FloatArray:
    """Return the mass matrix `(6, 6)` of platform and legs at constant deflections."""
    legs = _legs_at_rest(machine, equilibrium.pose, equilibrium.deflection)
    tips = tip_matrices(legs.arm[0])
    effective = np.linalg.inv(leg_rows(machine, legs).admittance[0])
    on_platform = np.swapaxes(tips, -1, -2) @ effective @ tips
    return np.asarray(
        platform_mass_matrix(machine, equilibrium.pose[None])[0] + on_platform.sum(axis=0)
    )


class Modes(NamedTuple):
    """Modes of M x'' + C x' + K x = 0, slowest first."""

    frequencies: FloatArray
    """Undamped natural frequencies `(size,)` [Hz]; zero for a mode that diverges"""
    growth: FloatArray
    """Undamped growth rates `(size,)` [1/s] of diverging modes, zero for the others"""
    shapes: FloatArray
    """Columns `(size, size)`: x of each undamped mode, largest entry one"""
    eigenvalues: ComplexArray
    """Eigenvalues of the damped motion `(2 size,)` [1/s], complex, slowest first"""

    @property
    def damping_ratios(self) -> FloatArray:
        """Damping ratios of the motions that oscillate, in the order of `eigenvalues`."""
        oscillating = self.eigenvalues.imag > 1e-9 * np.abs(self.eigenvalues)
        oscillating_values = self.eigenvalues[oscillating]
        return -oscillating_values.real / np.abs(oscillating_values)

    @property
    def settling_time(self) -> float:
        """Time [s] after which the slowest motion is below 2 %; infinite if one does not settle."""
        slowest_rate = float(self.eigenvalues.real.max())
        return float(np.log(50.0) / -slowest_rate) if slowest_rate < 0.0 else float("inf")


def modes_of(linearisation: Linearisation) -> Modes:
    """Return the modes of small motions about an equilibrium."""
    from scipy.linalg import eig

    mass, damping, stiffness = linearisation
    size = len(mass)
    squared, shapes = eig(stiffness, mass)
    squared, shapes = squared.real, shapes.real
    order = np.argsort(squared)
    squared, shapes = squared[order], shapes[:, order]
    shapes = canonical.modes(squared, shapes)
    shapes = shapes / np.abs(shapes).max(axis=0)
    companion = np.zeros((2 * size, 2 * size))
    companion[:size, size:] = np.eye(size)
    companion[size:] = -np.linalg.solve(mass, np.hstack([stiffness, damping]))
    eigenvalues = np.asarray(np.linalg.eigvals(companion), dtype=np.complex128)
    return Modes(
        np.sqrt(np.maximum(squared, 0.0)) / (2.0 * np.pi),
        np.sqrt(np.maximum(-squared, 0.0)),
        shapes,
        eigenvalues[np.lexsort((eigenvalues.imag, np.abs(eigenvalues)))],
    )


class LoadCase(NamedTuple):
    """One load case."""

    kind: str
    """`force` or `moment`"""
    frame: str
    """`base` or `platform`"""
    axis: str
    """`x`, `y` or `z` of the frame"""
    load: Load
    """The load itself"""


class LoadResponse(NamedTuple):
    """Response to a load case; displacements (translation [m], rotation vector [rad])."""

    case: LoadCase
    """Load case of this response"""
    quasi_static: FloatArray
    """Displacement of the new equilibrium `(6,)`"""
    linear: FloatArray
    """Quasi-static displacement by the linear stiffness matrix `(6,)`"""


def standard_load_cases() -> tuple[LoadCase, ...]:
    """Return twelve cases: 100 N or 20 N m, in both frames, along three axes."""
    return tuple(
        LoadCase(kind, frame, axis, load(**{kind: size * unit}, frame=frame))
        for kind, size in (("force", 100.0), ("moment", 20.0))
        for frame in LOAD_FRAMES
        for axis, unit in zip("xyz", np.eye(3), strict=True)
    )


def run_load_cases(
    machine: CompliantMachine, cases: Sequence[LoadCase], start: Equilibrium
) -> tuple[LoadResponse, ...]:
    """Return the displacements under load cases, each from the same equilibrium.

    Args:
        machine: the machine.
        cases: load cases.
        start: equilibrium without load and with locked actuators.

    Raises:
        StateError: no equilibrium under a load.
    """
    stiffness = locked_linearisation(machine, start).stiffness
    responses = []
    for case in cases:
        equilibrium = locked_equilibrium(machine, start.extension, case.load, start.pose)
        linear = solved(stiffness, wrench_in_base(case.load, start.pose))
        responses.append(LoadResponse(case, displacement(equilibrium.pose, start.pose), linear))
    return tuple(responses)
