"""Views of flat memory with shapes that are known when a kernel is compiled.

Loops over a known shape are unrolled, and entries of small arrays become registers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir

from twin.kernels.cuda.library import SIMULATED, numba_types, written


def _shaped(context: Any, memory: Any, shape: Any, layout: str) -> Any:
    """Return type and writer of a view: pointer, lengths and strides, without bounds."""
    cgutils, arrayobj = import_module("numba.cuda.cgutils"), import_module("numba.cuda.np.arrayobj")

    kind = numba_types.Array(memory.dtype, len(shape), layout)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source = arrayobj.make_array(memory)(context, builder, args[0])
        size = context.get_constant(
            numba_types.intp, context.get_abi_sizeof(source.data.type.pointee)
        )
        lengths = cgutils.unpack_tuple(builder, args[2], kind.ndim)
        strides: list[Any] = []
        step = builder.mul(size, args[3]) if layout == "A" else size
        for length in reversed(lengths):
            strides.insert(0, step)
            step = builder.mul(step, length)
        view = arrayobj.make_array(kind)(context, builder)
        arrayobj.populate_array(
            view,
            data=builder.gep(source.data, [args[1]]),
            shape=lengths,
            strides=strides,
            itemsize=size,
            meminfo=None,
        )
        return view._getvalue()

    return kind, write


@written
def _view(context: Any, memory: Any, start: Any, shape: Any) -> Any:
    """Return the array of a shape in flat memory from entry `start` on."""
    kind, write = _shaped(context, memory, shape, "C")
    return kind(memory, numba_types.intp, shape), write


@written
def _spread_view(context: Any, memory: Any, start: Any, shape: Any, stride: Any) -> Any:
    """Return the array of a shape in flat memory, of entries `stride` apart."""
    kind, write = _shaped(context, memory, shape, "A")
    return kind(memory, numba_types.intp, shape, numba_types.intp), write


@written
def _read_again(context: Any) -> Any:
    """Let what lies in memory be read from there again."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        nothing = ir.FunctionType(ir.VoidType(), [])
        builder.call(ir.InlineAsm(nothing, "", "~{memory}", side_effect=True), [])
        return context.get_dummy_value()

    return numba_types.none(), write


@written
def _anew(context: Any, number: Any) -> Any:
    """Return the same whole number, which the compiler takes for another."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = ir.IntType(64)
        copy = ir.InlineAsm(ir.FunctionType(whole, [whole]), "mov.u64 $0, $1;", "=l,l", True)
        return builder.call(copy, [args[0]])

    return numba_types.intp(numba_types.intp), write


def _numpy_view(memory: Any, start: int, shape: tuple[int, ...], stride: int = 1) -> Any:
    inside = getattr(memory, "_item", memory)
    array, size = getattr(inside, "_ary", inside), int(np.prod(shape))
    assert 0 <= start <= start + (size - 1) * stride < array.size or not size, "beyond the memory"
    return array[start:][::stride][:size].reshape(shape)


def _same(number: int) -> int:
    return number


def _nothing() -> None:
    return None


view: Any = _numpy_view if SIMULATED else _view
"""`view(memory, start, shape)`"""

spread_view: Any = _numpy_view if SIMULATED else _spread_view
"""`spread_view(memory, start, shape, stride)`"""

read_again: Any = _nothing if SIMULATED else _read_again
"""`read_again()`: what a loop does not change would else take registers, of which there are few."""

anew: Any = _same if SIMULATED else _anew
"""`anew(number)`: addresses that follow from it are computed again after the steps between."""
