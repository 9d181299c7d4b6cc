"""Base of all batched plants: arrays of states, checked arguments, drives, resets of machines.

Drives and sensors of all machines are stacked arrays. The module also makes empty arrays of states,
inputs and balls, and chooses an engine's step, of which a control period has a whole number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import deepcopy
from math import ceil
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_pose,
    bounded,
    one_of,
    positive,
    whole_number,
)
from twin.control.controller import MAX_PERIOD, MIN_PERIOD
from twin.control.gains import suitable_velocity_loop, unstable_velocity_loop
from twin.errors import ClosedEngineError, InputError
from twin.kernels.ball import BALL_SIZE
from twin.kernels.batched.analytic import (
    COUNTER_COUNT,
    DELAY_COLUMN,
    ISSUED_COLUMN,
    SUBSTEPS_COLUMN,
    Balls,
    DriveArrays,
    Inputs,
    Machines,
    issue_all,
)
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import READING_ROW_COUNT
from twin.model.ball import as_ball, is_lost, on_plate
from twin.model.constants import changed_legs
from twin.model.engine import FIDELITIES, State
from twin.model.integrate import resting_deflection
from twin.model.machine_base import ZERO_VECTOR, for_many_machines
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import check_step, drive_constants
from twin.plant.plant import Plant
from twin.plant.signals import COMMAND_MODES

CONTROLLER_PERIOD = 1e-3
"""[s] Period for which the velocity loops' gains are derived, as in `twin.control`."""

LONGEST_DEFAULT_STEP = 1e-3
"""[s] Upper bound of an engine's default step."""

PERIOD_TOLERANCE = 1e-9
"""Rounding error of a control period that still counts as a whole number of steps."""

MAX_STEPS_PER_PERIOD = 100_000
"""Largest number of engine steps in a control period."""

MAX_PLANT_SIZE = 1_000_000
"""Largest number of machines in one batched plant."""


def make_drive_arrays(size: int, actuators: int, capacity: int) -> DriveArrays:
    """Return arrays of zeros; `place_drives` fills them."""
    return DriveArrays(
        np.zeros((size, actuators, column.CONSTANT_COUNT)),
        np.zeros((size, actuators, column.STATE_COUNT)),
        np.zeros((size, actuators, 2)),
        np.zeros((size, actuators)),
        np.zeros((size, actuators)),
        np.zeros((size, READING_ROW_COUNT, actuators)),
        np.zeros((size, COUNTER_COUNT), dtype=np.int64),
        np.zeros((size, capacity, 2, actuators)),
        np.zeros((size, actuators)),
        np.zeros(actuators),
    )


def queue_capacity(delay_steps: int, ratio: int) -> int:
    """Return the largest number of queued commands, the one in force included."""
    return delay_steps // ratio + 2


def with_capacity(arrays: DriveArrays, capacity: int) -> DriveArrays:
    """Return arrays with longer queues of `capacity` commands; the present commands are kept."""
    size, old_length, _, actuators = arrays.queue.shape
    queue = np.zeros((size, capacity, 2, actuators))
    issued = arrays.counters[:, ISSUED_COLUMN]
    for i in range(size):
        for issue_number in range(max(0, int(issued[i]) - old_length), int(issued[i])):
            queue[i, issue_number % capacity] = arrays.queue[i, issue_number % old_length]
    return arrays._replace(queue=queue)


def loop_gains(platform: MachineModel, timestep: float) -> FloatArray:
    """Return gains `(n, 2)` of a machine's velocity loops: gain, and gain per integral time.

    Raises:
        InputError: the loops cannot work at steps of `timestep` [s].
    """
    gain, time = suitable_velocity_loop(platform, CONTROLLER_PERIOD)
    gains = np.ascontiguousarray(np.stack([gain, gain / time], axis=1))
    reason = unstable_velocity_loop(platform, gains, timestep)
    if reason:
        raise InputError("timestep", reason)
    return gains


def same_drives(one: MachineModel, other: MachineModel) -> bool:
    """Return whether two machines share their legs, with drives and encoders, and their limits."""
    same_limits = (
        one.minimum_coordinates is other.minimum_coordinates and one.limits == other.limits
    )
    return same_limits and not changed_legs(one.parameters, other.parameters)


