"""Consistent initial constraints: positions and rates that satisfy the constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.errors import InputError
from twin.papers.driving_simulator.dae.lagrange import DRIVEN, TIED
from twin.papers.driving_simulator.dae.numeric import NumericDae
from twin.papers.driving_simulator.dae.symbols import COORDINATES
from twin.papers.driving_simulator.inputs import InputSample

TOLERANCE = 1e-9
"""[m], [m/s] Beyond it an initial state is refused: the solution would carry the error along."""

NAMES = (*(f"length of {name}" for name in TIED), *(f"input of {name}" for name in DRIVEN))
"""What the seven constraints are about, for messages."""


class Start(NamedTuple):
    """An initial state in the paper's seven coordinates."""

    coordinates: FloatArray
    """`(7,)` heave [m], roll, pitch [rad], lengths [m] rear right, rear left, front left, front
    right"""
    rates: FloatArray
    """`(7,)`"""


def consistent_start(dae: NumericDae, inputs: InputSample) -> Start:
    """Return the only state that satisfies the constraints where the inputs are given."""
    return Start(dae.consistent(inputs.value), dae.consistent(inputs.rate))


def checked_start(dae: NumericDae, inputs: InputSample, start: Any) -> Start:
    """Return an initial state that satisfies the constraints and their first derivatives.

    Args:
        dae: the equations.
        inputs: lengths and rates `(3,)` at the start.
        start: pair of coordinates `(7,)` and rates `(7,)`; None takes the consistent one.

    Raises:
        InputError: wrong shapes, not finite, or constraints that are not satisfied.
    """
    if start is None:
        return consistent_start(dae, inputs)
    if not isinstance(start, (tuple, list)) or len(start) != 2:
        raise InputError("start", "must be a pair of coordinates (7,) and rates (7,)")
    given = Start(
        as_vector(start[0], "start coordinates", len(COORDINATES)),
        as_vector(start[1], "start rates", len(COORDINATES)),
    )
    levels = (
        ("coordinates", "position", "m", dae.position_error(given.coordinates, inputs.value)),
        ("rates", "velocity", "m/s", dae.position_error(given.rates, inputs.rate)),
    )
    for field, level, unit, error in levels:
        worst = int(np.abs(error).argmax())
        if abs(error[worst]) > TOLERANCE:
            raise InputError(
                f"start {field}",
                f"violates the {level}-level constraints: {NAMES[worst]} is off by "
                f"{error[worst]:.3g} {unit}; leave out start for the consistent state",
            )
    return given
