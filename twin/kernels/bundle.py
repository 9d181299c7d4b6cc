"""Bundles of kernel arguments whose arrays stay in place, passed as one address.

Numba unpacks every array of a call. For fifty arrays that takes 2 us, longer than many kernels run;
with a bundle it takes 0.3 us.
"""

from __future__ import annotations

import struct
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

from twin.kernels.numbers.number import written


class BundleType(types.Type):
    """Type of a bundle: that of the tuple of its parts, with its size in memory [bytes]."""

    def __init__(self, parts: Any, size: int) -> None:
        """Take the type of the tuple, and the size."""
        self.parts, self.size = parts, size
        super().__init__(name=f"Bundle({parts})")


class Bundle(int):
    """Address of a tuple of arrays and numbers, or of such tuples, as compiled code keeps it.

    Kernels take it apart with `unbundled`. The arrays are not copied: kernels go on with them even
    where an attribute that held one holds another by then.
    """

    kind: BundleType
    _kept: tuple[Any, tuple[Any, ...]]

    def __new__(cls, *parts: Any) -> Bundle:
        """Write down the parts; the bundle keeps them and the memory it refers to."""
        memory = np.frombuffer(b"".join(_words(parts)), dtype=np.int64).copy()
        self = super().__new__(cls, memory.ctypes.data)
        parts_type = numba.typeof(parts)
        self.kind = BundleType(parts_type, memory.nbytes)
        self._kept = memory, parts
        return self

    def __reduce__(self) -> Any:
        """Make new copies: an address is valid in its own process only."""
        return type(self), self._kept[1]


def _words(value: Any) -> list[bytes]:
    """Return a value as words of eight bytes; an array as the descriptor that numba uses."""
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    if isinstance(value, np.ndarray):
        shape, strides = value.shape, value.strides
        descriptor = (0, 0, value.size, value.itemsize, value.ctypes.data, *shape, *strides)
        return [struct.pack(f"{len(descriptor)}q", *descriptor)]
    return [struct.pack("d" if isinstance(value, float) else "q", value)]


@register_model(BundleType)
class _BundleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: BundleType) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@typeof_impl.register(Bundle)
def _typeof(value: Bundle, context: Any) -> BundleType:
    return value.kind


@unbox(BundleType)
def _unbox(kind: BundleType, value: Any, c: Any) -> Any:
    return NativeValue(c.pyapi.long_as_longlong(value))


@written
def unbundled(context: Any, bundle: Any) -> Any:
    """Return the tuple of the parts of a bundle.

    Raises:
        TypeError: parts that compiled code packs closer than words, such as flags side by side.
    """

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        model = context.data_model_manager[bundle.parts]
        if context.get_abi_sizeof(model.get_data_type()) != bundle.size:
            raise TypeError(f"words of eight bytes do not make {bundle.parts}")
        pointer = builder.inttoptr(args[0], model.get_data_type().as_pointer())
        return model.load_from_data_pointer(builder, pointer)

    return bundle.parts(bundle), write
