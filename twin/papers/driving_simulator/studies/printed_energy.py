"""Inertia that the printed energies leave out.

A plate that turns about a foot a home length below it moves sideways, and comes down as it tilts.
The printed energies have neither. In the forces both are of first order in the angles, as are the
terms that are there: for small angles they do not vanish beside them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.dae.lagrange import DRIVEN
from twin.papers.driving_simulator.plate import CORNERS, PlateModel

PUSHING = tuple(CORNERS.index(name) for name in DRIVEN)
"""The driven pillars; the fourth follows without a force, as in the paper."""


class HomeInertia(NamedTuple):
    """Inertia at home against heave [kg], roll and pitch [kg m2], `(3,)` each."""

    printed: FloatArray
    """From the printed energy"""
    exact: FloatArray


def home_inertia(plate: PlateModel) -> HomeInertia:
    """Return the inertia of a level plate at its home length, in the printed and the exact model.

    Both are diagonal. They differ by lifted_mass * home_length^2 in roll and in pitch.
    """
    pillars = len(CORNERS) * plate.upper_mass
    printed = np.array(
        [
            plate.lifted_mass,
            plate.roll_inertia + pillars * plate.half_width**2,
            plate.pitch_inertia + pillars * plate.half_length**2,
        ]
    )
    sideways = plate.lifted_mass * plate.home_length**2 * np.array([0.0, 1.0, 1.0])
    return HomeInertia(printed, printed + sideways)
