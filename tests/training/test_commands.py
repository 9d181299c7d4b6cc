"""The commands `train` and `evaluate`: words become settings, errors are one line."""

import json

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


def test_other_words_are_refused(subtests):
    for words in [["a"], ["=1"], ["a=1", "a=2"]]:
        with subtests.test(f"{words}"):
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
    assert content["options"] == {
        "machine": "stewart",
        "configuration": "hardware",
        "duration": 0.2,
    }
    assert content["seeds"] == [5, 6]
    command, _, table, *_ = (tmp_path / "a.md").read_text().splitlines()
    assert command.endswith("` gives:") and table.startswith("| engine | policy |")


def test_differences_from_the_training_are_printed_above_the_table():
    arguments = ("--policy", "stewart_isolation", "--engine", "analytic", "--jobs", 1)
    options = ("--option", "acceleration=0.2", "--option", "max_episode_steps=20", "--episodes", 1)
    result = console("evaluate", "twin/VibrationIsolation-v0", *arguments, *options)
    head, _, below = " ".join(result.output.split()).partition("transmissibility")
    changed = "acceleration 0.2 (training: null), max_episode_steps 20 (training: 800)."
    assert f"stewart_isolation is not evaluated as it was trained: {changed}" in head
    assert "stewart_isolation" in below and "training" not in below


def test_bad_evaluations_end_in_one_line(subtests):
    for arguments, word in [
        (("--policy", "nobody"), "nobody"),
        (("--policy", "zero", "--option", "colour"), "name=value"),
        (("--policy", "zero", "--json", "a.txt"), ".json"),
        (("--policy", "zero", "--markdown", "a.txt"), ".md"),
        (("--policy", "zero", "--machine", "nothing"), "nothing"),
    ]:
        with subtests.test(f"{arguments}"):
            result = console(
                "evaluate", TRACKING, "--jobs", "1", "--episodes", "1", *arguments, code=2
            )
            assert word in result.stderr
            assert len(result.stderr.strip().splitlines()) == 1


def test_numbers_of_steps_are_finite(subtests, tmp_path):
    for steps in ["inf", "nan", "0", "1e13"]:
        with subtests.test(f"{steps}"):
            result = console("train", TRACKING, "--out", tmp_path / "run", "--steps", steps, code=2)
            assert "steps" in result.output
            assert not (tmp_path / "run").exists()


def test_bad_trainings_end_in_one_line(tmp_path):
    result = console(
        "train", TRACKING, "--out", tmp_path / "run", "--hyperparameter", "gamma=0.9", code=2
    )
    assert "gamma" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()
