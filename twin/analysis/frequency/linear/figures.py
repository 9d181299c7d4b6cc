"""Figures of the linearised machine: transmissibility, compliance; points of a root locus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray, as_floats
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError

AXES = ("x", "y", "z", "rx", "ry", "rz")


def response_figure(
    frequencies: Any, responses: Mapping[str, NDArray[np.complex128]], unit: str, title: str = ""
) -> Any:
    """Return a plotly figure of magnitude and phase over frequency, one curve per response.

    Args:
        frequencies: `(k,)` [Hz], above zero.
        responses: name to complex values `(k,)`.
        unit: of the magnitude.
        title: of the figure.

    Raises:
        InputError: no responses, or other lengths.
        MissingDependencyError: plotly is not installed.
    """
    grid = as_floats(frequencies, "frequencies")
    if not responses or any(np.shape(one) != grid.shape for one in responses.values()):
        raise InputError("responses", "must be one or more, as long as the frequencies")
    sizes, phases = [], []
    for name, one in responses.items():
        values = np.asarray(one)
        sizes.append(Line(name, grid, np.abs(values)))
        phases.append(Line(name, grid, np.degrees(np.unwrap(np.angle(values)))))
    panels = [Axes(f"magnitude [{unit}]", sizes, log_y=True), Axes("phase [deg]", phases)]
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)


def swinging(
    gains: FloatArray, poles: NDArray[np.complex128]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return gain, frequency [Hz] and damping ratio of all poles `(k, s)` that swing, flat."""
    found = (poles.imag > 1e-6 * np.abs(poles)) & (np.abs(poles) < 1e8)
    rows = np.broadcast_to(gains[:, None], poles.shape)[found]
    chosen = poles[found]
    return rows, np.abs(chosen) / (2.0 * np.pi), -chosen.real / np.abs(chosen)
