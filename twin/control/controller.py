"""Base of the controllers: reference and measurement in, command out, once a control period."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import (
    LARGEST_ENTRY,
    FloatArray,
    as_instance,
    as_vector,
    bounded,
    call_name,
    check_arguments,
    one_of,
    one_or_each,
    positive,
    read_only,
)
from twin.control.gains import suitable_velocity_loop
from twin.errors import InputError, brief
from twin.kernels.control.controllers import all_near, all_within, any_reaches
from twin.kernels.kinematics import inverse_kinematics_batch
from twin.model.integrate import static_deflection
from twin.model.machine_model import MachineModel, actuator_derivatives, as_model
from twin.motion import Motion
from twin.motion.recording import constrained_motion
from twin.plant.drives import actuator_limit
from twin.plant.signals import COMMAND_MODES, Command, Measurement

MAX_PERIODS = 10_000_000

MAX_MEASUREMENT_GAP = 5e-3
"""[s] Engineering choice: longest time without a measurement."""

MAX_SATURATION_TIME = 0.5
"""[s] Engineering choice: longest time that drives may be saturated."""

MAX_FOLLOWING_ERROR = 0.25
"""Engineering choice: largest following error of an actuator, as a fraction of its stroke."""

OVERSPEED_FACTOR = 1.5
"""Engineering choice: largest speed of an actuator, relative to its speed limit."""

LIKELY_CAUSE = "unstable gains or too fast a motion"
"""Likely cause that the messages about large errors and speeds state."""

DEFAULT_PERIOD = 1e-3
"""[s] Control period of the thesis and of most motion platforms."""

WHOLE_STROKE = 1.0
"""Following error of one whole stroke, which no actuator within its limits exceeds."""


class Reference(NamedTuple):
    """A motion at every control instant; after its end the last row holds. Read-only arrays.

    `begin` places a segment of a longer motion on the loop's time axis.
    """

    period: float
    """[s] between two rows"""
    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(k, 6)` of the platform, base axes [m/s, rad/s]"""
    acceleration: FloatArray
    """`(k, 6)` of the platform, base axes [m/s2, rad/s2]"""
    coordinates: FloatArray
    """`(k, n)` of what the actuators move [m, rad], without springs in series; where a leg cannot
    reach the pose, those before"""
    rates: FloatArray
    """`(k, n)` [m/s, rad/s]"""
    accelerations: FloatArray
    """`(k, n)` [m/s2, rad/s2]"""
    reachable: FloatArray
    """`(k,)` 1 where all legs reach the pose within their limits, else 0"""
    begin: int = 0
    """control period of the first row, counted from the start of the loop"""

    def row(self, step: int) -> int:
        """Return the row of a control period: the last one after the end, before it the first."""
        return min(max(step - self.begin, 0), len(self.time) - 1)


def sample_reference(
    platform: MachineModel, motion: Motion, period: float = 1e-3, duration: float | None = None
) -> Reference:
    """Return a motion at the control instants.

    Args:
        platform: the machine.
        motion: reference motion. After its end the machine rests at its last pose.
        period: control period [s].
        duration: [s], default that of the motion; longer ones rest at the end. The last row is at
            rest, also where the motion ends on the way.

    Raises:
        InputError: not a motion, one along an axis that the machine cannot move, or times that are
            not above zero.
    """
    as_model(platform)
    if not isinstance(motion, Motion):
        raise InputError("motion", f"must be a motion of twin.motion, not {brief(motion)}")
    sample_time = positive(period, "period")
    total_time = positive(motion.duration if duration is None else duration, "duration")
    if total_time / sample_time > MAX_PERIODS:
        raise InputError("duration", f"takes more than {MAX_PERIODS} control periods")
    n_rows = int(np.ceil(total_time / sample_time - 1e-9)) + 1
    time = np.asarray(np.arange(n_rows) * sample_time, dtype=np.float64)
    motion_time = np.minimum(time, motion.duration)
    pose, twist, acceleration = constrained_motion(platform, motion, motion_time)
    after_end = time > motion.duration * (1.0 + 1e-12)
    after_end[-1] = True  # it holds for ever
    twist, acceleration = (
        np.where(after_end[:, None], 0.0, rates) for rates in (twist, acceleration)
    )
    return reference_of(platform, sample_time, time, pose, twist, acceleration)


