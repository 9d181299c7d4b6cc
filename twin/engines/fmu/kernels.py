"""The two compiled functions of a unit that C calls: a step, and the measurement of a state.

They get pointers to numbers and allocate nothing, so that they run without Python.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

from twin.kernels.dynamics.assembly import BODY_SIZE, Work
from twin.kernels.dynamics.forward import STATE_SIZE, Load, derivative
from twin.kernels.integrators import Stages, runge_kutta_move
from twin.kernels.jit import device
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.legs.dispatch import attribute, deflections_per_leg, fill_constraints
from twin.kernels.legs.interface import platform_state
from twin.kernels.numbers.number import written

FLOAT_POINTER = types.CPointer(types.float64)
"""Pointer to the first of some numbers in memory."""

FLOAT_BYTES = 8
"""Size of a float64 in memory [bytes]."""

INTEGER_TYPE = types.int64


@written
def array_at(typing: Any, pointer: Any, start: Any, shape: Any) -> Any:
    """Return the array of a `shape` that begins `start` numbers behind a pointer.

    Numba's own `carray` counts references, which needs Python's runtime; a unit has none.
    """
    array = types.Array(types.float64, len(shape), "C")

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_value_type(types.intp)
        lengths = [
            context.cast(builder, length, length_type, types.intp)
            for length, length_type in zip(
                cgutils.unpack_tuple(builder, arguments[2]), shape, strict=True
            )
        ]
        strides = [ir.Constant(size, FLOAT_BYTES)]
        for length in lengths[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        view = make_array(array)(context, builder)
        populate_array(
            view,
            data=builder.gep(
                arguments[0], [context.cast(builder, arguments[1], start, types.intp)]
            ),
            shape=lengths,
            strides=strides,
            itemsize=ir.Constant(size, FLOAT_BYTES),
            meminfo=None,
        )
        return view._getvalue()

    return array(pointer, start, shape), write


class Native(NamedTuple):
    """A compiled function with a C interface."""

    kernel: Any
    arguments: tuple[Any, ...]
    """numba types of the arguments"""


def constraints_of(kind: type) -> int:
    """Return the number of constraints that legs of a kind put on the platform."""
    return int(attribute(kind, "CONSTRAINT_COUNT", 0))


def memory_size(kind: type, legs: int, state: int) -> int:
    """Return how many numbers `advance` and `measure` overwrite besides their results.

    Args:
        kind: type of the constants of the legs.
        legs: number of them.
        state: length of the state.
    """
    n_constraints = constraints_of(kind)
    size = 6 + n_constraints
    return 36 + 6 + 8 * legs + 8 * n_constraints + size * size + size + 5 * state


@device
def stages_in(memory: Any, n: int, count: int, state: int) -> Stages:
    """Return the work arrays of a step of n legs with `count` constraints, in `memory`."""
    system_size, system_start = 6 + count, 42 + 8 * n
    rates_start = system_start + 8 * count + system_size * system_size + system_size
    work = Work(
        array_at(memory, 0, (6, 6)),
        array_at(memory, 36, (6,)),
        array_at(memory, 42, (n, 6)),
        array_at(memory, 42 + 6 * n, (n,)),
        array_at(memory, system_start, (count, 8)),
        array_at(memory, system_start + 8 * count, (system_size, system_size)),
        array_at(memory, system_start + 8 * count + system_size * system_size, (system_size,)),
    )
    return Stages(
        array_at(memory, rates_start, (state,)),
        array_at(memory, rates_start + state, (4, state)),
        work,
    )


def native_functions(kind: type, columns: int) -> dict[str, Native]:
    """Return the functions of machines with legs of a kind, by their names in C.

    Args:
        kind: type of the constants of the legs.
        columns: numbers in the row of a leg.
    """
    constraint_count = constraints_of(kind)

    @device
    def advance(body: Any, rows: Any, n: int, y: Any, load: Any, step: float, memory: Any) -> int:
        """Advance the state `y` by one Runge-Kutta step; return 0, unchanged, where it fails.

        `load` holds forces (n,) [N, N m] and the wrench (6,) on the platform.
        """
        legs = kind(array_at(rows, 0, (n, columns)))
        state = array_at(y, 0, (STATE_SIZE + 2 * deflections_per_leg(legs) * n,))
        constants = array_at(body, 0, (BODY_SIZE,))
        buffers = stages_in(memory, n, constraint_count, state.shape[0])
        force_rates = array_at(memory, 42 + 7 * n, (n,))
        for i in range(n):
            force_rates[i] = 0.0
        inputs = Load(array_at(load, 0, (n,)), force_rates, array_at(load, n, (6,)))
        succeeded = derivative(constants, legs, state, inputs, 0.0, buffers.rates[0], buffers.work)
        if succeeded and runge_kutta_move(constants, legs, state, inputs, 0.0, step, buffers):
            return 1
        return 0

    @device
    def measure(rows: Any, n: int, y: Any, out: Any, memory: Any) -> float:
        """Fill `out` with coordinates (n,) and rates (n,) of the actuators.

        Returns how far pose and twist are off the constraints [m, rad; per s].
        """
        legs = kind(array_at(rows, 0, (n, columns)))
        pose, twist = array_at(y, 0, (7,)), array_at(y, 7, (6,))
        coordinates_and_rates(legs, pose, twist, array_at(out, 0, (n,)), array_at(out, n, (n,)))
        constraints = array_at(memory, 0, (constraint_count, 8))
        fill_constraints(legs, platform_state(pose, twist), constraints)
        largest_error = 0.0
        for i in range(constraint_count):
            constraint_rate = 0.0
            for k in range(6):
                constraint_rate += constraints[i, k] * twist[k]
            largest_error = max(largest_error, abs(constraints[i, 7]), abs(constraint_rate))
        return largest_error

    step = (
        FLOAT_POINTER,
        FLOAT_POINTER,
        INTEGER_TYPE,
        FLOAT_POINTER,
        FLOAT_POINTER,
        types.float64,
        FLOAT_POINTER,
    )
    return {
        "unit_advance": Native(advance, step),
        "unit_measure": Native(
            measure, (FLOAT_POINTER, INTEGER_TYPE, FLOAT_POINTER, FLOAT_POINTER, FLOAT_POINTER)
        ),
    }
