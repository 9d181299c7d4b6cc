"""Examples of learning run, and end in a table of finite numbers."""

import re

import pytest
from package_walk import ROOT
from scripts import run_script

pytest.importorskip("torch")

FOLDER = ROOT / "examples" / "learning"
EXAMPLES = {script.stem: script for script in sorted(FOLDER.glob("*.py"))}

LIBRARIES = {
    "ppo": "torch",
    "rllib_ppo": "ray.rllib",
    "stable_baselines3_ppo": "stable_baselines3",
    "torchrl_ppo": "torchrl",
}
assert EXAMPLES.keys() == LIBRARIES.keys()

STEPS = 4096


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_learns_for_a_while(name, capsys):
    pytest.importorskip(LIBRARIES[name], exc_type=ImportError)
    run_script(EXAMPLES[name], STEPS)
    printed = capsys.readouterr().out
    # Libraries print lines of their own.
    rows = re.findall(r"^ .*\d\.\d{2}.*$", printed, re.M)
    assert len(rows) == 2
    assert not re.search("nan|inf", " ".join(rows))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_short(name):
    assert len(EXAMPLES[name].read_text().splitlines()) < 100
