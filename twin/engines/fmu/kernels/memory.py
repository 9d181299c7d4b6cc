"""Arrays in memory that the caller of a kernel owns."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

from twin.kernels.numbers.number import written

POINTER = types.CPointer(types.float64)
"""First of some numbers in memory."""

BYTES = 8
"""Of a number."""


@written
def at(typing: Any, pointer: Any, start: Any, shape: Any) -> Any:
    """Return the array of a `shape` that begins `start` numbers behind a pointer.

    Numba's own `carray` counts references, for which there is nobody in a unit.
    """
    array = types.Array(types.float64, len(shape), "C")

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_value_type(types.intp)
        lengths = [
            context.cast(builder, length, kind, types.intp)
            for length, kind in zip(cgutils.unpack_tuple(builder, arguments[2]), shape, strict=True)
        ]
        strides = [ir.Constant(size, BYTES)]
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
            itemsize=ir.Constant(size, BYTES),
            meminfo=None,
        )
        return view._getvalue()

    return array(pointer, start, shape), write
