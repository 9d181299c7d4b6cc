"""Exciting motion: a finite Fourier series of all axes about home, at rest at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion.motion import Motion
from twin.motion.multi_sine import FourierMotion
from twin.motion.specification import convention_of, usual_amplitude

FADE_FRACTION = 0.1
"""Rise and fall, per duration."""

MAX_FADE = 2.0
"""[s] Longest rise or fall."""

FREE_AXES = ("z", "roll", "pitch")
"""Axes of machines with three degrees of freedom; the others follow."""

SAMPLE_TIME = 0.01
"""[s] between the rows of the table of a motion."""


class ExcitingMotion(FourierMotion):
    """Sum of cosines and sines on every axis, with a rise and a fall."""

    def __init__(
        self, platform: MachineModel, duration: Any, frequencies: Any, amplitudes: Any
    ) -> None:
        """Describe the series.

        Args:
            platform: the machine, about whose home it moves.
            duration: [s].
            frequencies: `(m,)` [Hz].
            amplitudes: `(m, a, 2)` of cosines and sines, of the axes of `moved_axes` [m] or [rad].

        Raises:
            InputError: wrong shapes, not finite, or a duration out of range.
        """
        fade = min(FADE_FRACTION * float(duration), MAX_FADE)
        super().__init__(platform.home, duration, convention_of(platform), fade, fade)
        lines, axes = as_floats(frequencies, "frequencies"), moved_axes(platform)
        given = as_floats(amplitudes, "amplitudes", 2)
        if given.shape != (len(lines), len(axes), 2):
            expected = (len(lines), len(axes), 2)
            raise InputError("amplitudes", f"must have shape {expected}, not {given.shape}")
        series = np.zeros((len(lines), len(self.axis_names)), dtype=complex)
        for column, axis in enumerate(axes):
            own = given[:, column, 0] - 1j * given[:, column, 1]
            series[:, self.axis_names.index(axis)] = own
        self._set_series(lines, series)


def moved_axes(platform: MachineModel) -> tuple[str, ...]:
    """Return the axes that a machine can move independently."""
    return ("x", "y", "z", "yaw", "pitch", "roll") if platform.dof == 6 else FREE_AXES


def sizes(platform: MachineModel) -> FloatArray:
    """Return a usual amplitude `(a,)` of each moved axis [m] or [rad]."""
    return np.array([usual_amplitude(platform, axis) for axis in moved_axes(platform)])


def motion_table(motion: Motion) -> str:
    """Return a motion as a CSV file that `read_recording` and commands take, 100 rows a second."""
    time = np.linspace(0.0, motion.duration, 1 + round(motion.duration / SAMPLE_TIME))
    values = motion.axes(time).values
    moved = [k for k in range(values.shape[1]) if values[:, k].any()]
    names = [motion.axis_names[k] for k in moved]
    titles = [f"{name} [{'m' if name in 'xyz' else 'rad'}]" for name in names]
    rows = np.column_stack([time, values[:, moved]]) + 0.0  # no minus zero
    body = "\n".join(",".join(f"{value:.12g}" for value in row) for row in rows)
    return f"time [s],{','.join(titles)}\n{body}\n"
