"""Machine code of kernels for callers whose arguments keep their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def with_types_of(kernel: Callable[P, R], *arguments: Any) -> Callable[P, R]:
    """Return the machine code of a kernel for arguments of the types of the given ones.

    Numba looks up the types of all arguments in each call; for groups of arrays that takes longer
    than a step of a machine. The machine code does not look: it is only for arguments whose types,
    contiguity and number of axes never change.
    """
    dispatcher: Any = kernel
    code: Callable[P, R] = dispatcher.compile(tuple(map(numba.typeof, arguments)))
    return code
