"""Rotations: angle conventions by name, on top of scipy's `Rotation`; poses and angles.

Every convention maps three numbers (two for `roll_pitch`) to the rotation that takes platform
coordinates to base coordinates. Quaternions are scalar first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_flag,
    as_floats,
    as_pose,
    flatten_batch,
    one_of,
    quaternion_from_vector,
    quaternion_norm,
    quaternion_product,
    turned,
)
from twin.errors import InputError


class Convention(NamedTuple):
    """An angle convention: scipy's axis sequence (upper case: moving axes), names of the angles."""

    sequence: str
    angles: tuple[str, ...]
    source: str


CONVENTIONS: dict[str, Convention] = {
    "yaw_pitch_roll": Convention(
        "ZYX", ("yaw", "pitch", "roll"), "Stewart thesis, section 2.2: 3-2-1 sequence"
    ),
    "fixed_xyz": Convention("xyz", ("x", "y", "z"), "micro-hexapod: Rz(z) Ry(y) Rx(x), fixed axes"),
    "moving_xyz": Convention("XYZ", ("x", "y", "z"), "Simscape bushing joint: Rx(x) Ry(y) Rz(z)"),
    "roll_pitch": Convention("XY", ("roll", "pitch"), "driving simulator: Rx(roll) Ry(pitch)"),
    "compliant": Convention(
        "YXZ", ("beta", "alpha", "gamma"), "compliant legs: Ry(beta) Rx(alpha) Rz(gamma)"
    ),
    "ZXZ": Convention(
        "ZXZ",
        ("precession", "nutation", "spin"),
        "classical mechanics: Rz(precession) Rx(nutation) Rz(spin)",
    ),
    "ZYZ": Convention(
        "ZYZ", ("alpha", "beta", "gamma"), "robot controllers: Rz(alpha) Ry(beta) Rz(gamma)"
    ),
    "rodrigues": Convention(
        "", ("x", "y", "z"), "extended paper: axis times the tangent of half the angle, no unit"
    ),
    "rotation_vector": Convention("", ("x", "y", "z"), "axis times angle"),
}

SINGULAR_NORM = 1e-7
"""Norm of the entries (x, y) or (w, z) of a unit quaternion below which `ZXZ` and `ZYZ` are
singular: a middle angle within 2e-7 rad of zero or of half a turn."""


def is_singular_when_level(name: str) -> bool:
    """Return whether a convention turns twice about z: level attitudes have no angles of their own.

    There the first and the last angle turn about one axis, and only their sum is determined.

    Raises:
        InputError: unknown convention.
    """
    sequence = convention(name).sequence
    return len(sequence) == 3 and sequence[0] == sequence[2]


def convention(name: str) -> Convention:
    """Return the named convention; raises InputError listing the known names."""
    return CONVENTIONS[one_of(name, "convention", CONVENTIONS)]


def quaternion_from_angles(angles: Any, name: str = "yaw_pitch_roll") -> FloatArray:
    """Return the platform-to-base quaternions `(..., 4)` of angles `(..., 3)` [rad].

    Args:
        angles: in the order of the convention's `angles`; `(..., 2)` for `roll_pitch`.
        name: a key of `CONVENTIONS`.

    Raises:
        InputError: wrong shape, not finite, unknown convention.
    """
    chosen = convention(name)
    values = as_floats(angles, "angles", len(chosen.angles))
    flat = values.reshape(-1, values.shape[-1])
    quaternion = np.empty((len(flat), 4))
    if name == "rodrigues":
        quaternion[:, 0], quaternion[:, 1:] = 1.0, flat
        quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    elif chosen.sequence:
        quaternion[:] = _about_axes(chosen.sequence, 0.5 * flat.T).T
    else:
        quaternion[:] = quaternion_from_vector(flat)
    return _canonical(quaternion).reshape((*values.shape[:-1], 4))


TIMES_UNIT = {
    "X": ([1, 0, 3, 2], np.array([[-1.0], [1.0], [1.0], [-1.0]])),
    "Y": ([2, 3, 0, 1], np.array([[-1.0], [-1.0], [1.0], [1.0]])),
    "Z": ([3, 2, 1, 0], np.array([[-1.0], [1.0], [-1.0], [1.0]])),
}
"""Entries and signs of a quaternion times the unit i, j or k."""


