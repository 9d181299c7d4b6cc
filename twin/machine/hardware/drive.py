"""Drives of actuators: motor, transmission, electronics, brake, end stops."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from twin.machine.hardware.electronics import Electronics, ReflectedDrive
from twin.machine.hardware.position_drive import (
    CrankServo,
    CrankStepper,
    ScrewServo,
    ScrewStepper,
)
from twin.machine.quantity import (
    Angle,
    AngularSpeed,
    Damping,
    Force,
    Inertia,
    Length,
    Mass,
    Number,
    RotaryDamping,
    RotaryStiffness,
    Speed,
    Stiffness,
    Torque,
)


class _LinearTransmission(Electronics):
    """Between the motor and a prismatic actuator."""

    stiffness: Stiffness = Field(0.0, ge=0, description="Axial stiffness of the transmission")
    damping: Damping = Field(0.0, ge=0, description="Axial damping of the transmission")
    backlash: Length = Field(0.0, ge=0, description="Free play between motor and leg")
    peak: Force | None = Field(None, gt=0, description="Largest force for a short time")
    stribeck_speed: Speed = Field(1e-3, gt=0, description="Speed over which friction falls")
    overtravel: Length | None = Field(
        None, ge=0, description="From a limit to its end stop; leave out for no stops"
    )


class ScrewDrive(_LinearTransmission):
    """A motor that turns a screw: one turn moves the leg by `lead`."""

    kind: Literal["screw"] = Field("screw", description="Kind of drive")
    lead: Length = Field(gt=0, description="Travel of one turn of the motor")
    armature_inertia: Inertia = Field(0.0, ge=0, description="Of armature and nut about their axis")
    friction_torque: Torque = Field(0.0, ge=0, description="Of the motor while turning")
    viscous_torque: RotaryDamping = Field(0.0, ge=0, description="Of the motor per speed")
    brake_torque: Torque = Field(0.0, ge=0, description="What the brake holds; 0 for no brake")

    @property
    def ratio(self) -> float:
        """Turning of the motor per travel [rad/m]."""
        return 2.0 * math.pi / self.lead

    @property
    def turn(self) -> float:
        """Travel [m] of the leg over one turn of the encoder."""
        return self.lead

    def reflected(self) -> ReflectedDrive:
        """Return the drive as the leg's length sees it."""
        return _through(self)


class DirectDrive(_LinearTransmission):
    """A motor that pushes the leg itself, such as a voice coil or a cylinder."""

    kind: Literal["direct"] = Field("direct", description="Kind of drive")
    moving_mass: Mass = Field(0.0, ge=0, description="Of the motor's moving part")
    friction: Force = Field(0.0, ge=0, description="Of the motor while sliding")
    viscous: Damping = Field(0.0, ge=0, description="Of the motor per speed")
    brake: Force = Field(0.0, ge=0, description="What the brake holds; 0 for no brake")
    scale_period: Length | None = Field(
        None, gt=0, description="Travel over which a linear encoder makes its counts"
    )

    @property
    def turn(self) -> float | None:
        """Travel [m] of the leg over one period of the encoder's scale, None if unknown."""
        return self.scale_period

    def reflected(self) -> ReflectedDrive:
        """Return the drive as the leg's length sees it."""
        return ReflectedDrive(
            self.moving_mass,
            self.friction,
            self.viscous,
            self.stribeck_speed,
            self.backlash,
            self.stiffness,
            self.damping,
            self.brake,
            self.peak,
            self.overtravel,
        )


class GearDrive(Electronics):
    """A motor that turns a crank through a gear."""

    kind: Literal["gear"] = Field("gear", description="Kind of drive")
    ratio: Number = Field(1.0, gt=0, description="Turns of the motor per turn of the crank")
    armature_inertia: Inertia = Field(0.0, ge=0, description="Of the motor about its axis")
    friction_torque: Torque = Field(0.0, ge=0, description="Of the motor while turning")
    viscous_torque: RotaryDamping = Field(0.0, ge=0, description="Of the motor per speed")
    brake_torque: Torque = Field(0.0, ge=0, description="What the motor's brake holds; 0 for none")
    stiffness: RotaryStiffness = Field(0.0, ge=0, description="Of the gear, at the crank")
    damping: RotaryDamping = Field(0.0, ge=0, description="Of the gear, at the crank")
    backlash: Angle = Field(0.0, ge=0, description="Free play of the crank")
    peak: Torque | None = Field(None, gt=0, description="Largest crank torque for a short time")
    stribeck_speed: AngularSpeed = Field(
        1e-2, gt=0, description="Speed of the crank over which friction falls"
    )
    overtravel: Angle | None = Field(
        None, ge=0, description="From a limit to its end stop; leave out for no stops"
    )

    @property
    def turn(self) -> float:
        """Angle [rad] of the crank over one turn of the encoder."""
        return 2.0 * math.pi / self.ratio

    def reflected(self) -> ReflectedDrive:
        """Return the drive as the crank's angle sees it."""
        return _through(self)


def _through(drive: ScrewDrive | GearDrive) -> ReflectedDrive:
    """Return what a motor that turns `ratio` times as far shows at the actuator."""
    return ReflectedDrive(
        drive.armature_inertia * drive.ratio * drive.ratio,
        drive.friction_torque * drive.ratio,
        drive.viscous_torque * drive.ratio * drive.ratio,
        drive.stribeck_speed,
        drive.backlash,
        drive.stiffness,
        drive.damping,
        drive.brake_torque * drive.ratio,
        drive.peak,
        drive.overtravel,
    )


LinearDrive = Annotated[
    ScrewDrive | DirectDrive | ScrewServo | ScrewStepper, Field(discriminator="kind")
]
CrankDrive = Annotated[GearDrive | CrankServo | CrankStepper, Field(discriminator="kind")]
AnyDrive = (
    ScrewDrive | DirectDrive | GearDrive | CrankServo | ScrewServo | CrankStepper | ScrewStepper
)
