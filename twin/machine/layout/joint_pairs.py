"""Joints of base and platform as the ends of legs: found where left open, and checked."""

from __future__ import annotations

from twin.machine.description import AnyMachine, MachineDescription
from twin.machine.layout.joints import NEAREST, PointList, Polar
from twin.machine.layout.paired_circle import PairedCircle
from twin.machine.layout.pairing import nearest_order, nearest_shift, places
from twin.machine.legs.leg import COINCIDENT
from twin.machine.table import problem

FEWEST, MOST = 3, 8
"""Legs of a machine."""


def paired(machine: AnyMachine) -> AnyMachine:
    """Return the machine with the joints' order found where the file leaves it open.

    Two paired circles without a `shift` are rotated for the shortest legs; so is a platform whose
    `order` is 'nearest'. Where several rotations are equally good, the lists stay as they are.
    """
    base, top = machine.base.joints, machine.platform.joints
    if isinstance(base, (Polar, PointList)) and base.order == NEAREST:
        raise problem("base.joints.order", f"'{NEAREST}' is for the platform; list numbers here")
    ends = base.points, top.points @ machine.home_rotation.T
    update: dict[str, object] = {}
    if isinstance(top, PairedCircle):
        open_ = isinstance(base, PairedCircle) and base.shift is None and top.shift is None
        shift = nearest_shift(*ends, COINCIDENT) if open_ else top.shift
        update = {"shift": shift or 0}
    elif top.order == NEAREST and len(ends[0]) == len(ends[1]):
        order = nearest_order(*ends, COINCIDENT)
        if order is None:
            raise problem(
                "platform.joints.order",
                "no order gives shorter legs than all others; list the numbers of the joints",
            )
        update = {"order": tuple(int(i) + 1 for i in order)}
    if isinstance(base, PairedCircle) and base.shift is None:
        machine = _with_joints(machine, "base", {"shift": 0})
    return _with_joints(machine, "platform", update)


def shift_hint(machine: MachineDescription) -> str:
    """Return a sentence on the `shift` with the shortest legs; empty where it is the present one.

    Another one than the shortest twists all legs the same way, or crosses them.
    """
    base, top = machine.base.joints, machine.platform.joints
    if not (isinstance(base, PairedCircle) and isinstance(top, PairedCircle)):
        return ""
    plain = top.model_copy(update={"shift": 0}).points @ machine.home_rotation.T
    shift = nearest_shift(base.points, plain, COINCIDENT)
    if shift is None or shift == top.shift:
        return ""
    return f" (platform.joints.shift = {shift} gives the shortest legs, in place of {top.shift})"


def _with_joints(machine: AnyMachine, side: str, update: dict[str, object]) -> AnyMachine:
    table = getattr(machine, side)
    joints = table.joints.model_copy(update=update)
    return machine.model_copy(update={side: table.model_copy(update={"joints": joints})})


def check_joints(machine: MachineDescription) -> None:
    """Raise a problem unless the joints are the ends of legs that can hold a platform."""
    base, top = machine.base.joints.points, machine.platform.joints.points
    if len(base) != len(top):
        raise problem(
            "platform.joints", f"{len(top)} points, but the base has {len(base)}; one per leg"
        )
    if not FEWEST <= len(base) <= MOST:
        raise problem(
            "base.joints", f"a machine has {FEWEST} to {MOST} legs, one per joint, got {len(base)}"
        )
    ends = [("base.joints", places(base, COINCIDENT)), ("platform.joints", places(top, COINCIDENT))]
    for field, indices in ends:
        if len(set(indices)) < FEWEST:
            raise problem(
                field,
                f"its {len(indices)} joints lie in {len(set(indices))} different points (legs at "
                f"each: {_sharing(indices)}); legs may share a point, but {FEWEST} points are the "
                "least that hold a platform",
            )
    pairs = list(zip(*(indices for _, indices in ends), strict=True))
    for number, pair in enumerate(pairs):
        first = pairs.index(pair)
        if first < number:
            raise problem(
                "platform.joints",
                f"legs {first + 1} and {number + 1} join the same two points; two legs may share "
                "one end, not both: list the joints of one side in another order, or move one"
                + shift_hint(machine),
            )


def _sharing(indices: list[int]) -> str:
    groups = [
        ", ".join(str(i + 1) for i, place in enumerate(indices) if place == k)
        for k in sorted(set(indices))
    ]
    return "; ".join(groups)
