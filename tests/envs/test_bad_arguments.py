"""Arguments of environments, resets and steps that cannot be used: each fault names the field."""

import pickle

import gymnasium
import numpy as np
import pytest
from refusals import assert_all_refused, refused

from twin.envs import environment_ids
from twin.envs.pose_tracking.environment import PoseTrackingEnv, PoseTrackingVectorEnv
from twin.errors import TwinError, UnknownOptionError

pytestmark = [pytest.mark.quick, pytest.mark.filterwarnings("error::RuntimeWarning")]

LIST = np.zeros(3)


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
            ({"coordinate": [1.0, 2.0]}, "6 numbers, not 2"),
            ({"coordinate": 0.0}, "greater than 0"),
        ],
    )


def test_an_empty_machine_is_the_usual_one():
    for machine in ("", None):
        env = PoseTrackingEnv(machine)
        assert env.platform.name == "stewart"
        env.close()


@pytest.mark.parametrize("environment", environment_ids())
def test_resets_and_steps(environment):
    env = gymnasium.make(environment).unwrapped
    vector = gymnasium.make_vec(environment, num_envs=2)
    for options in (3, "x", LIST, {1: 2}, [("a", 1)]):
        for each in (env, vector):
            with refused("options"):
                each.reset(options=options)
    for seed in ("x", -1, 1.5, LIST, True, [1, -2]):
        for each in (env, vector):
            with refused("seed"):
                each.reset(seed=seed)
    for name in env.task.varied_settings:
        for value in ("x", LIST, np.nan, 1e308, None, 10**400, -1.0):
            with pytest.raises(TwinError):
                env.reset(options={name: value})
    env.reset(seed=np.int64(3))
    vector.reset(seed=[1, np.int64(2)])
    for action in (
        [[1, 2], [3]],
        None,
        "x",
        np.zeros(99),
        [np.nan] * env.task.last_action.shape[1],
    ):
        for each in (env, vector):
            with refused("action"):
                each.step(action)
    env.close()
    vector.close()
