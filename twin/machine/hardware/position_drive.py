"""Drives that take positions: RC servos and stepper motors, on cranks or on screws."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from twin.machine.hardware.electronics import Electronics, Positioning, ReflectedDrive
from twin.machine.quantity import (
    Angle,
    AngularSpeed,
    Frequency,
    Inertia,
    Length,
    Number,
    RotaryDamping,
    RotaryStiffness,
    Time,
    Torque,
    Whole,
)

TWIST = math.radians(3.0)
"""[rad] Adopted: twist of a shaft and its gears under the largest torque."""

LOSS_TIME = 0.4e-3
"""[s] Adopted: damping of shaft and gears per their stiffness."""

FIELD_DAMPING = 0.2
"""Adopted: damping ratio of a stepper's rotor in its field."""


class _Shaft(Electronics):
    """A motor whose shaft turns a crank or a screw; all numbers are those of the shaft."""

    friction_torque: Torque = Field(0.0, ge=0, description="Of motor and gears while turning")
    backlash: Angle = Field(0.0, ge=0, description="Free play of the shaft")
    stiffness: RotaryStiffness | None = Field(
        None, gt=0, description="Of shaft and gears; default: 3 deg at the largest torque"
    )
    damping: RotaryDamping | None = Field(
        None, gt=0, description="Of shaft and gears; default: 0.4 ms of the stiffness"
    )
    stribeck_speed: AngularSpeed = Field(1e-2, gt=0, description="Over which friction falls")

    @property
    def ratio(self) -> float:
        """Turning of the shaft per change of the actuator's coordinate."""
        raise NotImplementedError

    @property
    def turn(self) -> float:
        """Change of the actuator's coordinate over one turn of the shaft."""
        return 2.0 * math.pi / self.ratio

    @property
    def largest_torque(self) -> float:
        """Torque [N m] at rest."""
        raise NotImplementedError

    @property
    def shaft_inertia(self) -> float:
        """Inertia of rotor and gears [kg m2] about the shaft."""
        raise NotImplementedError

    @property
    def loss(self) -> float:
        """Torque per speed [N m s/rad]."""
        return 0.0

    def reflected(self) -> ReflectedDrive:
        """Return the drive as the actuator's coordinate sees it."""
        ratio = self.ratio
        stiffness = self.stiffness or self.largest_torque / TWIST
        damping = self.damping or LOSS_TIME * stiffness
        return ReflectedDrive(
            inertia=self.shaft_inertia * ratio**2,
            friction=self.friction_torque * ratio,
            viscous=self.loss * ratio**2,
            stribeck_speed=self.stribeck_speed / ratio,
            backlash=self.backlash / ratio,
            stiffness=stiffness * ratio**2,
            damping=damping * ratio**2,
            brake=0.0,
            peak=self.largest_torque * ratio,
            overtravel=None,
        )


class _Servo(_Shaft):
    """An RC servo: a geared motor with a potentiometer and a proportional position loop.

    Torque = stall_torque (u - speed / no_load_speed). The loop gives u in proportion to the error
    beyond half the dead band, one at `stall_error` beyond it.
    """

    kind: Literal["servo"] = Field("servo", description="Kind of drive")
    stall_torque: Torque = Field(gt=0, description="Torque at rest under full voltage")
    no_load_speed: AngularSpeed = Field(gt=0, description="Speed without load under full voltage")
    dead_band: Angle = Field(0.0, ge=0, description="Whole width of the band without torque")
    resolution: Angle = Field(0.0, ge=0, description="Smallest step of the command; 0 for exact")
    update_rate: Frequency = Field(50.0, gt=0, description="Commands that it takes per second")
    start_time: Time = Field(
        0.02, gt=0, description="Time constant from rest to no-load speed; gives the inertia"
    )
    stall_error: Angle | None = Field(
        None, gt=0, description="Error beyond the dead band at stall torque; default: no-load "
        "speed times start_time, for a damping ratio of 0.5"
    )  # fmt: skip

    @property
    def largest_torque(self) -> float:
        """Torque [N m] at rest."""
        return self.stall_torque

    @property
    def shaft_inertia(self) -> float:
        """Inertia of rotor and gears [kg m2] about the shaft."""
        return self.loss * self.start_time

    @property
    def loss(self) -> float:
        """Torque per speed [N m s/rad]."""
        return self.stall_torque / self.no_load_speed

    def positioning(self) -> Positioning:
        """Return how it takes positions, in the actuator's coordinate."""
        span = self.stall_error or self.no_load_speed * self.start_time
        return Positioning(
            stepper=False,
            half_dead_band=0.5 * self.dead_band / self.ratio,
            span=span / self.ratio,
            digit=self.resolution / self.ratio,
            update_rate=self.update_rate,
            top_speed=self.no_load_speed / self.ratio,
            field_damping=0.0,
        )


class _Stepper(_Shaft):
    """A stepper motor: its rotor follows the field and slips by four steps when overloaded.

    Torque = pull-out torque sin(90 deg lag / step); the pull-out torque falls from the holding
    torque at rest to zero at `top_speed`.
    """

    kind: Literal["stepper"] = Field("stepper", description="Kind of drive")
    holding_torque: Torque = Field(gt=0, description="Largest torque at rest")
    top_speed: AngularSpeed = Field(gt=0, description="Speed at which no torque is left")
    armature_inertia: Inertia = Field(gt=0, description="Of rotor and screw about the shaft")
    step: Angle = Field(math.radians(1.8), gt=0, description="Full step")
    microsteps: Whole = Field(16, ge=1, description="Commands per full step")
    update_rate: Frequency = Field(1000.0, gt=0, description="Positions that it takes per second")

    @property
    def largest_torque(self) -> float:
        """Torque [N m] at rest."""
        return self.holding_torque

    @property
    def shaft_inertia(self) -> float:
        """Inertia of rotor and screw [kg m2] about the shaft."""
        return self.armature_inertia

    def positioning(self) -> Positioning:
        """Return how it takes positions, in the actuator's coordinate."""
        stiffness = 0.5 * math.pi * self.holding_torque / self.step
        damping = 2.0 * FIELD_DAMPING * math.sqrt(stiffness * self.armature_inertia)
        return Positioning(
            stepper=True,
            half_dead_band=0.0,
            span=self.step / self.ratio,
            digit=self.step / self.microsteps / self.ratio,
            update_rate=self.update_rate,
            top_speed=self.top_speed / self.ratio,
            field_damping=damping * self.ratio**2,
        )


class _OnCrank(_Shaft):
    """A shaft that turns a crank, directly or through a gear."""

    gear: Number = Field(1.0, gt=0, description="Turns of the shaft per turn of the crank")

    @property
    def ratio(self) -> float:
        """Turning of the shaft per turning of the crank."""
        return self.gear


class _OnScrew(_Shaft):
    """A shaft that turns a screw."""

    lead: Length = Field(gt=0, description="Travel of one turn of the shaft")

    @property
    def ratio(self) -> float:
        """Turning of the shaft per travel [rad/m]."""
        return 2.0 * math.pi / self.lead


class CrankServo(_OnCrank, _Servo):
    """An RC servo on a crank."""


class ScrewServo(_OnScrew, _Servo):
    """An RC servo that turns a screw."""


class CrankStepper(_OnCrank, _Stepper):
    """A stepper motor on a crank."""


class ScrewStepper(_OnScrew, _Stepper):
    """A stepper motor that turns a screw."""
