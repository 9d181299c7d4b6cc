"""Lanes: the same quantity of several states in one register of the processor.

One instruction works on all lanes. A comparison holds where it holds in all lanes, so that a
branch is taken for all states or none; results that differ by lane are selected, not branched to.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from twin.kernels.jit import replacing
from twin.kernels.linear_algebra import bring_pivot_up
from twin.kernels.numbers.number import (
    REAL_TYPE,
    Builder,
    Number,
    Operand,
    Value,
    common,
    implements,
    written,
)

FLOAT_BYTES = 8
"""Alignment of pointers [bytes]: arrays begin at any float. Without it, LLVM assumes the alignment
of a vector, and its instructions crash."""


class Lanes(Number):
    """Numbers of `width` states."""

    @property
    def form(self) -> ir.Type:
        """LLVM's type of a value."""
        return ir.VectorType(REAL_TYPE, self.width)

    @property
    def floats(self) -> int:
        """Number of floats of a value in memory."""
        return self.width

    def broadcast(self, builder: Builder, value: Value) -> Value:
        """Return the number that is a float in all lanes."""
        undefined, index = ir.Constant(self.form, ir.Undefined), ir.IntType(32)
        first_lane = builder.insert_element(undefined, value, ir.Constant(index, 0))
        zeros = ir.Constant(ir.VectorType(index, self.width), [0] * self.width)
        return builder.shuffle_vector(first_lane, undefined, zeros)

    def arithmetic(self, builder: Builder, name: str, a: Operand, b: Operand) -> Value:
        """Return the result of "fadd", "fsub", "fmul" or "fdiv", lane by lane."""
        return getattr(builder, name)(self.lanes(builder, a), self.lanes(builder, b))

    def negative(self, builder: Builder, value: Value) -> Value:
        """Return the number with the other sign."""
        return builder.fneg(value)

    def compare(self, builder: Builder, sign: str, a: Operand, b: Operand) -> Value:
        """Return one bit: whether a comparison holds in all lanes; never with NaN."""
        bits = self.mask(builder, sign, self.lanes(builder, a), self.lanes(builder, b))
        mask_type = ir.IntType(self.width)
        return builder.icmp_unsigned(
            "==", builder.bitcast(bits, mask_type), ir.Constant(mask_type, -1)
        )

    def mask(self, builder: Builder, sign: str, a: Value, b: Value) -> Value:
        """Return one bit per lane."""
        return builder.fcmp_ordered(sign, a, b)

    def load(self, builder: Builder, pointer: Value) -> Value:
        """Return the number at a pointer to floats."""
        value = builder.load(builder.bitcast(pointer, self.form.as_pointer()))
        value.align = FLOAT_BYTES
        return value

    def store(self, builder: Builder, value: Value, pointer: Value) -> None:
        """Write a number to a pointer to floats."""
        stored = builder.store(value, builder.bitcast(pointer, self.form.as_pointer()))
        stored.align = FLOAT_BYTES

    def lanes(self, builder: Builder, operand: Operand) -> Value:
        """Return an operand in lanes."""
        return self.broadcast(builder, operand.value) if operand.plain else operand.value

    def call(self, builder: Builder, name: str, value: Value) -> Value:
        """Return the value of a function that LLVM has for vectors, such as "sqrt"."""
        function_type = ir.FunctionType(self.form, [self.form])
        intrinsic_name = f"llvm.{name}.v{self.width}f64"
        return builder.call(
            cgutils.get_or_insert_function(builder.module, function_type, intrinsic_name), [value]
        )


def _vector_function(python: Any, name: str) -> None:
    """Register a function that LLVM has for vectors."""

    @written
    def vector(context: Any, x: Any) -> Any:
        def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
            return sig.args[0].call(builder, name, args[0])

        return x(x), write

    @implements(python)
    def choose(x: Any) -> Any:
        return (lambda x: vector(x)) if isinstance(x, Lanes) else None


_vector_function(math.sqrt, "sqrt")
_vector_function(abs, "fabs")


@written
def lane(context: Any, x: Any, k: Any) -> Any:
    """Return lane k of a number as a float."""

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

    return types.float64(x, types.int64), write


