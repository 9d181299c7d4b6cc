"""Translation of kernels for a graphics card: the same source, for one kind of legs.

A compiled function calls others by their global names. The translation makes each of them anew,
with functions of the card behind these names. All are put in place of their calls: only so do
small arrays lie in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

import numba

from twin.basics.arrays import FloatArray
from twin.kernels.jit import (
    IMPLEMENTATION_CHOOSERS,
    TYPED_REPLACEMENTS,
    implementation_for,
    rebuilt,
)
from twin.kernels.linear_algebra import bring_pivot_up

CUDA_SIMULATED = bool(getattr(numba.config, "ENABLE_CUDASIM", False))
"""Whether Python runs the kernels, with NUMBA_ENABLE_CUDASIM=1 in the environment."""


cuda: Any = import_module("numba.cuda")

written: Callable[[Any], Any] = import_module("numba.cuda.extending").intrinsic
"""Decorator of a function that returns its type and the writer of its instructions."""

numba_types: Any = numba.types


Function = Callable[..., Any]


class Translation:
    """Functions of a graphics card that compute what kernels compute for a kind of legs."""

    def __init__(self, legs_type: type) -> None:
        """Translate for legs whose constants are a tuple of `legs_type`."""
        self._legs_type = legs_type
        self._translated: dict[Function, Function] = {bring_pivot_up: on_card(selected_pivot_up)}

    def __call__(self, function: Function) -> Function:
        """Return the function of the card that computes what `function` does."""
        python_function = getattr(function, "py_func", function)
        if python_function not in self._translated:
            self._translated[python_function] = on_card(rebuilt(python_function, self._value))
        return self._translated[python_function]

    def _value(self, value: Any) -> Any:
        """Return the translation of a global value."""
        is_function = isinstance(value, FunctionType)
        if is_function and value in IMPLEMENTATION_CHOOSERS:
            return self(implementation_for(value, self._legs_type))
        if hasattr(value, "py_func") or (is_function and value in TYPED_REPLACEMENTS):
            return self(value)
        return value


def on_card(function: Function) -> Function:
    """Return a function that kernels of a card call; in numba's simulator the same function."""
    if CUDA_SIMULATED:
        return function
    translated: Function = cuda.jit(device=True, forceinline=True)(function)
    return translated


def selected_pivot_up(matrix: FloatArray, right: FloatArray, j: int, size: int) -> float:
    """Bring the largest entry of column j up as `bring_pivot_up`, by selection.

    Indices that do not depend on data leave the matrix in registers.
    """
    permutation_sign = 1.0
    for i in range(j + 1, size):
        is_larger = abs(matrix[i, j]) > abs(matrix[j, j])
        permutation_sign = -permutation_sign if is_larger else permutation_sign
        for k in range(j, size):
            upper, lower = matrix[j, k], matrix[i, k]
            matrix[j, k] = lower if is_larger else upper
            matrix[i, k] = upper if is_larger else lower
        upper, lower = right[j], right[i]
        right[j] = lower if is_larger else upper
        right[i] = upper if is_larger else lower
    return permutation_sign if abs(matrix[j, j]) > 0.0 else 0.0
