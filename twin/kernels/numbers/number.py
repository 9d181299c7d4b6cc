"""Base of the number types: what kernels compute with in place of floats.

A kernel is written once, for floats. Numba compiles it for any type that has the operators of a
float, so a type of numbers needs no change to the kernel. Such a type is a subclass of `Number`;
its methods write the instructions of each operation. Operators, comparisons and casts are
registered here, once for all types.
"""

from __future__ import annotations

import inspect
import operator
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_cast
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from twin.kernels.jit import LINKED_OPTIONS, WITHOUT_COUNTING

REAL_TYPE = ir.DoubleType()
PLAIN_TYPES = (types.Float, types.Integer)

written: Any = intrinsic
"""Decorator of a function that returns its type and the writer of its instructions."""

Value = Any
"""An LLVM value"""
Builder = Any
"""A builder, which writes LLVM instructions"""


class Operand(NamedTuple):
    """An argument of an operation: a number, or a float."""

    value: Value
    plain: bool
    """whether it is an ordinary float: equal in all lanes, with zero derivatives"""


class _NumberModel(models.PrimitiveModel):  # type: ignore[misc]
    """Memory of a number in compiled code: one value of its form."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.form)


class Number(types.Type):  # type: ignore[misc]
    """A type of numbers of `width` lanes, or with `width` derivatives."""

    def __init__(self, width: int) -> None:
        """Take the width."""
        self.width = width
        super().__init__(name=f"{type(self).__name__}({width})")

    def __init_subclass__(cls) -> None:
        register_model(cls)(_NumberModel)

    def unify(self, context: Any, other: Any) -> Any:
        """Return the type of a variable that holds this number or another value."""
        return self if isinstance(other, PLAIN_TYPES) else None

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return the rank of a conversion from another type: floats become numbers."""
        return Conversion.safe if isinstance(other, PLAIN_TYPES) else None

    @property
    @abstractmethod
    def form(self) -> ir.Type:
        """LLVM's type of a value."""

    @property
    @abstractmethod
    def floats(self) -> int:
        """Number of floats of a value in memory."""

    @abstractmethod
    def broadcast(self, builder: Builder, value: Value) -> Value:
        """Return the number that equals a float."""

    @abstractmethod
    def arithmetic(self, builder: Builder, name: str, a: Operand, b: Operand) -> Value:
        """Return the result of "fadd", "fsub", "fmul" or "fdiv"."""

    @abstractmethod
    def negative(self, builder: Builder, value: Value) -> Value:
        """Return the negated number."""

    @abstractmethod
    def compare(self, builder: Builder, sign: str, a: Operand, b: Operand) -> Value:
        """Return one bit: whether a comparison holds in all lanes; not with NaN."""

    @abstractmethod
    def load(self, builder: Builder, pointer: Value) -> Value:
        """Return the number at a pointer to floats."""

    @abstractmethod
    def store(self, builder: Builder, value: Value, pointer: Value) -> None:
        """Write a number to a pointer to floats."""

    def operands(
        self, context: Any, builder: Builder, given: Sequence[Any], values: Sequence[Value]
    ) -> list[Operand]:
        """Return the arguments of an operation, plain ones as floats."""
        return [
            Operand(value, False)
            if kind == self
            else Operand(context.cast(builder, value, kind, types.float64), True)
            for kind, value in zip(given, values, strict=True)
        ]


def common(*kinds: Any) -> Number | None:
    """Return the one type of numbers among numba types; None: there is none, or something else."""
    numbers = {kind for kind in kinds if isinstance(kind, Number)}
    if len(numbers) != 1 or not all(isinstance(kind, (Number, *PLAIN_TYPES)) for kind in kinds):
        return None
    return numbers.pop()


def _binary(function: Any, result: Any, write: Any) -> None:
    """Register an operator of two numbers, or of a number and a float."""

    @infer_global(function)
    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            number = common(*args) if len(args) == 2 else None
            return None if number is None else signature(result or number, *args)

    def lower(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
        number = common(*sig.args)
        assert number is not None
        return write(number, builder, *number.operands(context, builder, sig.args, args))

    for pair in (
        (Number, Number),
        *((Number, p) for p in PLAIN_TYPES),
        *((p, Number) for p in PLAIN_TYPES),
    ):
        lower_builtin(function, *pair)(lower)


def _arithmetic(name: str) -> Any:
    return lambda number, builder, a, b: number.arithmetic(builder, name, a, b)


def _comparison(sign: str) -> Any:
    return lambda number, builder, a, b: number.compare(builder, sign, a, b)


for _name in ("add", "sub", "mul", "truediv"):
    for _full in (_name, f"i{_name}"):
        _binary(getattr(operator, _full), None, _arithmetic(f"f{_name.removeprefix('true')}"))
for _name, _sign in (
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("eq", "=="),
    ("ne", "!="),
):
    _binary(getattr(operator, _name), types.boolean, _comparison(_sign))


@infer_global(operator.neg)
class _Negative(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], *args) if common(*args) else None


@lower_builtin(operator.neg, Number)
def _negative(context: Any, builder: Builder, sig: Any, args: Any) -> Value:
    return sig.args[0].negative(builder, args[0])


@lower_cast(types.Float, Number)
@lower_cast(types.Integer, Number)
def _broadcast(context: Any, builder: Builder, source: Any, target: Number, value: Value) -> Value:
    return target.broadcast(builder, context.cast(builder, value, source, types.float64))


def implements(python: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of a function that chooses, by types, what a Python function does."""

    def decorate(choose: Callable[..., Any]) -> Callable[..., Any]:
        # Numba compares signatures, annotations included.
        choose.__annotations__.clear()

        def chosen(*arguments: Any) -> Any:
            implementation = choose(*arguments)
            if implementation is not None:
                implementation.__annotations__.clear()
            return implementation

        chosen.__signature__ = inspect.signature(choose)  # type: ignore[attr-defined]
        overload(python, jit_options=LINKED_OPTIONS | WITHOUT_COUNTING)(chosen)  # type: ignore[arg-type]
        return choose

    return decorate