def still_reference(platform: MachineModel, pose: FloatArray, period: float = 1e-3) -> Reference:
    """Return the reference of a machine that holds a pose `(7,)`."""
    poses = np.asarray(pose, dtype=float)[None]
    zero = np.zeros((1, 6))
    return reference_of(platform, period, np.zeros(1), poses, zero, zero)


def reference_of(
    platform: MachineModel,
    period: float,
    time: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    *,
    begin: int = 0,
) -> Reference:
    """Return the reference with given rows, from a control period on; see `Reference`."""
    poses = np.ascontiguousarray(pose)
    coordinates = np.empty((len(poses), platform.n_actuators))
    inverse_kinematics_batch(platform.constants.legs, poses, coordinates)
    solvable = np.isfinite(coordinates).all(axis=1)
    lower_limits, upper_limits = platform.minimum_coordinates, platform.maximum_coordinates
    tolerance = 1e-9 * (upper_limits - lower_limits)
    within_stroke = (coordinates >= lower_limits - tolerance) & (
        coordinates <= upper_limits + tolerance
    )
    coordinates = hold_last(coordinates, solvable, platform.home_coordinates)
    rates, accelerations = (np.zeros_like(coordinates) for _ in range(2))
    if solvable.any():
        motion = (values[solvable] for values in (poses, twist, acceleration))
        rates[solvable], accelerations[solvable] = actuator_derivatives(platform, *motion)
    if platform.n_deflections:
        reachable = solvable & within_stroke.all(axis=1)
        actuator_motion = (coordinates, rates, accelerations)
        _leave_out_springs(
            platform, (poses, twist, acceleration), period, actuator_motion, reachable
        )
    parts = (
        time,
        poses,
        twist,
        acceleration,
        coordinates,
        rates,
        accelerations,
        (solvable & within_stroke.all(axis=1)).astype(float),
    )
    return Reference._make((period, *(read_only(values) for values in parts), begin))


def _leave_out_springs(
    platform: MachineModel,
    motion: tuple[FloatArray, FloatArray, FloatArray],
    period: float,
    actuator_motion: tuple[FloatArray, FloatArray, FloatArray],
    is_reachable: Any,
) -> None:
    """Subtract the quasi-static deflection of series springs from an actuator motion, in place.

    The reference takes the springs without oscillation; the plant adds their dynamics. Rows that
    are not `is_reachable` (out of reach) take the deflection of the last good row before them.
    """
    k = platform.n_deflections
    deflections: FloatArray = np.zeros((len(is_reachable), k))
    if is_reachable.any():
        deflections[is_reachable] = static_deflection(
            platform, *(values[is_reachable] for values in motion)
        )[:, :k]
    deflections = hold_last(deflections, is_reachable, np.zeros(k))
    for values in actuator_motion:
        values -= deflections
        deflections = (
            np.gradient(deflections, period, axis=0) if len(deflections) > 1 else 0.0 * deflections
        )
    if not (motion[1][-1].any() or motion[2][-1].any()):
        # Differences give no rate for springs that have just come to rest.
        actuator_motion[1][-1] = actuator_motion[2][-1] = 0.0


