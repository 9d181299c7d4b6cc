"""Controllers with the forces of a model: feedforward along a reference, and computed torque.

The feedforward adds the reference's inverse dynamics, drives included, to the cascade. Coordinates,
rates and forces of the motors along the reference are computed once, before the loop.

With computed torque in task space the pose error follows a linear second-order equation.
`Prediction` keeps the commanded accelerations that have not acted yet.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, bounded, not_negative, read_only
from twin.control.cascade import Cascade
from twin.control.controller import DEFAULT_PERIOD, Controller, Reference, control_period
from twin.control.gains import (
    DriveModel,
    burden,
    derived_velocity_loop,
    drive_model,
    limiting_mass,
    loop_lag,
    total_to_motor_mass_ratio,
)
from twin.errors import ControlError, InputError
from twin.kernels import kinematics
from twin.kernels.control.controllers import (
    NO_POSE,
    POSE_FOUND,
    RigidMachine,
    corrected_acceleration,
    predict,
    required_forces,
    task_state,
)
from twin.kernels.dynamics.assembly import make_work
from twin.kernels.jit import interpreted
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.signals import Command, Measurement

DRIVE_PERIOD = 0.5e-3
"""[s] Engineering choice: sampling period of velocity loops without a motor's inertia. They compare
one command with the speeds at their own samples over a control period, the first at its beginning.
The mean speed equals the commanded one if the reference is read half of the difference of both
periods ahead."""


class FeedforwardTable(NamedTuple):
    """One row per control instant; after the end the last row holds. Read-only arrays."""

    coordinates: FloatArray
    """`(k, n)` of the motors [m, rad] for the present leg coordinates, with backlash and wind-up"""
    rates: FloatArray
    """`(k, n)` of the motors [m/s, rad/s], ahead by the drives' delay, without backlash"""
    forces: FloatArray
    """`(k, n)` of the motors [N, N m], ahead by the drives' delay and lag"""
    leg_forces: FloatArray
    """`(k, n)` on the legs [N, N m], at the row's own instant"""


def feedforward_table(
    platform: MachineModel,
    reference: Reference,
    drives: DriveModel,
    *,
    preview: bool = True,
    friction: bool = True,
) -> FeedforwardTable:
    """Return the feedforward of a reference by the models of the machine and of its drives.

    Args:
        platform: the controller's model of the machine.
        reference: of this machine.
        drives: the controller's model of the drives.
        preview: look ahead in the reference by the drives' delay and half a control period, and
            forces by the lag of the current loops too.
        friction: with the friction of the drives.

    Raises:
        InputError: the model's actuators do not move the platform alone.
        SingularPoseError: the reference passes a singular pose.
    """
    if platform.n_deflections:
        raise InputError("platform", "springs inside its legs: actuators alone do not move it")
    reachable = reference.reachable > 0.0
    # The loop stops before poses that cannot be reached. The rows before them stay valid.
    last_reachable = np.maximum.accumulate(
        np.where(reachable, np.arange(len(reachable)), int(np.argmax(reachable)))
    )
    pose, twist, acceleration = (
        np.where(reachable[:, None], values, fill_value)[last_reachable]
        for values, fill_value in (
            (reference.pose, platform.home),
            (reference.twist, 0.0),
            (reference.acceleration, 0.0),
        )
    )
    leg_forces = platform.inverse_dynamics(pose, twist, acceleration)
    rates, accelerations = reference.rates[last_reachable], reference.accelerations[last_reachable]
    leg_wind_up = leg_forces * drives.compliance
    motor_rates = rates + _slope(leg_wind_up, reference.period)
    motor_accelerations = accelerations + _slope(
        _slope(leg_wind_up, reference.period), reference.period
    )
    half_period = 0.5 * reference.period
    # The loops of motors with inertia act in continuous time, others on speeds of the last step.
    speed_age = 0.0 if drives.inertia.any() else 0.5 * min(DRIVE_PERIOD, reference.period)
    rate_lead = force_lead = 0.0
    if preview:
        rate_lead, force_lead = drives.delay + half_period - speed_age, drives.lead + half_period
    forces = advanced(
        leg_forces + drives.inertia * motor_accelerations, force_lead / reference.period
    )
    if friction:
        forces = forces + drives.friction_force(
            advanced(motor_rates, force_lead / reference.period)
        )
    return FeedforwardTable(
        *(
            read_only(values)
            for values in (
                reference.coordinates[last_reachable] + drives.wind_up(leg_forces),
                advanced(motor_rates, rate_lead / reference.period),
                forces,
                leg_forces,
            )
        )
    )


