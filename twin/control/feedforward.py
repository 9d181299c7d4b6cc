"""The cascade with the forces of a model: inverse dynamics of the reference, drives included.

Coordinates, rates and forces of the motors along a reference are computed once, before the loop.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, read_only
from twin.control.cascade import Cascade
from twin.control.controller import DEFAULT_PERIOD, Reference, control_period
from twin.control.gains import DriveModel, derived_velocity_loop, drive_model
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.motion import Motion
from twin.plant.signals import Command, Measurement

DRIVE_PERIOD = 0.5e-3
"""[s] Engineering choice: sampling period of the drives' velocity loops. They compare one command
with the speeds at their own samples over a control period, the first at its beginning. The mean
speed equals the commanded one if the reference is read half of the difference of both periods
ahead."""


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
    legs = platform.inverse_dynamics(pose, twist, acceleration)
    rates, accelerations = reference.rates[last_reachable], reference.accelerations[last_reachable]
    wind_up = legs * drives.compliance
    motor_rates = rates + _slope(wind_up, reference.period)
    motor_accelerations = accelerations + _slope(
        _slope(wind_up, reference.period), reference.period
    )
    half_period = 0.5 * reference.period
    speed_age = half_period - 0.5 * min(DRIVE_PERIOD, reference.period)
    rate_lead, force_lead = (
        (drives.delay + speed_age, drives.lead + half_period) if preview else (0.0, 0.0)
    )
    forces = ahead(legs + drives.inertia * motor_accelerations, force_lead / reference.period)
    if friction:
        forces = forces + drives.friction_force(ahead(motor_rates, force_lead / reference.period))
    return FeedforwardTable(
        *(
            read_only(values)
            for values in (
                reference.coordinates[last_reachable] + drives.wound_up(legs),
                ahead(motor_rates, rate_lead / reference.period),
                forces,
                legs,
            )
        )
    )


def _slope(rows: FloatArray, period: float) -> FloatArray:
    """Return the time derivative of rows `(k, n)`."""
    return np.gradient(rows, period, axis=0) if len(rows) > 1 else np.zeros_like(rows)


def ahead(rows: FloatArray, lead: float) -> FloatArray:
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
    slope, curvature = (
        0.5 * (right_value - previous),
        previous - 2.5 * left_value + 2.0 * right_value - 0.5 * following,
    )
    twist = 1.5 * (left_value - right_value) + 0.5 * (following - previous)
    return np.asarray(left_value + u * (slope + u * (curvature + u * twist)))


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
        ahead(values, lead_rows)
        for values in (reference.pose, reference.twist, reference.acceleration)
    )
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    rates = np.nan_to_num(ahead(reference.rates, lead_rows))
    loss = drives.friction_force(rates) if friction else np.zeros_like(rates)
    return TaskReference(*(read_only(values) for values in (pose, twist, acceleration, loss)))


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
        self._force = self._held = np.zeros(platform.n_actuators)

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
        self._held = measurement.forces

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return speeds and forces for control period `step`."""
        row_index = self.reference.row(step)
        table = self.table
        command = self._loop_speeds(
            row_index, table.coordinates[row_index], table.rates[row_index], measurement
        )
        self._force = table.forces[row_index] - self._held
        return Command(command, "velocity", self._force)

    def signals(self) -> dict[str, FloatArray]:
        """Return the feedforward forces."""
        return {"feedforward": self._force}
