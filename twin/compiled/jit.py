"""The one way functions are compiled: lazily, cached on disk, without Python objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])

compiled: Callable[[Function], Function] = numba.njit(
    cache=True, error_model="numpy", nogil=True, fastmath={"contract"}
)
"""Decorator of every kernel.

`contract` lets the compiler fuse a multiplication with an addition (one rounding less); nothing is
reordered, so results do not depend on the batch size or on the number of threads.
"""
