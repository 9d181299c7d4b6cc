"""The cascade with the forces of a model: inverse dynamics of the reference, drives included.

Coordinates, rates and forces of the motors along a reference, computed beforehand.
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
"""[s] Adopted: of the drives' velocity loops. Over a control period they compare one command with
speeds at their own samples, the first at the command's begin: the mean speed is the commanded one
for a reference that is looked at half of both periods' difference ahead."""


class FeedforwardTable(NamedTuple):
    """One row per control instant; after the end the last row holds. Read-only arrays."""

    coordinates: FloatArray
    """`(k, n)` of the motors, where the legs shall be now: with backlash and wind-up"""
    rates: FloatArray
    """`(k, n)` of the motors, ahead by the drives' delay; backlash left out"""
    forces: FloatArray
    """`(k, n)` of the motors, ahead by delay and lag"""
    leg_forces: FloatArray
    """`(k, n)` on the legs, now"""


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
    known = reference.reachable > 0.0
    # The loop stops before poses that cannot be reached. The rows before them stay valid.
    held = np.maximum.accumulate(np.where(known, np.arange(len(known)), int(np.argmax(known))))
    pose, twist, acceleration = (
        np.where(known[:, None], part, otherwise)[held]
        for part, otherwise in (
            (reference.pose, platform.home),
            (reference.twist, 0.0),
            (reference.acceleration, 0.0),
        )
    )
    legs = platform.inverse_dynamics(pose, twist, acceleration)
    rates, accelerations = reference.rates[held], reference.accelerations[held]
    wound = legs * drives.compliance
    motor_rates = rates + _slope(wound, reference.period)
    motor_accelerations = accelerations + _slope(_slope(wound, reference.period), reference.period)
    half = 0.5 * reference.period
    age = half - 0.5 * min(DRIVE_PERIOD, reference.period)
    rate_lead, force_lead = (drives.delay + age, drives.lead + half) if preview else (0.0, 0.0)
    forces = ahead(legs + drives.inertia * motor_accelerations, force_lead / reference.period)
    if friction:
        forces = forces + drives.friction_force(ahead(motor_rates, force_lead / reference.period))
    return FeedforwardTable(
        *(
            read_only(part)
            for part in (
                reference.coordinates[held] + drives.wound_up(legs),
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

    Between rows by the cubic through four neighbours (Catmull and Rom): a share of 0.999 of what
    moves at 70 Hz survives half a period of 1 ms, of straight lines 0.976.
    """
    last = len(rows) - 1
    place = np.minimum(np.arange(len(rows)) + lead, float(last))
    low = np.floor(place).astype(int)
    u = (place - low)[:, None]
    before, start, end, after = (rows[np.clip(low + k, 0, last)] for k in (-1, 0, 1, 2))
    slope, bend = 0.5 * (end - before), before - 2.5 * start + 2.0 * end - 0.5 * after
    twist = 1.5 * (start - end) + 0.5 * (after - before)
    return np.asarray(start + u * (slope + u * (bend + u * twist)))


class TaskReference(NamedTuple):
    """One row per control instant, each as it will be some time later. Read-only arrays."""

    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    acceleration: FloatArray
    """`(k, 6)`"""
    friction: FloatArray
    """`(k, n)` of the drives"""


def task_reference(
    reference: Reference, drives: DriveModel, lead: float, friction: bool
) -> TaskReference:
    """Return the reference as it will be `lead` [s] later, with the drives' friction or zeros."""
    rows = lead / reference.period
    pose, twist, acceleration = (
        ahead(part, rows) for part in (reference.pose, reference.twist, reference.acceleration)
    )
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    rates = np.nan_to_num(ahead(reference.rates, rows))
    loss = drives.friction_force(rates) if friction else np.zeros_like(rates)
    return TaskReference(*(read_only(part) for part in (pose, twist, acceleration, loss)))


class InverseDynamicsFeedforward(Cascade):
    """Cascade with inverse dynamics: a model feeds the forces forward to the velocity loops.

        command = v_ref(t + lead) + Kp e + Ki int(e),   e = q_ref + backlash + windup - q
        force  = ID(reference) + m_motor q_ref'' + friction(q_ref'),   at t + lead

    Everything that depends on the reference is computed once. The lead is the drives' delay and
    half a period of the controller, for forces also the current loop's lag.

    Attributes:
        table: what is known beforehand.
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
            motion: where it shall go; default: stay at home.
            period: of the controller [s].
            model: what the controller takes the machine for; default the machine itself.
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
        known = self.model = as_model(platform if model is None else model)
        self._drives = drive_model(known)
        self._preview = as_flag(preview, "preview")
        self._friction = as_flag(friction, "friction")
        gain, time = derived_velocity_loop(known, control_period(period))
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
        """Begin at `measurement`, without a jump in the command."""
        row = self.reference.row(self.first)
        error = self.table.coordinates[row] - measurement.coordinates
        self._start_loop(row, error, measurement.rates, self.table.rates[row])
        # The integrals of the velocity loops hold the machine when the controller begins.
        self._held = measurement.forces

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return speeds and forces for control period `step`."""
        row = self.reference.row(step)
        table = self.table
        command = self._loop_speeds(row, table.coordinates[row], table.rates[row], measurement)
        self._force = table.forces[row] - self._held
        return Command(command, "velocity", self._force)

    def signals(self) -> dict[str, FloatArray]:
        """Return the feedforward forces."""
        return {"feedforward": self._force}
