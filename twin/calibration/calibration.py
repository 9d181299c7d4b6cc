"""Calibration of a machine: errors of its joints and offsets from measured poses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    as_flag,
    as_instance,
    bounded,
    one_of,
    positive,
    rotation_matrix,
)
from twin.basics.toml import toml_value
from twin.calibration.measured import FRAME_CHOICES, Frames, MeasuredPoses, aligned
from twin.calibration.measurement_model import (
    N_FRAME_UNKNOWNS,
    LegErrors,
    MeasurementModel,
    Residuals,
    differences,
    legs_with,
)
from twin.calibration.simulated import poses_within, simulated
from twin.calibration.solution import (
    Gauge,
    Solution,
    direction_labels,
    gauge_of,
    observability,
    solve,
)
from twin.errors import InputError
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT
from twin.kernels.legs.rss import CRANK_LENGTH, ROD_LENGTH, ZERO_DIRECTION
from twin.kernels.legs.upu import PLATFORM_AXIS
from twin.logs import Channel, Log
from twin.logs.checks import unit_findings
from twin.model.forward_kinematics import geometry
from twin.model.machine_model import MachineModel
from twin.rotations import angles_from_quaternion

MAX_UNIT_RATIO = 50.0
"""Ratio of the spread of measured poses to that of the legs' poses above which, or below its
inverse, a unit is wrong.
"""

SWAPPED_LEGS_MISFIT = 0.02
"""Misfit of the poses to the file's machine, over the mean arm, above which swapped legs are
searched for.
"""

SWAPPED_LEGS_RATIO = 5.0
"""Ratio by which the misfit must fall with two legs swapped for them to be reported."""

MIN_POSES_FOR_HOLDOUT = 12
"""Number of poses below which none is held out."""

ROBUST_ROUNDS = 3
"""Number of robust fits, each without the outliers of the one before."""

MAX_PLAUSIBLE_ERROR = 0.05
"""Error of a joint over the platform's mean arm above which it is implausible."""

MAX_UNEXPLAINED_DISTANCE = 0.05
"""Misfit over the mean arm above which a fit must explain most of it."""

MAX_REMAINING_FRACTION = 0.2
"""Largest fraction of that misfit that may remain after the fit."""

MAX_UNSHOWN_FRACTION = 0.05
"""Squared fraction of an unknown in unobservable directions above which it has no standard error.
"""

PREDICTION_POSES = 100
"""Poses all over the workspace at which the remaining error is predicted."""

DECIMAL_PLACES = 9
"""Decimal places of lengths [m], directions and angles [rad]."""


def check_units(machine: MachineModel, poses: MeasuredPoses) -> None:
    """Check that recorded coordinates can be those of the machine.

    Raises:
        InputError: names the unit that would fit.
    """
    channel = Channel("coordinates", poses.numbers, poses.coordinates, (machine.coordinate_unit,))
    for finding in unit_findings(Log((channel,)), machine):
        raise InputError(finding.channel, finding.message)


def only_frames(model: MeasurementModel) -> Gauge:
    """Return the gauge in which the frames alone are unknown, for the machine of the file."""
    frames = np.arange(model.size) >= model.size - N_FRAME_UNKNOWNS
    return Gauge(np.eye(model.size)[:, frames & (model.scales > 0.0)], 0)


def fitted_frames(
    machine: MachineModel, poses: MeasuredPoses, free: tuple[bool, bool]
) -> MeasurementModel:
    """Return the model with unknown frames fitted to the machine without errors.

    Raises:
        InputError: coordinates or poses that the machine cannot have, wrong units, swapped legs.
    """
    model = MeasurementModel(LegErrors(machine), None, free)
    arm = machine.parameters.mean_arm
    try:
        platform = model.start(poses)
        misfit = _misfit(platform, poses, free, arm)
    except InputError as error:
        swap_text = _swapped_legs(model, poses, free, np.inf)
        raise InputError(error.field, f"{error.message}{swap_text}") from None
    if misfit > SWAPPED_LEGS_MISFIT * arm and (
        swap_text := _swapped_legs(model, poses, free, misfit)
    ):
        raise InputError("coordinates", f"do not fit the poses{swap_text}")
    _check_scale(platform, poses, arm)
    model = MeasurementModel(model.errors, aligned(platform, poses, free), free)
    solution = solve(Residuals(model, poses), only_frames(model), None, robust=True)
    return MeasurementModel(model.errors, model.at(solution.unknowns).frames, free)


