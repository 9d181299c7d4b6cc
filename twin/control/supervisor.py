"""Supervisor: watches a closed loop and says why it has to stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import HUGE, FloatArray, positive
from twin.control.reference import Reference
from twin.kernels.control.supervision import all_near, all_within, any_reaches
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit
from twin.plant.signals import Command, Measurement

PATIENCE = 5e-3
"""[s] Adopted: longest time without a measurement."""

SATURATION = 0.5
"""[s] Adopted: longest time for which drives may stay below their commands."""

FOLLOWING = 0.25
"""Adopted: largest error of an actuator, in parts of its stroke."""

OVERSPEED = 1.5
"""Adopted: largest speed of an actuator, in parts of its limit."""

CAUSE = "unstable gains or too fast a motion"
"""Of large errors and speeds, usually."""


class Supervisor:
    """Finds the reason to stop a machine, if there is one.

    Sensor dropout, a reference that cannot be reached, an error or a speed beyond bounds,
    commands that the drives cannot meet, and commands that are no numbers.

    Attributes:
        following: `(n,)` largest errors of the actuators [m, rad].
        fastest: `(n,)` largest rates [m/s, rad/s], infinite where no limit is known.
        speed: `(n,)` limits of the actuators.
        runaway: `(n,)` rates that end the motion within a control period.
        saturation: [s] that drives may be at their limits without a break.
    """

    def __init__(
        self,
        platform: MachineModel,
        reference: Reference,
        period: float,
        *,
        following: Any = FOLLOWING,
        saturation: Any = SATURATION,
        patience: Any = PATIENCE,
    ) -> None:
        """Set the bounds.

        Args:
            platform: the machine.
            reference: of the controller.
            period: of the controller [s].
            following: largest error of an actuator in parts of its stroke.
            saturation: [s] that drives may be at their limits without a break.
            patience: [s] that sensors may be silent.

        Raises:
            InputError: bounds that are not above zero.
        """
        stroke = platform.maximum_coordinates - platform.minimum_coordinates
        self.following = positive(following, "following") * stroke
        self.speed = actuator_limit(platform, "speed")
        self.fastest = OVERSPEED * self.speed
        # Without a known limit: a hundredth of a second from end to end is no motion any more.
        self.runaway = np.where(np.isfinite(self.fastest), 2.0 * self.fastest, 100.0 * stroke)
        self._huge = np.full_like(stroke, HUGE)
        self._unit = platform.coordinate_unit
        self.saturation = positive(saturation, "saturation")
        self._patience = positive(patience, "patience")
        self._reference, self._period = reference, period
        self.start()

    def start(self) -> None:
        """Begin to watch: nothing was silent or limited so far."""
        self._silent = self._limited = 0

    def redirect(self, reference: Reference) -> None:
        """Watch the loop along another reference from now on; what was counted stays."""
        self._reference = reference

    def check_measurement(self, step: int, measurement: Measurement) -> str:
        """Return why the machine has to stop in control period `step`; empty where it may go on."""
        if not measurement.valid:
            self._silent += 1
            if self._silent * self._period > self._patience:
                return f"sensor dropout: no reading for {1e3 * self._patience:g} ms"
            return ""
        self._silent = 0
        row = self._reference.row(step)
        if self._reference.reachable[row] == 0.0:
            return self._unreachable(row)
        setpoint = self._reference.coordinates[row]
        if not all_near(setpoint, measurement.coordinates, self.following):
            error = np.abs(setpoint - measurement.coordinates)
            leg, unit = int(np.argmax(error / self.following)) + 1, self._unit
            return (
                f"following error: actuator {leg} is {error[leg - 1]:.3g} {unit} from its "
                f"setpoint, more than {self.following[leg - 1]:.3g} {unit}; {CAUSE}"
            )
        if not all_within(measurement.rates, self.fastest):
            speed = np.abs(measurement.rates)
            leg, unit = int(np.argmax(speed / self.fastest)) + 1, f"{self._unit}/s"
            return (
                f"overspeed: actuator {leg} moves at {speed[leg - 1]:.3g} {unit}, limit with "
                f"margin {self.fastest[leg - 1]:.3g} {unit}; {CAUSE}"
            )
        return ""

    def check_command(self, command: Command, limited: bool) -> str:
        """Return why a command ends the motion; `limited`: some drive stays below its command."""
        parts = {
            "command": command.values,
            "feedforward": command.feedforward,
            "brake command": command.brakes,
        }
        for name, values in parts.items():
            if values is not None and not all_within(values, self._huge):
                reason = f"beyond {HUGE:g}" if np.isfinite(values).all() else "not finite"
                return f"the controller's {name} is {reason}"
        if command.mode == "velocity":
            limited = limited or any_reaches(command.values, self.speed)
        # Passing through zero between two limits is no rest: it only counts back.
        self._limited = max(0, self._limited + (1 if limited else -1))
        if self._limited * self._period > self.saturation:
            return f"saturated command: actuators are at their limits for {self.saturation:g} s"
        return ""

    def check_rates(self, rates: FloatArray) -> str:
        """Return why actuators at `rates` `(n,)` end the motion within a control period."""
        if all_within(rates, self.runaway):
            return ""
        return "runaway: an actuator moves several times faster than it can; unstable gains"

    def _unreachable(self, row: int) -> str:
        # Adding zero takes the sign from a zero that was rounded.
        values = [f"{value:g}" for value in np.round(self._reference.pose[row], 6) + 0.0]
        pose = f"x, y, z = {', '.join(values[:3])} m, quaternion {', '.join(values[3:])}"
        time = (self._reference.begin + row) * self._period
        return f"unreachable pose: the reference at {time:.6g} s is {pose}"
