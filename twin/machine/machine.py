"""The whole platform.toml: its tables fit together, the legs reach home and hold the platform."""

from __future__ import annotations

import numpy as np
from pydantic import model_validator

from twin.basics.arrays import FloatArray
from twin.machine.description import MachineDescription
from twin.machine.legs.leg import COINCIDENT
from twin.machine.mobility import dependent_rows, free_motions, in_words, scaled
from twin.machine.table import problem
from twin.machine.variant import check_variants

FEWEST, MOST = 3, 8
"""Legs of a machine."""


class MachineParameters(MachineDescription):
    """Everything a platform.toml says about one machine."""

    @model_validator(mode="after")
    def _consistent(self) -> MachineParameters:
        check_machine(self)
        return self


def check_machine(machine: MachineDescription) -> None:
    """Raise a problem that names the field to change unless the machine can be at home."""
    _check_joints(machine)
    count = len(machine.base.joints.points)
    check_variants(machine.variant, count)
    machine.leg.check_together(tuple(machine.leg_tables()), machine.home_places)
    for leg, place in zip(machine.legs, machine.home_places, strict=True):
        found = leg.home_problem(place)
        if found is not None:
            table = machine.leg_table(place.number)
            field = found.field[1:] if found.field[0] == "." else f"{table}.{found.field}"
            raise problem(field, f"leg {place.number}: {found.message}")
    if count < machine.leg.dof:
        _check_mobility(machine)
    _check_reach(machine)
    _check_mobility(machine)


def _check_joints(machine: MachineDescription) -> None:
    base, top = machine.base.joints.points, machine.platform.joints.points
    if len(base) != len(top):
        raise problem(
            "platform.joints", f"{len(top)} points, but the base has {len(base)}; one per leg"
        )
    if not FEWEST <= len(base) <= MOST:
        raise problem(
            "base.joints", f"a machine has {FEWEST} to {MOST} legs, one per joint, got {len(base)}"
        )
    ends = (("base.joints", _places(base)), ("platform.joints", _places(top)))
    for field, places in ends:
        if len(set(places)) < FEWEST:
            raise problem(
                field,
                f"its {len(places)} joints lie in {len(set(places))} different points (legs at "
                f"each: {_sharing(places)}); legs may share a point, but {FEWEST} points are the "
                "least that hold a platform",
            )
    pairs = list(zip(*(places for _, places in ends), strict=True))
    for number, pair in enumerate(pairs):
        first = pairs.index(pair)
        if first < number:
            raise problem(
                "platform.joints",
                f"legs {first + 1} and {number + 1} join the same two points; two legs may share "
                "one end, not both: list the joints of one side in another order, or move one",
            )


def _places(points: FloatArray) -> list[int]:
    """Return for every point the index of the first one in the same place."""
    near = np.linalg.norm(points[:, None] - points, axis=2) < COINCIDENT
    return [int(i) for i in near.argmax(axis=1)]


def _sharing(places: list[int]) -> str:
    groups = [
        [str(i + 1) for i, place in enumerate(places) if place == k] for k in sorted(set(places))
    ]
    return "; ".join(", ".join(group) for group in groups)


def _check_reach(machine: MachineDescription) -> None:
    coordinates = machine.home_coordinates
    listed = ", ".join(f"{value:.6g}" for value in coordinates)
    for number, (leg, value) in enumerate(zip(machine.legs, coordinates, strict=True), start=1):
        actuator = leg.actuator
        if not actuator.minimum <= value <= actuator.maximum:
            unit, table = actuator.coordinate_unit, machine.leg_table(number)
            raise problem(
                "home.position",
                f"leg {number} cannot reach home: its {leg.coordinate} would be {value:.6g} "
                f"{unit}, its actuator ({table}.actuator) goes from {actuator.minimum:.6g} to "
                f"{actuator.maximum:.6g} {unit} (all legs at home: {listed} {unit}; check units, "
                "the height of home, and that joints are listed in the same order)",
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
        "home, turn it, or place the joints differently",
    )
