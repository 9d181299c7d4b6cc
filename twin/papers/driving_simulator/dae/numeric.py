"""Numbers of the small-angle equations: the derived expressions evaluated for one plate."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.papers.driving_simulator.dae.index_reduction import multipliers_of_motion
from twin.papers.driving_simulator.dae.lagrange import symbolic_dae
from twin.papers.driving_simulator.inputs import InputSample
from twin.papers.driving_simulator.plate import PlateModel


class NumericDae(NamedTuple):
    """The equations as functions of numbers; states are single vectors `(7,)`."""

    jacobian: FloatArray
    """`(7, 7)` of the constraints by the coordinates"""
    driving: FloatArray
    """`(7, 3)` of the constraints by the inputs"""
    mass: Callable[..., Any]
    """of coordinates"""
    bias: Callable[..., Any]
    """of coordinates and rates"""
    motion_multipliers: Callable[..., Any]
    """of coordinates, rates and accelerations of the inputs"""

    def position_error(self, coordinates: FloatArray, lengths: FloatArray) -> FloatArray:
        """Return the constraints `(..., 7)` [m] of coordinates `(..., 7)`, inputs `(..., 3)`."""
        return np.asarray(coordinates @ self.jacobian.T + lengths @ self.driving.T)

    def consistent(self, lengths: FloatArray) -> FloatArray:
        """Return the coordinates `(..., 7)` of inputs `(..., 3)`; or rates of rates, and so on."""
        return np.asarray(-np.linalg.solve(self.jacobian, self.driving @ lengths.T).T)

    def multipliers(
        self, coordinates: FloatArray, rates: FloatArray, inputs: InputSample, feedback: float
    ) -> FloatArray:
        """Return the multipliers `(7,)`.

        With a feedback rate w [1/s] they are those that bend the motion back to the constraints:
        Phi'' + 2 w Phi' + w^2 Phi = 0 instead of Phi'' = 0 (Baumgarte).
        """
        known = self.motion_multipliers(*coordinates, *rates, *inputs.acceleration)
        multipliers = np.array(known, dtype=float).ravel()
        if feedback:
            error = 2.0 * feedback * self.position_error(rates, inputs.rate)
            error += feedback**2 * self.position_error(coordinates, inputs.value)
            back = np.linalg.solve(self.jacobian, error)
            mass = np.array(self.mass(*coordinates), dtype=float)
            multipliers += np.linalg.solve(self.jacobian.T, mass @ back)
        return multipliers

    def accelerations(
        self, coordinates: FloatArray, rates: FloatArray, multipliers: FloatArray
    ) -> FloatArray:
        """Return the accelerations `(7,)` from Lagrange's equations."""
        bias = np.array(self.bias(*coordinates, *rates), dtype=float).ravel()
        mass = np.array(self.mass(*coordinates), dtype=float)
        return np.asarray(np.linalg.solve(mass, -bias - self.jacobian.T @ multipliers))


@lru_cache
def numeric_dae(plate: PlateModel, complete: bool) -> NumericDae:
    """Return the equations of `symbolic_dae(plate, complete)` as functions.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    sympy = optional("sympy")
    dae = symbolic_dae(plate, complete)
    symbols = dae.symbols
    state = (*symbols.coordinates, *symbols.rates)

    def compiled(arguments: Any, expression: Any) -> Callable[..., Any]:
        function: Callable[..., Any] = sympy.lambdify(
            arguments, expression, modules="numpy", cse=True
        )
        return function

    return NumericDae(
        np.array(dae.jacobian, dtype=float),
        np.array(dae.constraints.jacobian(symbols.inputs), dtype=float),
        compiled(symbols.coordinates, dae.mass),
        compiled(state, dae.bias),
        compiled((*state, *symbols.input_accelerations), multipliers_of_motion(dae)),
    )
