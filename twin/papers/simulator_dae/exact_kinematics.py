"""Exact kinematics of the plate in closed form, for angles below a right angle."""

from __future__ import annotations

from typing import Any

from twin.papers.simulator_dae.jets import arctangent, cosine, secant, tangent
from twin.papers.simulator_dae.kinematics import PlateKinematics
from twin.papers.simulator_dae.plate import FIXED


class ExactKinematics(PlateKinematics):
    """The closed forms of the T-graph equations without the small-angle assumption.

    With n = R z the normal of the plate, a pillar of length h stands with its foot at corner - h n.
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
