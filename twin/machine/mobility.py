"""Mobility at home: the motions that the legs leave free, and legs that hold the same motion."""

from __future__ import annotations

import numpy as np

from twin.basics import canonical
from twin.basics.arrays import FloatArray

RANK_TOLERANCE = 1e-6
"""Singular values of the scaled Jacobian below this fraction of the largest count as zero."""

DIRECTION_TOLERANCE = 1e-6
"""Difference of unit vectors below which two directions count as equal."""

AXIS_NAMES = ("x", "y", "z")


def scaled(rows: FloatArray, length: float) -> FloatArray:
    """Return rows `(m, 6)` with moments divided by a `length` [m], each of norm one."""
    result = rows / np.repeat([1.0, length], 3)
    return np.asarray(result / np.linalg.norm(result, axis=1)[:, None])


def free_motions(rows: FloatArray) -> FloatArray:
    """Return `(k, 6)` orthonormal scaled twists that the scaled rows `(m, 6)` leave free."""
    _, singular_values, twists = np.linalg.svd(rows)
    return canonical.basis(twists[_rank(singular_values) :].T).T


def dependent_rows(rows: FloatArray) -> list[int]:
    """Return the indices of the scaled rows `(m, 6)` that depend on each other."""
    left_vectors, singular_values, _ = np.linalg.svd(rows)
    fractions = np.linalg.norm(left_vectors[:, _rank(singular_values) :], axis=1)
    return [int(i) for i in np.flatnonzero(fractions > DIRECTION_TOLERANCE)]


def _rank(singular_values: FloatArray) -> int:
    return int((singular_values >= RANK_TOLERANCE * singular_values.max()).sum())


def describe_twists(motions: FloatArray, length: float) -> list[str]:
    """Return descriptions of scaled twists `(k, 6)`: motions along and about the base axes.

    Any other twist is described as a screw: the direction of its axis, a point on it from the
    reference point [m], and the advance along it.
    """
    remaining_motions = motions
    labels = []
    for i in range(6):
        unit = np.eye(6)[i]
        projection = remaining_motions @ unit
        if len(remaining_motions) and np.linalg.norm(projection) > 1.0 - DIRECTION_TOLERANCE:
            verb = "moving along" if i < 3 else "turning about"
            labels.append(f"{verb} {AXIS_NAMES[i % 3]}")
            # The remaining free motions are perpendicular to the one just described.
            remaining_basis = np.linalg.svd(remaining_motions - np.outer(projection, unit))[2][
                : len(remaining_motions) - 1
            ]
            remaining_motions = canonical.basis(remaining_basis.T).T
    return labels + [_screw(motion, length) for motion in remaining_motions]


def _screw(motion: FloatArray, length: float) -> str:
    """Return a free motion as text: along a direction, or about an axis."""
    velocity, angular_velocity = motion[:3], motion[3:] / length
    speed = float(np.linalg.norm(angular_velocity))
    if speed * length < DIRECTION_TOLERANCE:
        return f"moving along {_vector(velocity / np.linalg.norm(velocity))}"
    axis = angular_velocity / speed
    point = np.cross(angular_velocity, velocity) / speed**2
    label = f"turning about the direction {_vector(axis)}"
    if np.linalg.norm(point) > DIRECTION_TOLERANCE * length:
        label += f" through {_vector(point)} m from the reference point"
    advance = float(velocity @ axis) / speed
    if abs(advance) > DIRECTION_TOLERANCE * length:
        label += f" while moving {advance:.3g} m along it per radian"
    return label


def _vector(values: FloatArray) -> str:
    return "[" + ", ".join(f"{value + 0.0:.3g}" for value in np.round(values, 9)) + "]"
