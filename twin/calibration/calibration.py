"""Calibration of a machine: errors of its joints and offsets from measured poses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
)
from twin.calibration.candidates import poses_within
from twin.calibration.frames import FRAMES, Frames
from twin.calibration.gauge import Gauge, gauge_of, in_words
from twin.calibration.measured import MeasuredPoses
from twin.calibration.measurement_model import FRAME_UNKNOWNS, MeasurementModel
from twin.calibration.observability import observability
from twin.calibration.residuals import Residuals, differences
from twin.calibration.simulated import simulated
from twin.calibration.solution import Solution, solve
from twin.calibration.starting import check_units, fitted_frames, only_frames
from twin.errors import InputError
from twin.model.machine_model import MachineModel

FEWEST_APART = 12
"""Poses below which none is kept apart."""

ROUNDS = 3
"""Of fits, each without the poses that the last one found wrong."""

FAR = 0.05
"""Error of a joint per mean arm of the platform that no machine has."""

HOPELESS = 0.05
"""Distance per mean arm between poses and the file's machine that a fit has to explain."""

EXPLAINED = 0.2
"""Share of that distance that may be left."""

HELD = 0.05
"""Share of an unknown in directions that are not shown from which it has no standard error."""

ELSEWHERE = 100
"""Poses all over the workspace at which the remaining error is predicted."""


class PoseErrors(NamedTuple):
    """Errors of m poses; NaN where a pose is not measured in that part."""

    position: FloatArray
    """`(m,)` distance [m] between predicted and measured target"""
    angle: FloatArray
    """`(m,)` angle [rad] between them"""


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
    used: MeasuredPoses
    apart: MeasuredPoses
    """poses that no fit has seen"""
    left_out: MeasuredPoses
    """poses that are wrong beyond noise"""

    @property
    def checked(self) -> MeasuredPoses:
        """Poses that errors are of: those kept apart, else those that were fitted."""
        return self.apart if len(self.apart) else self.used

    @property
    def errors(self) -> FloatArray:
        """Errors `(n, k)` of the legs; names and units are those of `model.errors`."""
        return self.model.at(self.after.unknowns).errors

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors `(n, k)` of `errors`, where the joints lie as near the file's as can be.

        Infinite where the poses say nothing.
        """
        variances = np.diag(self.after.covariance)
        held = (self.after.unseen**2).sum(axis=0) > HELD
        held &= self.tolerance is None
        held |= (self.gauge.basis**2).sum(axis=1) < HELD
        deviations: FloatArray = np.where(held, np.inf, np.sqrt(variances))
        deviations = deviations[:-FRAME_UNKNOWNS] * self.model.scales[:-FRAME_UNKNOWNS]
        return deviations.reshape(self.model.errors.shape)

    @property
    def implausible(self) -> bool:
        """Whether a joint would be farther from the file's place than machines are made."""
        size = FAR * self.machine.parameters.mean_arm
        return bool((np.abs(self.errors / self.model.errors.scales) > size).any())

    @property
    def frames(self) -> Frames:
        """Frames of tracker and target."""
        return self.model.at(self.after.unknowns).frames

    @property
    def unseen(self) -> list[str]:
        """Unknowns that the poses do not show, in words."""
        return in_words(self.after.unseen, self.model)

    @property
    def observability(self) -> dict[str, float]:
        """Indices of the set of poses."""
        return observability(self.after.sizes[: self.after.rank], len(self.used))

    def errors_of(self, poses: MeasuredPoses) -> tuple[PoseErrors, PoseErrors]:
        """Return errors of poses `before` and `after`; both with frames fitted to the poses."""
        found = [self._errors(solution, poses) for solution in (self.before, self.after)]
        return found[0], found[1]

    @cached_property
    def expected(self) -> PoseErrors:
        """Standard deviation of predicted poses all over the workspace, without their noise."""
        poses = simulated(self.machine, poses_within(self.machine, ELSEWHERE, seed=1))
        return expected_errors(self.model, self.after.unknowns, self.after.covariance, poses)

    def corrected(self, coordinates: Any) -> FloatArray:
        """Return the coordinates `(..., n)` of the calibrated machine of recorded ones."""
        corrected: FloatArray = np.asarray(coordinates, dtype=float) + self.errors[:, -1]
        return corrected

    def _errors(self, solution: Solution, poses: MeasuredPoses) -> PoseErrors:
        setting = self.model.at(solution.unknowns)
        start = self.model.start(poses)
        predicted = self.model.predicted(setting, poses, start)
        if not np.isfinite(predicted).all():
            raise InputError("poses", "the calibrated machine cannot reach one that is kept apart")
        parts = differences(predicted, poses)
        return PoseErrors(_norm(parts[:, :3]), _norm(parts[:, 3:]))