def _slope(rows: FloatArray, period: float) -> FloatArray:
    """Return the time derivative of rows `(k, n)`."""
    return np.gradient(rows, period, axis=0) if len(rows) > 1 else np.zeros_like(rows)


def advanced(rows: FloatArray, lead: float) -> FloatArray:
    """Return rows `(k, m)` as they will be `lead` rows later; after the end the last one holds.

    Values between rows are those of the cubic through four neighbours (Catmull and Rom). Half a
    period of 1 ms ahead, it keeps 0.999 of the amplitude of a 70 Hz sine, a straight line 0.976.
    """
    last_row = len(rows) - 1
    row_position = np.minimum(np.arange(len(rows)) + lead, float(last_row))
    row_below = np.floor(row_position).astype(int)
    u = (row_position - row_below)[:, None]
    previous, left_value, right_value, following = (
        rows[np.clip(row_below + k, 0, last_row)] for k in (-1, 0, 1, 2)
    )
    slope = 0.5 * (right_value - previous)
    curvature = previous - 2.5 * left_value + 2.0 * right_value - 0.5 * following
    cubic = 1.5 * (left_value - right_value) + 0.5 * (following - previous)
    return np.asarray(left_value + u * (slope + u * (curvature + u * cubic)))


class TaskReference(NamedTuple):
    """Reference at every control instant, read a fixed time ahead. Read-only arrays."""

    pose: FloatArray
    """`(k, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(k, 6)` of the platform, base axes [m/s, rad/s]"""
    acceleration: FloatArray
    """`(k, 6)` of the platform, base axes [m/s2, rad/s2]"""
    friction: FloatArray
    """`(k, n)` of the drives"""


def task_reference(
    reference: Reference, drives: DriveModel, lead: float, friction: bool
) -> TaskReference:
    """Return the reference as it will be `lead` [s] later, with the drives' friction or zeros."""
    lead_rows = lead / reference.period
    pose, twist, acceleration = (
        advanced(values, lead_rows)
        for values in (reference.pose, reference.twist, reference.acceleration)
    )
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    rates = np.nan_to_num(advanced(reference.rates, lead_rows))
    friction_forces = drives.friction_force(rates) if friction else np.zeros_like(rates)
    return TaskReference(
        *(read_only(values) for values in (pose, twist, acceleration, friction_forces))
    )


