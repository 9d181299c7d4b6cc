"""A sketch of a machine at home in millimetres, with its main dimensions: plan and side view."""

from __future__ import annotations

from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray

VIEWS = {"seen from above": (0, 1), "seen along y": (0, 2)}
"""Title of a view -> axes of the base frame that go right and up."""

matplotlib.style.use(Path(__file__).resolve().parents[2] / "examples" / "plots.mplstyle")


def dimensions_figure(platform: Platform) -> Figure:
    """Return both views; the legs are numbered as in arrays."""
    legs = leg_joints(platform)
    base, top = (np.array([leg[end] for leg in legs]) for end in (0, -1))
    figure = Figure(figsize=(9.0, 4.4))
    for axes, (title, view) in zip(figure.subplots(1, 2), VIEWS.items(), strict=True):
        for leg in legs:
            axes.plot(*leg[:, view].T, "o-", color="#0067b1", markersize=4)
        outline = _outline(top)[:, view]
        axes.fill(*outline.T, facecolor="#1b273318", edgecolor="#566370")
        axes.set(title=title, xlabel="x [mm]", ylabel=f"{'xyz'[view[1]]} [mm]")
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.12)
    for number, foot in enumerate(base, start=1):
        figure.axes[0].annotate(
            str(number), foot[:2], (4, 4), textcoords="offset points", weight="bold"
        )
    width, depth, _ = np.ptp(base, axis=0)
    height = abs(float(top[:, 2].mean() - base[:, 2].mean()))
    figure.suptitle(
        f"base {width:.4g} x {depth:.4g} mm, platform {np.ptp(top[:, 0]):.4g} x "
        f"{np.ptp(top[:, 1]):.4g} mm, height {height:.4g} mm, between joint centres",
        fontsize=11,
    )
    return figure


def leg_joints(platform: Platform) -> list[FloatArray]:
    """Return the joints that each leg goes through at home, from the base up `(m, 3)` [mm]."""
    parameters = platform.parameters
    lines = [
        leg.home_lines(geometry)
        for leg, geometry in zip(parameters.legs, parameters.home_leg_geometry, strict=True)
    ]
    return [1e3 * np.stack([leg[0][0], *(start + along for start, along in leg)]) for leg in lines]


def _outline(top: FloatArray) -> FloatArray:
    """Return the platform's joints `(n, 3)` in the order of their angle about the centre."""
    across = top - top.mean(axis=0)
    return top[np.argsort(np.arctan2(across[:, 1], across[:, 0]))]
