"""Constants of the drives of a machine for `actuation`, from its parameters.

When a command replaces another, the integrals of the velocity loops are set so that the forces stay
continuous.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, expm1, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.errors import InputError
from twin.kernels.dynamics.forward import forward_dynamics_batch
from twin.kernels.kinematics import jacobian_batch
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import AT_EFFORT, AT_SPEED, OUT_OF_STEP
from twin.machine.hardware.drive import AnyDrive
from twin.model.machine_base import run_checked, without_compiling
from twin.model.machine_model import MachineModel
from twin.plant.signals import Command

LIMIT_CODES = (("force", AT_EFFORT), ("speed", AT_SPEED), ("", OUT_OF_STEP))

IDEAL_DRIVE = {
    column.PEAK_EFFORT: inf,
    column.CONTINUOUS_EFFORT: inf,
    column.MAX_SPEED: inf,
    column.LOWER_SWITCH: -inf,
    column.UPPER_SWITCH: inf,
    column.LOWER_STOP: -inf,
    column.UPPER_STOP: inf,
    column.STRIBECK_SPEED: 1.0,
    column.ENGAGE_FRACTION: 1.0,
    column.RELEASE_FRACTION: 1.0,
    column.UPDATE_STEPS: 1.0,
    column.TOP_SPEED: inf,
}
"""Constants other than zero of an actuator without a drive and without limits."""

UNLIMITED_COLUMNS = (column.PEAK_EFFORT, column.CONTINUOUS_EFFORT, column.MAX_SPEED)
"""Columns of the constants that are infinite for a drive without limits."""

MOTOR_ANGLE = 0.2
"""[rad] Phase of the fastest oscillation of a motor on its transmission over one of its steps."""

STABLE_STEP_FRACTION = 0.8
"""Allowed fraction of an engine's longest stable step at home: other poses have faster modes."""

MIN_RESPONSE_FRACTION = 0.01
"""Lower bound of an actuator's acceleration under equal forces of all actuators, relative to its
acceleration under its own force."""

MIN_RESPONSE = 1e-12
"""[1/kg, 1/(kg m2)] Acceleration per force below which an actuator counts as locked."""

TINY_STEP = 1e-9
"""[s] Step that all drives allow, whatever their parameters."""


class Saturation(NamedTuple):
    """Fractions of the time, 0 to 1, that drives spent at their limits."""

    force: FloatArray
    """`(n,)` at the limit of force or torque"""
    speed: FloatArray
    """`(n,)` at the limit of speed"""
    out_of_step: FloatArray
    """`(n,)` during which a stepper motor had lost steps"""
    any_drive: FloatArray
    """`(3,)` during which at least one drive was at its force limit, at its speed limit, out of
    step"""

    def __bool__(self) -> bool:
        """Return whether any drive was at a limit."""
        return bool(self.any_drive.any())

    def sentences(self, *, rotary: bool = False) -> list[str]:
        """Return one sentence per limit that was reached; `rotary`: of cranks."""
        return [
            f"{_state(name, rotary, fractions > 0.0)} {_percent(float(fraction))} of the time"
            for (name, _), fractions, fraction in zip(
                LIMIT_CODES, self[:3], self.any_drive, strict=True
            )
            if fraction > 0.0
        ]


def saturation(limited: FloatArray) -> Saturation:
    """Return the fractions of the time `(m, n)` of which `limited` gives the limits, 0 for none."""
    if not len(limited):
        limited = np.zeros((1, np.shape(limited)[1]))
    is_at_limit = np.array([limited == code for _, code in LIMIT_CODES])
    force, speed, out_of_step = is_at_limit.mean(axis=1)
    return Saturation(force, speed, out_of_step, is_at_limit.any(axis=2).mean(axis=1))


def at_limits(limited: FloatArray, rotary: bool) -> list[str]:
    """Return which drives are at which limit, `limited` `(n,)`; `rotary`: of cranks."""
    return [
        _state(name, rotary, limited == code)
        for name, code in LIMIT_CODES
        if (limited == code).any()
    ]


