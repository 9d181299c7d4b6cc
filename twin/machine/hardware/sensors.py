"""Sensors: encoders of the actuators, and an inertial sensor on the platform."""

from __future__ import annotations

import math

from pydantic import Field

from twin.machine.quantity import (
    Acceleration,
    Angle,
    AngularSpeed,
    Frequency,
    Number,
    Point,
    Table,
    Time,
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

    def resolution(self, turn: float) -> float:
        """Return the actuator travel of one count, from that of one `turn` of the motor."""
        return turn / self.counts
