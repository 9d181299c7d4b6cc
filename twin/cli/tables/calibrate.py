"""Tables of a calibration and of a plan of poses."""

from __future__ import annotations

import numpy as np

from twin.calibration import Calibration, PoseErrors
from twin.calibration.pose_plan import Plan
from twin.calibration.report import error_rows, findings
from twin.cli.console import Column, paragraph, table
from twin.model.machine_model import MachineModel


def print_calibration(found: Calibration) -> None:
    """Print errors before and after, errors of joints, and what the poses do not show."""
    poses = len(found.used)
    title = f"{found.machine.name}: {poses} poses fitted, errors of {len(found.checked)} "
    title += "poses kept apart" if len(found.apart) else "of the same poses: none is kept apart"
    columns = [Column("error of"), *(Column(name, True) for name in ("mean", "95 %", "largest"))]
    table([*columns, Column("unit")], error_rows(found), title)
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
    """Print fixed errors, those that the poses do not show, poor fits, and the indices."""
    for text in findings(found):
        paragraph(text)
    _print_expected(found.expected, "Expected error of the calibrated machine")
    _print_indices(found.observability, "Observability of the poses")


def print_plan(found: Plan, machine: MachineModel) -> None:
    """Print the proposed poses, the expected accuracy, and that of as many random poses."""
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
    position, angle = (1e6 * np.sqrt(np.mean(error**2)) for error in errors)
    paragraph(f"{title}, root mean square over the workspace: {position:.3g} um, {angle:.3g} urad.")


def _print_indices(indices: dict[str, float], title: str) -> None:
    values = ", ".join(f"{name} {value:.3g}" for name, value in indices.items())
    paragraph(f"{title}: {values}.")


def _cell(value: float, deviation: float) -> str:
    return f"{value:.0f} +- {deviation:.0f}" if np.isfinite(deviation) else "not shown"
