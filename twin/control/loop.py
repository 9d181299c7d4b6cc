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
from twin.errors import InputError, SimulationStoppedError, StateError
from twin.plant.command import MODES, Command
from twin.plant.measurement import Measurement
from twin.plant.plant import Plant
from twin.platform import REST, Platform

if TYPE_CHECKING:
    from twin.engines.engine import State

RATIO_ROUNDING = 1e-9
OWN_SIGNALS = ("time", "demand", "measured", "command", "reference_pose", "inertial")
"""Names of what the loop records itself."""


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
        self._nothing = np.zeros(platform.n_actuators)
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
        self.plant.prepare(timestep)
        self.plant.start(state, self.controller.loop_gains)
        self._watch = self._supervisor or self.controller.supervisor()
        self._watch.start()
        self._stop = SafeStop(self.platform, period)
        self._unstable = unstable_velocity_loop(self.platform, self.controller.loop_gains, timestep)
        self._records: dict[str, list[Any]] = {}
        self._extra: dict[str, FloatArray] | None = None
        self.stopped = ""
        self.finished = False

    def springs(self, pose: Any) -> FloatArray | None:
        """Return where springs inside the legs rest `(2k,)` at a pose, default home; None: none."""
        if not self.platform.n_internal:
            return None
        place = self.platform.home if pose is None else pose
        return quiet_springs(self.platform, place, REST, REST)

    def step(self, index: int, state: State) -> FloatArray:
        """Return the forces `(n,)` of step `index` of the engine; the array is used again.

        Raises:
            InputError: the controller gives what is no command, or unusable signals.
            SimulationStoppedError: the drives' forces are no numbers any more.
        """
        self.plant.observe(state)
        if index % self._ratio == 0:
            self._control(index // self._ratio, state)
        elif not self.stopped:
            reason = self._watch.check_rates(self.plant.actuated(state)[1])
            if reason:
                self._halt(reason, index // self._ratio, state, self._measurement)
                self.plant.command(self._stop.command(index // self._ratio))
        forces = self.plant.forces(state)
        # Zero times what is not finite is NaN; much faster than asking for each number.
        if forces @ self._nothing != 0.0:
            raise SimulationStoppedError(f"the drives' forces are not finite at {state.time:.6g} s")
        return forces

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
                reason = self._watch.check_command(command, limited) or self._note_signals()
            if reason:
                self._halt(reason, step, state, measurement)
        if self.stopped:
            command = self._stop.command(step)
            self.finished = self._stop.done(step, measurement)
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
            return _checked(self.controller.update(step, measurement), self.platform.n_actuators)
        except StateError as error:
            self.stopped = str(error)
            return Command(np.zeros(self.platform.n_actuators))

    def _note_signals(self) -> str:
        """Keep what the controller tells of itself; return why it has to stop, if so."""
        told = self.controller.signals()
        if self._extra is not None and told.keys() != self._extra.keys():
            raise InputError("signals", "of a controller must have the same names in every period")
        found = {}
        for name, value in told.items():
            if name in OWN_SIGNALS:
                raise InputError("signals", f"the loop itself records {name!r}; take another name")
            found[name] = np.array(value, dtype=float)
            if not np.isfinite(found[name]).all():
                return f"the controller's {name} is not finite"
        self._extra = found
        return ""

    def _record(self, step: int, state: State, measurement: Measurement, command: Command) -> None:
        reference = self.controller.reference
        row = reference.row(step)
        rows = {
            "time": state.time,
            "demand": reference.coordinates[row],
            "measured": measurement.coordinates.copy(),
            "command": command.demand,
            "reference_pose": reference.pose[row],
        }
        if measurement.inertial.size:
            rows["inertial"] = measurement.inertial
        if self._extra is None:
            told = self.controller.signals().items()
            self._extra = {
                name: np.nan_to_num(value, posinf=0.0, neginf=0.0) for name, value in told
            }
        for name, value in (rows | self._extra).items():
            self._records.setdefault(name, []).append(value)


def _checked(command: Any, n: int) -> Command:
    """Return a command with arrays `(n,)` of its own: controllers may use theirs again.

    Raises:
        InputError: no command, or wrong shapes.
    """
    if not isinstance(command, Command) or command.mode not in MODES:
        raise InputError("controller", f"must return a Command of a known mode, not {command!r}")
    demand, mode, feedforward, brakes = command
    return Command(
        _own(demand, n),
        mode,
        None if feedforward is None else _own(feedforward, n),
        None if brakes is None else _own(brakes, n),
    )


def _own(value: Any, n: int) -> FloatArray:
    found = np.array(value, dtype=float)
    if found.shape != (n,):
        raise InputError("controller", f"a command's arrays have shape ({n},), not {found.shape}")
    return found
