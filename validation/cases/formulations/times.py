"""Computing times of the formulations: tables 5 and 6 and figure 10 of the paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from twin.basics.arrays import FloatArray
from twin.validation.cases.formulations.runs import PRINTED
from twin.validation.results import Curve, Panel, Plot, Table

QUANTILES = {"fastest": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}


def box_plot(times: Mapping[str, FloatArray]) -> Plot:
    """Return figure 10: the quartiles of the run times, one place of the x axis per formulation."""
    place = np.arange(1.0, len(times) + 1.0)
    curves = [
        Curve(
            name,
            place,
            np.array([np.quantile(values, part) for values in times.values()]),
            "markers",
        )
        for name, part in QUANTILES.items()
    ]
    printed = np.array([PRINTED[name].compiled for name in times])
    panel = Panel(
        "run time per real time",
        *curves,
        Curve("printed, C++", place, printed, "markers"),
        log_y=True,
    )
    names = [PRINTED[name].title for name in times]
    title = "Run times of the formulations (figure 10)"
    return Plot(title, "formulation", panel, names=names)


def time_table(times: Mapping[str, FloatArray]) -> Table:
    """Return tables 5 and 6 beside our times."""
    base = float(np.median(times["extended_to_task"]))
    rows = tuple(
        (
            PRINTED[name].title,
            f"{PRINTED[name].mathematica:g}",
            f"{PRINTED[name].compiled:g}",
            *(f"{np.quantile(values, part):.4f}" for part in QUANTILES.values()),
            f"{np.median(values) / base:.2f}",
        )
        for name, values in times.items()
    )
    columns = ("table 5, Mathematica", "table 6, C++", *QUANTILES, "per extended-to-task")
    caption = "Seconds per simulated second, of one processor, here and now."
    return Table("Run times per real time", ("formulation", *columns), rows, caption)
