"""Homing as a controller: from power-up, by raw counts and switches alone, to the start."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.controller import DEFAULT_PERIOD, Controller, Supervisor
from twin.errors import ControlError
from twin.model.machine_model import MachineModel
from twin.plant.encoder import machine_encoders
from twin.plant.homing import PHASE_NAMES, Homing, HomingInputs, homing_settings
from twin.plant.signals import Command, Measurement

UNKNOWN_POSITION_ERROR = 2.0
"""Allowed following error in strokes: before homing, the distance to the start is unknown."""


class HomingController(Controller):
    """Homes a machine whose every leg has an encoder with an index pulse; then holds it there.

    Attributes:
        homing: the homing state machine, with the decoder of the encoder counts.
        ready: whether all actuators rest at the start.
    """

    name: ClassVar[str] = "homing"

    def __init__(
        self,
        platform: MachineModel,
        index_coordinates: Any = None,
        *,
        start: Any = None,
        period: float = DEFAULT_PERIOD,
        velocity_gain: Any = None,
        velocity_time: Any = None,
        **options: float,
    ) -> None:
        """Take the machine's encoders and limits.

        Args:
            platform: the machine.
            index_coordinates: `(n,)` of one index pulse per actuator [m, rad], from calibration;
                default those of the encoders that seed 0 draws.
            start: coordinates `(n,)` to go to; default those of home.
            period: control period [s].
            velocity_gain: of the drives' velocity loops, one number or `(n,)`.
            velocity_time: [s], one number or `(n,)`.
            options: further entries of `HomingSettings`.

        Raises:
            InputError: an argument that cannot be used, or a machine that cannot be homed.
        """
        super().__init__(
            platform, period=period, velocity_gain=velocity_gain, velocity_time=velocity_time
        )
        encoders = machine_encoders(platform)
        calibrated_coordinates = (
            encoders.index_coordinates if index_coordinates is None else index_coordinates
        )
        self._settings = homing_settings(
            platform,
            encoders.resolution,
            encoders.counts_per_turn,
            calibrated_coordinates,
            start=start,
            period=self.period,
            **options,
        )
        self.homing = Homing(self._settings)
        self.ready = False
        self._phases = np.zeros(platform.n_actuators)
        self._homed = np.zeros(platform.n_actuators)

    def supervisor(self) -> Supervisor:
        """Return a supervisor without a limit on the distance from the start."""
        return Supervisor(
            self.platform, self.reference, self.period, following=UNKNOWN_POSITION_ERROR
        )

    def start(self, measurement: Measurement) -> None:
        """Restart, as after power-up."""
        self.homing = Homing(self._settings)
        self.ready = False

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the speeds and brakes of this control period.

        Raises:
            ControlError: the sensors give no counts, or homing was given up.
        """
        n = self.platform.n_actuators
        if len(measurement.counts) != n or len(measurement.at_minimum) != n:
            raise ControlError("homing needs raw counts and lower switches of every actuator")
        if not measurement.valid and step:
            return Command(np.zeros(n))
        output = self.homing.update(
            HomingInputs(measurement.time, measurement.counts, measurement.at_minimum)
        )
        if output.fault:
            raise ControlError(output.fault)
        self.ready = output.ready
        self._phases = np.array([PHASE_NAMES.index(phase) for phase in output.phases], dtype=float)
        self._homed = np.nan_to_num(output.coordinates, nan=0.0)
        return Command(output.speeds, "velocity", None, output.brakes)

    def signals(self) -> dict[str, FloatArray]:
        """Return phases, numbers in `PHASE_NAMES`, and coordinates: 0 before "waiting"."""
        return {"homing_phase": self._phases, "homed_coordinates": self._homed}