def varied_plant(old_plant: Plant, platform: MachineModel, timestep: float, limits: bool) -> Plant:
    """Return the plant, without inertial sensor, of a machine in place of another like it.

    Args:
        old_plant: plant of the present machine, prepared for the same step.
        platform: the machine.
        timestep: of the engine [s].
        limits: as of `Plant`.

    Raises:
        InputError: the step is too long for the drives.
    """
    with for_many_machines():
        if same_drives(old_plant.platform, platform):
            check_step(platform, old_plant.drives.constants, timestep)
            return old_plant.copy_for(platform)
        plant = Plant(platform, inertial=False, limits=limits)
        plant.prepare(timestep)
    return plant


def place_drives(
    arrays: DriveArrays, index: int, plant: Plant, gains: FloatArray, state: Any
) -> None:
    """Set the drives of a machine so that they hold it in `state` of an engine."""
    plant.start(state, gains)
    drives = plant.drives
    arrays.constants[index], arrays.resolution[index] = drives.constants, drives.resolution
    arrays.states[index], arrays.gains[index] = plant.states, gains
    arrays.last_readings[index] = 0.0
    arrays.counters[index] = 0
    arrays.counters[index, DELAY_COLUMN] = drives.delay_steps
    arrays.counters[index, SUBSTEPS_COLUMN] = drives.substeps
    arrays.reset_speeds[index] = plant.actuated(state)[1]


def empty_machines(size: int, n: int, k: int) -> Machines:
    """Return states of `size` machines with n actuators and k deflections of springs."""
    widths = (7, 6, 2 * k, 6, n, n, n, n, n, n)
    arrays = [np.zeros((size, width)) for width in widths]
    return Machines._make([*arrays, np.zeros(size), np.zeros(size, dtype=bool)])


def empty_inputs(size: int, n: int, ratio: int) -> Inputs:
    """Return inputs of `size` machines with n actuators and `ratio` steps in a period."""
    return Inputs(
        np.zeros((size, n)), np.zeros((size, n)), np.zeros((size, 6)), np.zeros((size, ratio, 3))
    )


def empty_balls(size: int) -> Balls:
    """Return arrays for `size` machines."""
    return Balls(
        np.zeros((size, BALL_SIZE)),
        np.zeros((size, 13)),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=bool),
    )


def steps_per_period(period: float, timestep: float) -> int:
    """Return the whole number of steps of `timestep` [s] in a `period` [s].

    Raises:
        InputError: not a whole number of times.
    """
    time_step = positive(timestep, "timestep")
    ratio = round(max(1.0, min(period / time_step, MAX_STEPS_PER_PERIOD)))
    if abs(ratio * time_step - period) > PERIOD_TOLERANCE * period:
        raise InputError(
            "timestep",
            f"{time_step:.9g} s must divide the control period {period:.9g} s into whole steps, "
            f"at most {MAX_STEPS_PER_PERIOD}; {period / ratio:.9g} s does",
        )
    return ratio


