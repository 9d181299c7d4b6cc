"""Bundles hand kernels the arrays and numbers themselves, in every place of nested tuples."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from twin.kernels.bundle import Bundle, unbundled

pytestmark = pytest.mark.quick


class Part(NamedTuple):
    """Arrays and numbers of all sorts that kernels take."""

    whole: Any
    matrix: Any
    factor: float
    width: tuple[int, ...]
    single: Any
    flag: Any
    empty: Any


@numba.njit
def scaled(index, bundle):
    """Scale a row in place; return something of every part."""
    number, part, last = unbundled(bundle)
    part.matrix[index] *= part.factor
    part.single[0] = part.whole[2]
    shapes = part.empty.shape, len(part.width)
    return number, part.matrix[index, 1], part.flag[1], shapes, last[1]


def parts():
    """Return a number and nested tuples; one array is cut out of another, one cannot be written."""
    constant = np.array([4, 5, 6])
    constant.flags.writeable = False
    big = np.arange(24.0).reshape(6, 4)
    single, flags = np.zeros(1, dtype=np.float32), np.array([False, True])
    return 7, Part(constant, big[2:4], 2.5, (0,) * 8, single, flags, np.zeros((0, 3))), (True, 0.5)


@pytest.mark.slow
def test_kernels_read_and_write_the_arrays_of_a_bundle():
    given = parts()
    bundle = Bundle(*given)
    assert scaled(1, bundle) == (7, 13.0 * 2.5, True, ((0, 3), 8), 0.5)
    assert given[1].matrix.tolist() == [[8.0, 9.0, 10.0, 11.0], [30.0, 32.5, 35.0, 37.5]]
    assert given[1].single[0] == 6.0


@pytest.mark.slow
def test_copies_have_arrays_of_their_own():
    given = parts()
    copied = pickle.loads(pickle.dumps(Bundle(*given)))
    scaled(1, copied)
    assert given[1].matrix[1].tolist() == [12.0, 13.0, 14.0, 15.0]


def test_flags_side_by_side_are_refused():
    """Compiled code packs them into one word."""

    @numba.njit
    def both(bundle):
        return unbundled(bundle)

    with pytest.raises(TypeError, match="words"):
        both(Bundle(True, False, 1.0))
