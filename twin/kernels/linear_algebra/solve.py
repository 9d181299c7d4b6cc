"""Small dense linear algebra in place: Cholesky and LU of matrices of the size of a platform."""

from __future__ import annotations

from twin.kernels.jit import device
from twin.kernels.linear_algebra.factor import factor_positive, solve_lower, solve_upper


@device
def solve_positive(matrix, right, size):
    """Solve `matrix x = right` in place for a symmetric positive definite matrix.

    Reads the lower triangle and overwrites it with the factor; `right` becomes x. Returns False
    when the matrix is not positive definite.
    """
    if not factor_positive(matrix, size):
        return False
    solve_lower(matrix, right, size)
    solve_upper(matrix, right, size)
    return True


@device
def solve_general(matrix, right, size):
    """Solve `matrix x = right` in place by LU with row pivoting.

    Returns the ratio of smallest to largest pivot with the sign of the determinant: 0 when the
    matrix is singular (then `right` is meaningless), small when it is nearly so.
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
        if pivot != j:
            sign = -sign
            for k in range(size):
                matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
            right[j], right[pivot] = right[pivot], right[j]
        inverse = 1.0 / matrix[j, j]
        if inverse < 0.0:
            sign = -sign
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
