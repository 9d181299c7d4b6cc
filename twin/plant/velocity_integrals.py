"""Integrals of the drives' velocity loops where one command follows another: forces go on."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant import actuation as column
from twin.plant.signals import Command


def follow(drives: FloatArray, states: FloatArray, before: Command, now: Command) -> None:
    """Change the integrals in `states` for the command `now` after the one `before`.

    Where feedforward ends, the velocity loops take over its force; after mode "force", whose
    force they have taken over already, what begins is left out of it.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, changed in place.
        before: followed so far.
        now: followed from now on.
    """
    integral = states[:, column.INTEGRAL]
    if before.mode == "velocity":
        if before.feedforward is not None and now.feedforward is None:
            integral += _passed(drives, before.feedforward)
            bound(drives, states)
    elif now.mode == "velocity" and now.feedforward is not None:
        integral -= _passed(drives, now.feedforward)


def take_over(drives: FloatArray, states: FloatArray, now: Command) -> None:
    """Let the integrals go on with what the motors give, less the feedforward of the command `now`.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, changed in place.
        now: the first command of another controller.
    """
    integral = states[:, column.INTEGRAL]
    integral[:] = states[:, column.EFFORT]
    if now.mode == "velocity" and now.feedforward is not None:
        integral -= _passed(drives, now.feedforward)


def bound(drives: FloatArray, states: FloatArray) -> None:
    """Forget what integrals hold beyond the drives' peaks: no motor has given it."""
    peak, integral = drives[:, column.PEAK], states[:, column.INTEGRAL]
    np.clip(integral, -peak, peak, out=integral)


def _passed(drives: FloatArray, feedforward: FloatArray) -> FloatArray:
    """Return what converters let through of `feedforward` `(n,)`, but for their digits."""
    peak = drives[:, column.PEAK]
    coarse = drives[:, column.EFFORT_DIGIT] > 0.0
    return np.where(coarse, np.clip(feedforward, -peak, peak), feedforward)
