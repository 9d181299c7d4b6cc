"""Safe stop: speeds ramped to zero by the drives alone, then brakes."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import derived_velocity_loop
from twin.control.positions import has_encoders, takes_positions
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit
from twin.plant.signals import Command, Measurement

RAMP = 0.15
"""[s] Adopted: from the present speeds to zero."""

SETTLING = 0.1
"""[s] Adopted: at rest under the velocity loops before the brakes close."""

SWINGING = 0.3
"""[s] Adopted: after the brakes have closed, while elastic parts swing out."""

STILL = 5e-3
"""[1/s] Adopted: speed in parts of the stroke at which a machine may be left alone."""

LONGEST = 2.0
"""[s] Adopted: how much longer to wait for that."""

UNSEEN = 0.5
"""[s] Adopted: how much longer to wait where no sensor says it."""


class SafeStop:
    """Brings a machine to rest by its drives' velocity loops, whatever the controller did.

    The loops get gains derived from the machine's masses: those of the controller may be the
    reason to stop. After the ramp they hold still, and brakes close where there are any.

    Attributes:
        gains: `(n, 2)` of the velocity loops.
        duration: [s] from the reason to stop until the machine may be left alone, if it is still.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        gain, time = derived_velocity_loop(platform, period)
        self.gains = np.column_stack([gain, gain / time])
        drives = [leg.drive for leg in platform.parameters.legs]
        closing = [0.0 if drive is None else drive.brake_engage_time for drive in drives]
        self._brakes = np.array(
            [float(drive is not None and drive.reflected().brake > 0.0) for drive in drives]
        )
        stroke = platform.maximum_coordinates - platform.minimum_coordinates
        self._fastest = actuator_limit(platform, "speed", stroke)
        self.duration = RAMP + SETTLING + max(closing) + SWINGING
        self._still = STILL * stroke
        self._unseen = takes_positions(platform) and not has_encoders(platform)
        self._period = period
        self._from: FloatArray = np.zeros(platform.n_actuators)
        self._begin = 0

    def begin(self, step: int, measurement: Measurement) -> None:
        """Start to stop in control period `step` from what was measured last."""
        rates = np.nan_to_num(measurement.rates, nan=0.0, posinf=0.0, neginf=0.0)
        self._from, self._begin = np.clip(rates, -self._fastest, self._fastest), step

    def command(self, step: int) -> Command:
        """Return the command of control period `step`."""
        elapsed = (step - self._begin) * self._period
        share = max(0.0, 1.0 - elapsed / RAMP)
        braking = elapsed >= RAMP + SETTLING
        return Command(share * self._from, brakes=self._brakes if braking else None)

    def done(self, step: int, measurement: Measurement) -> bool:
        """Return whether the machine is at rest, braked where it can be."""
        waited = (step - self._begin) * self._period - self.duration
        if waited < 0.0:
            return False
        if self._unseen:
            return waited >= UNSEEN
        still = not measurement.valid or bool((np.abs(measurement.rates) <= self._still).all())
        return still or waited >= LONGEST
