"""Figures that README and guides print: those of the report, and of the code above them."""

import re

import numpy as np
import pytest
from package_walk import ROOT

import twin
from handbook.docstrings import cells
from handbook.figures import (
    FIGURE,
    SOURCES,
    agree,
    machine_figures,
    readme_figures,
    wrong_figures,
)
from twin.analysis.tracking import TrackingErrors
from twin.control import make_controller
from twin.validation.cases.thesis import tank_motion
from twin.validation.cases.tracking import Excerpt

README = (ROOT / "README.md").read_text()
ACCURACY = (ROOT / "docs" / "engines.md").read_text()


def reported(name, figures):
    """Return cases of a report that has the figures of a machine."""
    cases = {}
    for figure, (case, (beginning, *_)) in zip(figures, SOURCES, strict=True):
        unit = "m" if "position" in beginning or "gap" in beginning else "1"
        own = cases.setdefault(
            case, {"machine": name, "case": case, "measures": [], "quantities": []}
        )
        entry = {"name": f"{beginning} in 0.3 s", "value": float(figure), "unit": unit}
        own["measures" if len(own["measures"]) < 2 else "quantities"].append(entry)
    return list(cases.values())


@pytest.mark.quick
def test_figures_of_pages_are_those_of_the_report():
    machines = machine_figures(ACCURACY)
    assert len(machines) == 6
    cases = [case for name in machines for case in reported(name, machines[name])]
    report = {"machines": [{"name": name} for name in machines], "cases": cases}
    assert not wrong_figures(report, ACCURACY, README)
    for case in cases[:3]:
        for entry in (*case["measures"], *case["quantities"]):
            entry["value"] *= 6.0
            found = wrong_figures(report, ACCURACY, README)
            assert len(found) == 2 and all(entry["name"] in text for text in found)
            entry["value"] /= 6.0
    assert not wrong_figures({**report, "cases": []}, ACCURACY, README)
    assert wrong_figures(report, ACCURACY, README.replace("7e-10 m", "")) != []


@pytest.mark.quick
def test_a_figure_is_a_rounded_value():
    for printed, value, same in (("0.110", 0.1104, True), ("0.110", 0.111, False)):
        assert agree(printed, value, rounding=False) is same
    assert agree("6e-8", 6.4e-8, rounding=False) and not agree("6e-8", 7e-8, rounding=False)
    assert agree("6e-15", 2e-15, rounding=True) and not agree("6e-15", 1e-15, rounding=True)


@pytest.mark.quick
def test_readme_prints_the_figures_of_the_page():
    """Those of the report, and the times of the other tables."""
    assert readme_figures(README) == machine_figures(ACCURACY)["stewart"]
    calls, times = (
        re.search(rf"^\| {title}.*?^(\| `stewart` .*?)$", ACCURACY, re.M | re.S)[1]
        for title in ("machine; one run", "machine; another run")
    )
    one_state, _, many_states = FIGURE.findall(calls)
    _, *steps, _ = FIGURE.findall(times)
    section = " ".join(README.partition("## How accurate")[2].partition("\n## ")[0].split())
    assert re.findall(r"([\d.]+)(?=(?:(?:, | and )[\d.]+)* µs)", section) == [
        one_state,
        many_states,
        *steps,
    ]


@pytest.mark.pages
@pytest.mark.slow
def test_the_tracking_table_has_the_errors_of_the_controllers(subtests):
    at_once = {"feedforward_start": 0.0, "feedforward_rise": 0.0}
    laws = {"cascade": at_once, "observer": at_once, "feedforward": {}, "computed_torque": {}}
    page = (ROOT / "docs" / "model_based_control.md").read_text()
    table = page.partition("| controller | ideal")[2].splitlines()
    for line, (name, options) in zip(table[2:6], laws.items(), strict=True):
        values = []
        for configuration in (None, "hardware"):
            platform = twin.load("stewart", configuration)
            motion = Excerpt(tank_motion(platform), begin=2.0, duration=1.22, fade_in=0.4)
            law = make_controller(name, platform, motion, **options)
            run = platform.simulate(1.2, controller=law, engine="mujoco", timestep=5e-4, every=2)
            position, rotation, _ = TrackingErrors(run).root_mean_square()
            legs = run.lengths - law.reference.coordinates[: len(run)]
            values += [position, rotation, np.sqrt(np.mean(legs**2))]
        for figure, value in zip(cells(line)[1:], values, strict=True):
            with subtests.test(f"{name}: {figure}"):
                assert agree(figure, 1e3 * value, rounding=False)
