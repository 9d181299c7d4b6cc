"""The cueing algorithms compared on one manoeuvre."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from twin.model.machine_model import MachineModel
from twin.motion.cueing.felt_manoeuvre import felt_manoeuvre
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.cueing.perceived_error import PerceivedError, perceived_error
from twin.motion.cueing.run import ALGORITHMS, Cue, cue
from twin.motion.cueing.workspace_use import WorkspaceUse, workspace_use


class Outcome(NamedTuple):
    """Motion that one algorithm computed for one manoeuvre, with its errors."""

    cue: Cue
    """the motion"""
    error: PerceivedError
    """vehicle against platform, as perceived"""
    use: WorkspaceUse
    """of the actuators' limits"""

    @property
    def step_milliseconds(self) -> float:
        """Median time of a step on this computer [ms]."""
        return 1e3 * float(np.median(self.cue.step_time))


def outcome(
    platform: MachineModel, manoeuvre: Manoeuvre, algorithm: Any = "predictive", **options: Any
) -> Outcome:
    """Return the motion that cues a manoeuvre, its perceived error and its use of the workspace.

    Args:
        platform: the machine.
        manoeuvre: at the vehicle's head point.
        algorithm: 'classical', 'adaptive' or 'predictive'.
        options: of `cue`.

    Raises:
        InputError: see `cue`.
        MissingDependencyError: predictive cueing needs a solver that is not installed.
        UnreachablePoseError: a motion that was not fitted leaves what the legs can reach.
    """
    made = cue(platform, manoeuvre, algorithm, **options)
    error = perceived_error(manoeuvre, felt_manoeuvre(platform, made.motion, made.head))
    return Outcome(made, error, workspace_use(platform, made.motion))


def compare(
    platform: MachineModel,
    manoeuvre: Manoeuvre,
    algorithms: Iterable[str] = tuple(ALGORITHMS),
    **options: Any,
) -> dict[str, Outcome]:
    """Return the outcome of several algorithms on one manoeuvre, by name.

    Args:
        platform: the machine.
        manoeuvre: at the vehicle's head point.
        algorithms: names.
        options: of `cue`, the same for all.

    Raises:
        InputError: see `cue`.
        MissingDependencyError: predictive cueing needs a solver that is not installed.
        UnreachablePoseError: a motion that was not fitted leaves what the legs can reach.
    """
    return {name: outcome(platform, manoeuvre, name, **options) for name in algorithms}


def standstill_error(manoeuvre: Manoeuvre) -> PerceivedError:
    """Return the perceived error of a platform that does not move, to judge others by.

    Raises:
        InputError: no manoeuvre, or one shorter than four periods of the comparison.
    """
    return perceived_error(manoeuvre, manoeuvre.scaled(0.0))