def _state(name: str, rotary: bool, is_at_limit: Any) -> str:
    if not name:
        return f"{_legs(is_at_limit)} out of step"
    quantity = "torque" if rotary and name == "force" else name
    return f"{_legs(is_at_limit)} at {'their' if is_at_limit.sum() > 1 else 'its'} {quantity} limit"


def _legs(is_at_limit: Any) -> str:
    if is_at_limit.all():
        return "all legs"
    leg_numbers = ", ".join(str(index + 1) for index in np.flatnonzero(is_at_limit))
    return f"{'legs' if is_at_limit.sum() > 1 else 'leg'} {leg_numbers}"


def _percent(fraction: float) -> str:
    return f"{100.0 * fraction:.2g} %" if fraction < 0.995 else f"{100.0 * fraction:.3g} %"


def fill_positioning(row: FloatArray, drive: AnyDrive, step: float) -> None:
    """Fill the constants of a position drive with which it pulls its motor to the position."""
    positioning = drive.positioning()
    if positioning is None:
        return
    row[column.POSITIONING] = column.STEPPER_DRIVE if positioning.stepper else column.SERVO_DRIVE
    row[column.DEAD_BAND], row[column.SPAN_OR_FULL_STEP] = (
        positioning.half_dead_band,
        positioning.span,
    )
    row[column.POSITION_RESOLUTION], row[column.FIELD_DAMPING] = (
        positioning.resolution,
        positioning.field_damping,
    )
    row[column.UPDATE_STEPS] = max(1, round(1.0 / (positioning.update_rate * step)))
    row[column.TOP_SPEED] = positioning.top_speed
    row[column.MAX_SPEED] = min(row[column.MAX_SPEED], positioning.top_speed)


def positioning_stiffness(drives: FloatArray) -> FloatArray:
    """Return the stiffness `(m,)` of position drives [N/m, N m/rad], zero for other drives."""
    span = np.where(
        drives[:, column.SPAN_OR_FULL_STEP] > 0.0, drives[:, column.SPAN_OR_FULL_STEP], inf
    )
    slope = np.where(drives[:, column.POSITIONING] == column.STEPPER_DRIVE, 0.5 * np.pi, 1.0)
    peak = np.where(np.isfinite(drives[:, column.PEAK_EFFORT]), drives[:, column.PEAK_EFFORT], 0.0)
    return np.asarray(slope * peak / span)


def positioning_lead(drives: FloatArray, efforts: FloatArray) -> FloatArray:
    """Return the lead `(n,)` [m, rad] of setpoint over motor that gives `efforts` `(n,)`."""
    fraction = np.clip(efforts / drives[:, column.PEAK_EFFORT], -1.0, 1.0)
    span, sign = drives[:, column.SPAN_OR_FULL_STEP], np.sign(fraction)
    stepper = drives[:, column.POSITIONING] == column.STEPPER_DRIVE
    lag = np.where(stepper, 2.0 / np.pi * np.arcsin(fraction), fraction)
    return np.asarray(sign * drives[:, column.DEAD_BAND] + span * lag)


def actuator_limit(platform: MachineModel, name: str, otherwise: Any = inf) -> FloatArray:
    """Return a limit `(n,)` of the actuators, `otherwise` where there is none.

    The machine's file gives none, or the machine was loaded without limits.

    Args:
        platform: the machine.
        name: "speed" [m/s, rad/s], "acceleration" [m/s2, rad/s2] or "effort" [N, N m].
        otherwise: one number or `(n,)`.
    """
    legs = platform.parameters.legs
    limit_values = [getattr(leg.actuator, name, None) if platform.limits else None for leg in legs]
    known_limits = np.array([np.nan if value is None else value for value in limit_values])
    return np.where(np.isnan(known_limits), otherwise, known_limits)


MIN_SUBSTEPS = 4
"""Smallest number of steps of a motor within one simulation step."""

MAX_SUBSTEPS = 1000
"""Largest number of steps of a motor within one simulation step."""


