"""Who acts in an environment: a policy, a law of the environment's own, chance, or nobody."""

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
from twin.errors import InputError
from twin.training.contestants import ISOLATION_LAW, ZERO
from twin.training.policy import Policy
from twin.training.shipped import load_policy, policy_names
from twin.training.spaces import check_fit

RANDOM = "random"

Driver = Callable[[FloatArray], Any]
"""Observation `(o,)` to action `(a,)`."""


def own_laws(env: Any) -> tuple[str, ...]:
    """Return the names of laws that come with an environment."""
    task = env.unwrapped.task
    if isinstance(task, VibrationIsolation) and task.settings.action == "velocities":
        return (ISOLATION_LAW,)
    if isinstance(task, MotionCueing) and task.settings.action in POSE_ACTIONS:
        return tuple(WASHOUTS)
    return ()


def shipped_policies(environment: str) -> tuple[str, ...]:
    """Return the names of the shipped policies for an environment."""
    names = policy_names()
    return tuple(name for name in names if load_policy(name).origin.environment == environment)


def policy_for(name: str | Path, environment: str) -> Policy:
    """Return a shipped policy by name, or the one in a file.

    Raises:
        InputError: neither, or one for another environment.
    """
    policy = load_policy(name)
    trained = policy.origin.environment
    if trained and trained != environment:
        raise InputError("policy", f"{name} is for {trained}, not for {environment}")
    return policy


def make_driver(name: str | Path, environment: str, env: Any) -> Driver:
    """Return what is meant by a name, made for an environment.

    Args:
        name: "zero", "random", a law of the environment's own, a shipped policy or a file.
        environment: its id.
        env: the environment, whose space of actions is seeded for random ones.

    Raises:
        InputError: nothing of that name, or a policy that does not fit; says what there is.
    """
    space = env.action_space
    if name == ZERO:
        return lambda _: np.zeros(space.shape, space.dtype)
    if name == RANDOM:
        return lambda _: space.sample()
    if name in own_laws(env):
        task = env.unwrapped.task
        return IsolationLaw(task) if name == ISOLATION_LAW else WashoutPolicy(env, str(name))
    try:
        policy = policy_for(name, environment)
    except InputError as error:
        if Path(name).is_file() or str(name) in policy_names():
            raise
        known = ", ".join((ZERO, RANDOM, *own_laws(env), *shipped_policies(environment)))
        told = error.message.partition("; known: ")[0]
        raise InputError("policy", f"{told}; known: {known}, or a file") from None
    check_fit(policy, env)
    return policy
