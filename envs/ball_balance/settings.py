"""Options of `BallBalance`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from twin.envs.task import TaskSettings


class BallBalanceSettings(TaskSettings):
    """Settings of ball balancing: ball, target, actions, termination."""

    action: Literal["tilt", "pose", "velocities"] = Field(
        "tilt", description="increments of roll and pitch, of all six, or speeds of the actuators"
    )
    action_scale: float = Field(
        0.5, gt=0.0, le=1.0, description="what 1 means, in parts of the actuators' speed"
    )
    tilt: float = Field(
        0.5,
        gt=0.0,
        le=1.0,
        description="share of the travel by which the increments may add up, where only one of "
        "the degrees of freedom is displaced",
    )
    largest_tilt: float = Field(0.1, gt=0.0, le=0.5, description="but no more than this [rad]")
    ball: Any = Field(
        None,
        description="a `Ball`, or a table of its numbers; None for one that suits the machine",
    )
    target: Literal["steps", "circle"] = Field(
        "steps", description="a target that jumps, or one that goes round in circles"
    )
    hold: float = Field(4.0, gt=0.0, le=1e4, description="[s] until the next target")
    target_radius: float = Field(
        0.5, ge=0.0, le=0.9, description="share of the plate's radius that targets keep to"
    )
    lap: float = Field(6.0, gt=0.1, le=1e4, description="[s] of a circle")
    start_radius: float = Field(
        0.5, ge=0.0, le=0.9, description="share of the plate's radius that the ball starts within"
    )
    start_speed: float = Field(
        0.1, ge=0.0, le=1.0, description="largest of the ball, in plate radii per second"
    )
    overtravel: float = Field(
        0.05, ge=0.0, le=1.0, description="share of the travel by which a leg may leave its range"
    )
