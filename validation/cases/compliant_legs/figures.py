"""Figures of the compliant platform's cases."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.compliant_legs.responses.load_cases import LoadResponse, OccupantEffect
from twin.validation.results import Curve, Panel, Plot

FLOOR = 1e-12
"""[m], [rad] drawn for less, so that a logarithmic axis can show it."""


def settling_plot(time: FloatArray, away: FloatArray) -> Plot:
    """Return displacements `(k, 6)` from the pose where the platform comes to rest."""
    largest = [Curve("of all axes", time, np.maximum(np.abs(away).max(axis=1), FLOOR))]
    heights = (Curve("z", time, 1e3 * away[:, 2]),)
    panels = (
        Panel("height above the settled pose [mm]", *heights),
        Panel("distance from the settled pose [m, rad]", *largest, log_y=True),
    )
    caption = f"Distances below {FLOOR:g} are drawn there."
    return Plot("Settling under gravity, actuators locked", "time [s]", *panels, caption=caption)


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
                "markers",
            )
            for name, field in (
                ("settled", "quasi_static"),
                ("by the stiffness matrix", "linear"),
                ("peak of the step response", "peak"),
            )
        ]
        panels.append(Panel(label, *curves))
    caption = (
        "Cases 1 to 6: 100 N along x, y, z of the base, then of the platform; 7 to 12: 20 N m "
        "likewise. The step responses last 1 s."
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