def drive_constants(platform: MachineModel, timestep: float, limits: bool = True) -> FloatArray:
    """Return the constants `(n, CONSTANTS)` of all drives for steps of `timestep` [s].

    Args:
        platform: the machine.
        timestep: [s].
        limits: without, drives give any force at any speed.

    Raises:
        InputError: the transmission would oscillate against steps of this length.
    """
    constant_rows = np.zeros((platform.n_actuators, column.CONSTANT_COUNT))
    for index, (constant_row, leg) in enumerate(
        zip(constant_rows, platform.parameters.legs, strict=True)
    ):
        for column_index, value in IDEAL_DRIVE.items():
            constant_row[column_index] = value
        _fill_actuator(constant_row, leg.actuator)
        if leg.drive is not None:
            _fill_drive(constant_row, leg.drive, leg.actuator, timestep)
            minimum = platform.minimum_coordinates[index]
            maximum = platform.maximum_coordinates[index]
            _fill_limits(constant_row, leg.drive, float(minimum), float(maximum))
            fill_positioning(constant_row, leg.drive, timestep)
        if not limits:
            constant_row[list(UNLIMITED_COLUMNS)] = inf
    check_step(platform, constant_rows, timestep)
    return constant_rows


def _fill_actuator(row: FloatArray, actuator: Any) -> None:
    """Fill the limits of force and speed, which ideal actuators have as well."""
    if actuator.effort is not None:
        row[column.PEAK_EFFORT] = actuator.effort
    if actuator.speed is not None:
        row[column.MAX_SPEED] = actuator.speed


def _fill_drive(row: FloatArray, drive: AnyDrive, actuator: Any, step: float) -> None:
    """Fill the numbers of motor and transmission, reflected to the leg's coordinate."""
    reflected_drive = drive.reflected()
    row[column.INERTIA] = reflected_drive.inertia
    row[column.FRICTION] = reflected_drive.friction
    row[column.BREAKAWAY] = reflected_drive.friction * drive.breakaway
    row[column.STRIBECK_SPEED] = reflected_drive.stribeck_speed
    row[column.VISCOUS] = reflected_drive.viscous
    row[column.HALF_BACKLASH] = 0.5 * reflected_drive.backlash
    row[column.STIFFNESS] = reflected_drive.stiffness
    row[column.DAMPING] = reflected_drive.damping
    row[column.BRAKE_EFFORT] = reflected_drive.brake
    if drive.current_lag > 0.0:
        lags = step / drive.current_lag
        # What is left of an error of the force after a step, and on average during it.
        row[column.LAG_FACTOR], row[column.MEAN_LAG_FACTOR] = exp(-lags), -expm1(-lags) / lags
    if drive.thermal_time is not None:
        continuous_effort = actuator.continuous_effort
        row[column.CONTINUOUS_EFFORT] = inf if continuous_effort is None else continuous_effort
        row[column.HEATING_FRACTION] = -expm1(-step / drive.thermal_time)
    if reflected_drive.peak is not None:
        row[column.PEAK_EFFORT] = reflected_drive.peak
    for column_index, time in (
        (column.ENGAGE_FRACTION, drive.brake_engage_time),
        (column.RELEASE_FRACTION, drive.brake_release_time),
    ):
        row[column_index] = min(1.0, step / time) if time > 0.0 else 1.0
    if drive.analogue_bits is not None:
        digits = 2.0 ** (drive.analogue_bits - 1)
        for column_index, full_scale in (
            (column.SPEED_RESOLUTION, row[column.MAX_SPEED]),
            (column.EFFORT_RESOLUTION, row[column.PEAK_EFFORT]),
        ):
            row[column_index] = full_scale / digits if np.isfinite(full_scale) else 0.0


def _fill_limits(row: FloatArray, drive: AnyDrive, low: float, high: float) -> None:
    """Fill switches and end stops; their stiffness is the transmission's."""
    row[column.LOWER_SWITCH], row[column.UPPER_SWITCH] = low, high
    overtravel = drive.reflected().overtravel
    if overtravel is not None and row[column.STIFFNESS] > 0.0:
        row[column.LOWER_STOP], row[column.UPPER_STOP] = low - overtravel, high + overtravel
        row[column.STOP_STIFFNESS] = row[column.STIFFNESS]
        row[column.STOP_DAMPING] = row[column.DAMPING]


