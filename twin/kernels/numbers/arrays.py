"""Arrays of numbers: views of arrays of floats whose last axis holds one number.

They have what kernels use of arrays: entries, slices and rows of the first axis, and the shape.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr
from numba.core.typing.arraydecl import get_array_index_type
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, models, register_model
from numba.np import arrayobj

from twin.kernels.numbers.dual import Dual
from twin.kernels.numbers.lanes import Lanes
from twin.kernels.numbers.number import PLAIN_TYPES, Builder, Number, Value, implements, written


class NumberArray(types.Type):  # type: ignore[misc]
    """Array of `rank` axes of numbers."""

    def __init__(self, number: Number, rank: int) -> None:
        """Take the type of the numbers and the number of axes."""
        self.number, self.rank = number, rank
        super().__init__(name=f"NumberArray({number}, {rank})")

    @property
    def floats(self) -> Any:
        """Type of the array of floats."""
        return types.Array(types.float64, self.rank + 1, "C")


@register_model(NumberArray)
class _NumberArrayModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: NumberArray) -> None:
        super().__init__(manager, kind, [("floats", kind.floats)])


def _view_as(number: Number, array: Any, width: Any) -> Any:
    """Return the signature of viewing an array as numbers, and what writes its code."""
    array_type = NumberArray(number, array.ndim - 1)

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        view = cgutils.create_struct_proxy(array_type)(context, builder)
        view.floats = args[0]
        # The view counts as a holder of the memory, which else could be freed under it.
        context.nrt.incref(builder, array_type.floats, args[0])
        return view._getvalue()

    return array_type(array_type.floats, width), write


@written
def as_duals(context: Any, array: Any, width: Any) -> Any:
    """Return an array `(..., 1 + w)` as values with w derivatives; `width` is a tuple of w."""
    return _view_as(Dual(width.count), array, width)


@written
def as_lanes(context: Any, array: Any, width: Any) -> Any:
    """Return the view of an array `(..., w)` as numbers of w lanes; `width` is a tuple of w."""
    return _view_as(Lanes(width.count), array, width)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    """Types of the attributes: the shape."""

    key = NumberArray

    def resolve_shape(self, array: NumberArray) -> Any:
        """Return the type of the shape, without the axis of a number's floats."""
        return types.UniTuple(types.intp, array.rank)


@lower_getattr(NumberArray, "shape")
def _shape(context: Any, builder: Builder, kind: NumberArray, value: Value) -> Value:
    view = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    array = arrayobj.make_array(kind.floats)(context, builder, view.floats)
    lengths = cgutils.unpack_tuple(builder, array.shape, kind.rank + 1)[:-1]
    return context.make_tuple(builder, types.UniTuple(types.intp, kind.rank), lengths)


def _is_entry(array: Any, index: Any) -> bool:
    """Return whether an index is of one number."""
    index_tuple: Any = index if isinstance(index, types.BaseTuple) else (index,)
    parts = tuple(index_tuple)
    all_integers = all(isinstance(part, types.Integer) for part in parts)
    return isinstance(array, NumberArray) and all_integers and len(parts) == array.rank


