"""Choices that rounding errors cannot change: axes, signs, bases, orders of nearly equal numbers.

Eigenvectors and singular vectors are free up to their sign, and up to a rotation where their values
are equal. A linear algebra library chooses by its rounding errors, which differ between processors.
What reaches a file, a picture or a message is chosen here instead.
"""

from __future__ import annotations

from itertools import permutations, product
from math import sqrt

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray

EQUALITY_TOLERANCE = 1e-9
"""Relative difference below which two numbers count as equal."""

MAX_SWEEPS = 20
"""Maximum number of sweeps of Jacobi rotations; five reach rounding error."""

AXIS_PERMUTATIONS = [
    tuple(zip(places, signs, strict=True))
    for places in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
    if np.linalg.det(np.eye(3)[:, places] * signs) > 0.0
]
"""The 24 right-handed permutations of three axes with signs: (axis, sign) of each column. The
identity comes first."""


def principal_axes(tensor: FloatArray) -> FloatArray:
    """Return the rotation `(3, 3)` from principal to body axes that is nearest to the identity.

    Jacobi rotations in plain floating-point numbers: the same on every processor. Where two moments
    on the diagonal are equal and their product is not zero, they are turned by 45 degrees.

    Args:
        tensor: of inertia `(3, 3)`, symmetric.

    Reference:
        Golub and Van Loan, Matrix Computations, section 8.5.
    """
    a: list[list[float]] = np.asarray(tensor, dtype=float).tolist()
    axes: list[list[float]] = np.eye(3).tolist()
    largest_entry = max(abs(entry) for row in a for entry in row)
    for _ in range(MAX_SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            if abs(a[p][q]) <= 1e-17 * largest_entry:
                a[p][q] = a[q][p] = 0.0
                continue
            diagonal_difference = a[q][q] - a[p][p]
            ratio = (
                0.0
                if abs(diagonal_difference) <= EQUALITY_TOLERANCE * abs(a[p][q])
                else 0.5 * diagonal_difference / a[p][q]
            )
            tangent = 1.0 / (abs(ratio) + sqrt(1.0 + ratio * ratio))
            tangent = -tangent if ratio < 0.0 else tangent
            cosine = 1.0 / sqrt(1.0 + tangent * tangent)
            sine = tangent * cosine
            for row in (*a, *axes):
                row[p], row[q] = cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]
            for k in range(3):
                entry_p, entry_q = a[p][k], a[q][k]
                a[p][k], a[q][k] = (
                    cosine * entry_p - sine * entry_q,
                    sine * entry_p + cosine * entry_q,
                )
    return np.array(_nearest(axes))


def _nearest(axes: list[list[float]]) -> list[list[float]]:
    """Return the columns of a rotation `(3, 3)`, ordered and signed to have the largest trace."""
    best_permutation, largest_trace = AXIS_PERMUTATIONS[0], sum(axes[k][k] for k in range(3))
    for permutation in AXIS_PERMUTATIONS[1:]:
        trace = sum(sign * axes[k][axis] for k, (axis, sign) in enumerate(permutation))
        if trace > largest_trace + EQUALITY_TOLERANCE:
            best_permutation, largest_trace = permutation, trace
    return [[sign * row[axis] for axis, sign in best_permutation] for row in axes]


def with_signs(vectors: FloatArray) -> FloatArray:
    """Return the columns `(..., m, k)` with signs that make their largest entry positive.

    Of entries equally large, the first decides.
    """
    magnitudes = np.abs(vectors)
    is_largest = magnitudes >= (1.0 - EQUALITY_TOLERANCE) * magnitudes.max(axis=-2, keepdims=True)
    first_index = is_largest.argmax(axis=-2)[..., None, :]
    return np.asarray(
        vectors * np.where(np.take_along_axis(vectors, first_index, -2) < 0.0, -1.0, 1.0)
    )


def basis(vectors: FloatArray) -> FloatArray:
    """Return orthonormal columns `(m, k)` that span the same space as the columns `(m, k)`.

    Each is the part in that space of the base vector that it holds most of, after the columns
    before have been taken out. So the basis depends on the space alone.
    """
    orthonormal = np.linalg.qr(vectors)[0]
    projection, columns = orthonormal @ orthonormal.T, []
    for _ in range(vectors.shape[1]):
        squared_lengths = np.diag(projection)
        index = int(
            (squared_lengths >= (1.0 - EQUALITY_TOLERANCE) * squared_lengths.max()).argmax()
        )
        column = projection[:, index] / sqrt(squared_lengths[index])
        columns.append(column)
        projection = projection - np.outer(column, column)
    return np.column_stack(columns) if columns else np.empty_like(vectors)


def modes(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the eigenvectors `(m, m)` of sorted eigenvalues `(m,)`, canonical for equal values.

    Args:
        values: sorted.
        vectors: eigenvectors, columns; those chosen for equal values are orthonormal.
    """
    eigenvectors = np.array(vectors, dtype=float)
    scale = np.abs(values).max(initial=0.0)
    group_start = 0
    for group_end in range(1, len(values) + 1):
        if (
            group_end < len(values)
            and abs(values[group_end] - values[group_end - 1]) <= EQUALITY_TOLERANCE * scale
        ):
            continue
        if group_end - group_start > 1:
            eigenvectors[:, group_start:group_end] = basis(eigenvectors[:, group_start:group_end])
        group_start = group_end
    return with_signs(eigenvectors)


def order(values: FloatArray) -> IndexArray:
    """Return the indices that sort `values` `(m,)`; nearly equal values keep their order."""
    ascending = np.argsort(values, kind="stable")
    scale = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    steps = np.diff(values[ascending], prepend=values[ascending[:1]])
    groups = np.cumsum(steps > EQUALITY_TOLERANCE * scale)
    return np.asarray(ascending[np.lexsort((ascending, groups))])


def angles(y: FloatArray, x: FloatArray) -> FloatArray:
    """Return the angles `(...)` [rad] of points (x, y), greater than -pi and at most pi.

    A point on the negative x axis has pi, on whichever side of it rounding puts it.
    """
    angle = np.arctan2(y, x)
    return np.asarray(np.where(angle < -np.pi + EQUALITY_TOLERANCE, np.pi, angle))
