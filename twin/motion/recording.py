"""Recorded motion: samples of some axes, or of their accelerations, from a CSV file or arrays.

Each axis becomes a smooth function of time, with exact derivatives and integrals. Accelerations are
integrated twice, without the drift that sensor bias and an unknown start cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.polynomial import Polynomial

from twin.basics.arrays import FloatArray, as_flag, bounded, one_of, positive, read_only
from twin.errors import InputError, StateError, UnreachablePoseError
from twin.model.integrate import static_deflection
from twin.model.machine_base import PlatformMotion
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import POSITION_AXES, AxisSample, Motion
from twin.motion.profiles import StepMotion, spline_through
from twin.motion.table import (
    ACCELERATION_QUANTITY,
    ANGLE_QUANTITY,
    ANGULAR_ACCELERATION_QUANTITY,
    LENGTH_QUANTITY,
    SampleError,
    as_columns,
    check_sizes,
    check_time,
    known_columns,
    read_table,
)

FITTED_LIMIT_USE = 0.8
"""Fraction of the limits to which a motion that is too large is scaled."""

MAX_LIMIT_USE = 0.95
"""Fraction of the limits that is accepted after the first scaling, as travel is not linear in size.
"""

CHECK_TIMESTEP = 1e-3
"""[s] Step between the checked samples of a motion; a tank course has up to 70 Hz."""

MIN_INTERVALS = 20
"""Smallest number of intervals between the checked samples, however short the motion is."""

JUMP_TIME = 0.12
"""[s] Engineering choice: an ideal step may ask for the travel at an actuator's speed limit over
this time.
"""

ROUNDING_TOLERANCE = 1e-9
"""Rounding error of fractions, and of displacements [m], [rad]."""

MIN_FRACTION = 1e-3
"""Smallest motion that is tried, as a fraction of the requested size."""

BASE_AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Axes of the base, in the order of a twist."""

LOCKED_FRACTION = 0.5
"""Fraction of a displacement by which the constrained pose may differ before the motion is refused.
Along free axes nothing is missing; along locked ones almost all of it is.
"""

DRIFT_METHODS = ("detrend", "high_pass", "none")

MAX_SAMPLES = 10_000_000
"""Maximum number of samples on the even grid of the high-pass filter; more means wildly uneven
times.
"""


MAX_JUMP_FRACTION = 0.25
"""Largest ideal step as a fraction of the stroke; a larger one stops the loop for its following
error.
"""

MAX_JUMP_WITHOUT_SPEED_LIMIT = 0.05
"""Largest ideal step of actuators without a speed limit, as a fraction of the stroke."""


MotionType = TypeVar("MotionType", bound=Motion)


def constrained_motion(platform: MachineModel, motion: Motion, time: FloatArray) -> PlatformMotion:
    """Return the motion of a machine that follows `motion` at times `(k,)` [s].

    A machine of fewer than six degrees of freedom moves as its constraints allow.

    Raises:
        InputError: the motion goes along an axis that the machine cannot move.
        UnreachablePoseError: the legs allow no pose of the motion's height and tilt at a time.
    """
    reference = motion.sample(time)
    try:
        constrained = platform.constrain(*reference)
    except UnreachablePoseError as error:
        time_of_error, reason = float(time[error.data["index"]]), error.message.split(": ", 1)[1]
        raise UnreachablePoseError(
            f"{platform.name} moves in {', '.join(free_axes(platform))}, but at "
            f"{time_of_error:.4g} s of the motion {reason}",
            error.data,
        ) from None
    if platform.dof < 6:
        _refuse_locked_axes(platform, motion, time, reference.pose, constrained.pose)
    return constrained


def free_axes(platform: MachineModel) -> tuple[str, ...]:
    """Return the axes out of `BASE_AXES` along and about which a machine can move from home."""
    return BASE_AXES if platform.dof == 6 else ("z", "roll", "pitch")


