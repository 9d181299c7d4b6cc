"""Runs of a cueing algorithm along a manoeuvre, and comparisons of algorithms on one manoeuvre."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_instance, one_of, positive
from twin.errors import InputError, UnreachablePoseError
from twin.model.machine_model import MachineModel, as_model
from twin.motion.cueing.algorithm import CuedMotion, CueingAlgorithm
from twin.motion.cueing.classical import AdaptiveWashout, ClassicalWashout
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.cueing.perception import PerceivedError, perceived_error
from twin.motion.cueing.predictive import PredictiveCueing
from twin.motion.cueing.workspace_use import WorkspaceUse, sensed_manoeuvre, workspace_use

ALGORITHMS: dict[str, type[CueingAlgorithm]] = {
    algorithm.name: algorithm for algorithm in (ClassicalWashout, AdaptiveWashout, PredictiveCueing)
}
"""Name -> algorithm."""

HEAD_POSITIONS = {"driving_simulator": (0.0, 0.0, 1.1)}
"""[m] Driver's head from the reference point on shipped machines, platform axes (engineering
choice); elsewhere it is at the reference point.
"""

LIMIT_FRACTION = 0.99
"""Largest fraction of the limits that a fitted motion uses."""

BISECTION_STEPS = 10
"""Number of halvings of the interval in which the factor that shrinks a motion is searched."""


class Cue(NamedTuple):
    """A manoeuvre turned into a motion of the platform."""

    motion: CuedMotion
    """reference motion of the platform's reference point, as long as the manoeuvre"""
    manoeuvre: Manoeuvre
    """manoeuvre that was cued"""
    head: FloatArray
    """`(3,)` [m] driver's head from the reference point, platform axes"""
    algorithm: CueingAlgorithm
    """algorithm in its state at the end"""
    shrink: float
    """factor by which the algorithm's motion was multiplied to keep the limits; 1 if unchanged"""
    step_time: FloatArray
    """`(n,)` [s] time that each step took on this computer"""


def default_head(platform: MachineModel) -> tuple[float, float, float]:
    """Return the driver's head `(3,)` [m] from the reference point; zeros for own machines."""
    return HEAD_POSITIONS.get(as_model(platform).name, (0.0, 0.0, 0.0))


def cue(
    platform: MachineModel,
    manoeuvre: Manoeuvre,
    algorithm: Any = "predictive",
    *,
    head: Any = None,
    scale: Any = 1.0,
    fit: bool = True,
    **options: Any,
) -> Cue:
    """Return the motion by which a platform lets its driver perceive a manoeuvre.

    Args:
        platform: the machine; it starts at rest at home.
        manoeuvre: at the vehicle's head point.
        algorithm: 'classical', 'adaptive' or 'predictive'.
        head: `(3,)` [m] the driver's head from the platform's reference point, platform axes;
            default `default_head`.
        scale: of the manoeuvre's departure from rest, before the algorithm.
        fit: whether a motion of a washout filter, which knows no limits, is shrunk as a whole so
            that lengths, speeds and accelerations of the actuators keep theirs. Predictive
            cueing keeps them by itself.
        options: of the algorithm's class: `settings`, `period`, ...

    Raises:
        InputError: unknown algorithm or options, no machine, no manoeuvre, out of range.
        MissingDependencyError: predictive cueing needs a solver that is not installed.
    """
    machine = as_model(platform)
    as_instance(manoeuvre, "manoeuvre", Manoeuvre)
    algorithm_class = ALGORITHMS[one_of(algorithm, "algorithm", ALGORITHMS)]
    shrinks = as_flag(fit, "fit")
    size = positive(scale, "scale")
    head_position = default_head(machine) if head is None else head
    try:
        stepper = algorithm_class(machine, head_position, **options)
    except TypeError as error:
        raise InputError("options", str(error)) from None
    count = int(manoeuvre.duration / stepper.period * (1.0 + 1e-12))
    if count < 2:
        raise InputError("manoeuvre", f"must last two periods of {stepper.period:g} s")
    force, rate = manoeuvre.scaled(size).at(stepper.period * np.arange(count + 1))
    rows, seconds = [stepper.state.copy()], []
    for k in range(1, count + 1):
        began = clock.perf_counter()
        # A step ends at the sample that it is given; a predictive one is given the one before.
        stepper.step(force[k - stepper.latency], rate[k - stepper.latency])
        seconds.append(clock.perf_counter() - began)
        rows.append(stepper.state.copy())
    motion = CuedMotion(machine.home, stepper.period, np.stack(rows, axis=1), stepper.point)
    factor = 1.0
    if shrinks and not stepper.keeps_limits:
        motion, factor = fitted(machine, motion)
    return Cue(motion, manoeuvre, stepper.head, stepper, factor, np.array(seconds))


def fitted(platform: MachineModel, motion: CuedMotion) -> tuple[CuedMotion, float]:
    """Return the motion times the largest factor up to 1 that keeps the limits, and the factor.

    Raises:
        InputError: not a machine.
    """

    def fits(factor: float) -> bool:
        try:
            return workspace_use(platform, motion.scaled(factor), 1e-2).largest <= LIMIT_FRACTION
        except UnreachablePoseError:
            return False

    if fits(1.0):
        return motion, 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return motion.scaled(low), low


class Outcome(NamedTuple):
    """Motion that one algorithm computed for one manoeuvre, with its errors."""

    cue: Cue
    """the motion"""
    error: PerceivedError
    """vehicle against platform, as perceived"""
    use: WorkspaceUse
    """use of the actuators' limits"""

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
    result = cue(platform, manoeuvre, algorithm, **options)
    error = perceived_error(manoeuvre, sensed_manoeuvre(platform, result.motion, result.head))
    return Outcome(result, error, workspace_use(platform, result.motion))


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
    """Return the perceived error of a platform at rest, as the baseline of all algorithms.

    Raises:
        InputError: no manoeuvre, or one shorter than four periods of the comparison.
    """
    return perceived_error(manoeuvre, manoeuvre.scaled(0.0))
