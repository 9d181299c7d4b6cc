"""Constants of the drives of a machine for `actuation`, from its parameters.

Where one command follows another, the integrals of the velocity loops are set so that the forces
go on without a jump.
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
    column.PEAK: inf,
    column.CONTINUOUS: inf,
    column.FASTEST: inf,
    column.LOWER: -inf,
    column.UPPER: inf,
    column.LOWER_STOP: -inf,
    column.UPPER_STOP: inf,
    column.STRIBECK: 1.0,
    column.ENGAGING: 1.0,
    column.RELEASING: 1.0,
    column.UPDATE: 1.0,
    column.TOP_SPEED: inf,
}
"""Constants other than zero of an actuator without a drive and without limits."""

UNLIMITED_COLUMNS = (column.PEAK, column.CONTINUOUS, column.FASTEST)
"""Constants that are infinite without limits."""

MOTOR_ANGLE = 0.2
"""[rad] Phase of the fastest oscillation of a motor on its transmission over one of its steps."""

STABLE_STEP_FRACTION = 0.8
"""Fraction of an engine's longest stable step that is allowed: legs are faster in other poses than
home."""

MIN_RESPONSE_FRACTION = 0.01
"""Smallest acceleration of an actuator under the forces of all, relative to that under its own."""

MIN_RESPONSE = 1e-12
"""[1/kg, 1/(kg m2)] Smallest acceleration per force; less counts as none."""

TINY_STEP = 1e-9
"""[s] Allowed by all drives."""


class Saturation(NamedTuple):
    """Fractions of the time, 0 to 1, that drives spent at their limits."""

    force: FloatArray
    """`(n,)` at the limit of force or torque"""
    speed: FloatArray
    """`(n,)` at the limit of speed"""
    out_of_step: FloatArray
    """`(n,)` of stepper motors that have lost steps"""
    any_drive: FloatArray
    """`(3,)` with at least one drive at the limit of force, of speed, and out of step"""

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
    at = np.array([limited == code for _, code in LIMIT_CODES])
    force, speed, out_of_step = at.mean(axis=1)
    return Saturation(force, speed, out_of_step, at.any(axis=2).mean(axis=1))


def at_limits(limited: FloatArray, rotary: bool) -> list[str]:
    """Return which drives are at which limit, `limited` `(n,)`; `rotary`: of cranks."""
    return [
        _state(name, rotary, limited == code)
        for name, code in LIMIT_CODES
        if (limited == code).any()
    ]


def _state(name: str, rotary: bool, which: Any) -> str:
    if not name:
        return f"{_legs(which)} out of step"
    kind = "torque" if rotary and name == "force" else name
    return f"{_legs(which)} at {'their' if which.sum() > 1 else 'its'} {kind} limit"


def _legs(which: Any) -> str:
    if which.all():
        return "all legs"
    numbers = ", ".join(str(index + 1) for index in np.flatnonzero(which))
    return f"{'legs' if which.sum() > 1 else 'leg'} {numbers}"


def _percent(fraction: float) -> str:
    return f"{100.0 * fraction:.2g} %" if fraction < 0.995 else f"{100.0 * fraction:.3g} %"


def fill_positioning(row: FloatArray, drive: AnyDrive, step: float) -> None:
    """Fill the constants of a position drive that draw its motor to the position."""
    found = drive.positioning()
    if found is None:
        return
    row[column.POSITIONING] = column.STEPPER_DRIVE if found.stepper else column.SERVO_DRIVE
    row[column.DEAD], row[column.SPAN] = found.half_dead_band, found.span
    row[column.DIGIT], row[column.FIELD_DAMPING] = found.digit, found.field_damping
    row[column.UPDATE] = max(1, round(1.0 / (found.update_rate * step)))
    row[column.TOP_SPEED] = found.top_speed
    row[column.FASTEST] = min(row[column.FASTEST], found.top_speed)


def drawing_stiffness(drives: FloatArray) -> FloatArray:
    """Return the stiffness `(m,)` with which position drives draw their motors, zero for others."""
    span = np.where(drives[:, column.SPAN] > 0.0, drives[:, column.SPAN], inf)
    slope = np.where(drives[:, column.POSITIONING] == column.STEPPER_DRIVE, 0.5 * np.pi, 1.0)
    peak = np.where(np.isfinite(drives[:, column.PEAK]), drives[:, column.PEAK], 0.0)
    return np.asarray(slope * peak / span)


def drawn_lead(drives: FloatArray, efforts: FloatArray) -> FloatArray:
    """Return how far ahead of its motor `(n,)` a position drive aims to give `efforts` `(n,)`."""
    fraction = np.clip(efforts / drives[:, column.PEAK], -1.0, 1.0)
    span, sign = drives[:, column.SPAN], np.sign(fraction)
    stepper = drives[:, column.POSITIONING] == column.STEPPER_DRIVE
    lag = np.where(stepper, 2.0 / np.pi * np.arcsin(fraction), fraction)
    return np.asarray(sign * drives[:, column.DEAD] + span * lag)


def actuator_limit(platform: MachineModel, name: str, otherwise: Any = inf) -> FloatArray:
    """Return a limit `(n,)` of the actuators, `otherwise` where there is none.

    The machine's file gives none, or the machine was loaded without limits.

    Args:
        platform: the machine.
        name: "speed" [m/s, rad/s], "acceleration" [m/s2, rad/s2] or "effort" [N, N m].
        otherwise: one number or `(n,)`.
    """
    legs = platform.parameters.legs
    found = [getattr(leg.actuator, name, None) if platform.limits else None for leg in legs]
    known = np.array([np.nan if value is None else value for value in found])
    return np.where(np.isnan(known), otherwise, known)


MIN_SUBSTEPS = 4
"""Smallest number of steps of a motor within one of the engine."""

MAX_SUBSTEPS = 1000
"""Largest number of steps of a motor within one of the engine."""


def drive_constants(platform: MachineModel, timestep: float, limits: bool = True) -> FloatArray:
    """Return the constants `(n, CONSTANTS)` of all drives for steps of `timestep` [s].

    Args:
        platform: the machine.
        timestep: [s].
        limits: without, drives give any force at any speed.

    Raises:
        InputError: the transmission would oscillate against steps of this length.
    """
    rows = np.zeros((platform.n_actuators, column.CONSTANT_COUNT))
    for index, (row, leg) in enumerate(zip(rows, platform.parameters.legs, strict=True)):
        for place, value in IDEAL_DRIVE.items():
            row[place] = value
        _fill_actuator(row, leg.actuator)
        if leg.drive is not None:
            _fill(row, leg.drive, leg.actuator, timestep)
            low = platform.minimum_coordinates[index]
            high = platform.maximum_coordinates[index]
            _fill_limits(row, leg.drive, float(low), float(high))
            fill_positioning(row, leg.drive, timestep)
        if not limits:
            row[list(UNLIMITED_COLUMNS)] = inf
    check_step(platform, rows, timestep)
    return rows


def _fill_actuator(row: FloatArray, actuator: Any) -> None:
    """Fill the limits of force and speed, which ideal actuators have as well."""
    if actuator.effort is not None:
        row[column.PEAK] = actuator.effort
    if actuator.speed is not None:
        row[column.FASTEST] = actuator.speed


def _fill(row: FloatArray, drive: AnyDrive, actuator: Any, step: float) -> None:
    reflected = drive.reflected()
    row[column.INERTIA] = reflected.inertia
    row[column.FRICTION] = reflected.friction
    row[column.BREAKAWAY] = reflected.friction * drive.breakaway
    row[column.STRIBECK] = reflected.stribeck_speed
    row[column.VISCOUS] = reflected.viscous
    row[column.HALF_BACKLASH] = 0.5 * reflected.backlash
    row[column.STIFFNESS] = reflected.stiffness
    row[column.DAMPING] = reflected.damping
    row[column.BRAKE] = reflected.brake
    if drive.current_lag > 0.0:
        steps = step / drive.current_lag
        row[column.LAG], row[column.LAG_MEAN] = exp(-steps), -expm1(-steps) / steps
    if drive.thermal_time is not None:
        lasting = actuator.continuous_effort
        row[column.CONTINUOUS] = inf if lasting is None else lasting
        row[column.WARMING] = -expm1(-step / drive.thermal_time)
    if reflected.peak is not None:
        row[column.PEAK] = reflected.peak
    for place, time in (
        (column.ENGAGING, drive.brake_engage_time),
        (column.RELEASING, drive.brake_release_time),
    ):
        row[place] = min(1.0, step / time) if time > 0.0 else 1.0
    if drive.analogue_bits is not None:
        steps = 2.0 ** (drive.analogue_bits - 1)
        for place, full in (
            (column.SPEED_DIGIT, row[column.FASTEST]),
            (column.EFFORT_DIGIT, row[column.PEAK]),
        ):
            row[place] = full / steps if np.isfinite(full) else 0.0


def _fill_limits(row: FloatArray, drive: AnyDrive, low: float, high: float) -> None:
    """Fill switches and end stops; their stiffness is the transmission's."""
    row[column.LOWER], row[column.UPPER] = low, high
    beyond = drive.reflected().overtravel
    if beyond is not None and row[column.STIFFNESS] > 0.0:
        row[column.LOWER_STOP], row[column.UPPER_STOP] = low - beyond, high + beyond
        row[column.STOP_STIFFNESS] = row[column.STIFFNESS]
        row[column.STOP_DAMPING] = row[column.DAMPING]


