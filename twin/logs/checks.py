"""Checks of a log: gaps, clocks, units, legs, saturation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from twin.basics.arrays import FloatArray, as_instance, positive
from twin.errors import TwinError, listed
from twin.logs.log import Channel, Finding, Log, check_increasing, is_per_leg, signal_units
from twin.machine.quantity import STANDARD_GRAVITY, UNITS
from twin.model.machine_model import MachineModel

UNIT_ERROR_RATIO = 10.0
"""Median over the machine's limit above which a unit is taken to be wrong."""

MAX_LIMITED_FRACTION = 1e-3
"""Fraction of the samples that may be at a limit."""

LIMIT_TOLERANCE = 1e-6
"""Fraction of a limit within which it counts as reached."""

MAX_SAMPLES = 2000
"""Samples of coordinates and poses that are compared to find swapped legs."""

COORDINATE_SIGNALS = ("coordinates", "setpoint", "measured")

SWAP_RATIO = 3.0
"""Factor by which another leg must fit better to be reported."""


def unit_findings(log: Log, machine: MachineModel) -> list[Finding]:
    """Return the channels whose values fit the machine only in another unit, or not at all."""
    expected_units = signal_units(machine)
    findings = []
    for channel in log.channels:
        expected_unit = expected_units.get(channel.name)
        if expected_unit is None or not len(channel):
            continue
        if channel.units != expected_unit:
            given_text, right_text = (
                listed(dict.fromkeys(units)) for units in (channel.units, expected_unit)
            )
            message = (
                f"has {channel.width} columns in {given_text}, not {len(expected_unit)} in "
                f"{right_text}"
            )
            findings.append(Finding("unit", channel.name, f"{message}; map it by a LogMapping"))
        else:
            findings += _implausible(channel, machine)
    return findings


def _implausible(channel: Channel, machine: MachineModel) -> list[Finding]:
    """Return a finding where typical values of a channel are outside their range."""
    bounds = _plausible_range(channel, machine)
    if bounds is None:
        return []
    typical, low, high = bounds
    unit = channel.units[0]
    if ((low <= typical) & (typical <= high)).all():
        return []
    fitting = [
        text
        for name, factor in UNITS[unit].items()
        for text, size in (
            (f"{name} taken for {unit}", factor),
            (f"{unit} taken for {name}", 1.0 / factor),
        )
        if ((low <= size * typical) & (size * typical <= high)).all()
    ]
    typical_value = float(typical[np.argmax(np.abs(typical))])
    range_text = f"{np.min(low):.4g} to {np.max(high):.4g} {unit}"
    guess = f": maybe {' or '.join(fitting[:2])}" if fitting else ": wrong unit or offset"
    return [
        Finding("unit", channel.name, f"{typical_value:.6g} {unit} is not in {range_text}{guess}")
    ]


