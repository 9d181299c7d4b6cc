"""Figures of the analyses show what was computed."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from twin.analysis.stiffness import sag_figure, sag_over_stiffness

pytest.importorskip("plotly")


def test_sag_over_stiffness(stewart: twin.Platform) -> None:
    sweep = sag_over_stiffness(stewart, [1.0, 10.0], stiffness=1e5)
    figure = sag_figure(sweep, "stiffness times")
    exact = next(trace for trace in figure.data if trace.name == "exact")
    sizes = [np.linalg.norm(one.exact[:3]) for one in sweep.sags]
    np.testing.assert_allclose(exact.y, sizes, rtol=1e-6)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
