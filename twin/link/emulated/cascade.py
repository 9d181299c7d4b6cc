"""The machine's own cascade: commands of the link to commands of the drives."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_position_loop
from twin.control.load_sharing import LoadSharing, shares_loads
from twin.control.position_loop import PositionLoop
from twin.control.positions import takes_positions
from twin.control.reference import still_reference
from twin.link.protocol import Sample
from twin.machine.quantity import LARGEST
from twin.model.machine_model import MachineModel
from twin.plant.signals import Command, Measurement


class DriveCascade:
    """Position loops around the drives, as the machine's own control unit closes them.

    A command is in force until the next one. Without one for longer than the watchdog's time the
    machine holds its last setpoint, or where it is. Servos and steppers take no forces.

    Attributes:
        given: fields of a measurement that say what the drives were given last.
    """

    def __init__(
        self, platform: MachineModel, period: float, watchdog: float, gain: FloatArray
    ) -> None:
        """Prepare the loops.

        Args:
            platform: the machine as its control unit knows it.
            period: [s] of the loops.
            watchdog: [s] after which a command is no longer in force.
            gain: `(n,)` of the velocity loops.
        """
        self._nothing = np.zeros(platform.n_actuators)
        self._loop = PositionLoop(platform, period, *suitable_position_loop(platform, period))
        self._positions = takes_positions(platform)
        self._sharing: LoadSharing | None = None
        if shares_loads(platform) and not self._positions:
            home = still_reference(platform, platform.home, period)
            self._sharing = LoadSharing(platform, home, gain)
        self._patience = round(watchdog / period)
        self.start(platform.home_coordinates)

    def start(self, coordinates: FloatArray) -> None:
        """Hold at coordinates `(n,)`."""
        self._command: Sample | None = None
        self._setpoint: FloatArray | None = coordinates.copy()
        self._age = 0
        self._looping = False
        self.given: dict[str, FloatArray] = {"setpoint": coordinates.copy()}
        if not self._positions:
            self.given["command_rates"] = self._nothing

    @property
    def holding(self) -> bool:
        """Whether no command is in force."""
        return self._command is None

    def update(self, command: Sample | None, measurement: Measurement) -> Command:
        """Return the drives' command of a period.

        Args:
            command: one that has just come; None for none.
            measurement: the last one.
        """
        self._age += 1
        if command is not None:
            self._command, self._age = command if command.values else None, 0
        elif self._age > self._patience:
            self._command = None
        rates, setpoint = self._field("command_rates"), self._field("setpoint")
        forces = None if self._positions else self._field("command_forces")
        if setpoint is None and rates is None and forces is None:
            setpoint, forces = self._held(measurement), None
        else:
            self._setpoint = setpoint
        if setpoint is not None and self._positions:
            return self._give(Command(setpoint, "position"), "setpoint")
        if setpoint is not None:
            rates = self._speeds(setpoint, self._nothing if rates is None else rates, measurement)
            self.given = {"setpoint": setpoint}
        else:
            self._looping, self.given = False, {}
        if rates is None:
            assert forces is not None
            return self._give(Command(forces, "force"), "command_forces")
        if forces is not None:
            self.given["command_forces"] = forces
        return self._give(Command(rates, "velocity", forces), "command_rates")

    def _field(self, name: str) -> FloatArray | None:
        """Return a field `(n,)` of the command in force, within what any machine could be given."""
        value = None if self._command is None else self._command.values.get(name)
        return None if value is None else np.clip(value, -LARGEST, LARGEST)

    def _give(self, command: Command, field: str) -> Command:
        self.given[field] = command.values
        return command

    def _held(self, measurement: Measurement) -> FloatArray:
        """Return the setpoint `(n,)` to hold: the last one, or where the machine is."""
        if self._setpoint is None:
            self._setpoint = measurement.coordinates.copy()
        return self._setpoint

    def _speeds(
        self, setpoint: FloatArray, rates: FloatArray, measurement: Measurement
    ) -> FloatArray:
        """Return the speeds `(n,)` of the position loops, whose integrals begin at zero."""
        if not self._looping:
            self._looping = True
            self._loop.start(self._nothing, measurement.rates, measurement.rates)
        if self._sharing is None:
            return self._loop.update(setpoint, measurement.coordinates, rates)
        return self._sharing.speeds(0, self._loop, setpoint, rates, measurement)
