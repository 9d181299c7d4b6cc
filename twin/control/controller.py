"""Base of the controllers: reference and measurement in, command out, once a control period."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, bounded, one_or_each, read_only
from twin.control.gains import suitable_velocity_loop
from twin.control.reference import Reference, sample_reference, still_reference
from twin.control.supervisor import Supervisor
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.signals import Command, Measurement

PERIOD = 1e-3
"""[s] Control period of the thesis and of most motion platforms."""


SHORTEST, LONGEST = 1e-6, 10.0
"""[s] Control periods; beyond them a loop controls no machine."""


def control_period(value: Any) -> float:
    """Return a control period [s] from `SHORTEST` to `LONGEST`; raises InputError otherwise."""
    return bounded(value, "period", SHORTEST, LONGEST)


class Controller(ABC):
    """A controller of one machine along one reference, called once a control period.

    Attributes:
        platform: the machine as the controller knows it.
        reference: where it shall go, at the control instants.
        first: control period in which it was started; the loop sets it.
        period: [s].
        velocity_gain: `(n,)` of the drives' velocity loops [N s/m] or [N m s/rad].
        velocity_time: `(n,)` their integral times [s].
    """

    name: ClassVar[str]
    limited: bool = False
    """Whether the last command was limited"""
    first: int = 0

    def __init__(
        self,
        platform: MachineModel,
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
        self.platform = as_model(platform)
        self.period = control_period(period)
        self.reference = _reference(platform, motion, self.period)
        gain, time = suitable_velocity_loop(platform, self.period)
        gain = gain if velocity_gain is None else velocity_gain
        time = time if velocity_time is None else velocity_time
        n = platform.n_actuators
        self.velocity_gain = read_only(one_or_each(gain, "velocity_gain", n))
        self.velocity_time = read_only(one_or_each(time, "velocity_time", n))

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

    def redirect(self, reference: Reference) -> None:
        """Follow another reference from now on; its `begin` says where its rows belong.

        What was summed up, estimated, limited and faded in stays: where the other reference goes on
        as the old one would, so does the command. Nothing is designed again.

        Args:
            reference: of this machine and this period.

        Raises:
            InputError: no such reference; the controller follows the old one.
            SingularPoseError: it passes a singular pose; likewise.
        """
        if not isinstance(reference, Reference):
            raise InputError("reference", f"must be a Reference, not {brief(reference)}")
        self._prepare(_usable(self.platform, reference, self.period, "reference"))

    def _prepare(self, reference: Reference) -> None:
        """Take a reference with all that the controller derives from it.

        A controller that derives values from its reference overrides this method, calls it in its
        constructor as well, and stores nothing before all values are derived.
        """
        self.reference = reference

    def supervisor(self) -> Supervisor:
        """Return the default supervisor of the loop around this controller."""
        return Supervisor(self.platform, self.reference, self.period)

    def signals(self) -> dict[str, FloatArray]:
        """Return further quantities of the last update, by name, to be kept with the trajectory."""
        return {}


def _reference(platform: MachineModel, motion: Any, period: float) -> Reference:
    if motion is None:
        return still_reference(platform, platform.home, period)
    if not isinstance(motion, Reference):
        return sample_reference(platform, motion, period)
    return _usable(platform, motion, period, "motion")


def _usable(platform: MachineModel, reference: Reference, period: float, field: str) -> Reference:
    """Return a reference that fits; `field`: as which it was given."""
    rows, n = len(reference.time), platform.n_actuators
    shapes = [(rows, *tail) for tail in ((), (7,), (6,), (6,), (n,), (n,), (n,), ())]
    parts = reference[1:-1]
    if abs(reference.period - period) > 1e-12 or [np.shape(part) for part in parts] != shapes:
        raise InputError(field, "is a reference of another machine or of another period")
    if not rows or not all(np.isfinite(part).all() for part in parts):
        raise InputError(field, "is a reference without rows, or with values that are not finite")
    if type(reference.begin) is not int:
        raise InputError(
            field, f"must begin in a whole control period, not {brief(reference.begin)}"
        )
    return reference
