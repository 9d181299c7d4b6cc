"""Training: it learns, leaves what it promises, and goes on after a kill."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.training import Policy, train

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
pytest.importorskip("tensorboard")
pytest.importorskip("matplotlib")

from stand_in import distance_under
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from widening import BALL, CURRICULUM, OPTIONS, check, watched

from twin.training import environments as metrics
from twin.training.checkpoints import checkpoint_folders
from twin.training.environments import make_environments
from twin.training.settings import make_law

POINTS = "stand_in:stand_in/Points-v0"
TESTS = Path(__file__).parents[1] / "support"
QUICK = {"rollout": 16, "batch": 64, "layers": [16], "log_deviation": -1.0}
QUICK_SAC = {"layers": [16], "start": 100, "updates": 1, "buffer": 2000}


@pytest.fixture(autouse=True)
def distance(monkeypatch):
    """Give the stand-in a metric."""
    metric = metrics.Metric("distance", "mm", "distance", 1e3)
    monkeypatch.setitem(metrics.ENVIRONMENT_METRICS, POINTS, (metric,))


def short(folder, steps=640, **options):
    """Train for a moment."""
    options = {"hyperparameters": QUICK, "envs": 8, "progress": False, **options}
    return train(POINTS, folder, steps=steps, **options)


def rows(folder):
    """Return the learning curve of a folder."""
    with (folder / "learning.csv").open(newline="") as file:
        return [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]


def logged(folder):
    """Return the numbers of a run of TensorBoard over the steps."""
    run = EventAccumulator(str(folder)).Reload()
    names = run.Tags()["scalars"]
    return {
        name: [(one.step, pytest.approx(one.value)) for one in run.Scalars(name)] for name in names
    }


def test_it_learns(tmp_path):
    training = short(tmp_path / "run", 6_000, options={"wind": 0.3}, seed=1)
    untrained = distance_under(lambda observation: np.zeros((64, 1)))
    assert distance_under(training.policy) < 0.5 * untrained
    curve = rows(tmp_path / "run")
    assert curve[-1]["distance [mm] 50 %"] < 0.7 * curve[0]["distance [mm] 50 %"]


def test_a_law_is_corrected_in_short_episodes(tmp_path):
    """Untrained, the policy is nearly the law; it carries the law along, and not the episodes."""
    name, folder = "twin/BallBalance-v0", tmp_path / "run"
    chosen = {"rollout": 32, "batch": 64, "layers": [16], "learning_rate": 1e-9, "episode": 30}
    training = train(
        name, folder, steps=64, algorithm="ppo", envs=2, hyperparameters=chosen, progress=False
    )
    policy = Policy.load(folder / "policy.npz")
    assert "max_episode_steps" not in policy.options
    assert [row["length 50 %"] for row in rows(folder)] == [30.0]
    env = make_environments(name, 2, {})
    seen = env.reset(seed=1)[0]
    law = make_law("balance_law", env)(seen)
    assert np.abs(law).max() > 0.1
    assert_within(policy(seen), law, 0.02)
    assert training.policy.origin.settings["hyperparameters"]["law"] == "balance_law"
    env.close()


def test_a_curriculum_widens_what_episodes_draw(tmp_path, monkeypatch):
    masses = watched(monkeypatch)
    chosen = QUICK | {"episode": 10, "curriculum": CURRICULUM}
    train(
        BALL, tmp_path / "run", steps=320, algorithm="ppo", envs=2, options=OPTIONS,
        hyperparameters=chosen, progress=False,
    )  # fmt: skip
    check(masses)


@pytest.mark.parametrize(("algorithm", "quick"), [("ppo", QUICK), ("sac", QUICK_SAC)])
def test_folder_holds_what_is_promised(algorithm, quick, tmp_path):
    folder = tmp_path / "run"
    training = short(
        folder, algorithm=algorithm, hyperparameters=quick, checkpoint_every=128, seed=4,
        command="twin train", options={"wind": 0.1},
    )  # fmt: skip
    assert training.finished
    assert training.steps >= 640
    content = json.loads((folder / "config.json").read_text())
    assert content["command"] == "twin train"
    assert content["settings"]["seed"] == 4
    assert content["settings"]["options"] == {"wind": 0.1}
    assert {"torch", "stable-baselines3", "gymnasium"} <= set(content["versions"])
    assert len(checkpoint_folders(folder)) == 2
    assert checkpoint_folders(folder)[-1].name == f"{training.steps:012d}"
    curve = rows(folder)
    found = logged(folder / "tensorboard" / "episodes")
    assert found["episodes/return 50 %"] == [(row["steps"], row["return 50 %"]) for row in curve]
    assert found.keys() == {f"episodes/{name}" for name in {*curve[0]} - {"steps"}}
    own = logged(folder / "tensorboard" / "run_1")
    assert any(name.startswith("train/") for name in own)
    assert (folder / "learning.png").read_bytes().startswith(b"\x89PNG")
    assert (checkpoint_folders(folder)[-1] / "replay.pkl").exists() == (algorithm == "sac")
    policy = Policy.load(folder / "policy.npz")
    assert policy.origin.seed == 4
    assert policy.origin.steps == training.steps
    assert not list((folder / "checkpoints").glob(".*"))


def test_same_seed_same_policy(tmp_path):
    first, same, other = (
        short(tmp_path / name, seed=seed).policy for name, seed in (("a", 3), ("b", 3), ("c", 5))
    )
    for a, b in zip(first.weights, same.weights, strict=True):
        assert_array_equal(a, b)
    assert not np.array_equal(other.weights[0], first.weights[0])


@pytest.mark.parametrize(("algorithm", "quick"), [("ppo", QUICK), ("sac", QUICK_SAC)])
def test_resumed_training_has_all_steps(algorithm, quick, tmp_path):
    """A checkpoint in the middle, as a killed process leaves it: the later one is taken away."""
    options = {"algorithm": algorithm, "hyperparameters": quick, "checkpoint_every": 256}
    folder = tmp_path / "run"
    short(folder, 768, **options)
    middle, last = checkpoint_folders(folder)
    steps = int(middle.name)
    shutil.rmtree(last)
    training = short(folder, 768, **options, resume=True)
    assert training.finished
    assert training.steps == int(last.name)
    found = [row["steps"] for row in rows(folder)]
    assert found == sorted(set(found))
    assert any(step <= steps for step in found)
    assert any(step > steps for step in found)
    # Nothing is left to do: the same again.
    again = short(folder, 768, **options, resume=True)
    assert again.steps == training.steps
    assert_array_equal(again.policy.weights[0], training.policy.weights[0])


def test_folders_of_other_trainings_are_refused(tmp_path):
    folder = tmp_path / "run"
    short(folder)
    with refused("holds a training"):
        short(folder)
    with refused("seed"):
        short(folder, seed=9, resume=True)
    (folder / "config.json").write_text("{}")
    with refused("configuration"):
        short(folder, resume=True)
    (tmp_path / "file").write_text("")
    with refused("out"):
        short(tmp_path / "file" / "run")


def test_bad_settings_are_refused(tmp_path):
    assert_all_refused(
        lambda options: short(tmp_path / "run", **options),
        [
            ({"algorithm": "dqn"}, "algorithm"),
            ({"envs": 0}, "envs"),
            ({"hyperparameters": {"discount": 2.0}}, "discount"),
            ({"unknown": 1}, "unknown"),
            ({"seed": -1}, "seed"),
            ({"options": {"storm": 1}}, "options"),
        ],
    )
    with refused("cannot make"):
        train("twin/Nothing-v0", tmp_path / "run", steps=10)
    assert not (tmp_path / "run").exists()


RUN = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from twin.training import train
train({POINTS!r}, sys.argv[1], steps=int(sys.argv[2]), envs=8, seed=2, resume=True,
      checkpoint_every=256, hyperparameters={QUICK!r}, progress=False)
"""


