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
"""Number of bisection steps between two trial heights; Newton's method refines the result."""

MAX_ITERATIONS = 60

POSE_TOLERANCE = 1e-10
"""Largest error of an actuator coordinate of a solved pose: as a fraction of the legs' reach, or in
rad.
"""

POSE_DECIMALS = 12
"""Decimal places of a solved pose: further ones are rounding error."""


MIN_LEGS = 3
"""Minimum number of legs of a machine."""

MAX_LEGS = 8
"""Maximum number of legs of a machine."""


def paired(machine: AnyMachine) -> AnyMachine:
    """Return the machine with the joints' order found where the file leaves it open.

    Two paired circles without a `shift` are rotated for the shortest legs; so is a platform whose
    `order` is 'nearest'. Where several rotations are equally good, the lists stay as they are.
    """
    base, platform = machine.base.joints, machine.platform.joints
    if isinstance(base, (Polar, PointList)) and base.order == NEAREST_ORDER:
        raise problem(
            "base.joints.order", f"'{NEAREST_ORDER}' is for the platform; list numbers here"
        )
    home_points = base.points, platform.points @ machine.home_rotation.T
    update: dict[str, object] = {}
    if isinstance(platform, PairedCircle):
        is_open = isinstance(base, PairedCircle) and base.shift is None and platform.shift is None
        shift = nearest_shift(*home_points, COINCIDENCE_DISTANCE) if is_open else platform.shift
        update = {"shift": shift or 0}
    elif platform.order == NEAREST_ORDER and len(home_points[0]) == len(home_points[1]):
        order = nearest_order(*home_points, COINCIDENCE_DISTANCE)
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
    """Return a hint at the `shift` with the shortest legs; empty where the file has that one.

    Another one than the shortest twists all legs the same way, or crosses them.
    """
    base, platform = machine.base.joints, machine.platform.joints
    if not (isinstance(base, PairedCircle) and isinstance(platform, PairedCircle)):
        return ""
    unshifted_points = platform.model_copy(update={"shift": 0}).points @ machine.home_rotation.T
    shift = nearest_shift(base.points, unshifted_points, COINCIDENCE_DISTANCE)
    if shift is None or shift == platform.shift:
        return ""
    return (
        f" (platform.joints.shift = {shift} gives the shortest legs, in place of {platform.shift})"
    )


def _with_joints(machine: AnyMachine, side: str, update: dict[str, object]) -> AnyMachine:
    table = getattr(machine, side)
    joints = table.joints.model_copy(update=update)
    return machine.model_copy(update={side: table.model_copy(update={"joints": joints})})


def check_joints(machine: MachineDescription) -> None:
    """Raise a problem unless base and platform list equally many, suitable joints."""
    base, platform_points = machine.base.joints.points, machine.platform.joints.points
    if len(base) != len(platform_points):
        raise problem(
            "platform.joints",
            f"{len(platform_points)} points, but the base has {len(base)}; one per leg",
        )
    if not MIN_LEGS <= len(base) <= MAX_LEGS:
        raise problem(
            "base.joints",
            f"a machine has {MIN_LEGS} to {MAX_LEGS} legs, one per joint, got {len(base)}",
        )
    indices_by_field = [
        ("base.joints", coincident_indices(base, COINCIDENCE_DISTANCE)),
        ("platform.joints", coincident_indices(platform_points, COINCIDENCE_DISTANCE)),
    ]
    for field, indices in indices_by_field:
        if len(set(indices)) < MIN_LEGS:
            raise problem(
                field,
                f"its {len(indices)} joints lie in {len(set(indices))} different points (legs at "
                f"each: {_sharing(indices)}); legs may share a point, but {MIN_LEGS} points are "
                "the least that hold a platform",
            )
    pairs = list(zip(*(indices for _, indices in indices_by_field), strict=True))
    for number, points in enumerate(pairs):
        first_leg = pairs.index(points)
        if first_leg < number:
            raise problem(
                "platform.joints",
                f"legs {first_leg + 1} and {number + 1} join the same two points; two legs "
                "may share one end, not both: list the joints of one side in another order, or "
                "move one" + shift_hint(machine),
            )