class InverseDynamicsFeedforward(Cascade):
    """Cascade with inverse dynamics: a model feeds the forces forward to the velocity loops.

        command = v_ref(t + lead) + Kp e + Ki int(e),   e = q_ref + backlash + windup - q
        force  = ID(reference) + m_motor q_ref'' + friction(q_ref'),   at t + lead

    Everything that depends on the reference is computed once. The lead is the drives' delay and
    half a period of the controller, for forces also the current loop's lag.

    Attributes:
        table: feedforward of the whole reference, computed in advance.
    """

    name: ClassVar[str] = "feedforward"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        model: MachineModel | None = None,
        position_gain: Any = None,
        position_integral: Any = None,
        velocity_gain: Any = None,
        velocity_time: Any = None,
        preview: bool = True,
        friction: bool = True,
    ) -> None:
        """Compute the forces of the reference.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            model: the controller's model of the machine; default the machine itself.
            position_gain: [1/s]; default the machine's.
            position_integral: [1/s2]; default the machine's.
            velocity_gain: of the drives' velocity loops; default derived from the masses that
                they move, motors included.
            velocity_time: [s], default likewise.
            preview: look ahead in the reference by what delay and lag take.
            friction: compensate the drives' friction.

        Raises:
            InputError: an argument that cannot be used, or springs in the legs.
            SingularPoseError: the reference passes a singular pose.
        """
        controller_model = self.model = as_model(platform if model is None else model)
        check_same_kind(controller_model, as_model(platform))
        self._drives = drive_model(controller_model)
        self._preview = as_flag(preview, "preview")
        self._friction = as_flag(friction, "friction")
        gain, time = derived_velocity_loop(controller_model, control_period(period))
        super().__init__(
            platform,
            motion,
            period=period,
            position_gain=position_gain,
            position_integral=position_integral,
            velocity_gain=gain if velocity_gain is None else velocity_gain,
            velocity_time=time if velocity_time is None else velocity_time,
            feedforward_start=0.0,
            feedforward_rise=0.0,
        )
        self._force = self._holding_force = np.zeros(platform.n_actuators)

    def _prepare(self, reference: Reference) -> None:
        self.table = feedforward_table(
            self.model, reference, self._drives, preview=self._preview, friction=self._friction
        )
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`, without a step in the command."""
        row_index = self.reference.row(self.first)
        error = self.table.coordinates[row_index] - measurement.coordinates
        self._start_loop(row_index, error, measurement.rates, self.table.rates[row_index])
        # The integrals of the velocity loops hold the machine when the controller begins.
        self._holding_force = measurement.forces

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return speeds and forces for control period `step`."""
        row_index = self.reference.row(step)
        table = self.table
        speeds = self._loop_speeds(
            row_index, table.coordinates[row_index], table.rates[row_index], measurement
        )
        self._force = table.forces[row_index] - self._holding_force
        return Command(speeds, "velocity", self._force)

    def signals(self) -> dict[str, FloatArray]:
        """Return the feedforward forces."""
        return {"feedforward": self._force}


class Prediction:
    """The last commanded accelerations `(6,)` and the remaining time of each.

    A command acts from delay plus lag after it was given, for one period. It is computed for the
    middle of that span, so that the state is needed `lead` after the readings.

    Attributes:
        lead: [s] by which state and reference are predicted ahead; zero without prediction.
    """

    def __init__(self, drives: DriveModel, period: float, enabled: bool = True) -> None:
        whole_periods = int(drives.lead / period + 1e-9)
        remainder = drives.lead - whole_periods * period
        self.lead = drives.lead + 0.5 * period if enabled else 0.0
        # In the last half period the command now computed acts; the latest kept stands in for it.
        durations = [remainder, *[period] * whole_periods, 0.5 * period]
        self._reading_age = 0.5 * period if enabled and drives.resolution.any() else 0.0
        self._spans = np.array(durations) if enabled else np.zeros(0)
        self._past_accelerations = np.zeros((whole_periods + 1, 6))
        self._pending = np.zeros((len(self._spans), 6))

    def start(self) -> None:
        """Start at rest, with no commanded acceleration still to act."""
        self._past_accelerations[:] = 0.0

    def keep(self, acceleration: FloatArray) -> None:
        """Append this period's commanded acceleration `(6,)`, base axes, without integral part."""
        self._past_accelerations[:-1] = self._past_accelerations[1:]
        self._past_accelerations[-1] = acceleration

    def twist_change_since_reading(self) -> FloatArray:
        """Return the change `(6,)` of the twist from the middle of the rate readings until now.

        Rates of encoders are differences over the past period.
        """
        return np.asarray(self._reading_age * self._past_accelerations[0])

    def pending(self) -> tuple[FloatArray, FloatArray]:
        """Return durations `(d,)` [s] and accelerations `(d, 6)` still to act, the next first."""
        if len(self._pending):
            self._pending[:-1] = self._past_accelerations
            self._pending[-1] = self._past_accelerations[-1]
        return self._spans, self._pending


LAG_BANDWIDTH_PRODUCT = 1.0 / 3.0
"""Engineering choice: largest bandwidth times loop lag. The prediction compensates the lag, but not
errors of the model over it."""

PERIOD_BANDWIDTH_PRODUCT = 0.25
"""Engineering choice: largest bandwidth times the control period."""

DAMPING_RATIO = 1.0
INTEGRAL_FRACTION = 0.1
"""Engineering choice: integral gain, as a fraction of the bandwidth cubed."""

FORCE_FADE_TIME = 0.5
"""[s] Engineering choice: time over which the difference of the first force from the model's fades
out."""


class ComputedTorque(Controller):
    """Computed torque: model forces for the acceleration that lets the pose error decay.

        acceleration = a_ref + Kd (t_ref - t) + Kp e + Ki int(e),   Kp = w^2, Kd = 2 d w
        forces       = ID(pose, twist, acceleration) + m_motor q'' + friction(q_ref')

    with e the displacement and the rotation vector from the platform's pose to the reference, in
    base axes. The pose is found from the actuators by Newton from that of the last period, the
    twist from their rates; both are moved on by delay, lag and half a period under the
    accelerations that are on their way, and so is the reference.

    Attributes:
        model: the controller's model of the machine.
        bandwidth: w [rad/s].
        damping: damping ratio d.
        integral_share: Ki as a fraction of w^3.

    Reference:
        Luh, Walker and Paul, Resolved-acceleration control of mechanical manipulators, IEEE
        Transactions on Automatic Control 25 (1980).
    """

    name: ClassVar[str] = "computed_torque"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        period: float = DEFAULT_PERIOD,
        model: MachineModel | None = None,
        bandwidth: Any = None,
        damping: Any = DAMPING_RATIO,
        integral_share: Any = INTEGRAL_FRACTION,
        prediction: bool = True,
        friction: bool = True,
    ) -> None:
        """Prepare the model.

        Args:
            platform: the machine.
            motion: reference motion; default: stay at home.
            period: control period [s].
            model: the controller's model of the machine; default the machine itself.
            bandwidth: [rad/s]; default `suitable_bandwidth`.
            damping: of the error.
            integral_share: Ki as a fraction of the bandwidth cubed, zero for none.
            prediction: move state and reference on by delay and lag.
            friction: compensate the drives' friction along the reference.

        Raises:
            InputError: an argument that cannot be used, or a machine whose actuators do not move
                the platform alone.
        """
        super().__init__(platform, motion, period=period)
        controller_model = self.model = as_model(platform if model is None else model)
        _check(controller_model, platform)
        chosen_bandwidth = (
            suitable_bandwidth(controller_model, self.period) if bandwidth is None else bandwidth
        )
        self.bandwidth = bounded(chosen_bandwidth, "bandwidth", 1e-3, 1e6)
        self.damping = bounded(damping, "damping", 1e-3, 1e3)
        self.integral_share = not_negative(integral_share, "integral_share")
        self._drives = drives = drive_model(controller_model)
        self._prediction = Prediction(drives, self.period, as_flag(prediction, "prediction"))
        self._friction = as_flag(friction, "friction")
        self._task_reference: TaskReference
        self._prepare(self.reference)
        self._gains = np.tile([self.bandwidth**2, 2.0 * self.damping * self.bandwidth], (6, 1))
        n = controller_model.n_actuators
        legs = controller_model.constants.legs
        self._pose_memory = kinematics.make_work(n, 6 - controller_model.dof)
        self._work = interpreted(make_work)(legs)
        self._state, self._predicted_state = np.zeros(13), np.zeros(13)
        self._integral, self._error, self._acceleration = (np.zeros(6) for _ in range(3))
        self._offset, self._leg_forces, self._inertia_forces = (np.zeros(n) for _ in range(3))
        self._machine = RigidMachine(
            controller_model.constants.body, legs, drives.inertia, np.zeros(0), np.zeros(6)
        )

    def _prepare(self, reference: Reference) -> None:
        self._task_reference = task_reference(
            reference, self._drives, self._prediction.lead, self._friction
        )
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at `measurement`; the first force differs from the present one by feedback only."""
        self._state[:7] = self.model.forward_kinematics(
            measurement.coordinates - self._drives.wind_up(measurement.forces),
            self.reference.pose[self.reference.row(self.first)],
        )
        self._prediction.start()
        self._was_limited = False
        self._integral[:] = 0.0
        self._leg_forces[:] = measurement.forces
        zero_twist = np.zeros(6)
        pose = self.model.constrain(self._state[:7]).pose
        self._offset = measurement.forces - self.model.inverse_dynamics(
            pose, zero_twist, zero_twist
        )

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return forces for control period `step`.

        Raises:
            ControlError: the readings belong to no pose, or to a singular one.
        """
        row_index = self.reference.row(step)
        legs = self.model.constants.legs
        coordinates = measurement.coordinates - self._drives.wind_up(self._leg_forces)
        self._raise_on_failure(
            task_state(legs, coordinates, measurement.rates, self._state, self._pose_memory)
        )
        self._state[7:] += self._prediction.twist_change_since_reading()
        predict(self._state, *self._prediction.pending(), self._predicted_state)
        corrected_acceleration(
            self._predicted_state,
            *self._setpoint(step),
            self._gains,
            self._integral,
            self._error,
            self._acceleration,
        )
        # The integral part balances the load and errors of the model; it accelerates nothing.
        self._prediction.keep(self._acceleration - self._integral)
        self._raise_on_failure(
            required_forces(
                self._machine,
                self._predicted_state,
                self._acceleration,
                self._leg_forces,
                self._inertia_forces,
                self._work,
            )
        )
        fade_factor = max(0.0, 1.0 - (step - self.first) * self.period / FORCE_FADE_TIME)
        friction = self._task_reference.friction[row_index]
        force = self._leg_forces + self._inertia_forces + friction + fade_factor * self._offset
        limit = self._drives.peak_effort
        limited_force = np.minimum(np.maximum(force, -limit), limit)
        self._was_limited = bool((limited_force != force).any())
        if self.integral_share and not self._was_limited:
            rate = self.integral_share * self.bandwidth**3 * self.period
            self._integral += rate * self._error
        return Command(limited_force, "force")

    def _setpoint(self, step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the reference pose, twist and acceleration `lead` seconds after the readings."""
        row_index, reference = self.reference.row(step), self._task_reference
        return (
            reference.pose[row_index],
            reference.twist[row_index],
            reference.acceleration[row_index],
        )

    def signals(self) -> dict[str, FloatArray]:
        """Return the estimated state of the platform, the error and the acceleration."""
        return {
            "estimated_state": self._state.copy(),
            "task_error": self._error.copy(),
            "task_acceleration": self._acceleration.copy(),
        }

    def _raise_on_failure(self, code: int) -> None:
        """Raise ControlError if a kernel found no pose or a singular one."""
        if code == POSE_FOUND:
            return
        reason = "readings that belong to no pose" if code == NO_POSE else "a singular pose"
        raise ControlError(
            f"{reason}: the platform was last found at {np.round(self._state[:3], 4).tolist()} m",
            {"code": code, "state": self._state.copy()},
        )


def suitable_bandwidth(platform: MachineModel, period: float = DEFAULT_PERIOD) -> float:
    """Return the largest bandwidth [rad/s] that loop lag and transmissions allow.

    The gains are made for motor and leg together. Above the frequency at which the leg swings on
    its transmission they act on the motor alone, or on the `limiting_mass`, and the loop is
    faster by as much as the heaviest leg with its motor is heavier than that.

    Raises:
        InputError: not a machine.
    """
    model = as_model(platform)
    lag = loop_lag(model, period)
    speed_up = total_to_motor_mass_ratio(model) * burden(model).lightest / limiting_mass(model, lag)
    return min(LAG_BANDWIDTH_PRODUCT / lag / speed_up, PERIOD_BANDWIDTH_PRODUCT / period)


def _check(model: MachineModel, platform: MachineModel) -> None:
    """Raise InputError for machines that forces of a rigid model do not move."""
    reason = ""
    if model.leg.has_series_spring:
        reason = (
            "springs inside its legs move the platform beside the actuators, and nothing measures "
            "them"
        )
    elif model.leg.has_axial_spring:
        reason = (
            "its legs are springs whose lengths are commanded, with modes beyond what a controller "
            "samples; active damping suits it"
        )
    if reason:
        raise InputError("platform", f"{model.name}: {reason}")
    check_same_kind(model, platform)


def check_same_kind(model: MachineModel, platform: MachineModel) -> None:
    """Raise InputError unless a controller's model has the machine's kind and number of legs."""
    if model.n_actuators != platform.n_actuators or model.kind != platform.kind:
        raise InputError("model", "must be of a machine with the same kind and number of legs")
