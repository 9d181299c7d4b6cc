"""Common parts of all drives: reflected numbers, electronics, and the taking of positions."""

from __future__ import annotations

from typing import NamedTuple, Self

from pydantic import Field, model_validator

from twin.machine.quantity import LARGEST, Number, Time, Whole
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


class Positioning(NamedTuple):
    """The taking of positions by a drive, in the actuator's coordinate: m and N, or rad and N m."""

    stepper: bool
    """whether it is a stepper motor; else an RC servo"""
    half_dead_band: float
    """error [m] or [rad] up to which a servo gives nothing"""
    span: float
    """[m] or [rad] of a servo: error beyond the dead band that gives the stall effort; of a
    stepper: its full step"""
    digit: float
    """resolution of the position [m] or [rad], zero for exact"""
    update_rate: float
    """positions taken per second [Hz]"""
    top_speed: float
    """speed [m/s] or [rad/s] at which no effort is left"""
    field_damping: float
    """of a stepper's rotor in its field"""


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

    def positioning(self) -> Positioning | None:
        """Return how the drive takes positions; None for drives of speeds and forces."""
        return None

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
