"""Energies of the small-angle model: as the paper prints them, and complete to leading order.

Forces are of first order in the angles where energies are of second order. The printed energies
leave out two terms of second order, and so forces of first order:

- The plate turns about the fixed foot, a pillar's length below: its centre moves sideways by
  x_mp = hmp_rr theta, y_mp = -hmp_rr phi + ... The kinetic energy has of all horizontal motion only
  what the product roll * pitch brings to the corners.
- A plate on pillars of constant lengths comes down when it tilts, by the factor
  cos(phi) cos(theta) = 1 - (phi^2 + theta^2) / 2. The potential energy takes the pillars as
  vertical.

Reference: driving simulator paper, section "Dynamic Modeling".
"""

from __future__ import annotations

from typing import Any

from twin.basics.optional import optional
from twin.papers.driving_simulator.dae.symbols import DaeSymbols
from twin.papers.driving_simulator.plate import CORNERS, FIXED, SIGNS, PlateModel


def exact_number(value: float) -> Any:
    """Return a decimal number as a fraction: 0.41 is 41/100."""
    return optional("sympy").Rational(repr(value))


def corner_points(plate: PlateModel) -> dict[str, tuple[Any, Any]]:
    """Return x and y [m] of the pillars on the plate, by corner, as fractions."""
    length, width = exact_number(plate.half_length), exact_number(plate.half_width)
    return {
        name: (int(x) * length, int(y) * width) for name, (x, y) in zip(CORNERS, SIGNS, strict=True)
    }


def kinetic_energy(plate: PlateModel, symbols: DaeSymbols, complete: bool = False) -> Any:
    """Return the kinetic energy.

    Args:
        plate: its `foot_mass` counts only in the complete energy.
        symbols: of the coordinates.
        complete: with all horizontal motion; False is the energy as printed.
    """
    rate = symbols.time_derivative
    roll, pitch = symbols.roll, symbols.pitch
    roll_inertia, pitch_inertia = (
        exact_number(plate.roll_inertia),
        exact_number(plate.pitch_inertia),
    )
    twice = exact_number(plate.plate_mass) * rate(symbols.heave) ** 2
    twice += roll_inertia * rate(roll) ** 2 + pitch_inertia * rate(pitch) ** 2
    center = _center(plate, symbols) if complete else (0, 0)
    if complete:
        twice += exact_number(plate.plate_mass) * sum(rate(part) ** 2 for part in center)
    for name, (x, _) in corner_points(plate).items():
        length = symbols.length(name)
        corner = (center[0], center[1] + roll * pitch * x, length)
        moving = [rate(part) ** 2 for part in corner if part != 0]
        twice += exact_number(plate.upper_mass) * sum(moving)
        if complete:
            foot = (corner[0] - length * pitch, corner[1] + length * roll)
            twice += exact_number(plate.foot_mass) * sum(rate(part) ** 2 for part in foot)
    return twice / 2


def potential_energy(plate: PlateModel, symbols: DaeSymbols, complete: bool = False) -> Any:
    """Return the potential energy, zero where all coordinates are.

    The paper prints hmp_rr in the plate's term; it must be z_mp.

    Args:
        plate: its masses and gravity.
        symbols: of the coordinates.
        complete: with the lowering by tilt; False is the energy as printed.
    """
    raised = exact_number(plate.upper_mass) * sum(symbols.length(name) for name in CORNERS)
    raised += exact_number(plate.plate_mass) * symbols.heave
    lowered = (symbols.roll**2 + symbols.pitch**2) / 2 if complete else 0
    return exact_number(plate.gravity) * raised * (1 - lowered)


def _center(plate: PlateModel, symbols: DaeSymbols) -> tuple[Any, Any]:
    """Return x and y [m] of the plate's centre: x_mp and y_mp of the paper."""
    fixed = CORNERS[FIXED]
    x, _ = corner_points(plate)[fixed]
    roll, pitch, length = symbols.roll, symbols.pitch, symbols.length(fixed)
    return pitch * length, -roll * pitch * x - roll * length
