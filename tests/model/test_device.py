"""Batch calls on a graphics card, where there is none."""

import gymnasium as gym
import pytest
from refusals import refused

import twin.envs
from twin.errors import InputError, MissingDependencyError

pytestmark = pytest.mark.quick


def test_what_is_missing_is_said(stewart):
    try:
        from numba import cuda

        present = cuda.is_available()
    except ImportError:
        present = False
    if present:
        pytest.skip("there is a graphics card")
    with pytest.raises((MissingDependencyError, InputError), match=r"\[cuda\]|no graphics card"):
        stewart.on("cuda")
    with pytest.raises((MissingDependencyError, InputError), match=r"\[cuda\]|no graphics card"):
        gym.make_vec("twin/PoseTracking-v0", vectorization_mode="vector_entry_point", device="cuda")
    with refused("unknown device"):
        stewart.on("tpu")
    assert "twin/PoseTracking-v0" in twin.envs.environment_ids()