def motor_substeps(drives: FloatArray, timestep: float) -> int:
    """Return the number of steps that the motors need within one of the engine.

    Raises:
        InputError: a motor too light for its transmission.
    """
    motors = drives[drives[:, column.INERTIA] > 0.0]
    if not len(motors):
        return 1
    inertia = motors[:, column.INERTIA]
    fastest_rates = np.maximum(
        np.sqrt((motors[:, column.STIFFNESS] + positioning_stiffness(motors)) / inertia),
        motors[:, column.DAMPING] / inertia,
    ).max()
    substeps = timestep * float(fastest_rates) / MOTOR_ANGLE
    if not substeps <= MAX_SUBSTEPS:
        raise InputError(
            "leg.drive",
            f"a motor would need {substeps:.3g} steps of its own on its transmission within one of "
            f"{timestep:g} s; give it its full inertia, or leave inertia and stiffness out",
        )
    return max(ceil(substeps), MIN_SUBSTEPS)


def check_step(platform: MachineModel, drives: FloatArray, timestep: float) -> None:
    """Raise InputError where steps of this length make the legs unstable."""
    if not drives[:, (column.STIFFNESS, column.VISCOUS)].any():
        return
    longest_step = longest_drive_step(platform, drives)
    if timestep > longest_step:
        raise InputError(
            "timestep",
            f"{timestep:g} s is too long for the drives: their transmissions need at most "
            f"{longest_step:.2g} s",
        )


def longest_drive_step(platform: MachineModel, drives: FloatArray) -> float:
    """Return the longest step [s] of an engine that drives with given constants allow.

    A leg of mass m on stiffness k and damping c under the mean force over steps h stays stable
    while h^2 k/m + 2 h c/m < 4 where positions take the mean speed of a step, and while
    h^2 k/m + h c/m < 2, which is less, where they take its last one. `STABLE_STEP_FRACTION` of
    the latter is allowed. With all legs in their end stops, which is rare, the whole is allowed.
    """
    has_motor = drives[:, column.INERTIA] > 0.0
    stiffness = np.where(has_motor, drives[:, column.STIFFNESS], 0.0)
    damping = np.where(has_motor, drives[:, column.DAMPING], drives[:, column.VISCOUS])
    response = mobility(platform)
    largest_response = _largest(response)
    free_step = STABLE_STEP_FRACTION * _stable_step(response, largest_response, stiffness, damping)
    stop_constants = (
        stiffness + drives[:, column.STOP_STIFFNESS],
        damping + drives[:, column.STOP_DAMPING],
    )
    return min(free_step, _stable_step(response, largest_response, *stop_constants))


def drive_timestep(platform: MachineModel) -> float:
    """Return the longest step [s] of an engine that the drives of a machine allow."""
    return longest_drive_step(platform, drive_constants(platform, TINY_STEP))


def round_step(limit: float) -> float:
    """Return the longest of 1, 0.5, 0.2, 0.1, 0.05, ... ms that is not above a limit [s]."""
    steps = (float(f"{digit}e-{power}") for power in range(3, 12) for digit in (5, 2, 1))
    return next(step for step in steps if step <= min(limit, 1e-3))


def _stable_step(
    response: FloatArray, largest_response: float, stiffness: FloatArray, damping: FloatArray
) -> float:
    """Return the positive root of h^2 k/m + h c/m = 2 for the fastest leg of all.

    `largest_response` is the largest eigenvalue of `response`.
    """
    if (stiffness == stiffness[0]).all() and (damping == damping[0]).all():
        stiffness_per_mass = float(stiffness[0]) * largest_response
        damping_per_mass = float(damping[0]) * largest_response
    else:
        stiffness_per_mass = _largest(_weighted(response, stiffness))
        damping_per_mass = _largest(_weighted(response, damping))
    denominator = damping_per_mass + sqrt(
        damping_per_mass * damping_per_mass + 8.0 * stiffness_per_mass
    )
    return 4.0 / denominator if denominator > 0.0 else inf


def _largest(matrix: FloatArray) -> float:
    """Return the largest eigenvalue of a symmetric matrix, zero where none is above."""
    return max(float(np.linalg.eigvalsh(matrix)[-1]), 0.0)


