"""The largest payload that a machine can shake, over positions and frequencies.

Inverse dynamics is affine in the body's mass at every instant, so each run gives the largest
mass directly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.body import MassSteps, mass_steps
from twin.analysis.payload.criterion import SAMPLES, THESIS_CRITERION, Criterion, VibrationTest
from twin.analysis.payload.positions import Positions, grid_positions
from twin.basics.arrays import FloatArray, whole_number
from twin.model.machine_model import MachineModel

SHARES = (5.0 / 23.0, 10.0 / 23.0, 15.0 / 23.0, 20.0 / 23.0)
"""Stewart thesis, section 4.2.2: 0.05, 0.10, 0.15, 0.20 of 0.23 m."""

FINE = 360
"""Times in a period of runs that decide: they miss 4e-5 of what moves."""

Progress = Callable[[int, int], None]
"""Called with the number of parts that are done and of all parts."""


class DynamicPayload(NamedTuple):
    """Result of a dynamic search; masses [kg] are of the whole body on the legs."""

    criterion: Criterion
    extensions: FloatArray
    """`(k, n)` positions searched [m] or [rad], in search order"""
    poses: FloatArray
    """`(k, 7)`"""
    masses: FloatArray
    """`(k, f)` largest of each run; infinite where it was left out"""
    outcomes: FloatArray
    """`(k, f)` 0: done; 1: left out, beyond an actuator's ends; 2: left out, faster than one"""
    passes_kg: float | None
    """last mass that passes all runs; None: not even the first one, or every run was left out"""
    fails_kg: float | None
    """the next one; None: every run was left out"""
    first_failure: FloatArray | None
    """`(n,)` first position at which that one fails"""
    first_frequency: float | None
    """[Hz] first at that position"""
    exact_limit_kg: float
    """largest mass on the grid, between the steps; infinite where every run was left out"""
    exact_position: FloatArray
    """`(n,)` where it is reached"""
    exact_frequency: float
    """[Hz]"""
    exact_leg: int
    """that reaches its limit there, from 1; 0: none"""

    @property
    def left_out(self) -> tuple[int, ...]:
        """Number of positions left out, per frequency."""
        return tuple(int(count) for count in (self.outcomes > 0.0).sum(axis=0))


def dynamic_payload(
    platform: MachineModel,
    criterion: Criterion = THESIS_CRITERION,
    *,
    limit: Any = None,
    shares: Any = SHARES,
    start: float | None = None,
    step: float | None = None,
    sense: str = "magnitude",
    checked: bool = True,
    samples: int = SAMPLES,
    progress: Progress | None = None,
) -> DynamicPayload:
    """Return the largest payload with which a machine meets a criterion.

    Args:
        platform: with six actuators and degrees of freedom.
        criterion: accelerations, frequencies, phases.
        limit: largest force [N] or torque [N m] of the actuators, default what its file gives.
        shares: positions of every actuator in parts of its stroke.
        start: first mass [kg] tried, default the step.
        step: what is added to it [kg], default about a thirtieth of what the machine holds at home.
        sense: "magnitude", or "signed" for pushing forces alone, as the thesis' code.
        checked: whether runs beyond the actuators' ends or speeds are left out.
        samples: times in a period; runs that decide are repeated with more.
        progress: called after every frequency.

    Raises:
        InputError: a machine without six degrees of freedom, legs that give way, no limit known, or
            numbers out of range.

    Reference:
        Stewart thesis, section 4.2.2 and appendix A.6.
    """
    whole_number(samples, "samples", 8)
    machine = VibrationTest(platform, limit, sense, checked=checked)
    positions = grid_positions(platform, shares)
    runs = []
    for number, frequency in enumerate(criterion.frequencies, start=1):
        runs.append(machine.run(criterion, frequency, positions.poses, samples))
        if progress is not None:
            progress(number, len(criterion.frequencies))
    masses, legs, outcomes = (np.stack(part, axis=1) for part in zip(*runs, strict=True))

    def repeat(chosen: Any) -> None:
        """Repeat the runs `(k, f)` that are chosen, with more samples."""
        chosen = chosen & np.isfinite(masses)
        for column in np.flatnonzero(chosen.any(axis=0)):
            rows = np.flatnonzero(chosen[:, column])
            again = machine.run(
                criterion, criterion.frequencies[column], positions.poses[rows], FINE
            )
            masses[rows, column], legs[rows, column] = again.mass, again.leg

    # A sine sampled beside its peak misses 1 - cos of it; twice that for what stays the same.
    close = 2.0 * (1.0 - np.cos(np.pi / samples))
    repeat(masses <= masses.min() * (1.0 + close))
    width = machine.payload.step if step is None else step
    steps = mass_steps(float(masses.min()), start, width)
    if not np.isfinite(masses).any():
        steps = MassSteps(None, None)
    if steps.fails is not None:
        repeat(np.abs(masses / steps.fails - 1.0) < close)
    return _result(criterion, positions, masses, legs, outcomes, steps)


def _result(
    criterion: Criterion,
    positions: Positions,
    masses: FloatArray,
    legs: FloatArray,
    outcomes: FloatArray,
    steps: MassSteps,
) -> DynamicPayload:
    row, column = np.unravel_index(int(masses.argmin()), masses.shape)
    first, frequency = None, None
    if steps.fails is not None:
        failing = masses < steps.fails
        index = int(failing.any(axis=1).argmax())
        first = positions.extensions[index]
        frequency = float(criterion.frequencies[int(failing[index].argmax())])
    return DynamicPayload(
        criterion=criterion,
        extensions=positions.extensions,
        poses=positions.poses,
        masses=masses,
        outcomes=outcomes,
        passes_kg=steps.passes,
        fails_kg=steps.fails,
        first_failure=first,
        first_frequency=frequency,
        exact_limit_kg=float(masses[row, column]),
        exact_position=positions.extensions[row],
        exact_frequency=float(criterion.frequencies[column]),
        exact_leg=int(legs[row, column]),
    )
