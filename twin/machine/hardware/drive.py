"""Drives and sensors of a machine.

Drives are actuators, motors with a screw, gear or crank, servos, steppers, and their gains. Sensors
are the encoders of the actuators, and an inertial sensor on the platform.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from twin.machine.quantity import (
    MAX_MAGNITUDE,
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularSpeed,
    Damping,
    Force,
    Frequency,
    Inertia,
    Length,
    Mass,
    Number,
    Point,
    Power,
    Rate,
    RateSquared,
    RotaryDamping,
    RotaryStiffness,
    Speed,
    Stiffness,
    Table,
    Time,
    Torque,
    Whole,
)


class Triad(Table):
    """Common properties of three equal sensors along three axes; zero for an ideal one."""

    scale_factor: Number = Field(
        0.0, ge=0, lt=0.1, description="Standard deviation of the relative error of the scale"
    )
    misalignment: Angle = Field(
        0.0, ge=0, lt=0.1, description="Standard deviation of each axis towards the two others"
    )
    correlation_time: Time = Field(
        300.0, gt=0, description="Over which the instability of the bias forgets itself"
    )


class Accelerometers(Triad):
    """Three accelerometers, which measure specific force: acceleration minus gravity."""

    range: Acceleration | None = Field(
        None, gt=0, description="Largest reading; leave out for no limit"
    )
    bias: Acceleration = Field(0.0, ge=0, description="Standard deviation from start to start")
    instability: Acceleration = Field(
        0.0, ge=0, description="Standard deviation of the bias during a run"
    )
    noise: Acceleration = Field(0.0, ge=0, description="Root mean square inside the bandwidth")


class Gyroscopes(Triad):
    """Three gyroscopes, which measure angular rate."""

    range: AngularSpeed | None = Field(
        None, gt=0, description="Largest reading; leave out for no limit"
    )
    bias: AngularSpeed = Field(0.0, ge=0, description="Standard deviation from start to start")
    instability: AngularSpeed = Field(
        0.0, ge=0, description="Standard deviation of the bias during a run"
    )
    noise: AngularSpeed = Field(0.0, ge=0, description="Root mean square inside the bandwidth")
    acceleration_sensitivity: AngularSpeed = Field(
        0.0, ge=0, description="Standard deviation of the error per 9.80665 m/s2 of specific force"
    )


class InertialSensor(Table):
    """An inertial sensor fixed to the platform; exact unless its triads say otherwise."""

    position: Point = Field((0.0, 0.0, 0.0), description="On the platform, in platform axes")
    attitude: tuple[Angle, Angle, Angle] = Field(
        (0.0, 0.0, 0.0), description="Yaw, pitch and roll of the sensor's axes on the platform"
    )
    bandwidth: Frequency | None = Field(
        None, gt=0, description="Where its phase lags by 90 deg; leave out for no filter"
    )
    damping_ratio: Number = Field(
        math.sqrt(0.5), ge=0.1, le=0.99, description="Damping ratio of its second-order filter"
    )
    output_rate: Frequency | None = Field(
        None, gt=0, description="Readings per second; leave out for one at every step"
    )
    accelerometers: Accelerometers | None = Field(
        None, description="Errors of the accelerometers; leave out for exact ones"
    )
    gyroscopes: Gyroscopes | None = Field(
        None, description="Errors of the gyroscopes; leave out for exact ones"
    )


class Encoder(Table):
    """An encoder: counts over one turn of the motor, with an index pulse once a turn."""

    counts: Whole = Field(
        gt=0, description="Counts over one turn of the motor, or over one scale period"
    )
    noise: Number = Field(
        0.0, ge=0.0, description="Standard deviation of its readings beside rounding, in counts"
    )

    def resolution(self, travel_per_turn: float) -> float:
        """Return the actuator travel of one count, from that of one turn of the motor."""
        return travel_per_turn / self.counts


SHAFT_TWIST = math.radians(3.0)
"""[rad] Engineering choice: twist of a shaft and its gears under the largest torque."""

DAMPING_TIME = 0.4e-3
"""[s] Engineering choice: damping of shaft and gears over their stiffness."""

FIELD_DAMPING = 0.2
"""Engineering choice: damping ratio of a stepper's rotor in its field."""