def motor_parts(drives: FloatArray, timestep: float) -> int:
    """Return the number of steps that the motors need within one of the engine.

    Raises:
        InputError: a motor too light for its transmission.
    """
    moving = drives[drives[:, column.INERTIA] > 0.0]
    if not len(moving):
        return 1
    inertia = moving[:, column.INERTIA]
    fastest = np.maximum(
        np.sqrt((moving[:, column.STIFFNESS] + drawing_stiffness(moving)) / inertia),
        moving[:, column.DAMPING] / inertia,
    ).max()
    parts = timestep * float(fastest) / MOTOR_ANGLE
    if not parts <= MAX_SUBSTEPS:
        raise InputError(
            "leg.drive",
            f"a motor would need {parts:.3g} steps of its own on its transmission within one of "
            f"{timestep:g} s; give it its full inertia, or leave inertia and stiffness out",
        )
    return max(ceil(parts), MIN_SUBSTEPS)


def check_step(platform: MachineModel, drives: FloatArray, timestep: float) -> None:
    """Raise InputError where the legs would run away with steps of this length."""
    if not drives[:, (column.STIFFNESS, column.VISCOUS)].any():
        return
    longest = longest_drive_step(platform, drives)
    if timestep > longest:
        raise InputError(
            "timestep",
            f"{timestep:g} s is too long for the drives: their transmissions need at most "
            f"{longest:.2g} s",
        )