def hold_last(values: FloatArray, is_reachable: Any, first_values: FloatArray) -> FloatArray:
    """Return rows `(k, n)` in which the last reachable row replaces unreachable ones after it."""
    last_reachable = np.maximum.accumulate(np.where(is_reachable, np.arange(len(is_reachable)), -1))
    return np.where((last_reachable >= 0)[:, None], values[last_reachable], first_values)


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
        following: Any = MAX_FOLLOWING_ERROR,
        saturation: Any = MAX_SATURATION_TIME,
        patience: Any = MAX_MEASUREMENT_GAP,
    ) -> None:
        """Set the bounds.

        Args:
            platform: the machine.
            reference: of the controller.
            period: control period [s].
            following: largest error of an actuator, as a fraction of its stroke.
            saturation: [s] that drives may be at their limits without a break.
            patience: [s] that sensors may be silent.

        Raises:
            InputError: bounds that are not above zero.
        """
        stroke = platform.stroke
        self.following = positive(following, "following") * stroke
        self.speed = actuator_limit(platform, "speed")
        self.fastest = OVERSPEED_FACTOR * self.speed
        # Without a known limit: a hundredth of a second from end to end is no motion any more.
        self.runaway = np.where(np.isfinite(self.fastest), 2.0 * self.fastest, 100.0 * stroke)
        self._huge = np.full_like(stroke, LARGEST_ENTRY)
        self._unit = platform.coordinate_unit
        self.saturation = positive(saturation, "saturation")
        self._patience = positive(patience, "patience")
        self._reference, self._period = reference, period
        self.start()

    def start(self) -> None:
        """Start supervision with the counters of dropouts and saturation at zero."""
        self._silent_samples = self._limited_commands = 0

    def redirect(self, reference: Reference) -> None:
        """Watch the loop along another reference from now on; the counters keep their values."""
        self._reference = reference

    def check_measurement(self, step: int, measurement: Measurement) -> str:
        """Return why the machine has to stop in control period `step`; empty where it may go on."""
        if not measurement.valid:
            self._silent_samples += 1
            if self._silent_samples * self._period > self._patience:
                return f"sensor dropout: no reading for {1e3 * self._patience:g} ms"
            return ""
        self._silent_samples = 0
        row_index = self._reference.row(step)
        if self._reference.reachable[row_index] == 0.0:
            return self._unreachable(row_index)
        setpoint = self._reference.coordinates[row_index]
        if not all_near(setpoint, measurement.coordinates, self.following):
            error = np.abs(setpoint - measurement.coordinates)
            leg, unit = int(np.argmax(error / self.following)) + 1, self._unit
            return (
                f"following error: actuator {leg} is {error[leg - 1]:.3g} {unit} from its "
                f"setpoint, more than {self.following[leg - 1]:.3g} {unit}; {LIKELY_CAUSE}"
            )
        if not all_within(measurement.rates, self.fastest):
            speed = np.abs(measurement.rates)
            leg, unit = int(np.argmax(speed / self.fastest)) + 1, f"{self._unit}/s"
            return (
                f"overspeed: actuator {leg} moves at {speed[leg - 1]:.3g} {unit}, limit with "
                f"margin {self.fastest[leg - 1]:.3g} {unit}; {LIKELY_CAUSE}"
            )
        return ""

    def check_command(self, command: Command, limited: bool) -> str:
        """Return why a command ends the motion; `limited` tells that some drive is saturated."""
        parts = {
            "command": command.values,
            "feedforward": command.feedforward,
            "brake command": command.brakes,
        }
        for name, values in parts.items():
            if values is not None and not all_within(values, self._huge):
                reason = f"beyond {LARGEST_ENTRY:g}" if np.isfinite(values).all() else "not finite"
                return f"the controller's {name} is {reason}"
        if command.mode == "velocity":
            limited = limited or any_reaches(command.values, self.speed)
        # Passing through zero between two limits is no rest: it only counts back.
        self._limited_commands = max(0, self._limited_commands + (1 if limited else -1))
        if self._limited_commands * self._period > self.saturation:
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


MIN_PERIOD = 1e-6
"""[s] Shortest control period that is accepted."""

MAX_PERIOD = 10.0
"""[s] Longest control period that is accepted."""


def control_period(value: Any) -> float:
    """Return a control period [s] from `MIN_PERIOD` to `MAX_PERIOD`.

    Raises:
        InputError: it is outside, or no number.
    """
    return bounded(value, "period", MIN_PERIOD, MAX_PERIOD)


