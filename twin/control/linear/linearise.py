"""Small motions of any machine about a pose of rest.

The state is (q, q'): displacement of the platform in the directions its constraints leave free,
then the coordinates inside the legs. At rest the acceleration is zero, so that its slopes are
those of the forces alone,

    M q'' + C q' + K q = E_f f + E_w w + E_b a_b,    K = -M dq''/dq,    C = -M dq''/dq',

with M from the machine's mass matrix. Inputs enter linearly and are read off exactly; K and C are
central differences with two Richardson levels, an error of the step's sixth power.

Accelerations of a machine whose base accelerates: gravity in another direction.

In the frame of a base with the acceleration a_b, the field -a_b is added to gravity on every
body of the machine. Accelerations are linear in the field: unit fields suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.linear.machine import LinearMachine, Rest, internal_mass, rest_at
from twin.errors import InputError, StateError
from twin.kernels.dynamics.assembly import GRAVITY
from twin.kernels.dynamics.forward import forward_dynamics_batch
from twin.model.conditioning import characteristic_length
from twin.model.evaluation import run_checked
from twin.model.machine_model import MachineModel
from twin.rotations import displaced


def field_response(platform: MachineModel, rest: Rest) -> FloatArray:
    """Return accelerations `(6 + k, 3)` per field along -x, -y, -z of the base, at rest.

    These are the relative accelerations per unit acceleration of the base along x, y and z.

    Raises:
        SingularPoseError: the pose is singular.
    """
    weightless = _accelerations(platform, rest, np.zeros(3))
    columns = [_accelerations(platform, rest, field) - weightless for field in -np.eye(3)]
    return np.stack(columns, axis=1)


def _accelerations(platform: MachineModel, rest: Rest, field: FloatArray) -> FloatArray:
    """Return accelerations `(6 + k,)` without forces where every body feels `field` [m/s2]."""
    body, legs = platform.constants.body.copy(), platform.constants.legs
    body[GRAVITY : GRAVITY + 3] = field
    out = np.empty((1, 6 + platform.n_deflections))
    none = np.zeros((1, platform.n_actuators))
    still = np.zeros((1, 6))
    arrays = (rest.pose[None].copy(), still, rest.deflection[None].copy(), none, still.copy(), out)
    run_checked(forward_dynamics_batch, (body, legs), arrays, legs)
    return np.asarray(out[0])


REDUCED = (2, 3, 4)
"""Heave, roll and pitch: the displacements that machines with three degrees of freedom keep."""

STEP = 4e-3
"""Differences of displacements in parts of the platform's radius, or [rad]."""

SPRING_STEP = 1e-3
"""[m] of a spring; forces are linear in it."""

RATE_STEP = 1e-4
"""Differences of rates [m/s] [rad/s]: below the speed about which smoothed friction turns."""

ACCEPTED = 1e-6
"""Relative disagreement of the last two Richardson levels that is refused."""


class LinearisationError(StateError):
    """Slopes do not settle: the machine is not smooth here (`data`: pose, accuracy)."""


def linearise(platform: MachineModel, pose: Any = None, wrench: Any = None) -> LinearMachine:
    """Return the small motions of a machine held still at a pose `(7,)`, default home.

    Args:
        platform: any machine.
        pose: of rest.
        wrench: `(6,)` [N], [N m] that acts on the platform meanwhile, default none.

    Raises:
        InputError: wrong shape, not finite, a pose the machine cannot have.
        SingularPoseError: the pose is singular.
        LinearisationError: the slopes do not settle.
    """
    rest = rest_at(platform, pose, wrench)
    free = free_directions(platform, rest.pose)
    size, k = free.shape[1], platform.n_deflections
    kept = list(range(6)) if size == 6 else list(REDUCED)
    mass = np.zeros((size + k, size + k))
    inner = rest.deflection
    mass[:size, :size] = free.T @ platform.mass_matrix(rest.pose, deflection=inner) @ free
    mass[size:, size:] = np.diag(internal_mass(platform))
    slope, rate_slope, accuracy = _slopes(platform, rest, free, kept)

    def reduced(columns: FloatArray) -> FloatArray:
        return np.vstack([columns[kept], columns[6:]])

    jacobian = platform.jacobian(rest.pose) @ free
    force_input = np.zeros((size + k, platform.n_actuators))
    force_input[:size] = jacobian.T
    force_input[size:] = -np.eye(k, platform.n_actuators)
    wrench_input = np.zeros((size + k, 6))
    wrench_input[:size] = free.T
    return LinearMachine(
        platform=platform,
        rest=rest,
        mass=mass,
        damping=-mass @ rate_slope,
        stiffness=-mass @ slope,
        force_input=force_input,
        wrench_input=wrench_input,
        base_input=mass @ reduced(field_response(platform, rest)),
        free=np.hstack([free, np.zeros((6, k))]),
        accuracy=accuracy,
    )


