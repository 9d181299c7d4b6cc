"""The commands `train` and `evaluate`: words become settings, errors are one line."""

import json

import pytest
from console import console
from refusals import refused

from twin.cli.values import environment_options, settings_from

TRACKING = "twin/PoseTracking-v0"


def test_words_are_settings():
    words = ["a=1", "b=2e3", "c=[1, 2]", "d=word", 'e="1"', "f=null", "g=x=y"]
    wanted = {"a": 1, "b": 2000.0, "c": [1, 2], "d": "word", "e": "1", "f": None, "g": "x=y"}
    assert settings_from(words, "option") == wanted
    given = {"machine": "stewart", "configuration": None}
    assert environment_options(["preview=2"], **given) == {"preview": 2, "machine": "stewart"}


def test_other_words_are_refused():
    for words in (["a"], ["=1"], ["a=1", "a=2"]):
        with refused("option"):
            settings_from(words, "option")
    with refused("twice"):
        environment_options(["machine=srspm"], machine="stewart")


def test_evaluation_is_printed_and_written(tmp_path):
    arguments = ("evaluate", TRACKING, "--policy", "zero", "--policy", "cascade", "--jobs", 1)
    options = ("--machine", "stewart", "--configuration", "hardware", "--option", "duration=0.2")
    files = ("--json", tmp_path / "a.json", "--markdown", tmp_path / "a.md")
    result = console(
        *arguments, *options, *files, "--engine", "analytic", "--episodes", 2, "--seed", 5
    )
    assert "cascade" in result.output
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["options"]["duration"] == 0.2
    assert content["seeds"] == [5, 6]
    command, _, table, *_ = (tmp_path / "a.md").read_text().splitlines()
    assert command.endswith("` gives:") and table.startswith("| engine | policy |")


def test_differences_from_the_training_are_printed_above_the_table():
    arguments = ("--policy", "stewart_isolation", "--engine", "analytic", "--jobs", 1)
    options = ("--option", "acceleration=0.2", "--option", "max_episode_steps=20", "--episodes", 1)
    result = console("evaluate twin/VibrationIsolation-v0", *arguments, *options)
    head, _, below = " ".join(result.output.split()).partition("transmissibility")
    changed = "acceleration 0.2 (training: null), max_episode_steps 20 (training: 800)."
    assert f"stewart_isolation is not evaluated as it was trained: {changed}" in head
    assert "stewart_isolation" in below and "training" not in below


@pytest.mark.parametrize(
    ("command", "options", "word"),
    [
        ("evaluate", "--policy nobody", "nobody"),
        ("evaluate", "--option colour", "name=value"),
        ("evaluate", "--json a.txt", ".json"),
        ("evaluate", "--markdown a.txt", ".md"),
        ("evaluate", "--machine nothing", "nothing"),
        ("train", "--out run --steps inf", "steps"),
        ("train", "--out run --steps 0", "steps"),
        ("train", "--out run --hyperparameter gamma=0.9", "gamma"),
    ],
)
def test_faults_end_in_one_line(command, options, word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = "--policy zero --jobs 1 --episodes 1" if command == "evaluate" else ""
    result = console(f"{command} {TRACKING} {given} {options}", code=2)
    assert word in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
