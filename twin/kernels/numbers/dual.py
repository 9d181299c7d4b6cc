"""Dual numbers: a value with its derivatives by several variables, exact to rounding.

A dual a + a' e, with a' a row of derivatives and e^2 = 0, is what a kernel computes with to get its
derivatives next to its values. Branches are those of the values.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types

from twin.kernels.numbers.lanes import Lanes
from twin.kernels.numbers.number import (
    REAL_TYPE,
    Builder,
    Number,
    Operand,
    Value,
    implements,
    written,
)

Parts = tuple[Value, Value | None]
"""Value and derivatives; None for derivatives that are all zero"""


class Dual(Number):
    """Numbers with `width` derivatives."""

    @property
    def slopes(self) -> Lanes:
        """Type of the derivatives."""
        return Lanes(self.width)

    @property
    def form(self) -> ir.Type:
        """LLVM's type of a value."""
        return ir.LiteralStructType([REAL_TYPE, self.slopes.form])

    @property
    def floats(self) -> int:
        """Number of floats of a value in memory."""
        return 1 + self.width

    def made(self, builder: Builder, parts: Parts) -> Value:
        """Return the number of a value and its derivatives."""
        value, slopes = parts
        zero_slopes = ir.Constant(self.slopes.form, None)
        dual = builder.insert_value(ir.Constant(self.form, ir.Undefined), value, 0)
        return builder.insert_value(dual, zero_slopes if slopes is None else slopes, 1)

    def parts(self, builder: Builder, operand: Operand) -> Parts:
        """Return value and derivatives of an operand."""
        if operand.plain:
            return operand.value, None
        return builder.extract_value(operand.value, 0), builder.extract_value(operand.value, 1)

    def broadcast(self, builder: Builder, value: Value) -> Value:
        """Return the number that equals a float: no derivatives."""
        return self.made(builder, (value, None))

    def arithmetic(self, builder: Builder, name: str, a: Operand, b: Operand) -> Value:
        """Return the result of "fadd", "fsub", "fmul" or "fdiv"."""
        operation = {"fadd": self._sum, "fsub": self._difference, "fmul": self._product}
        function = operation.get(name, self._quotient)
        return self.made(builder, function(builder, self.parts(builder, a), self.parts(builder, b)))

    def _sum(self, builder: Builder, a: Parts, b: Parts) -> Parts:
        return builder.fadd(a[0], b[0]), _added(builder, a[1], b[1])

    def _difference(self, builder: Builder, a: Parts, b: Parts) -> Parts:
        value = builder.fsub(a[0], b[0])
        if a[1] is not None and b[1] is not None:
            return value, builder.fsub(a[1], b[1])
        return value, a[1] if b[1] is None else builder.fneg(b[1])

    def _product(self, builder: Builder, a: Parts, b: Parts) -> Parts:
        slopes = _added(
            builder, self._scaled(builder, a[1], b[0]), self._scaled(builder, b[1], a[0])
        )
        return builder.fmul(a[0], b[0]), slopes

    def _quotient(self, builder: Builder, a: Parts, b: Parts) -> Parts:
        inverse = builder.fdiv(ir.Constant(REAL_TYPE, 1.0), b[0])
        value = builder.fdiv(a[0], b[0])
        quotient_slope = self._scaled(builder, b[1], builder.fneg(value))
        return value, self._scaled(builder, _added(builder, a[1], quotient_slope), inverse)

    def _scaled(self, builder: Builder, slopes: Value | None, factor: Value) -> Value | None:
        if slopes is None:
            return None
        return builder.fmul(slopes, self.slopes.broadcast(builder, factor))

    def negative(self, builder: Builder, value: Value) -> Value:
        """Return the number with the other sign."""
        number, slopes = self.parts(builder, Operand(value, False))
        return self.made(builder, (builder.fneg(number), builder.fneg(slopes)))

    def compare(self, builder: Builder, sign: str, a: Operand, b: Operand) -> Value:
        """Return one bit: whether a comparison of the values holds."""
        return builder.fcmp_ordered(sign, self.parts(builder, a)[0], self.parts(builder, b)[0])

    def load(self, builder: Builder, pointer: Value) -> Value:
        """Return the number at a pointer to floats."""
        slope_pointer = builder.gep(pointer, [ir.Constant(ir.IntType(64), 1)])
        return self.made(builder, (builder.load(pointer), self.slopes.load(builder, slope_pointer)))

    def store(self, builder: Builder, value: Value, pointer: Value) -> None:
        """Write a number to a pointer to floats."""
        number, slopes = self.parts(builder, Operand(value, False))
        builder.store(number, pointer)
        slope_pointer = builder.gep(pointer, [ir.Constant(ir.IntType(64), 1)])
        self.slopes.store(builder, slopes, slope_pointer)


def _added(builder: Builder, a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return b if a is None else a
    return builder.fadd(a, b)


@written
def value_of(context: Any, x: Any) -> Any:
    """Return the value of a dual number."""

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        return builder.extract_value(args[0], 0)

    return types.float64(x), write


@written
def with_slope(context: Any, x: Any, value: Any, slope: Any) -> Any:
    """Return the dual of a value whose derivatives are those of x times a factor.

    What a function of x returns, from its value and its derivative there.
    """

    def write(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        number = sig.args[0]
        slopes = builder.extract_value(args[0], 1)
        return number.made(builder, (args[1], number._scaled(builder, slopes, args[2])))

    return x(x, types.float64, types.float64), write


def _function(python: Any, slope: Any) -> None:
    """Register a function of one number by its derivative, a function of x and of its value."""
    from numba import njit

    derivative = njit(slope)

    @implements(python)
    def choose(x: Any) -> Any:
        if not isinstance(x, Dual):
            return None

        def call(x: Any) -> Any:
            at = value_of(x)
            value = python(at)
            return with_slope(x, value, derivative(at, value))

        return call


_function(math.sqrt, lambda x, value: 0.5 / value)
_function(math.sin, lambda x, value: math.cos(x))
_function(math.cos, lambda x, value: -math.sin(x))
_function(math.acos, lambda x, value: -1.0 / math.sqrt(1.0 - x * x))
_function(abs, lambda x, value: math.copysign(1.0, x))
_function(round, lambda x, value: 0.0)


@implements(math.atan2)
def _atan2(y: Any, x: Any) -> Any:
    """Return the arc tangent with its derivative."""
    if not (isinstance(y, Dual) and isinstance(x, Dual)):
        return None

    def call(y: Any, x: Any) -> Any:
        b, a = value_of(y), value_of(x)
        squared_norm = a * a + b * b
        return with_slope(y, math.atan2(b, a), a / squared_norm) - with_slope(
            x, 0.0, b / squared_norm
        )

    return call


@implements(math.copysign)
def _copysign(size: Any, sign: Any) -> Any:
    if isinstance(sign, Dual) and not isinstance(size, Dual):
        return lambda size, sign: math.copysign(size, value_of(sign))
    return None


@implements(math.isfinite)
def _isfinite(x: Any) -> Any:
    return (lambda x: math.isfinite(value_of(x))) if isinstance(x, Dual) else None


@implements(min)
def _min(a: Any, b: Any) -> Any:
    if isinstance(b, Dual):
        return lambda a, b: a if a < b else b
    return None


@implements(max)
def _max(a: Any, b: Any) -> Any:
    if isinstance(b, Dual):
        return lambda a, b: a if a > b else b
    return None
