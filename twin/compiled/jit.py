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
    return _jitted(function, OPTIONS)


def device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only other compiled functions call.

    Without the wrappers for Python a machine compiles in three quarters of the time.
    """
    return _jitted(function, {**OPTIONS, **WITHOUT_WRAPPERS})


def _jitted(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    kernel: Callable[..., Any]
    try:
        kernel = numba.njit(**options)(function)
    except RuntimeError:
        # No folder can be written to, as in a read-only container: compile in every process.
        kernel = numba.njit(**{**options, "cache": False})(function)
    return kernel
