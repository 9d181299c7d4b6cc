"""BallBalance: observations, rewards, ends against independent calculations; it can be solved."""

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

import twin
import twin.envs
from twin.envs.ball_balance import BalanceLaw, BallBalanceEnv
from twin.model.ball import Ball, ball_for

ID = "twin/BallBalance-v0"
ENGINES = ("analytic", "mujoco", "bullet")


def make(**options):
    """Return the environment without wrappers."""
    env = gym.make(ID, disable_env_checker=True, **options).unwrapped
    assert isinstance(env, BallBalanceEnv)
    return env


def run(env, law, steps, **reset):
    """Return the infos of one episode."""
    observation, _ = env.reset(**reset)
    infos = []
    for _ in range(steps):
        observation, _, ended, _, info = env.step(law(observation))
        infos.append(info)
        if ended:
            break
    return infos


def away(infos):
    """Return the distances [m] from the target."""
    return np.array([np.linalg.norm(info["target_error"]) for info in infos])


LAWS = {
    # Measured after 3.95 s: 1.7 to 2.4 mm of 116 mm.
    "stewart": (2.0, 0.2, 395),
    # Measured after 9 s: 18 mm of 242 mm in all engines, where rolling resistance holds the ball.
    "driving_simulator": (0.7, 0.05, 900),
}
"""Machine -> frequency [rad/s], share, control periods: the slower the less it tilts."""


@pytest.mark.parametrize(
    ("machine", "engine"),
    [
        ("stewart", "analytic"),
        *(pytest.param("stewart", engine, marks=pytest.mark.slow) for engine in ENGINES[1:]),
        pytest.param("driving_simulator", "analytic", marks=pytest.mark.slow),
        pytest.param("driving_simulator", "mujoco", marks=pytest.mark.slow),
    ],
)
def test_a_linear_law_solves_it(machine, engine):
    pytest.importorskip({"bullet": "pybullet"}.get(engine, "numpy"))
    frequency, share, steps = LAWS[machine]
    env = make(machine=machine, engine=engine, hold=20.0)
    radius = env.task.ball.plate_radius
    infos = run(
        env, BalanceLaw(env.task, frequency=frequency, damping=1.0, share=share), steps, seed=1
    )
    distances = away(infos)
    assert len(infos) == steps and infos[-1]["termination"] == ""
    assert distances[0] > 0.4 * radius
    assert distances[-1] < 0.04 * radius


def test_a_law_for_one_engine_does_the_same_in_another():
    """Distances of a whole run agree within a millimetre, through a change of the target."""
    pytest.importorskip("mujoco")
    found = []
    for engine in ENGINES[:2]:
        env = make(engine=engine)
        found.append(away(run(env, BalanceLaw(env.task), 500, seed=3)))
    assert_within(found[0], found[1], 1e-3)


def test_without_a_law_the_ball_is_lost():
    env = make()
    infos = run(env, lambda seen: np.zeros(2), 1000, options={"ball": [0.1, 0.0, 0.3, 0.0]})
    assert infos[-1]["termination"] == "ball"
    assert infos[-1]["reward_terms"]["loss"] == -1.0
    assert all(info["reward_terms"]["loss"] == 0.0 for info in infos[:-1])


def test_a_circling_target_is_followed():
    env = make(target="circle", lap=8.0)
    infos = run(env, BalanceLaw(env.task, frequency=3.0), 700, seed=2)
    targets = np.array([info["target"] for info in infos])
    radii = np.linalg.norm(targets, axis=1)
    assert_allclose(radii, radii[0], rtol=1e-12)
    angle = np.unwrap(np.arctan2(targets[:, 1], targets[:, 0]))
    turned = abs(angle[-1] - angle[0])
    assert_allclose(turned, 2.0 * np.pi / 8.0 * 6.99, rtol=1e-9)
    assert away(infos)[-200:].max() < 0.1 * radii[0] + 0.01


@pytest.mark.parametrize("machine", ["stewart", "driving_simulator", "rss"])
def test_the_tilt_stops_within_the_machines_range(machine):
    env = make(machine=machine)
    env.reset(seed=0, options={"ball": [0.0, 0.0, 0.0, 0.0]})
    for _ in range(200):
        info = env.step(np.array([1.0, 1.0]))[-1]
        if info["termination"]:
            break
    assert info["termination"] == "ball", "the tilt must not leave the machine's range"


@pytest.mark.slow
def test_every_machine_and_action(subtests):
    for machine in twin.machine_names():
        for action in ["tilt", "pose", "velocities"]:
            with subtests.test(f"{machine}, {action}"):
                env = make(machine=machine, action=action)
                observation, _ = env.reset(seed=1)
                assert observation.shape == env.observation_space.shape
                env.action_space.seed(1)
                for _ in range(20):
                    observation, reward, ended, _, _ = env.step(0.2 * env.action_space.sample())
                    assert np.isfinite(observation).all() and np.isfinite(reward)
                    assert not ended


def test_targets_change_when_they_are_due():
    env = make(hold=0.1)
    targets = np.array([info["target"] for info in run(env, BalanceLaw(env.task), 40, seed=5)])
    changes = np.flatnonzero(np.any(np.diff(targets, axis=0) != 0.0, axis=1)) + 2
    assert_array_equal(changes, [10, 20, 30, 40])
    reach = 0.5 * env.task.ball.plate_radius
    assert (np.linalg.norm(targets, axis=1) <= reach).all()


def test_options_of_reset_and_of_the_ball():
    own = Ball(radius=0.01, mass=0.05, plate_radius=0.1, plate_height=0.2, inertia_factor=0.5)
    env = make(ball=own)
    start = [0.02, -0.03, 0.1, 0.0]
    _, info = env.reset(options={"target": [0.05, 0.01], "ball": start})
    assert_allclose(info["target"], [0.05, 0.01], rtol=1e-15)
    assert_allclose(info["ball_position"], start[:2], rtol=1e-12, atol=1e-15)
    assert_allclose(info["ball_velocity"], start[2:], rtol=1e-12, atol=1e-15)
    for wrong in ({"ball": [0.2, 0.0, 0.0, 0.0]}, {"target": [1.0]}):
        with refused():
            env.reset(options=wrong)
    for options in ({"ball": "steel"}, {"hold": 0.0}, {"action": "forces"}):
        with refused():
            make(**options)


def test_the_usual_ball_suits_the_machine():
    env = make(machine="micro_hexapod")
    assert env.task.batch.rolling_ball == ball_for(env.platform.parameters)
