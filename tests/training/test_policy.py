"""Policies in numpy: what they compute, their files, files that are none."""

import json
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
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


@pytest.mark.parametrize("output", ["clip", "tanh"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_network_is_the_printed_formula(output, activation):
    policy = random_policy((4, 6, 5, 2), {"activation": activation, "output": output, "limit": 1.5})
    observation = GENERATOR.normal(size=4) * 3.0
    value = ((observation - policy.mean) / policy.scale).clip(-1.5, 1.5)
    for weights, biases in zip(policy.weights[:-1], policy.biases[:-1], strict=True):
        value = weights @ value + biases
        value = value.clip(0.0) if activation == "relu" else np.tanh(value)
    value = policy.weights[-1] @ value + policy.biases[-1]
    wanted = np.tanh(value) if output == "tanh" else value.clip(-1.0, 1.0)
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


def test_bad_observations_are_refused():
    for bad in ([np.nan, 0.0, 0.0], np.zeros((2, 4))):
        with refused("observation"):
            random_policy()(bad)


def test_parts_that_do_not_fit_are_refused():
    names = ("weights", "biases", "mean", "scale", "network", "origin")
    parts = {name: getattr(random_policy(), name) for name in names}
    assert_all_refused(
        lambda change: Policy(**parts | change),
        [
            ({"weights": ()}, "weights"),
            ({"biases": (np.zeros(5),)}, "weights"),
            ({"biases": (np.zeros(4), np.zeros(2))}, "weights"),
            ({"scale": np.array([1.0, 0.0, 1.0])}, "scale"),
            ({"scale": np.ones(2)}, "scale"),
            ({"mean": np.array([np.inf, 0.0, 0.0])}, "mean"),
        ],
    )


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


def test_files_that_do_not_fit_are_refused(tmp_path):
    path = random_policy().save(tmp_path / "policy.npz")
    for change in (
        {"weight_1": None},
        {"layers": "many"},
        {"network__activation": "sine"},
        {"network__limit": -1.0},
        {"origin__unknown": 1},
        {"origin__observations": [{"name": "all", "size": 4}]},
    ):
        with refused("is not a policy"):
            Policy.load(rewritten(path, tmp_path / "changed.npz", **change))


def test_missing_and_foreign_files_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    assert_all_refused(
        load_policy,
        [
            ("no_such_policy", "known"),
            (3, "policy"),
            (tmp_path / "text.npz", "is not a policy"),
        ],
    )
    with refused("does not exist"):
        Policy.load(tmp_path / "none.npz")
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
