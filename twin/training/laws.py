"""Analytic laws of the tasks by name: what a trained policy has to beat."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError

LAWS: dict[str, tuple[str, ...]] = {
    "twin/MotionCueing-v0": ("classical", "adaptive", "tilt_law"),
    "twin/VibrationIsolation-v0": ("isolation_law",),
    "twin/BallBalance-v0": ("balance_law",),
}
"""Environment -> names of its laws; controllers of `twin.control` are those of pose tracking."""

OF_TASKS = {
    "isolation_law": ("twin.envs.vibration_isolation.law", "IsolationLaw"),
    "tilt_law": ("twin.envs.motion_cueing.law", "TiltLaw"),
    "balance_law": ("twin.envs.ball_balance.law", "BalanceLaw"),
}
"""Linear laws, without a state of their own: module and class, made from a task."""

NO_LAW = "none"


def linear_gains(name: str, env: Any) -> FloatArray:
    """Return the gains `(a, o)` of a linear law for the spaces of an environment.

    Raises:
        InputError: no such law of the environment, one that is not linear, or actions that the law
            does not command.
    """
    known = [law for law in LAWS.get(env.spec.id if env.spec else "", ()) if law in OF_TASKS]
    if name not in known:
        raise InputError("law", f"must be one of {', '.join((NO_LAW, *known))}, not {name!r}")
    gains: FloatArray = make_law(name, env).gains  # type: ignore[attr-defined]
    return gains


def make_law(name: str, env: Any) -> Callable[[Any], FloatArray]:
    """Return a law as a function from observations `(..., o)` to actions `(..., a)`.

    Make it anew for every episode: washouts are filters.

    Args:
        name: of the law.
        env: a single environment, or a vector with a filter for each of its rows.

    Raises:
        InputError: another task, or actions that the law does not command.
    """
    if name in OF_TASKS:
        module, kind = OF_TASKS[name]
        law: Callable[[Any], FloatArray] = getattr(import_module(module), kind)(env.unwrapped.task)
        return law
    from twin.envs.motion_cueing.washout import WashoutPolicy

    if not hasattr(env, "num_envs"):
        return WashoutPolicy(env, name)
    filters = [WashoutPolicy(env, name) for _ in range(env.num_envs)]
    return lambda observations: np.stack(
        [each(row) for each, row in zip(filters, observations, strict=True)]
    )
