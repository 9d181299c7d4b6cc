"""Specific force and angular rate over time, as a driver or pilot feels them in the vehicle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, read_only
from twin.errors import InputError, brief
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.axes import LONGEST_TIME

LARGEST_FORCE = 200.0
"""[m/s2] Twenty g."""

LARGEST_RATE = 50.0
"""[rad/s]"""

FEWEST_SAMPLES = 4

REST_SHARE = 0.3
"""Of g; a manoeuvre whose specific force at rest is smaller lacks gravity."""

REST_TIME = 0.2
"""[s] Time over which a vehicle stands still: nothing but free fall has so little force so long."""

REST_RATE = 0.02
"""[rad/s] Largest angular rate of a vehicle that stands still."""


@dataclass(frozen=True, eq=False)
class Manoeuvre:
    """Specific force and angular rate at the head, in vehicle axes. Cannot be changed.

    Specific force is acceleration minus gravity, what an accelerometer shows: a vehicle at rest on
    level ground has (0, 0, +9.81) m/s2. Axes: x forward, y left, z up.

    Attributes:
        name: for titles.
        time: `(n,)` [s] from 0, increasing.
        specific_force: `(n, 3)` [m/s2].
        angular_rate: `(n, 3)` [rad/s].
    """

    name: str
    time: FloatArray
    specific_force: FloatArray
    angular_rate: FloatArray

    def __post_init__(self) -> None:
        """Check shapes and sizes; raises InputError."""
        if not isinstance(self.name, str):
            raise InputError("name", f"must be a text, not {brief(self.name)}")
        time = as_floats(self.time, "time")
        if time.ndim != 1 or len(time) < FEWEST_SAMPLES:
            raise InputError("time", f"must be a list of at least {FEWEST_SAMPLES} times [s]")
        if np.abs(time).max() > LONGEST_TIME or not (np.diff(time) > 0.0).all():
            raise InputError("time", f"must increase and stay below {LONGEST_TIME:g} s")
        for field, largest, unit in (
            ("specific_force", LARGEST_FORCE, "m/s2"),
            ("angular_rate", LARGEST_RATE, "rad/s"),
        ):
            values = as_floats(getattr(self, field), field, 3)
            if values.shape != (len(time), 3):
                raise InputError(field, f"must have shape ({len(time)}, 3), got {values.shape}")
            if np.abs(values).max() > largest:
                raise InputError(field, f"must not exceed {largest:g} {unit}: wrong unit?")
            object.__setattr__(self, field, read_only(values))
        object.__setattr__(self, "time", read_only(time - time[0]))
        self._check_gravity()

    def _check_gravity(self) -> None:
        """Raise InputError where a vehicle at rest does not feel +g along z."""
        still = np.linalg.norm(self.specific_force, axis=1) < REST_SHARE * GRAVITY
        still &= np.linalg.norm(self.angular_rate, axis=1) < REST_RATE
        edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]])))
        begin, end = edges[::2], edges[1::2] - 1
        if (self.time[end] - self.time[begin] >= min(REST_TIME, self.duration)).any():
            longest = int(np.argmax(self.time[end] - self.time[begin]))
            rest = self.specific_force[begin[longest] : end[longest] + 1, 2].mean()
            start = self.time[begin[longest]]
            raise InputError(
                "specific_force",
                f"is {rest + 0.0:.3g} m/s2 along z in the mean from {start:.4g} s on, where the "
                f"vehicle stands still, but must be +{GRAVITY} m/s2 there (z up): add gravity if "
                "these are accelerations",
            )
        mean = float(self.specific_force[:, 2].mean())
        if mean < REST_SHARE * GRAVITY:
            raise InputError(
                "specific_force",
                f"its mean along z is {mean:.3g} m/s2, but at rest it is +{GRAVITY} m/s2 (z up): "
                "add gravity if these are accelerations, turn the axes if z points down",
            )

    @property
    def duration(self) -> float:
        """[s] from the first to the last sample."""
        return float(self.time[-1])

    def at(self, time: Any) -> tuple[FloatArray, FloatArray]:
        """Return specific force and angular rate `(m, 3)` at times `(m,)` [s], linear between.

        Before the first and after the last sample these hold.

        Raises:
            InputError: not finite.
        """
        times = np.atleast_1d(as_floats(time, "time"))
        columns = np.hstack([self.specific_force, self.angular_rate])
        values = np.stack([np.interp(times, self.time, column) for column in columns.T], axis=-1)
        return values[..., :3], values[..., 3:]

    def scaled(self, factor: Any) -> Manoeuvre:
        """Return the manoeuvre with its departure from rest times `factor`; raises InputError."""
        share = as_floats(factor, "factor")
        if share.ndim:
            raise InputError("factor", "must be one number")
        rest = np.array([0.0, 0.0, GRAVITY])
        force = rest + share * (self.specific_force - rest)
        return Manoeuvre(self.name, self.time, force, share * self.angular_rate)
