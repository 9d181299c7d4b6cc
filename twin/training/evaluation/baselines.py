"""Policies and baselines in an evaluation: actions of zero, an isolation law, controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from twin.control import controller_names
from twin.errors import InputError
from twin.training.environments import check_fit
from twin.training.evaluation.controllers import TRACKING, run_controller
from twin.training.evaluation.rollout import Act, Outcome, roll_out
from twin.training.metrics import Metric
from twin.training.policy import Policy, policy_for

ZERO, ISOLATION_LAW = "zero", "isolation_law"
"""Actions of zero: residual ones leave the law beneath them alone, others hold the actuators."""

ISOLATION = "twin/VibrationIsolation-v0"


class Entry(NamedTuple):
    """A policy or a baseline in an evaluation."""

    name: str
    """as it is listed"""
    policy: Policy | None = None
    """None for a baseline"""

    def run(
        self,
        environment: str,
        options: Mapping[str, Any],
        seeds: Sequence[int],
        metrics: tuple[Metric, ...],
    ) -> Outcome:
        """Return the outcome of the episodes of the seeds.

        Raises:
            InputError: options or a machine that do not fit.
        """
        if self.policy is None and self.name in controller_names():
            return run_controller(self.name, options, seeds, metrics)
        driver = None if self.name == ZERO else partial(_act, self.policy)
        return roll_out(environment, options, driver, seeds, metrics)


def _act(policy: Policy | None, env: Any) -> Act:
    """Return a policy that fits an environment; without one, the isolation law of its task."""
    from twin.envs.vibration_isolation.law import IsolationLaw

    if policy is None:
        law: Act = IsolationLaw(env.unwrapped.task)
        return law
    check_fit(policy, env)
    return policy


def entry(name: str | Path, environment: str) -> Entry:
    """Return a baseline by name, a shipped policy, or the policy in a file.

    Raises:
        InputError: an unknown name, a policy for another environment, or a controller without a
            motion to follow.
    """
    names = controller_names()
    needed = TRACKING if name in names else ISOLATION if name == ISOLATION_LAW else environment
    if environment != needed:
        kind = "controller" if name in names else "law"
        raise InputError("policy", f"the {kind} {name} runs in {needed} only")
    if name in (ZERO, ISOLATION_LAW, *names):
        return Entry(str(name))
    return Entry(str(name), policy_for(name, environment, (ZERO, ISOLATION_LAW, *names)))
