"""The cascade of the thesis: PI position loop with velocity feedforward around a velocity loop."""

from __future__ import annotations

from typing import Any, ClassVar

from twin.basics.arrays import FloatArray, not_negative
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference
from twin.control.gains import configured_gains, spring_forces, suitable_position_loop
from twin.control.position_loop import (
    LoadSharing,
    PositionCommands,
    PositionLoop,
    needs_load_sharing,
    takes_positions,
)
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Command, Measurement


class Cascade(Controller):
    """Decentralised PI position loops: speed command = feedforward + gain e + integral of e.

    The drives close the velocity loops. Where the command is limited the integral stops, and it
    starts such that the first command is the present speed. Velocity feedforward begins
    `feedforward_start` after the closed loop and rises over `feedforward_rise`; a cascade that
    takes over later has it at once. Struts also get the force that stretches their own springs.
    Servos and steppers get positions instead: see `PositionCommands`.

    Attributes:
        position_gain: [1/s].
        position_integral: [1/s2].

    Reference:
        Albayrak, thesis, METU 2005, figures 4.19 and 4.20, appendix C (figures C.11, C.12).
    """

    name: ClassVar[str] = "cascade"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        position_gain: Any = None,
        position_integral: Any = None,
        velocity_gain: Any = None,
        velocity_time: Any = None,
        feedforward_start: Any = None,
        feedforward_rise: Any = None,
    ) -> None:
        """Take the machine's gains, or the given ones.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            position_gain: [1/s].
            position_integral: [1/s2].
            velocity_gain: of the velocity loop [N s/m] or [N m s/rad], one number or `(n,)`.
            velocity_time: [s], one number or `(n,)`.
            feedforward_start: [s] after the closed loop, when velocity feedforward begins.
            feedforward_rise: [s] over which it rises.

        Raises:
            InputError: an argument that cannot be used.
        """
        super().__init__(
            platform,
            motion,
            period=period,
            velocity_gain=velocity_gain,
            velocity_time=velocity_time,
        )
        machine_gains = configured_gains(platform)
        gain, integral = suitable_position_loop(platform, self.period)
        default_start, default_rise = (
            (0.0, 0.0)
            if machine_gains is None
            else (machine_gains.feedforward_start, machine_gains.feedforward_rise)
        )
        self.position_gain = _given(position_gain, gain, "position_gain")
        self.position_integral = _given(position_integral, integral, "position_integral")
        self._begin = _given(feedforward_start, default_start, "feedforward_start")
        self._rise = _given(feedforward_rise, default_rise, "feedforward_rise")
        self._loop = PositionLoop(platform, self.period, self.position_gain, self.position_integral)
        positioned = takes_positions(platform)
        self._positions = PositionCommands(platform, self.period) if positioned else None
        self._balances_loads = needs_load_sharing(platform) and not positioned
        self._prepare(self.reference)
        self._held = self._stretching[0]

    def _prepare(self, reference: Reference) -> None:
        self._stretching = spring_forces(self.platform, reference.coordinates)
        gain = self.velocity_gain
        self._sharing = (
            LoadSharing(self.platform, reference, gain) if self._balances_loads else None
        )
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`, without a step in the command."""
        row_index = self.reference.row(self.first)
        error = self.reference.coordinates[row_index] - measurement.coordinates
        if self._positions is not None:
            self._positions.start(error)
        feedforward = (
            self._feedforward_fraction(self.first * self.period) * self.reference.rates[row_index]
        )
        # What stretches the springs at the start is in the integrals of the velocity loops.
        self._held = self._stretching[row_index]
        self._start_loop(row_index, error, measurement.rates, feedforward)

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return speeds for control period `step`."""
        row_index = self.reference.row(step)
        setpoint, rates = self.reference.coordinates[row_index], self.reference.rates[row_index]
        measured = measurement.coordinates
        if self._positions is not None:
            command = self._positions.update(setpoint, rates, setpoint - measured)
            return Command(command, "position")
        fraction = self._feedforward_fraction(step * self.period)
        command = self._loop_speeds(row_index, setpoint, rates, measurement, fraction)
        self.limited = self._loop.limited
        return Command(command, feedforward=self._stretching[row_index] - self._held)

    def _start_loop(
        self, row: int, error: FloatArray, rates: FloatArray, feedforward: FloatArray
    ) -> None:
        """Start the position loop without a step in the speed command."""
        if self._sharing is not None:
            error = self._sharing.consistent(row, error)
        self._loop.start(error, rates, feedforward)

    def _loop_speeds(
        self,
        row: int,
        setpoint: FloatArray,
        rates: FloatArray,
        measurement: Measurement,
        fraction: float = 1.0,
    ) -> FloatArray:
        """Return the speeds of the position loop; redundant legs share the load."""
        if self._sharing is None:
            return self._loop.update(setpoint, measurement.coordinates, rates, fraction)
        return self._sharing.speeds(row, self._loop, setpoint, rates, measurement, fraction)

    def _feedforward_fraction(self, time: float) -> float:
        """Return the fraction of velocity feedforward: 0, smoothly up to 1."""
        if time < self._begin:
            return 0.0
        if time >= self._begin + self._rise:
            return 1.0
        progress = (time - self._begin) / self._rise
        return progress * progress * (3.0 - 2.0 * progress)


def _given(value: Any, default: float, field: str) -> float:
    return default if value is None else not_negative(value, field)