class CascadeGains(Table):
    """PI position loop with velocity feedforward around a PI velocity loop.

    Velocity loop: gain (1 + 1 / (time s)); position loop: gain + integral / s.
    """

    velocity_gain: Damping | None = Field(
        None, gt=0, description="Force per error in speed, of prismatic actuators"
    )
    crank_velocity_gain: RotaryDamping | None = Field(
        None, gt=0, description="Torque per error in speed, of cranks"
    )
    velocity_time: Time = Field(gt=0, description="Integral time of the velocity loop")
    position_gain: Rate = Field(gt=0, description="Speed per error in position")
    position_integral: RateSquared = Field(ge=0, description="Its integral")
    feedforward_start: Time = Field(
        0.0, ge=0, description="After the position loop, until velocity feedforward begins"
    )
    feedforward_rise: Time = Field(
        0.0, ge=0, description="Over which velocity feedforward rises to its full share"
    )


class _Limits(Table, ABC):
    """Range of an actuator's coordinate, and the limits that all actuators have."""

    coordinate_unit: ClassVar[str]
    """SI unit of the actuator's coordinate"""
    effort_unit: ClassVar[str]
    """SI unit of the actuator's force or torque"""

    minimum: float
    maximum: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        """Check that the minimum is below the maximum, and lasting forces below peaks."""
        if self.minimum >= self.maximum:
            raise ValueError("minimum must be smaller than maximum")
        peak, continuous = self.effort, self.continuous_effort
        if peak is not None and continuous is not None and continuous > peak:
            name = "force" if self.effort_unit == "N" else "torque"
            raise ValueError(f"continuous_{name} must not be larger than {name}")
        return self

    @property
    @abstractmethod
    def effort(self) -> float | None:
        """Largest force [N] or torque [N m], None if unknown."""

    @property
    @abstractmethod
    def continuous_effort(self) -> float | None:
        """Continuous limit of the force or torque (root mean square); the peak where not given."""

    @property
    def stroke(self) -> float:
        """Range of the actuator's coordinate [m] or [rad]."""
        return self.maximum - self.minimum


class LinearActuator(_Limits):
    """A prismatic actuator; the coordinate is the leg length between the joint centres."""

    coordinate_unit: ClassVar[str] = "m"
    effort_unit: ClassVar[str] = "N"

    minimum: Length = Field(gt=0, description="Length when fully retracted")
    maximum: Length = Field(gt=0, description="Length when fully extended")
    speed: Speed | None = Field(None, gt=0, description="Largest speed; leave out if unknown")
    acceleration: Acceleration | None = Field(
        None, gt=0, description="Largest acceleration; leave out if unknown"
    )
    force: Force | None = Field(None, gt=0, description="Largest force; leave out if unknown")
    continuous_force: Force | None = Field(
        None, gt=0, description="Largest root mean square of the force; default: force"
    )
    power: Power | None = Field(
        None, gt=0, description="Largest mechanical power; leave out if unknown"
    )

    @property
    def effort(self) -> float | None:
        """Largest force [N], None if unknown."""
        return self.force

    @property
    def continuous_effort(self) -> float | None:
        """Continuous limit of the force [N] (root mean square); the peak where not given."""
        return self.force if self.continuous_force is None else self.continuous_force


class RotaryActuator(_Limits):
    """A motor that turns a crank; the coordinate is the crank angle from the direction `zero`."""

    coordinate_unit: ClassVar[str] = "rad"
    effort_unit: ClassVar[str] = "N m"

    minimum: Angle = Field(description="Smallest crank angle")
    maximum: Angle = Field(description="Largest crank angle")
    speed: AngularSpeed | None = Field(
        None, gt=0, description="Largest speed; leave out if unknown"
    )
    acceleration: AngularAcceleration | None = Field(
        None, gt=0, description="Largest acceleration; leave out if unknown"
    )
    torque: Torque | None = Field(None, gt=0, description="Largest torque; leave out if unknown")
    continuous_torque: Torque | None = Field(
        None, gt=0, description="Largest root mean square of the torque; default: torque"
    )
    power: Power | None = Field(
        None, gt=0, description="Largest mechanical power; leave out if unknown"
    )

    @property
    def effort(self) -> float | None:
        """Largest torque [N m], None if unknown."""
        return self.torque

    @property
    def continuous_effort(self) -> float | None:
        """Continuous limit of the torque [N m] (root mean square); the peak where not given."""
        return self.torque if self.continuous_torque is None else self.continuous_torque


