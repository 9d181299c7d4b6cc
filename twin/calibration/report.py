"""The page of a calibration: errors, corrections with intervals, residuals and observability."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.files import write_text
from twin.calibration.calibration import Calibration, PoseErrors
from twin.calibration.solution import INDEX_MEANINGS
from twin.charts.panels import Axes, Line, number, panels_figure
from twin.charts.results_page import results_page
from twin.errors import listed

MAX_LISTED = 8
"""Maximum number of combinations that the page lists."""

FRAME_SENTENCES = {
    "both": "The frames of tracker and target are unknown",
    "tracker": "The frame of the tracker is unknown",
    "target": "The frame of the target is unknown",
    "known": "Both frames are known",
}

INTERVAL_FACTOR = 1.96
"""Half-width of a 95 % interval in standard errors."""


def error_rows(found: Calibration) -> list[tuple[str, ...]]:
    """Return rows of errors of poses: name, mean, 95 % quantile, largest, unit."""
    errors = found.errors_of(found.checked)
    return [
        (f"{component}, {stage}", *_statistics(1e6 * getattr(pose_errors, component)), unit)
        for component, unit in (("position", "um"), ("angle", "urad"))
        for stage, pose_errors in zip(("before", "after"), errors, strict=True)
    ]


def findings(found: Calibration) -> list[str]:
    """Return findings: what is fixed, what is unobservable, and which poses do not fit."""
    solution = found.after
    sentences = [
        f"{FRAME_SENTENCES[found.frames_free]}: {found.gauge.free} directions of the "
        "errors are shown by no measurement and fixed, so that joints lie as near to the file's "
        "as they can. Of "
        f"{len(solution.sizes)} others, frames included, the poses show {solution.rank}."
    ]
    source = "held at the file's value" if found.tolerance is None else "from the tolerance"
    unobservable = found.unseen
    sentences += [f"Not shown: {text} ({source})." for text in unobservable[:MAX_LISTED]]
    if len(unobservable) > MAX_LISTED:
        sentences.append(
            f"Not shown: {len(unobservable) - MAX_LISTED} more combinations ({source})."
        )
    poses = [(found.left_out, "left out"), (found.used.kept(solution.wrong), "try --robust")]
    for poses_of_remedy, remedy in poses:
        if len(poses_of_remedy):
            numbers = listed(f"{value:.9g}" for value in poses_of_remedy.numbers)
            sentences.append(f"Wrong beyond noise ({remedy}): the poses at {numbers}.")
    if found.implausible:
        far = np.abs(found.errors / found.model.errors.scales).max()
        sentences.append(
            f"A joint or offset is {1e3 * far:.3g} mm from the file's, farther than machines are "
            "usually made: check units, frames and the order of legs, unless the file is a draft."
        )
    if solution.noisy:
        sentences.append(
            f"Residuals are {np.sqrt(solution.ratio):.3g} times the stated noise, and the standard "
            "errors are raised by that: noise is larger, or something else than joints is wrong."
        )
    return sentences


def _statistics(values: FloatArray) -> tuple[str, str, str]:
    """Return mean, 95 % quantile and largest of values, without NaN."""
    values = values[np.isfinite(values)]
    if not len(values):
        return "-", "-", "-"
    statistics = values.mean(), np.quantile(values, 0.95), values.max()
    mean, quantile, largest = (number(float(value), 3) for value in statistics)
    return mean, quantile, largest


def write_report(found: Calibration, path: str | Path) -> Path:
    """Write the page of a calibration; returns its path.

    Raises:
        InputError: the place cannot be written to.
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    return write_text(path, page_of(found))


def page_of(found: Calibration) -> str:
    """Return the page of a calibration: HTML that loads nothing.

    Raises:
        MissingDependencyError: plotly or jinja2 is not installed.
    """
    rows, joints = error_rows(found), found.model.errors
    return results_page(
        Path(__file__).with_name("report.html"),
        f"Calibration of {found.machine.name}",
        datetime.now(UTC).isoformat(timespec="seconds"),
        _charts(found),
        found=found,
        rows=rows,
        apart="kept apart" if len(found.apart) else "of the fit: none was kept apart",
        notes=findings(found),
        names=joints.names,
        legs=_corrections(found),
        rotary="rad" in joints.units,
        expected=[1e6 * float(np.sqrt(np.mean(errors**2))) for errors in found.expected],
        indices=[
            (name, value, INDEX_MEANINGS[name]) for name, value in found.observability.items()
        ],
    )


def _corrections(found: Calibration) -> list[list[tuple[float, float]]]:
    """Return value and half interval of every error, leg by leg, in um and urad."""
    half_widths = INTERVAL_FACTOR * found.standard_errors
    return [
        [(1e6 * float(value), 1e6 * float(width)) for value, width in zip(*leg, strict=True)]
        for leg in zip(found.errors, half_widths, strict=True)
    ]


def _charts(found: Calibration) -> list[tuple[str, str, Any]]:
    """Return title, explanation and figure of each chart."""
    checked, fitted = found.checked, found.used
    before_errors, after_errors = found.errors_of(checked)
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
        _points(name, fitted.numbers, np.sqrt(solution.squares / np.maximum(solution.counts, 1.0)))
        for name, solution in (("before", found.before), ("after", found.after))
    ]
    sizes = found.after.sizes
    order = np.arange(1.0, len(sizes) + 1.0)
    return [
        (
            "Errors of poses",
            "Distance and angle between predicted and measured pose. Before: the file's machine "
            "with frames fitted to the poses.",
            panels_figure(of_poses, "pose"),
        ),
        (
            "Residuals of the fit",
            "Root mean square of what is measured of a pose, in standard deviations of its noise: "
            "1 where nothing but noise is left.",
            panels_figure([Axes("residual [1]", residuals, log_y=True)], "pose"),
        ),
        (
            "Singular values",
            "The inverse is the standard error of a combination of errors; a steep fall at the end "
            "says that poses of another kind are needed.",
            panels_figure(
                [Axes("singular value [1/m]", [_points("poses", order, sizes)], log_y=True)],
                "combination",
            ),
        ),
    ]


def _points(name: str, x: Any, y: Any) -> Line:
    """Return a curve of markers at the values above zero."""
    is_positive = np.isfinite(y) & (y > 0.0)
    return Line(name, np.asarray(x, dtype=float)[is_positive], y[is_positive], "markers")
