"""Small dense linear algebra in place, of the size of a platform: Cholesky and LU with pivoting."""

from __future__ import annotations

from math import copysign, sqrt

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.jit import device, replaceable


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
    smallest, largest, sign = 1e300, 0.0, 1.0
    for j in range(size):
        pivot, best = j, abs(matrix[j, j])
        for i in range(j + 1, size):
            if abs(matrix[i, j]) > best:
                pivot, best = i, abs(matrix[i, j])
        if not best > 0.0:
            return 0.0
        smallest, largest = min(smallest, best), max(largest, best)
        pivots[j] = pivot
        if pivot != j:
            sign = -sign
            for k in range(size):
                matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
        inverse = 1.0 / matrix[j, j]
        if inverse < 0.0:
            sign = -sign
        for i in range(j + 1, size):
            factor = matrix[i, j] * inverse
            matrix[i, j] = factor
            for k in range(j + 1, size):
                matrix[i, k] -= factor * matrix[j, k]
    return sign * smallest / largest


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


@replaceable
def bring_pivot_up(matrix: FloatArray, right: FloatArray, j: int, size: int) -> float:
    """Exchange row j with the one below whose entry in column j is largest; return the sign.

    The sign of the exchange in the determinant; 0 where there is no pivot.
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
    smallest, largest, sign = 1e300, 0.0, 1.0
    for j in range(size):
        exchange = bring_pivot_up(matrix, right, j, size)
        if exchange == 0.0:
            return 0.0
        sign *= exchange
        best = abs(matrix[j, j])
        smallest, largest = min(smallest, best), max(largest, best)
        inverse = 1.0 / matrix[j, j]
        sign *= copysign(1.0, inverse)
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
    return sign * smallest / largest
