"""Figures of the compliant platform's cases."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.responses.load_cases import LoadResponse, OccupantEffect
from twin.validation.results import Curve, Panel, Plot


def settling_plot(time: FloatArray, away: FloatArray) -> Plot:
    """Return displacements `(k, 6)` from the pose where the platform comes to rest."""
    largest = [Curve("of all axes", time, np.maximum(np.abs(away).max(axis=1), 1e-12))]
    heights = (Curve("z", time, 1e3 * away[:, 2]),)
    panels = (
        Panel("height above the settled pose [mm]", *heights),
        Panel("distance from the settled pose [m, rad]", *largest, log_y=True),
    )
    return Plot("Settling under gravity, actuators locked", "time [s]", *panels)


def loads_plot(responses: tuple[LoadResponse, ...]) -> Plot:
    """Return settled and largest displacements of all load cases."""
    number = np.arange(1.0, len(responses) + 1.0)
    panels = []
    for label, columns, scale in (
        ("translation [mm]", slice(0, 3), 1e3),
        ("rotation [mrad]", slice(3, 6), 1e3),
    ):
        curves = [
            Curve(
                name,
                number,
                scale
                * np.array([np.linalg.norm(getattr(one, field)[columns]) for one in responses]),
                "line+markers" if field == "quasi_static" else "markers",
            )
            for name, field in (
                ("settled", "quasi_static"),
                ("by the stiffness matrix", "linear"),
                ("peak of the step response", "peak"),
            )
        ]
        panels.append(Panel(label, *curves))
    caption = (
        "100 N, then 20 N m; in each three axes of the base, then three of the platform. The step "
        "responses last 1 s."
    )
    return Plot("Load cases", "load case", *panels, caption=caption)


def modes_plot(seated: tuple[OccupantEffect, ...]) -> Plot:
    """Return natural frequencies with different occupants."""
    number = np.arange(1.0, 7.0)
    curves = [
        Curve(effect.name, number, effect.modes.frequencies, "line+markers") for effect in seated
    ]
    panel = Panel("natural frequency [Hz]", *curves)
    return Plot("Modes with and without an occupant", "mode", panel)
