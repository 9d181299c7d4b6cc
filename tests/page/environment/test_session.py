"""Environments that run by themselves: their episodes, who acts in them, their charts."""

import gymnasium
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

from twin.envs import environment_ids
from twin.errors import StateError
from twin.page.environment import END_PAUSE, TASK_CHARTS, EnvironmentSession
from twin.simulation.live.runner import HISTORY_INTERVAL
from twin.training.policy import load_policy

TRACKING, BALANCE = "twin/PoseTracking-v0", "twin/BallBalance-v0"


@pytest.fixture
def tracking():
    session = EnvironmentSession(TRACKING, "zero", seed=5)
    yield session
    session.close()


@pytest.mark.parametrize("environment", environment_ids())
def test_every_environment_runs_with_all_who_can_act(environment):
    session = EnvironmentSession(environment)
    assert session.policy in session.policies
    assert {"zero", "random"} < {*session.policies, ""}
    for policy in session.policies:
        session.choose(policy)
        session.begin(1)
        session.advance(0.3)
        assert session.stopped == ""
        assert_within(session.time, 0.3, session.period)
        assert np.isfinite(session.scene.pose).all()
        for chart in session.history.charts:
            shown = session.history.values(chart.name)
            assert shown.shape == (len(session.history), len(chart.series))
            assert np.isfinite(shown).all(), chart.name
        assert_within(len(session.history), 0.3 / HISTORY_INTERVAL, 2)
    ball = session.scene.ball
    assert (ball is None) == (session.ball is None)
    assert ball is None or ball.shape == (7,)
    session.close()
    session.close()


def test_every_environment_has_charts_of_its_error():
    names = {environment.split("/")[1].split("-")[0] for environment in environment_ids()}
    assert names == set(TASK_CHARTS)


def test_it_is_what_the_environment_itself_gives(tracking):
    env = gymnasium.make(TRACKING)
    env.reset(seed=5)
    rewards, errors = [], []
    for _ in range(50):
        _, reward, _, _, info = env.step(np.zeros(6, dtype=np.float32))
        rewards.append(float(reward))
        errors.append(info["position_error"])
    tracking.advance(0.5)
    assert tracking.steps == 50
    assert tracking.returned == pytest.approx(sum(rewards))
    assert_array_equal(tracking.scene.pose, info["pose"])
    assert_array_equal(tracking.scene.ghost, info["reference_pose"])
    history = tracking.history
    rows = np.round(history.time() / tracking.period).astype(int) - 1
    assert_within(len(rows), 0.5 / HISTORY_INTERVAL, 1)
    assert_allclose(history.values("return")[:, 0], np.cumsum(rewards)[rows])
    assert_allclose(history.values("position_error"), np.array(errors)[rows])
    terms = history.values("reward")
    assert_allclose(terms[:, 0], np.array(rewards)[rows])
    assert_allclose(terms[:, 0], terms[:, 1:].sum(axis=1))
    env.close()


def test_parts_of_a_period_are_kept(tracking):
    for _ in range(10):
        tracking.advance(0.4 * tracking.period)
    assert tracking.steps == 4


def test_episodes_follow_each_other_with_their_reason_shown(tracking):
    tracking.advance(5.0)
    assert (tracking.episode, tracking.seed, tracking.steps) == (1, 5, 500)
    assert "time is up" in tracking.message
    pose = tracking.scene.pose.copy()
    tracking.advance(0.5 * END_PAUSE)
    assert_array_equal(tracking.scene.pose, pose)
    tracking.advance(0.5 * END_PAUSE + 0.1)
    assert (tracking.episode, tracking.seed) == (2, 6)
    assert "time is up" not in tracking.message
    assert 0 < tracking.steps < 20
    assert np.isnan(tracking.history.values("reward")).any(axis=1).sum() == 1  # the gap between
    tracking.reset()
    assert (tracking.episode, tracking.seed, tracking.time) == (1, 5, 0.0)
    assert len(tracking.history) == 0


def test_an_episode_that_fails_says_why():
    session = EnvironmentSession(BALANCE, "random", seed=1)
    for _ in range(3000):
        session.advance(session.period)
        if "ended" in session.message and "time is up" not in session.message:
            break
    assert session.message.endswith(("ball", "limit"))
    session.close()


def test_a_policy_brings_its_options_and_a_file_is_as_good(tmp_path):
    policy = load_policy("stewart_tracking")
    file = policy.save(tmp_path / "own.npz")
    returns = []
    for name in (None, "stewart_tracking", file):
        session = EnvironmentSession(TRACKING, name, seed=3)
        assert (
            session.platform.hash == EnvironmentSession(TRACKING, "stewart_tracking").platform.hash
        )
        session.advance(1.0)
        returns.append(session.returned)
        session.close()
    assert returns[0] == returns[1] == returns[2]
    assert str(file) in session.policies


def test_differences_from_the_training_are_told():
    session = EnvironmentSession(TRACKING, "stewart_tracking", duration=2.0)
    assert "stewart_tracking is not shown as it was trained: duration 2.0" in session.changes
    session.choose("zero")
    assert session.changes == ""
    session.close()
    plain = EnvironmentSession(TRACKING)
    assert (plain.policy, plain.changes) == ("stewart_tracking", "")
    plain.close()


def test_a_policy_chosen_in_vain_changes_nothing(tracking):
    for wrong in ("nobody", "stewart_isolation", "stewart_tracking"):
        with refused("policy"):
            tracking.choose(wrong)
        assert tracking.policy == "zero"
    tracking.advance(0.1)
    assert tracking.steps == 10


def test_what_cannot_be_used_is_refused():
    assert_all_refused(
        lambda arguments: EnvironmentSession(**{"environment": TRACKING} | arguments),
        [
            ({"environment": "twin/Nothing-v0"}, "known: twin/PoseTracking-v0"),
            ({"policy": "nobody"}, "zero, random, stewart_tracking$"),
            ({"policy": "stewart_tracking", "action": "forces"}, "training: action forces"),
            ({"policy": "classical"}, "classical"),
            ({"colour": "red"}, "colour"),
            ({"seed": -1}, "seed"),
        ],
    )


def test_a_broken_environment_stops_and_says_why(tracking, monkeypatch):
    def fail(_):
        raise StateError("the engine has burnt down")

    # No input from the page makes a task fail.
    monkeypatch.setattr(tracking._env.unwrapped._episodes, "step", fail)
    tracking.advance(1.0)
    assert tracking.stopped == "the engine has burnt down"
    monkeypatch.undo()
    tracking.reset()
    tracking.advance(0.1)
    assert tracking.stopped == ""
    assert tracking.steps == 10
