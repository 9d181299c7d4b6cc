"""Symbols of the driving simulator's equations, named as in the paper, and the time derivative."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.optional import optional

COORDINATES = ("z_mp", "phi_mp", "theta_mp", "hmp_rr", "hmp_rl", "hmp_fl", "hmp_fr")
"""Heave, roll, pitch and the four lengths: the seven coordinates in the paper's order."""

INPUTS = ("f_1", "f_2", "f_3")
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
        place = "".join(part[0] for part in corner.split("_"))
        return self.coordinates[COORDINATES.index(f"hmp_{place}")]


def dae_symbols() -> DaeSymbols:
    """Return the symbols; the same ones at every call.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    symbols = optional("sympy").symbols

    def named(names: tuple[str, ...], prefix: str = "") -> tuple[Any, ...]:
        return tuple(symbols([prefix + name for name in names], real=True))

    multipliers = tuple(f"lambda{k + 1}" for k in range(len(COORDINATES)))
    return DaeSymbols(
        named(COORDINATES),
        named(COORDINATES, "d"),
        named(COORDINATES, "dd"),
        named(INPUTS),
        named(INPUTS, "d"),
        named(INPUTS, "dd"),
        named(multipliers),
    )