def _plausible_range(
    channel: Channel, machine: MachineModel
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return typical values `(c,)` of a channel, and their lower and upper bounds."""
    name, values = channel.name, channel.values
    if name in COORDINATE_SIGNALS:
        low, high = machine.minimum_coordinates, machine.maximum_coordinates
        margin = 0.5 * (high - low)
        return np.median(values, axis=0), low - margin, high + margin
    if name in ("pose", "reference_pose"):
        distance = np.linalg.norm(machine.home[:3])
        max_distance = 2.0 * (distance + float(np.max(machine.home_reaches)))
        typical_distance = np.median(np.linalg.norm(values[:, :3], axis=1))
        return np.array([typical_distance]), np.array([0.05 * distance]), np.array([max_distance])
    if name == "accelerometer":
        typical_distance = np.median(np.linalg.norm(values, axis=1))
        gravity = np.array([STANDARD_GRAVITY])
        return np.array([typical_distance]), 0.3 * gravity, 3.0 * gravity
    limit = _effort_or_speed(name, machine)
    if limit is None:
        return None
    # The 90 % quantile ignores single outliers, which are no error of the unit.
    typical = np.quantile(np.abs(values), 0.9, axis=0)
    return typical, np.zeros_like(limit), UNIT_ERROR_RATIO * limit


def _effort_or_speed(name: str, machine: MachineModel) -> FloatArray | None:
    """Return the limits `(n,)` of a signal of forces or rates; None for others and unknown ones."""
    attribute = {"forces": "effort", "motor_forces": "effort", "rates": "speed"}.get(
        name.removeprefix("command_")
    )
    if attribute is None:
        return None
    limits = [getattr(leg.actuator, attribute) for leg in machine.parameters.legs]
    return None if None in limits else np.array(limits, dtype=float)


def timing_findings(channel: Channel, largest_gap: float) -> list[Finding]:
    """Return gaps and clock steps of a channel, and whether it is empty.

    Args:
        channel: to check.
        largest_gap: median intervals between two samples that are no gap.
    """
    name, time = channel.name, channel.time
    if not len(time):
        return [Finding("empty", name, "has no samples")]
    findings = []
    steps = np.diff(time)
    backwards = np.flatnonzero(steps <= 0.0)
    if backwards.size:
        row = int(backwards[0]) + 1
        fault = "repeats" if steps[row - 1] == 0.0 else f"steps back by {-steps[row - 1]:.6g} s"
        message = f"the clock {fault}, {backwards.size} times in all; sort or cut the record there"
        findings.append(Finding("clock", name, message, float(time[row])))
    forward = steps[steps > 0.0]
    if forward.size:
        median_step = float(np.median(forward))
        gaps = np.flatnonzero(steps > largest_gap * median_step)
        if gaps.size:
            row = int(gaps[0])
            message = (
                f"{steps[row]:.6g} s without samples, which usually are {median_step:.6g} s apart"
            )
            gap_text = (
                f"; {gaps.size} gaps in all, {steps[gaps].sum():.6g} s" if gaps.size > 1 else ""
            )
            findings.append(Finding("gap", name, message + gap_text, float(time[row])))
    return findings


def saturation_findings(log: Log, machine: MachineModel) -> list[Finding]:
    """Return the channels with more than `MAX_LIMITED_FRACTION` of their samples at a limit."""
    findings = []
    units = signal_units(machine)
    for name, (low, high) in _limits(machine).items():
        if name not in log or not len(log[name]) or log[name].units != units[name]:
            continue
        channel = log[name]
        tolerance = LIMIT_TOLERANCE * np.maximum(np.abs(low), np.abs(high))
        at_limit = (channel.values <= low + tolerance) | (channel.values >= high - tolerance)
        fractions = at_limit.mean(axis=0)
        columns = np.flatnonzero(fractions > MAX_LIMITED_FRACTION)
        if columns.size:
            row = int(at_limit[:, columns].any(axis=1).argmax())
            leg_texts = ", ".join(f"{k + 1} ({100 * fractions[k]:.3g} %)" for k in columns)
            message = f"at the limit, by column: {leg_texts} of the samples"
            findings.append(Finding("saturation", name, message, float(channel.time[row])))
    return findings


def _limits(machine: MachineModel) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of measured signals whose limits are known."""
    stroke = (machine.minimum_coordinates, machine.maximum_coordinates)
    limits: dict[str, tuple[Any, Any]] = {"coordinates": stroke, "measured": stroke}
    for name in ("forces", "motor_forces", "rates"):
        limit = _effort_or_speed(name, machine)
        if limit is not None:
            limits[name] = -limit, limit
    sensor = machine.parameters.imu
    if sensor is not None:
        triads = (("accelerometer", sensor.accelerometers), ("gyroscope", sensor.gyroscopes))
        for name, triad in triads:
            if triad is not None and triad.range is not None:
                limits[name] = -np.full(3, triad.range), np.full(3, triad.range)
    return limits


def leg_findings(log: Log, machine: MachineModel | None) -> list[Finding]:
    """Return legs that copy each other and, with a machine and poses, legs in wrong columns."""
    findings = []
    for channel in log.channels:
        if channel.width > 2 and (machine is None or is_per_leg(channel.name, machine)):
            findings += _copies(channel)
    if machine is not None and {"coordinates", "pose"} <= set(log.names):
        findings += _swapped_legs(log, machine)
    return findings


def _copies(channel: Channel) -> list[Finding]:
    """Return columns that are equal sample by sample while they move and others differ."""
    values = channel.values
    if len(values) < 3 or (np.ptp(values, axis=1) == 0.0).all():
        return []
    copied_pairs = [
        (a + 1, b + 1)
        for a, b in combinations(range(channel.width), 2)
        if np.ptp(values[:, a]) > 0.0 and np.array_equal(values[:, a], values[:, b])
    ]
    message = "columns {} and {} are equal in every sample; is one recorded twice?"
    return [
        Finding("legs", channel.name, message.format(*copied_pair)) for copied_pair in copied_pairs
    ]


def _swapped_legs(log: Log, machine: MachineModel) -> list[Finding]:
    """Return a finding where other legs than those of the mapping fit the poses better."""
    measured, pose = log["coordinates"], log["pose"]
    try:
        check_increasing(pose)
        measured_part = measured.between(pose.time[0], np.nextafter(pose.time[-1], np.inf))
        measured_part = measured_part.kept(
            slice(None, None, max(1, len(measured_part) // MAX_SAMPLES))
        )
        if len(measured_part) < 3:
            return []
        predicted = machine.inverse_kinematics(pose.at(measured_part.time))
    except TwinError as error:
        return [Finding("legs", "pose", f"cannot be compared with the legs: {error}")]
    return _comparison_findings(measured_part.values, predicted)


def _comparison_findings(measured: FloatArray, predicted: FloatArray) -> list[Finding]:
    """Return findings from coordinates `(k, n)` as measured and as the poses require them."""
    a, b = (values - values.mean(axis=0) for values in (measured, predicted))
    rms_errors = np.sqrt(((a[:, :, None] - b[:, None, :]) ** 2).mean(axis=0))
    reversed_errors = np.sqrt(((a[:, :, None] + b[:, None, :]) ** 2).mean(axis=0))
    cost = np.minimum(rms_errors, reversed_errors)
    own_errors = np.diagonal(rms_errors)
    min_error = 1e-9 + 0.02 * np.sqrt((b**2).mean())
    rows, best_leg = linear_sum_assignment(cost)
    is_wrong = (own_errors > SWAP_RATIO * cost[rows, best_leg]) & (own_errors > min_error)
    swapped_columns = np.flatnonzero(is_wrong & (best_leg != rows))
    findings = []
    if swapped_columns.size:
        pairs = ", ".join(f"column {k + 1} moves as leg {best_leg[k] + 1}" for k in swapped_columns)
        order = [int(leg) + 1 for leg in np.where(is_wrong, best_leg, rows)]
        hint = f"; legs = {order}" if len(set(order)) == len(order) else ""
        findings.append(Finding("legs", "coordinates", pairs + hint))
    reversed_columns = np.flatnonzero(
        is_wrong & (reversed_errors[rows, best_leg] < rms_errors[rows, best_leg])
    )
    if reversed_columns.size:
        columns = ", ".join(str(k + 1) for k in reversed_columns)
        findings.append(Finding("legs", "coordinates", f"the sign of column {columns} is wrong"))
    return findings


def check_log(
    log: Log, machine: MachineModel | None = None, largest_gap: float = 10.0
) -> list[Finding]:
    """Return the findings on a log, in the order of its channels; an empty list if it is sound.

    Args:
        log: with a machine, its channels are signals, see `LogMapping`.
        machine: adds the checks of units, legs and limits.
        largest_gap: median intervals between two samples that are no gap.

    Raises:
        InputError: not a log or machine, or a gap that is not above zero.
    """
    as_instance(log, "log", Log)
    allowed = positive(largest_gap, "largest_gap")
    findings = [
        finding for channel in log.channels for finding in timing_findings(channel, allowed)
    ]
    if machine is not None:
        as_instance(machine, "machine", MachineModel)
        findings += unit_findings(log, machine) + saturation_findings(log, machine)
    return findings + leg_findings(log, machine)
