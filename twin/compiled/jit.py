"""The one way functions are compiled: lazily, cached on disk, without Python objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel at its first call.

    `contract` lets the compiler fuse a multiplication with an addition (one rounding less);
    nothing is reordered, so results do not depend on the batch size or the number of threads.
    """
    kernel: Callable[..., Any] = numba.njit(
        cache=True, error_model="numpy", nogil=True, fastmath={"contract"}
    )(function)
    return kernel
