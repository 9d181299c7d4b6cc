"""Who takes part in an evaluation: policies, no action at all, controllers of `twin.control`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from twin.control import controller_names
from twin.errors import InputError
from twin.training.metrics import METRICS, Metric
from twin.training.policy import Policy
from twin.training.rollout import Act, Driver, Outcome, roll_out
from twin.training.shipped import load_policy, policy_names
from twin.training.spaces import check_fit
from twin.training.tracking_controllers import TRACKING, run_controller

ZERO, ISOLATION_LAW = "zero", "isolation_law"
"""Actions of zero: with residual ones what is underneath alone; otherwise actuators stand still."""

ISOLATION = "twin/VibrationIsolation-v0"


class Contestant:
    """Something that drives the machines of an environment.

    Attributes:
        name: as it is listed.
        policy: where it is one.
    """

    def __init__(self, name: str, policy: Policy | None = None) -> None:
        """Take the name of a controller, "zero", or a policy with the name it is listed by."""
        self.name, self.policy = name, policy

    def run(
        self,
        environment: str,
        options: Mapping[str, Any],
        seeds: Sequence[int],
        metrics: tuple[Metric, ...],
    ) -> Outcome:
        """Return what the episodes of the seeds gave.

        Raises:
            InputError: options or a machine that do not fit.
        """
        if self.policy is None and self.name in controller_names():
            return run_controller(self.name, options, seeds, metrics)
        return roll_out(environment, options, self._driver(), seeds, metrics)

    def _driver(self) -> Driver | None:
        if self.policy is not None:
            return partial(_fitting, self.policy)
        return _isolation_law if self.name == ISOLATION_LAW else None


def _fitting(policy: Policy, env: Any) -> Act:
    check_fit(policy, env)
    return policy


def _isolation_law(env: Any) -> Act:
    from twin.envs.vibration_isolation.law import IsolationLaw

    law: Act = IsolationLaw(env.unwrapped.task)
    return law


def contestant(name: str | Path, environment: str) -> Contestant:
    """Return who is meant: "zero", a controller or law, a shipped policy, or one in a file.

    Raises:
        InputError: none of them, a policy for another environment, or a controller where there is
            no motion to follow.
    """
    if name == ZERO:
        return Contestant(ZERO)
    if name == ISOLATION_LAW:
        if environment != ISOLATION:
            raise InputError("policy", f"the {name} can take part in {ISOLATION} only")
        return Contestant(ISOLATION_LAW)
    if name in controller_names():
        if environment != TRACKING:
            raise InputError("policy", f"the controller {name} can take part in {TRACKING} only")
        return Contestant(str(name))
    try:
        policy = load_policy(name)
    except InputError as error:
        if Path(name).is_file():
            raise
        known = ", ".join((ZERO, ISOLATION_LAW, *controller_names(), *policy_names()))
        told = error.message.partition("; known: ")[0]
        raise InputError("policy", f"{told}; known: {known}") from None
    if policy.origin.environment != environment:
        raise InputError(
            "policy", f"{name} is for {policy.origin.environment}, not for {environment}"
        )
    return Contestant(str(name), policy)


def metrics_of(environment: str) -> tuple[Metric, ...]:
    """Return the metrics of an environment; none for those that have none."""
    return METRICS.get(environment, ())
