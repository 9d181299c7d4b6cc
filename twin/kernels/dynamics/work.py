"""Arrays that one evaluation of the equations of motion overwrites."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import allocating
from twin.kernels.legs.dispatch import constraint_count
from twin.kernels.legs.interface import Legs


class Work(NamedTuple):
    """Work arrays of a machine with n legs and c constraints."""

    mass_matrix: FloatArray
    """`(6, 6)`"""
    bias: FloatArray
    """`(6,)`"""
    jacobian: FloatArray
    """`(n, 6)`"""
    force: FloatArray
    """`(n,)`"""
    constraints: FloatArray
    """`(c, 8)`: row (6 entries), drift, value"""
    system: FloatArray
    """`(6 + c, 6 + c)`"""
    right: FloatArray
    """`(6 + c,)`"""


@allocating
def make_work(legs: Legs) -> Work:
    """Return work arrays for the machine of these legs."""
    n, count = legs.rows.shape[0], constraint_count(legs)
    size = 6 + count
    return Work(
        np.empty((6, 6)),
        np.empty(6),
        np.empty((n, 6)),
        np.empty(n),
        np.empty((count, 8)),
        np.empty((size, size)),
        np.empty(size),
    )
