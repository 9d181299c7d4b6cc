"""Derivatives of the kernels' constants by parameters of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.errors import InputError
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.paths import nominal_value, with_values
from twin.model.constants import pack, without_shortcuts

STEP = 1e-3
"""Step of a parameter, relative to its value."""

STEPS = (1e-3, 1e-6, 1e-9)
"""Steps of a parameter that is zero, in its unit: the largest that gives a machine is taken."""

PLACES = (np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), np.arange(6.0), -np.arange(6.0))
"""Steps at which constants are computed: to both sides, or to the only one that is possible."""


def constants_and_slopes(
    parameters: MachineParameters, paths: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return constants of a machine and their derivatives by p parameters.

    The constants are smooth functions of few operations, evaluated in Python: differences of the
    fourth order are exact to some 1e-11.

    Args:
        parameters: the machine.
        paths: parameters, as `numeric_paths` lists them.

    Returns:
        Constants `(1 + p, BODY_SIZE)` of the body and `(1 + p, n, LEG_SIZE)` of the legs, the
        values first and then the derivatives.

    Raises:
        InputError: a path that the machine does not have, or a value that cannot be changed.
    """
    if isinstance(paths, str):
        raise InputError("parameters", f"must be a list of paths, such as [{paths!r}]")
    found = [_slopes(parameters, path) for path in paths]
    constants = pack(parameters)
    legs = without_shortcuts(parameters, constants.legs.rows)
    return (
        np.array([constants.body, *(body for body, _ in found)]),
        np.array([legs, *(rows for _, rows in found)]),
    )


@lru_cache(maxsize=1024)
def _slopes(parameters: MachineParameters, path: str) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of body `(BODY_SIZE,)` and legs `(n, LEG_SIZE)` by one parameter."""
    value = nominal_value(parameters, path)
    for step, places in product([STEP * abs(value)] if value else STEPS, PLACES):
        try:
            found = [pack(with_values(parameters, {path: value + step * k})) for k in places]
        except InputError as error:
            refused = error
            continue
        # Weights that differentiate powers of the step up to the number of places.
        powers = places ** np.arange(len(places))[:, None]
        weights = np.linalg.solve(powers, np.eye(len(places))[1]) / step
        body, legs = np.array([each.body for each in found]), [each.legs.rows for each in found]
        slopes = np.tensordot(weights, body, 1), np.tensordot(weights, np.array(legs), 1)
        return read_only(slopes[0]), read_only(slopes[1])
    raise refused
