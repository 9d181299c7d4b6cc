"""Windows of a recording, and the smoothed motion that predictions begin with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.prediction.recording import Recording
from twin.identification.prediction.rollouts import Starts, displaced
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel

SMOOTHING, ORDER = 0.015, 4
"""[s] over which polynomials of this order give speeds and accelerations."""

WARM_UP = 5
"""Windows before the first one of a stretch, in which predictions forget how they began."""

STRETCHES, LONGEST = 16, 15
"""Stretches of a recording, about, and most windows of one."""

FEWEST = 3
"""Windows."""


class Windows(NamedTuple):
    """Stretches of a recording that are predicted in one go, each of as many windows."""

    first: Any
    """`(S,)` indices of the samples with which predictions begin"""
    warm_up: int
    """windows from there that do not count"""
    counted: int
    """windows of a stretch that do"""
    samples: int
    """of a window"""

    @property
    def times(self) -> Any:
        """Indices `(W, samples)` of the samples of all windows."""
        every = self.first[:, None] + self.samples * self.warm_up
        return (every + np.arange(self.samples * self.counted)).reshape(-1, self.samples)

    def short(self, share: int) -> Windows:
        """Return every `share`-th window as a stretch of its own, after one to warm up."""
        return Windows(self.times[::share, 0] - self.samples, 1, 1, self.samples)


def windows_of(recording: Recording, samples: int) -> Windows:
    """Return windows of `samples` intervals.

    Raises:
        InputError: fewer than `FEWEST` windows.
    """
    width = _width(recording)
    free = (len(recording.time) - 1 - 2 * width) // samples - WARM_UP
    if free < FEWEST:
        raise InputError(
            "log",
            f"has {max(free, 0)} windows of {samples * recording.period:g} s after {WARM_UP} to "
            "begin with; record a longer motion, or take shorter windows",
        )
    count = min(max(1, free // STRETCHES), LONGEST)
    first = width + samples * count * np.arange(free // count)
    return Windows(first, WARM_UP, count, samples)


def smoothed_motion(
    recording: Recording, machine: MachineModel, drives: FloatArray
) -> tuple[Starts, FloatArray]:
    """Return states `(T, ...)` to begin with, and inverse Jacobians `(T, 6, 6)`, at all samples.

    Args:
        recording: of the motion.
        machine: as far as it is known.
        drives: `(n, CONSTANTS)` of the machine.
    """
    position, speed, change, pose, twist, inverse, force = _smoothed(recording, machine)
    moves = drives[:, column.INERTIA] > 0.0
    stiff = np.where(moves, drives[:, column.STIFFNESS], np.inf)
    gap = np.where(moves, np.sign(force) * drives[:, column.HALF_PLAY], 0.0) + force / stiff
    rubbing = np.clip(speed / drives[:, column.STRIBECK], -1.0, 1.0) * drives[:, column.FRICTION]
    effort = force + drives[:, column.INERTIA] * change
    effort += rubbing + drives[:, column.VISCOUS] * speed
    pose = displaced(pose, -np.einsum("kij,kj->ki", inverse, gap))
    return Starts(position, speed, effort, pose, twist, position - gap, speed), inverse


def turns(recording: Recording, machine: MachineModel, windows: Windows) -> Any:
    """Return in which windows the force of each leg changes its sign `(W, n)`.

    Play shows there alone.
    """
    signs = np.sign(_smoothed(recording, machine)[-1][windows.times])
    return np.ptp(signs, axis=1) > 0.0


def _smoothed(recording: Recording, machine: MachineModel) -> tuple[FloatArray, ...]:
    """Return coordinates with two derivatives, poses, twists, inverse Jacobians and leg forces."""
    from scipy.signal import savgol_filter

    position, speed, change = (
        savgol_filter(
            recording.position, _width(recording), ORDER, deriv=k, delta=recording.period, axis=0
        )
        for k in range(3)
    )
    pose = machine.forward_kinematics(position)
    inverse = np.asarray(np.linalg.inv(machine.jacobian(pose)))
    twist = np.einsum("kij,kj->ki", inverse, speed)
    slope = machine.jacobian_derivative(pose, twist)
    bent = change - np.einsum("kij,kj->ki", slope, twist)
    force = machine.inverse_dynamics(pose, twist, np.einsum("kij,kj->ki", inverse, bent))
    return position, speed, change, pose, twist, inverse, force


def _width(recording: Recording) -> int:
    """Return the samples over which motion is smoothed."""
    return max(2 * round(0.5 * SMOOTHING / recording.period) + 1, ORDER + 3)
