"""Numba's module for graphics cards: that of the extra `cuda`, or numba's own with a simulator."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numba

cuda: Any = import_module("numba.cuda")

written: Callable[[Any], Any] = import_module("numba.cuda.extending").intrinsic
"""Decorator of a function that returns its type and the writer of its instructions."""

numba_types: Any = numba.types

SIMULATED = bool(getattr(numba.config, "ENABLE_CUDASIM", False))
"""Whether Python runs the kernels, with NUMBA_ENABLE_CUDASIM=1 in the environment."""
