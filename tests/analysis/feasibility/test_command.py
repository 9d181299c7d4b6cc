"""The command `feasible`: exit code, table, files and refused options."""

import json

import pytest
from console import console

from twin.machine.machine import parameters_path

pytestmark = pytest.mark.quick


def run(*arguments, command="feasible"):
    """Run a command in this process."""
    return console(command, *arguments, code=None)


@pytest.mark.seconds
def test_verdict_of_a_weak_machine(tmp_path):
    text = parameters_path("stewart").read_text().replace("force = 3073.0", "force = 10.0")
    file, record = tmp_path / "weak.toml", tmp_path / "verdict.json"
    file.write_text(text)
    shown = run(file, command="info").output
    assert "at rest at its range ends" in shown
    assert "30.8 times the 10 N that its actuator gives" in shown
    tracked = run(file, "--motion", "still", "--duration", 0.01, command="track").output
    assert tracked.startswith("stewart, at rest at home: not feasible")
    result = run(file, "--json", record)
    assert result.exit_code == 1
    assert max(map(len, result.output.splitlines())) <= max(100, len(f"wrote {record}"))
    found = json.loads(record.read_text())
    assert found["feasible"] is False
    assert found["margins"][0]["quantity"] == "force"
    assert found["margins"][0]["holds"] is False


@pytest.mark.slow
def test_verdict_of_a_motion_with_a_plot(tmp_path):
    page = tmp_path / "margins.html"
    result = run("stewart", "--motion", "sine", "--payload", "50,0,0,0.2", "--report", page)
    assert result.exit_code == 0
    assert "sine motion of 4 s with 50 kg: feasible" in result.output
    assert "Not given, so not judged: " in result.output
    text = page.read_text()
    assert "share of the limit" in text
    assert "legs 1 and 2" in text


def test_the_steady_motion_is_judged_and_a_fade_only_where_it_is_asked_for(tmp_path):
    heave = ("stewart", "--motion", "sine", "--amplitude", "90 mm", "--frequency", "0.25 Hz")
    speeds = []
    for k, options in enumerate([(), ("--duration", 40), ("--fade", "50 ms")]):
        result = run(*heave, *options, "--json", tmp_path / f"{k}.json")
        margins = json.loads((tmp_path / f"{k}.json").read_text())["margins"]
        speeds.append(next(m["required"] for m in margins if m["quantity"] == "speed"))
        assert ("rises over 0.05 s" in result.output) == ("--fade" in options)
    assert abs(speeds[1]) == pytest.approx(abs(speeds[0]), rel=1e-3)
    assert abs(speeds[2]) > 1.5 * abs(speeds[0])


def test_verdict_over_the_ranges():
    result = run("driving_simulator", "--range")
    assert result.exit_code == 0
    assert "at rest at its range ends" in result.output