@lru_cache(maxsize=32)
def mobility(platform: MachineModel) -> FloatArray:
    """Return the actuators' accelerations per force `(n, n)` at home.

    J M^-1 J^T in rigid legs; springs in series take their part away, and where the platform has
    fewer degrees of freedom than six, only its constrained motions count.
    """
    n, k, constants = platform.n_actuators, platform.n_deflections, platform.constants
    home, zero_twists = np.tile(platform.home, (n + 1, 1)), np.zeros((n + 1, 6))
    deflections, forces = np.zeros((n + 1, 2 * k)), np.eye(n + 1, n, -1)
    accelerations, jacobian = np.empty((n + 1, 6 + k)), np.empty((1, n, 6))
    states = (home, zero_twists, deflections, forces, zero_twists, accelerations)
    with without_compiling():
        run_checked(forward_dynamics_batch, constants[:2], states, constants.legs)
        run_checked(jacobian_batch, (constants.legs,), (home[:1], jacobian), constants.legs)
    acceleration_changes = accelerations[1:] - accelerations[0]
    response = acceleration_changes[:, :6] @ jacobian[0].T
    if k:
        response = response - acceleration_changes[:, 6:]
    return read_only(0.5 * (response + response.T))


def equivalent_inertia(platform: MachineModel, response: FloatArray | None = None) -> FloatArray:
    """Return the inertia `(n,)` [kg, kg m2] of each actuator at home under equal forces of all.

    Motors are included. An actuator that the others would drive backwards counts as one that they
    almost hold.

    Args:
        platform: the machine.
        response: accelerations per force `(n, n)`, default its `mobility`.
    """
    response = mobility(platform) if response is None else response
    own_response = np.maximum(np.diag(response), MIN_RESPONSE)
    leg_inertia = 1.0 / np.maximum(response.sum(axis=1), MIN_RESPONSE_FRACTION * own_response)
    drives = platform.parameters.drives
    motor_inertia = [0.0 if drive is None else drive.reflected().inertia for drive in drives]
    return np.asarray(leg_inertia + motor_inertia)


def _weighted(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    root = np.sqrt(weights)
    return root[:, None] * matrix * root


def follow(
    drives: FloatArray, states: FloatArray, old_command: Command, new_command: Command
) -> None:
    """Set the integrals in `states` for a bumpless change from one command to another.

    Where feedforward ends, the velocity loops take over its force; after mode "force", whose
    force they have taken over already, what begins is left out of it.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, changed in place.
        old_command: followed so far.
        new_command: followed from now on.
    """
    integral = states[:, column.INTEGRAL]
    if old_command.mode == "velocity":
        if old_command.feedforward is not None and new_command.feedforward is None:
            integral += _converted(drives, old_command.feedforward)
            limit_integrals(drives, states)
    elif new_command.mode == "velocity" and new_command.feedforward is not None:
        integral -= _converted(drives, new_command.feedforward)


def take_over(drives: FloatArray, states: FloatArray, command: Command) -> None:
    """Set the integrals to the motors' efforts less the feedforward of the command `command`.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, changed in place.
        command: the first command of another controller.
    """
    integral = states[:, column.INTEGRAL]
    integral[:] = states[:, column.EFFORT]
    if command.mode == "velocity" and command.feedforward is not None:
        integral -= _converted(drives, command.feedforward)


def limit_integrals(drives: FloatArray, states: FloatArray) -> None:
    """Limit the integrals to the drives' peak efforts."""
    peak, integral = drives[:, column.PEAK_EFFORT], states[:, column.INTEGRAL]
    np.clip(integral, -peak, peak, out=integral)


def _converted(drives: FloatArray, feedforward: FloatArray) -> FloatArray:
    """Return `feedforward` `(n,)` limited to the range of the converters, without rounding."""
    peak = drives[:, column.PEAK_EFFORT]
    is_quantised = drives[:, column.EFFORT_RESOLUTION] > 0.0
    return np.where(is_quantised, np.clip(feedforward, -peak, peak), feedforward)
