"""Machine code of a unit that runs without Python, for every processor of the kind of this one."""

from __future__ import annotations

import platform as computer
import sys
from functools import lru_cache
from typing import Any, NamedTuple

from llvmlite import binding

from twin.engines.fmu.kernels.unit import native_functions
from twin.errors import InputError


class Target(NamedTuple):
    """Processors and system that a unit is made for."""

    processor: str
    """oldest that the code runs on, as LLVM calls it"""
    folders: dict[int, str]
    """version of FMI -> folder of the library"""


TARGETS = {
    ("linux", "x86_64"): Target("x86-64", {2: "linux64", 3: "x86_64-linux"}),
    ("linux", "aarch64"): Target("generic", {2: "aarch64-linux", 3: "aarch64-linux"}),
}


def target() -> Target:
    """Return what units made on this computer run on.

    Raises:
        InputError: no units are made on this system.
    """
    found = TARGETS.get((sys.platform, computer.machine()))
    if found is None:
        raise InputError("format", "units of FMI are made on Linux (x86-64 or ARM, 64 bit) alone")
    return found


@lru_cache
def object_code(kind: type, columns: int) -> bytes:
    """Return the object file with the functions of machines with legs of a kind.

    Args:
        kind: type of the constants of the legs.
        columns: numbers in the row of a leg.
    """
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=target().processor, features="", opt=3, reloc="pic", codemodel="small"
    )
    whole: Any = None
    for name, (kernel, arguments) in native_functions(kind, columns).items():
        kernel.compile(arguments)
        compiled = kernel.overloads[arguments]
        # Numba has no public way to the instructions of a kernel that comes from its cache.
        part = compiled.library._get_module_for_linking().clone()
        function = part.get_function(compiled.fndesc.llvm_func_name)
        function.name, function.linkage = name, "external"
        if whole is None:
            whole = part
        else:
            whole.link_in(part)
    code: bytes = machine.emit_object(whole)
    return code
