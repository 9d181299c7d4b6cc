"""The exact model of a plate on pillars with more of its terms as methods, for laws about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.exact import ExactModel, exact_terms
from twin.rotations import pose_from_angles


class WholeModel(ExactModel):
    """Poses, twists, lengths and mass matrices beside forces and accelerations."""

    def pose(self, coordinates: Any) -> FloatArray:
        """Return the poses `(..., 7)` of coordinates."""
        shape, (q,) = self._together(coordinates)
        place = exact_terms(self.pillars, q, np.zeros_like(q)).place
        return pose_from_angles(place, q[:, 1:], "roll_pitch").reshape((*shape, 7))

    def twist(self, coordinates: Any, rates: Any) -> FloatArray:
        """Return the twists `(..., 6)` of the plate."""
        shape, (q, v) = self._together(coordinates, rates=rates)
        terms = exact_terms(self.pillars, q, v)
        return np.einsum("kij,kj->ki", terms.twist_map, v).reshape((*shape, 6))

    def lengths(self, coordinates: Any) -> FloatArray:
        """Return the lengths `(..., n)` [m] of the pillars."""
        shape, (q,) = self._together(coordinates)
        lengths = exact_terms(self.pillars, q, np.zeros_like(q)).lengths
        return lengths.reshape((*shape, *lengths.shape[1:]))

    def mass_matrix(self, coordinates: Any) -> FloatArray:
        """Return the mass matrices `(..., 3, 3)`."""
        shape, (q,) = self._together(coordinates)
        return exact_terms(self.pillars, q, np.zeros_like(q)).mass.reshape((*shape, 3, 3))
