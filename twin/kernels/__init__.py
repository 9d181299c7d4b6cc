"""Compiled scalar mathematics: vectors as tuples of floats, work arrays passed in, no allocation.

The same source compiles for the CPU (`numba.njit`) and as CUDA device functions.
"""

from twin.basics.progress import watch_compilation

watch_compilation()