class Controller(ABC):
    """A controller of one machine along one reference, called once a control period.

    Attributes:
        platform: the machine as the controller knows it.
        reference: where it shall go, at the control instants.
        first: control period in which it was started; the loop sets it.
        period: [s].
        velocity_gain: `(n,)` of the drives' velocity loops [N s/m] or [N m s/rad].
        velocity_time: `(n,)` their integral times [s].
    """

    name: ClassVar[str]
    limited: bool = False
    """Whether the last command was limited"""
    first: int = 0

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        velocity_gain: Any = None,
        velocity_time: Any = None,
    ) -> None:
        """Sample the motion.

        Args:
            platform: the machine as the controller knows it.
            motion: reference motion; default: stay at home.
            period: control period [s].
            velocity_gain: one number or `(n,)`; default the machine's, or derived from its masses.
            velocity_time: one number or `(n,)` [s]; default likewise.

        Raises:
            InputError: an argument that cannot be used.
        """
        self.platform = as_model(platform)
        self.period = control_period(period)
        self.reference = _reference(platform, motion, self.period)
        gain, time = suitable_velocity_loop(platform, self.period)
        gain = gain if velocity_gain is None else velocity_gain
        time = time if velocity_time is None else velocity_time
        n = platform.n_actuators
        self.velocity_gain = read_only(one_or_each(gain, "velocity_gain", n))
        self.velocity_time = read_only(one_or_each(time, "velocity_time", n))

    def __repr__(self) -> str:
        return f"<controller {self.name!r} of {self.platform.name!r}: {1e3 * self.period:g} ms>"

    @property
    def loop_gains(self) -> FloatArray:
        """Gains `(n, 2)` of the drives' velocity loops: gain, and gain per integral time."""
        # An infinite one is refused when the loop starts.
        with np.errstate(over="ignore"):
            return np.column_stack([self.velocity_gain, self.velocity_gain / self.velocity_time])

    @abstractmethod
    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`, without a step in the first command."""

    @abstractmethod
    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the command of control period `step`, counted from 0.

        Raises:
            ControlError: the controller cannot go on; the loop stops the machine safely.
        """

    def redirect(self, reference: Reference) -> None:
        """Follow another reference from now on; its `begin` is the control period of its first row.

        Integrals, estimates, limits and fades keep their values, so that the command is continuous
        where the new reference continues the old one. Gains are not designed again.

        Args:
            reference: of this machine and this period.

        Raises:
            InputError: no such reference; the controller follows the old one.
            SingularPoseError: it passes a singular pose; likewise.
        """
        as_instance(reference, "reference", Reference)
        self._prepare(_checked_reference(self.platform, reference, self.period, "reference"))

    def _prepare(self, reference: Reference) -> None:
        """Store a reference and everything that the controller derives from it.

        A controller that derives values from its reference overrides this method, calls it in its
        constructor as well, and stores nothing before all values are derived.
        """
        self.reference = reference

    def supervisor(self) -> Supervisor:
        """Return the default supervisor of the loop around this controller."""
        return Supervisor(self.platform, self.reference, self.period)

    def signals(self) -> dict[str, FloatArray]:
        """Return further quantities of the last update, by name, to be kept with the trajectory."""
        return {}


def _reference(platform: MachineModel, motion: Any, period: float) -> Reference:
    if motion is None:
        return still_reference(platform, platform.home, period)
    if not isinstance(motion, Reference):
        return sample_reference(platform, motion, period)
    return _checked_reference(platform, motion, period, "motion")


def _checked_reference(
    platform: MachineModel, reference: Reference, period: float, field: str
) -> Reference:
    """Return a checked reference; `field` is the argument's name in error messages."""
    n_rows, n = len(reference.time), platform.n_actuators
    shapes = [(n_rows, *row_shape) for row_shape in ((), (7,), (6,), (6,), (n,), (n,), (n,), ())]
    parts = reference[1:-1]
    if abs(reference.period - period) > 1e-12:
        raise InputError(
            field,
            f"has a period of {1e3 * reference.period:g} ms, not the controller's "
            f"{1e3 * period:g} ms",
        )
    if [np.shape(values) for values in parts] != shapes:
        raise InputError(
            field, f"does not fit {platform.name}: its arrays have other shapes; sample it again"
        )
    if not n_rows or not all(np.isfinite(values).all() for values in parts):
        raise InputError(field, "is a reference without rows, or with values that are not finite")
    if type(reference.begin) is not int:
        raise InputError(
            field,
            f"must have a whole number of periods as its begin, not {brief(reference.begin)}",
        )
    return reference


ControlFunction = Callable[[float, Measurement], Any]
"""Time [s] and measurement to the command: `(n,)` numbers or a `Command`."""


class FunctionController(Controller):
    """A function `(time, measurement) -> command`, called once a control period.

    The command is `(n,)` forces [N] or torques [N m], speeds [m/s, rad/s] with `mode="velocity"`,
    or a `Command`, which says for itself which of the two it has.

    Attributes:
        function: of the user.
        mode: of commands that are plain arrays.
    """

    name = "function"

    def __init__(
        self,
        platform: MachineModel,
        function: ControlFunction,
        motion: Motion | Reference | None = None,
        *,
        mode: Literal["force", "velocity"] = "force",
        period: float = DEFAULT_PERIOD,
    ) -> None:
        """Prepare the calls.

        Args:
            platform: the machine.
            function: called with the time [s] since the start and the `Measurement`.
            motion: where it means to go, for the records and the supervisor; the function itself
                does not get it. Default: none; the records then have home as reference.
            mode: of plain arrays: "force", or "velocity" for speeds that the drives keep.
            period: of the calls [s].

        Raises:
            InputError: no function of two arguments, or an argument that cannot be used.
        """
        super().__init__(platform, motion, period=period)
        if not callable(function) or isinstance(function, type):
            raise InputError(
                "controller",
                "must be one of twin.control or a function (time, measurement) -> command, not "
                f"{brief(function)}",
            )
        check_arguments(function, "controller", "time", "measurement")
        self.function, self.mode = function, one_of(mode, "mode", COMMAND_MODES)
        self._without_reference = motion is None
        self._error_label = f"controller {call_name(function)}(time, measurement)"

    def start(self, measurement: Measurement) -> None:
        """Do nothing, because the user's function keeps its own state."""

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the function's command in control period `step`, checked.

        Raises:
            InputError: it returns no command, or one of another shape or that is not finite; names
                the function.
        """
        returned: Any = self.function(step * self.period, measurement)
        if not isinstance(returned, Command):
            return Command(self._checked(returned), self.mode)  # type: ignore[arg-type]
        if returned.mode not in COMMAND_MODES:
            raise InputError(
                self._error_label, f"unknown mode {brief(returned.mode)} of its Command"
            )
        for values in (returned.values, returned.feedforward, returned.brakes):
            if values is not None:
                self._checked(values)
        return returned

    def redirect(self, reference: Reference) -> None:
        """Record and watch another reference from now on; see `Controller.redirect`."""
        super().redirect(reference)
        self._without_reference = False

    def supervisor(self) -> Supervisor:
        """Return the supervisor; without a motion it watches the strokes, no following error."""
        bounds = {"following": WHOLE_STROKE} if self._without_reference else {}
        return Supervisor(self.platform, self.reference, self.period, **bounds)

    def _checked(self, values: Any) -> Any:
        return as_vector(values, self._error_label, self.platform.n_actuators)


def as_controller(
    platform: MachineModel, controller: Any, period: float | None = None
) -> Controller:
    """Return a controller unchanged, or a function wrapped as a controller.

    Args:
        platform: the machine.
        controller: a controller, or a function; see `FunctionController`.
        period: of a function [s], default 1 ms.

    Raises:
        InputError: neither of the two, of a machine with other actuators, or a period for a
            controller, which has its own.
    """
    if not isinstance(controller, Controller):
        return FunctionController(
            platform, controller, period=DEFAULT_PERIOD if period is None else period
        )
    if period is not None:
        raise InputError("period", "is for a function; a controller is made with its own")
    if controller.platform.n_actuators != platform.n_actuators:
        raise InputError("controller", "is of a machine with other actuators")
    return controller
