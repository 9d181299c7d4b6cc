"""Packing of a machine's constants for the formulations."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.errors import InputError
from twin.kernels.kinematics.forward import make_work as tracking_work
from twin.model.machine_model import MachineModel
from twin.papers.formulations.kernels.arrays import (
    CONSTRAINTS,
    JOINTS,
    LEG_SIZE,
    LEGS,
    PLATFORM_SIZE,
    Model,
    Work,
)

KINDS = ("ups", "rss")
"""Equations of legs that have a module in `kernels.legs`."""

SMALLEST_AREA = 1e-6
"""Area of a triangle, relative to the square of its size, below which it has no direction."""


def make_work() -> Work:
    """Return empty work arrays."""
    shapes: tuple[tuple[int, ...], ...] = (
        (PLATFORM_SIZE,),
        (LEGS, LEG_SIZE),
        (LEGS, 3, 3),
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


def extended_joints(platform: MachineModel, joints: FloatArray) -> FloatArray:
    """Return the extended model's joint coordinates, or their derivatives, `(..., 6, 3)`.

    `joints` are those of the platform. The actuator's comes last here, and a rod's first angle is
    measured from the base instead of the crank.
    """
    if platform.leg.equations == "ups":
        return joints.copy()
    crank, first, second = np.moveaxis(joints, -1, 0)
    return np.stack([first + crank, second, crank], axis=-1)


def pack_model(platform: MachineModel) -> Model:
    """Return the constants of a machine with six UPS or RSS legs.

    Raises:
        InputError: another kind or number of legs, or platform joints on one line.
    """
    if platform.leg.equations not in KINDS or platform.n_actuators != LEGS:
        raise InputError(
            "platform",
            f"formulations need {LEGS} legs of kind 'ups' or 'rss', not {platform.n_actuators} of "
            f"kind {platform.kind!r}",
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
    coefficients = np.linalg.solve(basis, (points[attached] - corners[0]).T).T
    coefficients[np.abs(coefficients) < np.finfo(float).eps] = 0.0
    motion = np.zeros((9, 6))
    for k, point in enumerate(corners):
        motion[3 * k : 3 * k + 3, :3] = np.eye(3)
        motion[3 * k : 3 * k + 3, 3:] = -np.cross(np.eye(3), point)
    return Model(
        body,
        legs,
        np.ascontiguousarray(rotations[:, :, 0]),
        np.arctan2(along_z, along_y),
        triangle,
        attached,
        np.asarray(np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1), dtype=float),
        coefficients,
        np.asarray(np.linalg.pinv(motion), dtype=float),
    )


def _carriers(points: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Return the legs at the largest triangle of platform joints, and the others."""

    def area(corners: tuple[int, ...]) -> float:
        a, b, c = points[list(corners)]
        return float(np.linalg.norm(np.cross(b - a, c - a)))

    best = max(combinations(range(LEGS), 3), key=lambda corners: round(area(corners), 12))
    if area(best) < SMALLEST_AREA * float(np.ptp(points, axis=0).max()) ** 2:
        raise InputError("platform", "the platform joints lie on one line")
    return np.array(best), np.array([i for i in range(LEGS) if i not in best])
