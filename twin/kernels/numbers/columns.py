"""Columns of an array of rows, read into lanes and written from them: one row for each lane."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.np import arrayobj

from twin.kernels.numbers.number import Builder, Value, written


def _entries(
    context: Any, builder: Builder, kind: Any, place: tuple[Value, Value, Value], width: int
) -> list[Value]:
    """Return pointers to the entries of one column in `width` rows, none beyond the last row."""
    given, first, column = place
    array = arrayobj.make_array(kind)(context, builder, given)
    rows, columns = (builder.extract_value(array.shape, axis) for axis in (0, 1))
    last = builder.sub(rows, ir.Constant(rows.type, 1))
    pointers = []
    for lane in range(width):
        row = builder.add(first, ir.Constant(first.type, lane))
        row = builder.select(builder.icmp_signed("<", row, last), row, last)
        entry = builder.add(builder.mul(row, columns), column)
        pointers.append(builder.gep(array.data, [entry]))
    return pointers


@written
def read_column(context: Any, rows: Any, first: Any, column: Any, numbers: Any) -> Any:
    """Return entry `column` of the rows from `first` on, in lanes as those of `numbers` (an array).

    Lanes beyond the last row hold the last row.
    """
    number = numbers.number

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        value: Value = ir.Constant(number.form, ir.Undefined)
        places = _entries(context, builder, rows, args[:3], number.width)
        for lane, pointer in enumerate(places):
            place = ir.Constant(ir.IntType(32), lane)
            value = builder.insert_element(value, builder.load(pointer), place)
        return value

    return number(rows, types.intp, types.intp, numbers), write


@written
def write_column(context: Any, rows: Any, first: Any, column: Any, number: Any) -> Any:
    """Write lanes to entry `column` of the rows from `first` on; those beyond the last, to it."""

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        places = _entries(context, builder, rows, args[:3], number.width)
        for lane, pointer in enumerate(places):
            place = ir.Constant(ir.IntType(32), lane)
            builder.store(builder.extract_element(args[3], place), pointer)
        return context.get_dummy_value()

    return types.none(rows, types.intp, types.intp, number), write
