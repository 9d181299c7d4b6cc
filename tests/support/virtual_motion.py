"""Motions of a machine's dof through a state, at complex times, for clouds of point masses.

Degrees of freedom are the platform's six and the springs' extensions, with the twist and the rates
of the springs as their rates; on pillars they are height, roll and pitch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from clouds import Array, cloud
from turns import turn_of


class Place(NamedTuple):
    """Where a machine is at some times."""

    position: Array
    """`(k, 3)`"""
    turn: Array
    """`(k, 3, 3)` platform to base"""
    deflection: Array
    """`(k, n)` extensions of the springs"""

    def cloud(self, machine):
        """Return the masses."""
        return cloud(machine, self.position, self.turn, self.deflection)


Motion = Callable[[Array], Place]
"""From complex times `(k,)` to places."""


def turned(vector):
    """Return rotations `(k, 3, 3)` by complex rotation vectors `(k, 3)`."""
    angle = np.sqrt((vector * vector).sum(axis=1).astype(complex))
    small = np.abs(angle) < 1e-6
    safe = np.where(small, 1.0, angle)
    sine = np.where(small, 1.0 - angle**2 / 6.0, np.sin(safe) / safe)
    versine = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    skew = np.swapaxes(np.cross(vector[:, None], np.eye(3)), 1, 2)
    return np.eye(3) + sine[:, None, None] * skew + versine[:, None, None] * (skew @ skew)


def free_motion(pose, springs, rate, acceleration):
    """Return the motion through `pose` (7,) and `springs` (n,), of six dof and the springs."""
    start = turn_of(pose).as_matrix()

    def place(time):
        path = time[:, None] * rate + 0.5 * time[:, None] ** 2 * acceleration
        inside = springs + (path[:, 6:] if path.shape[1] > 6 else np.zeros((1, len(springs))))
        inside = np.broadcast_to(inside, (len(time), len(springs)))
        return Place(pose[:3] + path[:, :3], turned(path[:, 3:6]) @ start, inside)

    return place


def pillar_motion(machine, start, rate, acceleration):
    """Return the motion through height, roll and pitch `start` (3,) about the fixed foot."""
    fixed = machine.leg.fixed_foot - 1
    foot, corner = machine.base.joints.points[fixed], machine.platform.joints.points[fixed]

    def place(time):
        z, roll, pitch = (start + time[:, None] * rate + 0.5 * time[:, None] ** 2 * acceleration).T
        cr, sr, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
        zero = 0.0 * z
        turn = np.stack(
            [
                np.stack([cp, zero, sp], 1),
                np.stack([sr * sp, cr, -sr * cp], 1),
                np.stack([-cr * sp, sr, cr * cp], 1),
            ],
            1,
        )
        arm = turn @ corner
        length = (z + arm[:, 2] - foot[2]) / turn[:, 2, 2]
        position = foot + length[:, None] * turn[:, :, 2] - arm
        return Place(position, turn, np.zeros((len(time), len(machine.legs))))

    return place


def height_roll_pitch(pose, twist, acceleration):
    """Return `(3, 3)`: height, roll and pitch of R = Rx(roll) Ry(pitch), rates, accelerations.

    The angular velocity is roll' x + pitch' y', with y' the platform's y axis.
    """
    turn = turn_of(pose)
    roll, pitch, yaw = turn.as_euler("XYZ")
    assert abs(yaw) < 1e-9
    side = turn.apply([0.0, 1.0, 0.0])
    rows = [[pose[2], roll, pitch]]
    rows += [[given[2], given[3], given[3:] @ side] for given in (twist, acceleration)]
    return np.array(rows)
