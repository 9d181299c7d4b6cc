"""Figures of the driving simulator's studies show the data they are given."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from paper_plate import PLATE

from twin.errors import InputError, MissingDependencyError
from twin.papers.driving_simulator.closed_forms import ExactKinematics
from twin.papers.driving_simulator.dae.integration import integrate_dae
from twin.papers.driving_simulator.exact.friction import SlidingFriction
from twin.papers.driving_simulator.inputs import sigmoid_inputs
from twin.papers.driving_simulator.studies.envelope import translational_envelope
from twin.papers.driving_simulator.studies.error_map import small_angle_errors
from twin.papers.driving_simulator.studies.figures import (
    QUANTITIES,
    envelope_figure,
    error_figure,
    forces_figure,
    friction_figure,
    run_figure,
)
from twin.papers.driving_simulator.studies.foot_friction import friction_effect
from twin.papers.driving_simulator.studies.printed_energy import model_forces

# Panels hold float32: seven digits.
SINGLE = {"rtol": 3e-7, "atol": 1e-9}


@pytest.fixture(scope="module")
def grid() -> Any:
    """A small map."""
    return small_angle_errors(PLATE, 9)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_error_figure_shows_one_height_of_the_map(grid: Any, quantity: str) -> None:
    figure = error_figure(grid, quantity, heave=0.3549)
    (shown,) = figure.data
    assert shown.colorbar.title.text == QUANTITIES[quantity]
    np.testing.assert_allclose(np.asarray(shown.x, dtype=float), np.degrees(grid.pitch))
    np.testing.assert_allclose(np.asarray(shown.y, dtype=float), np.degrees(grid.roll))
    values = np.asarray(shown.z, dtype=float)
    inside = np.isfinite(grid.lengths[4, :, :, 0])
    np.testing.assert_array_equal(np.isfinite(values), inside)
    signed = {"heave": 0, "roll": 1, "pitch": 2}
    if quantity in signed:
        scale = 1e3 if quantity == "heave" else np.degrees(1.0)
        expected = scale * grid.coordinates[4, ..., signed[quantity]]
        np.testing.assert_allclose(values, expected)
    assert np.nanmax(np.abs(values)) <= shown.zmax
    assert shown.zmin in (0.0, -shown.zmax)


def test_error_figure_takes_the_nearest_height(grid: Any) -> None:
    title = error_figure(grid, "length", heave=0.3549 + 0.007).layout.title.text
    assert f"{grid.heave[5]:.4g} m" in title
    assert f"{grid.heave[4]:.4g} m" in error_figure(grid).layout.title.text
    with pytest.raises(InputError, match="quantity"):
        error_figure(grid, "charm")
    with pytest.raises(InputError, match="heave"):
        error_figure(grid, heave="high")


def test_envelope_figure_shows_the_surface_in_millimetres() -> None:
    envelope = translational_envelope(ExactKinematics(PLATE), 3)
    (mesh,) = envelope_figure(envelope).data
    places = np.stack([np.asarray(part, dtype=float) for part in (mesh.x, mesh.y, mesh.z)], axis=1)
    np.testing.assert_allclose(places, 1e3 * envelope.center)
    triangles = np.stack([np.asarray(part) for part in (mesh.i, mesh.j, mesh.k)], axis=1)
    np.testing.assert_array_equal(triangles, envelope.triangles)


def test_run_figure_shows_the_motion() -> None:
    run = integrate_dae(PLATE, sigmoid_inputs(PLATE), 2.0, samples=51)
    lines = {line.name: np.asarray(line.y, dtype=float) for line in run_figure(run).data}
    np.testing.assert_allclose(lines["heave"], 1e3 * run.coordinates[:, 0], **SINGLE)
    np.testing.assert_allclose(lines["pitch"], np.degrees(run.coordinates[:, 2]), **SINGLE)
    np.testing.assert_allclose(lines["rear left"], run.forces[:, 1], **SINGLE)
    drift = run.position_drift[1:]
    np.testing.assert_allclose(lines["constraints"][1:][drift > 0], drift[drift > 0], rtol=1e-6)


def test_friction_and_force_figures_show_all_curves() -> None:
    effect = friction_effect(PLATE, sigmoid_inputs(PLATE), 2.0, SlidingFriction(200.0), samples=51)
    names = [line.name for line in friction_figure(effect).data]
    assert len(names) == 9
    assert names[-1] == "all feet"
    forces = model_forces(PLATE, sigmoid_inputs(PLATE), 2.0, 21)
    figure = forces_figure(forces)
    assert len(figure.data) == 9
    np.testing.assert_allclose(
        np.asarray(figure.data[3].y, dtype=float), forces.exact[:, 1], **SINGLE
    )


def test_missing_plotly_names_the_install_command(
    grid: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(MissingDependencyError, match=r"pip install platform-twin\[report\]"):
        error_figure(grid)
    with pytest.raises(MissingDependencyError):
        envelope_figure(translational_envelope(ExactKinematics(PLATE), 2))
