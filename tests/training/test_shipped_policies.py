"""Shipped policies: better than their baselines on an engine they never saw, and no drift."""

from dataclasses import replace

import numpy as np
import pytest

from twin.envs.channels import channel_slices
from twin.training import evaluate, load_policy
from twin.training.environments import make_environments

SEED = 6_000_000
"""Of no training and of no evaluation whose results are shipped."""


def compared(environment, baseline, policy, **options):
    """Return an episode of a policy and of its baseline in MuJoCo."""
    names = [baseline, policy]
    return evaluate(environment, names, engines=("mujoco",), episodes=1, seed=SEED, **options)


@pytest.mark.slow
def test_the_ball_policy_returns_more_than_700_and_than_its_law():
    found = compared("twin/BallBalance-v0", "balance_law", "stewart_ball")
    assert found.mean("stewart_ball", "mujoco", "return").value > 700.0
    assert found.difference("stewart_ball", "mujoco", "return").value > 0.0


@pytest.mark.slow
def test_the_ball_on_three_legs_is_nearer_its_target_than_with_the_law():
    options = {key: load_policy("balancer_ball").options[key] for key in ("machine", "ball")}
    found = compared("twin/BallBalance-v0", "balance_law", "balancer_ball", options=options)
    assert found.mean("balancer_ball", "mujoco", "distance [mm]").value < 25.0
    assert found.difference("balancer_ball", "mujoco", "distance [mm]").value < 0.0


@pytest.mark.slow
def test_the_cueing_policy_has_a_smaller_perceived_error_than_the_adaptive_washout():
    found = compared("twin/MotionCueing-v0", "adaptive", "stewart_cueing")
    assert found.changes["stewart_cueing"] == {}
    title = "perceived error [thresholds]"
    assert found.difference("stewart_cueing", "mujoco", title).value < -0.1


def displacements(policy, seconds=24.0):
    """Return distances from home `(steps, 4)` [m] on the ideal machine above a weak shaking."""
    given = {"acceleration": 0.2, "randomisation": None, "duration": seconds}
    options = {**policy.options, **given, "max_episode_steps": -1}
    env = make_environments(policy.origin.environment, 4, options, "next_step")
    observation, _ = env.reset(seed=[SEED, SEED + 1, SEED + 2, SEED + 3])
    found = []
    for _ in range(round(seconds / env.unwrapped.task.batch.period)):
        observation, _, _, _, info = env.step(policy(observation).astype(np.float32))
        found.append(np.linalg.norm(info["absolute_displacement"], axis=1))
    env.close()
    return np.array(found)


def growth(policy):
    """Return the RMS distance of the second half of the time in parts of that of the first."""
    early, late = np.array_split(displacements(policy), 2)
    return float(np.sqrt(np.mean(np.square(late)) / np.mean(np.square(early))))


@pytest.mark.slow
def test_displacement_under_the_isolation_policy_does_not_grow():
    """It does where the policy cancels the drives' slow return to the start."""
    shipped = load_policy("stewart_isolation")
    assert growth(shipped) < 1.2
    seen = {channel.name: channel for channel in shipped.origin.observations}["coordinate"]
    gains, (moved,) = np.array(shipped.gains), shipped.origin.actions
    where = channel_slices(shipped.origin.observations)["coordinate"]
    gains[:, where] += np.diag(np.divide(seen.scale, moved.scale))
    assert growth(replace(shipped, gains=gains)) > 1.5
