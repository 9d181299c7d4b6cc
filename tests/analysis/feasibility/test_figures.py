"""Figures of the analyses show what was computed."""

from __future__ import annotations

import numpy as np
import pytest

import twin
from twin.analysis.feasibility.actuators import motor_requirement, requirement_figure
from twin.analysis.feasibility.course import Mobility
from twin.analysis.feasibility.joint_angles import required_stroke, stroke_figure
from twin.analysis.stiffness import sag_figure, sag_over_stiffness
from twin.errors import InputError
from twin.motion import StepMotion

pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def task(stewart: twin.Platform) -> StepMotion:
    return StepMotion(stewart.home, displacement={"z": 0.05}, rise=0.5, duration=0.5)


def test_profiles_with_their_peaks(stewart: twin.Platform, task: StepMotion) -> None:
    found = motor_requirement(stewart, task)
    figure = requirement_figure(stewart, found)
    assert len(figure.data) == 3 * (6 + 1)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    for mark, peak, unit in zip(
        marks,
        (found.peak_force, found.peak_speed, found.peak_power),
        ("N", "m/s", "W"),
        strict=True,
    ):
        assert mark.y[0] == pytest.approx(peak.value, rel=1e-6)
        assert mark.x[0] == pytest.approx(peak.time, abs=1e-6)
        assert f"{peak.value:.4g} {unit}" in mark.name
    with pytest.raises(InputError, match="requirement"):
        requirement_figure(stewart, found.forces)  # type: ignore[arg-type]


def test_cranks_have_torques() -> None:
    machine = twin.load("rss")
    motion = StepMotion(machine.home, displacement={"z": 0.01}, rise=0.5, duration=0.5)
    figure = requirement_figure(machine, motor_requirement(machine, motion))
    labels = [figure.layout[f"yaxis{k}"].title.text for k in ("", "2", "3")]
    assert labels == ["torque [N m]", "speed [rad/s]", "power [W]"]


def test_sag_over_stiffness(stewart: twin.Platform) -> None:
    sweep = sag_over_stiffness(stewart, [1.0, 10.0], stiffness=1e5)
    figure = sag_figure(sweep, "stiffness times")
    exact = next(trace for trace in figure.data if trace.name == "exact")
    sizes = [np.linalg.norm(one.exact[:3]) for one in sweep.sags]
    np.testing.assert_allclose(exact.y, sizes, rtol=1e-6)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_bars_of_the_stroke(stewart: twin.Platform) -> None:
    required = required_stroke(stewart, Mobility.about(stewart.home, {"z": (-0.02, 0.03)}))
    has, needs = stroke_figure(stewart, required).data
    for bars, low, high in (
        (has, stewart.minimum_coordinates, stewart.maximum_coordinates),
        (needs, required.minimum, required.maximum),
    ):
        np.testing.assert_allclose(np.array(bars.base, dtype=float), low, rtol=1e-12)
        np.testing.assert_allclose(np.array(bars.y, dtype=float), high - low, rtol=1e-12)
    with pytest.raises(InputError, match="actuators"):
        stroke_figure(twin.load("driving_simulator"), required)