def _refuse_locked_axes(
    platform: MachineModel,
    motion: Motion,
    time: FloatArray,
    reference_pose: FloatArray,
    constrained_pose: FloatArray,
) -> None:
    """Raise InputError if the motion needs an axis that the machine cannot move."""
    free = free_axes(platform)
    sizes = np.abs(motion.axes(time).values).max(axis=0)
    sign_distances = [
        np.linalg.norm(reference_pose[:, 3:] - sign * constrained_pose[:, 3:], axis=1)
        for sign in (1.0, -1.0)
    ]
    rotation_errors = 4.0 * np.arcsin(0.5 * np.minimum(*sign_distances))
    position_errors = np.abs(reference_pose - constrained_pose)[:, :3].T
    for column, (axis, size) in enumerate(zip(motion.axis_names, sizes, strict=True)):
        errors = position_errors[column] if axis in POSITION_AXES else rotation_errors
        if axis not in free and size > ROUNDING_TOLERANCE and errors.max() > LOCKED_FRACTION * size:
            raise InputError(
                "axis",
                f"{platform.name} cannot move along {axis}, and the motion has up to {size:.4g} "
                f"{'m' if axis in POSITION_AXES else 'rad'} of it; its axes are {', '.join(free)}",
            )


def fitted_motion(
    platform: MachineModel,
    motion_of_size: Callable[[float], MotionType],
    size: Any,
    fraction: Any = FITTED_LIMIT_USE,
) -> tuple[MotionType, float]:
    """Return a motion about home that the actuators can follow, and its size.

    Args:
        platform: the machine; it follows the motion as far as its degrees of freedom allow.
        motion_of_size: size -> motion.
        size: [m] or [rad] requested size, reduced where an actuator needs it.
        fraction: fraction of the travel from home, the speed and the force margin at rest that may
            be used.

    Raises:
        InputError: not a machine, numbers out of range, or no room about home.
    """
    machine, target_use = as_model(platform), positive(fraction, "fraction")
    trial_size, accepted_use = positive(size, "size"), target_use
    while trial_size > MIN_FRACTION * size:
        motion = motion_of_size(trial_size)
        use = limit_use(machine, motion)
        if use <= accepted_use * (1.0 + ROUNDING_TOLERANCE):
            return motion, trial_size
        trial_size *= target_use / use if np.isfinite(use) else 0.5
        accepted_use = max(
            target_use, min(MAX_LIMIT_USE, target_use * MAX_LIMIT_USE / FITTED_LIMIT_USE)
        )
    raise InputError(
        "amplitude", f"{machine.name} has no room about its home for this motion; give an amplitude"
    )


def limit_use(machine: MachineModel, motion: Motion, timestep: float = CHECK_TIMESTEP) -> float:
    """Return the largest fraction of its limits that an actuator needs; infinite if out of reach.

    Fractions of the travel from home to the ends, of the speed, and of the force that is left at
    rest. Limits that the machine's file does not give are left out.

    Args:
        machine: the machine.
        motion: that begins at rest at home.
        timestep: [s] between the samples of the motion.
    """
    n_intervals = max(MIN_INTERVALS, round(motion.duration / timestep))
    time = np.arange(n_intervals + 1.0) * (motion.duration / n_intervals)
    springs = {}
    try:
        reference = constrained_motion(machine, motion, time)
        coordinates = machine.inverse_kinematics(reference.pose)
        rates = np.einsum("kij,kj->ki", machine.jacobian(reference.pose), reference.twist)
        if machine.n_deflections:
            springs = {"deflection": static_deflection(machine, *reference)}
            deflections = springs["deflection"][:, : machine.n_deflections]
            coordinates = coordinates - (deflections - deflections[0])
            rates = rates - np.gradient(deflections, time[1], axis=0)
        speed_use = (np.abs(rates).max(axis=0) / _limits(machine, "speed")).max()
        limit_fractions = [_travel_use(machine, coordinates), speed_use]
        if np.isfinite(_limits(machine, "effort")).any():
            forces = machine.inverse_dynamics(*reference, **springs)
            limit_fractions.append(_force_use(machine, forces))
    except StateError:
        return np.inf
    if isinstance(motion, StepMotion) and motion.rise == 0.0:
        limit_fractions.append(_jump_use(machine, coordinates))
    return float(max(limit_fractions))