def _misfit(
    platform: FloatArray, poses: MeasuredPoses, free: tuple[bool, bool], arm: float
) -> float:
    """Return the distance [m] of measured and platform poses, aligned; angles times the arm."""
    frames = aligned(platform, poses, free)
    errors = differences(frames.measured(platform), poses) * np.repeat([1.0, arm], 3)
    return float(np.sqrt(np.nanmean(errors**2)))


def _swapped_legs(
    model: MeasurementModel, poses: MeasuredPoses, free: tuple[bool, bool], misfit: float
) -> str:
    """Return a hint at two legs whose columns are swapped; empty where there are none."""
    n, arm = model.machine.n_actuators, model.machine.parameters.mean_arm
    lowest_misfit, swap_text = misfit / SWAPPED_LEGS_RATIO, ""
    for a, b in combinations(range(n), 2):
        leg_order = np.arange(n)
        leg_order[[a, b]] = b, a
        try:
            platform = model.start(poses.with_legs(leg_order))
        except InputError:
            continue
        misfit_now = _misfit(platform, poses, free, arm)
        if misfit_now < min(lowest_misfit, SWAPPED_LEGS_MISFIT * arm):
            lowest_misfit = misfit_now
            swap_text = f"; the columns of legs {a + 1} and {b + 1} seem to be swapped"
    return swap_text


def _check_scale(platform: FloatArray, poses: MeasuredPoses, arm: float) -> None:
    """Check that positions and angles vary about as much as the legs' poses do.

    Raises:
        InputError: they do not, so that a unit must be wrong.
    """
    position_spread = _spread(platform[:, :3])
    rotation_spread = _spread(angles_from_quaternion(platform[:, 3:]))
    positions, angles = poses.values[:, :3], poses.values[:, 3:]
    for name, values, expected in (
        ("position", positions, position_spread + arm * rotation_spread),
        ("angles", angles, rotation_spread),
    ):
        measured_spread = _spread(values[np.isfinite(values).all(axis=1)])
        if (
            measured_spread
            and not expected / MAX_UNIT_RATIO < measured_spread < MAX_UNIT_RATIO * expected
        ):
            message = (
                f"vary by {measured_spread:.3g}, the coordinates of the legs say {expected:.3g}"
            )
            raise InputError(name, f"{message} (SI units); check units and what belongs together")


def _spread(values: FloatArray) -> float:
    """Return the root of the summed variances of columns; 0 of fewer than three rows."""
    return float(np.sqrt(values.var(axis=0).sum())) if len(values) > 2 else 0.0


class PoseErrors(NamedTuple):
    """Errors of m poses; NaN where a pose is not measured in that part."""

    position: FloatArray
    """`(m,)` distance [m] between predicted and measured target"""
    angle: FloatArray
    """`(m,)` angle [rad] between predicted and measured target"""


