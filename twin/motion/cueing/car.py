"""A small car: planar bicycle model whose sprung mass rolls and pitches.

The lateral force of an axle's tyres is linear in the slip angle, or it saturates.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_floats, bounded
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.car import drive_car
from twin.motion.cueing.manoeuvre import Manoeuvre


@dataclass(frozen=True)
class Tyre:
    """Tyres of one axle.

    F = -mu Fz sin(C atan(B slip)) with B = stiffness / (C mu Fz), so that both kinds have the
    same slope at zero; linear: F = -stiffness slip.

    Reference:
        Pacejka, Tyre and Vehicle Dynamics, section 4.3.1, without curvature and offsets.
    """

    stiffness: float
    """[N/rad] cornering stiffness of the axle"""
    friction: float = 0.9
    """[1] mu"""
    shape: float = 1.3
    """[1] C"""
    linear: bool = False

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for name, low, high in (
            ("stiffness", 1e3, 1e6),
            ("friction", 0.05, 3.0),
            ("shape", 1.0, 2.0),
        ):
            object.__setattr__(self, name, bounded(getattr(self, name), name, low, high))
        as_flag(self.linear, "linear")


STEP = 5e-3
"""[s] of integration and of the manoeuvre."""


@dataclass(frozen=True, kw_only=True)
class Car:
    """A saloon; all values adopted, typical of the middle class. x forward, y left, z up.

    States: speeds u, v and yaw rate r in the road plane; roll and pitch of the sprung mass, each
    an oscillator driven by the acceleration at its arm (roll positive left side up, pitch
    positive nose down). Loads move between the axles with the longitudinal acceleration.
    """

    mass: float = 1500.0
    """[kg]"""
    sprung_mass: float = 1350.0
    """[kg]"""
    yaw_inertia: float = 2500.0
    """[kg m2]"""
    roll_inertia: float = 500.0
    """[kg m2]"""
    pitch_inertia: float = 2000.0
    """[kg m2]"""
    front: float = 1.2
    """[m] from the centre of mass to the front axle"""
    rear: float = 1.4
    """[m] to the rear axle"""
    height: float = 0.55
    """[m] of the centre of mass"""
    arm: float = 0.45
    """[m] of the sprung mass above its roll and pitch axes"""
    roll_stiffness: float = 60e3
    """[N m/rad]"""
    roll_damping: float = 4500.0
    """[N m s/rad]"""
    pitch_stiffness: float = 90e3
    """[N m/rad]"""
    pitch_damping: float = 8000.0
    """[N m s/rad]"""
    front_tyre: Tyre = field(default_factory=lambda: Tyre(80e3))
    rear_tyre: Tyre = field(default_factory=lambda: Tyre(95e3))
    head: tuple[float, float, float] = (-0.1, 0.35, 0.65)
    """[m] driver's head from the crossing of the roll and pitch axes, body axes"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "head":
                point = as_floats(value, "head", 3)
                if point.ndim != 1 or np.abs(point).max() > 10.0:
                    raise InputError("head", "must be one point within 10 m")
                object.__setattr__(self, "head", tuple(float(part) for part in point))
            elif each.name.endswith("tyre"):
                if not isinstance(value, Tyre):
                    raise InputError(each.name, "must be a Tyre")
            else:
                object.__setattr__(self, each.name, bounded(value, each.name, 1e-3, 1e6))

    def drive(self, name: str, speed: Any, steer: Any, traction: Any) -> Manoeuvre:
        """Return the manoeuvre of a drive, at rest against the road's frame before it.

        Args:
            name: of the manoeuvre.
            speed: [m/s] at the start.
            steer: `(2 n + 1,)` [rad] of the front wheels, at half steps of `STEP`.
            traction: `(2 n + 1,)` [m/s2] commanded to engine and brakes, likewise.

        Raises:
            InputError: wrong shapes, not finite, out of range.
        """
        inputs = [as_floats(steer, "steer"), as_floats(traction, "traction")]
        if inputs[0].ndim != 1 or len(inputs[0]) < 7 or not len(inputs[0]) % 2:
            raise InputError("steer", "must hold 2 n + 1 angles, n from 3")
        if inputs[1].shape != inputs[0].shape:
            raise InputError("traction", "must hold as many values as steer")
        if np.abs(inputs[0]).max() > 1.0 or np.abs(inputs[1]).max() > 50.0:
            raise InputError("steer, traction", "must stay below 1 rad and 50 m/s2")
        start = bounded(speed, "speed", 0.0, 150.0)
        return as_driven(name, self.felt(start, *inputs))

    def felt(self, speed: float, steer: FloatArray, traction: FloatArray) -> FloatArray:
        """Return specific force and angular rate `(n + 1, 6)` of a drive, every `STEP`.

        Arguments are those of `drive`, as arrays within its bounds; they are not checked.
        """
        rows = np.empty(((len(steer) + 1) // 2, 6))
        drive_car(self.packed(), speed, steer, traction, STEP, rows)
        return rows

    def packed(self) -> FloatArray:
        """Return the entries `(CAR_SIZE,)` of `twin.kernels.tasks.motion_cueing.car`."""
        *numbers, front, rear, head = vars(self).values()
        return np.array([*numbers, *vars(front).values(), *vars(rear).values(), *head], dtype=float)


def as_driven(name: str, rows: FloatArray) -> Manoeuvre:
    """Return the manoeuvre of a drive that is `felt` as `rows` `(n + 1, 6)`."""
    time = np.arange(len(rows), dtype=np.float64) * STEP
    return Manoeuvre(name, time, rows[:, :3], rows[:, 3:])
