"""Checks at the boundary: shapes, finite values, unit quaternions, batches, a user's functions.

Quaternions, rotation matrices and cross products as arrays, without checks.

Quaternions are scalar first. Leading axes of two arguments are the same, and broadcast in `cross`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from math import isfinite, prod, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from twin.errors import InputError, StateError, brief

LARGEST_ENTRY = 1e150
"""Largest entry of an array, such that its square is still a finite number."""

MAX_AXES = 16
"""Largest number of axes of an array that a caller may pass."""

QUATERNION_TOLERANCE = 1e-6
"""Largest deviation of a quaternion's norm from one before it is refused."""

PARALLEL_SINE_SQUARED = 1e-12
"""Square of the sine between directions below which segments count as parallel."""


FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.int64]
Kind = TypeVar("Kind")

SMALLEST_NUMBER, LARGEST_NUMBER = 1e-30, 1e30
"""Bounds of a single positive number in SI: no machine exceeds them, and ratios of two numbers stay
finite."""


def as_array(value: Any, field: str) -> NDArray[Any]:
    """Return `value` as an array of any type; raises InputError where its lists are ragged."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(field, f"must be numbers in a regular array ({error})") from None


def as_floats(value: Any, field: str, last: int | None = None) -> FloatArray:
    """Return `value` as a finite, contiguous, writeable float64 array.

    Args:
        value: anything numpy can read.
        field: name of the argument, for the message.
        last: required size of the last axis; None leaves the shape open.

    Raises:
        InputError: not numeric, complex, wrong size, not finite, too large or too many axes.
    """
    try:
        array = as_array(value, field)
        if array.dtype.kind not in "fiu":
            raise TypeError(f"values of type {array.dtype}")
        if array.dtype != np.float64 or not array.flags.carray:
            array = np.require(array, dtype=np.float64, requirements=["C", "W"])
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(field, f"must be numbers in a regular array ({error})") from None
    if last is not None and (array.ndim == 0 or array.shape[-1] != last):
        raise InputError(field, f"last axis must have size {last}, got shape {array.shape}")
    if not np.abs(array).max(initial=0.0) <= LARGEST_ENTRY:
        index = tuple(int(i) for i in np.argwhere(~(np.abs(array) <= LARGEST_ENTRY))[0])
        limit_text = f", at most {LARGEST_ENTRY:g}" if np.isfinite(array[index]) else ""
        raise InputError(field, f"must be finite{limit_text}, entry {index} is {array[index]}")
    if array.ndim > MAX_AXES:
        raise InputError(field, f"must have at most {MAX_AXES} axes, got {array.ndim}")
    return array


def as_vector(value: Any, field: str, size: int) -> FloatArray:
    """Return `value` as a finite vector `(size,)`; raises InputError otherwise."""
    if (
        type(value) is np.ndarray
        and value.shape == (size,)
        and value.dtype == np.float64
        and value.flags.carray
        and all(map(isfinite, value.tolist()))
    ):
        return value  # what engines are given at every step
    array = as_floats(value, field, size)
    if array.ndim != 1:
        raise InputError(field, f"must be one vector of size {size}, got shape {array.shape}")
    return array


def quaternion_norm(quaternion: FloatArray, field: str) -> FloatArray:
    """Return the norms `(...)` of quaternions `(..., 4)`; raises InputError unless all are one."""
    if quaternion.ndim == 1:  # one pose, as in most calls: numbers are sooner done than arrays
        w, x, y, z = quaternion.tolist()
        norm = np.asarray(sqrt(w * w + x * x + y * y + z * z))
        if abs(norm.item() - 1.0) <= QUATERNION_TOLERANCE:
            return norm
    else:
        w, x, y, z = np.moveaxis(quaternion, -1, 0)
        with np.errstate(over="ignore"):
            norm = np.asarray(np.sqrt(w * w + x * x + y * y + z * z))
    if norm.size and not np.abs(norm - 1.0).max() <= QUATERNION_TOLERANCE:
        worst_norm = norm.flat[int(np.abs(norm - 1.0).argmax())]
        raise InputError(
            field,
            "the quaternion (scalar first; the last four entries of a pose) must have norm 1, got "
            f"{worst_norm:.9g}; divide it by its norm",
        )
    return norm


def as_pose(value: Any, field: str = "pose") -> FloatArray:
    """Return poses `(..., 7)` with quaternions normalised to rounding error.

    Raises:
        InputError: wrong shape, not finite, or a quaternion whose norm is not one.
    """
    pose = as_floats(value, field)
    if pose.shape[-1:] != (7,):
        raise InputError(
            field,
            f"got shape {pose.shape}: a pose is x y z qw qx qy qz; "
            "twin.pose(x, y, z, roll, pitch, yaw) makes one from angles",
        )
    norm = quaternion_norm(pose[..., 3:], field)
    pose = pose.copy()
    if pose.ndim == 1:
        pose[3:] /= norm
        return pose
    for k in range(3, 7):  # entry by entry: loops along a last axis of four are slow
        pose[..., k] /= norm
    return pose


def one_pose(value: Any, field: str = "pose") -> FloatArray:
    """Return one pose `(7,)`; raises InputError as `as_pose`, and for several poses."""
    pose = as_pose(value, field)
    if pose.ndim != 1:
        raise InputError(field, f"must be one pose (7,), got shape {pose.shape}")
    return pose


def positive(value: Any, field: str) -> float:
    """Return a number from `SMALLEST_NUMBER` to `LARGEST_NUMBER`; raises InputError otherwise."""
    number = as_floats(value, field)
    if number.ndim or number <= 0:
        raise InputError(field, f"must be one number above zero, got {brief(value)}")
    if not SMALLEST_NUMBER <= number <= LARGEST_NUMBER:
        message = f"must be from {SMALLEST_NUMBER:g} to {LARGEST_NUMBER:g}, got {brief(value)}"
        raise InputError(field, message)
    return float(number)


def not_negative(value: Any, field: str) -> float:
    """Return a number from zero to `LARGEST_NUMBER`; raises InputError otherwise."""
    number = as_floats(value, field)
    if number.shape != () or not 0.0 <= number <= LARGEST_NUMBER:
        message_start = "must be zero or more, at most"
        raise InputError(field, f"{message_start} {LARGEST_NUMBER:g}, got {brief(value)}")
    return float(number)


def bounded(value: Any, field: str, low: float, high: float) -> float:
    """Return `value` as one finite number from `low` to `high`; raises InputError otherwise."""
    if type(value) is float and low <= value <= high:
        return value
    number = as_floats(value, field)
    if number.ndim or not low <= number <= high:
        raise InputError(field, f"must be one number from {low:g} to {high:g}, got {brief(value)}")
    return float(number)


def whole_number(value: Any, field: str, low: int, high: int | None = None) -> int:
    """Return a whole number from `low`, up to `high` if any; raises InputError otherwise."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        upper_text = "" if high is None else f" to {high}"
        raise InputError(
            field, f"must be a whole number from {low}{upper_text}, got {brief(value)}"
        )
    return int(value)


