"""A machine as a file for other simulators: a co-simulation unit of FMI."""

from __future__ import annotations

import hashlib
import os
import platform as computer
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from llvmlite import binding

from twin import __version__
from twin.basics.arrays import FloatArray, positive
from twin.basics.files import new_folder, write_atomically
from twin.engines.base import check_timestep, suitable_timestep
from twin.engines.fmu.description import Block, Unit, description, unit_blocks
from twin.engines.fmu.kernels import memory_size, native_functions
from twin.errors import InputError, MissingDependencyError, StateError, brief
from twin.model.machine_base import without_compiling
from twin.model.machine_model import MachineModel, as_model

UNIT_SOURCE = Path(__file__).with_name("unit.c")

COMPILER_OPTIONS = (
    "-std=c11",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-Wall",
    "-s",
)

EXPORTED_SYMBOLS = "{ global: fmi*; local: *; };"
"""Names that the library shows; those of kernels stay inside."""

FMI_VERSIONS = (2, 3)
"""Versions of FMI that a unit can be written for."""

ARCHIVE_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of all files in a unit, so that the same machine gives the same bytes."""


class Target(NamedTuple):
    """Processors and system that a unit is made for."""

    processor: str
    """oldest that the code runs on, as LLVM calls it"""
    folders: dict[int, str]
    """version of FMI -> folder of the library"""


BUILD_TARGETS = {
    ("linux", "x86_64"): Target("x86-64", {2: "linux64", 3: "x86_64-linux"}),
    ("linux", "aarch64"): Target("generic", {2: "aarch64-linux", 3: "aarch64-linux"}),
}


def target() -> Target:
    """Return the target of units made on this computer.

    Raises:
        InputError: no units are made on this system.
    """
    build_target = BUILD_TARGETS.get((sys.platform, computer.machine()))
    if build_target is None:
        raise InputError("format", "units can be made on Linux only (x86-64 or ARM, 64 bit)")
    return build_target


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
    linked_module: Any = None
    for name, (kernel, arguments) in native_functions(kind, columns).items():
        kernel.compile(arguments)
        compiled = kernel.overloads[arguments]
        # Numba has no public way to the instructions of a kernel that comes from its cache.
        kernel_module = compiled.library._get_module_for_linking().clone()
        function = kernel_module.get_function(compiled.fndesc.llvm_func_name)
        function.name, function.linkage = name, "external"
        if linked_module is None:
            linked_module = kernel_module
        else:
            linked_module.link_in(kernel_module)
    code: bytes = machine.emit_object(linked_module)
    return code


def compile_library(
    platform: MachineModel, blocks: Sequence[Block], timestep: float, token: str, fmi: int
) -> bytes:
    """Return the shared library of a unit.

    Args:
        platform: the machine.
        blocks: its variables.
        timestep: longest integration step [s].
        token: that the description of the unit names too.
        fmi: 2 or 3.

    Raises:
        MissingDependencyError: there is no compiler of C.
        StateError: the compiler fails.
    """
    command = compiler()
    constants = platform.constants
    with TemporaryDirectory() as folder:
        build_folder = Path(folder)
        header = machine_header(platform, blocks, timestep, token, fmi)
        (build_folder / "machine.h").write_text(header, encoding="utf-8")
        code = object_code(type(constants.legs), constants.legs.rows.shape[1])
        (build_folder / "kernels.o").write_bytes(code)
        (build_folder / "exports").write_text(EXPORTED_SYMBOLS, encoding="utf-8")
        files = [str(UNIT_SOURCE), "kernels.o", f"-I{folder}", "-lm", "-o", "unit.so"]
        link = ["-shared", "-Wl,--version-script=exports", "-Wl,--no-undefined"]
        arguments = [*command, *COMPILER_OPTIONS, *link, *files]
        completed = subprocess.run(
            arguments, cwd=build_folder, capture_output=True, text=True, check=False
        )
        if completed.returncode != 0:
            raise StateError(
                f"{command[0]} cannot compile the unit: {completed.stderr.strip()[-2000:]}"
            )
        return (build_folder / "unit.so").read_bytes()


def compiler() -> list[str]:
    """Return the command of the compiler of C: the variable CC, else `cc`, `gcc` or `clang`.

    Raises:
        MissingDependencyError: there is none.
    """
    for command in (shlex.split(os.environ.get("CC", "")), ["cc"], ["gcc"], ["clang"]):
        if command and shutil.which(command[0]):
            return command
    raise MissingDependencyError(
        "a compiler of C", "The export of FMI units", "apt-get install gcc libc6-dev"
    )


def machine_header(
    platform: MachineModel, blocks: Sequence[Block], timestep: float, token: str, fmi: int
) -> str:
    """Return the header `machine.h` with the numbers of a machine, exact to the last bit."""
    rows = platform.constants.legs.rows
    n = platform.n_actuators
    variables = [variable for block in blocks for variable in block.variables]
    first_reference, lines = 0, []
    for block in blocks:
        lines.append(f"#define {block.macro} {first_reference}")
        first_reference += len(block.variables)
    n_states = sum(len(block.variables) for block in blocks if block.macro == "STATE")
    memory_length = memory_size(type(platform.constants.legs), n, n_states)
    names = ", ".join(f'"{variable.name}"' for variable in variables)
    return "\n".join(
        [
            f"#define FMI {fmi}",
            f'#define TOKEN "{token}"',
            f"#define LEGS {n}",
            f"#define STEP {timestep.hex()}",
            f"#define MEMORY {memory_length}",
            f"#define NUMBERS {len(variables)}",
            *lines,
            _array("BODY", platform.constants.body),
            _array("ROWS", rows.ravel()),
            _array("START_VALUES", (variable.start for variable in variables)),
            f"static const char *const NAMES[] = {{{names}}};",
            "",
        ]
    )


def _array(name: str, values: Iterable[float] | FloatArray) -> str:
    hex_values = ", ".join(float(value).hex() for value in values)
    return f"static const double {name}[] = {{{hex_values}}};"


def write_unit(
    platform: MachineModel, folder: str | Path, fmi: int = 3, timestep: Any = None
) -> Path:
    """Write `NAME.fmu`, a co-simulation unit with the equations of the analytic engine.

    Args:
        platform: the machine; the file is named after it.
        folder: where the file goes; it is made if need be.
        fmi: version of FMI, 2 or 3.
        timestep: longest integration step [s], default 1 ms, less with stiff springs.

    Returns:
        The file, which is replaced at once.

    Raises:
        InputError: another version, a time step that is too long, a folder that cannot be written
            to, or a system for which no units are made.
        MissingDependencyError: there is no compiler of C.
        SingularPoseError: home is singular.
    """
    as_model(platform)
    if type(fmi) is not int or fmi not in FMI_VERSIONS:
        raise InputError("fmi", f"must be 2 or 3, got {brief(fmi)}")
    with without_compiling():
        step = suitable_timestep(platform)
        if timestep is not None:
            step = positive(timestep, "timestep")
            check_timestep(platform, step, "a unit", "rk4")
        blocks = unit_blocks(platform)
    unit = Unit(
        platform.name,
        _token(platform, step, fmi),
        platform.parameters.title,
        step,
    )
    files = {
        "modelDescription.xml": description(unit, blocks, fmi),
        f"binaries/{target().folders[fmi]}/{unit.name}.so": compile_library(
            platform, blocks, step, unit.token, fmi
        ),
    }
    with new_folder(folder, "folder") as unit_folder:
        packed = _zipped(files)
        return write_atomically(
            unit_folder / f"{platform.name}.fmu", lambda file: file.write(packed)
        )


def _token(platform: MachineModel, step: float, fmi: int) -> str:
    """Return the token by which description and library belong to the same unit."""
    parts = (platform.name, platform.hash, step.hex(), str(fmi), __version__)
    digest = hashlib.sha256("\n".join(parts).encode() + UNIT_SOURCE.read_bytes()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def _zipped(files: dict[str, bytes]) -> bytes:
    """Return an archive of files by their paths."""
    archive_bytes = BytesIO()
    with ZipFile(archive_bytes, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = ZipInfo(name, ARCHIVE_DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, ZIP_DEFLATED)
    return archive_bytes.getvalue()