def _travel_use(machine: MachineModel, coordinates: FloatArray) -> float:
    """Return the largest displacement from home over the travel to the end on that side."""
    home = machine.home_coordinates
    low, high = machine.minimum_coordinates, machine.maximum_coordinates
    displacement = np.where(
        np.abs(coordinates - home) > ROUNDING_TOLERANCE * (high - low), coordinates - home, 0.0
    )
    available_travel = np.where(displacement > 0.0, high - home, home - low)
    use_without_travel = np.where(displacement == 0.0, 0.0, np.inf)
    return float(
        np.divide(
            np.abs(displacement),
            available_travel,
            out=use_without_travel,
            where=available_travel > 0.0,
        ).max()
    )


def _force_use(machine: MachineModel, forces: FloatArray) -> float:
    """Return the largest increase of forces `(k, n)` since rest over the force margin at rest."""
    limits, initial = _limits(machine, "effort"), np.abs(forces[0])
    # An actuator that cannot even hold the machine is not helped by a smaller motion.
    force_margin = np.where(limits > initial, limits - initial, np.inf)
    return float(((np.abs(forces).max(axis=0) - initial) / force_margin).max())


def _jump_use(machine: MachineModel, coordinates: FloatArray) -> float:
    """Return the largest jump of an actuator from home over the one that it can follow."""
    speed = _limits(machine, "speed")
    max_fraction = np.where(np.isfinite(speed), MAX_JUMP_FRACTION, MAX_JUMP_WITHOUT_SPEED_LIMIT)
    max_jump = np.minimum(max_fraction * machine.stroke, JUMP_TIME * speed)
    return float((np.abs(coordinates - machine.home_coordinates).max(axis=0) / max_jump).max())


def _limits(machine: MachineModel, name: str) -> FloatArray:
    """Return the limits `(n,)` of the actuators or else of their drives, infinite where unknown."""
    limits = []
    for leg in machine.parameters.legs:
        value = getattr(leg.actuator, name)
        if value is None and name == "effort" and leg.drive is not None:
            value = leg.drive.reflected().peak
        limits.append(np.inf if value is None else value)
    return np.array(limits)


class Curve(NamedTuple):
    """Motion along one axis: splines less a polynomial that removes drift."""

    splines: tuple[Any, Any, Any]
    """`scipy.interpolate.BSpline` of value, rate and acceleration"""
    drift: Polynomial

    def __call__(self, time: FloatArray) -> FloatArray:
        """Return value, rate and acceleration `(m, 3)` at times `(m,)` [s]."""
        derivatives = [
            spline(time) - self.drift.deriv(k)(time) for k, spline in enumerate(self.splines)
        ]
        return np.stack(derivatives, axis=1)


