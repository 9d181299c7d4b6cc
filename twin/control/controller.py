"""What every controller is: reference and measurement in, command out, once a control period."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from twin.arrays import FloatArray, as_floats, positive, read_only
from twin.control.gains import suitable_velocity_loop
from twin.control.reference import Reference, sample_reference, still_reference
from twin.control.supervisor import Supervisor
from twin.errors import InputError
from twin.motion import Motion
from twin.plant.command import Command
from twin.plant.measurement import Measurement
from twin.platform import Platform, as_platform

PERIOD = 1e-3
"""[s] Control period of the thesis and of most motion platforms."""


class Controller(ABC):
    """A controller of one machine along one reference, called once a control period.

    Attributes:
        platform: the machine as the controller knows it.
        reference: where it shall go, at the control instants.
        period: [s].
        velocity_gain: `(n,)` of the drives' velocity loops [N s/m] or [N m s/rad].
        velocity_time: `(n,)` their integral times [s].
    """

    name: ClassVar[str]
    limited: bool = False
    """Whether the last command is less than what the controller wanted"""

    def __init__(
        self,
        platform: Platform,
        motion: Motion | Reference | None = None,
        *,
        period: float = PERIOD,
        velocity_gain: Any = None,
        velocity_time: Any = None,
    ) -> None:
        """Sample the motion.

        Args:
            platform: the machine as the controller knows it.
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            velocity_gain: one number or `(n,)`; default the machine's, or derived from its masses.
            velocity_time: one number or `(n,)` [s]; default likewise.

        Raises:
            InputError: an argument that cannot be used.
        """
        self.platform = as_platform(platform)
        self.period = positive(period, "period")
        self.reference = _reference(platform, motion, self.period)
        gain, time = suitable_velocity_loop(platform, self.period)
        self.velocity_gain = (
            gain
            if velocity_gain is None
            else each(velocity_gain, "velocity_gain", platform.n_actuators)
        )
        self.velocity_time = (
            time
            if velocity_time is None
            else each(velocity_time, "velocity_time", platform.n_actuators)
        )

    def __repr__(self) -> str:
        return f"<controller {self.name!r} of {self.platform.name!r}: {1e3 * self.period:g} ms>"

    @property
    def loop_gains(self) -> FloatArray:
        """Gains `(n, 2)` of the drives' velocity loops: gain, and gain per integral time."""
        # An infinite one is refused when the loop starts.
        with np.errstate(over="ignore"):
            return np.column_stack([self.velocity_gain, self.velocity_gain / self.velocity_time])

    @abstractmethod
    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a jump in the first command."""

    @abstractmethod
    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the command of control period `step`, counted from 0.

        Raises:
            ControlError: the controller cannot go on; the loop stops the machine safely.
        """

    def supervisor(self) -> Supervisor:
        """Return who watches the loop around this controller, unless told otherwise."""
        return Supervisor(self.platform, self.reference, self.period)

    def signals(self) -> dict[str, FloatArray]:
        """Return further quantities of the last update, by name, to be kept with the trajectory."""
        return {}


def each(value: Any, field: str, n: int) -> FloatArray:
    """Return one number above zero per actuator `(n,)`, read-only.

    Raises:
        InputError: another shape, not finite, or not above zero.
    """
    numbers = as_floats(value, field)
    if numbers.shape not in ((), (n,)):
        raise InputError(field, f"must be one number or have shape ({n},), got {numbers.shape}")
    if not (numbers > 0.0).all():
        raise InputError(field, "must be above zero")
    return read_only(np.broadcast_to(numbers, (n,)).copy())


def _reference(platform: Platform, motion: Any, period: float) -> Reference:
    if motion is None:
        return still_reference(platform, platform.home, period)
    if not isinstance(motion, Reference):
        return sample_reference(platform, motion, period)
    rows, n = len(motion.time), platform.n_actuators
    shapes = [(rows, *tail) for tail in ((), (7,), (6,), (6,), (n,), (n,), (n,), ())]
    parts = motion[1:]
    if abs(motion.period - period) > 1e-12 or [np.shape(part) for part in parts] != shapes:
        raise InputError("motion", "is a reference of another machine or of another period")
    if not rows or not all(np.isfinite(part).all() for part in parts):
        raise InputError("motion", "is a reference without rows, or with numbers that are none")
    return motion