@written
def with_lane(context: Any, x: Any, k: Any, value: Any) -> Any:
    """Return a number with another value in lane k."""

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        lane_index = builder.trunc(args[1], ir.IntType(32))
        return builder.insert_element(args[0], args[2], lane_index)

    return x(x, types.int64, types.float64), write


@written
def where_larger(context: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
    """Return, lane by lane, a where x > y and b elsewhere; floats count for all lanes."""
    number: Any = common(x, y, a, b)

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        pairs = zip(args, sig.args, strict=True)
        left, right, one, other = (context.cast(builder, v, kind, number) for v, kind in pairs)
        return builder.select(number.mask(builder, ">", left, right), one, other)

    return number(x, y, a, b), write


def _per_lane_function(function: Any) -> None:
    """Register a function of one float that is called lane by lane."""

    @implements(function)
    def choose(x: Any) -> Any:
        if not isinstance(x, Lanes):
            return None
        width = x.width

        def lane_by_lane(x: Any) -> Any:
            result = x  # all lanes are replaced
            for k in range(width):
                result = with_lane(result, k, function(lane(x, k)))
            return result

        return lane_by_lane


for _function in (math.sin, math.cos, math.acos, round):
    _per_lane_function(_function)


@implements(math.atan2)
def _atan2(y: Any, x: Any) -> Any:
    """Return the arc tangent lane by lane."""
    if not (isinstance(y, Lanes) and isinstance(x, Lanes)):
        return None
    width = x.width

    def each(y: Any, x: Any) -> Any:
        result = x
        for k in range(width):
            result = with_lane(result, k, math.atan2(lane(y, k), lane(x, k)))
        return result

    return each


@written
def _copysign(context: Any, size: Any, sign: Any) -> Any:
    """Return a magnitude with the sign of each lane, by the processor's instruction."""

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        lanes_type = sig.args[1]
        function = ir.FunctionType(lanes_type.form, [lanes_type.form, lanes_type.form])
        name = f"llvm.copysign.v{lanes_type.width}f64"
        intrinsic = cgutils.get_or_insert_function(builder.module, function, name)
        return builder.call(intrinsic, [lanes_type.broadcast(builder, args[0]), args[1]])

    return sign(types.float64, sign), write


@implements(math.copysign)
def _with_sign(x: Any, y: Any) -> Any:
    return (lambda x, y: _copysign(x, y)) if isinstance(y, Lanes) else None


@implements(math.isfinite)
def _isfinite(x: Any) -> Any:
    # Inf minus inf and NaN minus NaN are not zero.
    return (lambda x: x - x == 0.0) if isinstance(x, Lanes) else None


@implements(min)
def _min(a: Any, b: Any) -> Any:
    # Only for b in lanes: kernels write the float first, as in min(1.0, x).
    if isinstance(b, Lanes):
        return lambda a, b: where_larger(b, a, a, b)
    return None


@implements(max)
def _max(a: Any, b: Any) -> Any:
    if isinstance(b, Lanes):
        return lambda a, b: where_larger(a, b, a, b)
    return None


def _in_lanes(matrix: Any, *_: Any) -> bool:
    return isinstance(getattr(matrix, "number", None), Lanes)


@replacing(bring_pivot_up, _in_lanes)
def lanes_bring_pivot_up(matrix: Any, right: Any, j: int, size: int) -> float:
    """Bring the largest entry of column j up, lane by lane; return the signs, 0 without a pivot."""
    permutation_sign = 1.0 + 0.0 * right[j]
    for i in range(j + 1, size):
        upper, lower = abs(matrix[j, j]), abs(matrix[i, j])
        for k in range(j, size):
            a, b = matrix[j, k], matrix[i, k]
            matrix[j, k] = where_larger(lower, upper, b, a)
            matrix[i, k] = where_larger(lower, upper, a, b)
        a, b = right[j], right[i]
        right[j] = where_larger(lower, upper, b, a)
        right[i] = where_larger(lower, upper, a, b)
        permutation_sign = where_larger(lower, upper, -permutation_sign, permutation_sign)
    return where_larger(abs(matrix[j, j]), 0.0, permutation_sign, 0.0)
