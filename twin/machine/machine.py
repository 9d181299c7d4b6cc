"""A machine, and the catalogue of machines."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from pydantic import model_validator

from twin.errors import InputError, MachineNotFoundError, brief
from twin.machine.description import MachineDescription, check_variants
from twin.machine.layout.home_pose import at_home, check_joints, check_legs, paired, shift_hint
from twin.machine.mobility import dependent_rows, describe_twists, free_motions, scaled
from twin.machine.quantity import problem


class MachineParameters(MachineDescription):
    """Everything a platform.toml says about one machine."""

    @model_validator(mode="after")
    def _consistent(self) -> MachineParameters:
        """Return the machine at home, with its joints paired, or raise what is wrong."""
        count = len(self.base.joints.points)
        machine = paired(self)
        check_joints(machine)
        check_variants(machine.variant, count)
        machine.leg.check_lists(tuple(machine.leg_tables()), count)
        machine = at_home(machine)
        check_machine(machine)
        return machine


def check_machine(machine: MachineDescription) -> None:
    """Raise a problem that names the field to change unless the machine can be at home."""
    count = len(machine.legs)
    machine.leg.check_together(tuple(machine.leg_tables()), machine.home_leg_geometry)
    check_legs(machine)
    if count < machine.leg.dof:
        _check_mobility(machine)
    _check_reach(machine)
    _check_mobility(machine)
    if machine.leg.dof < 6:
        _check_height_and_tilt(machine)


def _check_reach(machine: MachineDescription) -> None:
    """Raise a problem if an actuator is out of its range at home."""
    coordinates = machine.home_coordinates
    listed = ", ".join(f"{value:.6g}" for value in coordinates)
    for number, (leg, value) in enumerate(zip(machine.legs, coordinates, strict=True), start=1):
        actuator = leg.actuator
        if not actuator.minimum <= value <= actuator.maximum:
            unit, table = actuator.coordinate_unit, machine.leg_table(number)
            raise problem(
                "home" if machine.home.derived else "home.position",
                f"leg {number} cannot reach home: its {leg.coordinate} would be {value:.6g} "
                f"{unit}, its actuator ({table}.actuator) goes from {actuator.minimum:.6g} to "
                f"{actuator.maximum:.6g} {unit} (all legs at home: {listed} {unit}; check units, "
                "the height of home, and that joints are listed in the same order)"
                + shift_hint(machine),
            )


def _check_mobility(machine: MachineDescription) -> None:
    """Raise a problem if legs and constraints leave the platform free to move at home."""
    length = machine.mean_arm
    rows = scaled(machine.home_rows, length)
    motions = free_motions(rows)
    if not len(motions):
        return
    count, dof = len(machine.legs), machine.leg.dof
    free_text = f"nothing holds {', or '.join(describe_twists(motions, length))}"
    dependent_legs = ", ".join(str(i + 1) for i in dependent_rows(rows) if i < count)
    if count < dof:
        raise problem(
            "base.joints",
            f"{count} legs of kind {machine.leg.kind!r} leave {len(motions)} of the platform's "
            f"{dof} degrees of freedom free: at home {free_text}. Add legs: {dof} are the least"
            + (f". Legs {dependent_legs} do not act independently there" if dependent_legs else ""),
        )
    cause = (
        f"as legs {dependent_legs} do not act independently there"
        if dependent_legs
        else "nor do the joints"
    )
    raise problem(
        "home.position",
        f"home is a singular pose: {free_text}, {cause}. Move home, turn it, or place the joints "
        "differently" + shift_hint(machine),
    )


def _check_height_and_tilt(machine: MachineDescription) -> None:
    """Raise a problem if height, roll and pitch do not settle the rest of the pose at home."""
    length, rotation = machine.mean_arm, machine.home_rotation
    held_motions = np.zeros((3, 6))
    held_motions[0, 2], held_motions[1:, 3:] = 1.0, rotation.T[:2]
    motions = free_motions(np.vstack([scaled(machine.home_constraints, length), held_motions]))
    if len(motions):
        raise problem(
            "home.position",
            "height, roll and pitch do not settle the pose at home, where "
            f"{', or '.join(describe_twists(motions, length))} remains possible: the z axis of the "
            "base must point to where the machine lifts. Turn the base's frame",
        )


@lru_cache(maxsize=1)
def assets_folder() -> Path:
    """Return the folder that holds the shipped machines; the one place that resolves it."""
    import twin.assets

    return Path(next(iter(twin.assets.__path__)))


def machine_names() -> tuple[str, ...]:
    """Return the names of the shipped machines, sorted."""
    return tuple(sorted(path.parent.name for path in assets_folder().glob("*/platform.toml")))


def gallery_names() -> tuple[str, ...]:
    """Return the names of the machines of the gallery, sorted."""
    return tuple(sorted(path.stem for path in _gallery_folder().glob("*.toml")))


def parameters_path(machine: str | Path) -> Path:
    """Return the file of a shipped machine or of the gallery, or the given path if it is a file.

    Raises:
        InputError: not a name or path.
        MachineNotFoundError: not a known name and not a file.
    """
    if not isinstance(machine, (str, Path)) or not str(machine) or "\0" in str(machine):
        raise InputError(
            "machine", f"must be a name or the path of a platform.toml, not {brief(machine)}"
        )
    if machine in machine_names():
        return assets_folder() / machine / "platform.toml"
    if machine in gallery_names():
        return _gallery_folder() / f"{machine}.toml"
    try:
        path = Path(machine).expanduser()
        is_file = path.is_file()
    except (OSError, RuntimeError):
        # A name too long for the file system, or the home folder of a user that does not exist.
        is_file = False
    if not is_file:
        raise MachineNotFoundError(str(machine), machine_names(), gallery_names())
    return path


def _gallery_folder() -> Path:
    return assets_folder() / "gallery"
