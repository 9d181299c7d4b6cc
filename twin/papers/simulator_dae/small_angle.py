"""Small-angle kinematics of the plate, as the driving simulator paper prints it.

The paper replaces sines by angles and cosines by one but keeps the product roll * pitch of the
rotation matrix. What it keeps of second order is therefore not all there is of second order.
"""

from __future__ import annotations

from typing import Any

from twin.papers.simulator_dae.kinematics import PlateKinematics
from twin.papers.simulator_dae.plate import FIXED


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