def _sharing(indices: list[int]) -> str:
    return "; ".join(
        ", ".join(str(i + 1) for i, point_index in enumerate(indices) if point_index == k)
        for k in sorted(set(indices))
    )


def at_home(machine: AnyMachine) -> AnyMachine:
    """Return the machine with its home solved, where the file gives no pose.

    Raises:
        PydanticCustomError: no pose has these coordinates, with what to change.
    """
    home = machine.home
    if not home.derived:
        return machine
    target = _target(machine)
    start = np.array([*home.position, *home.orientation])
    pose = _newton(machine, start if home.has_start else _above(machine, target), target)
    pose = np.round(pose, POSE_DECIMALS) + 0.0
    pose[3:] /= np.linalg.norm(pose[3:])
    return machine.model_copy(update={"home": _home(home, pose)})


def _target(machine: MachineDescription) -> FloatArray:
    """Return the actuator coordinates `(n,)` at home."""
    home, legs = machine.home, machine.legs
    if home.at is not None:
        return np.array([(leg.actuator.minimum + leg.actuator.maximum) / 2 for leg in legs])
    name, values = ("lengths", home.lengths) if home.lengths else ("angles", home.angles)
    coordinate_name = "angles" if machine.leg.actuator.coordinate_unit == "rad" else "lengths"
    if name != coordinate_name:
        raise problem(f"home.{name}", f"legs of kind {machine.leg.kind!r} need `{coordinate_name}`")
    if values is None or len(values) not in (1, len(legs)):
        raise problem(f"home.{name}", f"give one for all legs, or {len(legs)}, one per leg")
    return np.array(np.broadcast_to(values, len(legs)))


def _coordinates(machine: MachineDescription, pose: FloatArray) -> FloatArray:
    """Return the actuator coordinates `(n,)` at a pose; NaN of legs that do not reach it."""
    moved_machine = machine.model_copy(update={"home": _home(machine.home, pose)})
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array(moved_machine.home_coordinates)


def _home(home: Home, pose: FloatArray) -> Home:
    update = {"position": tuple(pose[:3].tolist()), "orientation": tuple(pose[3:].tolist())}
    return home.model_copy(update=update)


def _above(machine: MachineDescription, target: FloatArray) -> FloatArray:
    """Return the highest pose straight above the base whose mean coordinate is that of `target`."""
    base, platform_points = machine.base.joints.points, machine.platform.joints.points
    unit_quaternion = np.array(machine.home.orientation)
    mean_offset = base.mean(axis=0) - (platform_points @ machine.home_rotation.T).mean(axis=0)
    max_reach = max(leg.reach for leg in machine.legs)

    def excess(height: float) -> float:
        pose = np.array([*mean_offset[:2], mean_offset[2] + height, *unit_quaternion])
        return float((_coordinates(machine, pose) - target).mean())

    heights = np.linspace(1.001 * max_reach, 1e-3 * max_reach, TRIAL_HEIGHTS)
    values = np.array([excess(float(height)) for height in heights])
    crossings = np.flatnonzero(values[:-1] * values[1:] <= 0.0)
    if not len(crossings):
        raise _no_height(machine, heights, values + target.mean(), float(target.mean()))
    first_crossing = int(crossings[0])
    lower_height, upper_height = float(heights[first_crossing + 1]), float(heights[first_crossing])
    for _ in range(BISECTION_STEPS):
        middle_height = 0.5 * (lower_height + upper_height)
        lower_height, upper_height = (
            (middle_height, upper_height)
            if excess(middle_height) * values[first_crossing] <= 0.0
            else (lower_height, middle_height)
        )
    return np.array([*mean_offset[:2], mean_offset[2] + lower_height, *unit_quaternion])