def _about_axes(sequence: str, halves: FloatArray) -> FloatArray:
    """Return the quaternions `(4, m)` of half angles `(k, m)` about scipy's sequence of axes."""
    if sequence.islower():
        # Fixed axes are moving ones in reverse.
        sequence, halves = sequence[::-1].upper(), halves[::-1]
    result = np.zeros((4, halves.shape[1]))
    result[0] = 1.0
    for axis, half in zip(sequence, halves, strict=True):
        result = np.cos(half) * result + np.sin(half) * times_unit(result, axis)
    return result


def times_unit(quaternion: FloatArray, axis: str) -> FloatArray:
    """Return the products `(4, m)` of quaternions `(4, m)` and the unit of an axis, X, Y or Z."""
    columns, signs = TIMES_UNIT[axis]
    return np.asarray(signs * quaternion[columns])


def _canonical(quaternion: FloatArray) -> FloatArray:
    """Return quaternions `(m, 4)` whose first entry other than zero is positive."""
    first = quaternion[:, 0]
    if first.min(initial=1.0) <= 0.0:
        leading = (quaternion != 0.0).argmax(axis=1)
        quaternion[quaternion[np.arange(len(first)), leading] < 0.0] *= -1.0
    return quaternion


def angles_from_quaternion(quaternion: Any, name: str = "yaw_pitch_roll") -> FloatArray:
    """Return the angles `(..., 3)` [rad] of platform-to-base quaternions `(..., 4)`.

    They are `(..., 2)` for `roll_pitch`, and tangents without a unit for `rodrigues`.

    Args:
        quaternion: scalar first, norm one.
        name: a key of `CONVENTIONS`; `roll_pitch` needs a rotation that is one about x, then one
            about the turned y. The middle angle of `ZXZ` and `ZYZ` is between 0 and half a turn.

    Raises:
        InputError: wrong shape, not finite, a norm that is not one, unknown convention, or a
            rotation that `roll_pitch` (yaw) or `rodrigues` (half a turn) cannot express, or whose
            angles `ZXZ` and `ZYZ` do not determine (level, upright or upside down).
    """
    from scipy.spatial.transform import Rotation

    chosen = convention(name)
    values = as_floats(quaternion, "quaternion", 4)
    flat = values.reshape(-1, 4)
    quaternion_norm(flat, "quaternion")
    rotation = Rotation.from_quat(flat[:, [1, 2, 3, 0]])
    angles: FloatArray
    if name == "rodrigues":
        if flat.size and np.abs(flat[:, 0]).min() < 1e-9:
            raise InputError("quaternion", "rodrigues cannot express half a turn")
        angles = flat[:, 1:] / flat[:, :1]
    elif not chosen.sequence:
        angles = rotation.as_rotvec()
    elif len(chosen.sequence) == 2:
        angles = rotation.as_euler("XYZ")
        if np.abs(angles[:, 2]).max(initial=0.0) > 1e-9:
            raise InputError("quaternion", f"{name} cannot express a rotation with yaw")
        angles = angles[:, :2]
    else:
        if is_singular_when_level(name):
            _check_tilted(flat, name)
        angles = rotation.as_euler(chosen.sequence)
    return angles.reshape((*values.shape[:-1], len(chosen.angles)))


def _check_tilted(quaternion: FloatArray, name: str) -> None:
    """Raise InputError where quaternions `(m, 4)` leave z where it is, or turn it upside down."""
    along = np.hypot(quaternion[:, 0], quaternion[:, 3])
    level = np.minimum(along, np.hypot(quaternion[:, 1], quaternion[:, 2])) < SINGULAR_NORM
    if level.any():
        first, _, last = CONVENTIONS[name].angles
        raise InputError(
            f"quaternion[{int(level.argmax())}]",
            f"{name} is singular for a level platform, where {first} and {last} turn about the "
            "same axis; take yaw_pitch_roll or rotation_vector",
        )


