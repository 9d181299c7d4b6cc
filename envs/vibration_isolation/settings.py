"""Options of `VibrationIsolation`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from twin.envs.task import TaskSettings


class VibrationIsolationSettings(TaskSettings):
    """Settings of vibration isolation: shaking of the base, actions, errors of the sensors."""

    period: float = Field(0.005, gt=0.0, description="of control [s]")
    action: Literal["velocities", "forces"] = Field(
        "velocities", description="speeds of the actuators, or forces"
    )
    action_scale: float | None = Field(
        None,
        gt=0.0,
        le=1.0,
        description="what 1 means, in parts of the actuators' speed or effort; default five times "
        "the base's RMS velocity, at most all speed, or the force that goes with it, at most 0.2",
    )
    centring: float = Field(
        1.0,
        ge=0.0,
        le=100.0,
        description="[1/s] with which actuators return to where they began, under all speeds",
    )
    acceleration: float | None = Field(
        None,
        gt=0.0,
        le=100.0,
        description="RMS of the base's along each axis [m/s2]; default what the actuators can "
        "make up for, at most 0.5",
    )
    lowest_frequency: float = Field(1.0, gt=0.0, le=1000.0, description="of the shaking [Hz]")
    highest_frequency: float = Field(20.0, gt=0.0, le=1000.0, description="of the shaking [Hz]")
    lines: int = Field(8, ge=1, le=100, description="sines along each axis")
    duration: float = Field(
        4.0, gt=0.0, le=600.0, description="of the shaking [s]; the base rests afterwards"
    )
    forgetting: float = Field(
        1.0, gt=0.0, le=1000.0, description="[s] over which velocities from accelerometers fade"
    )
    accelerometer_noise: float | None = Field(
        None,
        ge=0.0,
        description="RMS of each reading, platform and base [m/s2]; default a hundredth of the "
        "shaking's",
    )
    gyroscope_noise: float | None = Field(
        None,
        ge=0.0,
        description="RMS of each reading [rad/s]; default a hundredth of the observation's scale",
    )
    largest_attitude: float = Field(0.3, gt=0.0, le=3.0, description="[rad] that ends an episode")
    overtravel: float = Field(
        0.05, ge=0.0, le=1.0, description="share of the travel by which a leg may leave its range"
    )

    @model_validator(mode="after")
    def _ordered(self) -> VibrationIsolationSettings:
        if self.lowest_frequency > self.highest_frequency:
            raise ValueError("lowest_frequency must not be above highest_frequency")
        return self
