"""Handover of a running machine to another controller, without a jump."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.control.reference import Reference
from twin.plant.signals import Command, Measurement

FADE = 0.5
"""[s] Adopted: over which the position and the force that a controller finds are given up."""

RATE_FADE = 0.02
"""[s] Adopted: over which the rate is; longer ones would move the machine by what encoders miss."""


class Handover:
    """Shift of the measurements that a controller gets after it has taken over; it fades to zero.

    Two controllers hold a moving machine with different errors, so that the new one would begin
    with a jump. Its measured coordinates and rates are therefore shifted onto its reference. Its
    speeds are corrected by the rate of the shift, and its forces begin with those of the motors.

        shift = e0 (1 - 3 u^2 + 2 u^3) + e0' t (1 - w)^2,   u = t / FADE,   w = t / RATE_FADE
    """

    def __init__(
        self, reference: Reference, step: int, measurement: Measurement, efforts: FloatArray
    ) -> None:
        """Begin in control period `step` where motors give `efforts` `(n,)`."""
        row = reference.row(step)
        self._period, self._first = reference.period, step
        self._error = reference.coordinates[row] - measurement.coordinates
        self._slip = reference.rates[row] - measurement.rates
        self._efforts = efforts
        self._offset: FloatArray | None = None

    def over(self, step: int) -> bool:
        """Return whether it has ended in control period `step`."""
        return self._elapsed(step) >= FADE

    def shown(self, step: int, measurement: Measurement) -> Measurement:
        """Return the measurement that the controller gets."""
        shift, rate = self._shift(self._elapsed(step))
        return measurement._replace(
            coordinates=measurement.coordinates + shift, rates=measurement.rates + rate
        )

    def corrected(self, step: int, command: Command) -> Command:
        """Return the command that the drives get."""
        elapsed = self._elapsed(step)
        if command.mode == "velocity":
            return command._replace(values=command.values - self._shift(elapsed)[1])
        if command.mode == "position":
            return command._replace(values=command.values - self._shift(elapsed)[0])
        if self._offset is None:
            self._offset = self._efforts - command.values
        return command._replace(values=command.values + (1.0 - elapsed / FADE) * self._offset)

    def _elapsed(self, step: int) -> float:
        return (step - self._first) * self._period

    def _shift(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Return the shift of the coordinates `(n,)` at a time [s] and its rate."""
        u, w = time / FADE, min(time / RATE_FADE, 1.0)
        shift = self._error * (1.0 - u * u * (3.0 - 2.0 * u))
        rate = self._error * (6.0 * u * (u - 1.0) / FADE)
        left = 1.0 - w
        return shift + self._slip * (time * left * left), rate + self._slip * (
            left * (1.0 - 3.0 * w)
        )
