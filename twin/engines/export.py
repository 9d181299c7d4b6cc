"""Models of a machine as files, generated from its parameters: MJCF, URDF or a unit of FMI."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from twin.basics.arrays import one_of
from twin.basics.files import new_folder, write_text
from twin.engines.mechanism import check_masses, make_mechanism
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model

EXPORT_FORMATS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "mjcf": (
        ("robot.xml", "twin.engines.mjcf.robot", "robot_xml"),
        ("scene.xml", "twin.engines.mjcf.robot", "scene_xml"),
    ),
    "urdf": (("robot.urdf", "twin.engines.urdf", "robot_urdf"),),
    "fmu": (),
}
"""Format -> its text files, each with the module and the function that writes it.

A unit of FMI is no text; `write_unit` writes it.
"""


def export(platform: MachineModel, form: str, folder: str | Path, **options: Any) -> list[Path]:
    """Write the model files of one format; returns their paths.

    The folder is made if need be. Files of these names are replaced, each at once; nothing else
    in the folder is touched.

    Args:
        platform: the machine.
        form: "mjcf" (robot.xml, scene.xml), "urdf" (robot.urdf) or "fmu" (NAME.fmu).
        folder: where the files go.
        options: of a unit, see `twin.engines.fmu.unit.write_unit`; the others have none.

    Raises:
        InputError: unknown format or option, a platform too light for engines, or a folder that
            cannot be made or written to; others see `write_unit`.

    Warns:
        TwinWarning: parts of legs that the files give the least mass of an engine.
    """
    one_of(form, "format", EXPORT_FORMATS)
    as_model(platform)
    if form == "fmu":
        from twin.engines.fmu.unit import write_unit

        return [write_unit(platform, folder, **options)]
    if options:
        raise InputError(", ".join(options), "only for co-simulation units, the format fmu")
    engine = "mujoco" if form == "mjcf" else "bullet"
    check_masses(make_mechanism(platform.parameters), platform.parameters, engine)
    texts = {
        name: _writer(module, function)(platform) for name, module, function in EXPORT_FORMATS[form]
    }
    with new_folder(folder, "folder") as export_folder:
        return [write_text(export_folder / name, text) for name, text in texts.items()]


def _writer(module: str, function: str) -> Callable[[MachineModel], str]:
    writer: Any = getattr(import_module(module), function)
    return writer  # type: ignore[no-any-return]
