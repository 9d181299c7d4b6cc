"""The command `record`."""

import importlib
import re

import numpy as np
import pytest
from console import console
from numpy.testing import assert_array_equal
from refusals import refused

from twin.datasets import episode_log
from twin.datasets.record import EXPERT_ACTORS
from twin.envs import environment_ids
from twin.logs import read_log
from twin.logs.log import POSE_UNITS
from twin.training.evaluation import TRACKING_ENVIRONMENT

minari = pytest.importorskip("minari")
importlib.import_module("twin.cli.record")


def test_record(datasets, tmp_path):
    words = "record twin/PoseTracking-v0 --policy cascade --episodes 2 --seed 3"
    words += " --configuration hardware --dataset test/cascade-v0"
    words += " --option residual=false --option max_episode_steps=20"
    words += f" --first-episode {tmp_path / 'run.csv'}"
    run = console(*words.split())
    assert re.search(r"cascade +cascade +2 +40 ", run.output), run.output
    assert "wrote test/cascade-v0" in run.output
    found = minari.load_dataset("test/cascade-v0")
    assert found.total_steps == 40
    assert found.env_spec.kwargs == {"configuration": "hardware", "residual": False}
    assert found.env_spec.max_episode_steps == 20
    assert (datasets / "test" / "cascade-v0").is_dir()
    log, first = read_log(tmp_path / "run.csv"), found[0]
    assert_array_equal(log["pose"].values, first.infos["pose"])
    assert_array_equal(log["action"].values, first.actions)
    assert_array_equal(log["reward"].values[:, 0], first.rewards)
    assert_array_equal(log["action"].time, log["pose"].time[:-1])
    assert_array_equal(log["reward"].time, log["pose"].time[1:])
    assert log["pose"].time == pytest.approx(0.01 * np.arange(21))
    assert (log["forces"].units, log["pose"].units) == (("N",) * 6, POSE_UNITS)
    with refused("0 to 1"):
        episode_log(found, 2)
    assert log.metadata == {"machine": "stewart", "dataset": "test/cascade-v0"}


@pytest.mark.parametrize("environment", environment_ids())
def test_levels_are_three_datasets(environment, datasets, tmp_path, constants):
    constants("twin.datasets.record", PROBE_EPISODES=1, NOISE_HALVINGS=2)
    words = f"record {environment} --dataset test/task-v0 --levels --episodes 1"
    words += f" --option max_episode_steps=20 --first-episode {tmp_path / 'run.csv'}"
    run = console(*words.split())
    for level in ("random", "medium", "expert"):
        found = minari.load_dataset(f"test/task/{level}-v0")
        assert found.env_spec.id == environment
        assert found.total_steps == 20 or (level, environment) == ("random", TRACKING_ENVIRONMENT)
        log = read_log(tmp_path / f"run_{level}.csv")
        assert len(log["pose"]) == found.total_steps + 1
    name = EXPERT_ACTORS[environment].name
    assert re.search(rf"medium +{name} +with +noise", run.output)
    assert re.search(rf"expert +{name} +1 +20 ", run.output)


def test_faults_end_in_one_line(datasets):
    for words, message in (
        ("--levels --policy zero", "levels: takes no policy"),
        ("--randomisation hardware_spread", "no drives"),
    ):
        given = ("record", "twin/PoseTracking-v0", "--dataset", "test/a-v0")
        assert message in console(*given, *words.split(), code=2).output
        assert not datasets.exists() or not list(datasets.iterdir())
