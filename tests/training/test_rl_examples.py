"""Examples of learning run, and end in a table of finite numbers."""

import re
import runpy

import pytest
from package_walk import ROOT
from scripts import run_script

pytest.importorskip("torch")

FOLDER = ROOT / "examples" / "learning"
EXAMPLES = {script.stem: script for script in sorted(FOLDER.glob("*.py"))}

LIBRARIES = {
    "rllib_ppo": "ray.rllib",
    "stable_baselines3_ppo": "stable_baselines3",
    "torchrl_ppo": "torchrl",
}
assert EXAMPLES.keys() == {"ppo_on_the_card", *LIBRARIES}

STEPS = 4096


@pytest.mark.parametrize("name", LIBRARIES)
def test_example_learns_for_a_while(name, capsys):
    pytest.importorskip(LIBRARIES[name], exc_type=ImportError)
    run_script(EXAMPLES[name], STEPS)
    printed = capsys.readouterr().out
    # Libraries print lines of their own.
    rows = re.findall(r"^ .*\d\.\d{2}.*$", printed, re.M)
    assert len(rows) == 2
    assert not re.search("nan|inf", " ".join(rows))


def test_learning_on_the_card_also_runs_on_the_processor():
    train = runpy.run_path(str(EXAMPLES["ppo_on_the_card"]))["train"]
    progress = list(train("cpu", 64, 20 * 16 * 64))
    assert [one.steps for one in progress] == [1024 * (k + 1) for k in range(20)]
    assert all(0.5 < one.reward < 1.0 for one in progress)


def test_advantages_end_with_their_episodes():
    """An episode that is cut off at step 1 counts its next value, the one that fails does not."""
    example = runpy.run_path(str(EXAMPLES["ppo_on_the_card"]))
    torch, n_steps = example["torch"], example["ROLLOUT_STEPS"]
    discount, decay = example["DISCOUNT"], example["DISCOUNT"] * example["TRACE_DECAY"]
    zeros = torch.zeros(n_steps, 2)
    ended, terminated, counted = zeros.clone(), zeros.clone(), zeros + 1.0
    ended[1], terminated[1, 1], counted[2] = 1.0, 1.0, 0.0
    rollout = example["Rollout"](
        *zeros[None].expand(3, -1, -1), zeros + 1.0, terminated, ended, counted
    )
    samples = example["samples_of"](rollout, torch.full((n_steps + 1, 2), 10.0))
    first, second, between = samples.advantages.reshape(n_steps, 2)[:3]
    cut, failed = 1.0 + discount * 10.0 - 10.0, 1.0 - 10.0
    assert second.tolist() == pytest.approx([cut, failed])
    assert first.tolist() == pytest.approx([cut + decay * cut, cut + decay * failed])
    assert between.tolist() == [0.0, 0.0]
