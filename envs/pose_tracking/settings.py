"""Options of `PoseTracking`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from twin.envs.task import TaskSettings


class PoseTrackingSettings(TaskSettings):
    """Settings of pose tracking: reference, actions, termination."""

    action: Literal["velocities", "forces", "pose"] = Field(
        "velocities", description="speeds or forces of the actuators, or increments of the pose"
    )
    residual: bool = Field(
        True,
        description="actions come on top of the motion's own speeds, of the forces that hold the "
        "machine at home, or of the motion's pose",
    )
    action_scale: float | None = Field(
        None,
        gt=0.0,
        le=1.0,
        description="what 1 means, in parts of the actuators' speed or effort; of the travel "
        "within a second for increments; default 0.2 if residual, else 1",
    )
    position_gain: float | None = Field(
        None,
        ge=0.0,
        le=200.0,
        description="of a position loop under residual velocities [1/s], default that of the "
        "machine's cascade; without one, 0, noise in the actions adds up",
    )
    motion: Any = Field(None, description="a motion of `twin.motion`; None for random ones")
    duration: float = Field(5.0, gt=0.0, le=600.0, description="of random motions [s]")
    amplitude: float = Field(
        0.4, gt=0.0, le=1.0, description="share of travel and speed that random motions take"
    )
    lowest_frequency: float = Field(0.1, gt=0.0, le=100.0, description="of random motions [Hz]")
    highest_frequency: float = Field(2.0, gt=0.0, le=100.0, description="of random motions [Hz]")
    lines: int = Field(5, ge=1, le=100, description="sines in a random motion")
    preview: int = Field(3, ge=0, le=100, description="control periods ahead that are observed")
    largest_position_error: float | None = Field(
        None, gt=0.0, description="[m] that ends an episode; default half the actuators' half way"
    )
    largest_attitude_error: float = Field(
        0.3, gt=0.0, le=3.0, description="[rad] that ends an episode"
    )
    goal: bool = Field(
        False,
        description="observations with a goal, and a reward of goals alone, for hindsight replay; "
        "needs `residual=False`, and is for single environments",
    )
    overtravel: float = Field(
        0.05, ge=0.0, le=1.0, description="share of the travel by which a leg may leave its range"
    )

    @model_validator(mode="after")
    def _ordered(self) -> PoseTrackingSettings:
        if self.lowest_frequency > self.highest_frequency:
            raise ValueError("lowest_frequency must not be above highest_frequency")
        if self.goal and self.residual:
            raise ValueError("goal=True takes residual=False: no action may know the reference")
        return self