@dataclass(frozen=True, eq=False)
class Calibration:
    """A machine with errors of its joints and offsets, as measured poses show them."""

    machine: MachineModel
    frames_free: str
    tolerance: float | None
    model: MeasurementModel
    gauge: Gauge
    before: Solution
    """frames alone"""
    after: Solution
    """fit to all poses that are not left out"""
    check: Solution
    """fit to the poses without the holdout, for errors of the holdout"""
    used: MeasuredPoses
    """poses of the final fit, those of the holdout among them"""
    holdout: MeasuredPoses
    """poses that the check has not seen"""
    left_out: MeasuredPoses
    """poses that are wrong beyond noise"""
    suspects: MeasuredPoses
    """poses of the final fit that a robust one finds wrong beyond noise"""

    @property
    def checked(self) -> MeasuredPoses:
        """Poses on which errors are evaluated: the holdout, else those that were fitted."""
        return self.holdout if len(self.holdout) else self.used

    def checked_errors(self) -> tuple[PoseErrors, PoseErrors]:
        """Return errors `before` and `after` of the checked poses, by a fit without the holdout."""
        return self._errors(self.before, self.checked), self._errors(self.check, self.checked)

    @property
    def errors(self) -> FloatArray:
        """Errors `(n, k)` of the legs; names and units are those of `model.errors`."""
        return self.model.at(self.after.unknowns).errors

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors `(n, k)` of `errors`, with the joints as near to the file's as possible.

        Infinite for errors that the poses do not determine.
        """
        variances = np.diag(self.after.covariance)
        is_unshown = (self.after.unobservable**2).sum(axis=0) > MAX_UNSHOWN_FRACTION
        is_unshown &= self.tolerance is None
        is_unshown |= (self.gauge.basis**2).sum(axis=1) < MAX_UNSHOWN_FRACTION
        deviations: FloatArray = np.where(is_unshown, np.inf, np.sqrt(variances))
        deviations = deviations[:-N_FRAME_UNKNOWNS] * self.model.scales[:-N_FRAME_UNKNOWNS]
        return deviations.reshape(self.model.errors.shape)

    @property
    def implausible(self) -> bool:
        """Whether a joint is implausibly far from its position in the file."""
        size = MAX_PLAUSIBLE_ERROR * self.machine.parameters.mean_arm
        return bool((np.abs(self.errors / self.model.errors.scales) > size).any())

    @property
    def frames(self) -> Frames:
        """Frames of tracker and target."""
        return self.model.at(self.after.unknowns).frames

    @property
    def unobservable(self) -> list[str]:
        """Descriptions of the unknowns that the poses do not determine."""
        return direction_labels(self.after.unobservable, self.model)

    @property
    def observability(self) -> dict[str, float]:
        """Indices of the set of poses."""
        return observability(self.after.singular_values[: self.after.rank], len(self.used))

    def errors_of(self, poses: MeasuredPoses) -> tuple[PoseErrors, PoseErrors]:
        """Return errors of poses `before` and `after`; both with frames fitted to the poses."""
        return self._errors(self.before, poses), self._errors(self.after, poses)

    @cached_property
    def expected(self) -> PoseErrors:
        """Standard deviation of predicted poses all over the workspace, without their noise."""
        poses = simulated(self.machine, poses_within(self.machine, PREDICTION_POSES, seed=1))
        return expected_errors(self.model, self.after.unknowns, self.after.covariance, poses)

    def _errors(self, solution: Solution, poses: MeasuredPoses) -> PoseErrors:
        """Return the errors of poses that a solution predicts."""
        setting = self.model.at(solution.unknowns)
        predicted = self.model.predicted(setting, poses, self.model.start(poses))
        if not np.isfinite(predicted).all():
            raise InputError("poses", "the calibrated machine cannot reach one that is kept apart")
        components = differences(predicted, poses)
        return PoseErrors(_norm(components[:, :3]), _norm(components[:, 3:]))


def expected_errors(
    model: MeasurementModel, unknowns: FloatArray, covariance: FloatArray, poses: MeasuredPoses
) -> PoseErrors:
    """Return standard deviations of predicted poses for a covariance `(u, u)` of the unknowns.

    Components that `poses` do not have, and a tracker therefore does not tie to the base, do not
    count.

    Raises:
        InputError: the machine with these unknowns reaches none of the poses.
    """
    setting, platform = model.at(unknowns), model.start(poses)
    is_reached = np.isfinite(model.geometry(setting, platform).rows).all(axis=(1, 2))
    if not is_reached.any():
        message = "lead to a machine that cannot move; check units, signs and the order of legs"
        raise InputError("poses", message)
    slopes, _ = model.pose_slopes(setting, setting.frames.measured(platform[is_reached]))
    variances = np.einsum("miu,uv,miv->mi", slopes, covariance, slopes)
    # The turns are about x, y and z, the values yaw, pitch and roll.
    is_measured = np.isfinite(poses.values[is_reached])[:, [0, 1, 2, 5, 4, 3]]
    variances = np.where(is_measured, variances, np.nan)
    return PoseErrors(_norm(np.sqrt(variances[:, :3])), _norm(np.sqrt(variances[:, 3:])))


def calibrate(
    machine: MachineModel,
    poses: MeasuredPoses,
    *,
    frames: str = "both",
    tolerance: float | None = None,
    robust: bool = False,
    holdout: float = 0.2,
) -> Calibration:
    """Return the errors of a machine's joints and offsets that explain measured poses.

    Args:
        machine: as in its file.
        poses: measured ones, at rest.
        frames: frames that are not known: that of the tracker in the base, that of the target on
            the platform, "both", or none ("known").
        tolerance: standard deviation [m] of joints and offsets as they were made; default: not
            known.
        robust: whether poses that are wrong beyond noise are left out, wherever they are.
        holdout: fraction of the poses that is kept apart in a first fit, for checking; none of
            fewer than 12 poses. The final fit takes them, too.

    Raises:
        InputError: options out of range, poses or coordinates that do not belong to the machine.
    """
    as_instance(machine, "machine", MachineModel)
    as_instance(poses, "poses", MeasuredPoses)
    free_frames = FRAME_CHOICES[one_of(frames, "frames", FRAME_CHOICES)]
    if tolerance is not None:
        positive(tolerance, "tolerance")
    as_flag(robust, "robust")
    if not poses.there.any():
        raise InputError("poses", "none has a measured component")
    if poses.coordinates.shape[1] != machine.n_actuators:
        raise InputError("poses", f"must have the coordinates of {machine.n_actuators} legs")
    check_units(machine, poses)
    fraction = bounded(holdout, "holdout", 0.0, 0.5)
    model = fitted_frames(machine, poses, free_frames)
    is_wrong = _wrong(Residuals(model, poses), tolerance)
    is_left_out = is_wrong if robust else ~poses.there
    left_out, used = poses.kept(is_left_out), poses.kept(~is_left_out)
    suspects = used.kept(is_wrong[~is_left_out])
    fitted, checked = _split(used, fraction)
    residuals, gauge = Residuals(model, used), gauge_of(model)
    frames_alone = solve(residuals, only_frames(model), None)
    with_errors = solve(residuals, gauge, tolerance)
    check = solve(Residuals(model, fitted), gauge, tolerance) if len(checked) else with_errors
    calibration = Calibration(
        machine,
        frames,
        tolerance,
        model,
        gauge,
        frames_alone,
        with_errors,
        check,
        used,
        checked,
        left_out,
        suspects,
    )
    _check_explained(calibration)
    return calibration


def _check_explained(calibration: Calibration) -> None:
    """Check that errors of joints explain poses that are far from those of the file's machine.

    Raises:
        InputError: they do not, so that poses or coordinates belong to another machine.
    """
    arm = calibration.machine.parameters.mean_arm
    error_before = _distance(calibration.errors_of(calibration.used)[0], arm)
    if error_before <= MAX_UNEXPLAINED_DISTANCE * arm:
        return
    message = (
        f"are {1e3 * error_before:.3g} mm (root mean square) from those of the file's machine, and "
    )
    try:
        error_left = _distance(calibration.checked_errors()[1], arm)
        message += f"errors of joints and offsets leave {1e3 * error_left:.3g} mm of that"
    except InputError:
        error_left = np.inf
        message += "a machine fitted to them does not reach all of them"
    if (
        error_left > MAX_REMAINING_FRACTION * error_before
        or not calibration.after.counts.sum() > calibration.after.rank
    ):
        message += "; check units, signs and order of legs, and whether the rows belong together"
        frames = "" if calibration.frames_free == "both" else ", or --frames both"
        raise InputError("poses", f"{message}{frames}")


def _distance(errors: PoseErrors, arm: float) -> float:
    """Return the root mean square [m] of errors of poses, angles times the arm."""
    return float(np.sqrt(np.nanmean(np.concatenate([errors.position, arm * errors.angle]) ** 2)))


def _wrong(residuals: Residuals, tolerance: float | None) -> BoolArray:
    """Return which poses `(m,)` are outliers, by robust fits in which they have little weight."""
    gauge, poses = gauge_of(residuals.model), residuals.poses
    is_outlier = np.zeros(len(poses), dtype=bool)
    for _ in range(ROBUST_ROUNDS):
        remaining = Residuals(residuals.model, poses.kept(~is_outlier))
        new_outliers = solve(remaining, gauge, tolerance, robust=True).is_outlier
        is_outlier[~is_outlier] = new_outliers
        if not new_outliers.any():
            break
    return is_outlier


def _split(poses: MeasuredPoses, fraction: float) -> tuple[MeasuredPoses, MeasuredPoses]:
    """Return the poses that are fitted and the holdout, evenly spaced among all."""
    is_holdout = np.zeros(len(poses), dtype=bool)
    count = round(fraction * len(poses))
    if len(poses) >= MIN_POSES_FOR_HOLDOUT and count:
        is_holdout[np.linspace(0, len(poses) - 1, count + 2).round().astype(int)[1:-1]] = True
    return poses.kept(~is_holdout), poses.kept(is_holdout)


def _norm(parts: FloatArray) -> FloatArray:
    """Return norms `(m,)` of the measured parts of vectors `(m, 3)`; NaN if nothing is measured."""
    is_measured = np.isfinite(parts).any(axis=1)
    return np.where(is_measured, np.sqrt(np.nansum(parts**2, axis=1)), np.nan)


def machine_text(calibration: Calibration, base: str, note: str, path: str | Path) -> str:
    """Return the text of a file that extends the old one: joints, cranks, a record of the errors.

    Offsets of cranks are in their directions at angle 0. Those of leg lengths are in the record
    alone: lengths of a machine are those between its joints.

    Args:
        calibration: a calibration.
        base: name of the machine, or path of its file.
        note: where the numbers are from.
        path: where the text will be written.

    Raises:
        InputError: a machine whose cranks have `axis_angles`.
    """
    if Path(base).suffix == ".toml":
        base = os.path.relpath(Path(base).absolute(), Path(path).absolute().parent)
    errors, machine = calibration.model.errors, calibration.machine
    values, lines = calibration.errors, [f"extends = {toml_value(base)}"]
    applied = getattr(machine.parameters.configuration, "applied", "")
    if applied:
        lines.append(f"configuration = {toml_value(applied)}")
    lines.append(f"source = {toml_value(note)}")
    rows = errors.rows(values)
    for side, first_entry in (("base", BASE_JOINT), ("platform", PLATFORM_JOINT)):
        points = rows[:, first_entry : first_entry + 3]
        table = {"layout": "points", "order": range(1, len(rows) + 1), "coordinates": points}
        lines += _table(f"{side}.joints", table)
    if errors.has_crank:
        for number, (row, offset) in enumerate(zip(rows, values[:, -1], strict=True), start=1):
            lines += _table(f"leg.{number}", _crank(calibration, number, row, float(offset)))
    if machine.leg.equations == "upu":  # "horizontal" would follow the joints
        for number, row in enumerate(rows, start=1):
            axes = {"first_axis": AXIS, "platform_axis": PLATFORM_AXIS}
            directions = {name: row[first : first + 3] for name, first in axes.items()}
            lines += _table(f"leg.{number}", directions)
    record = {
        "names": errors.names,
        "errors": values,
        "standard_errors": calibration.standard_errors,
    }
    record |= calibration.frames._asdict()
    return "\n".join([*lines, *_table("identified", record), ""])


def offsets_text(calibration: Calibration) -> str:
    """Return a mapping file for logs that adds the offsets to channels `coordinates 1` and on."""
    n, unit = calibration.machine.n_actuators, calibration.machine.coordinate_unit
    values = calibration.errors[:, -1] - _home_twists(calibration)
    offsets = [f"{value:.{DECIMAL_PLACES}f} {unit}" for value in values]
    channels = [f"coordinates {number}" for number in range(1, n + 1)]
    return (
        "\n".join(_table("signals.coordinates", {"channels": channels, "offset": offsets})) + "\n"
    )


def _home_twists(calibration: Calibration) -> FloatArray:
    """Return what the rods' twist at home adds `(n,)` [m] to coordinates of the calibrated machine.

    A machine on screws counts the twist from its own home, where that of its joints as calibrated
    is another one. Zero for other machines.
    """
    machine = calibration.machine
    if machine.leg.equations != "upu":
        return np.zeros(machine.n_actuators)
    legs, home = legs_with(calibration.model.errors, calibration.errors), machine.home
    base, joints = (legs.rows[:, k : k + 3] for k in (BASE_JOINT, PLATFORM_JOINT))
    lengths = np.linalg.norm(home[:3] + joints @ rotation_matrix(home[3:]).T - base, axis=1)
    return np.asarray(geometry(legs, home[None], 0).values[0] - lengths)


def _crank(calibration: Calibration, number: int, row: FloatArray, offset: float) -> dict[str, Any]:
    """Return the entries of a crank, turned by its offset."""
    leg = calibration.machine.parameters.legs[number - 1]
    if getattr(leg, "axis_angles", None) is not None:
        raise InputError("leg.axis_angles", "give `axis` as directions in the machine's file")
    axis, zero = row[AXIS : AXIS + 3], row[ZERO_DIRECTION : ZERO_DIRECTION + 3]
    zero_direction = np.cos(offset) * zero + np.sin(offset) * np.cross(axis, zero)
    leg_geometry = calibration.machine.parameters.home_leg_geometry[number - 1]
    return {
        "axis": leg.side(leg_geometry) * axis,  # type: ignore[attr-defined]
        "zero": zero_direction,
        "crank_length": row[CRANK_LENGTH],
        "rod_length": row[ROD_LENGTH],
    }


def _table(name: str, entries: dict[str, Any]) -> list[str]:
    """Return the lines of a TOML table, with arrays rounded to `DECIMAL_PLACES`."""
    lines = ["", f"[{name}]"]
    for key, value in entries.items():
        is_rounded = isinstance(value, np.ndarray | np.floating)
        lines.append(
            f"{key} = {toml_value(np.round(value, DECIMAL_PLACES) if is_rounded else value)}"
        )
    return lines
