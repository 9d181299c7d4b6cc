"""Runs of a sweep: every combination once, keys that change with what decides, and sampling."""

import pickle
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from small_sweeps import small

import twin
from twin.errors import MachineNotFoundError, ParameterError
from twin.sweep import PayloadChoice, plan


def test_every_combination_comes_once_and_in_order():
    sweep = small(
        parameters={"platform.body.mass": [1, 2], "motion.frequency": [3, 4]},
        controllers=["cascade", "computed_torque"],
        engines=["analytic", "mujoco"],
        payloads=[0, 5],
        seeds=2,
    )
    tasks = plan(sweep)
    found = [
        (t.engine, t.controller.name, t.payload.mass, *t.values.values(), t.seed) for t in tasks
    ]
    lists = (["analytic", "mujoco"], ["cascade", "computed_torque"], [0, 5], [1, 2], [3, 4], [0, 1])
    assert found == list(product(*lists))
    assert [t.index for t in tasks] == list(range(64))
    assert len({t.key for t in tasks}) == 64


def test_keys_are_the_same_in_every_process():
    first, again = plan(small()), plan(small())
    assert [t.key for t in first] == [t.key for t in again]
    assert pickle.loads(pickle.dumps(first[0])).key == first[0].key


@pytest.mark.parametrize(
    "changes",
    [
        {"fidelity": "accurate"},
        {"timestep": 1e-4},
        {"seeds": [7]},
        {"motion": {"name": "still"}},
        {"machine": "rss"},
        {"controllers": "cascade:model=nominal"},
        {"payloads": PayloadChoice(mass=1.0)},
        {"parameters": {"platform.body.mass": [1.5]}},
    ],
)
def test_keys_change_with_what_decides(changes):
    before, after = plan(small()), plan(small(**changes))
    assert not {t.key for t in before} & {t.key for t in after}


def test_keys_change_with_the_machines_file(tmp_path):
    text = (Path(twin.__file__).parent.parent / "assets/srspm/platform.toml").read_text()
    file = tmp_path / "platform.toml"
    file.write_text(text)
    before = plan(small(machine=str(file)))[0].key
    file.write_text(text.replace("gravity = 9.8", "gravity = 9.7"))
    assert plan(small(machine=str(file)))[0].key != before


def test_latin_hypercube_has_one_point_in_every_slice():
    ranges = {"platform.body.mass": "1:3", "motion.frequency": "1:100:logarithmic"}
    tasks = plan(small(parameters=ranges, samples=8))
    mass = np.array([t.values["platform.body.mass"] for t in tasks])
    frequency = np.array([t.values["motion.frequency"] for t in tasks])
    assert sorted(np.floor((mass - 1.0) / 2.0 * 8)) == list(range(8))
    assert sorted(np.floor(np.log(frequency) / np.log(100.0) * 8)) == list(range(8))
    again = plan(small(parameters=ranges, samples=8))
    assert [t.key for t in again] == [t.key for t in tasks]


def test_lists_stay_lists_beside_samples():
    parameters = {"gravity": [5.0, 9.0], "platform.body.mass": "1:3"}
    tasks = plan(small(parameters=parameters, samples=4))
    assert [t.values["gravity"] for t in tasks] == [5.0] * 4 + [9.0] * 4
    masses = [t.values["platform.body.mass"] for t in tasks]
    assert masses[:4] == masses[4:]
    assert all(1.0 <= mass <= 3.0 for mass in masses)


def test_what_a_machine_does_not_have_is_refused():
    with refused(r"platform\.body\.mass") as caught:
        plan(small(parameters={"platform.mass": 1.0}))
    assert caught.value.field == "platform.mass"
    with refused("configuration"):
        plan(small(configurations="absent"))
    with pytest.raises(MachineNotFoundError):
        plan(small(machine="absent"))
    with refused("imported"):
        plan(small(measure="absent_module:function"))
    with pytest.raises(ParameterError, match="motion"):
        plan(small(motion={"name": "absent.csv"}))
    with refused("twice"):
        plan(small(seeds=[1, 1]))
    grids = {"gravity": "5:9:1000000", "platform.body.mass": "1:3:1000000"}
    with refused("has 1000000000000 runs"):
        plan(small(parameters=grids))