def suitable_timestep(
    platform: MachineModel, period: float, check: Callable[[MachineModel, float], None]
) -> float:
    """Return the longest step [s] up to 1 ms that the engine, drives and velocity loops allow.

    Tried are the longest whole part of the period up to 1 ms, then a half, a third, ... of it.

    Args:
        platform: the machine.
        period: of control [s].
        check: raises InputError where the engine cannot take a step.

    Raises:
        InputError: no step is short enough.
    """
    min_steps = max(1, ceil(period / LONGEST_DEFAULT_STEP * (1.0 - PERIOD_TOLERANCE)))
    last_error = None
    for multiple in range(1, MAX_STEPS_PER_PERIOD // min_steps + 1):
        time_step = period / (min_steps * multiple)
        try:
            check(platform, time_step)
            drive_constants(platform, time_step)
            loop_gains(platform, time_step)
        except InputError as error:
            last_error = error
            # A hundredth of the longest step that still fails has another cause.
            if multiple > 100:
                break
            continue
        return time_step
    raise last_error or InputError("period", f"{period:g} s is too long")


class BatchedPlant(ABC):
    """Machines of one kind with their drives and sensors, advanced together.

    Machines are independent: the results of each are the same, bit for bit, in a batched plant
    of any size.

    Attributes:
        platform: the machine as its parameters describe it.
        platforms: that of each machine; other ones where parameters were varied.
        size: number of machines.
        period: of control [s].
        timestep: of the engine [s].
        ratio: steps of the engine in a period.
        mode: of the commands, "velocity" or "force".
        limits: whether the drives' limits of force and speed hold.
        machines: states of all machines; its arrays are also attributes of the batched plant. Read
            only.
        rolling_ball: the `Ball` that rolls on every platform, or None.
        ball: `(N, 13)` pose and twist of the balls in the base frame, where there are any.
        ball_lost: `(N,)` True where they have left their plates.
    """

    name: ClassVar[str]
    default_fidelity: ClassVar[str]

    def __init__(
        self,
        platform: MachineModel,
        size: int,
        period: float = 0.01,
        timestep: float | None = None,
        *,
        mode: str = "velocity",
        fidelity: str | None = None,
        ball: Any = None,
        limits: bool = True,
    ) -> None:
        """Prepare the arrays; `reset` puts machines into them.

        Args:
            platform: the machine.
            size: number of machines.
            period: of control [s].
            timestep: of the engine [s], default the longest that is allowed, at most 1 ms.
            mode: "velocity" (the drives close velocity loops) or "force".
            fidelity: of the engine, "accurate" or "fast"; None for the default.
            ball: what rolls on the platform, a `Ball`; None for nothing.
            limits: False for drives that give any force at any speed.

        Raises:
            InputError: an argument that cannot be used.
        """
        self.platform = as_model(platform)
        self.size, self.limits = whole_number(size, "size", 1, MAX_PLANT_SIZE), limits
        self.mode = one_of(mode, "mode", COMMAND_MODES)
        self.fidelity = one_of(
            self.default_fidelity if fidelity is None else fidelity, "fidelity", FIDELITIES
        )
        self.period = bounded(period, "period", MIN_PERIOD, MAX_PERIOD)
        self.rolling_ball = as_ball(ball, platform.parameters)
        if timestep is None:
            timestep = suitable_timestep(platform, self.period, self._check_step)
        self.ratio = steps_per_period(self.period, timestep)
        self.timestep = self.period / self.ratio
        self._check_step(platform, self.timestep)
        self._gains = loop_gains(platform, self.timestep)
        self.platforms = [platform] * size
        plant = Plant(platform, inertial=False, limits=self.limits)
        if self.mode not in plant.modes:
            raise InputError("mode", f"the drives take {' or '.join(plant.modes)}, not {mode}")
        plant.prepare(self.timestep)
        self._plants = [plant] * size
        n, k = platform.n_actuators, platform.n_deflections
        self._shape = (size, n)
        self.machines = empty_machines(size, n, k)
        self._inputs = empty_inputs(size, n, self.ratio)
        self._drive_arrays = make_drive_arrays(
            size, n, queue_capacity(plant.drives.delay_steps, self.ratio)
        )
        self._is_shaken = self._has_wrench = self._has_feedforward = self._is_closed = False
        self._is_placed, self._are_all_placed = np.zeros(size, dtype=bool), False
        machines = self.machines
        self.pose, self.twist, self.deflection = machines.pose, machines.twist, machines.deflection
        self.coordinates, self.rates = machines.coordinates, machines.rates
        self.acceleration, self.failed = machines.acceleration, machines.failed
        self.measured, self.measured_rates = machines.measured, machines.measured_rates
        self.forces, self.effort, self.gap = machines.forces, machines.effort, machines.gap
        balls = 0 if self.rolling_ball is None else size
        self.ball, self.ball_lost = np.zeros((balls, 13)), np.zeros(balls, dtype=bool)
        self._prepare()

    def reset(
        self,
        indices: Any,
        *,
        pose: Any = None,
        twist: Any = None,
        deflection: Any = None,
        platforms: Sequence[MachineModel] | None = None,
        ball: Any = None,
    ) -> None:
        """Put machines at `indices`, loops closed, drives holding them.

        Args:
            indices: `(m,)` whole numbers, each once.
            pose: `(m, 7)`, default home.
            twist: `(m, 6)`, default rest.
            deflection: `(m, 2k)`, default where springs in the legs rest.
            platforms: m machines like the batched plant's with other numbers; None to keep those
                there.
            ball: `(m, ...)` start of the ball; as the batched plant's `Ball` says.

        Raises:
            InputError: wrong shapes, not finite, a machine of another kind.
            ClosedEngineError: the batched plant is closed.
        """
        if self._is_closed:
            raise ClosedEngineError("the batched plant is closed; make a new one")
        indices = _checked_indices(indices, self.size)
        m, k = len(indices), self.platform.n_deflections
        if platforms is not None and len(platforms) != m:
            raise InputError("platforms", f"must be {m}, one per machine, not {len(platforms)}")
        if ball is not None and np.shape(ball)[:1] != (m,):
            raise InputError("ball", f"must have {m} rows, one per machine, got {np.shape(ball)}")
        for row_number, index in enumerate(indices):
            self._is_placed[index] = self._are_all_placed = False
            if platforms is not None and platforms[row_number] is not self.platforms[index]:
                self._adopt(index, as_model(platforms[row_number]))
            machine = self.platforms[index]
            row_pose = (
                machine.home if pose is None else as_pose(_entry(pose, "pose", row_number, m, 7))
            )
            platform_twist = (
                ZERO_VECTOR if twist is None else _entry(twist, "twist", row_number, m, 6)
            )
            if deflection is not None:
                spring_deflection = _entry(deflection, "deflection", row_number, m, 2 * k)
            else:
                spring_deflection = resting_deflection(machine, None if pose is None else row_pose)
            ball_start = None if ball is None else ball[row_number]
            # Copies, since kernels are compiled anew for arrays that cannot be written to.
            with for_many_machines(machine is not self.platform):
                self._put(
                    index,
                    machine,
                    (row_pose.copy(), platform_twist.copy(), spring_deflection),
                    ball_start,
                )
        self._are_all_placed = bool(self._is_placed.all())

    def advance(
        self, command: Any, *, feedforward: Any = None, wrench: Any = None, shaking: Any = None
    ) -> None:
        """Advance all machines by one control period; those that have failed keep their states.

        Args:
            command: `(N, n)` speeds [m/s, rad/s] or forces [N, N m].
            feedforward: `(N, n)` forces added to those of the velocity loops; default none.
            wrench: `(N, 6)` on the platforms, base axes, held; default none.
            shaking: `(N, ratio, 3)` acceleration of the base [m/s2], held over each step of the
                engine; default none.

        Raises:
            InputError: wrong shapes.
            ClosedEngineError: the batched plant is closed, or a machine was never reset, or its
                reset was refused.
        """
        if self._is_closed or not self._are_all_placed:
            raise ClosedEngineError("the batched plant is closed, or some machines were not reset")
        inputs = self._inputs
        _fill_input(inputs.command, command, "command")
        if self._has_feedforward or feedforward is not None:
            self._has_feedforward = _fill_input(
                inputs.feedforward, feedforward, "feedforward", optional=True
            )
        if self._has_wrench or wrench is not None:
            self._has_wrench = _fill_input(inputs.wrench, wrench, "wrench", optional=True)
        if self._is_shaken or shaking is not None:
            self._is_shaken = _fill_input(inputs.shaking, shaking, "shaking", optional=True)
        self._advance()

    def __copy__(self) -> Self:
        """Return an independent copy, which shares no array."""
        return deepcopy(self)

    def close(self) -> None:
        """Free the engines; calling it twice is allowed."""
        self._is_closed = True

    @property
    def drives(self) -> DriveArrays:
        """Drives and encoders of all machines; read only."""
        return self._drive_arrays

    @abstractmethod
    def _prepare(self) -> None:
        """Prepare the engine; all arguments have been checked and stored.

        Raises:
            InputError: a machine that the engine refuses, or more machines than it holds.
        """

    @abstractmethod
    def _advance(self) -> None:
        """Advance all machines by one control period under `_inputs`."""

    def _issue(self) -> None:
        """Issue the commands of `_inputs` to the drives."""
        arrays, inputs = self._drive_arrays, self._inputs
        issue_all(
            arrays.counters, arrays.queue, inputs.command, inputs.feedforward, self.machines.failed
        )

    def _note_lost_balls(self) -> None:
        """Note which balls have left their plates at the end of a period."""
        if self.rolling_ball is not None:
            ball_lost = is_lost(self.rolling_ball, on_plate(self.pose, self.twist, self.ball))
            self.ball_lost |= ball_lost & ~self.machines.failed

    @abstractmethod
    def _place(self, index: int, state: State, ball: Any) -> None:
        """Put a machine into the engine; its states and drives are set already."""

    def _adopt(self, index: int, platform: MachineModel) -> None:
        """Replace the machine at an index."""
        layout = attrgetter("kind", "n_actuators", "n_deflections", "dof")
        if layout(platform) != layout(self.platform):
            raise InputError(
                "platforms", f"{platform.name} is no machine like {self.platform.name}"
            )
        self._check_step(platform, self.timestep)
        plant = varied_plant(self._plants[index], platform, self.timestep, self.limits)
        capacity = queue_capacity(plant.drives.delay_steps, self.ratio)
        if capacity > self._drive_arrays.queue.shape[1]:
            self._drive_arrays = with_capacity(self._drive_arrays, capacity)
            self._adopt_arrays()
        self.platforms[index], self._plants[index] = platform, plant

    def _adopt_arrays(self) -> None:  # noqa: B027 (only some batched plants keep what depends on it)
        """Update references to the arrays of the drives, which have been replaced."""

    def _check_step(self, platform: MachineModel, timestep: float) -> None:
        """Raise InputError where the engine cannot step a machine by `timestep` [s]."""
        from twin.engines.base import check_timestep

        check_timestep(platform, timestep, self.name, "rk4")

    def _put(
        self, index: int, machine: MachineModel, start: tuple[Any, Any, Any], ball: Any
    ) -> None:
        """Put one machine into the arrays: drives holding it, sensors read, nothing failed."""
        pose, twist, deflection = start
        lengths, rates = np.empty(machine.n_actuators), np.empty(machine.n_actuators)
        coordinates_and_rates(machine.constants.legs, pose, twist, lengths, rates)
        if not np.isfinite(lengths).all():
            raise InputError("pose", f"{pose.tolist()} is out of reach of {machine.name}")
        state = State(0.0, pose, twist, lengths, rates, deflection)
        place_drives(self._drive_arrays, index, self._plants[index], self._gains, state)
        states = self.machines
        states.pose[index], states.twist[index], states.deflection[index] = pose, twist, deflection
        states.coordinates[index], states.rates[index] = self._plants[index].actuated(state)
        states.acceleration[index] = states.gap[index] = 0.0
        states.forces[index] = self._plants[index].leg_forces
        states.failed[index] = False
        self._place(index, state, ball)
        measurement = self._plants[index].measure(state)
        states.measured[index], states.measured_rates[index] = (
            measurement.coordinates,
            measurement.rates,
        )
        # Column 0 of a drive's state is the motor's effort.
        states.effort[index] = self._plants[index].states[:, 0]
        self._drive_arrays.last_readings[index] = measurement.coordinates
        self._is_placed[index] = True


def _fill_input(array: FloatArray, values: Any, field: str, *, optional: bool = False) -> bool:
    """Fill one input array, with zeros for None; return whether the input was given."""
    if values is None and optional:
        array[:] = 0.0
        return False
    if getattr(values, "shape", None) != array.shape:
        kind = f"{type(values).__name__} {np.shape(values)}"
        raise InputError(field, f"must be a numpy array of shape {array.shape}, got {kind}")
    array[:] = values
    return True


def _checked_indices(indices: Any, size: int) -> list[int]:
    index_array = np.asarray(indices)
    if index_array.ndim != 1 or index_array.dtype.kind not in "iu":
        raise InputError("indices", "must be whole numbers of shape (m,)")
    index_list: list[int] = index_array.tolist()
    if len(set(index_list)) != len(index_list) or not all(
        0 <= index < size for index in index_list
    ):
        raise InputError("indices", f"must be different numbers from 0 to {size - 1}")
    return index_list


def _entry(values: Any, field: str, number: int, count: int, width: int) -> FloatArray:
    if np.shape(values) != (count, width):
        raise InputError(field, f"must have shape ({count}, {width}), got {np.shape(values)}")
    return as_floats(values[number], field, width)