def started(folder, steps):
    """Start a training in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.Popen([sys.executable, "-c", RUN, str(folder), str(steps)], env=environment)


def wait_for_checkpoints(folder, process, count):
    """Wait until a training has written checkpoints beyond so many steps."""
    end = time.monotonic() + 120.0
    while time.monotonic() < end:
        found = checkpoint_folders(folder)
        if found and int(found[-1].name) >= count:
            return
        assert process.poll() is None, "it ended by itself"
        time.sleep(0.01)
    raise AssertionError("no checkpoint")


@pytest.mark.slow
def test_killed_training_goes_on_at_its_checkpoint(tmp_path):
    folder, steps = tmp_path / "run", 6_000
    process = started(folder, steps)
    try:
        wait_for_checkpoints(folder, process, 1000)
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    left = int(checkpoint_folders(folder)[-1].name)
    assert 1000 <= left < steps
    assert not (folder / "policy.npz").exists()
    process = started(folder, steps)
    assert process.wait() == 0
    assert steps <= int(checkpoint_folders(folder)[-1].name) < steps + 128
    found = [row["steps"] for row in rows(folder)]
    assert found == sorted(set(found))
    assert found[0] < 1000
    assert found[-1] >= steps
    assert Policy.load(folder / "policy.npz").origin.steps == int(found[-1])


@pytest.mark.slow
def test_interrupted_training_saves(tmp_path):
    folder = tmp_path / "run"
    process = started(folder, 10_000_000)
    try:
        wait_for_checkpoints(folder, process, 1000)
        before = int(checkpoint_folders(folder)[-1].name)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
    assert int(checkpoint_folders(folder)[-1].name) > before
    assert (folder / "policy.npz").exists()
    assert (folder / "learning.png").exists()
