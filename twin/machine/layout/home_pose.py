"""Solution of home: the pose in which all actuators have given coordinates."""

from __future__ import annotations

import numpy as np
from pydantic_core import PydanticCustomError

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import turned
from twin.machine.description import AnyMachine, MachineDescription
from twin.machine.layout.home import Home
from twin.machine.table import problem

HEIGHTS = 60
"""Heights tried above the base."""

HALVINGS = 20
"""Of the step between two of them; Newton's method does the rest."""

ITERATIONS = 60

EXACT = 1e-10
"""Error of a coordinate, as a share of the legs' reach or in rad, that counts as solved."""

DIGITS = 12
"""Decimal places of a solved pose: more would be rounding."""


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
    pose = np.round(pose, DIGITS) + 0.0
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

    heights = np.linspace(1.001 * reach, 1e-3 * reach, HEIGHTS)
    values = np.array([excess(float(height)) for height in heights])
    crossings = np.flatnonzero(values[:-1] * values[1:] <= 0.0)
    if not len(crossings):
        raise _no_height(machine, heights, values + target.mean(), float(target.mean()))
    first = int(crossings[0])
    low, high = float(heights[first + 1]), float(heights[first])
    for _ in range(HALVINGS):
        between = 0.5 * (low + high)
        low, high = (between, high) if excess(between) * values[first] <= 0.0 else (low, between)
    return np.array([*middle[:2], middle[2] + low, *turn])


def _no_height(
    machine: MachineDescription, heights: FloatArray, values: FloatArray, target: float
) -> PydanticCustomError:
    leg, unit = machine.leg, machine.leg.actuator.coordinate_unit
    known = np.isfinite(values)
    wanted = f"a mean {leg.coordinate} of {target:.6g} {unit}"
    if not known.any():
        check_legs(machine, of_home=False)
        return problem(
            "home",
            f"no pose straight above the base is in reach of all legs, so none has {wanted}; check "
            "the order of the joints, radii and units",
        )
    low, high = values[known].min(), values[known].max()
    span = f"{heights[known].min():.4g} to {heights[known].max():.4g} m"
    return problem(
        "home",
        f"no pose straight above the base has {wanted}: between heights of {span} it goes from "
        f"{low:.6g} to {high:.6g} {unit}. Change the actuators' range or the radii, "
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
    for _ in range(ITERATIONS):
        worst = float(np.abs(error).max())
        if worst < 1e-14 * scale:
            break
        moved = machine.model_copy(update={"home": _home(machine.home, pose)})
        rows = moved.home_jacobian / np.repeat([1.0, length], 3)
        step = np.linalg.lstsq(rows, error, rcond=1e-9)[0] / np.repeat([1.0, length], 3)
        for share in 0.5 ** np.arange(12):
            tried = turned(pose, share * step)
            found = target - _coordinates(machine, tried)
            if np.abs(found).max() < worst:
                break
        else:
            break
        pose, error = tried, found
    return _checked(machine, pose, error, EXACT * scale)


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
