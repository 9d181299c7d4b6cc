"""Steps of an engine under forces and a wrench: one loop for simulations and live machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector
from twin.errors import InputError
from twin.model.engine import Engine, State
from twin.model.motions import REST

ForceFunction = Callable[[int, State], FloatArray]
"""Forces `(n,)` of a step, from its index and the state at its start"""

WrenchFunction = Callable[[State], FloatArray | None]
"""Wrench `(6,)` on the platform over a step, from the state at its start; None for none"""


def engine_steps(
    engine: Engine,
    state: State,
    steps: range,
    force_at: ForceFunction,
    wrench_at: WrenchFunction,
) -> Iterator[tuple[int, State]]:
    """Yield the index of each step and the state at its end.

    Args:
        engine: in `state`.
        state: at the start.
        steps: indices of the steps.
        force_at: such as `ClosedLoop.step`, which measures, controls and drives.
        wrench_at: disturbance of the platform.

    Raises:
        SimulationStoppedError: the engine or the drives cannot go on.
    """
    for index in steps:
        state = engine.step(force_at(index, state), wrench_at(state))
        yield index, state


def force_function(forces: Any, n: int, steps: int) -> ForceFunction:
    """Return the forces as a function of step and state: given as such, constant, or a table.

    Raises:
        InputError: wrong shape, not finite, or a function of other arguments.
    """
    if callable(forces):
        _check_arguments(forces)
        return lambda _, state: as_vector(forces(state.time, state), "forces(time, state)", n)
    table = as_floats(np.zeros(n) if forces is None else forces, "forces", n)
    if table.ndim == 1:
        return lambda _, __: table
    if table.shape != (steps, n):
        raise InputError("forces", f"must have shape ({n},) or ({steps}, {n}), got {table.shape}")
    return lambda k, _: table[k]


def wrench_function(wrench: Any) -> WrenchFunction:
    """Return the wrench as a function of the state: given as such, constant, or none.

    Raises:
        InputError: wrong shape, not finite, or a function of other arguments.
    """
    if callable(wrench):
        _check_arguments(wrench, "wrench")
        return lambda state: as_vector(wrench(state.time, state), "wrench(time, state)", 6)
    load = as_vector(REST if wrench is None else wrench, "wrench", 6)
    return lambda _: load


def _check_arguments(function: Callable[..., Any], field: str = "forces") -> None:
    try:
        given = signature(function)
    except (TypeError, ValueError):  # some callables written in C have no signature
        return
    try:
        given.bind(0.0, None)
    except TypeError as error:
        raise InputError(
            field, f"is called with time and state: {field}(time, state) ({error})"
        ) from None