def one_or_each(value: Any, field: str, count: int, *, zero: bool = False) -> FloatArray:
    """Return `count` numbers, from one number for all or from one number for each.

    Args:
        value: one number or `(count,)`.
        field: name of the argument, for the message.
        count: number of legs, actuators or inputs.
        zero: whether zero is allowed in addition to positive numbers.

    Raises:
        InputError: another shape, not finite, or too small.
    """
    numbers = as_floats(value, field)
    lower_text = "zero or more" if zero else "above zero"
    if numbers.shape not in ((), (count,)) or not (numbers >= 0.0 if zero else numbers > 0.0).all():
        raise InputError(
            field, f"must be one number or {count} numbers, {lower_text}, got {brief(value)}"
        )
    return np.broadcast_to(numbers, (count,)).copy()


def as_flag(value: Any, field: str) -> bool:
    """Return `value` if it is True or False; raises InputError otherwise."""
    if not isinstance(value, bool):
        raise InputError(field, f"must be True or False, not {brief(value)}")
    return value


def as_instance(value: Any, field: str, kind: type[Kind]) -> Kind:
    """Return `value` if it is of a class; raises InputError that names the class otherwise."""
    if not isinstance(value, kind):
        raise InputError(field, f"must be a {kind.__name__}, not {brief(value)}")
    return value


