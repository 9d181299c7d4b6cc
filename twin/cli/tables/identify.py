"""Tables of an identification: parameters old and new, and fits."""

from __future__ import annotations

from twin.charts.text import number
from twin.cli.console import Column, line, paragraph, table
from twin.identification.result.identification import Identification


def print_identification(found: Identification) -> None:
    """Print estimates beside the values of the file, fits, and what the logs do not show."""
    columns = (
        Column("parameter"),
        Column("file", True),
        Column("identified", True),
        Column("95 %", True),
        Column("unit"),
    )
    half = found.margins * found.standard_errors
    rows = [
        (
            parameter.path,
            number(parameter.nominal, 5),
            number(value),
            f"+- {number(width, 2)}",
            parameter.unit,
        )
        for parameter, value, width in zip(found.parameters, found.values, half, strict=True)
    ]
    table(columns, rows, found.summary)
    unit = f"u{found.platform.coordinate_unit}"
    fits = [
        (fit.part, str(fit.windows), number(1e6 * fit.before, 4), number(1e6 * fit.after, 4), unit)
        for fit in found.fits
    ]
    titles = (Column("windows"), Column("count", True), Column("file", True))
    table((*titles, Column("identified", True), Column("unit")), fits, "prediction errors, rms")
    for note in found.notes:
        paragraph(f"Note: {note}.")
    if found.held:
        line(f"held: {', '.join(parameter.path for parameter in found.held)}")
