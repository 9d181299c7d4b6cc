"""The command `sweep`: inline and from a file, resumed, and told what went wrong."""

import json

from console import console

from twin.cli.sweep import default_folder, described
from twin.machine.machine import parameters_path
from twin.sweep import read_results

SHORT = ("--field", "motion.duration=0.06", "--field", "fidelity=fast", "--backend", "serial")

FILE = """
machine = "srspm"
fidelity = "fast"
controllers = ["cascade", "feedforward"]
[motion]
duration = 0.06
[parameters]
platform.body.mass = "1:2:2"
"""


def test_inline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = (
        *("sweep", "srspm", "--set", "platform.body.mass=1:2:2", "--seeds", 2),
        *("--controller", "cascade", "--controller", "computed torque", *SHORT),
    )
    result = console(*words, "--json", "rows.json")
    assert "computed_torque" in result.output
    (folder,) = tmp_path.glob("sweep-srspm-*")
    table = read_results(folder)
    assert table.num_rows == 8
    content = json.loads((tmp_path / "rows.json").read_text())
    assert content["runs"] == table.to_pylist()
    assert content["sweep"]["machine"] == "srspm"
    console(*words)
    assert len(list(tmp_path.glob("sweep-srspm-*"))) == 1
    console(*words, "--new", code=2)


def test_from_a_file(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(FILE)
    console("sweep", file, "--out", tmp_path / "out", "--backend", "serial")
    assert read_results(tmp_path / "out").num_rows == 4
    changed = console(
        "sweep", file, "--out", tmp_path / "out", "--seeds", 2, "--backend", "serial", code=2
    )
    assert "another sweep" in changed.stderr


def test_the_command_line_goes_before_the_file(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(FILE)
    sweep = described(str(file), ["gravity=1,9"], {"motion.axis": "x", "seeds": 3})
    assert (sweep.motion.axis, sweep.motion.duration) == ("x", 0.06)
    assert list(sweep.parameters) == ["platform.body.mass", "gravity"]
    assert sweep.seeds == (0, 1, 2)
    assert described("srspm", ["gravity=1:9"], {"samples": 5}).samples == 5
    assert default_folder(sweep) != default_folder(described(str(file), [], {}))


def test_failed_runs_are_told(tmp_path):
    """Of a machine of one's own, which is no file of a sweep."""
    words = ("sweep", parameters_path("srspm"), "--set", "platform.body.mass=-1,1", *SHORT)
    result = console(*words, "--out", tmp_path / "out", code=1)
    assert "run 0 error: InputError" in result.output


def test_wrong_words_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "sweep.toml"
    file.write_text('machine = "srspm"\nmotion = 3\nparameters = 3\n')
    for words, told in (
        (("absent.toml",), "cannot be read"),
        (("srspm", "--set", "gravity"), "leg.drive.delay"),
        (("srspm", "--address", "auto"), "Ray"),
        ((file, "--field", "motion.axis=z"), "motion: must be a table"),
        ((file, "--set", "gravity=9"), "parameters: must be a table"),
    ):
        result = console("sweep", *words, code=2)
        assert result.stderr.startswith("twin: ")
        assert told in result.stderr
        assert list(tmp_path.iterdir()) == [file]
