"""The driving simulator as differential-algebraic equations: seven coordinates, seven constraints.

Four constraints tie the lengths to heave, roll and pitch, three drive lengths as functions of time:

    d/dt (dL/dq') - dL/dq + Phi_q^T lambda = 0,   Phi(q, t) = 0

The paper prints a minus before lambda and hmp_rl twice among the driven lengths; its solutions
belong to the plus and to hmp_fr, hmp_rl, hmp_fl.

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

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.papers.driving_simulator.kinematics import CORNER_SIGNS, CORNERS, FIXED_CORNER, PlateModel

COORDINATE_NAMES = ("z_mp", "phi_mp", "theta_mp", "hmp_rr", "hmp_rl", "hmp_fl", "hmp_fr")
"""Heave, roll, pitch and the four lengths: the seven coordinates in the paper's order."""

INPUT_NAMES = ("f_1", "f_2", "f_3")
"""Lengths as functions of time of the pillars front right, rear left, front left."""


class DaeSymbols(NamedTuple):
    """Coordinates, inputs and multipliers as symbols; a leading d or dd is a time derivative."""

    coordinates: tuple[Any, ...]
    rates: tuple[Any, ...]
    accelerations: tuple[Any, ...]
    inputs: tuple[Any, ...]
    input_rates: tuple[Any, ...]
    input_accelerations: tuple[Any, ...]
    multipliers: tuple[Any, ...]

    def time_derivative(self, expression: Any) -> Any:
        """Return the time derivative of an expression or a matrix without accelerations."""
        slopes = zip(
            (*self.coordinates, *self.rates, *self.inputs, *self.input_rates),
            (*self.rates, *self.accelerations, *self.input_rates, *self.input_accelerations),
            strict=True,
        )
        terms = (expression.diff(symbol) * rate for symbol, rate in slopes)
        return sum(terms, start=0 * expression)

    @property
    def heave(self) -> Any:
        """Height of the plate's centre."""
        return self.coordinates[0]

    @property
    def roll(self) -> Any:
        """Angle about x."""
        return self.coordinates[1]

    @property
    def pitch(self) -> Any:
        """Angle about y."""
        return self.coordinates[2]

    def length(self, corner: str) -> Any:
        """Return the length of the pillar at a corner of `plate.CORNERS`."""
        corner_initials = "".join(word[0] for word in corner.split("_"))
        return self.coordinates[COORDINATE_NAMES.index(f"hmp_{corner_initials}")]