def as_text(value: Any, field: str) -> str:
    """Return `value` if it is a text; raises InputError otherwise."""
    if not isinstance(value, str):
        raise InputError(field, f"must be a text, not {brief(value)}")
    return value


def one_of(value: Any, field: str, known: Iterable[str]) -> str:
    """Return `value` if it is among the `known` names; raises InputError listing them otherwise."""
    names = tuple(known)
    if not isinstance(value, str) or value not in names:
        raise InputError(field, f"unknown {field} {brief(value)}; known: {', '.join(names)}")
    return value


def without(table: Mapping[str, Kind], *names: str) -> dict[str, Kind]:
    """Return the entries of a table but those of some names."""
    return {name: value for name, value in table.items() if name not in names}


def flatten_batch(**arrays: FloatArray) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Broadcast the leading axes of all arrays and flatten them to one.

    Returns:
        The common batch shape, and the arrays as contiguous `(batch, last)`.

    Raises:
        InputError: leading axes that do not broadcast, naming the arguments.
    """
    shape = next(iter(arrays.values())).shape[:-1]
    if all(array.shape[:-1] == shape for array in arrays.values()):
        size = prod(shape)
        return shape, [array.reshape(size, array.shape[-1]) for array in arrays.values()]
    try:
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError:
        shapes_text = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(
            ", ".join(arrays), f"leading axes must broadcast against each other, got {shapes_text}"
        ) from None
    return shape, [
        np.require(
            np.broadcast_to(array, shape + array.shape[-1:]).reshape(prod(shape), array.shape[-1]),
            requirements=["C", "W"],
        )
        for array in arrays.values()
    ]


def read_only(array: Any) -> FloatArray:
    """Return a read-only float64 copy, for arrays that are shared."""
    copy = np.array(array, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def call_name(function: Any) -> str:
    """Return the name of a function for messages; for a callable object, that of its class."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).rpartition("<locals>.")[2]


def check_arguments(function: Callable[..., Any], field: str, *names: str) -> None:
    """Check that a function can be called with the positional arguments `names`.

    Args:
        function: function of the user.
        field: the argument as which it was given.
        names: names of its arguments, for the message.

    Raises:
        InputError: it takes others.
    """
    try:
        function_signature = signature(function)
    except (TypeError, ValueError):  # some callables written in C have no signature
        return
    try:
        function_signature.bind(*names)
    except TypeError as error:
        call_text = f"{field}({', '.join(names)})"
        raise InputError(
            field, f"is called with {' and '.join(names)}: {call_text} ({error})"
        ) from None


