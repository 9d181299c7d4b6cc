"""The whole platform.toml: its tables fit together, the legs reach home and hold the platform."""

from __future__ import annotations

from pydantic import model_validator

from twin.machine.description import MachineDescription
from twin.machine.layout.home_pose import at_home, check_legs
from twin.machine.layout.joint_pairs import check_joints, paired, shift_hint
from twin.machine.mobility import dependent_rows, free_motions, in_words, scaled
from twin.machine.table import problem
from twin.machine.variant import check_variants


class MachineParameters(MachineDescription):
    """Everything a platform.toml says about one machine."""

    @model_validator(mode="after")
    def _consistent(self) -> MachineParameters:
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
    machine.leg.check_together(tuple(machine.leg_tables()), machine.home_places)
    check_legs(machine)
    if count < machine.leg.dof:
        _check_mobility(machine)
    _check_reach(machine)
    _check_mobility(machine)


def _check_reach(machine: MachineDescription) -> None:
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
    """Refuse machines whose legs and constraints leave the platform a motion at home."""
    length = machine.mean_arm
    rows = scaled(machine.home_rows, length)
    motions = free_motions(rows)
    if not len(motions):
        return
    count, least = len(machine.legs), machine.leg.dof
    free = f"nothing holds {', or '.join(in_words(motions, length))}"
    same = ", ".join(str(i + 1) for i in dependent_rows(rows) if i < count)
    if count < least:
        raise problem(
            "base.joints",
            f"{count} legs of kind {machine.leg.kind!r} leave {len(motions)} of the platform's "
            f"{least} degrees of freedom free: at home {free}. Add legs: {least} are the least"
            + (f". Legs {same} do not act independently there" if same else ""),
        )
    raise problem(
        "home.position",
        f"home is a singular pose: {free}, as legs {same} do not act independently there. Move "
        "home, turn it, or place the joints differently" + shift_hint(machine),
    )
