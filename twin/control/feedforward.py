"""The cascade with the forces of a model: inverse dynamics of the reference, drives included."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, as_flag
from twin.control.cascade import Cascade
from twin.control.controller import PERIOD
from twin.control.drive_model import drive_model
from twin.control.feedforward_table import feedforward_table
from twin.control.gains import derived_velocity_loop
from twin.control.reference import Reference
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.signals import Command, Measurement


class InverseDynamicsFeedforward(Cascade):
    """Cascade whose velocity loops need not find the forces: a model gives them beforehand.

        command = v_ref(t + lead) + Kp e + Ki int(e),   e = q_ref + play + wind-up - q
        force  = ID(reference) + m_motor q_ref'' + friction(q_ref'),   at t + lead

    Everything that depends on the reference is computed once. The lead is the drives' delay and
    half a period of the controller, for forces also the current loop's lag.

    Attributes:
        table: what is known beforehand.
    """

    name: ClassVar[str] = "feedforward"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = PERIOD,
        model: MachineModel | None = None,
        position_gain: Any = None,
        position_integral: Any = None,
        velocity_gain: Any = None,
        velocity_time: Any = None,
        preview: bool = True,
        friction: bool = True,
    ) -> None:
        """Compute the forces of the reference.

        Args:
            platform: the machine.
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            model: what the controller takes the machine for; default the machine itself.
            position_gain: [1/s]; default the machine's.
            position_integral: [1/s2]; default the machine's.
            velocity_gain: of the drives' velocity loops; default derived from the masses that
                they move, motors included.
            velocity_time: [s], default likewise.
            preview: look ahead in the reference by what delay and lag take.
            friction: compensate the drives' friction.

        Raises:
            InputError: an argument that cannot be used, or springs inside the legs.
            SingularPoseError: the reference passes a singular pose.
        """
        known = self.model = as_model(platform if model is None else model)
        self._drives = drive_model(known)
        self._preview = as_flag(preview, "preview")
        self._friction = as_flag(friction, "friction")
        gain, time = derived_velocity_loop(known, period)
        super().__init__(
            platform,
            motion,
            period=period,
            position_gain=position_gain,
            position_integral=position_integral,
            velocity_gain=gain if velocity_gain is None else velocity_gain,
            velocity_time=time if velocity_time is None else velocity_time,
            feedforward_start=0.0,
            feedforward_rise=0.0,
        )
        self._force = self._held = np.zeros(platform.n_actuators)

    def _prepare(self, reference: Reference) -> None:
        self.table = feedforward_table(
            self.model, reference, self._drives, preview=self._preview, friction=self._friction
        )
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Begin at `measurement`, without a jump in the command."""
        row = self.reference.row(self.first)
        error = self.table.coordinates[row] - measurement.coordinates
        self._integral = measurement.rates - self.table.rates[row] - self.position_gain * error
        # The integrals of the velocity loops hold the machine when the controller begins.
        self._held = measurement.forces
        self._limiter.start(measurement.rates)

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return speeds and forces for control period `step`."""
        row = self.reference.row(step)
        error = self.table.coordinates[row] - measurement.coordinates
        unlimited = self.table.rates[row] + self.position_gain * error + self._integral
        command = self._limiter.apply(unlimited)
        free = (unlimited - command) * error <= 0.0
        self._integral = self._integral + (self.position_integral * self.period) * error * free
        self._force = self.table.forces[row] - self._held
        return Command(command, "velocity", self._force)

    def signals(self) -> dict[str, FloatArray]:
        """Return the feedforward forces."""
        return {"feedforward": self._force}
