"""Drives of actuators: motor, transmission, electronics, brake, end stops."""

from __future__ import annotations

import math
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from twin.machine.quantity import (
    LARGEST,
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
    Time,
    Torque,
    Whole,
)
from twin.machine.table import Table


class ReflectedDrive(NamedTuple):
    """A drive as the actuator's coordinate sees it: in m and N, or in rad and N m."""

    inertia: float
    """of motor and transmission [kg] or [kg m2]"""
    friction: float
    """while sliding [N] or [N m]"""
    viscous: float
    """[N s/m] or [N m s/rad]"""
    stribeck_speed: float
    """[m/s] or [rad/s]"""
    backlash: float
    """[m] or [rad]"""
    stiffness: float
    """of the transmission [N/m] or [N m/rad]"""
    damping: float
    """of the transmission [N s/m] or [N m s/rad]"""
    brake: float
    """what the brake holds [N] or [N m]"""
    peak: float | None
    """largest effort for a short time [N] or [N m]"""
    overtravel: float | None
    """from a limit to its end stop [m] or [rad]"""


class Electronics(Table):
    """Electronics of every drive, between the command and its motor."""

    current_lag: Time = Field(0.0, ge=0, description="Time constant of the current loop")
    delay: Time = Field(0.0, ge=0, description="Pure delay from command to motor")
    thermal_time: Time | None = Field(
        None, gt=0, description="Time constant of heating; leave out for peak effort at all times"
    )
    analogue_bits: Whole | None = Field(
        None, ge=2, le=32, description="Bits of the analogue command; leave out for exact commands"
    )
    breakaway: Number = Field(1.0, ge=1, description="Friction at rest per friction while sliding")
    brake_engage_time: Time = Field(0.0, ge=0, description="From the command until the brake holds")
    brake_release_time: Time = Field(
        0.0, ge=0, description="From the command until the brake is free"
    )

    def reflected(self) -> ReflectedDrive:
        """Return the drive as the actuator's coordinate sees it."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _complete(self) -> Self:
        drive = self.reflected()
        for name, value in drive._asdict().items():
            if value is not None and not value <= LARGEST:
                raise ValueError(
                    f"{name} comes to {value:.3g} at the actuator, beyond any machine; check the "
                    "lead or the ratio"
                )
        for name, value in (
            ("friction", drive.friction),
            ("backlash", drive.backlash),
            ("brake", drive.brake),
        ):
            if value > 0.0 and not drive.inertia > 0.0:
                raise ValueError(f"{name} is on the motor's side: give the motor an inertia")
        if drive.inertia > 0.0 and not (drive.stiffness > 0.0 and drive.damping > 0.0):
            raise ValueError(
                "a motor with inertia moves its leg through the transmission: give stiffness and "
                "damping"
            )
        if drive.overtravel is not None and not (drive.stiffness > 0.0 and drive.damping > 0.0):
            raise ValueError("end stops are as stiff as the transmission: give both of it")
        return self


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


LinearDrive = Annotated[ScrewDrive | DirectDrive, Field(discriminator="kind")]
AnyDrive = ScrewDrive | DirectDrive | GearDrive
