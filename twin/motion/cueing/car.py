"""A small car: planar bicycle model whose sprung mass rolls and pitches.

Lateral force of an axle's tyres over the slip angle: linear, or saturating.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_floats
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.car import GRAVITY, LEAST_LOAD, SLOWEST, STANDSTILL
from twin.motion.checks import bounded
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.rotational_motion import rotational_motion
from twin.rotations import cross, rotated


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

    def side_force(self, slip: float, load: float) -> float:
        """Return the force [N] to the left at a slip angle [rad] under a load [N] above zero."""
        if self.linear:
            return -self.stiffness * slip
        peak = self.friction * load
        return -peak * math.sin(self.shape * math.atan(self.stiffness * slip / (self.shape * peak)))


STEP = 5e-3
"""[s] of integration and of the manoeuvre."""

State = tuple[float, ...]


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

    def derivative(self, state: State, steer: float, traction: float) -> State:
        """Return the time derivative of (yaw, u, v, r, roll, roll rate, pitch, pitch rate).

        Args:
            state: [rad], [m/s], [m/s], [rad/s], [rad], [rad/s], [rad], [rad/s].
            steer: [rad] angle of the front wheels, positive to the left.
            traction: [m/s2] of the engine or, below zero, of the brakes.
        """
        _, u, v, r, roll, roll_rate, pitch, pitch_rate = state
        wheelbase = self.front + self.rear
        along = traction if traction > 0.0 else traction * math.tanh(u / STANDSTILL)
        moved = self.mass * along * self.height / wheelbase
        weight = self.mass * GRAVITY / wheelbase
        speed = max(u, SLOWEST)
        front = self.front_tyre.side_force(
            math.atan((v + self.front * r) / speed) - steer,
            max(weight * self.rear - moved, LEAST_LOAD),
        )
        rear = self.rear_tyre.side_force(
            math.atan((v - self.rear * r) / speed), max(weight * self.front + moved, LEAST_LOAD)
        )
        turned = front * math.cos(steer)
        a_x = along - front * math.sin(steer) / self.mass
        a_y = (turned + rear) / self.mass
        moment, lever = self.sprung_mass * self.arm, self.sprung_mass * self.arm * GRAVITY
        roll_moment = moment * a_y + (lever - self.roll_stiffness) * roll
        pitch_moment = -moment * a_x + (lever - self.pitch_stiffness) * pitch
        return (
            r,
            a_x + v * r,
            a_y - u * r,
            (self.front * turned - self.rear * rear) / self.yaw_inertia,
            roll_rate,
            (roll_moment - self.roll_damping * roll_rate) / self.roll_inertia,
            pitch_rate,
            (pitch_moment - self.pitch_damping * pitch_rate) / self.pitch_inertia,
        )

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
        wheel, pedal = (values.tolist() for values in inputs)
        state: State = (0.0, bounded(speed, "speed", 0.0, 150.0), *[0.0] * 6)
        rows = [(*state, *self.derivative(state, wheel[0], pedal[0]))]
        for k in range(0, len(wheel) - 1, 2):
            state = self._advanced(state, wheel[k : k + 3], pedal[k : k + 3])
            rows.append((*state, *self.derivative(state, wheel[k + 2], pedal[k + 2])))
        return self._felt(name, np.array(rows))

    def _advanced(self, state: State, steer: list[float], traction: list[float]) -> State:
        """Return the state one step later, by the classical Runge-Kutta rule."""
        rates = [self.derivative(state, steer[0], traction[0])]
        for share, which in ((0.5, 1), (0.5, 1), (1.0, 2)):
            last = rates[-1]
            ahead = tuple(x + share * STEP * dx for x, dx in zip(state, last, strict=True))
            rates.append(self.derivative(ahead, steer[which], traction[which]))
        return tuple(
            x + STEP / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            for x, a, b, c, d in zip(state, *rates, strict=True)
        )

    def _felt(self, name: str, rows: FloatArray) -> Manoeuvre:
        state, rate = rows[:, :8], rows[:, 8:]
        angles = state[:, [0, 6, 4]]
        rates = state[:, [3, 7, 5]]
        turn = rotational_motion(angles, rates, rate[:, [3, 7, 5]], "yaw_pitch_roll")
        flat = np.zeros((len(state), 3))
        flat[:, 0] = rate[:, 1] - state[:, 2] * state[:, 3]
        flat[:, 1] = rate[:, 2] + state[:, 1] * state[:, 3]
        half = 0.5 * state[:, 0]
        zero = np.zeros_like(half)
        yaw = np.stack([np.cos(half), zero, zero, np.sin(half)], axis=1)
        head = rotated(turn.quaternion, np.broadcast_to(self.head, flat.shape))
        total = rotated(yaw, flat) + cross(turn.acceleration, head)
        total += cross(turn.velocity, cross(turn.velocity, head))
        total[:, 2] += GRAVITY
        to_body = turn.quaternion * [1.0, -1.0, -1.0, -1.0]
        time = np.arange(len(state), dtype=np.float64) * STEP
        return Manoeuvre(name, time, rotated(to_body, total), rotated(to_body, turn.velocity))
