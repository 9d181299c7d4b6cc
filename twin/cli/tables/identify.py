"""Tables of an identification: base parameters, parameters old and new, and fits."""

from __future__ import annotations

from collections.abc import Sequence

from twin.basics.arrays import FloatArray
from twin.charts.panels import number
from twin.cli.console import Column, line, paragraph, table
from twin.identification.result.identification import Fit, ForceStage, Identification
from twin.identification.result.predictions import base_rows, mapping_lines


def print_identification(found: Identification) -> None:
    """Print estimates next to the values of the file, fits, and what the logs do not show."""
    if found.forces is not None:
        _print_forces(found, found.forces)
    half_widths = found.margins * found.standard_errors
    rows = [
        (
            parameter.path,
            number(parameter.nominal, 5),
            number(value),
            f"+- {number(half_width, 2)}",
            parameter.unit,
        )
        for parameter, value, half_width in zip(
            found.parameters, found.values, half_widths, strict=True
        )
    ]
    table(_columns("parameter", "file", "identified", "95 %"), rows, found.summary)
    _print_at_legs(found, half_widths)
    if found.errors is not None:
        _print_fits(found.fits, "windows", *found.unit, "prediction errors, rms")
    for note in found.notes:
        paragraph(f"Note: {note}.")
    if found.held:
        line(f"held: {', '.join(parameter.path for parameter in found.held)}")


RATIO_POWERS = {"friction_torque": 1, "viscous_torque": 2, "armature_inertia": 2}
"""Parameters of a motor's rotation -> power of the transmission ratio in their value at the leg or
crank."""


def _print_at_legs(found: Identification, half: FloatArray) -> None:
    """Print friction and inertia of motors as legs or cranks see them; `half` widths `(p,)`."""
    legs, rows = found.platform.parameters.legs, []
    force_unit, coordinate_unit = found.platform.force_unit, found.platform.coordinate_unit
    units = {"friction_torque": force_unit, "viscous_torque": f"{force_unit} s/{coordinate_unit}"}
    for parameter, value, half_width in zip(found.parameters, found.values, half, strict=True):
        *_, table_name, name = ("", *parameter.path.split("."))
        ratio = getattr(legs[parameter.leg or 0].drive, "ratio", None)
        if table_name != "drive" or name not in RATIO_POWERS or ratio is None:
            continue
        scale = float(ratio) ** RATIO_POWERS[name]
        numbers = number(scale * parameter.nominal, 5), number(scale * value)
        leg_unit = units.get(name, "kg" if coordinate_unit == "m" else "kg m2")
        rows.append((parameter.path, *numbers, f"+- {number(scale * half_width, 2)}", leg_unit))
    if rows:
        leg_name = "leg" if coordinate_unit == "m" else "crank"
        table(_columns("at the " + leg_name, "file", "identified", "95 %"), rows)


def _print_forces(found: Identification, stage: ForceStage) -> None:
    """Print base parameters, errors of the forces, and how to correct their signal."""
    rows = [
        (label, number(nominal, 5), number(estimate), f"+- {number(error, 2)}", unit)
        for label, nominal, estimate, error, unit in base_rows(stage.base)
    ]
    title = f"base parameters from {stage.signal}, without priors; scale and tilts as estimated"
    table(_columns("combination", "file", "estimate", "standard error"), rows, title)
    _print_fits(stage.fits, "samples", 1.0, found.platform.force_unit, "errors of the forces, rms")
    paragraph("Lines of a mapping file that correct the signal:")
    for text in mapping_lines(found.platform, stage):
        line(f"  {text}")


def _print_fits(fits: Sequence[Fit], what: str, scale: float, unit: str, title: str) -> None:
    rows = [
        (
            fit.part,
            str(fit.windows),
            number(scale * fit.before, 4),
            number(scale * fit.after, 4),
            unit,
        )
        for fit in fits
    ]
    table(_columns(what, "count", "file", "identified"), rows, title)


def _columns(first: str, *numbers: str) -> tuple[Column, ...]:
    """Return the columns of a table: one of texts, some of numbers, and their unit."""
    return (Column(first), *(Column(name, True) for name in numbers), Column("unit"))
