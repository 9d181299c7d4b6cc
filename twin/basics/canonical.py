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
"""Sweeps of Jacobi rotations; five reach rounding error."""

AXIS_PERMUTATIONS = [
    tuple(zip(places, signs, strict=True))
    for places in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
    if np.linalg.det(np.eye(3)[:, places] * signs) > 0.0
]
"""The 24 ways to order and sign three axes that stay right-handed: (place, sign) of each column."""


def principal_axes(tensor: FloatArray) -> FloatArray:
    """Return the rotation `(3, 3)` from principal to body axes that is nearest to the identity.

    Jacobi rotations in plain floating-point numbers: the same on every processor. Where two moments
    are equal, the rotation between their axes is 45 degrees.

    Args:
        tensor: `(3, 3)`, symmetric.

    Reference:
        Golub and Van Loan, Matrix Computations, section 8.5.
    """
    a: list[list[float]] = np.asarray(tensor, dtype=float).tolist()
    axes: list[list[float]] = np.eye(3).tolist()
    size = max(abs(entry) for row in a for entry in row)
    for _ in range(MAX_SWEEPS):
        for p, q in ((0, 1), (0, 2), (1, 2)):
            if abs(a[p][q]) <= 1e-17 * size:
                a[p][q] = a[q][p] = 0.0
                continue
            gap = a[q][q] - a[p][p]
            ratio = 0.0 if abs(gap) <= EQUALITY_TOLERANCE * abs(a[p][q]) else 0.5 * gap / a[p][q]
            tangent = 1.0 / (abs(ratio) + sqrt(1.0 + ratio * ratio))
            tangent = -tangent if ratio < 0.0 else tangent
            cosine = 1.0 / sqrt(1.0 + tangent * tangent)
            sine = tangent * cosine
            for row in (*a, *axes):
                row[p], row[q] = cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]
            for k in range(3):
                first, second = a[p][k], a[q][k]
                a[p][k], a[q][k] = cosine * first - sine * second, sine * first + cosine * second
    return np.array(_nearest(axes))


def _nearest(axes: list[list[float]]) -> list[list[float]]:
    """Return the columns of a rotation `(3, 3)`, ordered and signed to have the largest trace."""
    best, largest = AXIS_PERMUTATIONS[0], sum(axes[k][k] for k in range(3))
    for turn in AXIS_PERMUTATIONS[1:]:
        trace = sum(sign * axes[k][place] for k, (place, sign) in enumerate(turn))
        if trace > largest + EQUALITY_TOLERANCE:
            best, largest = turn, trace
    return [[sign * row[place] for place, sign in best] for row in axes]


def with_signs(vectors: FloatArray) -> FloatArray:
    """Return the columns `(..., m, k)` with signs that make their largest entry positive.

    Of entries equally large, the first decides.
    """
    sizes = np.abs(vectors)
    large = sizes >= (1.0 - EQUALITY_TOLERANCE) * sizes.max(axis=-2, keepdims=True)
    first = large.argmax(axis=-2)[..., None, :]
    return np.asarray(vectors * np.where(np.take_along_axis(vectors, first, -2) < 0.0, -1.0, 1.0))


def basis(vectors: FloatArray) -> FloatArray:
    """Return orthonormal columns `(m, k)` that span the same space as the columns `(m, k)`.

    Each is the part in that space of the base vector that it holds most of, after the columns
    before have been taken out. So the basis depends on the space alone.
    """
    rest = np.linalg.qr(vectors)[0]
    projection, found = rest @ rest.T, []
    for _ in range(vectors.shape[1]):
        shares = np.diag(projection)
        index = int((shares >= (1.0 - EQUALITY_TOLERANCE) * shares.max()).argmax())
        column = projection[:, index] / sqrt(shares[index])
        found.append(column)
        projection = projection - np.outer(column, column)
    return np.column_stack(found) if found else np.empty_like(vectors)


def modes(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the columns `(m, m)` of sorted eigenvalues `(m,)`, chosen where values are equal.

    Args:
        values: sorted.
        vectors: eigenvectors, columns; those chosen for equal values are orthonormal.
    """
    found = np.array(vectors, dtype=float)
    scale = np.abs(values).max(initial=0.0)
    start = 0
    for end in range(1, len(values) + 1):
        if end < len(values) and abs(values[end] - values[end - 1]) <= EQUALITY_TOLERANCE * scale:
            continue
        if end - start > 1:
            found[:, start:end] = basis(found[:, start:end])
        start = end
    return with_signs(found)


def order(values: FloatArray) -> IndexArray:
    """Return the indices that sort `values` `(m,)`; of nearly equal ones, the first comes first."""
    ascending = np.argsort(values, kind="stable")
    scale = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    steps = np.diff(values[ascending], prepend=values[ascending[:1]])
    groups = np.cumsum(steps > EQUALITY_TOLERANCE * scale)
    return np.asarray(ascending[np.lexsort((ascending, groups))])


def angles(y: FloatArray, x: FloatArray) -> FloatArray:
    """Return the angles `(...)` [rad] of points (x, y) above -pi, up to pi.

    A point on the negative x axis has pi, on whichever side of it rounding puts it.
    """
    found = np.arctan2(y, x)
    return np.asarray(np.where(found < -np.pi + EQUALITY_TOLERANCE, np.pi, found))
