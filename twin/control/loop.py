"""The closed loop: controller, plant and records; stopping, and handing over."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, whole_number
from twin.control.cascade import has_encoders, takes_positions
from twin.control.controller import (
    ControlFunction,
    Controller,
    Reference,
    Supervisor,
    as_controller,
)
from twin.control.gains import derived_velocity_loop, unstable_velocity_loop
from twin.errors import InputError, SimulationStoppedError, StateError, brief
from twin.model.integrate import resting_deflection
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit, at_limits
from twin.plant.plant import Plant
from twin.plant.signals import COMMAND_MODES, Command, Measurement

if TYPE_CHECKING:
    from twin.model.engine import State

RESERVED_SIGNALS = (
    "time", "setpoint", "measured", "command", "command_mode", "command_feedforward", "limited",
    "reference_pose", "inertial",
)  # fmt: skip
"""Names of the loop's own recorded signals, which a controller must not use."""

RAMP_TIME = 0.15
"""[s] Engineering choice: duration of the ramp from the present speeds to zero."""

SETTLING_TIME = 0.1
"""[s] Engineering choice: time that the velocity loops hold the machine still before the brakes
close."""

SWING_OUT_TIME = 0.3
"""[s] Engineering choice: time after the brakes have closed, while elastic parts swing out."""

STANDSTILL_SPEED = 5e-3
"""[1/s] Engineering choice: speed, in strokes per second, below which a machine is at rest."""

MAX_STANDSTILL_WAIT = 2.0
"""[s] Engineering choice: longest further wait until it is at rest."""

UNSENSED_STANDSTILL_WAIT = 0.5
"""[s] Engineering choice: further wait where no sensor measures the speed."""

FADE_TIME = 0.5
"""[s] Engineering choice: time over which the shift of the position and the initial force fade to
zero."""

RATE_FADE_TIME = 0.02
"""[s] Engineering choice: time over which the shift of the rate fades to zero. A longer one would
let differences that the encoders do not resolve move the machine."""

RATIO_TOLERANCE = 1e-9
"""Rounding error of a control period that still counts as a whole number of engine steps."""


class Records:
    """Rows of the loop's own signals and of the controller's, all or the last ones."""

    def __init__(self, keep: int | None) -> None:
        """Start without rows; `keep` is the largest number of stored rows, None for all."""
        self._rows: deque[dict[str, Any]] = deque(maxlen=keep)
        self._noted_signals: dict[str, FloatArray] | None = None
        self._has_changed = False

    def change(self) -> None:
        """Change the controller; the records restart if the new one has other signals."""
        self._has_changed = True

    def note(self, signals: Mapping[str, Any]) -> str:
        """Keep the signals of the controller; return the reason for a stop, or an empty text.

        Raises:
            InputError: names that change from period to period, or that the loop itself uses.
        """
        if self._noted_signals is not None and signals.keys() != self._noted_signals.keys():
            if not self._has_changed:
                raise InputError(
                    "signals", "of a controller must have the same names in every period"
                )
            self._rows.clear()
        self._has_changed = False
        checked_signals = {}
        for name, value in signals.items():
            if name in RESERVED_SIGNALS:
                raise InputError(
                    "signals", f"the loop itself records {brief(name)}; take another name"
                )
            checked_signals[name] = np.array(value, dtype=float)
            if not np.isfinite(checked_signals[name]).all():
                return f"the controller's {name} is not finite"
        self._noted_signals = checked_signals
        return ""

    def add(
        self, signals: Mapping[str, Any], read_signals: Callable[[], Mapping[str, Any]]
    ) -> None:
        """Append a row: the loop's signals, and the controller's from the last `note`.

        Without noted signals, after a stop in the first period, those that `read_signals` returns.
        """
        if self._noted_signals is None:
            self._noted_signals = {
                name: np.nan_to_num(value, posinf=0.0, neginf=0.0)
                for name, value in read_signals().items()
            }
        self._rows.append({**signals, **self._noted_signals})

    def signals(self) -> dict[str, FloatArray]:
        """Return the values of each signal over all rows, by its name."""
        names = self._rows[0] if self._rows else ()
        return {name: np.array([row[name] for row in self._rows]) for name in names}


