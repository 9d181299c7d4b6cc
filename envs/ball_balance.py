"""twin/BallBalance-v0: balance and move a ball on a platform."""

from __future__ import annotations

from typing import ClassVar

from twin.envs.ball_balance_task import BallBalance
from twin.envs.environment import PlatformEnv
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv


class BallBalanceEnv(PlatformEnv):
    """Bring a ball."""

    task_type: ClassVar[type[Task]] = BallBalance


class BallBalanceVectorEnv(PlatformVectorEnv):
    """Many rows of `BallBalanceEnv`, stepped together; same spaces, rewards, ends and options."""

    task_type: ClassVar[type[Task]] = BallBalance
