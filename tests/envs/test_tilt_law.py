"""The linear law of motion cueing: its equations, and that it beats doing nothing."""

from functools import partial

import gymnasium as gym
import pytest
from refusals import refused

import twin.envs  # noqa: F401
from twin.envs.motion_cueing.washout import TiltLaw
from twin.training.evaluation import roll_out
from twin.training.settings import make_law

pytestmark = pytest.mark.quick

TASK = "twin/MotionCueing-v0"


def test_it_is_better_than_nothing_and_than_adaptive_washout():
    laws = [None, *(partial(make_law, name) for name in ("adaptive", "tilt_law"))]
    options = {"max_episode_steps": 600}
    nothing, washout, law = (roll_out(TASK, options, each, range(2), ()).reward for each in laws)
    assert (law > washout).all() and (law > nothing).all()


def test_other_actions_are_refused():
    env = gym.make(TASK, action="increments")
    with refused("accelerations"):
        TiltLaw(env.unwrapped.task)
