"""The closed loop: engine's state to forces, through plant and controller, with a safe stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twin.arrays import FloatArray
from twin.control.controller import Controller
from twin.control.gains import unstable_velocity_loop
from twin.control.stop import SafeStop
from twin.control.supervisor import Supervisor
from twin.dynamics.quiet_springs import quiet_springs
from twin.errors import (
    ControlError,
    ForwardKinematicsError,
    InputError,
    SingularPoseError,
    UnreachablePoseError,
)
from twin.plant.command import Command
from twin.plant.measurement import Measurement
from twin.plant.plant import Plant
from twin.platform import REST, Platform

if TYPE_CHECKING:
    from twin.engines.engine import State

RATIO_ROUNDING = 1e-9
LOST = (ControlError, ForwardKinematicsError, SingularPoseError, UnreachablePoseError)
"""What a controller may meet on its way; each ends in a safe stop."""


class ClosedLoop:
    """Forces for the stepping loop: sensors, controller and drives in their own rhythms.

    Attributes:
        platform: the machine.
        controller: called once a control period.
        plant: drives and sensors.
        stopped: why the machine was stopped, empty where it was not.
    """

    def __init__(
        self,
        platform: Platform,
        controller: Controller,
        plant: Plant | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        """Put the parts together.

        Raises:
            InputError: a part of another machine, or no controller.
        """
        if not isinstance(controller, Controller):
            raise InputError("controller", f"must be one of twin.control, not {controller!r}")
        self.platform, self.controller = platform, controller
        self.plant = Plant(platform) if plant is None else plant
        if not isinstance(self.plant, Plant) or self.plant.platform.hash != platform.hash:
            raise InputError("plant", "must be a Plant of this machine")
        if controller.platform.n_actuators != platform.n_actuators:
            raise InputError("controller", "is of a machine with other actuators")
        self._supervisor = supervisor
        self.stopped = ""

    def start(self, timestep: float, state: State) -> None:
        """Begin at the engine's `state`, with steps of `timestep` [s].

        Raises:
            InputError: the control period is no multiple of the engine's step, or the step is too
                long for the drives.
        """
        period = self.controller.period
        self._ratio = round(period / timestep)
        if self._ratio < 1 or abs(self._ratio * timestep - period) > RATIO_ROUNDING * period:
            raise InputError(
                "timestep",
                f"{timestep:.9g} s must divide the control period {period:.9g} s into whole steps",
            )
        self.plant.prepare(timestep, period)
        self.plant.start(state, self.controller.loop_gains)
        self._watch = self._supervisor or self.controller.supervisor()
        self._stop = SafeStop(self.platform, period)
        self._unstable = unstable_velocity_loop(self.platform, self.controller.loop_gains, timestep)
        self._records: dict[str, list[Any]] = {}
        self._extra: dict[str, FloatArray] = {}
        self.stopped = ""
        self.finished = False

    def springs(self, pose: Any) -> FloatArray | None:
        """Return where springs inside the legs rest `(2k,)` at a pose, default home; None: none."""
        if not self.platform.n_internal:
            return None
        place = self.platform.home if pose is None else pose
        return quiet_springs(self.platform, place, REST, REST)

    def step(self, index: int, state: State) -> FloatArray:
        """Return the forces `(n,)` of step `index` of the engine; the array is used again."""
        self.plant.observe(state)
        if index % self._ratio == 0:
            self._control(index // self._ratio, state)
        elif not self.stopped:
            reason = self._watch.check_rates(self.plant.actuated(state)[1])
            if reason:
                self._halt(reason, index // self._ratio, state, self._measurement)
                self.plant.command(self._stop.command(index // self._ratio))
        return self.plant.forces(state)

    def abandon(self, reason: str) -> None:
        """Take note that the engine itself had to stop."""
        self.stopped = self.stopped or reason

    def signals(self) -> dict[str, FloatArray]:
        """Return what was recorded at the control instants, one row each."""
        return {name: np.array(rows) for name, rows in self._records.items()}

    def _control(self, step: int, state: State) -> None:
        measurement = self._measurement = self.plant.measure(state)
        if not self.stopped:
            reason = self._unstable if step == 0 else ""
            reason = reason or self._watch.check_measurement(step, measurement)
            command = Command(measurement.rates) if reason else self._ask(step, measurement)
            reason = reason or self.stopped
            if not reason:
                limited = self.controller.limited or bool(self.plant.limited.any())
                reason = self._watch.check_command(command, limited)
            if reason:
                self._halt(reason, step, state, measurement)
        if self.stopped:
            command = self._stop.command(step)
            self.finished = self._stop.done(step)
        self.plant.command(command)
        self._record(step, state, measurement, command)

    def _halt(self, reason: str, step: int, state: State, measurement: Measurement) -> None:
        self.stopped = f"{reason} (at {state.time:.6g} s)"
        self._stop.begin(step, measurement)
        self.plant.set_gains(self._stop.gains)

    def _ask(self, step: int, measurement: Measurement) -> Command:
        """Return the controller's command; where it has none, `stopped` says why."""
        try:
            if step == 0:
                self.controller.start(measurement)
            return self.controller.update(step, measurement)
        except LOST as error:
            self.stopped = str(error)
            return Command(np.zeros(self.platform.n_actuators))

    def _record(self, step: int, state: State, measurement: Measurement, command: Command) -> None:
        reference = self.controller.reference
        row = reference.row(step)
        rows = {
            "time": state.time,
            "demand": reference.coordinates[row],
            "measured": measurement.coordinates,
            "command": command.demand,
            "reference_pose": reference.pose[row],
        }
        if not self.stopped or not self._extra:
            self._extra = self.controller.signals()
        for name, value in (rows | self._extra).items():
            self._records.setdefault(name, []).append(value)
