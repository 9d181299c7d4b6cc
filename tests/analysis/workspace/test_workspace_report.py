"""The whole analysis: its content, page and command."""

import json

import pytest
from refusals import refused
from tolerance import assert_within

import twin
from twin.analysis.workspace import analysis
from twin.analysis.workspace.analysis import workspace_content, workspace_results
from twin.charts.results import write_page
from twin.cli.payload import workspace
from twin.cli.values import json_content


@pytest.fixture(autouse=True)
def few_rays(monkeypatch, constants):
    """Keep the page as it is with less work in it."""
    plane, region = analysis.plane_map, analysis.region
    # A whole page takes a minute.
    monkeypatch.setattr(analysis, "region", lambda chart, levels: region(chart, (4, 6)))
    constants(analysis, SINGULAR_LEVEL=4)
    monkeypatch.setattr(
        analysis, "plane_map", lambda *given, **named: plane(*given, **named, points=9)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rss", "driving_simulator"])
def test_page_and_content(name, tmp_path):
    machine = twin.load(name)
    found = analysis.workspace_analysis(machine)
    content = workspace_content(found)
    assert json.dumps(json_content(content), allow_nan=False)
    assert content["machine"] == name and content["parameters"] == machine.hash
    assert set(content["ranges"]) == {one.axis for one in found.ranges}
    assert (content["orientation_workspace"] is None) == (machine.dof < 6)
    assert content["workspace"]["volume"] > 0.0
    results = workspace_results(found)
    names, values, _ = zip(*results.tables[0].rows, strict=True)
    assert len(names) == len(set(names))
    assert not any("nan" in str(value) or "not finite" in str(value) for value in values)
    page = write_page(results, tmp_path / "page.html").read_text()
    assert page.count("plotly-graph-div") >= len(results.figures) == (3 if machine.dof == 6 else 2)
    assert all(name in page for name in names[:3])
    assert 'src="http' not in page


def test_command(tmp_path, capsys):
    out = tmp_path / "found.json"
    workspace("driving_simulator", stiffness=1e6, json=out)
    printed = capsys.readouterr().out
    assert "roll, others held" in printed and f"wrote {out}" in printed
    content = json.loads(out.read_text())
    assert content["stiffness"]["source"] == "given"
    assert_within(content["ranges"]["z"]["span"], [-0.05, 0.05], 1e-9)
    with refused("pose"):
        workspace("stewart", pose="0,0,3,1,0,0,0")
