"""The closed loop: engine's state to forces, through plant and controller, with a safe stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, whole_number
from twin.control.controller import Controller
from twin.control.function_controller import ControlFunction, as_controller
from twin.control.gains import unstable_velocity_loop
from twin.control.loop.handover import Handover
from twin.control.loop.records import Records
from twin.control.loop.stop import SafeStop
from twin.control.reference import Reference
from twin.control.supervisor import Supervisor
from twin.errors import InputError, SimulationStoppedError, StateError, brief
from twin.model.machine_model import MachineModel
from twin.model.static_deflection import resting_deflection
from twin.plant.plant import Plant
from twin.plant.saturation import at_limits
from twin.plant.signals import MODES, Command, Measurement

if TYPE_CHECKING:
    from twin.model.engine import State

RATIO_ROUNDING = 1e-9


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
        platform: MachineModel,
        controller: Controller | ControlFunction,
        plant: Plant | None = None,
        supervisor: Supervisor | None = None,
        *,
        keep: int | None = None,
    ) -> None:
        """Put the parts together.

        Args:
            platform: the machine.
            controller: called once a control period; a function as `FunctionController` takes it.
            plant: drives and sensors, default those of the machine's parameters.
            supervisor: default the controller's.
            keep: number of control periods whose signals are kept, the last ones; default all.

        Raises:
            InputError: a part of another machine, no controller, or no number of periods.
        """
        if keep is not None:
            whole_number(keep, "keep", 1)
        self.platform, self.controller = platform, as_controller(platform, controller)
        self.plant = Plant(platform) if plant is None else plant
        if not isinstance(self.plant, Plant) or self.plant.platform.hash != platform.hash:
            raise InputError("plant", "must be a Plant of this machine")
        self._supervisor, self._keep = supervisor, keep
        self._running = False
        self._nothing = np.zeros(platform.n_actuators)
        self.stopped = ""

    def start(self, timestep: float, state: State) -> None:
        """Begin at the engine's `state`, with steps of `timestep` [s].

        Raises:
            InputError: the control period is no multiple of the engine's step, or the step is too
                long for the drives.
        """
        period = self.controller.period
        self._ratio, self._timestep = _whole_steps(period, timestep), timestep
        self.plant.prepare(timestep)
        self.plant.start(state, self.controller.loop_gains)
        self._watch = self._supervisor or self.controller.supervisor()
        self._watch.start()
        self._stop = SafeStop(self.platform, period)
        self._unstable = unstable_velocity_loop(self.platform, self.controller.loop_gains, timestep)
        self._records = Records(self._keep)
        self._fresh = self._running = True
        self._taking_over = False
        self._handover: Handover | None = None
        self.stopped = ""
        self.finished = False

    def springs(self, pose: Any) -> FloatArray | None:
        """Return where springs in the legs rest `(2k,)` at a pose, default home; None: none."""
        if not self.platform.n_deflections:
            return None
        return resting_deflection(self.platform, pose)

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

    def redirect(self, reference: Reference) -> None:
        """Let controller and supervisor follow another reference from now on; see `Controller`.

        Args:
            reference: of this machine and the controller's period; its `begin` counts the control
                periods since the loop began.

        Raises:
            InputError: no such reference; everything is as it was.
            SingularPoseError: it passes a singular pose; likewise.
        """
        self.controller.redirect(reference)
        watch = self._watch if self._running else self._supervisor
        if watch is not None:
            watch.redirect(reference)

    def replace(
        self, controller: Controller | ControlFunction, supervisor: Supervisor | None = None
    ) -> None:
        """Let another controller take over from the next control period on, drives running.

        Its first speeds are the present ones and its first forces those that the motors give;
        what it commands beyond them fades in over `handover.FADE`. If its `signals` have other
        names, the records begin anew.

        Args:
            controller: of this machine, or a function; the `begin` of its reference counts its
                control periods since the loop began.
            supervisor: default the controller's.

        Raises:
            InputError: no such controller, one whose period the engine's step does not divide, or
                unstable gains; everything is as it was.
            StateError: the machine was stopped; start the loop again.
        """
        controller = as_controller(self.platform, controller)
        if self.stopped:
            raise StateError(f"the machine was stopped, start the loop again: {self.stopped}")
        if self._running:
            ratio = _whole_steps(controller.period, self._timestep)
            gains = controller.loop_gains
            unstable = unstable_velocity_loop(self.platform, gains, self._timestep)
            if unstable:
                raise InputError("controller", unstable)
            self._ratio, self._fresh = ratio, True
            self._taking_over = True
            self.plant.hand_over(gains)
            self._watch = supervisor or controller.supervisor()
            self._watch.start()
            self._stop = SafeStop(self.platform, controller.period)
            self._records.change()
        self.controller, self._supervisor = controller, supervisor

    def signals(self) -> dict[str, FloatArray]:
        """Return what was recorded at the control instants, one row each."""
        return self._records.signals()

    def _control(self, step: int, state: State) -> None:
        measurement = self._measurement = self.plant.measure(state)
        limited = self.plant.limited
        if not self.stopped:
            reason = self._unstable if step == 0 else ""
            reason = reason or self._watch.check_measurement(step, measurement)
            command = Command(measurement.rates) if reason else self._ask(step, measurement)
            reason = reason or self.stopped
            if not reason:
                below = self.controller.limited or bool(np.count_nonzero(limited))
                reason = self._watch.check_command(command, below)
                reason = reason or self._records.note(self.controller.signals())
            if reason:
                self._halt(reason, step, state, measurement)
        if self.stopped:
            command = self._stop.command(step)
            self.finished = self._stop.done(step, measurement)
        self.plant.command(command)
        self._record(step, state, measurement, command, limited)

    def _halt(self, reason: str, step: int, state: State, measurement: Measurement) -> None:
        rotary = self.platform.coordinate_unit == "rad"
        limits = at_limits(self.plant.limited, rotary)
        self.stopped = f"{'; '.join([reason, *limits])} (at {state.time:.6g} s)"
        self._stop.begin(step, measurement)
        self.plant.set_gains(self._stop.gains)

    def _ask(self, step: int, measurement: Measurement) -> Command:
        """Return the controller's command; where it has none, `stopped` says why."""
        controller, handover = self.controller, self._handover
        if self._taking_over:
            self._taking_over = False
            handover = Handover(controller.reference, step, measurement, self.plant.efforts)
        elif handover is not None and handover.over(step):
            handover = None
        self._handover = handover
        seen = measurement if handover is None else handover.shown(step, measurement)
        try:
            if self._fresh:
                self._fresh, controller.first = False, step
                controller.start(seen)
            update = controller.update(step, seen)
        except StateError as error:
            self.stopped = str(error)
            return Command(np.zeros(self.platform.n_actuators))
        command = _checked(update, self.platform.n_actuators)
        return command if handover is None else handover.corrected(step, command)

    def _record(
        self,
        step: int,
        state: State,
        measurement: Measurement,
        command: Command,
        limited: FloatArray,
    ) -> None:
        reference = self.controller.reference
        row = reference.row(step)
        own = {
            "time": state.time,
            "setpoint": reference.coordinates[row],
            "measured": measurement.coordinates.copy(),
            "command": command.values,
            "command_mode": MODES.index(command.mode),
            "command_feedforward": self._nothing
            if command.feedforward is None
            else command.feedforward,
            "limited": limited,
            "reference_pose": reference.pose[row],
        }
        if measurement.inertial.size:
            own["inertial"] = measurement.inertial
        self._records.add(own, self.controller.signals)


def _whole_steps(period: float, timestep: float) -> int:
    """Return the steps of the engine in a control period.

    Raises:
        InputError: it is no multiple of them.
    """
    ratio = round(period / timestep)
    if ratio < 1 or abs(ratio * timestep - period) > RATIO_ROUNDING * period:
        raise InputError(
            "timestep",
            f"{timestep:.9g} s must divide the control period {period:.9g} s into whole steps",
        )
    return ratio


def _checked(command: Any, n: int) -> Command:
    """Return a command with arrays `(n,)` of its own: controllers may use theirs again.

    Raises:
        InputError: no command, or wrong shapes.
    """
    if not isinstance(command, Command) or command.mode not in MODES:
        raise InputError(
            "controller", f"must return a Command of a known mode, not {brief(command)}"
        )
    command, mode, feedforward, brakes = command
    return Command(
        _own(command, n),
        mode,
        None if feedforward is None else _own(feedforward, n),
        None if brakes is None else _own(brakes, n),
    )


def _own(value: Any, n: int) -> FloatArray:
    found = np.array(value, dtype=float)
    if found.shape != (n,):
        raise InputError("controller", f"a command's arrays have shape ({n},), not {found.shape}")
    return found
