"""Arguments of environments, resets and steps that cannot be used: each fault names the field."""

import pickle

import gymnasium
import numpy as np
import pytest
from refusals import assert_all_refused, refused

from twin.envs import environment_ids
from twin.envs.pose_tracking.environment import PoseTrackingEnv, PoseTrackingVectorEnv
from twin.errors import UnknownOptionError

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("error::RuntimeWarning")]


def test_unknown_arguments_are_errors_of_type():
    """Libraries that try arguments, such as TorchRL, look for Python's own error and words."""
    for make in (PoseTrackingEnv, PoseTrackingVectorEnv):
        with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
            make(frameskip=4)
    with pytest.raises(UnknownOptionError) as caught:
        gymnasium.make("twin/PoseTracking-v0", frameskip=4)
    assert caught.value.field == "frameskip" and "overtravel" in caught.value.message
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)


def test_scales():
    assert_all_refused(
        lambda scales: PoseTrackingEnv(scales=scales),
        [
            ({"colour": 1.0}, "unknown scales 'colour'"),
            ({"coordinate": [1.0, 2.0]}, "one number or 6"),
            ({"coordinate": 0.0}, "greater than 0"),
        ],
    )


def test_an_empty_machine_is_the_usual_one():
    for machine in ("", None):
        env = PoseTrackingEnv(machine)
        assert env.platform.name == "stewart"


@pytest.mark.parametrize("environment", environment_ids())
@pytest.mark.seconds
def test_resets_and_steps(environment):
    env = gymnasium.make(environment).unwrapped
    vector = gymnasium.make_vec(environment, num_envs=2)
    size = env.action_space.shape[0]
    for each in (env, vector):
        for options in (3, "x", {1: 2}, [("a", 1)]):
            with refused("options"):
                each.reset(options=options)
        for seed in ("x", -1, 1.5, np.zeros(3), True, [1, -2]):
            with refused("seed"):
                each.reset(seed=seed)
        each.reset(seed=np.int64(3))
        for action in ([[1, 2], [3]], None, "x", np.zeros(99), [np.nan] * size):
            with refused("action"):
                each.step(action)
