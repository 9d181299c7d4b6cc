"""Constants and work arrays that all formulations share."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.kernels.kinematics.forward import make_work as tracking_work

if TYPE_CHECKING:
    from twin.model.machine_model import MachineModel

LEGS = 6
JOINTS = 3 * LEGS
"""Joint coordinates: first and second universal angle and length of each leg."""
CONSTRAINTS = JOINTS - 6
"""Rigidity constraints on the tips of the legs."""

SMALLEST_AREA = 1e-6
"""Area of a triangle, relative to the square of its size, below which it has no direction."""


class Model(NamedTuple):
    """Constants read by the kernels; not to be written to."""

    body: FloatArray
    """platform constants of `twin.kernels.dynamics.assembly`"""
    legs: FloatArray
    """leg constants of `twin.kernels.legs.ups.dynamics`"""
    second_axes: FloatArray
    """`(6, 3)` second universal axes at home, base frame"""
    home_angles: FloatArray
    """`(6,)` [rad] elevation of the first axis in the leg frame at home: atan2(s1.z, s1.y)"""
    triangle: Any
    """`(3,)` legs whose tips carry the platform frame"""
    attached: Any
    """`(3,)` the other legs"""
    edges: FloatArray
    """`(3,)` [m] sides of the triangle, between its corners (0, 1), (1, 2), (2, 0)"""
    places: FloatArray
    """`(3, 3)` coefficients of each attached tip along two sides and their vector product"""
    spread: FloatArray
    """`(6, 9)` twist of a rigid motion from the velocities of the corners, platform frame"""


POSE, TWIST, ACCELERATION, BODY_BIAS, CARRIER_BIAS, PLATFORM_SIZE = 0, 7, 13, 19, 25, 31
"""Entries of the work array of the platform: state, Coriolis and gravity terms, and acceleration at
zero second rates of the joint coordinates."""

JOINT, RATE, SECOND_RATE = 0, 3, 6
"""Columns of the work array of the legs: first angle, second angle, length; their derivatives."""
AXES, ELEVATION = 9, 18
"""Leg axes x, y, z in the base; cosine and sine between the first axis and the leg's y and z."""
TIP, TIP_RATE, TIP_BIAS = 20, 23, 26
"""Tip, its rate, and its acceleration at zero second rates of the joint coordinates."""
ARM, ARM_BIAS, BIAS, LEG_SIZE = 29, 32, 35, 38
"""Platform joint from the reference point, its acceleration at zero acceleration of the platform,
Coriolis, centrifugal and gravity terms of the leg."""

CONDITION, CONDITION_BIAS = JOINTS, JOINTS + 1
"""Columns of `closure` after the Jacobian: the constraints, and dJ/dt times the joint rates."""

MULTIPLIERS, ROOT = 0, 1
"""Rows of `scratch`: constraint forces, and the pose that root tracking found."""


class Work(NamedTuple):
    """What one evaluation of a formulation leaves behind; arrays are overwritten each time."""

    platform: FloatArray
    """`(PLATFORM_SIZE,)`"""
    legs: FloatArray
    """`(6, LEG_SIZE)`"""
    tip_columns: FloatArray
    """`(6, 3, 3)` T: row k is the tip's velocity at unit rate of joint coordinate k"""
    leg_mass: FloatArray
    """`(6, 3, 3)` blocks of the extended mass matrix"""
    body_mass: FloatArray
    """`(6, 6)` block of the extended mass matrix"""
    task_map: FloatArray
    """`(18, 7)` K: joint rates from the twist; last column: joint accelerations without it"""
    carrier_map: FloatArray
    """`(6, 9)` twist from the rates of the triangle's legs"""
    mass: FloatArray
    """`(18, 19)` joint-space mass matrix; last column: Coriolis, centrifugal and gravity terms"""
    closure: FloatArray
    """`(12, 20)` Jacobian of the rigidity constraints, the constraints, dJ/dt times the rates"""
    mapping: FloatArray
    """`(24, 7)` B: extended (platform first) or joint rates from the reduced ones; last column
    beta: accelerations at zero reduced ones"""
    reduced: FloatArray
    """`(6, 6)` reduced mass matrix"""
    square: FloatArray
    """`(12, 12)` scratch: matrix to be factored"""
    columns: FloatArray
    """`(12, 18)` scratch: right-hand sides, one per row"""
    scratch: FloatArray
    """`(2, 18)`"""
    pivots: Any
    """`(12,)` rows chosen by LU"""
    tracking: Any
    """work arrays of forward kinematics"""


def make_work() -> Work:
    """Return empty work arrays."""
    shapes: tuple[tuple[int, ...], ...] = (
        (PLATFORM_SIZE,),
        (LEGS, LEG_SIZE),
        (LEGS, 3, 3),
        (LEGS, 3, 3),
        (6, 6),
        (JOINTS, 7),
        (6, 9),
        (JOINTS, JOINTS + 1),
        (CONSTRAINTS, JOINTS + 2),
        (JOINTS + 6, 7),
        (6, 6),
        (CONSTRAINTS, CONSTRAINTS),
        (CONSTRAINTS, JOINTS),
        (2, JOINTS),
    )
    pivots = np.zeros(CONSTRAINTS, dtype=np.int64)
    tracking = tracking_work(LEGS, 0)
    return Work._make([*(np.zeros(shape) for shape in shapes), pivots, tracking])


def pack_model(platform: MachineModel) -> Model:
    """Return the constants of a machine with six UPS legs.

    Raises:
        InputError: another kind or number of legs, or platform joints on one line.
    """
    if platform.leg.equations != "ups" or platform.n_actuators != LEGS:
        raise InputError(
            "platform",
            f"formulations need {LEGS} legs of kind 'ups', not {platform.n_actuators} of kind "
            f"{platform.kind!r}",
        )
    body, legs, home = platform.constants
    rotations = home[:, :9].reshape(LEGS, 3, 3)
    along_y, along_z = (
        np.einsum("ij,ij->i", platform.first_axes, rotations[:, :, k]) for k in (1, 2)
    )
    points = np.asarray(platform.platform_joints)
    triangle, attached = _carriers(points)
    corners = points[triangle]
    first, second = corners[1] - corners[0], corners[2] - corners[0]
    basis = np.stack([first, second, np.cross(first, second)], axis=1)
    places = np.linalg.solve(basis, (points[attached] - corners[0]).T).T
    places[np.abs(places) < np.finfo(float).eps] = 0.0
    motion = np.zeros((9, 6))
    for k, point in enumerate(corners):
        motion[3 * k : 3 * k + 3, :3] = np.eye(3)
        motion[3 * k : 3 * k + 3, 3:] = -np.cross(np.eye(3), point)
    return Model(
        body,
        legs.rows,
        np.ascontiguousarray(rotations[:, :, 0]),
        np.arctan2(along_z, along_y),
        triangle,
        attached,
        np.asarray(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1), dtype=float),
        places,
        np.asarray(np.linalg.pinv(motion), dtype=float),
    )


def _carriers(points: FloatArray) -> tuple[Any, Any]:
    """Return the legs at the largest triangle of platform joints, and the others."""

    def area(corners: tuple[int, ...]) -> float:
        a, b, c = points[list(corners)]
        return float(np.linalg.norm(np.cross(b - a, c - a)))

    best = max(combinations(range(LEGS), 3), key=lambda corners: round(area(corners), 12))
    if area(best) < SMALLEST_AREA * float(np.ptp(points, axis=0).max()) ** 2:
        raise InputError("platform", "the platform joints lie on one line")
    return np.array(best), np.array([i for i in range(LEGS) if i not in best])
