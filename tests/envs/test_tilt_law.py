"""The linear law of motion cueing: its equations, and that it beats doing nothing."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import twin.envs  # noqa: F401
from twin.envs.channels import channel_scales, channel_slices
from twin.envs.motion_cueing.washout import TiltGains, TiltLaw
from twin.training.evaluation import roll_out
from twin.training.settings import make_law

pytestmark = pytest.mark.quick

TASK = "twin/MotionCueing-v0"


@pytest.mark.parametrize("machine", ["stewart", "driving_simulator"])
def test_accelerations_are_those_of_the_equations(machine):
    task = gym.make(TASK, machine=machine).unwrapped.task
    k, free = TiltGains(), task.command_constants.free
    random, where = np.random.default_rng(4), channel_slices(task.observations)
    seen = np.zeros(task.observation.shape[1])
    physical = {}
    for name in ("specific force 0", "angular rate 0", "commanded displacement"):
        physical[name] = random.normal(0.0, 1e-3, seen[where[name]].shape)
    physical["commanded velocity"] = random.normal(0.0, 1e-3, len(free))
    scales = channel_scales(task.observations)
    for name, value in physical.items():
        seen[where[name]] = value / scales[where[name]]
    f, q = physical["specific force 0"], physical["angular rate 0"]
    x, v = np.zeros(6), np.zeros(6)
    x[free], v[free] = physical["commanded displacement"], physical["commanded velocity"]
    wanted = np.zeros(6)
    for axis, lean, turn, sign in ((0, 4, 1, -1.0), (1, 5, 0, 1.0)):
        missing = f[axis] - k.tilt_subtraction * 9.81 * sign * x[lean]
        wanted[axis] = (
            k.surge * missing - 2 * k.damping * k.frequency * v[axis] - k.frequency**2 * x[axis]
        )
        setpoint = k.lean * sign * f[axis] / 9.81
        wanted[lean] = (
            k.lean_frequency**2 * (setpoint - x[lean])
            - 2 * k.lean_damping * k.lean_frequency * v[lean]
            + k.turn * (q[turn] - v[lean])
        )
    wanted[2] = k.heave * f[2] - 2 * k.heave_frequency * v[2] - k.heave_frequency**2 * x[2]
    wanted[3] = k.yaw * (q[2] - v[3] - k.yaw_return * x[3])
    found = TiltLaw(task)(seen) * channel_scales(task.actions)
    assert_allclose(found, wanted[free], rtol=1e-9, atol=1e-12)


def test_it_is_better_than_nothing_and_than_adaptive_washout():
    laws = [None, *(partial(make_law, name) for name in ("adaptive", "tilt_law"))]
    options = {"max_episode_steps": 600}
    nothing, washout, law = (roll_out(TASK, options, each, range(2), ()).reward for each in laws)
    assert (law > washout).all() and (law > nothing).all()


def test_other_actions_are_refused():
    env = gym.make(TASK, action="increments")
    with refused("accelerations"):
        TiltLaw(env.unwrapped.task)
