"""A task as a user writes it: pose tracking on another machine, under an id of its own."""

from __future__ import annotations

from typing import ClassVar

import gymnasium

from twin.envs.environment import PlatformEnv
from twin.envs.pose_tracking.task import PoseTracking
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv


class Reach(PoseTracking):
    """Pose tracking whose usual machine is `srspm`."""

    default_machine: ClassVar[str] = "srspm"


class ReachEnv(PlatformEnv):
    """One machine of `Reach`."""

    task_type: ClassVar[type[Task]] = Reach


class ReachVectorEnv(PlatformVectorEnv):
    """Machines of `Reach`."""

    task_type: ClassVar[type[Task]] = Reach


gymnasium.register(
    "own_task/Reach-v0",
    entry_point="own_task:ReachEnv",
    vector_entry_point="own_task:ReachVectorEnv",
    max_episode_steps=20,
)