def _no_height(
    machine: MachineDescription, heights: FloatArray, values: FloatArray, target: float
) -> PydanticCustomError:
    """Return the problem of a home that no height above the base gives."""
    leg, unit = machine.leg, machine.leg.actuator.coordinate_unit
    exists = np.isfinite(values)
    target_text = f"a mean {leg.coordinate} of {target:.6g} {unit}"
    if not exists.any():
        check_legs(machine, of_home=False)
        return problem(
            "home",
            "no pose straight above the base is in reach of all legs, so none has "
            f"{target_text}; check the order of the joints, radii and units",
        )
    low, high = values[exists].min(), values[exists].max()
    span = f"{heights[exists].min():.4g} to {heights[exists].max():.4g} m"
    return problem(
        "home",
        f"no pose straight above the base has {target_text}: between heights of {span} it goes "
        f"from {low:.6g} to {high:.6g} {unit}. Change the actuators' range or the radii, "
        + ("take the other `branch`, " if leg.has_crank else "")
        + "or give home.position",
    )


def _newton(machine: MachineDescription, start: FloatArray, target: FloatArray) -> FloatArray:
    """Return the pose near `start` with the coordinates of `target`: damped Gauss-Newton."""
    coordinate_scale = 1.0
    if machine.leg.actuator.coordinate_unit == "m":
        coordinate_scale = max(leg.reach for leg in machine.legs)
    pose, arm = start, machine.mean_arm
    error = target - _coordinates(machine, pose)
    if np.isnan(error).any():
        leg_numbers = ", ".join(str(i + 1) for i in np.flatnonzero(np.isnan(error)))
        raise problem(
            "home.position", f"out of reach (legs: {leg_numbers}); the search for home starts there"
        )
    for _ in range(MAX_ITERATIONS):
        max_error = float(np.abs(error).max())
        if max_error < 1e-14 * coordinate_scale:
            break
        moved_machine = machine.model_copy(update={"home": _home(machine.home, pose)})
        rows = moved_machine.home_jacobian / np.repeat([1.0, arm], 3)
        step = np.linalg.lstsq(rows, error, rcond=1e-9)[0] / np.repeat([1.0, arm], 3)
        for damping in 0.5 ** np.arange(12):
            trial_pose = turned(pose, damping * step)
            trial_error = target - _coordinates(machine, trial_pose)
            if np.abs(trial_error).max() < max_error:
                break
        else:
            break
        pose, error = trial_pose, trial_error
    return _checked(machine, pose, error, POSE_TOLERANCE * coordinate_scale)


def check_legs(machine: MachineDescription, *, of_home: bool = True) -> None:
    """Raise the first problem of a leg at home; `of_home` includes problems of the pose itself."""
    for leg, leg_geometry in zip(machine.legs, machine.home_leg_geometry, strict=True):
        problem_found = leg.home_problem(leg_geometry)
        if problem_found is not None and (of_home or problem_found.field[0] != "."):
            table = machine.leg_table(leg_geometry.number)
            field = (
                problem_found.field[1:]
                if problem_found.field[0] == "."
                else f"{table}.{problem_found.field}"
            )
            raise problem(field, f"leg {leg_geometry.number}: {problem_found.message}")


def _checked(
    machine: MachineDescription, pose: FloatArray, error: FloatArray, tolerance: float
) -> FloatArray:
    """Return the pose if its coordinate errors are small; raise a problem otherwise."""
    unit, worst_leg = machine.leg.actuator.coordinate_unit, int(np.abs(error).argmax())
    if abs(error[worst_leg]) > tolerance:
        raise problem(
            "home",
            f"no pose gives all legs their {machine.leg.coordinate} at home: in the nearest one "
            f"that of leg {worst_leg + 1} is off by {abs(error[worst_leg]):.6g} {unit}. Give "
            "home.position to start the search elsewhere, other coordinates, "
            + ("the other `branch`, " if machine.leg.has_crank else "")
            + "or the pose itself",
        )
    return pose