def segment_distance(
    first: FloatArray, first_end: FloatArray, second: FloatArray, second_end: FloatArray
) -> FloatArray:
    """Return the smallest distances `(...)` [m] between segments with ends `(..., 3)` [m].

    The smallest is between inner points, where the common perpendicular meets both segments, or
    between an end of one and the nearest point of the other.
    """
    first_vector, second_vector, start_offset = (
        first_end - first,
        second_end - second,
        first - second,
    )
    squared_distance = np.minimum(
        _to_segment(first, second, second_vector), _to_segment(first_end, second, second_vector)
    )
    squared_distance = np.minimum(squared_distance, _to_segment(second, first, first_vector))
    squared_distance = np.minimum(squared_distance, _to_segment(second_end, first, first_vector))
    a, b, c = (
        dot(first_vector, first_vector),
        dot(first_vector, second_vector),
        dot(second_vector, second_vector),
    )
    d, e = dot(first_vector, start_offset), dot(second_vector, start_offset)
    determinant = a * c - b * b
    not_parallel = determinant > PARALLEL_SINE_SQUARED * a * c
    divisor = np.where(not_parallel, determinant, 1.0)
    s, t = (b * e - c * d) / divisor, (a * e - b * d) / divisor
    is_inner = not_parallel & (s > 0.0) & (s < 1.0) & (t > 0.0) & (t < 1.0)
    perpendicular = start_offset + s[..., None] * first_vector - t[..., None] * second_vector
    return np.sqrt(
        np.where(
            is_inner,
            np.minimum(squared_distance, dot(perpendicular, perpendicular)),
            squared_distance,
        )
    )


def _to_segment(point: FloatArray, start: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the squared distances of points from segments `start + [0, 1] vector`."""
    offset = point - start
    squared_length = dot(vector, vector)
    fraction = dot(offset, vector) / np.where(squared_length > 0.0, squared_length, 1.0)
    distance_vector = offset - np.clip(fraction, 0.0, 1.0)[..., None] * vector
    return dot(distance_vector, distance_vector)


def dot(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the dot products `(...)` of vectors `(..., 3)`."""
    return np.asarray(np.einsum("...i,...i->...", left, right))


def outer(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the outer products `(..., k, m)` of vectors `(..., k)` and `(..., m)`."""
    return left[..., :, None] * right[..., None, :]


def cross(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the cross products `(..., 3)`; less overhead than `np.cross` for a few."""
    a, b, c = left[..., 0], left[..., 1], left[..., 2]
    x, y, z = right[..., 0], right[..., 1], right[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def cross_matrix(vector: FloatArray) -> FloatArray:
    """Return matrices `(..., 3, 3)` whose product with u is the cross product `vector` x u."""
    matrix = np.zeros((*vector.shape, 3))
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = -z, y, -x
    matrix[..., 1, 0], matrix[..., 2, 0], matrix[..., 2, 1] = z, -y, x
    return matrix


def quaternion_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products `(..., 4)` of quaternions: rotation by `right`, then by `left`."""
    w, x, y, z = left.T
    a, b, c, d = right.T
    return np.array(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ]
    ).T


def quaternion_from_vector(vector: FloatArray) -> FloatArray:
    """Return the unit quaternions `(..., 4)` of rotation vectors `(..., 3)` [rad]."""
    half_angle = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half_angle), 0.5 * np.sinc(half_angle / np.pi) * vector], axis=-1)


def rotated(quaternion: FloatArray, vector: FloatArray) -> FloatArray:
    """Return vectors `(..., 3)` rotated by unit quaternions `(..., 4)`."""
    twice_cross = 2.0 * cross(quaternion[..., 1:], vector)
    return vector + quaternion[..., :1] * twice_cross + cross(quaternion[..., 1:], twice_cross)


def rotation_matrix(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrices `(..., 3, 3)` of unit quaternions `(..., 4)`."""
    w, x, y, z = quaternion.T
    columns = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(columns).T


def turned(pose: FloatArray, step: FloatArray) -> FloatArray:
    """Return poses `(..., 7)` moved by translations and rotation vectors `(..., 6)`, base axes."""
    quaternion = quaternion_product(quaternion_from_vector(step[..., 3:]), pose[..., 3:])
    return np.concatenate([pose[..., :3] + step[..., :3], quaternion], axis=-1)


class NotCopied:
    """An object that owns a connection, a file or memory of a library, and cannot be copied."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse `copy`, `deepcopy` and `pickle`; raises StateError."""
        raise StateError(f"{type(self).__name__} cannot be copied or pickled; make another one")
