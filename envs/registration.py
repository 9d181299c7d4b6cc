"""Registration of the environments with Gymnasium."""

from __future__ import annotations

from typing import NamedTuple

import gymnasium as gym


class Registered(NamedTuple):
    """Module and class of an environment, and the length of its episodes."""

    module: str
    name: str
    """name of the class, without Env and VectorEnv"""
    max_episode_steps: int


ENVIRONMENTS: dict[str, Registered] = {
    "twin/PoseTracking-v0": Registered("twin.envs.pose_tracking.environment", "PoseTracking", 500),
    "twin/MotionCueing-v0": Registered("twin.envs.motion_cueing.task", "MotionCueing", 1200),
    "twin/VibrationIsolation-v0": Registered(
        "twin.envs.vibration_isolation", "VibrationIsolation", 800
    ),
    "twin/BallBalance-v0": Registered("twin.envs.ball_balance", "BallBalance", 1000),
}


def environment_ids() -> tuple[str, ...]:
    """Return the ids of all environments."""
    return tuple(ENVIRONMENTS)


def register_all() -> None:
    """Register all environments with Gymnasium; further calls do nothing."""
    for environment, (module, name, steps) in ENVIRONMENTS.items():
        if environment not in gym.registry:
            gym.register(
                environment,
                entry_point=f"{module}:{name}Env",
                vector_entry_point=f"{module}:{name}VectorEnv",
                max_episode_steps=steps,
            )
