"""Vectors as 3-tuples, quaternions (scalar first) as 4-tuples, matrices as 9-tuples by rows."""

from __future__ import annotations

from math import sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


@device
def row(array: FloatArray, i: int, start: int) -> Vector:
    """Return entries `start` to `start + 2` of row i as a vector."""
    return array[i, start], array[i, start + 1], array[i, start + 2]


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
