"""twin/VibrationIsolation-v0: keep a platform still above a shaking base."""

from __future__ import annotations

from typing import ClassVar

from twin.envs.environment import PlatformEnv
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv
from twin.envs.vibration_isolation_task import VibrationIsolation


class VibrationIsolationEnv(PlatformEnv):
    """TODO"""

    task_type: ClassVar[type[Task]] = VibrationIsolation


class VibrationIsolationVectorEnv(PlatformVectorEnv):
    """Many rows of `VibrationIsolationEnv`, stepped together; same spaces, rewards, ends, options."""

    task_type: ClassVar[type[Task]] = VibrationIsolation
