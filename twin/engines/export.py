"""Models of a machine as files, generated from its parameters: MJCF, URDF, FMI or C source."""

from __future__ import annotations

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
        ("robot.xml", "twin.engines.mjcf", "robot_xml"),
        ("scene.xml", "twin.engines.mjcf", "scene_xml"),
    ),
    "urdf": (("robot.urdf", "twin.engines.urdf", "robot_urdf"),),
    "fmu": (),
    "c": (),
}
"""Format -> its text files, each with the module and the function that writes it.

`write_unit` writes units of FMI, and `write_source` C source.
"""

FORMAT_OPTIONS = {"fmu": {"fmi", "timestep"}, "c": {"precision"}}
"""Format -> names of its options; the others have none."""


def export(platform: MachineModel, form: str, folder: str | Path, **options: Any) -> list[Path]:
    """Write the model files of one format; returns their paths.

    The folder is made if need be. Files of these names are replaced, each at once; nothing else
    in the folder is touched.

    Args:
        platform: the machine.
        form: "mjcf" (robot.xml, scene.xml), "urdf" (robot.urdf), "fmu" (NAME.fmu) or "c"
            (NAME_kinematics.c and .h).
        folder: where the files go.
        options: of a unit, see `twin.engines.fmu.unit.write_unit`, or of C source, see
            `twin.engines.firmware.source.write_source`; the others have none.

    Raises:
        InputError: unknown format or option, a platform too light for engines, or a folder that
            cannot be made or written to; others see `write_unit`.

    Warns:
        TwinWarning: parts of legs that the files give the least mass of an engine.
    """
    one_of(form, "format", EXPORT_FORMATS)
    as_model(platform)
    unknown = options.keys() - FORMAT_OPTIONS.get(form, set())
    if unknown:
        raise InputError(", ".join(sorted(unknown)), f"the format {form} has no such option")
    if form == "fmu":
        from twin.engines.fmu.unit import write_unit

        return [write_unit(platform, folder, **options)]
    if form == "c":
        from twin.engines.firmware.source import write_source

        return write_source(platform, folder, **options)
    engine = "mujoco" if form == "mjcf" else "bullet"
    check_masses(make_mechanism(platform.parameters), platform.parameters, engine)
    texts = {
        name: getattr(import_module(module), function)(platform)
        for name, module, function in EXPORT_FORMATS[form]
    }
    with new_folder(folder, "folder") as export_folder:
        return [write_text(export_folder / name, text) for name, text in texts.items()]
