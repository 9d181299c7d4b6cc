"""MotionCueing: its scores against the cueing package, its manoeuvres, actions, ends and errors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_all_refused, refused
from tolerance import assert_within, max_abs

import twin
from twin.envs.channels import channel_scales, channel_slices
from twin.envs.motion_cueing.task import MotionCueingEnv
from twin.envs.motion_cueing.washout import MotionPolicy, WashoutPolicy
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion.cueing import (
    Manoeuvre,
    cue,
    make_manoeuvre,
    perceived_error,
    sensed_manoeuvre,
    standstill_error,
)
from twin.motion.cueing.perception import PERCEPTION_THRESHOLDS

MACHINES = ("driving_simulator", "stewart")
ENGINES = ("analytic", "mujoco", "bullet")
REST = [0.0, 0.0, GRAVITY]


def beginning(name, seconds):
    """Return the first seconds of a manoeuvre."""
    manoeuvre = make_manoeuvre(name)
    count = int(np.searchsorted(manoeuvre.time, seconds)) + 1
    return Manoeuvre(
        name,
        manoeuvre.time[:count],
        manoeuvre.specific_force[:count],
        manoeuvre.angular_rate[:count],
    )


def followed(environment, policy, steps):
    """Return what was perceived in the vehicle and on the platform, and the last info."""
    observation, info = environment.reset(seed=1)
    policy.begin()
    rows = [np.stack([info["perceived_vehicle"], info["perceived_platform"]])]
    for _ in range(steps):
        observation, _, ended, _, info = environment.step(policy(observation))
        rows.append(np.stack([info["perceived_vehicle"], info["perceived_platform"]]))
        assert not ended
    return np.array(rows)[:, 0], np.array(rows)[:, 1], info


COMPARED = [
    *product(MACHINES, ["analytic"], [None, "hardware"]),
    ("stewart", "mujoco", "hardware"),
    ("stewart", "bullet", None),
    ("driving_simulator", "mujoco", None),
    ("driving_simulator", "bullet", "hardware"),
]
"""Machine, engine, configuration: every two of them together."""
assert {pair[:2] for pair in COMPARED} == set(product(MACHINES, ENGINES))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "engine", "configuration"), COMPARED)
def test_classical_washout_scores_as_in_the_comparison(name, engine, configuration):
    seconds = 3.0
    manoeuvre, machine = beginning("step_steer", seconds), twin.load(name)
    made = cue(machine, manoeuvre, "classical", scale=0.8)
    wanted = perceived_error(manoeuvre, sensed_manoeuvre(machine, made.motion, made.head), 0.01)
    environment = MotionCueingEnv(name, configuration, engine, manoeuvre=manoeuvre)
    policy = MotionPolicy(environment, made.motion)
    vehicle, platform, info = followed(environment, policy, 300)
    assert_allclose(vehicle, np.hstack(wanted.vehicle), rtol=1e-9, atol=1e-9)
    # What is left is how far the drives are off the motion: less than half a threshold.
    away = (
        np.sqrt(np.mean((platform - np.hstack(wanted.platform)) ** 2, axis=0))
        / PERCEPTION_THRESHOLDS
    )
    assert away.max() < 0.5
    assert info["score"] == pytest.approx(wanted.total, abs=0.02)
    assert info["false_cues"] == pytest.approx(wanted.total_false_cue, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("action", ["accelerations", "increments"])
@pytest.mark.parametrize("algorithm", ["classical", "adaptive"])
@pytest.mark.parametrize("name", MACHINES)
def test_washouts_beat_a_platform_at_rest(name, algorithm, action):
    manoeuvre = beginning("step_steer", 4.0)
    environment = MotionCueingEnv(name, manoeuvre=manoeuvre, action=action)
    score = followed(environment, WashoutPolicy(environment, algorithm), 400)[2]["score"]
    assert score < 0.95 * standstill_error(manoeuvre).total


def test_washout_about_the_head_moves_the_head():
    manoeuvre = beginning("braking", 3.0)
    environment = MotionCueingEnv("stewart", manoeuvre=manoeuvre, head=(0.0, 0.0, 0.5))
    made = cue(environment.platform, manoeuvre, "classical", head=(0.0, 0.0, 0.5), period=0.01)
    policy = WashoutPolicy(environment)
    observation, _ = environment.reset(seed=1)
    policy.begin()
    for k in range(1, 200):
        observation, *_, info = environment.step(policy(observation))
        if k in (100, 150):
            # The policy answers to the sample of the period before.
            wanted = made.motion.axes(0.01 * (k - 1)).values / made.shrink
            assert_within(info["command"], wanted, 3e-3)


@pytest.mark.parametrize("name", MACHINES)
def test_score_of_a_platform_at_rest(name):
    manoeuvre = beginning("braking", 3.0)
    environment = MotionCueingEnv(name, manoeuvre=manoeuvre)
    environment.reset(seed=0)
    rewards, action = [], np.zeros(environment.task.actions[0].size)
    for _ in range(300):
        *_, info = environment.step(action)
        rewards.append(info["reward_terms"])
    wanted = perceived_error(manoeuvre, manoeuvre.scaled(0.0), 0.01)
    assert info["score"] == pytest.approx(wanted.total, rel=1e-4)
    assert info["false_cues"] == pytest.approx(0.0, abs=1e-6)
    mean = sum(each["force"] + each["rotation"] for each in rewards) / 301
    assert mean == pytest.approx(-2.0 * (info["score"] / 10.0) ** 2, rel=1e-6)
    assert all(each["end"] == 0.0 and each["smoothness"] == 0.0 for each in rewards)


def test_preview_shows_the_manoeuvre_to_come():
    manoeuvre = make_manoeuvre("double_lane_change")
    environment = MotionCueingEnv("stewart", manoeuvre=manoeuvre, preview=3, preview_spacing=20)
    task = environment.task
    where, sizes = channel_slices(task.observations), channel_scales(task.observations)
    environment.reset(seed=0)
    for _ in range(130):
        observation = environment.step(np.zeros(6))[0]
    for k in range(4):
        force, rate = manoeuvre.at(1.3 + 0.2 * k)
        for name, value in (
            (f"specific force {k}", force[0] - REST),
            (f"angular rate {k}", rate[0]),
        ):
            found = observation[where[name]] * sizes[where[name]]
            assert_allclose(found, value, rtol=1e-5, atol=1e-6)


def test_episodes_can_choose_manoeuvre_and_intensity():
    environment = MotionCueingEnv("stewart", manoeuvre="slalom", intensity=0.7)
    table = environment.task.senses.table[0]
    for options, share in (({}, 0.7), ({"intensity": 0.2}, 0.2)):
        info = environment.reset(seed=0, options=options)[1]
        force = make_manoeuvre("slalom").at(5.0)[0][0] - REST
        assert_allclose(table[500, :3], share * force, rtol=1e-9, atol=1e-12)
        assert info["intensity"] == share
    environment.reset(options={"manoeuvre": "braking", "intensity": 0.25})
    force = make_manoeuvre("braking").at(3.0)[0][0] - REST
    assert_allclose(table[300, :3], 0.25 * force, rtol=1e-9, atol=1e-12)
    shares = []
    for seed in range(6):
        options = {"manoeuvre": "drive", "intensity": 0.8, "lowest_intensity": 0.5}
        shares.append(environment.reset(seed=seed, options=options)[1]["intensity"])
        assert max_abs(table) > 0.1
    assert len(set(shares)) == 6 and 0.5 <= min(shares) <= max(shares) <= 0.8


def test_leaving_the_range_ends_the_episode():
    environment = MotionCueingEnv("stewart", "hardware", action="velocities", margin=0.0)
    environment.reset(seed=0)
    random = np.random.default_rng(0)
    for k in range(1200):
        if k % 40 == 0:
            action = random.choice([-1.0, 1.0], 6)
        *_, ended, _, info = environment.step(action)
        if ended:
            break
    assert info["termination"] == "limit" and info["reward_terms"]["end"] == -1.0
    legs, scales = environment.task.batch.coordinates[0], environment.task.scales
    assert (legs > scales.upper).any() or (legs < scales.lower).any()


def test_options_that_cannot_be_used():
    assert_all_refused(
        lambda options: MotionCueingEnv("driving_simulator", **options),
        [
            ({"manoeuvre": "ring"}, "^manoeuvre"),
            ({"intensity": 1.5}, "^intensity"),
            ({"lowest_intensity": 1.5}, "^lowest_intensity"),
            ({"head": (0.0, 1.0)}, "^head"),
            ({"action": "velocities"}, "^action"),
            ({"preview": -1}, "^preview"),
            ({"margin": 0.5}, "^margin"),
        ],
    )


def test_resets_and_policies_that_cannot_be_used():
    environment = MotionCueingEnv("stewart", action="velocities")
    manoeuvre = make_manoeuvre("slalom")
    long = Manoeuvre("long", 2.0 * manoeuvre.time, manoeuvre.specific_force, manoeuvre.angular_rate)
    with refused():
        environment.reset(options={"manoeuvre": long})
    with refused():
        WashoutPolicy(environment)
    with refused():
        WashoutPolicy(MotionCueingEnv("stewart"), "predictive")
    with refused():
        MotionPolicy(MotionCueingEnv("stewart"), manoeuvre)
