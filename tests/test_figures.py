"""Figures that README and guides print: those of the report, and of the code above them."""

import re

import pytest
from package_walk import ROOT

from handbook.docstrings import cells
from handbook.figures import (
    FIGURE,
    SOURCES,
    agree,
    machine_figures,
    readme_figures,
    wrong_figures,
)

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
        for title in ("in one run", "in another run")
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
def test_the_tracking_table_is_printed_by_the_code_above_it(
    capsys,
):
    page = (ROOT / "docs" / "tracking.md").read_text()
    before, _, table = page.partition("| controller | ideal")
    blocks = re.findall(r"^```python\n(.*?)^```", before, re.M | re.S)
    exec("\n".join(blocks), {})
    printed = [line.split()[1:] for line in capsys.readouterr().out.splitlines()]
    rows = [cells(line)[1:] for line in table.splitlines()[2 : 2 + len(printed)]]
    assert len(rows) == 4
    for row, values in zip(rows, printed, strict=True):
        assert len(row) == len(values) == 6
        for figure, value in zip(row, values, strict=True):
            assert agree(figure, float(value), rounding=False), (row, values)
