"""Recorded motion: samples of some axes, or of their accelerations, from a CSV file or arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.errors import InputError
from twin.motion.axes import AxisSample
from twin.motion.drift import Curve, curve_of_values, integrated_curve
from twin.motion.motion import Motion
from twin.motion.samples import SampleError, as_columns, check_sizes, check_time
from twin.motion.table_file import read_table
from twin.motion.units import (
    ACCELERATION,
    ANGLE,
    ANGULAR_ACCELERATION,
    LENGTH,
    known_columns,
)


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
        known = known_columns(convention)
        times, samples = as_columns(time, columns, known)
        check_time(times, largest_gap, check_size)
        if check_size:
            check_sizes(samples, known)
        times = times - times[0]
        super().__init__(center, times[-1], convention, fade_in, fade_out)
        curves: dict[str, Curve] = {}
        for name, values in samples.items():
            if known[name].quantity in (LENGTH, ANGLE):
                curve = curve_of_values(times, values, name)
            else:
                curve = integrated_curve(times, values, name, drift=drift, cutoff=cutoff)
            _check_curve(
                curve, times, name, known[name].quantity in (LENGTH, ACCELERATION), check_size
            )
            curves[known[name].axis] = curve
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
    delimiter: str = ",",
    **options: Any,
) -> RecordedMotion:
    """Return the motion recorded in a CSV file.

    The first line names the columns, each with its unit: `time [s],z [mm],pitch [deg]`. Names
    are `time` and those of `RecordedMotion`. Units: s, ms, us, min; m, mm, cm, um, in; rad,
    mrad, deg; m/s2, mm/s2, g; rad/s2, deg/s2.

    Args:
        path: the file, UTF-8 text, decimals with a point.
        center: as for `RecordedMotion`.
        convention: angle convention, which names the axes.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name, to rename columns; when given, all
            others in the file are ignored.
        delimiter: one of , ; tab |.
        options: further options of `RecordedMotion`: `largest_gap`, `drift`, `cutoff`,
            `check_size`, `fade_in`, `fade_out`.

    Raises:
        InputError: names file, line and column of the fault and what to do.
    """
    known = known_columns(convention)
    table = read_table(path, known, units=units, columns=columns, delimiter=delimiter)
    samples = dict(table.columns)
    if "time" not in samples:
        raise InputError(str(table.file), "line 1: has no column 'time'; add it, or rename one")
    time = samples.pop("time")
    if not samples:
        raise InputError(
            str(table.file),
            f"line 1: has no axis beside time; add one of {', '.join(list(known)[1:])}",
        )
    try:
        return RecordedMotion(center, time, samples, convention=convention, **options)
    except SampleError as error:
        raise table.fault(error.row, error.column, error.message) from None
    except InputError as error:
        if error.field not in samples:
            raise
        raise InputError(str(table.file), f"column {error.field!r}: {error.message}") from None


def _check_curve(
    curve: Curve, time: FloatArray, name: str, straight: bool, check_size: bool
) -> None:
    """Refuse a curve whose values are not finite or that no platform can follow."""
    values = np.abs(curve(time)).max(axis=0)
    if not np.isfinite(values).all():
        raise InputError(name, "values are too large; check the units")
    position, acceleration = (LENGTH, ACCELERATION) if straight else (ANGLE, ANGULAR_ACCELERATION)
    if not check_size:
        return
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