def _pointer(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
    """Return the address of the first float of an entry."""
    array_type, index = sig.args[0], sig.args[1]
    view = cgutils.create_struct_proxy(array_type)(context, builder, value=args[0])
    array = arrayobj.make_array(array_type.floats)(context, builder, view.floats)
    is_tuple = isinstance(index, types.BaseTuple)
    parts = cgutils.unpack_tuple(builder, args[1], len(index)) if is_tuple else [args[1]]
    kinds = list(index) if is_tuple else [index]
    cast_indices = [
        context.cast(builder, part, kind, types.intp)
        for part, kind in zip(parts, kinds, strict=True)
    ]
    cast_indices.append(context.get_constant(types.intp, 0))
    return cgutils.get_item_pointer(
        context, builder, array_type.floats, array, cast_indices, wraparound=False
    )


@infer_global(operator.getitem)
class _Item(AbstractTemplate):  # type: ignore[misc]
    """Types of an entry, and of a slice or a row."""

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the type of `array[index]`: a number, or a view."""
        array, index = args
        if not isinstance(array, NumberArray):
            return None
        if _is_entry(array, index):
            return signature(array.number, *args)
        indexing = get_array_index_type(array.floats, index)
        return signature(NumberArray(array.number, indexing.result.ndim - 1), array, indexing.index)


@lower_builtin(operator.getitem, NumberArray, types.Any)
def _item(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
    """Write the code of `array[index]`."""
    array_type, index = sig.args
    if sig.return_type == array_type.number:
        return array_type.number.load(builder, _pointer(context, builder, sig, args))
    view = cgutils.create_struct_proxy(array_type)(context, builder, value=args[0])
    slicing = signature(sig.return_type.floats, array_type.floats, index)
    item = context.get_function(operator.getitem, slicing)(builder, (view.floats, args[1]))
    result = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    result.floats = item
    return result._getvalue()


@infer_global(operator.setitem)
class _SetEntry(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.none, *args) if _is_entry(*args[:2]) else None


@lower_builtin(operator.setitem, NumberArray, types.Any, types.Any)
def _set_entry(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
    number = sig.args[0].number
    value = context.cast(builder, args[2], sig.args[2], number)
    number.store(builder, value, _pointer(context, builder, sig, args))
    return context.get_dummy_value()


@written
def _uniform(context: Any, values: Any) -> Any:
    """Return a tuple whose entries are all numbers of one type."""
    number_type = next(kind for kind in values if isinstance(kind, Number))
    uniform_type = types.UniTuple(number_type, len(values))

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        parts = cgutils.unpack_tuple(builder, args[0], len(values))
        cast = [
            context.cast(builder, p, kind, number_type)
            for p, kind in zip(parts, values, strict=True)
        ]
        return context.make_tuple(builder, uniform_type, cast)

    return uniform_type(values), write


@implements(operator.getitem)
def _entry_of_mixed(values: Any, index: Any) -> Any:
    """Index tuples of numbers and floats in a loop, which numba allows where all are alike."""
    is_mixed = isinstance(values, types.Tuple) and any(isinstance(kind, Number) for kind in values)
    if not is_mixed or not isinstance(index, types.Integer):
        return None
    if not all(isinstance(kind, (Number, *PLAIN_TYPES)) for kind in values):
        return None
    return lambda values, index: _uniform(values)[index]


def _entries(
    context: Any, builder: Builder, kind: Any, place: tuple[Value, Value, Value], width: int
) -> list[Value]:
    """Return pointers to the entries of one column in `width` rows, none beyond the last row."""
    row_array, first_row, column = place
    array = arrayobj.make_array(kind)(context, builder, row_array)
    n_rows, columns = (builder.extract_value(array.shape, axis) for axis in (0, 1))
    last_row = builder.sub(n_rows, ir.Constant(n_rows.type, 1))
    pointers = []
    for lane in range(width):
        lane_row = builder.add(first_row, ir.Constant(first_row.type, lane))
        lane_row = builder.select(builder.icmp_signed("<", lane_row, last_row), lane_row, last_row)
        entry_index = builder.add(builder.mul(lane_row, columns), column)
        pointers.append(builder.gep(array.data, [entry_index]))
    return pointers


@written
def read_column(context: Any, rows: Any, first: Any, column: Any, numbers: Any) -> Any:
    """Return entry `column` of the rows from `first` on, in lanes as those of `numbers` (an array).

    Lanes beyond the last row hold the last row.
    """
    number = numbers.number

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        value: Value = ir.Constant(number.form, ir.Undefined)
        pointers = _entries(context, builder, rows, args[:3], number.width)
        for lane, pointer in enumerate(pointers):
            lane_index = ir.Constant(ir.IntType(32), lane)
            value = builder.insert_element(value, builder.load(pointer), lane_index)
        return value

    return number(rows, types.intp, types.intp, numbers), write


@written
def write_column(context: Any, rows: Any, first: Any, column: Any, number: Any) -> Any:
    """Write lanes to entry `column` of the rows from `first` on; those beyond the last, to it."""

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        pointers = _entries(context, builder, rows, args[:3], number.width)
        for lane, pointer in enumerate(pointers):
            lane_index = ir.Constant(ir.IntType(32), lane)
            builder.store(builder.extract_element(args[3], lane_index), pointer)
        return context.get_dummy_value()

    return types.none(rows, types.intp, types.intp, number), write
