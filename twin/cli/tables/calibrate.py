"""Tables of a calibration and of a plan of poses."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.calibration import Calibration, PoseErrors
from twin.calibration.pose_plan import Plan
from twin.charts.text import number
from twin.cli.console import Column, paragraph, table
from twin.errors import listed
from twin.model.machine_model import MachineModel

LISTED = 8
"""Combinations that are named at most."""

FRAMES = {
    "both": "The frames of tracker and target are unknown",
    "tracker": "The frame of the tracker is unknown",
    "target": "The frame of the target is unknown",
    "known": "Both frames are known",
}


def print_calibration(found: Calibration) -> None:
    """Print errors before and after, errors of joints, and what the poses do not show."""
    errors, poses = found.errors_of(found.checked), len(found.used)
    title = f"{found.machine.name}: {poses} poses fitted, errors of {len(found.checked)} "
    title += "poses kept apart" if len(found.apart) else "of the same poses: none is kept apart"
    columns = [Column("error of"), *(Column(name, True) for name in ("mean", "95 %", "largest"))]
    rows = [
        (f"{part}, {when}", *_statistics(1e6 * getattr(each, part)), unit)
        for part, unit in (("position", "um"), ("angle", "urad"))
        for when, each in zip(("before", "after"), errors, strict=True)
    ]
    table([*columns, Column("unit")], rows, title)
    _print_joints(found)
    _print_findings(found)


def _print_joints(found: Calibration) -> None:
    """Print the errors of every leg with their standard errors."""
    names = [name.replace("joint ", "") for name in found.model.errors.names]
    rows = [
        (f"{leg}", *(_cell(*pair) for pair in zip(values, deviations, strict=True)))
        for leg, (values, deviations) in enumerate(
            zip(1e6 * found.errors, 1e6 * found.standard_errors, strict=True), start=1
        )
    ]
    table(
        [Column("leg"), *(Column(name, True) for name in names)],
        rows,
        "errors and standard errors in um, of angles in urad; offsets are added to coordinates",
    )


def _print_findings(found: Calibration) -> None:
    """Print what is fixed, what the poses do not show, what does not fit, and the indices."""
    after = found.after
    paragraph(
        f"{FRAMES[found.frames_free]}: {found.gauge.free} directions of the errors are shown by no "
        "measurement and fixed, so that joints lie as near to the file's as they can. Of "
        f"{len(after.sizes)} others, frames included, the poses show {after.rank}."
    )
    source = "held at the file's value" if found.tolerance is None else "from the tolerance"
    unseen = found.unseen
    for text in unseen[:LISTED]:
        paragraph(f"{text} ({source})", "not shown: ")
    if len(unseen) > LISTED:
        paragraph(f"{len(unseen) - LISTED} more combinations ({source})", "not shown: ")
    poses = [(found.left_out, "left out"), (found.used.kept(after.wrong), "try --robust")]
    for these, remedy in poses:
        if len(these):
            numbers = listed(f"{value:.9g}" for value in these.numbers)
            paragraph(f"Wrong beyond noise ({remedy}): the poses at {numbers}.")
    if found.implausible:
        paragraph("Joints are far from the file's: check units, frames and the order of legs.")
    if after.noisy:
        paragraph(
            f"Residuals are {np.sqrt(after.ratio):.3g} times the stated noise, and the standard "
            "errors are raised by that: noise is larger, or something else than joints is wrong."
        )
    _print_expected(found.expected, "Expected error of the calibrated machine")
    _print_indices(found.observability, "Observability of the poses")


def print_plan(found: Plan, machine: MachineModel) -> None:
    """Print the proposed poses, what they will show, and what as many random ones would."""
    unit = machine.coordinate_unit
    columns = [Column("pose", True)]
    columns += [Column(f"leg {leg + 1} [{unit}]", True) for leg in range(machine.n_actuators)]
    rows = [
        (f"{number}", *(f"{value:.5f}" for value in row))
        for number, row in enumerate(found.coordinates, start=1)
    ]
    table(columns, rows, f"{machine.name}: {len(rows)} poses inside all limits")
    largest = 1e6 * float(found.standard_errors.max())
    _print_expected(found.expected, "Expected error after a calibration by them")
    paragraph(f"Largest standard error of a joint or offset: {largest:.3g} um or urad.")
    _print_indices(found.observability, "Observability of the poses")
    _print_indices(found.random, "Of as many poses at random")


def _print_expected(errors: PoseErrors, title: str) -> None:
    position, angle = (1e6 * np.sqrt(np.mean(each**2)) for each in errors)
    paragraph(f"{title}, root mean square over the workspace: {position:.3g} um, {angle:.3g} urad.")


def _print_indices(indices: dict[str, float], title: str) -> None:
    values = ", ".join(f"{name} {value:.3g}" for name, value in indices.items())
    paragraph(f"{title}: {values}.")


def _statistics(values: FloatArray) -> tuple[str, str, str]:
    """Return mean, 95 % quantile and largest of values, without NaN."""
    values = values[np.isfinite(values)]
    if not len(values):
        return "-", "-", "-"
    found = values.mean(), np.quantile(values, 0.95), values.max()
    mean, most, largest = (number(float(value), 3) for value in found)
    return mean, most, largest


def _cell(value: float, deviation: float) -> str:
    return f"{value:.0f} +- {deviation:.0f}" if np.isfinite(deviation) else "not shown"