class SafeStop:
    """Brings a machine to rest by the drives' velocity loops, independently of the controller.

    The loops get gains derived from the machine's masses: those of the controller may be the
    reason to stop. After the ramp they hold still, and brakes close where there are any.

    Attributes:
        gains: `(n, 2)` of the velocity loops.
        duration: [s] from the reason to stop until the machine may be left alone, if it is still.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        gain, time = derived_velocity_loop(platform, period)
        self.gains = np.column_stack([gain, gain / time])
        drives = platform.parameters.drives
        engage_times = [0.0 if drive is None else drive.brake_engage_time for drive in drives]
        self._brakes = np.array(
            [float(drive is not None and drive.reflected().brake > 0.0) for drive in drives]
        )
        self._speed_limits = actuator_limit(platform, "speed", platform.stroke)
        self.duration = RAMP_TIME + SETTLING_TIME + max(engage_times) + SWING_OUT_TIME
        self._standstill_speeds = STANDSTILL_SPEED * platform.stroke
        self._has_no_speed_sensor = takes_positions(platform) and not has_encoders(platform)
        self._period = period
        self._start_rates: FloatArray = np.zeros(platform.n_actuators)
        self._begin = 0

    def begin(self, step: int, measurement: Measurement) -> None:
        """Start to stop in control period `step` from the last measurement."""
        rates = np.nan_to_num(measurement.rates, nan=0.0, posinf=0.0, neginf=0.0)
        self._start_rates = np.clip(rates, -self._speed_limits, self._speed_limits)
        self._begin = step

    def command(self, step: int) -> Command:
        """Return the command of control period `step`."""
        elapsed = (step - self._begin) * self._period
        fraction = max(0.0, 1.0 - elapsed / RAMP_TIME)
        is_braking = elapsed >= RAMP_TIME + SETTLING_TIME
        return Command(fraction * self._start_rates, brakes=self._brakes if is_braking else None)

    def is_done(self, step: int, measurement: Measurement) -> bool:
        """Return whether the machine is at rest, braked where it can be."""
        waiting_time = (step - self._begin) * self._period - self.duration
        if waiting_time < 0.0:
            return False
        if self._has_no_speed_sensor:
            return waiting_time >= UNSENSED_STANDSTILL_WAIT
        at_standstill = not measurement.valid or bool(
            (np.abs(measurement.rates) <= self._standstill_speeds).all()
        )
        return at_standstill or waiting_time >= MAX_STANDSTILL_WAIT


class Handover:
    """Shift of the measurements that a controller gets after it has taken over; it fades to zero.

    Two controllers hold a moving machine with different errors, so that the new one would begin
    with a jump. Its measured coordinates and rates are therefore shifted onto its reference. Its
    speeds are corrected by the rate of the shift, and its forces begin with those of the motors.

        shift = e0 (1 - 3 u^2 + 2 u^3) + e0' t (1 - w)^2,

    where u = t / `FADE_TIME` and w = t / `RATE_FADE_TIME`.
    """

    def __init__(
        self, reference: Reference, step: int, measurement: Measurement, efforts: FloatArray
    ) -> None:
        """Start the handover in control period `step`, with the motors at `efforts` `(n,)`."""
        row_index = reference.row(step)
        self._period, self._first = reference.period, step
        self._error = reference.coordinates[row_index] - measurement.coordinates
        self._rate_error = reference.rates[row_index] - measurement.rates
        self._efforts = efforts
        self._offset: FloatArray | None = None

    def is_over(self, step: int) -> bool:
        """Return whether the handover has ended in control period `step`."""
        return self._elapsed(step) >= FADE_TIME

    def shifted_measurement(self, step: int, measurement: Measurement) -> Measurement:
        """Return the shifted measurement that the new controller receives in period `step`."""
        shift, rate = self._shift(self._elapsed(step))
        return measurement._replace(
            coordinates=measurement.coordinates + shift, rates=measurement.rates + rate
        )

    def corrected_command(self, step: int, command: Command) -> Command:
        """Return the command for the drives, corrected for the shift of the measurement."""
        elapsed = self._elapsed(step)
        if command.mode == "velocity":
            return command._replace(values=command.values - self._shift(elapsed)[1])
        if command.mode == "position":
            return command._replace(values=command.values - self._shift(elapsed)[0])
        if self._offset is None:
            self._offset = self._efforts - command.values
        return command._replace(values=command.values + (1.0 - elapsed / FADE_TIME) * self._offset)

    def _elapsed(self, step: int) -> float:
        return (step - self._first) * self._period

    def _shift(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Return the shift of the coordinates `(n,)` at a time [s] and its rate."""
        u, w = time / FADE_TIME, min(time / RATE_FADE_TIME, 1.0)
        shift = self._error * (1.0 - u * u * (3.0 - 2.0 * u))
        rate = self._error * (6.0 * u * (u - 1.0) / FADE_TIME)
        fade_remaining = 1.0 - w
        return shift + self._rate_error * (
            time * fade_remaining * fade_remaining
        ), rate + self._rate_error * (fade_remaining * (1.0 - 3.0 * w))