def dae_symbols() -> DaeSymbols:
    """Return the symbols; the same ones at every call.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    symbols = optional("sympy").symbols

    def named(names: tuple[str, ...], prefix: str = "") -> tuple[Any, ...]:
        return tuple(symbols([prefix + name for name in names], real=True))

    multipliers = tuple(f"lambda{k + 1}" for k in range(len(COORDINATE_NAMES)))
    return DaeSymbols(
        named(COORDINATE_NAMES),
        named(COORDINATE_NAMES, "d"),
        named(COORDINATE_NAMES, "dd"),
        named(INPUT_NAMES),
        named(INPUT_NAMES, "d"),
        named(INPUT_NAMES, "dd"),
        named(multipliers),
    )


def exact_number(value: float) -> Any:
    """Return a decimal number as a fraction: 0.41 is 41/100."""
    return optional("sympy").Rational(repr(value))


def corner_points(plate: PlateModel) -> dict[str, tuple[Any, Any]]:
    """Return x and y [m] of the pillars on the plate, by corner, as fractions."""
    half_length, half_width = exact_number(plate.half_length), exact_number(plate.half_width)
    return {
        name: (int(x) * half_length, int(y) * half_width)
        for name, (x, y) in zip(CORNERS, CORNER_SIGNS, strict=True)
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
    twice_energy = exact_number(plate.plate_mass) * rate(symbols.heave) ** 2
    twice_energy += exact_number(plate.roll_inertia) * rate(roll) ** 2
    twice_energy += exact_number(plate.pitch_inertia) * rate(pitch) ** 2
    center = _center(plate, symbols) if complete else (0, 0)
    if complete:
        twice_energy += exact_number(plate.plate_mass) * sum(
            rate(component) ** 2 for component in center
        )
    for name, (x, _) in corner_points(plate).items():
        length = symbols.length(name)
        corner = (center[0], center[1] + roll * pitch * x, length)
        squared_rates = [rate(component) ** 2 for component in corner if component != 0]
        twice_energy += exact_number(plate.upper_mass) * sum(squared_rates)
        if complete:
            foot = (corner[0] - length * pitch, corner[1] + length * roll)
            twice_energy += exact_number(plate.foot_mass) * sum(
                rate(component) ** 2 for component in foot
            )
    return twice_energy / 2


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
    fixed = CORNERS[FIXED_CORNER]
    x, _ = corner_points(plate)[fixed]
    roll, pitch, length = symbols.roll, symbols.pitch, symbols.length(fixed)
    return pitch * length, -roll * pitch * x - roll * length


TIED_PILLARS = ("rear_right", "front_left", "front_right", "rear_left")
"""Pillars of the first four constraints, in their order."""

DRIVEN_PILLARS = ("front_right", "rear_left", "front_left")
"""Pillars that f_1, f_2 and f_3 drive, in the order of the last three constraints."""


class SymbolicDae(NamedTuple):
    """The equations as sympy expressions; matrices of seven rows."""

    symbols: DaeSymbols
    constraints: Any
    """Phi"""
    jacobian: Any
    """Phi_q, of numbers only: the constraints are linear"""
    kinetic: Any
    potential: Any
    mass: Any
    """`(7, 7)` derivative of the equations by the accelerations"""
    bias: Any
    """The equations at zero accelerations and multipliers"""

    @property
    def equations(self) -> Any:
        """Lagrange's equations: each entry is zero."""
        sympy = optional("sympy")
        forces = self.jacobian.T * sympy.Matrix(self.symbols.multipliers)
        return self.mass * sympy.Matrix(self.symbols.accelerations) + self.bias + forces


def constraints(plate: PlateModel, symbols: DaeSymbols) -> Any:
    """Return Phi: lengths against heave, roll and pitch, then driven lengths against inputs."""
    points = corner_points(plate)
    tied_constraints = [
        symbols.length(name)
        - symbols.roll * points[name][1]
        + symbols.pitch * points[name][0]
        - symbols.heave
        for name in TIED_PILLARS
    ]
    driven_constraints = [
        symbols.length(name) - value
        for name, value in zip(DRIVEN_PILLARS, symbols.inputs, strict=True)
    ]
    return optional("sympy").Matrix([*tied_constraints, *driven_constraints])


@cache
def symbolic_dae(plate: PlateModel, complete: bool = False) -> SymbolicDae:
    """Return the equations of a plate, derived by Lagrange's method.

    Args:
        plate: `plate.lumped()` gives the paper's.
        complete: with what the printed energies leave out, see `kinetic_energy` and
            `potential_energy`.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    sympy = optional("sympy")
    symbols = dae_symbols()
    kinetic = sympy.Matrix([kinetic_energy(plate, symbols, complete)])
    potential = sympy.Matrix([potential_energy(plate, symbols, complete)])
    coordinates = sympy.Matrix(symbols.coordinates)
    momentum = kinetic.jacobian(symbols.rates).T
    conservative_forces = (kinetic - potential).jacobian(coordinates).T
    equations = (symbols.time_derivative(momentum) - conservative_forces).applyfunc(sympy.expand)
    phi = constraints(plate, symbols)
    return SymbolicDae(
        symbols,
        phi,
        phi.jacobian(coordinates),
        kinetic[0],
        potential[0],
        equations.jacobian(symbols.accelerations),
        equations.subs(dict.fromkeys(symbols.accelerations, 0)),
    )


DRIVEN_INDICES = tuple(CORNERS.index(name) for name in DRIVEN_PILLARS)
"""Indices of the driven pillars; the fourth follows without a force, as in the paper."""


class HomeInertia(NamedTuple):
    """Inertia at home against heave [kg], roll and pitch [kg m2], `(3,)` each."""

    printed: FloatArray
    """Inertia by the printed energy"""
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
    lateral_inertia = plate.lifted_mass * plate.home_length**2 * np.array([0.0, 1.0, 1.0])
    return HomeInertia(printed, printed + lateral_inertia)
