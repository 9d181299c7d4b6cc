"""Rows of many machines in flat memory of a graphics card: entry e of row i at e * rows + i.

Threads next to each other then read entries next to each other. A thread sees its own row as the
groups of arrays that kernels take, with one row each.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from twin.kernels.cuda.memory import spread_view
from twin.kernels.cuda.translation import Function, on_card


class Part(NamedTuple):
    """An array of a group within a row."""

    whole: bool
    """whether it holds whole numbers: those have a memory of their own"""
    start: int
    """first entry in its memory"""
    shape: tuple[int, ...]
    """with one row"""


class Rows:
    """Places of groups of arrays in the rows of two memories: floats, and whole numbers."""

    def __init__(self) -> None:
        """Begin without groups."""
        self.sizes = [0, 0]
        self._arrays: tuple[list[Any], list[Any]] = [], []

    def add(self, arrays: Sequence[Any]) -> Function:
        """Give arrays `(rows, ...)` places; return the function of a card that views them.

        It takes both memories, the row and the number of rows, and returns a tuple of arrays.
        """
        parts = []
        for array in arrays:
            whole = array.dtype.kind in "bi"
            parts.append(Part(whole, self.sizes[whole], (1, *array.shape[1:])))
            self.sizes[whole] += prod(array.shape[1:])
            self._arrays[whole].append(array)
        return _viewer(tuple(parts))

    def packed(self) -> tuple[Any, Any]:
        """Return the memories of the arrays' present values, flat: floats, whole numbers."""
        return _packed(self._arrays[0], np.float64), _packed(self._arrays[1], np.int64)


def _packed(arrays: list[Any], kind: type) -> Any:
    rows: list[Any] = [np.asarray(array, dtype=kind).reshape(len(array), -1) for array in arrays]
    return np.ascontiguousarray(np.concatenate(rows, axis=1).T).reshape(-1)


def _viewer(parts: tuple[Part, ...]) -> Function:
    """Return the function of a card that views the parts of a row; see `Rows.add`."""
    whole, start, shape = parts[0]
    following = _viewer(parts[1:]) if len(parts) > 1 else _no_views

    def floats(memory: Any, numbers: Any, i: int, rows: int) -> Any:
        first = spread_view(memory, start * rows + i, shape, rows)
        return (first,) + following(memory, numbers, i, rows)  # noqa: RUF005 (numba)

    def integers(memory: Any, numbers: Any, i: int, rows: int) -> Any:
        first = spread_view(numbers, start * rows + i, shape, rows)
        return (first,) + following(memory, numbers, i, rows)  # noqa: RUF005 (numba)

    return on_card(integers if whole else floats)


@on_card
def _no_views(memory: Any, numbers: Any, i: int, rows: int) -> Any:
    """Return the views of no parts."""
    return ()