def longest_drive_step(platform: MachineModel, drives: FloatArray) -> float:
    """Return the longest step [s] of an engine that drives with given constants allow.

    A leg of mass m on stiffness k and damping c under the mean force over steps h stays stable
    while h^2 k/m + 2 h c/m < 4 where positions take the mean speed of a step, and while
    h^2 k/m + h c/m < 2, which is less, where they take its last one. `STABLE_STEP_FRACTION` of
    the latter is allowed. With all legs in their end stops, which is rare, the whole is allowed.
    """
    moves = drives[:, column.INERTIA] > 0.0
    stiffness = np.where(moves, drives[:, column.STIFFNESS], 0.0)
    damping = np.where(moves, drives[:, column.DAMPING], drives[:, column.VISCOUS])
    response = mobility(platform)
    fastest = _largest(response)
    free = STABLE_STEP_FRACTION * _stable_step(response, fastest, stiffness, damping)
    stops = stiffness + drives[:, column.STOP_STIFFNESS], damping + drives[:, column.STOP_DAMPING]
    return min(free, _stable_step(response, fastest, *stops))


def drive_timestep(platform: MachineModel) -> float:
    """Return the longest step [s] of an engine that the drives of a machine allow."""
    return longest_drive_step(platform, drive_constants(platform, TINY_STEP))


