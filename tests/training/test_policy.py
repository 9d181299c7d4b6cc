"""Policies in numpy: what they compute, their files, files that are none."""

import json
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

from twin.training import Policy, load_policy, policy_names
from twin.training.policy import PolicyChannel, PolicyNetwork, PolicyOrigin

GENERATOR = np.random.default_rng(3)


def random_policy(widths=(3, 5, 2), network=None):
    """Return a policy with random numbers."""
    pairs = list(pairwise(widths))
    return Policy(
        tuple(GENERATOR.normal(size=(out, width)) for width, out in pairs),
        tuple(GENERATOR.normal(size=out) for _, out in pairs),
        GENERATOR.normal(size=widths[0]),
        GENERATOR.uniform(0.5, 2.0, widths[0]),
        PolicyNetwork(**(network or {})),
        PolicyOrigin(
            environment="twin/PoseTracking-v0",
            options={"machine": "stewart"},
            observations=(PolicyChannel(name="all", size=widths[0], unit="m", scale=0.1),),
            actions=(PolicyChannel(name="speed", size=widths[-1]),),
            seed=7,
            command="twin train",
        ),
    )


def test_network_is_the_printed_formula(subtests):
    for output in ["clip", "tanh"]:
        for activation in ["tanh", "relu"]:
            with subtests.test(f"{output}, {activation}"):
                policy = random_policy(
                    (4, 6, 5, 2), {"activation": activation, "output": output, "limit": 1.5}
                )
                observation = GENERATOR.normal(size=4) * 3.0
                value = [
                    min(max((o - m) / s, -1.5), 1.5)
                    for o, m, s in zip(observation, policy.mean, policy.scale, strict=True)
                ]
                for k in range(3):
                    value = [
                        sum(w * v for w, v in zip(row, value, strict=True)) + b
                        for row, b in zip(policy.weights[k], policy.biases[k], strict=True)
                    ]
                    if k < 2:
                        value = [max(v, 0.0) if activation == "relu" else np.tanh(v) for v in value]
                wanted = [np.tanh(v) if output == "tanh" else min(max(v, -1.0), 1.0) for v in value]
                assert_allclose(policy(observation), wanted, rtol=1e-13, atol=1e-14)


def test_batches_are_rows_and_actions_are_bounded():
    policy = random_policy()
    observations = GENERATOR.normal(size=(2, 4, 3)) * 100.0
    actions = policy(observations)
    assert actions.shape == (2, 4, 2)
    assert np.abs(actions).max() <= 1.0
    assert_allclose(actions[1, 2], policy(observations[1, 2]), rtol=1e-12, atol=1e-14)


def test_saved_policies_come_back(tmp_path):
    policy = random_policy()
    path = policy.save(tmp_path / "policy.npz")
    loaded = load_policy(path)
    assert loaded.origin == policy.origin
    assert loaded.network == policy.network
    observations = GENERATOR.normal(size=(50, 3))
    assert_within(loaded(observations), policy(observations), 2e-6)
    # Numbers are single in the file: what has been there once does not change any more.
    again = Policy.load(loaded.save(tmp_path / "again.npz"))
    assert_array_equal(again(observations), loaded(observations))


def test_bad_observations_are_refused(subtests):
    for bad in [[1.0], [np.nan, 0.0, 0.0], "word", np.zeros((2, 4))]:
        with subtests.test(f"{bad}"), refused("observation"):
            random_policy()(bad)


def test_parts_that_do_not_fit_are_refused(subtests):
    for change, word in [
        ({"weights": ()}, "weights"),
        ({"biases": (np.zeros(5),)}, "weights"),
        ({"biases": (np.zeros(4), np.zeros(2))}, "weights"),
        ({"scale": np.array([1.0, 0.0, 1.0])}, "scale"),
        ({"scale": np.ones(2)}, "scale"),
        ({"mean": np.array([np.inf, 0.0, 0.0])}, "mean"),
    ]:
        with subtests.test(f"{change}"):
            policy = random_policy()
            names = ("weights", "biases", "mean", "scale", "network", "origin")
            parts = {name: getattr(policy, name) for name in names}
            with refused(word):
                Policy(**{**parts, **change})


def rewritten(path, target, **changes):
    """Write a copy of a policy's file with entries of its metadata changed, or arrays left out."""
    with np.load(path) as data:
        content = {name: data[name] for name in data.files}
    metadata = json.loads(str(content["metadata"]))
    for name, value in changes.items():
        if name in content:
            del content[name]
        else:
            place, _, key = name.partition("__")
            if key:
                metadata[place][key] = value
            else:
                metadata[place] = value
    content["metadata"] = np.array(json.dumps(metadata))
    np.savez(target, **content)
    return target


def test_files_that_do_not_fit_are_refused(subtests, tmp_path):
    for change in [
        {"weight_1": None},
        {"layers": "many"},
        {"network__activation": "sine"},
        {"network__limit": -1.0},
        {"origin__unknown": 1},
        {"origin__observations": [{"name": "all", "size": 4}]},
    ]:
        with subtests.test(f"{change}"):
            path = random_policy().save(tmp_path / "policy.npz")
            with refused("is not a policy"):
                Policy.load(rewritten(path, tmp_path / "changed.npz", **change))


def test_missing_and_foreign_files_are_refused(tmp_path):
    with refused("does not exist"):
        Policy.load(tmp_path / "none.npz")
    with refused("known"):
        load_policy("no_such_policy")
    with refused("policy"):
        load_policy(3)
    (tmp_path / "text.npz").write_text("hello")
    with refused("is not a policy"):
        load_policy(tmp_path / "text.npz")
    with refused("must end in"):
        random_policy().save(tmp_path / "policy.txt")


@pytest.mark.parametrize("name", policy_names())
def test_shipped_policies_say_where_they_are_from(name):
    policy = load_policy(name)
    origin = policy.origin
    assert origin.environment.startswith("twin/")
    assert origin.command.startswith("twin train")
    assert f"--seed {origin.seed}" in origin.command
    assert origin.steps > 0
    assert origin.observations
    assert np.isfinite(policy(np.zeros(policy.mean.size))).all()