def integrated_curve(
    time: FloatArray,
    accelerations: FloatArray,
    field: str,
    *,
    drift: str = "detrend",
    cutoff: Any = 0.2,
) -> Curve:
    """Return the curve of an axis from samples of its acceleration.

    The spline through the samples is integrated twice, exactly, from rest at zero.

    Treatments of drift:

    - 'detrend': the least-squares cubic is taken from the integrated axis, and its derivatives
      from rate and acceleration. Removes unknown position and velocity at the start, and
      constant and linearly growing sensor bias. For records of a few seconds.
    - 'high_pass': the accelerations go through a Butterworth filter of order two, forward and
      backward (no phase shift), then the least-squares line is taken from the integrated axis.
      Removes slow sensor noise too. For long records; needs one period of `cutoff` at least.
    - 'none': integrated as given, from rest at zero.

    Args:
        time: `(n,)` [s], increasing.
        accelerations: `(n,)` [m/s2] or [rad/s2].
        field: name of the column, for the message.
        drift: one of the three.
        cutoff: [Hz] of the high-pass filter: content below it is lost.

    Raises:
        InputError: unknown treatment, cutoff outside what the record can hold.
    """
    one_of(drift, "drift", DRIFT_METHODS)
    if drift == "high_pass":
        time, accelerations = _high_passed(time, accelerations, field, cutoff)
    acceleration = spline_through(time, accelerations, field)
    rate = acceleration.antiderivative()
    value = rate.antiderivative()
    trend = Polynomial([0.0])
    if drift != "none":
        even_times = np.linspace(time[0], time[-1], len(time))
        trend = Polynomial.fit(even_times, value(even_times), 1 if drift == "high_pass" else 3)
    return Curve((value, rate, acceleration), trend)


def _high_passed(
    time: FloatArray, accelerations: FloatArray, field: str, cutoff: Any
) -> tuple[FloatArray, FloatArray]:
    from scipy.signal import butter, sosfiltfilt

    duration = float(time[-1] - time[0])
    intervals = np.ceil(duration / float(np.median(np.diff(time))))
    if intervals >= MAX_SAMPLES:
        raise InputError(field, "times are too uneven for the high-pass filter; resample them")
    rate = float(intervals) / duration
    lowest_cutoff, highest_cutoff = 1.0 / duration, 0.45 * rate
    if lowest_cutoff >= highest_cutoff:
        raise InputError(
            field, "too few samples for the high-pass filter; use drift='detrend' or 'none'"
        )
    frequency = bounded(cutoff, "cutoff", lowest_cutoff, highest_cutoff)
    even_times = np.linspace(time[0], time[-1], int(intervals) + 1)
    values = spline_through(time, accelerations, field)(even_times)
    sections = butter(2, frequency, "highpass", fs=rate, output="sos")
    padding = min(len(even_times) - 1, int(rate / frequency))
    return even_times, sosfiltfilt(sections, values, padlen=padding)


class RecordedMotion(Motion):
    """Splines through samples; twist and acceleration are the splines' own derivatives.

    Splines are quintic, with four continuous derivatives (cubic, with two, below six samples).
    Axes without samples stay at the centre. Time starts at 0 with the first sample.

    Attributes:
        time: `(n,)` [s] of the samples, from 0, read-only.
        curves: axis name -> its curve.
    """

    time: FloatArray
    curves: Mapping[str, Curve]

    def __init__(
        self,
        center: Any,
        time: Any,
        columns: Mapping[str, Any],
        *,
        convention: str = "yaw_pitch_roll",
        largest_gap: Any = None,
        drift: str = "detrend",
        cutoff: Any = 0.2,
        check_size: bool = True,
        fade_in: Any = 0.0,
        fade_out: Any = 0.0,
    ) -> None:
        """Describe the recording.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m], that zero
                on all axes means. For absolute positions give (0, 0, 0).
            time: `(n,)` [s], increasing, even or not.
            columns: column name -> samples `(n,)` in SI units. Names: x, y, z and the angles of
                the convention for the axes themselves; ax, ay, az (base axes, without gravity)
                and, for an angle such as pitch, pitch_acceleration for second derivatives. One
                column per axis.
            convention: angle convention, which names the axes.
            largest_gap: [s] to bridge between samples; default ten median intervals.
            drift: 'detrend', 'high_pass' or 'none': how integrated accelerations are kept from
                drifting, see `integrated_curve`.
            cutoff: [Hz] of the high-pass filter.
            check_size: whether values that no platform reaches are refused as wrong units.
            fade_in: [s] over which the motion rises from rest.
            fade_out: [s] over which it returns to rest.

        Raises:
            InputError: unknown columns, an axis given twice, not finite, time not increasing,
                gaps, too few samples, values or accelerations that no platform reaches.
        """
        column_definitions = known_columns(convention)
        times, samples = as_columns(time, columns, column_definitions)
        as_flag(check_size, "check_size")
        check_time(times, largest_gap, check_size)
        if check_size:
            check_sizes(samples, column_definitions)
        times = times - times[0]
        super().__init__(center, times[-1], convention, fade_in, fade_out)
        curves = {}
        for name, values in samples.items():
            axis, quantity = column_definitions[name]
            if quantity in (LENGTH_QUANTITY, ANGLE_QUANTITY):
                spline = spline_through(times, values, name)
                splines = spline, spline.derivative(), spline.derivative(2)
                curve = Curve(splines, Polynomial([0.0]))
            else:
                curve = integrated_curve(times, values, name, drift=drift, cutoff=cutoff)
            _check_curve(curve, times, name, axis in POSITION_AXES, check_size)
            curves[axis] = curve
        self._set(time=read_only(times), curves=curves)

    def _axes(self, time: FloatArray) -> AxisSample:
        result = np.zeros((3, len(time), len(self.axis_names)))
        for axis, curve in self.curves.items():
            result[:, :, self.axis_names.index(axis)] = curve(time).T
        return AxisSample(*result)