def expected_errors(
    model: MeasurementModel, unknowns: FloatArray, covariance: FloatArray, poses: MeasuredPoses
) -> PoseErrors:
    """Return standard deviations of predicted poses for a covariance `(u, u)` of the unknowns.

    Raises:
        InputError: the machine with these unknowns reaches none of the poses.
    """
    setting, platform = model.at(unknowns), model.start(poses)
    reached = np.isfinite(model.geometry(setting, platform).rows).all(axis=(1, 2))
    if not reached.any():
        message = "lead to a machine that cannot move; check units, signs and the order of legs"
        raise InputError("poses", message)
    slopes, _ = model.pose_slopes(setting, setting.frames.measured(platform[reached]))
    variances = np.einsum("miu,uv,miv->mi", slopes, covariance, slopes)
    return PoseErrors(np.sqrt(variances[:, :3].sum(axis=1)), np.sqrt(variances[:, 3:].sum(axis=1)))


def calibrate(
    machine: MachineModel,
    poses: MeasuredPoses,
    *,
    frames: str = "both",
    tolerance: float | None = None,
    robust: bool = False,
    apart: float = 0.2,
) -> Calibration:
    """Return the errors of a machine's joints and offsets that explain measured poses.

    Args:
        machine: as in its file.
        poses: measured ones, at rest.
        frames: frames that are not known: that of the tracker in the base, that of the target on
            the platform, "both", or none ("known").
        tolerance: standard deviation [m] of joints and offsets as they were made; default: not
            known.
        robust: whether poses that are wrong beyond noise are left out.
        apart: share of the poses that is kept for checking; none of fewer than 12 poses.

    Raises:
        InputError: options out of range, poses or coordinates that do not belong to the machine.
    """
    as_instance(machine, "machine", MachineModel)
    as_instance(poses, "poses", MeasuredPoses)
    one_of(frames, "frames", FRAMES)
    free = frames in ("both", "tracker"), frames in ("both", "target")
    if tolerance is not None:
        positive(tolerance, "tolerance")
    as_flag(robust, "robust")
    if not poses.there.any():
        raise InputError("poses", "none has a measured component")
    if poses.coordinates.shape[1] != machine.n_actuators:
        raise InputError("poses", f"must have the coordinates of {machine.n_actuators} legs")
    check_units(machine, poses)
    used, kept = _split(poses, bounded(apart, "apart", 0.0, 0.5))
    model = fitted_frames(machine, used, free)
    wrong = _wrong(Residuals(model, used), tolerance) if robust else ~used.there
    left, used = used.kept(wrong), used.kept(~wrong)
    residuals, gauge = Residuals(model, used), gauge_of(model)
    before, after = (solve(residuals, only_frames(model), None), solve(residuals, gauge, tolerance))
    found = Calibration(machine, frames, tolerance, model, gauge, before, after, used, kept, left)
    _check_explained(found)
    return found


def _check_explained(found: Calibration) -> None:
    """Check that errors of joints explain poses that are far from those of the file's machine.

    Raises:
        InputError: they do not, so that poses or coordinates belong to another machine.
    """
    arm = found.machine.parameters.mean_arm
    before = _distance(found.errors_of(found.used)[0], arm)
    if before <= HOPELESS * arm:
        return
    message = f"are {1e3 * before:.3g} mm (root mean square) from those of the file's machine, and "
    try:
        left = _distance(found.errors_of(found.checked)[1], arm)
        message += f"errors of joints and offsets leave {1e3 * left:.3g} mm of that"
    except InputError:
        left = np.inf
        message += "a machine fitted to them does not reach all of them"
    if left > EXPLAINED * before or not found.after.counts.sum() > found.after.rank:
        message += "; check units, signs and order of legs, and whether the rows belong together"
        frames = "" if found.frames_free == "both" else ", or --frames both"
        raise InputError("poses", f"{message}{frames}")


def _distance(errors: PoseErrors, arm: float) -> float:
    """Return the root mean square [m] of errors of poses, angles times the arm."""
    return float(np.sqrt(np.nanmean(np.concatenate([errors.position, arm * errors.angle]) ** 2)))


def _wrong(residuals: Residuals, tolerance: float | None) -> BoolArray:
    """Return which poses `(m,)` are wrong beyond noise by fits in which they count little."""
    gauge, poses = gauge_of(residuals.model), residuals.poses
    wrong = np.zeros(len(poses), dtype=bool)
    for _ in range(ROUNDS):
        rest = Residuals(residuals.model, poses.kept(~wrong))
        found = solve(rest, gauge, tolerance, robust=True).wrong
        wrong[~wrong] = found
        if not found.any():
            break
    return wrong


def _split(poses: MeasuredPoses, share: float) -> tuple[MeasuredPoses, MeasuredPoses]:
    """Return the poses that are fitted and those that are kept apart, spread over all."""
    apart = np.zeros(len(poses), dtype=bool)
    count = round(share * len(poses))
    if len(poses) >= FEWEST_APART and count:
        apart[np.linspace(0, len(poses) - 1, count + 2).round().astype(int)[1:-1]] = True
    return poses.kept(~apart), poses.kept(apart)


def _norm(parts: FloatArray) -> FloatArray:
    """Return the lengths `(m,)` of what is measured of vectors `(m, 3)`; NaN of nothing."""
    there = np.isfinite(parts).any(axis=1)
    return np.where(there, np.sqrt(np.nansum(parts**2, axis=1)), np.nan)
