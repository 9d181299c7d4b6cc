"""Points and directions of the legs in any pose: base joint, middle, platform joint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import rotated
from twin.machine.legs.rss.parameters import RssLeg
from twin.model.machine_model import MachineModel


class LegPoints(NamedTuple):
    """Points `(k, n, 3)` [m] of the legs, base frame."""

    base: FloatArray
    """base joints; of pillars the feet"""
    middle: FloatArray
    """elbows of cranks, else where the thicker lower part ends"""
    tip: FloatArray
    """platform joints"""
    rotation: FloatArray
    """`(k, 3, 3)` platform to base"""

    @property
    def lower(self) -> FloatArray:
        """Unit vectors `(k, n, 3)` along the lower part, up."""
        return _unit(self.middle - self.base)

    @property
    def upper(self) -> FloatArray:
        """Unit vectors `(k, n, 3)` along the upper part, up."""
        return _unit(self.tip - self.middle)


def leg_points(platform: MachineModel, pose: FloatArray) -> LegPoints:
    """Return the points of all legs at poses `(k, 7)` in reach."""
    matrix = np.stack([rotated(pose[:, 3:], axis[None]) for axis in np.eye(3)], axis=-1)
    tip = pose[:, None, :3] + np.einsum("kij,nj->kni", matrix, platform.platform_joints)
    base = np.broadcast_to(platform.base_joints, tip.shape)
    coordinates = platform.inverse_kinematics(pose)
    if platform.leg.has_foot:
        base = tip - coordinates[:, :, None] * matrix[:, None, :, 2]
    if platform.leg.has_crank:
        return LegPoints(base, base + _cranks(platform, coordinates), tip, matrix)
    along = tip - base
    length = np.linalg.norm(along, axis=-1)
    sizes = [leg.sizes for leg in platform.parameters.legs]
    ends = np.array([0.5 * length.min() if size is None else size.lower_length for size in sizes])
    # A part of the leg is left for its upper part, whose direction is that of the leg.
    share = np.clip(ends / length, 0.01, 0.99)
    return LegPoints(base, base + share[:, :, None] * along, tip, matrix)


def crank_frames(platform: MachineModel, points: LegPoints) -> FloatArray:
    """Return rotations `(k, n, 3, 3)` crank to base: x is its axis of rotation, z the crank."""
    along = points.lower
    axis = np.broadcast_to(platform.first_axes, along.shape)
    return np.stack([axis, np.cross(along, axis), along], axis=-1)


def _cranks(platform: MachineModel, angles: FloatArray) -> FloatArray:
    """Return the vectors `(k, n, 3)` [m] from base joints to elbows at angles `(k, n)`."""
    pairs = zip(platform.parameters.legs, platform.parameters.home_places, strict=True)
    legs = [(leg, place) for leg, place in pairs if isinstance(leg, RssLeg)]
    zero = np.array([leg.home_zero(place) for leg, place in legs])
    length = np.array([leg.crank_length for leg, _ in legs])
    side = np.cross(platform.first_axes, zero)
    turned = np.cos(angles)[:, :, None] * zero + np.sin(angles)[:, :, None] * side
    return np.asarray(length[:, None] * turned)


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
