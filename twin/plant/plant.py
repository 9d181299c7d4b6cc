"""Plant: a machine's drives and sensors, between controller and engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, positive, read_only, whole_number
from twin.errors import InputError
from twin.kernels.dynamics.forward import inverse_dynamics_batch
from twin.kernels.plant import actuation
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import actuate, read_actuators
from twin.model.integrate import resting_deflection
from twin.model.machine_base import FOR_MANY, ZERO_VECTOR, run_checked, without_compiling
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import (
    drive_constants,
    follow,
    limit_integrals,
    motor_substeps,
    positioning_lead,
    take_over,
)
from twin.plant.encoder import machine_encoders
from twin.plant.inertial_sensor import InertialUnit
from twin.plant.signals import COMMAND_MODES, NO_READING, Command, Measurement, Mode, as_spans

if TYPE_CHECKING:
    from twin.model.engine import State

WRITABLE_ZEROS = np.zeros(6)
"""No acceleration or no wrench, in an array that is writable, as the kernels are compiled for."""


class PreparedDrives(NamedTuple):
    """Constants of a machine's drives and sensors for one step of an engine."""

    constants: FloatArray
    """`(n, CONSTANTS)`; columns as in `actuation`"""
    resolution: FloatArray
    """`(n,)` one count of the encoders in the actuators' coordinates; 0 for exact ones"""
    substeps: int
    """steps of the motors within one of the engine"""
    delay_steps: int
    """steps of the engine by which commands come later"""


def command_modes(legs: Sequence[Any]) -> tuple[Mode, ...]:
    """Return the modes of the commands that the drives of all legs take.

    Raises:
        InputError: some are position drives and others are not.
    """
    positioned = {leg.drive is not None and leg.drive.positioning() is not None for leg in legs}
    if len(positioned) > 1:
        raise InputError("leg.drive.kind", "all legs have position drives, or none has")
    return ("velocity", "position") if True in positioned else ("force", "velocity")


def encoder_resolution(leg: Any) -> float:
    """Return the encoder resolution of a leg in actuator coordinates [m, rad]; 0 if exact.

    Raises:
        InputError: a drive without a turn to count.
    """
    if leg.encoder is None:
        return 0.0
    travel_per_turn = None if leg.drive is None else leg.drive.travel_per_turn
    if travel_per_turn is None:
        raise InputError(
            "leg.encoder", "counts turns of a drive: give leg.drive, with scale_period if direct"
        )
    return float(leg.encoder.resolution(travel_per_turn))


def holding_forces(platform: MachineModel, state: State) -> FloatArray:
    """Return the forces `(n,)` of the actuators that hold a machine in a state of an engine.

    Springs in series count as standing still. Nothing is compiled for a machine that rests at home,
    unless it is one of many.
    """
    if not FOR_MANY.get() and _rests_at_home(platform, state):
        return forces_at_home(platform)
    deflection, k = state.deflection.copy(), platform.n_deflections
    deflection[k:] = 0.0
    if platform.dof < 6:  # what moves has to turn as well
        rest_acceleration = platform.constrain(state.pose, state.twist, ZERO_VECTOR).acceleration
        return platform.inverse_dynamics(
            state.pose, state.twist, rest_acceleration, deflection=deflection
        )
    constants, forces = platform.constants, np.empty((1, platform.n_actuators))
    motion = tuple(
        values[None]
        for values in (state.pose, state.twist, deflection, WRITABLE_ZEROS, WRITABLE_ZEROS)
    )
    run_checked(inverse_dynamics_batch, constants[:2], (*motion, forces), constants.legs)
    return np.asarray(forces[0])


@lru_cache(maxsize=32)
def forces_at_home(platform: MachineModel) -> FloatArray:
    """Return the forces `(n,)` of the actuators that hold a machine at rest at home, read-only."""
    deflection = resting_deflection(platform)
    with without_compiling():
        return read_only(
            platform.inverse_dynamics(
                platform.home, ZERO_VECTOR, ZERO_VECTOR, deflection=deflection
            )
        )


