"""Compilation of kernels for GPUs that are not installed, and the resources that kernels use."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from twin.basics.optional import EXTRA_COMMAND, optional
from twin.errors import MissingDependencyError
from twin.kernels.cuda.batches import (
    BATCH_FUNCTIONS,
    Sizes,
    batch_kernel,
    search_kernel,
    steps_kernel,
)
from twin.kernels.cuda.translation import cuda, numba_types

Capability = tuple[int, int]

COMPUTE_CAPABILITIES: tuple[Capability, ...] = ((8, 0), (9, 0))
"""Compute capabilities: of the A100 generation, and of the H100 and H200."""

FLOAT_ARRAY = numba_types.Array(numba_types.float64, 1, "C")
INTEGER_ARRAY = numba_types.Array(numba_types.int64, 1, "C")


class Resources(NamedTuple):
    """Multiprocessor resources that a kernel uses per thread."""

    registers: int
    """registers of 32 bits, at most 255"""
    spilled_bytes: int
    """bytes spilled to memory because registers are missing"""
    local: int
    """bytes of the thread's own memory"""


def machine_kernels(sizes: Sizes) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield name, kernel and types of the arguments of all batch calls of a machine."""
    for name in BATCH_FUNCTIONS:
        yield name, batch_kernel(sizes, name), (*[FLOAT_ARRAY] * 8, INTEGER_ARRAY)
    yield "forward_kinematics", search_kernel(sizes), (*[FLOAT_ARRAY] * 5, INTEGER_ARRAY)
    loads = (
        *[FLOAT_ARRAY] * 7,
        numba_types.float64,
        numba_types.int64,
        *[FLOAT_ARRAY] * 3,
        INTEGER_ARRAY,
    )
    yield "advance", steps_kernel(sizes), loads


def type_of(value: Any) -> Any:
    """Return numba's type of a flat array, or of a named tuple of such."""
    if isinstance(value, tuple):
        return numba_types.NamedTuple([type_of(entry) for entry in value], type(value))
    kinds = {
        "f8": numba_types.float64,
        "f4": numba_types.float32,
        "i8": numba_types.int64,
        "b1": numba_types.boolean,
    }
    return numba_types.Array(kinds[np.dtype(value.dtype).str[1:]], 1, "C")


def to_ptx(kernel: Any, arguments: tuple[Any, ...], capability: Capability) -> str:
    """Return a kernel's code in PTX for a compute capability; no card is needed.

    Raises:
        MissingDependencyError: the extra `cuda` is not installed.
    """
    optional("numba_cuda")
    with _as_if_installed(capability):
        ptx, _ = cuda.compile(
            kernel.py_func, numba_types.void(*arguments), cc=capability, device=False, abi="numba",
            output="ptx",
        )  # fmt: skip
    return str(ptx)


@contextmanager
def _as_if_installed(capability: Capability) -> Iterator[None]:
    """Make numba compile for this compute capability, as if such a GPU were present."""
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    real_getter = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = real_getter


def resources(ptx: str, capability: Capability) -> Resources:
    """Return the resources of a kernel in PTX by `ptxas`, over all its functions.

    Raises:
        MissingDependencyError: there is no `ptxas`.
    """
    major, minor = capability
    with TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [assembler(), "-v", f"-arch=sm_{major}{minor}", str(source), "-o", "/dev/null"]
        report = subprocess.run(command, capture_output=True, text=True, check=True).stderr

    def numbers(pattern: str) -> list[int]:
        return [int(match) for match in re.findall(pattern, report)]

    spilled_bytes = sum(numbers(r"(\d+) bytes spill"))
    return Resources(
        max(numbers(r"Used (\d+) reg")), spilled_bytes, max(numbers(r"(\d+) bytes stack"))
    )


@cache
def assembler() -> str:
    """Return the path of `ptxas`: of the extra `cuda`, or of an installed CUDA.

    Raises:
        MissingDependencyError: there is none.
    """
    spec = find_spec("nvidia")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    ptxas_paths = [path for folder in folders for path in sorted(Path(folder).glob("*/bin/ptxas"))]
    path = str(ptxas_paths[0]) if ptxas_paths else which("ptxas")
    if path is None:
        raise MissingDependencyError(
            "ptxas", "Assembling for a graphics card", EXTRA_COMMAND.format("cuda")
        )
    return path
