"""Motions that a machine can follow: along its axes, and of a size that its actuators allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError, StateError
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import PlatformMotion
from twin.model.static_deflection import static_deflection
from twin.motion.axes import POSITIONS
from twin.motion.motion import Motion
from twin.motion.step import StepMotion

LIMIT_SHARE = 0.8
"""Share of the limits that a motion which was too large shall take."""

LARGEST_USE = 0.95
"""Share of the limits that is accepted after the first change, as travel is not linear."""

TIMESTEP = 1e-3
"""[s] between the samples of a motion; a tank course has up to 70 Hz."""

JUMP_TIME = 0.12
"""[s] Adopted: an ideal step may ask for the travel at an actuator's speed limit over this time."""

JUMP_SHARE, BLIND_SHARE = 0.25, 0.05
"""Largest ideal step as a share of the stroke: a larger one than the first stops the loop for its
following error; the second is for actuators without a speed limit."""

ROUNDING = 1e-9
"""Rounding error of shares, and of displacements [m], [rad]."""

SMALLEST = 1e-3
"""Smallest motion as a share of the size that is asked for."""


BASE_AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Axes of the base, in the order of a twist."""

LOCKED_SHARE = 0.5
"""Share of a displacement that a machine misses along an axis that it cannot move. Along the others
it misses nothing, and what its own constraints add in passing is no displacement."""

Made = TypeVar("Made", bound=Motion)


def followed(platform: MachineModel, motion: Motion, time: FloatArray) -> PlatformMotion:
    """Return the motion of a machine that follows `motion` at times `(k,)` [s].

    A machine of fewer than six degrees of freedom moves as its constraints allow.

    Raises:
        InputError: the motion goes along an axis that the machine cannot move.
    """
    wanted = motion.sample(time)
    given = platform.constrain(*wanted)
    if platform.dof < 6:
        _refuse_locked_axes(platform, motion, time, wanted.pose, given.pose)
    return given


def free_axes(platform: MachineModel) -> tuple[str, ...]:
    """Return the axes out of `BASE_AXES` along and about which a machine can move from home."""
    homes = np.tile(platform.home, (6, 1))
    twists = platform.constrain(homes, np.eye(6), np.zeros((6, 6))).twist
    moved = np.abs(np.diagonal(twists)) > ROUNDING
    return tuple(axis for axis, moves in zip(BASE_AXES, moved, strict=True) if moves)


def _refuse_locked_axes(
    platform: MachineModel, motion: Motion, time: FloatArray, wanted: FloatArray, given: FloatArray
) -> None:
    free = free_axes(platform)
    values = np.abs(motion.axes(time).values)
    sides = [np.linalg.norm(wanted[:, 3:] - sign * given[:, 3:], axis=1) for sign in (1.0, -1.0)]
    turned = 4.0 * np.arcsin(0.5 * np.minimum(*sides))
    for column, axis in enumerate(motion.axis_names):
        missed = np.abs(wanted - given)[:, column] if axis in POSITIONS else turned
        size = float(values[:, column].max())
        if axis not in free and size > ROUNDING and missed.max() > LOCKED_SHARE * size:
            raise InputError(
                "axis",
                f"{platform.name} cannot move along {axis}, and the motion has up to {size:.4g} "
                f"{'m' if axis in POSITIONS else 'rad'} of it; its axes are {', '.join(free)}",
            )


def fitted_motion(
    platform: MachineModel, make: Callable[[float], Made], size: Any, share: Any = LIMIT_SHARE
) -> tuple[Made, float]:
    """Return a motion about home that the actuators can follow, and its size.

    Args:
        platform: the machine; it follows the motion as far as its degrees of freedom allow.
        make: size -> motion.
        size: [m] or [rad] largest, made smaller where an actuator needs it.
        share: of travel, speed and force beyond those at rest that may be used.

    Raises:
        InputError: not a machine, numbers out of range, or no room about home.
    """
    machine, most = as_model(platform), positive(share, "share")
    fitted, bound = positive(size, "size"), most
    while fitted > SMALLEST * size:
        motion = make(fitted)
        use = limit_use(machine, motion)
        if use <= bound * (1.0 + ROUNDING):
            return motion, fitted
        fitted *= most / use if np.isfinite(use) else 0.5
        bound = max(most, min(LARGEST_USE, most * LARGEST_USE / LIMIT_SHARE))
    raise InputError(
        "amplitude", f"{machine.name} has no room about its home for this motion; give an amplitude"
    )


def limit_use(machine: MachineModel, motion: Motion, timestep: float = TIMESTEP) -> float:
    """Return the largest share of its limits that an actuator needs; infinite if out of reach.

    Shares of the travel from home to the ends, of the speed, and of the force that is left at
    rest. Limits that the machine's file does not give are left out.

    Args:
        machine: the machine.
        motion: that begins at rest at home.
        timestep: [s] between the samples of the motion.
    """
    steps = round(motion.duration / timestep)
    time = np.arange(steps + 1.0) * (motion.duration / steps)
    course = followed(machine, motion, time)
    springs: dict[str, FloatArray] = {}
    try:
        coordinates = machine.inverse_kinematics(course.pose)
        rates = np.einsum("kij,kj->ki", machine.jacobian(course.pose), course.twist)
        if machine.n_deflections:
            springs = {"deflection": static_deflection(machine, *course)}
            yields = springs["deflection"][:, : machine.n_deflections]
            coordinates = coordinates - (yields - yields[0])
            rates = rates - np.gradient(yields, time[1], axis=0)
        shares = [_travel(machine, coordinates)]
        shares.append(float((np.abs(rates).max(axis=0) / _limits(machine, "speed")).max()))
        if np.isfinite(_limits(machine, "effort")).any():
            shares.append(_force(machine, machine.inverse_dynamics(*course, **springs)))
    except StateError:
        return np.inf
    if isinstance(motion, StepMotion) and motion.rise == 0.0:
        shares.append(_jump(machine, coordinates))
    return float(max(shares))


def _travel(machine: MachineModel, coordinates: FloatArray) -> float:
    home = machine.home_coordinates
    low, high = machine.minimum_coordinates, machine.maximum_coordinates
    away = np.where(np.abs(coordinates - home) > ROUNDING * (high - low), coordinates - home, 0.0)
    room = np.where(away > 0.0, high - home, home - low)
    without = np.where(away == 0.0, 0.0, np.inf)
    return float(np.divide(np.abs(away), room, out=without, where=room > 0.0).max())


def _force(machine: MachineModel, forces: FloatArray) -> float:
    """Return the share of the force that is left at rest, of forces `(k, n)` from rest on."""
    limits, held = _limits(machine, "effort"), np.abs(forces[0])
    # An actuator that cannot even hold the machine is not helped by a smaller motion.
    room = np.where(limits > held, limits - held, np.inf)
    return float(((np.abs(forces).max(axis=0) - held) / room).max())


def _jump(machine: MachineModel, coordinates: FloatArray) -> float:
    speed = _limits(machine, "speed")
    share = np.where(np.isfinite(speed), JUMP_SHARE, BLIND_SHARE)
    stroke = machine.maximum_coordinates - machine.minimum_coordinates
    most = np.minimum(share * stroke, JUMP_TIME * speed)
    return float((np.abs(coordinates - machine.home_coordinates).max(axis=0) / most).max())


def _limits(machine: MachineModel, name: str) -> FloatArray:
    """Return the limits `(n,)` of the actuators or else of their drives, infinite where unknown."""
    found = []
    for leg in machine.parameters.legs:
        value = getattr(leg.actuator, name)
        if value is None and name == "effort" and leg.drive is not None:
            value = leg.drive.reflected().peak
        found.append(np.inf if value is None else value)
    return np.array(found)