def free_directions(platform: MachineModel, pose: FloatArray) -> FloatArray:
    """Return displacements `(6, dof)` that a machine can make, one column per free coordinate.

    All six, or those of a unit of heave, roll and pitch [m, rad, rad] in base axes.

    Raises:
        InputError: a machine with other degrees of freedom than six or these three.
    """
    constraints = platform.constraints(pose)
    if not len(constraints):
        return np.eye(6)
    null = np.linalg.svd(constraints, full_matrices=True)[2][len(constraints) :].T
    chosen = null[list(REDUCED)]
    if chosen.shape[0] != chosen.shape[1] or abs(np.linalg.det(chosen)) < 1e-9:
        raise InputError("platform", f"{platform.name} does not move in heave, roll and pitch")
    return np.asarray(null @ np.linalg.inv(chosen))


def _slopes(
    platform: MachineModel, rest: Rest, free: FloatArray, kept: list[int]
) -> tuple[FloatArray, FloatArray, float]:
    """Return accelerations per displacement and per rate `(m, m)`, and how well they settle."""
    size, k = free.shape[1], platform.n_deflections
    radius = characteristic_length(platform.platform_joints)
    units = np.array([radius, radius, radius, 1.0, 1.0, 1.0])[kept]

    def accelerations(places: FloatArray, rates: FloatArray) -> FloatArray:
        moved = displaced(rest.pose, places[:, :size] @ free.T)
        if platform.dof < 6:
            moved = platform.constrain(moved).pose
        inner = rest.deflection + np.hstack([places[:, size:], rates[:, size:]])
        twists = rates[:, :size] @ free.T
        found = platform.forward_dynamics(moved, twists, rest.forces, rest.wrench, deflection=inner)
        return np.hstack([found[:, kept], found[:, 6:]])

    none = np.zeros((size + k, size + k))
    place_steps = np.concatenate([STEP * units, np.full(k, SPRING_STEP)])
    rate_steps = np.full(size + k, RATE_STEP)
    scale = np.concatenate([units, np.full(k, radius)])
    by_place, error = _richardson(lambda steps: accelerations(steps, none), place_steps, scale)
    by_rate, other = _richardson(lambda steps: accelerations(none, steps), rate_steps, scale)
    accuracy = max(error, other)
    if not accuracy <= ACCEPTED:
        raise LinearisationError(
            f"{platform.name} cannot be linearised here: its slopes disagree by {accuracy:.2g}. "
            "It may be near a singular pose or an end of its range; choose another pose.",
            {"pose": rest.pose, "accuracy": accuracy},
        )
    return by_place, by_rate, accuracy


def _richardson(
    function: Callable[[FloatArray], FloatArray], steps: FloatArray, scale: FloatArray
) -> tuple[FloatArray, float]:
    """Return slopes `(m, m)` and the relative disagreement of the last two levels.

    Entries are compared in units of `scale`, relative to the largest.
    """
    levels = []
    for factor in (1.0, 0.5, 0.25):
        moves = np.diag(factor * steps)
        levels.append((function(moves) - function(-moves)).T / (2.0 * factor * steps))
    first = (4.0 * levels[1] - levels[0]) / 3.0
    second = (4.0 * levels[2] - levels[1]) / 3.0
    best = (16.0 * second - first) / 15.0
    units = scale / scale[:, None]
    size = float(np.abs(best * units).max())
    return best, float(np.abs((best - second) * units).max()) / max(size, 1e-3)