def _stable_step(
    response: FloatArray, fastest: float, stiffness: FloatArray, damping: FloatArray
) -> float:
    """Return the positive root of h^2 k/m + h c/m = 2 for the fastest leg of all.

    `fastest` is the largest eigenvalue of `response`.
    """
    if (stiffness == stiffness[0]).all() and (damping == damping[0]).all():
        rate, decay = float(stiffness[0]) * fastest, float(damping[0]) * fastest
    else:
        rate = _largest(_weighted(response, stiffness))
        decay = _largest(_weighted(response, damping))
    both = decay + sqrt(decay * decay + 8.0 * rate)
    return 4.0 / both if both > 0.0 else inf


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
    home, still = np.tile(platform.home, (n + 1, 1)), np.zeros((n + 1, 6))
    inside, forces = np.zeros((n + 1, 2 * k)), np.eye(n + 1, n, -1)
    found, jacobian = np.empty((n + 1, 6 + k)), np.empty((1, n, 6))
    states = (home, still, inside, forces, still, found)
    with without_compiling():
        run_checked(forward_dynamics_batch, constants[:2], states, constants.legs)
        run_checked(jacobian_batch, (constants.legs,), (home[:1], jacobian), constants.legs)
    change = found[1:] - found[0]
    response = change[:, :6] @ jacobian[0].T
    if k:
        response = response - change[:, 6:]
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
    alone = np.maximum(np.diag(response), MIN_RESPONSE)
    legs = 1.0 / np.maximum(response.sum(axis=1), MIN_RESPONSE_FRACTION * alone)
    drives = [leg.drive for leg in platform.parameters.legs]
    motors = [0.0 if drive is None else drive.reflected().inertia for drive in drives]
    return np.asarray(legs + motors)


def _weighted(matrix: FloatArray, weights: FloatArray) -> FloatArray:
    root = np.sqrt(weights)
    return root[:, None] * matrix * root


def follow(drives: FloatArray, states: FloatArray, before: Command, now: Command) -> None:
    """Change the integrals in `states` for the command `now` after the one `before`.

    Where feedforward ends, the velocity loops take over its force; after mode "force", whose
    force they have taken over already, what begins is left out of it.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, changed in place.
        before: followed so far.
        now: followed from now on.
    """
    integral = states[:, column.INTEGRAL]
    if before.mode == "velocity":
        if before.feedforward is not None and now.feedforward is None:
            integral += _passed(drives, before.feedforward)
            bound(drives, states)
    elif now.mode == "velocity" and now.feedforward is not None:
        integral -= _passed(drives, now.feedforward)


def take_over(drives: FloatArray, states: FloatArray, now: Command) -> None:
    """Set the integrals to the motors' efforts less the feedforward of the command `now`.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`, changed in place.
        now: the first command of another controller.
    """
    integral = states[:, column.INTEGRAL]
    integral[:] = states[:, column.EFFORT]
    if now.mode == "velocity" and now.feedforward is not None:
        integral -= _passed(drives, now.feedforward)


def bound(drives: FloatArray, states: FloatArray) -> None:
    """Limit the integrals to the drives' peaks: no motor gives more."""
    peak, integral = drives[:, column.PEAK], states[:, column.INTEGRAL]
    np.clip(integral, -peak, peak, out=integral)


def _passed(drives: FloatArray, feedforward: FloatArray) -> FloatArray:
    """Return what converters let through of `feedforward` `(n,)`, but for their digits."""
    peak = drives[:, column.PEAK]
    coarse = drives[:, column.EFFORT_DIGIT] > 0.0
    return np.where(coarse, np.clip(feedforward, -peak, peak), feedforward)
