"""Policies and baselines in an evaluation: actions of zero, laws of the tasks, controllers."""

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
from twin.training.laws import LAWS, make_law
from twin.training.metrics import Metric
from twin.training.policy import Policy, policy_for

ZERO = "zero"
"""Actions of zero: residual ones leave the law beneath them alone, others hold the actuators."""


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
        driver = None if self.name == ZERO else partial(_act, self)
        return roll_out(environment, options, driver, seeds, metrics)


def _act(chosen: Entry, env: Any) -> Act:
    """Return a policy that fits an environment; without one, the law of that name."""
    if chosen.policy is None:
        return make_law(chosen.name, env)
    check_fit(chosen.policy, env)
    return chosen.policy


def baseline_names(environment: str) -> tuple[str, ...]:
    """Return the names of the baselines of an environment."""
    controllers = controller_names() if environment == TRACKING else ()
    return (ZERO, *LAWS.get(environment, ()), *controllers)


def entry(name: str | Path, environment: str) -> Entry:
    """Return a baseline by name, a shipped policy, or the policy in a file.

    Raises:
        InputError: an unknown name, a policy for another environment, or a controller without a
            motion to follow.
    """
    names = baseline_names(environment)
    if name in names:
        return Entry(str(name))
    for other in {TRACKING, *LAWS}:
        if name in baseline_names(other):
            raise InputError("policy", f"{name} is a baseline of {other} only")
    return Entry(str(name), policy_for(name, environment, names))
