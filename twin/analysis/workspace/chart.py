"""Charts of poses: a few axes about a centre, of the machine's own degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.course import check_convention
from twin.analysis.stiffness import characteristic_scale
from twin.basics.arrays import FloatArray, as_floats, as_pose, quaternion_product, read_only
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import axis_names, known_axis
from twin.rotations import CONVENTIONS, is_singular_when_level, quaternion_from_angles

MAX_ANGLE = float(np.radians(89.0))
"""[rad] Largest middle one of three angles: at a quarter turn the other two are no longer unique.
Roll and pitch on pillars have the same limit, where the plate would be vertical."""


ROTATION_VECTOR = "rotation_vector"
"""Convention whose three numbers are an axis times an angle of up to half a turn."""

ANGLE_TOLERANCE = 1e-9
"""[rad] Excess of an angle over the largest one that counts as rounding."""


class Chart(NamedTuple):
    """Poses by the values of some axes; the other axes stay at the centre.

    Axes are those of `twin.motion`: displacements [m] along the base axes and angles [rad] of a
    convention, applied in base axes on top of the centre's attitude. On pillars, what the machine
    cannot choose follows from height, roll and pitch.
    """

    platform: MachineModel
    center: FloatArray
    """pose `(7,)` at which all axes are zero"""
    axes: tuple[str, ...]
    convention: str
    columns: FloatArray
    """`(k,)` indices of the axes among those of the convention"""
    scale: FloatArray
    """`(k,)` the platform joints' mean radius [m] for displacements, 1 rad for angles"""

    @classmethod
    def about(
        cls,
        platform: MachineModel,
        axes: Sequence[str],
        center: Any = None,
        convention: str | None = None,
    ) -> Chart:
        """Return the chart of these axes about a pose.

        Args:
            platform: the machine.
            axes: names from `twin.motion.axis_names(convention)`.
            center: pose `(7,)`, default home.
            convention: of the angles; default yaw_pitch_roll, of pillars roll_pitch.

        Raises:
            InputError: not a machine, unknown axes or convention, a convention that is singular at
                the centre, angles the machine cannot have, a centre that is not one pose.
        """
        as_model(platform)
        name = machine_convention(platform) if convention is None else convention
        known = axis_names(name)
        check_convention(platform, name)
        if is_singular_when_level(name):
            raise InputError(
                "convention",
                f"{name} is singular at the centre of the chart, where its first and its last "
                "angle turn about the same axis; take yaw_pitch_roll or rotation_vector",
            )
        columns = [known_axis(axis, "axes", name) for axis in axes]
        if not columns or len(set(columns)) != len(columns):
            raise InputError("axes", "must name one axis or more, none of them twice")
        if platform.dof < 6 and set(columns) & {known.index("x"), known.index("y")}:
            raise InputError("axes", f"{platform.name} moves along z only; x and y follow")
        pose = as_pose(platform.home if center is None else center, "center")
        if pose.shape != (7,):
            raise InputError("center", f"must be one pose (7,), got shape {pose.shape}")
        size = characteristic_scale(platform)
        axis_scale = np.where(np.array(columns) < 3, size[0], 1.0)
        return cls(
            platform,
            read_only(platform.constrain(pose).pose),
            tuple(axes),
            name,
            np.array(columns),
            read_only(axis_scale),
        )

    @property
    def bound(self) -> float:
        """Distance in scaled units that no pose of this chart can exceed."""
        angles = largest_angles(self.convention)[self.columns[self.columns >= 3] - 3]
        angle_bound = np.pi if self.convention == ROTATION_VECTOR else np.linalg.norm(angles)
        bounds = [float(angle_bound)] if angles.size else []
        if (self.columns < 3).any():
            bounds.append(farthest_distance(self.platform) / float(self.scale.max()))
        return float(np.linalg.norm(bounds))

    def poses(self, values: Any) -> FloatArray:
        """Return poses `(..., 7)` of axis values `(..., k)` [m], [rad].

        NaN where angles are not those that attitudes have in the convention: beyond
        `largest_angles`, or rotation vectors beyond half a turn.

        Raises:
            InputError: wrong shape, not finite.
        """
        axis_values = as_floats(values, "values", len(self.axes))
        flat_values = axis_values.reshape(-1, axis_values.shape[-1])
        all_axes = np.zeros((len(flat_values), len(axis_names(self.convention))))
        all_axes[:, self.columns] = flat_values
        poses = np.tile(self.center, (len(flat_values), 1))
        poses[:, :3] += all_axes[:, :3]
        if (self.columns >= 3).any():
            rotation = quaternion_from_angles(all_axes[:, 3:], self.convention)
            poses[:, 3:] = quaternion_product(rotation, poses[:, 3:])
        if self.platform.dof < 6:
            poses = self.platform.constrain(poses).pose
        if self.convention == ROTATION_VECTOR:
            is_outside = np.linalg.norm(all_axes[:, 3:], axis=1) > np.pi + ANGLE_TOLERANCE
        else:
            limits = largest_angles(self.convention) + ANGLE_TOLERANCE
            is_outside = (np.abs(all_axes[:, 3:]) > limits).any(axis=1)
        poses[is_outside] = np.nan
        return poses.reshape((*axis_values.shape[:-1], 7))

    def along(self, directions: FloatArray, radii: FloatArray) -> FloatArray:
        """Return poses at scaled `radii` `(...)` along scaled directions `(..., k)`."""
        return self.poses(directions * radii[..., None] * self.scale)


def largest_angles(convention: str) -> FloatArray:
    """Return the largest angles `(3,)` [rad] of a convention that are searched, `(2,)` of two."""
    sequence = CONVENTIONS[convention].sequence
    if len(sequence) == 3:
        return np.array([np.pi, MAX_ANGLE, np.pi])
    if convention == ROTATION_VECTOR:
        return np.full(3, np.pi)
    return np.full(len(CONVENTIONS[convention].angles), MAX_ANGLE)


def machine_convention(platform: MachineModel) -> str:
    """Return the convention whose angles a machine can have."""
    return "yaw_pitch_roll" if platform.dof == 6 else "roll_pitch"


def dof_axes(platform: MachineModel) -> tuple[str, ...]:
    """Return the names of a machine's dof: x, y, z, yaw, pitch, roll; or z, roll, pitch."""
    names = axis_names(machine_convention(platform))
    return names if platform.dof == 6 else names[2:]


def farthest_distance(platform: MachineModel) -> float:
    """Return an upper bound [m] on the distance of two positions of one attitude: twice a reach."""
    return 2.0 * min(leg.reach for leg in platform.parameters.legs)