Actuator = LinearActuator | RotaryActuator
"""All have minimum, maximum, stroke, speed, acceleration, effort, continuous_effort and power."""


class ReflectedDrive(NamedTuple):
    """A drive reflected to the actuator's coordinate: in m and N, or in rad and N m."""

    inertia: float
    """inertia of motor and transmission [kg] or [kg m2]"""
    friction: float
    """friction while sliding [N] or [N m]"""
    viscous: float
    """viscous friction [N s/m] or [N m s/rad]"""
    stribeck_speed: float
    """Stribeck speed of the friction [m/s] or [rad/s]"""
    backlash: float
    """backlash of the transmission [m] or [rad]"""
    stiffness: float
    """stiffness of the transmission [N/m] or [N m/rad]"""
    damping: float
    """damping of the transmission [N s/m] or [N m s/rad]"""
    brake: float
    """holding force of the brake [N] or [N m]"""
    peak: float | None
    """largest effort for a short time [N] or [N m]"""
    overtravel: float | None
    """distance from a limit to its end stop [m] or [rad]"""


class Positioning(NamedTuple):
    """A drive that takes position commands, in the actuator's coordinate: m, N or rad, N m."""

    stepper: bool
    """whether it is a stepper motor; else an RC servo"""
    half_dead_band: float
    """position error [m] or [rad] up to which a servo gives no torque: half its dead band"""
    span: float
    """[m] or [rad] of a servo: error beyond the dead band that gives the stall effort; of a
    stepper: its full step"""
    resolution: float
    """resolution of the position [m] or [rad], zero for exact"""
    update_rate: float
    """positions taken per second [Hz]"""
    top_speed: float
    """speed [m/s] or [rad/s] at which no effort is left"""
    field_damping: float
    """damping of a stepper's rotor in its field"""


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
        """Return the drive reflected to the actuator's coordinate."""
        raise NotImplementedError

    def positioning(self) -> Positioning | None:
        """Return the position loop inside the drive; None for drives that take speeds or forces."""
        return None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Check that the drive has an inertia and a transmission for what it describes."""
        drive = self.reflected()
        for name, value in drive._asdict().items():
            if value is not None and not value <= MAX_MAGNITUDE:
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


class _Shaft(Electronics):
    """A motor whose shaft turns a crank or a screw; all numbers are those of the shaft."""

    friction_torque: Torque = Field(0.0, ge=0, description="Of motor and gears while turning")
    backlash: Angle = Field(0.0, ge=0, description="Free play of the shaft")
    stiffness: RotaryStiffness | None = Field(
        None, gt=0, description="Of shaft and gears; default: 3 deg at the largest torque"
    )
    damping: RotaryDamping | None = Field(
        None, gt=0, description="Of shaft and gears; default: 0.4 ms times the stiffness"
    )
    stribeck_speed: AngularSpeed = Field(
        1e-2, gt=0, description="Speed over which friction falls from breakaway to sliding"
    )

    @property
    def ratio(self) -> float:
        """Transmission ratio: rotation of the shaft over change of the actuator's coordinate."""
        raise NotImplementedError

    @property
    def travel_per_turn(self) -> float:
        """Change of the actuator's coordinate over one turn of the shaft."""
        return 2.0 * math.pi / self.ratio

    @property
    def largest_torque(self) -> float:
        """Torque [N m] that the motor gives at rest."""
        raise NotImplementedError

    @property
    def shaft_inertia(self) -> float:
        """Inertia of rotor and gears [kg m2] about the shaft."""
        raise NotImplementedError

    @property
    def torque_loss_per_speed(self) -> float:
        """Decrease of the torque per speed [N m s/rad]."""
        return 0.0

    def reflected(self) -> ReflectedDrive:
        """Return the drive reflected to the actuator's coordinate."""
        ratio = self.ratio
        stiffness = self.stiffness or self.largest_torque / SHAFT_TWIST
        damping = self.damping or DAMPING_TIME * stiffness
        return ReflectedDrive(
            inertia=self.shaft_inertia * ratio**2,
            friction=self.friction_torque * ratio,
            viscous=self.torque_loss_per_speed * ratio**2,
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
        """Torque [N m] that the motor gives at rest."""
        return self.stall_torque

    @property
    def shaft_inertia(self) -> float:
        """Inertia of rotor and gears [kg m2] about the shaft."""
        return self.torque_loss_per_speed * self.start_time

    @property
    def torque_loss_per_speed(self) -> float:
        """Decrease of the torque per speed [N m s/rad]."""
        return self.stall_torque / self.no_load_speed

    def positioning(self) -> Positioning:
        """Return its position loop in the actuator's coordinate."""
        error_span = self.stall_error or self.no_load_speed * self.start_time
        return Positioning(
            stepper=False,
            half_dead_band=0.5 * self.dead_band / self.ratio,
            span=error_span / self.ratio,
            resolution=self.resolution / self.ratio,
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
        """Torque [N m] that the motor gives at rest."""
        return self.holding_torque

    @property
    def shaft_inertia(self) -> float:
        """Inertia of rotor and screw [kg m2] about the shaft."""
        return self.armature_inertia

    def positioning(self) -> Positioning:
        """Return its position loop in the actuator's coordinate."""
        stiffness = 0.5 * math.pi * self.holding_torque / self.step
        damping = 2.0 * FIELD_DAMPING * math.sqrt(stiffness * self.armature_inertia)
        return Positioning(
            stepper=True,
            half_dead_band=0.0,
            span=self.step / self.ratio,
            resolution=self.step / self.microsteps / self.ratio,
            update_rate=self.update_rate,
            top_speed=self.top_speed / self.ratio,
            field_damping=damping * self.ratio**2,
        )


class _OnCrank(_Shaft):
    """A shaft that turns a crank, directly or through a gear."""

    gear: Number = Field(1.0, gt=0, description="Turns of the shaft per turn of the crank")

    @property
    def ratio(self) -> float:
        """Transmission ratio: rotation of the shaft over that of the crank."""
        return self.gear


class _OnScrew(_Shaft):
    """A shaft that turns a screw."""

    lead: Length = Field(gt=0, description="Travel of one turn of the shaft")

    @property
    def ratio(self) -> float:
        """Transmission ratio: rotation of the shaft over the travel [rad/m]."""
        return 2.0 * math.pi / self.lead


class CrankServo(_OnCrank, _Servo):
    """An RC servo on a crank."""


class ScrewServo(_OnScrew, _Servo):
    """An RC servo that turns a screw."""


class CrankStepper(_OnCrank, _Stepper):
    """A stepper motor on a crank."""


class ScrewStepper(_OnScrew, _Stepper):
    """A stepper motor that turns a screw."""


class _LinearTransmission(Electronics):
    """Transmission between a motor and a prismatic actuator."""

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
        """Transmission ratio: rotation of the motor over the travel [rad/m]."""
        return 2.0 * math.pi / self.lead

    @property
    def travel_per_turn(self) -> float:
        """Travel [m] of the leg over one turn of the encoder."""
        return self.lead

    def reflected(self) -> ReflectedDrive:
        """Return the drive reflected to the leg's length."""
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
    def travel_per_turn(self) -> float | None:
        """Travel [m] of the leg over one period of the encoder's scale, None if unknown."""
        return self.scale_period

    def reflected(self) -> ReflectedDrive:
        """Return the drive reflected to the leg's length."""
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
    def travel_per_turn(self) -> float:
        """Angle [rad] of the crank over one turn of the encoder."""
        return 2.0 * math.pi / self.ratio

    def reflected(self) -> ReflectedDrive:
        """Return the drive reflected to the crank's angle."""
        return _through(self)


def _through(drive: ScrewDrive | GearDrive) -> ReflectedDrive:
    """Return a motor's drive reflected to the actuator's coordinate through a `ratio`."""
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
