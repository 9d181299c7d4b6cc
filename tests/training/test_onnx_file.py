"""Policies as ONNX: what the file computes is what numpy computes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within

from twin.training import load_policy, policy_names, write_onnx
from twin.training.policy import PolicyNetwork

pytestmark = pytest.mark.quick

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


def others():
    """Return a policy with every function between and after its layers."""
    base = load_policy("stewart_tracking")
    network = PolicyNetwork(activation="relu", output="tanh", limit=0.5)
    law = np.random.default_rng(2).normal(0.0, 0.05, (base.biases[-1].size, base.mean.size))
    corrected = PolicyNetwork(correction=0.5)
    return [replace(base, network=network), replace(base, network=corrected, gains=law)]


@pytest.mark.parametrize("policy", [*map(load_policy, policy_names()), *others()])
def test_the_file_computes_the_policy(policy, tmp_path):
    path = write_onnx(policy, tmp_path / "policy.onnx")
    model = onnx.load(path)
    run = reference.ReferenceEvaluator(model)
    random = np.random.default_rng(4)
    for rows in (1, 5):
        seen = random.normal(size=(rows, policy.mean.size)) * 3.0 * policy.scale + policy.mean
        seen = seen.astype(np.float32)
        (action,) = run.run(None, {"observation": seen})
        assert action.dtype == np.float32
        assert 0.01 < np.abs(action).max() <= 1.0
        assert_within(action, policy(seen), 2e-6)
    about = {each.key: each.value for each in model.metadata_props}
    assert json.loads(about["origin"]) == policy.origin.model_dump(mode="json")


def test_other_endings_are_refused(tmp_path):
    with refused(r"\.onnx"):
        write_onnx(load_policy(policy_names()[0]), tmp_path / "policy.npz")
