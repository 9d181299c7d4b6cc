"""Vectors, quaternions and small linear systems."""

from __future__ import annotations

from math import copysign, cos, sin, sqrt

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.jit import device, replaceable_by_type

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


@device
def row(array: FloatArray, i: int, start: int) -> Vector:
    """Return entries `start` to `start + 2` of row i as a vector."""
    return array[i, start], array[i, start + 1], array[i, start + 2]


@device
def vector_at(array: FloatArray, start: int) -> Vector:
    """Return entries `start` to `start + 2` of an array as a vector."""
    return array[start], array[start + 1], array[start + 2]


@device
def fill_row(matrix: FloatArray, i: int, linear: Vector, angular: Vector) -> None:
    """Write a row (linear, angular) of a Jacobian."""
    for k in range(3):
        matrix[i, k] = linear[k]
        matrix[i, k + 3] = angular[k]


@device
def add_wrench(total: FloatArray, force: Vector, moment: Vector) -> None:
    """Add a force and a moment to `total` (6,)."""
    for k in range(3):
        total[k] += force[k]
        total[k + 3] += moment[k]


@device
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@device
def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@device
def scale(factor: float, a: Vector) -> Vector:
    """Return factor * a."""
    return factor * a[0], factor * a[1], factor * a[2]


@device
def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@device
def norm(a: Vector) -> float:
    """Return the Euclidean length."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@device
def rotation(w: float, x: float, y: float, z: float) -> Matrix:
    """Return the rotation matrix of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@device
def rotation_at(array: FloatArray, start: int) -> Matrix:
    """Return the rotation matrix of the unit quaternion in the entries from `start` on."""
    return rotation(array[start], array[start + 1], array[start + 2], array[start + 3])


@device
def rotate(r: Matrix, a: Vector) -> Vector:
    """Return R a."""
    return (
        r[0] * a[0] + r[1] * a[1] + r[2] * a[2],
        r[3] * a[0] + r[4] * a[1] + r[5] * a[2],
        r[6] * a[0] + r[7] * a[1] + r[8] * a[2],
    )


@device
def rotate_back(r: Matrix, a: Vector) -> Vector:
    """Return R^T a."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@device
def quaternion_product(p: Quaternion, q: Quaternion) -> Quaternion:
    """Return the quaternion of rotation q, then p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@device
def turned(w: float, x: float, y: float, z: float, a: float, b: float, c: float) -> Quaternion:
    """Return the quaternion turned by the rotation vector (a, b, c) [rad] of the base frame."""
    angle = sqrt(a * a + b * b + c * c)
    half_angle = 0.5 * angle
    factor = sin(half_angle) / angle if angle > 1e-12 else 0.5
    rotation_quaternion = (cos(half_angle), factor * a, factor * b, factor * c)
    rw, rx, ry, rz = quaternion_product(rotation_quaternion, (w, x, y, z))
    inverse = 1.0 / sqrt(rw * rw + rx * rx + ry * ry + rz * rz)
    return rw * inverse, rx * inverse, ry * inverse, rz * inverse


@device
def displace(pose: FloatArray, factor: float, motion: FloatArray, out: FloatArray) -> None:
    """Fill `out` (7,) with a pose moved by `factor` times a displacement and rotation vector."""
    for k in range(3):
        out[k] = pose[k] + factor * motion[k]
    out[3], out[4], out[5], out[6] = turned(
        pose[3],
        pose[4],
        pose[5],
        pose[6],
        factor * motion[3],
        factor * motion[4],
        factor * motion[5],
    )


@device
def quaternion_rate(
    w: float, x: float, y: float, z: float, a: float, b: float, c: float
) -> Quaternion:
    """Return dq/dt = (0, omega) q / 2 for the angular velocity (a, b, c) in the base frame."""
    return (
        -0.5 * (a * x + b * y + c * z),
        0.5 * (a * w + b * z - c * y),
        0.5 * (b * w + c * x - a * z),
        0.5 * (c * w + a * y - b * x),
    )


@device
def copy(source: FloatArray, target: FloatArray) -> None:
    """Copy a vector, without the second of compiling that an assignment to a slice takes."""
    for k in range(source.shape[0]):
        target[k] = source[k]


@device
def factor_positive(matrix: FloatArray, size: int) -> bool:
    """Overwrite the lower triangle by its Cholesky factor, diagonal inverted.

    Returns False when the matrix is not positive definite.
    """
    for j in range(size):
        diagonal = matrix[j, j]
        for k in range(j):
            diagonal -= matrix[j, k] * matrix[j, k]
        if not diagonal > 0.0:
            return False
        inverse = 1.0 / sqrt(diagonal)
        matrix[j, j] = inverse
        for i in range(j + 1, size):
            entry = matrix[i, j]
            for k in range(j):
                entry -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = entry * inverse
    return True


