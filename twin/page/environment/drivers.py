"""Drivers of an environment: a policy, a law of its task, random actions, or actions of zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.envs.motion_cueing.arrays import POSE_ACTIONS
from twin.envs.motion_cueing.task import MotionCueing
from twin.envs.motion_cueing.washout import WASHOUTS, WashoutPolicy
from twin.envs.vibration_isolation.law import IsolationLaw
from twin.envs.vibration_isolation.task import VibrationIsolation
from twin.training.evaluation.baselines import ISOLATION_LAW, ZERO
from twin.training.shipped import policy_for
from twin.training.spaces import check_fit

RANDOM = "random"

Driver = Callable[[FloatArray], Any]
"""Observation `(o,)` to action `(a,)`."""


def own_laws(env: Any) -> tuple[str, ...]:
    """Return the names of the laws of an environment's task."""
    task = env.unwrapped.task
    if isinstance(task, VibrationIsolation) and task.settings.action == "velocities":
        return (ISOLATION_LAW,)
    if isinstance(task, MotionCueing) and task.settings.action in POSE_ACTIONS:
        return tuple(WASHOUTS)
    return ()


def make_driver(name: str | Path, environment: str, env: Any) -> Driver:
    """Return the driver of a name.

    Args:
        name: "zero", "random", a law of the task, a shipped policy or a file.
        environment: id.
        env: the environment; its space of actions draws random ones.

    Raises:
        InputError: an unknown name, or a policy that does not fit; lists the known names.
    """
    space = env.action_space
    if name == ZERO:
        return lambda _: np.zeros(space.shape, space.dtype)
    if name == RANDOM:
        return lambda _: space.sample()
    if name in own_laws(env):
        task = env.unwrapped.task
        return IsolationLaw(task) if name == ISOLATION_LAW else WashoutPolicy(env, str(name))
    policy = policy_for(name, environment, (ZERO, RANDOM, *own_laws(env)))
    check_fit(policy, env)
    return policy
