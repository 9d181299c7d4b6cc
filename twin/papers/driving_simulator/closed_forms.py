"""Kinematics of the plate in closed form: exact below a right angle, and for small angles.

The driving simulator paper replaces sines by angles and cosines by one but keeps the product
roll * pitch of the rotation matrix: one of several terms of second order.
"""

from __future__ import annotations

from typing import Any

from twin.papers.driving_simulator.kinematics import (
    PlateKinematics,
    arctangent,
    cosine,
    secant,
    tangent,
)
from twin.papers.driving_simulator.plate import FIXED


class ExactKinematics(PlateKinematics):
    """The closed forms of the T-graph equations without the small-angle assumption.

    With n = R z the normal of the plate, a pillar of length h has its foot at corner - h n.
    Heights of the feet are equal, which makes lengths linear in tan(pitch) and
    tan(roll) / cos(pitch); two feet then differ by (dx / cos(pitch) - dy tan(roll) tan(pitch),
    dy / cos(roll)) where their corners differ by (dx, dy) on the plate.
    """

    def slopes(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any, Any]:
        """Return heave / (cos(roll) cos(pitch)), tan(roll) / cos(pitch), tan(pitch)."""
        across = secant(pitch)
        return heave * secant(roll) * across, tangent(roll) * across, tangent(pitch)

    def angles(self, center_length: Any, roll_slope: Any, pitch_slope: Any) -> tuple[Any, Any, Any]:
        """Return heave [m], roll and pitch [rad]; the inverse of `slopes`."""
        pitch = arctangent(pitch_slope)
        roll = arctangent(roll_slope * cosine(pitch))
        return center_length * cosine(roll) * cosine(pitch), roll, pitch

    def center(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the plate's centre.

        The foot of a pillar under the centre lies where the fixed foot puts it; from there the
        centre is heave * (tan(pitch) / cos(roll), -tan(roll)) away.
        """
        x, y = self._apart(FIXED, roll, pitch)
        foot_x, foot_y = self.plate.corners[FIXED].tolist()
        return (
            heave * tangent(pitch) * secant(roll) - x + foot_x,
            -(heave * tangent(roll)) - y + foot_y,
        )

    def foot(self, corner: int, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the foot of a pillar; `heave` has no influence."""
        x, y = self._apart(corner, roll, pitch)
        fixed_x, fixed_y = self._apart(FIXED, roll, pitch)
        foot_x, foot_y = self.plate.corners[FIXED].tolist()
        return x - fixed_x + foot_x, y - fixed_y + foot_y

    def _apart(self, corner: int, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return the foot of a pillar as seen from that of one under the centre."""
        x, y = self.plate.corners[corner].tolist()
        return secant(pitch) * x - tangent(roll) * tangent(pitch) * y, secant(roll) * y


class SmallAngleKinematics(PlateKinematics):
    """The closed forms of the T-graph equations with the paper's small-angle matrix.

    The matrix of the paper takes platform to base components:

        [    1           0    pitch ]
        [ roll * pitch   1   -roll  ]
        [ -pitch        roll    1   ]

    Reference: driving simulator paper, sections "Direct kynematics" and "Inverse kynematics".
    """

    def slopes(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any, Any]:
        """Return heave, roll and pitch: to first order they are length and slopes themselves."""
        return heave, roll, pitch

    def angles(self, center_length: Any, roll_slope: Any, pitch_slope: Any) -> tuple[Any, Any, Any]:
        """Return the arguments; the inverse of `slopes`."""
        return center_length, roll_slope, pitch_slope

    def center(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the plate's centre (x_mp, y_mp of the paper)."""
        x, _ = self.plate.corners[FIXED].tolist()
        fixed = self.lengths(heave, roll, pitch)[FIXED]
        return pitch * fixed, -(roll * pitch * x) - roll * fixed

    def foot(self, corner: int, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the foot of a pillar (x_fr, y_fr and so on of the paper)."""
        lengths = self.lengths(heave, roll, pitch)
        x, y = self.plate.corners[corner].tolist()
        across = x - float(self.plate.corners[FIXED, 0])
        longer = lengths[corner] - lengths[FIXED]
        return x - pitch * longer, y + roll * pitch * across + roll * longer
