"""The commands `tune` and `frequency`."""

import json
import tomllib

import numpy as np
import pytest
from console import console

import twin.cli.frequency
import twin.cli.tune  # noqa: F401
from twin.analysis.frequency.measured import MeasuredResponse
from twin.analysis.frequency.response import FrequencyResponse, SweptSine
from twin.charts.results import cell_text
from twin.cli.tables.analysis import _figure_cells, response_results


def run(*arguments):
    """Return exit code and output of the console command."""
    result = console(*arguments, code=None)
    return result.exit_code, result.output


def test_tune_writes_gains_and_figure(tmp_path):
    out, plot = tmp_path / "gains.toml", tmp_path / "tuning.html"
    code, text = run("tune", "stewart", "--out", str(out), "--report", str(plot))
    assert code == 0, text
    assert "specification met" in text
    assert tomllib.loads(out.read_text())["control"]["position_gain"] == "5 1/s"
    assert "iteration 0" in plot.read_text()


def test_tune_ends_with_an_exit_code_where_nothing_is_found():
    code, text = run("tune", "stewart", "--carried", "--high", "10e3,0.008")
    assert code == 1, text
    assert "not met" in text


def test_frequency_writes_its_schema(tmp_path):
    file = tmp_path / "response.json"
    code, text = run(
        "frequency", "stewart", "--axis", "pitch", "--low", "20", "--duration", "2",
        "--timestep", "5e-4", "--json", str(file),
    )  # fmt: skip
    assert code == 0, text
    content = json.loads(file.read_text())
    assert content["direction"] == "pitch"
    assert "actuator 6" in text
    assert "not finite" not in text
    assert set(content["responses"]) == {"platform", *(f"actuator {k}" for k in range(1, 6))}
    for response in content["responses"].values():
        lists = ("frequency", "magnitude", "phase", "coherence", "deviation")
        assert len({len(response[key]) for key in lists}) == 1
        assert response["peak"] > 1.0


@pytest.mark.quick
def test_frequency_names_the_limit_that_lost_frequencies(subtests):
    for limit, text in [
        ("", "a higher --peak-speed may raise it"),
        ("acceleration", "limit of acceleration allows; --high below 20 Hz allows more"),
        ("force", "limit of force allows; sines one by one (--method stepped)"),
    ]:
        with subtests.test(f"{limit}"):
            lines = np.array([10.0, 20.0])
            response = FrequencyResponse(
                lines, np.ones(2, complex), np.array([0.9, 0.1]), np.ones(2)
            )
            names = ("stewart", "analytic", "cascade", "z", "m/s")
            excitation = SweptSine(10.0, 20.0, 1.0, 1.0)
            measured = MeasuredResponse(*names, excitation, response, {}, (), limit)
            assert text in " ".join(response_results(measured).findings)


def test_a_bandwidth_needs_trusted_points_around_it(subtests):
    for coherence, text in [
        ((1.0, 1.0, 1.0, 1.0), "16.33"),
        ((1.0, 1.0, 1.0, 0.1), "coherence lost at 20 Hz"),
        ((1.0, 1.0, 0.1, 1.0), "coherence lost at 15 Hz"),
    ]:
        with subtests.test(f"{coherence}"):
            decibels = np.array([0.0, 1.0, 0.0, -9.0 - 2.25])
            response = FrequencyResponse(
                np.array([5.0, 10.0, 15.0, 20.0]),
                10.0 ** (decibels / 20.0) + 0j,
                np.array(coherence),
                np.zeros(4),
            )
            assert cell_text(_figure_cells(response)[0]) == text
