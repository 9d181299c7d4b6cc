"""Shared library of a unit: machine code of the kernels, the interface in C, and the machine."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from twin.basics.arrays import FloatArray
from twin.engines.fmu.kernels.unit import memory_size
from twin.engines.fmu.native import object_code
from twin.engines.fmu.variables import Block
from twin.errors import MissingDependencyError, StateError
from twin.model.machine_model import MachineModel

SOURCE = Path(__file__).with_name("unit.c")
OPTIONS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-s")
EXPORTS = "{ global: fmi*; local: *; };"
"""Names that the library shows; those of kernels stay inside."""


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
        place = Path(folder)
        header = machine_header(platform, blocks, timestep, token, fmi)
        (place / "machine.h").write_text(header, encoding="utf-8")
        code = object_code(type(constants.legs), constants.legs.rows.shape[1])
        (place / "kernels.o").write_bytes(code)
        (place / "exports").write_text(EXPORTS, encoding="utf-8")
        files = [str(SOURCE), "kernels.o", f"-I{folder}", "-lm", "-o", "unit.so"]
        link = ["-shared", "-Wl,--version-script=exports", "-Wl,--no-undefined"]
        arguments = [*command, *OPTIONS, *link, *files]
        done = subprocess.run(arguments, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise StateError(f"{command[0]} cannot compile the unit: {done.stderr.strip()[-2000:]}")
        return (place / "unit.so").read_bytes()


def compiler() -> list[str]:
    """Return the command of the compiler of C: that of the variable CC, else `cc` or `gcc`.

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
    first, lines = 0, []
    for block in blocks:
        lines.append(f"#define {block.macro} {first}")
        first += len(block.variables)
    state = sum(len(block.variables) for block in blocks if block.macro == "STATE")
    memory = memory_size(type(platform.constants.legs), n, state)
    names = ", ".join(f'"{variable.name}"' for variable in variables)
    return "\n".join(
        [
            f"#define FMI {fmi}",
            f'#define TOKEN "{token}"',
            f"#define LEGS {n}",
            f"#define STEP {timestep.hex()}",
            f"#define MEMORY {memory}",
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
    numbers = ", ".join(float(value).hex() for value in values)
    return f"static const double {name}[] = {{{numbers}}};"
