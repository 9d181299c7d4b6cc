"""Solution of home: the pose in which all actuators have given coordinates."""

from __future__ import annotations

import numpy as np
from pydantic_core import PydanticCustomError

from twin.basics.arrays import FloatArray, turned
from twin.machine.description import AnyMachine, MachineDescription
from twin.machine.layout.joints import (
    NEAREST_ORDER,
    Home,
    PairedCircle,
    PointList,
    Polar,
    coincident_indices,
    nearest_order,
    nearest_shift,
)
from twin.machine.legs.leg import COINCIDENCE_DISTANCE
from twin.machine.quantity import problem

TRIAL_HEIGHTS = 60
"""Number of heights above the base that are tried."""

BISECTION_STEPS = 20
"""Number of halvings of the step between two of these heights; Newton's method does the rest."""

MAX_ITERATIONS = 60

POSE_TOLERANCE = 1e-10
"""Error of a coordinate that counts as solved, as a fraction of the legs' reach or in rad."""

POSE_DECIMALS = 12
"""Decimal places of a solved pose: more would be rounding."""


MIN_LEGS = 3
"""Minimum number of legs of a machine."""

MAX_LEGS = 8
"""Maximum number of legs of a machine."""


def paired(machine: AnyMachine) -> AnyMachine:
    """Return the machine with the joints' order found where the file leaves it open.

    Two paired circles without a `shift` are rotated for the shortest legs; so is a platform whose
    `order` is 'nearest'. Where several rotations are equally good, the lists stay as they are.
    """
    base, top = machine.base.joints, machine.platform.joints
    if isinstance(base, (Polar, PointList)) and base.order == NEAREST_ORDER:
        raise problem(
            "base.joints.order", f"'{NEAREST_ORDER}' is for the platform; list numbers here"
        )
    ends = base.points, top.points @ machine.home_rotation.T
    update: dict[str, object] = {}
    if isinstance(top, PairedCircle):
        open_ = isinstance(base, PairedCircle) and base.shift is None and top.shift is None
        shift = nearest_shift(*ends, COINCIDENCE_DISTANCE) if open_ else top.shift
        update = {"shift": shift or 0}
    elif top.order == NEAREST_ORDER and len(ends[0]) == len(ends[1]):
        order = nearest_order(*ends, COINCIDENCE_DISTANCE)
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
    shift = nearest_shift(base.points, plain, COINCIDENCE_DISTANCE)
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
    if not MIN_LEGS <= len(base) <= MAX_LEGS:
        raise problem(
            "base.joints",
            f"a machine has {MIN_LEGS} to {MAX_LEGS} legs, one per joint, got {len(base)}",
        )
    ends = [
        ("base.joints", coincident_indices(base, COINCIDENCE_DISTANCE)),
        ("platform.joints", coincident_indices(top, COINCIDENCE_DISTANCE)),
    ]
    for field, indices in ends:
        if len(set(indices)) < MIN_LEGS:
            raise problem(
                field,
                f"its {len(indices)} joints lie in {len(set(indices))} different points (legs at "
                f"each: {_sharing(indices)}); legs may share a point, but {MIN_LEGS} points are "
                "the least that hold a platform",
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


def at_home(machine: AnyMachine) -> AnyMachine:
    """Return the machine with its home solved, where the file gives no pose.

    Raises:
        PydanticCustomError: no pose has these coordinates, with what to change.
    """
    home = machine.home
    if not home.derived:
        return machine
    target = _target(machine)
    if home.has_start:
        start = np.array([*home.position, *home.orientation])
    else:
        start = _above(machine, target)
    pose = _newton(machine, start, target)
    pose = np.round(pose, POSE_DECIMALS) + 0.0
    pose[3:] /= np.linalg.norm(pose[3:])
    update = {"position": tuple(pose[:3].tolist()), "orientation": tuple(pose[3:].tolist())}
    return machine.model_copy(update={"home": home.model_copy(update=update)})


def _target(machine: MachineDescription) -> FloatArray:
    """Return the actuator coordinates `(n,)` at home."""
    home, legs = machine.home, machine.legs
    if home.at is not None:
        return np.array([(leg.actuator.minimum + leg.actuator.maximum) / 2 for leg in legs])
    name, values = ("lengths", home.lengths) if home.lengths else ("angles", home.angles)
    own = "angles" if machine.leg.actuator.coordinate_unit == "rad" else "lengths"
    if name != own:
        raise problem(f"home.{name}", f"legs of kind {machine.leg.kind!r} need `{own}`")
    if values is None or len(values) not in (1, len(legs)):
        raise problem(f"home.{name}", f"give one for all legs, or {len(legs)}, one per leg")
    return np.array(np.broadcast_to(values, len(legs)))


def _coordinates(machine: MachineDescription, pose: FloatArray) -> FloatArray:
    """Return the actuator coordinates `(n,)` at a pose; NaN of legs that do not reach it."""
    moved = machine.model_copy(update={"home": _home(machine.home, pose)})
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array(moved.home_coordinates)


def _home(home: Home, pose: FloatArray) -> Home:
    update = {"position": tuple(pose[:3]), "orientation": tuple(pose[3:])}
    return home.model_copy(update=update)


def _above(machine: MachineDescription, target: FloatArray) -> FloatArray:
    """Return the highest pose straight above the base whose mean coordinate is that of `target`."""
    base, top = machine.base.joints.points, machine.platform.joints.points
    turn = np.array(machine.home.orientation)
    middle = base.mean(axis=0) - (top @ machine.home_rotation.T).mean(axis=0)
    reach = max(leg.reach for leg in machine.legs)

    def excess(height: float) -> float:
        pose = np.array([*middle[:2], middle[2] + height, *turn])
        return float((_coordinates(machine, pose) - target).mean())

    heights = np.linspace(1.001 * reach, 1e-3 * reach, TRIAL_HEIGHTS)
    values = np.array([excess(float(height)) for height in heights])
    crossings = np.flatnonzero(values[:-1] * values[1:] <= 0.0)
    if not len(crossings):
        raise _no_height(machine, heights, values + target.mean(), float(target.mean()))
    first = int(crossings[0])
    low, high = float(heights[first + 1]), float(heights[first])
    for _ in range(BISECTION_STEPS):
        between = 0.5 * (low + high)
        low, high = (between, high) if excess(between) * values[first] <= 0.0 else (low, between)
    return np.array([*middle[:2], middle[2] + low, *turn])


def _no_height(
    machine: MachineDescription, heights: FloatArray, values: FloatArray, target: float
) -> PydanticCustomError:
    leg, unit = machine.leg, machine.leg.actuator.coordinate_unit
    known = np.isfinite(values)
    target_text = f"a mean {leg.coordinate} of {target:.6g} {unit}"
    if not known.any():
        check_legs(machine, of_home=False)
        return problem(
            "home",
            "no pose straight above the base is in reach of all legs, so none has "
            f"{target_text}; check the order of the joints, radii and units",
        )
    low, high = values[known].min(), values[known].max()
    span = f"{heights[known].min():.4g} to {heights[known].max():.4g} m"
    return problem(
        "home",
        f"no pose straight above the base has {target_text}: between heights of {span} it goes "
        f"from {low:.6g} to {high:.6g} {unit}. Change the actuators' range or the radii, "
        + ("take the other `branch`, " if leg.has_crank else "")
        + "or give home.position",
    )


def _newton(machine: MachineDescription, start: FloatArray, target: FloatArray) -> FloatArray:
    """Return the pose near `start` with the coordinates of `target`: damped Gauss-Newton."""
    scale = 1.0
    if machine.leg.actuator.coordinate_unit == "m":
        scale = max(leg.reach for leg in machine.legs)
    pose, length = start, machine.mean_arm
    error = target - _coordinates(machine, pose)
    if np.isnan(error).any():
        numbers = ", ".join(str(i + 1) for i in np.flatnonzero(np.isnan(error)))
        raise problem(
            "home.position", f"legs {numbers} cannot reach it; the search for home starts there"
        )
    for _ in range(MAX_ITERATIONS):
        worst = float(np.abs(error).max())
        if worst < 1e-14 * scale:
            break
        moved = machine.model_copy(update={"home": _home(machine.home, pose)})
        rows = moved.home_jacobian / np.repeat([1.0, length], 3)
        step = np.linalg.lstsq(rows, error, rcond=1e-9)[0] / np.repeat([1.0, length], 3)
        for damping in 0.5 ** np.arange(12):
            tried = turned(pose, damping * step)
            found = target - _coordinates(machine, tried)
            if np.abs(found).max() < worst:
                break
        else:
            break
        pose, error = tried, found
    return _checked(machine, pose, error, POSE_TOLERANCE * scale)


def check_legs(machine: MachineDescription, *, of_home: bool = True) -> None:
    """Raise the first problem of a leg at home; without those of the pose itself if need be."""
    for leg, place in zip(machine.legs, machine.home_places, strict=True):
        found = leg.home_problem(place)
        if found is not None and (of_home or found.field[0] != "."):
            table = machine.leg_table(place.number)
            field = found.field[1:] if found.field[0] == "." else f"{table}.{found.field}"
            raise problem(field, f"leg {place.number}: {found.message}")


def _checked(
    machine: MachineDescription, pose: FloatArray, error: FloatArray, tolerance: float
) -> FloatArray:
    """Return the pose if the legs have their coordinates there."""
    unit, worst = machine.leg.actuator.coordinate_unit, int(np.abs(error).argmax())
    if abs(error[worst]) > tolerance:
        raise problem(
            "home",
            f"no pose gives all legs their {machine.leg.coordinate} at home: in the nearest one "
            f"that of leg {worst + 1} is off by {abs(error[worst]):.6g} {unit}. Give "
            "home.position to start the search elsewhere, other coordinates, "
            + ("the other `branch`, " if machine.leg.has_crank else "")
            + "or the pose itself",
        )
    return pose