def _rests_at_home(platform: MachineModel, state: State) -> bool:
    """Return whether a state is exactly home at rest."""
    k = platform.n_deflections
    if state.pose.tobytes() != platform.home.tobytes() or state.twist.any():
        return False
    return not k or bool((state.deflection == resting_deflection(platform)).all())


class Plant:
    """Drives and encoders as a machine's parameters describe them; ideal where they do not.

    Everything random follows from the seed. `prepare`, then `start`; then for every step of the
    engine `forces`, and for every control period `measure` and `command`.

    Attributes:
        platform: the machine.
        seed: of all random numbers.
        dropouts: spans (begin, end) [s] in which the sensors give nothing.
        limits: whether the actuators' limits of force and speed hold.
        delay: pure delay [s] of the drives.
        modes: those of the commands that the drives take.
        drives: as `prepare` set them up for the engine's step.
    """

    def __init__(
        self,
        platform: MachineModel,
        *,
        seed: int = 0,
        dropouts: Sequence[tuple[float, float]] = (),
        inertial: bool = True,
        limits: bool = True,
    ) -> None:
        """Describe the plant of a machine.

        Args:
            platform: the machine; `twin.load(name, "hardware")` has drives and encoders.
            seed: of all random numbers, zero or more.
            dropouts: spans (begin, end) [s] in which the sensors shall give nothing.
            inertial: whether the machine's inertial sensor takes part.
            limits: False for drives that give any force at any speed. Controllers and supervisors
                keep their limits; `twin.load(name, limits=False)` frees them as well.

        Raises:
            InputError: not a platform, an invalid seed, spans out of order, or drives of one
                machine with different delays.
        """
        self.platform = as_model(platform)
        self.seed = whole_number(seed, "seed", 0)
        self.limits = as_flag(limits, "limits") and platform.limits
        self.dropouts = as_spans(dropouts)
        n = platform.n_actuators
        legs = platform.parameters.legs
        delays = {0.0 if leg.drive is None else leg.drive.delay for leg in legs}
        if len(delays) > 1:
            raise InputError("leg.drive.delay", "must be the same for all drives of a machine")
        self.delay = delays.pop()
        self.modes = command_modes(legs)
        self._resolution = np.array([encoder_resolution(leg) for leg in legs])
        has_encoders = (self._resolution > 0.0).all()
        self._encoders = machine_encoders(platform, seed) if has_encoders else None
        imu, gravity = platform.parameters.imu, platform.parameters.gravity
        has_inertial = as_flag(inertial, "inertial")
        self._inertial = (
            InertialUnit(imu, gravity=gravity, seed=seed) if imu and has_inertial else None
        )
        self._states = np.zeros((n, column.STATE_COUNT))
        self._forces, self._zeros = np.zeros(n), np.zeros(n)
        self._n_springs, self._step = platform.n_deflections, 0.0

    @property
    def ideal(self) -> bool:
        """Whether no leg has a drive or an encoder."""
        return not any(leg.drive or leg.encoder for leg in self.platform.parameters.legs)

    @property
    def states(self) -> FloatArray:
        """Present states `(n, STATES)` of the drives; columns as in `actuation`."""
        return self._states.copy()

    @property
    def limited(self) -> FloatArray:
        """`(n,)` limit that keeps a drive below its command: `AT_EFFORT`, `AT_SPEED` or 0."""
        return np.asarray(self._states[:, column.LIMITED].copy())

    @property
    def leg_forces(self) -> FloatArray:
        """Forces `(n,)` on the legs over the last step, or those that held it at the start."""
        return self._forces.copy()

    @property
    def efforts(self) -> FloatArray:
        """Present forces of the motors `(n,)` [N, N m], on the actuators' coordinates."""
        return np.asarray(self._states[:, column.EFFORT].copy())

    def prepare(self, timestep: float) -> None:
        """Set the engine's step [s].

        Raises:
            InputError: not above zero, or too long for the drives' transmissions.
        """
        self._step = positive(timestep, "timestep")
        self._delay_steps = round(self.delay / self._step)
        self.exchange(self.platform)

    def copy_for(self, platform: MachineModel) -> Plant:
        """Return a copy in the present state for a machine with equal drives and encoders.

        The copy has no inertial sensor, and its time step is not checked.
        """
        duplicate = object.__new__(type(self))
        vars(duplicate).update(vars(self))
        duplicate.platform, duplicate._inertial = platform, None
        duplicate._encoders = copy(self._encoders)
        duplicate._states, duplicate._forces = self._states.copy(), self._forces.copy()
        return duplicate

    def exchange(self, platform: MachineModel) -> None:
        """Exchange the drives for those of a similar machine with other friction or backlash.

        States and commands that wait stay, and so does the delay.

        Raises:
            InputError: the engine's step is too long for these drives.
        """
        self._drives = drive_constants(platform, self._step, self.limits)
        self._substeps = motor_substeps(self._drives, self._step)
        stiffness = self._drives[:, column.STIFFNESS]
        self._stiffness = np.where(stiffness > 0.0, stiffness, inf)
        read_only_arrays = (read_only(self._drives), read_only(self._resolution))
        self.drives = PreparedDrives(*read_only_arrays, self._substeps, self._delay_steps)

    def start(self, state: State, gains: FloatArray) -> None:
        """Start the drives on a machine in `state`, moving or at rest, held by its motors.

        Args:
            state: of the engine.
            gains: `(n, 2)` of the velocity loops: gain, and gain per integral time.
        """
        coordinates, rates = self.actuated(state)
        holding_force = holding_forces(self.platform, state)
        drives, states = self._drives, self._states
        states[:] = 0.0
        motor_effort = holding_force
        if rates.any():
            # What moves has to overcome friction as well: all of it from the Stribeck speed on.
            smoothed_sign = np.clip(rates / drives[:, column.STRIBECK_SPEED], -1.0, 1.0)
            dry_friction = drives[:, column.FRICTION] * smoothed_sign
            motor_effort = holding_force + (dry_friction + drives[:, column.VISCOUS] * rates)
        states[:, column.EFFORT] = states[:, column.INTEGRAL] = motor_effort
        states[:, column.POSITION] = (
            coordinates
            + np.sign(holding_force) * drives[:, column.HALF_BACKLASH]
            + holding_force / self._stiffness
        )
        states[:, column.SPEED] = rates
        states[:, column.LEG_RATE] = states[:, column.EARLIER_LEG_RATE] = rates
        if "position" in self.modes:
            position_lead = positioning_lead(drives, states[:, column.EFFORT])
            states[:, column.COMMANDED_POSITION] = states[:, column.FIELD_POSITION] = (
                states[:, column.POSITION] + position_lead
            )
        self._gains = np.ascontiguousarray(gains)
        self._forces[:] = holding_force
        self._step_count = 0
        if self._encoders is not None:
            self._encoders.power_up(states[:, column.POSITION])
        if self._inertial is not None:
            self._inertial.start(state.pose, state.twist)
        self._queued_commands: deque[tuple[int, Command, FloatArray | None]] = deque()
        self._new_gains: FloatArray | None = None
        self._active_command = Command(rates.copy())
        self._last_coordinates = np.zeros(len(coordinates))
        self._last_measurement: Measurement | None = None

    def command(self, command: Command) -> None:
        """Pass a command on to the drives, which take it after their delay.

        Raises:
            InputError: a mode that the drives do not take.
        """
        if command.mode not in self.modes:
            raise InputError(
                "controller",
                f"commands in mode {command.mode!r}; the drives of {self.platform.name} take "
                f"{' or '.join(self.modes)}",
            )
        gains, self._new_gains = self._new_gains, None
        if self._delay_steps:
            self._queued_commands.append((self._step_count + self._delay_steps, command, gains))
        else:
            self._apply(command, gains)

    def hand_over(self, gains: FloatArray) -> None:
        """Prepare the drives for another controller's commands, with its gains `(n, 2)`.

        When the drives receive that command, the velocity loops continue from the motors' present
        efforts.
        """
        self._new_gains = np.ascontiguousarray(gains)

    def set_gains(self, gains: FloatArray) -> None:
        """Replace the gains `(n, 2)` of the velocity loops; their integrals end at the peaks.

        No controller takes over any more.
        """
        self._gains, self._new_gains = np.ascontiguousarray(gains), None
        self._queued_commands = deque(
            (due_step, command, None) for due_step, command, _ in self._queued_commands
        )
        if self._active_command.feedforward is None:
            limit_integrals(self._drives, self._states)

    def forces(self, state: State) -> FloatArray:
        """Return forces `(n,)` on the legs over the next step of the engine; overwritten by it."""
        while self._queued_commands and self._queued_commands[0][0] <= self._step_count:
            self._apply(*self._queued_commands.popleft()[1:])
        command = self._active_command
        coordinates, rates = self.actuated(state)
        actuate(
            self._drives,
            self._states,
            self._gains,
            command.values,
            self._zeros if command.feedforward is None else command.feedforward,
            self._zeros if command.brakes is None else command.brakes,
            coordinates,
            rates,
            COMMAND_MODES.index(command.mode),
            self._step,
            self._substeps,
            self._forces,
        )
        self._step_count += 1
        return self._forces

    def observe(self, state: State) -> None:
        """Update encoder counters and inertial sensor after the engine step that led to `state`."""
        if not self._step_count:
            return
        if self._encoders is not None:
            self._encoders.count(self._states[:, column.POSITION])
        if self._inertial is not None:
            self._inertial.advance(state.pose, state.twist, self._step)

    def measure(self, state: State) -> Measurement:
        """Return the measurement of `state` by the sensors; called once a control period."""
        for dropout_start, dropout_end in self.dropouts:
            if dropout_start <= state.time < dropout_end and self._last_measurement is not None:
                return self._last_measurement._replace(valid=False)
        coordinates, rates = self.actuated(state)
        # After a silence the difference of two counts spans the whole of it.
        elapsed = (
            0.0
            if self._last_measurement is None
            else max(state.time - self._last_measurement.time, self._step)
        )
        reading_rows = np.empty((actuation.READING_ROW_COUNT, len(coordinates)))
        constants = (self._drives, self._states, self._resolution)
        read_actuators(
            *constants, self._last_coordinates, elapsed, coordinates, rates, reading_rows
        )
        encoder_reading = NO_READING
        if self._encoders is not None:
            self._encoders.count(self._states[:, column.POSITION])
            encoder_reading = self._encoders.raw
        inertial = NO_READING if self._inertial is None else self._inertial.reading
        measured, speeds, *switches = reading_rows
        self._last_measurement = Measurement(
            state.time,
            measured,
            speeds,
            self._forces.copy(),
            True,
            inertial,
            encoder_reading,
            *switches,
        )
        return self._last_measurement

    def _apply(self, command: Command, gains: FloatArray | None) -> None:
        """Apply a command from now on; `gains` come with the command of a new controller."""
        if gains is None:
            follow(self._drives, self._states, self._active_command, command)
        else:
            self._gains = gains
            take_over(self._drives, self._states, command)
        self._active_command = command

    def actuated(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Return coordinates and rates `(n,)` at the motors, without the springs in series."""
        k = self._n_springs
        if not k:
            return state.lengths, state.rates
        return state.lengths - state.deflection[:k], state.rates - state.deflection[k:]