class ClosedLoop:
    """Forces for the stepping loop: sensors, controller and drives, each at its own rate.

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
        self._supervisor, self._max_rows = supervisor, keep
        self._running = False
        self._zero_forces = np.zeros(platform.n_actuators)
        self.stopped = ""

    def start(self, timestep: float, state: State) -> None:
        """Start the loop at the engine's `state`, with engine steps of `timestep` [s].

        Raises:
            InputError: the control period is no multiple of the engine's step, or the step is too
                long for the drives.
        """
        period = self.controller.period
        self._ratio, self._timestep = _whole_steps(period, timestep), timestep
        self.plant.prepare(timestep)
        self.plant.start(state, self.controller.loop_gains)
        self._active_supervisor = self._supervisor or self.controller.supervisor()
        self._active_supervisor.start()
        self._stop = SafeStop(self.platform, period)
        self._unstable = unstable_velocity_loop(self.platform, self.controller.loop_gains, timestep)
        self._records = Records(self._max_rows)
        self._is_new_controller = self._running = True
        self._taking_over = False
        self._handover: Handover | None = None
        self.stopped = ""
        self.finished = False

    def springs(self, pose: Any) -> FloatArray | None:
        """Return static spring deflections `(2k,)` at a pose, default home; None if no springs."""
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
            reason = self._active_supervisor.check_rates(self.plant.actuated(state)[1])
            if reason:
                self._halt(reason, index // self._ratio, state, self._measurement)
                self.plant.command(self._stop.command(index // self._ratio))
        forces = self.plant.forces(state)
        # Zero times what is not finite is NaN; much faster than asking for each number.
        if forces @ self._zero_forces != 0.0:
            raise SimulationStoppedError(f"the drives' forces are not finite at {state.time:.6g} s")
        return forces

    def abandon(self, reason: str) -> None:
        """Record that the engine itself stopped the simulation."""
        self.stopped = self.stopped or reason

    def redirect(self, reference: Reference) -> None:
        """Give controller and supervisor a new reference; see `Controller.redirect`.

        Args:
            reference: of this machine and the controller's period; its `begin` counts the control
                periods since the loop began.

        Raises:
            InputError: no such reference; everything is as it was.
            SingularPoseError: it passes a singular pose; likewise.
        """
        self.controller.redirect(reference)
        supervisor = self._active_supervisor if self._running else self._supervisor
        if supervisor is not None:
            supervisor.redirect(reference)

    def replace(
        self, controller: Controller | ControlFunction, supervisor: Supervisor | None = None
    ) -> None:
        """Hand the running machine over to another controller at the next control period.

        The first speeds that it commands are the present ones, and the first forces those that
        the motors give; what it commands beyond them fades in over `FADE_TIME`. If its `signals`
        have other names, the records restart.

        Args:
            controller: of this machine, or a function. The `begin` of a controller's reference
                counts control periods of that controller since the loop began.
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
            self._ratio, self._is_new_controller = ratio, True
            self._taking_over = True
            self.plant.hand_over(gains)
            self._active_supervisor = supervisor or controller.supervisor()
            self._active_supervisor.start()
            self._stop = SafeStop(self.platform, controller.period)
            self._records.change()
        self.controller, self._supervisor = controller, supervisor

    def signals(self) -> dict[str, FloatArray]:
        """Return the records of the control instants, one row each."""
        return self._records.signals()

    def _control(self, step: int, state: State) -> None:
        """Measure, ask the controller, check, and pass its command to the plant."""
        measurement = self._measurement = self.plant.measure(state)
        limited = self.plant.limited
        if not self.stopped:
            reason = self._unstable if step == 0 else ""
            reason = reason or self._active_supervisor.check_measurement(step, measurement)
            command = (
                Command(measurement.rates) if reason else self._ask_controller(step, measurement)
            )
            reason = reason or self.stopped
            if not reason:
                is_limited = self.controller.limited or bool(np.count_nonzero(limited))
                reason = self._active_supervisor.check_command(command, is_limited)
                reason = reason or self._records.note(self.controller.signals())
            if reason:
                self._halt(reason, step, state, measurement)
        if self.stopped:
            command = self._stop.command(step)
            self.finished = self._stop.is_done(step, measurement)
        self.plant.command(command)
        self._record(step, state, measurement, command, limited)

    def _halt(self, reason: str, step: int, state: State, measurement: Measurement) -> None:
        rotary = self.platform.coordinate_unit == "rad"
        limits = at_limits(self.plant.limited, rotary)
        self.stopped = f"{'; '.join([reason, *limits])} (at {state.time:.6g} s)"
        self._stop.begin(step, measurement)
        self.plant.set_gains(self._stop.gains)

    def _ask_controller(self, step: int, measurement: Measurement) -> Command:
        """Return the controller's command; where it fails, the reason is put into `stopped`."""
        controller, handover = self.controller, self._handover
        if self._taking_over:
            self._taking_over = False
            handover = Handover(controller.reference, step, measurement, self.plant.efforts)
        elif handover is not None and handover.is_over(step):
            handover = None
        self._handover = handover
        shown_measurement = (
            measurement if handover is None else handover.shifted_measurement(step, measurement)
        )
        try:
            if self._is_new_controller:
                self._is_new_controller, controller.first = False, step
                controller.start(shown_measurement)
            update = controller.update(step, shown_measurement)
        except StateError as error:
            self.stopped = str(error)
            return Command(np.zeros(self.platform.n_actuators))
        command = _checked(update, self.platform.n_actuators)
        return command if handover is None else handover.corrected_command(step, command)

    def _record(
        self,
        step: int,
        state: State,
        measurement: Measurement,
        command: Command,
        limited: FloatArray,
    ) -> None:
        """Keep the signals of a control period."""
        reference = self.controller.reference
        row_index = reference.row(step)
        loop_signals = {
            "time": state.time,
            "setpoint": reference.coordinates[row_index],
            "measured": measurement.coordinates.copy(),
            "command": command.values,
            "command_mode": COMMAND_MODES.index(command.mode),
            "command_feedforward": self._zero_forces
            if command.feedforward is None
            else command.feedforward,
            "limited": limited,
            "reference_pose": reference.pose[row_index],
        }
        if measurement.inertial.size:
            loop_signals["inertial"] = measurement.inertial
        self._records.add(loop_signals, self.controller.signals)


