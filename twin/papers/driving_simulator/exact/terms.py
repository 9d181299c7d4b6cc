"""Numbers of the exact equations of motion: the derived functions evaluated for one machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.exact.derivation import Terms, pillar_terms, plate_terms
from twin.papers.driving_simulator.exact.pillars import Pillars


class ExactTerms(NamedTuple):
    """Terms of the equations of motion at `k` states.

    mass @ accelerations + bias = generalised forces, with bias for gravity and velocities, and
    length accelerations = length_jacobian @ accelerations + length_bias.
    """

    mass: FloatArray
    """`(k, 3, 3)`"""
    bias: FloatArray
    """`(k, 3)`"""
    kinetic: FloatArray
    """`(k,)` [J]"""
    potential: FloatArray
    """`(k,)` [J], zero at z = 0 of the base"""
    place: FloatArray
    """`(k, 3)` [m] of the reference point"""
    twist_map: FloatArray
    """`(k, 6, 3)` twist = twist_map @ rates"""
    twist_bias: FloatArray
    """`(k, 6)` acceleration = twist_map @ accelerations + twist_bias"""
    lengths: FloatArray
    """`(k, n)` [m]"""
    length_jacobian: FloatArray
    """`(k, n, 3)`"""
    length_bias: FloatArray
    """`(k, n)`"""
    feet: FloatArray
    """`(k, n, 3)` [m]"""
    foot_jacobian: FloatArray
    """`(k, n, 3, 3)` velocity of a foot = foot_jacobian @ rates"""


def exact_terms(pillars: Pillars, coordinates: FloatArray, rates: FloatArray) -> ExactTerms:
    """Return the terms at coordinates `(k, 3)` with rates `(k, 3)`.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    state, shared = [*coordinates.T, *rates.T], pillars.shared_arguments
    states = (len(coordinates),)
    plate = _evaluate(plate_terms(), [*state, *shared, *pillars.plate_arguments], states)
    columns = [column[:, None] for column in state]
    arguments = [*columns, *shared, *pillars.pillar_arguments]
    each = _evaluate(pillar_terms(), arguments, (*states, len(pillars.joints)))
    total = {
        name: plate[name] + each[name].sum(axis=1)
        for name in ("mass", "bias", "kinetic", "potential")
    }
    return ExactTerms(
        total["mass"],
        total["bias"][..., 0],
        total["kinetic"][..., 0, 0],
        total["potential"][..., 0, 0],
        plate["place"][..., 0],
        plate["twist_map"],
        plate["twist_bias"][..., 0],
        each["length"][..., 0, 0],
        each["length_jacobian"][..., 0, :],
        each["length_bias"][..., 0, 0],
        each["foot"][..., 0],
        each["foot_jacobian"],
    )


def _evaluate(terms: Terms, arguments: list[Any], batch: tuple[int, ...]) -> dict[str, FloatArray]:
    entries = terms.function(*arguments)
    flat = np.stack([np.broadcast_to(entry, batch) for entry in entries], axis=-1)
    parts, start = {}, 0
    for name, shape in terms.shapes.items():
        stop = start + int(np.prod(shape))
        parts[name] = flat[..., start:stop].reshape((*batch, *shape))
        start = stop
    return parts