def read_recording(
    path: Any,
    center: Any,
    *,
    convention: str = "yaw_pitch_roll",
    units: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> RecordedMotion:
    """Return the motion recorded in a CSV file.

    The first line names the columns, each with its unit: `time [s],z [mm],pitch [deg]`. Names
    are `time` and those of `RecordedMotion`. Units are those of machine files, such as ms, mm,
    deg, g and deg/s2.

    Args:
        path: the file.
        center: as for `RecordedMotion`.
        convention: angle convention, which names the axes.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name, to rename columns; when given, all
            others in the file are ignored.
        options: further options of `RecordedMotion`: `largest_gap`, `drift`, `cutoff`,
            `check_size`, `fade_in`, `fade_out`.

    Raises:
        InputError: names file, line and column of the fault and what to do.
    """
    definitions = known_columns(convention)
    table = read_table(path, definitions, units=units, columns=columns)
    samples = dict(table.columns)
    if "time" not in samples:
        raise InputError(str(table.file), "line 1: has no column 'time'; add it, or rename one")
    time = samples.pop("time")
    if not samples:
        raise InputError(
            str(table.file),
            f"line 1: has no axis beside time; add one of {', '.join(list(definitions)[1:])}",
        )
    try:
        return RecordedMotion(center, time, samples, convention=convention, **options)
    except SampleError as error:
        raise table.fault(error.row, error.column, error.message) from None
    except InputError as error:
        if error.field not in table.columns:
            raise
        raise InputError(str(table.file), f"column {error.field!r}: {error.message}") from None


def _check_curve(
    curve: Curve, time: FloatArray, name: str, is_linear: bool, check_size: bool
) -> None:
    """Refuse a curve whose values are not finite or that no platform can follow."""
    values = np.abs(curve(time)).max(axis=0)
    if not np.isfinite(values).all():
        raise InputError(name, "values are too large; check the units")
    if not check_size:
        return
    position, acceleration = (
        (LENGTH_QUANTITY, ACCELERATION_QUANTITY)
        if is_linear
        else (ANGLE_QUANTITY, ANGULAR_ACCELERATION_QUANTITY)
    )
    if values[0] > position.largest:
        raise InputError(
            name,
            f"integrates to {values[0]:.4g} {position.si}, more than a platform reaches: remove "
            "bias, use another drift treatment, or check the units",
        )
    if values[2] > acceleration.largest:
        raise InputError(
            name,
            f"its spline accelerates with {values[2]:.4g} {acceleration.si}, more than a platform "
            "reaches: wrong unit of time or of the column, outliers, or noise to be filtered "
            "out first? Pass check_size=False if it is right",
        )
