"""Machine code of kernels for callers whose arguments keep their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


class SameTypes:
    """A kernel whose arguments always have the types of its first call.

    Numba looks up the types of all arguments in each call; for groups of arrays that takes longer
    than a step of a machine. The machine code does not look: it is only for arguments whose types,
    contiguity and number of axes never change.
    """

    def __init__(self, kernel: Any) -> None:
        """Keep a kernel; the first call compiles it or loads its machine code."""
        self._kernel = kernel
        self._code: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes a copy: machine code stays in its process."""
        return SameTypes, (self._kernel,)

    def __call__(self, *arguments: Any) -> Any:
        """Return what the kernel returns."""
        if self._code is None:
            self._code = self._kernel.compile(tuple(map(numba.typeof, arguments)))
        return self._code(*arguments)
