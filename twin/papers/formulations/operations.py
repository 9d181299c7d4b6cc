"""Floating-point operations of one evaluation of a formulation, counted while Python runs it."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from twin.kernels.interpret import interpreted
from twin.papers.formulations.formulation import Formulation
from twin.papers.formulations.kernels import march
from twin.papers.formulations.model import make_work


class Operations(NamedTuple):
    """Operations of one evaluation."""

    additions: int
    """and subtractions"""
    multiplications: int
    divisions: int
    functions: int
    """roots, trigonometric functions and their inverses"""

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


class Counted(float):
    """A number that counts the operations that it takes part in."""

    counts = np.zeros(4, dtype=np.int64)
    """additions, multiplications, divisions, functions since they were set to zero"""

    def _counted(self, kind: int, value: float) -> Counted:
        self.counts[kind] += 1
        return Counted(value)

    def __add__(self, other: float) -> Counted:
        return self._counted(0, float(self) + float(other))

    def __sub__(self, other: float) -> Counted:
        return self._counted(0, float(self) - float(other))

    def __rsub__(self, other: float) -> Counted:
        return self._counted(0, float(other) - float(self))

    def __mul__(self, other: float) -> Counted:
        return self._counted(1, float(self) * float(other))

    def __truediv__(self, other: float) -> Counted:
        return self._counted(2, float(self) / float(other))

    def __rtruediv__(self, other: float) -> Counted:
        return self._counted(2, float(other) / float(self))

    def __neg__(self) -> Counted:
        return Counted(-float(self))

    def __abs__(self) -> Counted:
        return Counted(abs(float(self)))

    __radd__ = __add__
    __rmul__ = __mul__


def operations(formulation: Formulation, pose: Any = None, twist: Any = None) -> Operations:
    """Return the operations of one derivative of the state, its root already found.

    Args:
        formulation: to be evaluated.
        pose: `(7,)`, default home.
        twist: `(6,)`, default rest.
    """
    state = _counting(formulation.state_from(pose, twist))
    track = _counting(formulation.track(formulation.platform.home if pose is None else pose))
    equations = march.Equations(
        formulation.kind,
        _counting(formulation.model),
        _counting(np.zeros(6)),
        track,
        _counting(make_work()),
    )
    derivative = interpreted(march.derivative)
    Counted.counts[:] = 0
    before = sys.getprofile()
    sys.setprofile(_count_functions)
    try:
        derivative(equations, state, _counting(np.zeros(len(state))))
    finally:
        sys.setprofile(before)
    return Operations(*(int(count) for count in Counted.counts))


def _count_functions(frame: Any, event: str, called: Any) -> None:
    if event == "c_call" and getattr(called, "__module__", "") == "math":
        Counted.counts[3] += 1


class CountedArray(np.ndarray):
    """An array whose numbers are counted when they are read."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Counted(found) if isinstance(found, np.floating) else found


def _counting(value: Any) -> Any:
    """Return arrays, and tuples of them, with counted numbers."""
    if isinstance(value, tuple):
        return type(value)(*(_counting(part) for part in value))
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return value.view(CountedArray)