def _whole_steps(period: float, timestep: float) -> int:
    """Return the whole number of engine steps in a control period.

    Raises:
        InputError: it is no multiple of them.
    """
    ratio = round(period / timestep)
    if ratio < 1 or abs(ratio * timestep - period) > RATIO_TOLERANCE * period:
        raise InputError(
            "timestep",
            f"{timestep:.9g} s must divide the control period {period:.9g} s into whole steps",
        )
    return ratio


def _checked(command: Any, n: int) -> Command:
    """Return a checked command with copied arrays `(n,)`: controllers may overwrite theirs.

    Raises:
        InputError: no command, wrong shapes, or no numbers.
    """
    if not isinstance(command, Command) or command.mode not in COMMAND_MODES:
        raise InputError(
            "controller", f"must return a Command of a known mode, not {brief(command)}"
        )
    values, mode, feedforward, brakes = command
    return Command(
        _copied_row(values, n),
        mode,
        None if feedforward is None else _copied_row(feedforward, n),
        None if brakes is None else _copied_row(brakes, n),
    )


def _copied_row(value: Any, n: int) -> FloatArray:
    try:
        row = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("controller", f"a command's arrays have numbers ({error})") from None
    if row.shape != (n,):
        raise InputError("controller", f"a command's arrays have shape ({n},), not {row.shape}")
    return row
