"""Base parameters: the combinations of coordinates that forces depend on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from twin.basics.arrays import FloatArray
from twin.identification.linear.model import LinearModel

RANK = 1e-7
"""Of the largest diagonal entry: smaller ones are rounding.

Derivatives by parameters are exact to 1e-11, and pivoting lets that grow to 1e-8.
"""

OF_BODY = ("kg", *["kg m"] * 3, *["kg m2"] * 6)
"""Units of the ten coordinates of a body."""

SMALLEST = 1e-6
"""Coefficient that words leave out."""


class BaseParameters(NamedTuple):
    """Combinations of the unknowns on which forces depend, as many as the rank."""

    words: tuple[str, ...]
    """each combination, such as "mass of the rod of all legs + 0.17 mass of the platform body" """
    combinations: FloatArray
    """`(r, q)` the coefficients of the unknowns"""
    units: tuple[str, ...]
    """of each combination"""
    nominal: FloatArray
    """`(r,)` in the file"""
    spreads: FloatArray
    """`(r,)` that the priors of the parameters leave them"""
    values: FloatArray
    """`(r,)` by least squares, without any prior"""
    standard_errors: FloatArray
    """`(r,)`"""
    unseen: tuple[str, ...]
    """unknowns that forces do not depend on at all"""


def base_parameters(model: LinearModel, values: Any = None) -> BaseParameters:
    """Return the base parameters of forces by pivoted QR, with their least-squares values.

    Args:
        model: of measured forces.
        values: `(p,)` of the parameters, for tilts, scale, delay and biases; default: nominal.
            Standard errors take them for exact.

    Reference:
        M. Gautier, Numerical calculation of the base inertial parameters of robots, J. Robotic
        Systems 8 (1991), section 4.
    """
    q = len(model.words)
    nominal = np.array([parameter.nominal for parameter in model.parameters])
    weights, bias = model.weights(nominal if values is None else values)
    blocks = model.matrix[:, : -len(bias)].reshape(len(model.matrix), len(weights), q + 1)
    whole = np.tensordot(blocks, weights, (1, 0))
    columns = whole[:, :q]
    forces = model.measured - whole[:, q] - bias[model.legs]
    norms = np.linalg.norm(columns, axis=0)
    seen = np.flatnonzero(norms > RANK * norms.max(initial=0.0))
    q_factor, triangle, order = qr(columns[:, seen] / norms[seen], mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    head, first = triangle[:rank, :rank], seen[order[:rank]]
    rest = solve_triangular(head, triangle[:rank, rank:])
    combinations = np.zeros((rank, q))
    combinations[np.arange(rank), first] = 1.0
    combinations[:, seen[order[rank:]]] = rest * norms[seen[order[rank:]]] / norms[first][:, None]
    values = solve_triangular(head, q_factor[:, :rank].T @ forces) / norms[first]
    left = forces - columns[:, first] @ values
    noise = float(np.linalg.norm(left) / np.sqrt(max(len(left) - rank, 1)))
    errors = noise * np.linalg.norm(np.linalg.inv(head), axis=1) / norms[first]
    words = tuple(
        _words(row, model.words, int(own)) for row, own in zip(combinations, first, strict=True)
    )
    unseen = tuple(model.words[k] for k in range(q) if k not in seen)
    units = (*OF_BODY * len(model.bodies), *model.single_units)
    priors = [each.spread if each.is_of_machine else 0.0 for each in model.parameters]
    return BaseParameters(
        words,
        combinations,
        tuple(units[k] for k in first),
        combinations @ model.features(nominal)[:q],
        np.linalg.norm(combinations @ model.slopes(nominal)[:q] * priors, axis=1),
        values,
        errors,
        unseen,
    )


def _words(row: FloatArray, words: tuple[str, ...], own: int) -> str:
    others = [k for k in np.argsort(-np.abs(row)) if abs(row[k]) > SMALLEST and k != own]
    return " ".join([words[own], *(f"{row[k]:+.3g} {words[k]}" for k in others)])