@device
def solve_lower(factor: FloatArray, right: FloatArray, size: int) -> None:
    """Overwrite `right` by L^-1 right for a factor of `factor_positive`."""
    for i in range(size):
        value = right[i]
        for k in range(i):
            value -= factor[i, k] * right[k]
        right[i] = value * factor[i, i]


@device
def solve_upper(factor: FloatArray, right: FloatArray, size: int) -> None:
    """Overwrite `right` by L^-T right for a factor of `factor_positive`."""
    for i in range(size - 1, -1, -1):
        value = right[i]
        for k in range(i + 1, size):
            value -= factor[k, i] * right[k]
        right[i] = value * factor[i, i]


@device
def factor_general(matrix: FloatArray, pivots: IndexArray, size: int) -> float:
    """Overwrite a matrix by its LU factors with row pivoting; `pivots` (size,) holds the rows.

    Returns the ratio of smallest to largest pivot with the sign of the determinant: 0 when the
    matrix is singular, small when it is nearly so.
    """
    smallest_pivot, largest_pivot, permutation_sign = 1e300, 0.0, 1.0
    for j in range(size):
        pivot, best = j, abs(matrix[j, j])
        for i in range(j + 1, size):
            if abs(matrix[i, j]) > best:
                pivot, best = i, abs(matrix[i, j])
        if not best > 0.0:
            return 0.0
        smallest_pivot, largest_pivot = min(smallest_pivot, best), max(largest_pivot, best)
        pivots[j] = pivot
        if pivot != j:
            permutation_sign = -permutation_sign
            for k in range(size):
                matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
        inverse = 1.0 / matrix[j, j]
        if inverse < 0.0:
            permutation_sign = -permutation_sign
        for i in range(j + 1, size):
            factor = matrix[i, j] * inverse
            matrix[i, j] = factor
            for k in range(j + 1, size):
                matrix[i, k] -= factor * matrix[j, k]
    return permutation_sign * smallest_pivot / largest_pivot


@device
def solve_factored(factor: FloatArray, pivots: IndexArray, right: FloatArray, size: int) -> None:
    """Overwrite `right` by the solution for a factor of `factor_general`."""
    for j in range(size):
        pivot = pivots[j]
        right[j], right[pivot] = right[pivot], right[j]
    for i in range(size):
        value = right[i]
        for k in range(i):
            value -= factor[i, k] * right[k]
        right[i] = value
    for i in range(size - 1, -1, -1):
        value = right[i]
        for k in range(i + 1, size):
            value -= factor[i, k] * right[k]
        right[i] = value / factor[i, i]


@device
def solve_positive(matrix: FloatArray, right: FloatArray, size: int) -> bool:
    """Solve `matrix x = right` in place for a symmetric positive definite matrix.

    Reads the lower triangle and overwrites it with the factor; `right` becomes x. Returns False
    when the matrix is not positive definite.
    """
    if not factor_positive(matrix, size):
        return False
    solve_lower(matrix, right, size)
    solve_upper(matrix, right, size)
    return True


@replaceable_by_type
def bring_pivot_up(matrix: FloatArray, right: FloatArray, j: int, size: int) -> float:
    """Exchange row j with the one from j on whose entry in column j is largest; return the sign.

    It is the factor of the exchange in the determinant: 1 or -1, and 0 where there is no pivot.
    Numbers in lanes have an implementation of their own in `twin.kernels.numbers.lanes`.
    """
    pivot, best = j, abs(matrix[j, j])
    for i in range(j + 1, size):
        if abs(matrix[i, j]) > best:
            pivot, best = i, abs(matrix[i, j])
    if not best > 0.0:
        return 0.0
    if pivot == j:
        return 1.0
    for k in range(size):
        matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
    right[j], right[pivot] = right[pivot], right[j]
    return -1.0


@device
def solve_general(matrix: FloatArray, right: FloatArray, size: int) -> float:
    """Solve `matrix x = right` in place by LU with row pivoting.

    Returns the ratio of smallest to largest pivot with the sign of the determinant: 0 when the
    matrix is singular (then `right` is meaningless), small when it is nearly so.
    """
    smallest_pivot, largest_pivot, permutation_sign = 1e300, 0.0, 1.0
    for j in range(size):
        exchange = bring_pivot_up(matrix, right, j, size)
        if exchange == 0.0:
            return 0.0
        permutation_sign *= exchange
        best = abs(matrix[j, j])
        smallest_pivot, largest_pivot = min(smallest_pivot, best), max(largest_pivot, best)
        inverse = 1.0 / matrix[j, j]
        permutation_sign *= copysign(1.0, inverse)
        for i in range(j + 1, size):
            factor = matrix[i, j] * inverse
            for k in range(j + 1, size):
                matrix[i, k] -= factor * matrix[j, k]
            right[i] -= factor * right[j]
    for i in range(size - 1, -1, -1):
        value = right[i]
        for k in range(i + 1, size):
            value -= matrix[i, k] * right[k]
        right[i] = value / matrix[i, i]
    return permutation_sign * smallest_pivot / largest_pivot
