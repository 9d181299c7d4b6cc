"""twin/MotionCueing-v0: let the platform's driver perceive the ride of a vehicle."""

from __future__ import annotations

from typing import ClassVar

from twin.envs.environment import PlatformEnv
from twin.envs.motion_cueing_task import MotionCueing
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv


class MotionCueingEnv(PlatformEnv):
    """Doc."""

    task_type: ClassVar[type[Task]] = MotionCueing


class MotionCueingVectorEnv(PlatformVectorEnv):
    """Many rows of `MotionCueingEnv`, stepped together; same spaces, rewards, ends and options."""

    task_type: ClassVar[type[Task]] = MotionCueing
