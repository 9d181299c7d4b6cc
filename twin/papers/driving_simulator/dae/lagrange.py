"""The driving simulator as differential-algebraic equations: seven coordinates, seven constraints.

Four constraints tie the lengths to heave, roll and pitch, three drive lengths as functions of time:

    d/dt (dL/dq') - dL/dq + Phi_q^T lambda = 0,   Phi(q, t) = 0

The paper prints a minus before lambda and hmp_rl twice among the driven lengths; its solutions
belong to the plus and to hmp_fr, hmp_rl, hmp_fl.

Reference: driving simulator paper, section "Dynamic Modeling".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from twin.basics.optional import optional
from twin.papers.driving_simulator.dae.energy import (
    corner_points,
    kinetic_energy,
    potential_energy,
)
from twin.papers.driving_simulator.dae.symbols import DaeSymbols, dae_symbols
from twin.papers.driving_simulator.plate import PlateModel

TIED = ("rear_right", "front_left", "front_right", "rear_left")
"""Order of the first four constraints."""

DRIVEN = ("front_right", "rear_left", "front_left")
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
    tied = [
        symbols.length(name)
        - symbols.roll * points[name][1]
        + symbols.pitch * points[name][0]
        - symbols.heave
        for name in TIED
    ]
    driven = [
        symbols.length(name) - value for name, value in zip(DRIVEN, symbols.inputs, strict=True)
    ]
    return optional("sympy").Matrix([*tied, *driven])


def symbolic_dae(plate: PlateModel, complete: bool = False) -> SymbolicDae:
    """Return the equations of a plate.

    Args:
        plate: `plate.lumped()` gives the paper's.
        complete: with what the printed energies leave out, see `small_angle_energy`.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    return _derived(plate, complete)


@lru_cache
def _derived(plate: PlateModel, complete: bool) -> SymbolicDae:
    sympy = optional("sympy")
    symbols = dae_symbols()
    kinetic = sympy.Matrix([kinetic_energy(plate, symbols, complete)])
    potential = sympy.Matrix([potential_energy(plate, symbols, complete)])
    coordinates = sympy.Matrix(symbols.coordinates)
    momentum = kinetic.jacobian(symbols.rates).T
    pull = (kinetic - potential).jacobian(coordinates).T
    equations = (symbols.time_derivative(momentum) - pull).applyfunc(sympy.expand)
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
