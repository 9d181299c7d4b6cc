"""The results of a calibration and of a plan of poses: tables, findings and figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.calibration.calibration import Calibration, PoseErrors
from twin.calibration.pose_plan import Plan
from twin.calibration.solution import INDEX_MEANINGS
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.results import Cell, Figure, Results, Table
from twin.errors import listed
from twin.model.machine_model import MachineModel

MAX_LISTED = 8
"""Maximum number of combinations that the results list."""

FRAME_SENTENCES = {
    "both": "The frames of tracker and target are unknown",
    "tracker": "The frame of the tracker is unknown",
    "target": "The frame of the target is unknown",
    "known": "Both frames are known",
}


def calibration_results(calibration: Calibration) -> Results:
    """Return errors of poses before and after, errors of joints, and what the poses do not show."""
    checked = (
        "that a first fit had kept apart"
        if len(calibration.holdout)
        else "of the fit: none was kept apart"
    )
    joint_names = [name.replace("joint ", "") for name in calibration.model.errors.names]
    return Results(
        f"Calibration of {calibration.machine.name}",
        [
            *findings(calibration),
            _expected(calibration.expected, "Expected error of the calibrated machine"),
        ],
        [
            Table(
                f"{calibration.machine.name}: {len(calibration.used)} poses fitted, errors of "
                f"{len(calibration.checked)} poses {checked}",
                ("error of", "mean", "95 %", "largest", "unit"),
                error_rows(calibration),
            ),
            Table(
                "errors and standard errors of joints in um, of angles in urad; offsets are added "
                "to coordinates",
                ("leg", *joint_names),
                _joint_rows(calibration),
            ),
            _index_table("observability of the poses", calibration.observability),
        ],
        _figures(calibration),
    )


def plan_results(pose_plan: Plan, machine: MachineModel) -> Results:
    """Return the proposed poses, the expected accuracy, and that of as many random poses."""
    unit = machine.coordinate_unit
    rows: list[tuple[Cell, ...]] = [
        (number, *(f"{value:.5f}" for value in row))
        for number, row in enumerate(pose_plan.coordinates, start=1)
    ]
    largest = 1e6 * float(pose_plan.standard_errors.max())
    return Results(
        f"Poses to calibrate {machine.name}",
        [
            _expected(pose_plan.expected, "Expected error of what is measured"),
            f"Largest standard error of a joint or offset: {largest:.3g} um or urad.",
        ],
        [
            Table(
                f"{machine.name}: {len(rows)} poses inside all limits",
                ("pose", *(f"leg {leg + 1} [{unit}]" for leg in range(machine.n_actuators))),
                rows,
            ),
            _index_table("observability of the poses", pose_plan.observability),
            _index_table("observability of as many random poses", pose_plan.random),
        ],
    )


def error_rows(calibration: Calibration) -> list[tuple[Cell, ...]]:
    """Return rows of errors of poses: name, mean, 95 % quantile, largest, unit."""
    errors = calibration.checked_errors()
    return [
        (f"{component}, {stage}", *_statistics(1e6 * getattr(pose_errors, component)), unit)
        for component, unit in (("position", "um"), ("angle", "urad"))
        for stage, pose_errors in zip(("before", "after"), errors, strict=True)
    ]


def findings(calibration: Calibration) -> list[str]:
    """Return findings: what is fixed, what is unobservable, and which poses do not fit."""
    solution = calibration.after
    sentences = [
        f"{FRAME_SENTENCES[calibration.frames_free]}: {calibration.gauge.free} directions of the "
        "errors are shown by no measurement and fixed, so that joints lie as near to the file's "
        "as they can. Of "
        f"{len(solution.singular_values)} others, frames included, the poses show {solution.rank}."
    ]
    source = "held at the file's value" if calibration.tolerance is None else "from the tolerance"
    unobservable = calibration.unobservable
    sentences += [f"Not shown: {text} ({source})." for text in unobservable[:MAX_LISTED]]
    if len(unobservable) > MAX_LISTED:
        sentences.append(
            f"Not shown: {len(unobservable) - MAX_LISTED} more combinations ({source})."
        )
    poses = [(calibration.left_out, "left out"), (calibration.suspects, "try --robust")]
    for poses_of_remedy, remedy in poses:
        if len(poses_of_remedy):
            numbers = listed(f"{value:.9g}" for value in poses_of_remedy.numbers)
            sentences.append(f"Wrong beyond noise ({remedy}): the poses at {numbers}.")
    if calibration.implausible:
        far = np.abs(calibration.errors / calibration.model.errors.scales).max()
        sentences.append(
            f"A joint or offset is {1e3 * far:.3g} mm from the file's, farther than machines are "
            "usually made: check units, frames and the order of legs, unless the file is a draft."
        )
    if solution.exceeds_noise:
        sentences.append(
            f"Residuals are {np.sqrt(solution.ratio):.3g} times the stated noise, and the standard "
            "errors are raised by that: noise is larger, or something else than joints is wrong."
        )
    return sentences


def _statistics(values: FloatArray) -> tuple[Cell, Cell, Cell]:
    """Return mean, 95 % quantile and largest of values, without NaN."""
    values = values[np.isfinite(values)]
    if not len(values):
        return "-", "-", "-"
    return float(values.mean()), float(np.quantile(values, 0.95)), float(values.max())


def _joint_rows(calibration: Calibration) -> list[tuple[str, ...]]:
    """Return a row per leg: errors and standard errors [um] or [urad]."""
    rows = []
    for leg, errors in enumerate(
        np.stack([calibration.errors, calibration.standard_errors], axis=-1), 1
    ):
        cells = (
            f"{value:.0f} +- {deviation:.0f}" if np.isfinite(deviation) else "not shown"
            for value, deviation in 1e6 * errors
        )
        rows.append((f"leg {leg}", *cells))
    return rows


def _expected(errors: PoseErrors, title: str) -> str:
    parts = [
        f"{1e6 * np.sqrt(np.mean(error**2)):.3g} {unit}"
        for error, unit in zip(errors, ("um", "urad"), strict=True)
        if np.isfinite(error).all()
    ]
    return f"{title}, root mean square over the workspace: {', '.join(parts)}."


def _index_table(title: str, indices: dict[str, float]) -> Table:
    rows = [(name, value, INDEX_MEANINGS[name]) for name, value in indices.items()]
    return Table(title, ("index", "value [1]", "meaning"), rows)


def _figures(calibration: Calibration) -> list[Figure]:
    """Return the figures of a result: errors of poses, residuals, singular values."""
    checked, fitted = calibration.checked, calibration.used
    before_errors, after_errors = calibration.checked_errors()
    of_poses = [
        Axes(
            f"{component} [µ{unit}]",
            [
                _points("before", checked.numbers, 1e6 * getattr(before_errors, component)),
                _points("after", checked.numbers, 1e6 * getattr(after_errors, component)),
            ],
            log_y=True,
        )
        for component, unit in zip(PoseErrors._fields, ("m", "rad"), strict=True)
        if np.isfinite(getattr(after_errors, component)).any()
    ]
    residuals = [
        _points(
            name,
            fitted.numbers,
            np.sqrt(solution.squared_residuals / np.maximum(solution.counts, 1.0)),
        )
        for name, solution in (("before", calibration.before), ("after", calibration.after))
    ]
    sizes = calibration.after.singular_values
    order = np.arange(1.0, len(sizes) + 1.0)
    return [
        Figure(
            "Errors of poses",
            "Distance and angle between predicted and measured pose. Before: the file's machine "
            "with frames fitted to the poses.",
            lambda: panels_figure(of_poses, "pose"),
        ),
        Figure(
            "Residuals of the fit",
            "Root mean square of what is measured of a pose, in standard deviations of its noise: "
            "1 where nothing but noise is left.",
            lambda: panels_figure([Axes("residual [1]", residuals, log_y=True)], "pose"),
        ),
        Figure(
            "Singular values",
            "The inverse is the standard error of a combination of errors; a steep fall at the end "
            "says that poses of another kind are needed.",
            lambda: panels_figure(
                [Axes("singular value [1/m]", [_points("poses", order, sizes)], log_y=True)],
                "combination",
            ),
        ),
    ]


def _points(name: str, x: Any, y: Any) -> Line:
    """Return a curve of markers at the values above zero."""
    is_positive = np.isfinite(y) & (y > 0.0)
    return Line(name, np.asarray(x, dtype=float)[is_positive], y[is_positive], "markers")
