"""A machine as a file for other simulators: a co-simulation unit of FMI."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from twin import __version__
from twin.basics.arrays import positive
from twin.basics.files import new_folder, write_atomically
from twin.engines.fmu.description import Unit, description
from twin.engines.fmu.library import SOURCE, compile_library
from twin.engines.fmu.native import target
from twin.engines.fmu.variables import unit_blocks
from twin.engines.stability import check_timestep, suitable_timestep
from twin.errors import InputError, brief
from twin.model.evaluation import without_compiling
from twin.model.machine_model import MachineModel, as_model

VERSIONS = (2, 3)
"""Of FMI."""

DATE = (1980, 1, 1, 0, 0, 0)
"""Of all files in a unit, so that the same machine gives the same bytes."""


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
    if type(fmi) is not int or fmi not in VERSIONS:
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
    with new_folder(folder, "folder") as place:
        packed = _zipped(files)
        return write_atomically(place / f"{platform.name}.fmu", lambda file: file.write(packed))


def _token(platform: MachineModel, step: float, fmi: int) -> str:
    """Return what marks description and library as of the same unit."""
    parts = (platform.name, platform.hash, step.hex(), str(fmi), __version__)
    known = hashlib.sha256("\n".join(parts).encode() + SOURCE.read_bytes()).hexdigest()
    return f"{known[:8]}-{known[8:12]}-{known[12:16]}-{known[16:20]}-{known[20:32]}"


def _zipped(files: dict[str, bytes]) -> bytes:
    """Return an archive of files by their paths."""
    memory = BytesIO()
    with ZipFile(memory, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = ZipInfo(name, DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, ZIP_DEFLATED)
    return memory.getvalue()