def angle_between(quaternion: Any, reference: Any) -> FloatArray:
    """Return the angles `(...)` [rad] of the rotations between attitudes, 0 to pi.

    Args:
        quaternion: `(..., 4)` scalar first, norm one; its sign does not matter.
        reference: `(..., 4)` likewise.

    Raises:
        InputError: wrong shapes, not finite, or a norm that is not one.
    """
    shape, (a, b) = flatten_batch(
        quaternion=as_floats(quaternion, "quaternion", 4),
        reference=as_floats(reference, "reference", 4),
    )
    quaternion_norm(a, "quaternion")
    quaternion_norm(b, "reference")
    # Sine and cosine of half the angle: vector and scalar part of the rotation between the two.
    vector = b[:, :1] * a[:, 1:] - a[:, :1] * b[:, 1:] - np.cross(a[:, 1:], b[:, 1:])
    scalar = np.abs(np.einsum("ki,ki->k", a, b))
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(vector, axis=1), scalar)).reshape(shape)


def pose_from_angles(position: Any, angles: Any, name: str = "yaw_pitch_roll") -> FloatArray:
    """Return poses `(..., 7)` from positions `(..., 3)` [m] and angles [rad] of a convention.

    Raises:
        InputError: wrong shapes, not finite, unknown convention.
    """
    place = as_floats(position, "position", 3)
    quaternion = quaternion_from_angles(angles, name)
    try:
        shape = np.broadcast_shapes(place.shape[:-1], quaternion.shape[:-1])
    except ValueError:
        raise InputError("position, angles", "leading axes must broadcast") from None
    pose = np.empty((*shape, 7))
    pose[..., :3] = place
    pose[..., 3:] = quaternion
    return pose


def pose(
    x: Any = 0.0,
    y: Any = 0.0,
    z: Any = 0.0,
    roll: Any = 0.0,
    pitch: Any = 0.0,
    yaw: Any = 0.0,
    *,
    degrees: bool = False,
) -> FloatArray:
    """Return poses `(..., 7)` at places [m] with attitudes [rad], numbers or arrays that broadcast.

    The rotation is Rz(yaw) Ry(pitch) Rx(roll): about x, then y, then z, all axes of the base. This
    is the convention `yaw_pitch_roll`.

    Args:
        x: [m], base axes.
        y: likewise.
        z: likewise.
        roll: about x.
        pitch: about y.
        yaw: about z.
        degrees: whether the angles are in degrees.

    Raises:
        InputError: not finite, or shapes that do not broadcast.
    """
    given = {"x": x, "y": y, "z": z, "roll": roll, "pitch": pitch, "yaw": yaw}
    columns = {name: as_floats(value, name)[..., None] for name, value in given.items()}
    _, parts = flatten_batch(**columns)
    shape = np.broadcast_shapes(*(column.shape[:-1] for column in columns.values()))
    turns = np.hstack(parts[:2:-1])
    turns = np.radians(turns) if as_flag(degrees, "degrees") else turns
    return pose_from_angles(np.hstack(parts[:3]), turns).reshape((*shape, 7))


def angles(pose: Any, *, degrees: bool = False) -> FloatArray:
    """Return roll, pitch and yaw `(..., 3)` [rad] of poses `(..., 7)`, as `pose` takes them.

    Args:
        pose: poses.
        degrees: whether to return degrees.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    angles = angles_from_quaternion(as_pose(pose)[..., 3:])[..., ::-1]
    return np.degrees(angles) if as_flag(degrees, "degrees") else angles.copy()


def displaced(pose: Any, displacement: Any) -> FloatArray:
    """Return poses `(..., 7)` moved by displacements `(..., 6)` [m], [rad], base axes.

    The last three entries are a rotation vector, applied on top of the pose's attitude.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    shape, (poses, steps) = flatten_batch(
        pose=as_pose(pose), displacement=as_floats(displacement, "displacement", 6)
    )
    return turned(poses, steps).reshape((*shape, 7))


def displacement(pose: Any, reference: Any) -> FloatArray:
    """Return the displacements `(..., 6)` [m], [rad] that lead from `reference` to `pose`.

    The inverse of `displaced`: `displaced(reference, displacement(pose, reference))` is `pose`.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    shape, (poses, origins) = flatten_batch(
        pose=as_pose(pose), reference=as_pose(reference, "reference")
    )
    turn = quaternion_product(poses[:, 3:], origins[:, 3:] * [1.0, -1.0, -1.0, -1.0])
    vector = angles_from_quaternion(turn, "rotation_vector")
    return np.hstack([poses[:, :3] - origins[:, :3], vector]).reshape((*shape, 6))
