"""Mobility: ranges of translations and angles about a centre pose."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, read_only
from twin.basics.quaternions import quaternion_product
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel
from twin.motion.axes import axis_names, known_axis
from twin.motion.motion import as_center
from twin.rotations import quaternion_from_angles


class Mobility(NamedTuple):
    """A box of poses: every axis anywhere in its range, all at once.

    Axes are those of `twin.motion`: displacements along the base axes from the centre, and the
    angles of a convention, applied in base axes on top of the centre's attitude.
    """

    center: FloatArray
    """`(7,)`"""
    low: FloatArray
    """`(k,)` [m], [rad]"""
    high: FloatArray
    """`(k,)` [m], [rad]"""
    convention: str

    @classmethod
    def about(
        cls,
        center: Any,
        ranges: Mapping[str, tuple[float, float]],
        convention: str = "yaw_pitch_roll",
    ) -> Mobility:
        """Return the box of poses that ranges by axis name describe.

        Args:
            center: pose `(7,)` or position `(3,)` [m].
            ranges: axis name -> (lowest, highest) [m], [rad], such as `{"z": (-0.01, 0.02)}`; axes
                left out stay at zero. Names are those of `twin.motion.axis_names(convention)`.
            convention: of the angles.

        Raises:
            InputError: unknown axis or convention, ranges that are no ordered pairs.
        """
        place = as_center(center)
        if not isinstance(ranges, Mapping) or not ranges:
            raise InputError("ranges", "must map axis names to (lowest, highest)")
        low, high = np.zeros((2, len(axis_names(convention))))
        for axis, pair in ranges.items():
            column = known_axis(axis, "ranges", convention)
            ends = as_floats(pair, f"ranges[{axis!r}]")
            if ends.shape != (2,) or ends[0] > ends[1]:
                raise InputError(
                    f"ranges[{axis!r}]", f"must be (lowest, highest), got {brief(pair)}"
                )
            low[column], high[column] = ends
        return cls(place, read_only(low), read_only(high), convention)

    def poses(self, axes: FloatArray) -> FloatArray:
        """Return poses `(m, 7)` of axis values `(m, k)`."""
        turn = quaternion_from_angles(axes[:, 3:], self.convention)
        attitude = np.broadcast_to(self.center[3:], (len(axes), 4))
        return np.hstack([self.center[:3] + axes[:, :3], quaternion_product(turn, attitude)])

    def corners(self) -> FloatArray:
        """Return the distinct corners `(m, k)` of the box."""
        ends = [sorted({low, high}) for low, high in zip(self.low, self.high, strict=True)]
        return np.array(list(itertools.product(*ends)))

    def inner(self, count: int) -> FloatArray:
        """Return `count` points `(count, k)` spread evenly over the box, always the same ones."""
        from scipy.stats import qmc

        # Sobol points are balanced in numbers that are powers of two.
        power = int(np.ceil(np.log2(count)))
        points = qmc.Sobol(len(self.low), scramble=False).random_base2(power)[:count]
        return np.asarray(self.low + points * (self.high - self.low))


def check_convention(platform: MachineModel, convention: str) -> None:
    """Raise InputError for angles that a machine on pillars cannot have.

    Roll and pitch in their own order are all it can turn; x and y follow from them.
    """
    if platform.dof < 6 and convention != "roll_pitch":
        raise InputError(
            "convention",
            f"{platform.name} moves in height, roll and pitch only: give these in the convention "
            f"roll_pitch, not {convention}",
        )
