"""The one way functions are compiled: lazily, cached on disk, without Python objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

OPTIONS: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract"},
}
"""`contract` lets the compiler fuse a multiplication with an addition (one rounding less); nothing
is reordered, so results do not depend on the batch size or the number of threads."""

WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile, at its first call, a function that Python calls."""
    kernel: Callable[..., Any] = numba.njit(**OPTIONS)(function)
    return kernel


def device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only other compiled functions call.

    Without the wrappers for Python a machine compiles in three quarters of the time.
    """
    inner: Callable[..., Any] = numba.njit(**OPTIONS, **WITHOUT_WRAPPERS)(function)
    return inner
