"""PoseTracking: errors, rewards, actions and ends against independent calculations."""

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused
from tolerance import assert_within, max_abs

import twin
import twin.envs
from twin.control.controller import sample_reference
from twin.envs.pose_tracking.environment import PoseTrackingEnv
from twin.envs.random_motion import random_motion
from twin.envs.task import machine_scales
from twin.motion import SineMotion
from twin.rotations import displaced

ID = "twin/PoseTracking-v0"


def make(**options):
    return gym.make(ID, **options)


def sine(axis, amplitude, frequency, duration):
    return SineMotion(
        twin.load("stewart").home,
        amplitude={axis: amplitude},
        frequency=frequency,
        duration=duration,
    )


def run(env, action, steps):
    found = []
    for _ in range(steps):
        _, _, terminated, truncated, info = env.step(action)
        found.append(info)
        if terminated or truncated:
            break
    return found


@pytest.mark.parametrize("name", twin.machine_names())
def test_observation_is_what_the_sensors_tell(name):
    env = make(machine=name, preview=2)
    env.reset(seed=5)
    task = env.unwrapped.task
    n, batch = task.platform.n_actuators, task.batch
    action = np.full(env.action_space.shape, 0.1, dtype=np.float32)
    observation, _, _, _, info = env.step(action)
    motion = task.motions[0]
    assert motion is not None
    times = np.minimum(batch.period * np.arange(1, 5), motion.duration)
    poses = task.platform.constrain(*motion.sample(times)).pose
    coordinates = task.platform.inverse_kinematics(poses)
    if task.platform.n_deflections:
        coordinates = coordinates - (coordinates[0] - info["coordinate_error"] - batch.measured[0])
    rates = np.diff(coordinates, axis=0) / batch.period
    scales, law = task.scales, task.acting.law
    wandering = np.asarray(law.scale) * np.sqrt(batch.period / (6.0 * law.gain))
    fine = np.maximum(0.005 * scales.half, 0.4 * wandering)
    parts = {
        0: (coordinates[0] - batch.measured[0]) / fine,
        3: (batch.measured[0] - scales.middle) / scales.half,
        4: batch.measured_rates[0] / scales.speed,
        5: rates[0] / scales.speed,
        6: (rates[1] - rates[0]) / (0.1 * scales.speed),
        7: (rates[2] - rates[1]) / (0.1 * scales.speed),
        8: action,
    }
    for place, wanted in parts.items():
        if task.platform.n_deflections and place in (5, 6, 7):
            continue  # the springs' own yield changes on the way
        found = observation[place * n : (place + 1) * n]
        assert_allclose(found, np.clip(wanted, -10, 10), rtol=1e-6, atol=2e-6, err_msg=str(place))


def test_reward_is_the_weighted_sum_of_its_terms():
    weights = {"position": 0.3, "smoothness": 0.2, "economy": 0.7}
    env = make(weights=weights)
    env.reset(seed=0)
    random = np.random.default_rng(1)
    for _ in range(5):
        _, reward, _, _, info = env.step(random.uniform(-1.0, 1.0, 6))
        terms = info["reward_terms"]
        total = sum({"orientation": 0.5, **weights}[name] * terms[name] for name in terms)
        assert_allclose(reward, total, rtol=1e-12)


def test_pose_increments_move_the_pose():
    """A displacement from the reference, built up by increments, is where the platform settles."""
    still = sine("z", 1e-9, 1.0, 3.0)
    env = make(action="pose", motion=still)
    env.reset(seed=0)
    scale = np.asarray(env.unwrapped.task.actions[0].scale)
    run(env, np.array([1.0, 0.0, -1.0, 0.0, 1.0, 0.0]), 10)
    last = run(env, np.zeros(6), 280)[-1]
    wanted = 10.0 * scale * [-1.0, 0.0, 1.0, 0.0, -1.0, 0.0]
    found = np.concatenate([last["position_error"], last["orientation_error"]])
    assert_within(found, wanted, 2e-2 * max_abs(wanted))


def test_forces_hold_the_machine_at_home():
    still = sine("z", 1e-9, 1.0, 1.0)
    env = make(action="forces", motion=still)
    env.reset(seed=0)
    last = run(env, np.zeros(6), 50)[-1]
    assert np.linalg.norm(last["position_error"]) < 1e-6


def test_ends_have_reasons(subtests):
    for options, action, reason in [
        ({"largest_position_error": 0.002}, 1.0, "position"),
        ({"largest_attitude_error": 1e-6}, np.array([1, -1, 1, -1, 1, -1.0]), "attitude"),
        ({"residual": False, "overtravel": 0.0, "largest_position_error": 1.0}, 1.0, "limit"),
    ]:
        with subtests.test(f"{options}"):
            env = make(**options)
            env.reset(seed=0)
            infos = run(env, np.broadcast_to(np.asarray(action, dtype=float), (6,)), 500)
            assert infos[-1]["termination"] == reason
            assert all(info["termination"] == "" for info in infos[:-1])
            assert len(infos) < 500


def test_random_motions_stay_within_the_limits():
    for name in twin.machine_names():
        platform = twin.load(name)
        scales = machine_scales(platform)
        generator = np.random.default_rng(7)
        for share in (0.3, 1.0):
            n = platform.n_actuators
            rows = np.full((201, 7), np.nan), *np.full((2, 201, n), np.nan)
            motion = random_motion(
                platform, scales, generator, duration=2.0, lowest_frequency=0.2,
                highest_frequency=3.0, lines=4, fraction=share, period=0.01, rows=rows,
            )()  # fmt: skip
            reference = sample_reference(platform, motion, 0.01)
            for row, name_of in zip(rows, ("pose", "coordinates", "rates"), strict=True):
                expected = getattr(reference, name_of)
                assert_within(row, expected, 1e-14)
            assert reference.reachable.all()
            assert (np.abs(reference.rates) <= scales.speed).all()
            fine = platform.constrain(motion.sample(np.linspace(0.0, 2.0, 777)).pose).pose
            assert platform.within_limits(fine).mean() > 0.99
            used = max_abs(reference.coordinates - platform.home_coordinates)
            assert used > 1e-3 * scales.half.min()


@pytest.mark.parametrize("action", ["velocities", "pose"])
def test_motions_longer_than_random_ones_are_followed_to_their_end(action):
    """And the rows beside go on as if alone."""
    motion = sine("x", 0.01, 1.0, 0.5)
    for env in (make(duration=0.2, action=action), make(duration=0.5, action=action)):
        env.reset(seed=0, options={"motion": motion})
        info = run(env, np.zeros(6), 30)[-1]
        assert_within(info["reference_pose"], motion.sample(0.3).pose, 1e-14)
    vector = gym.make_vec(ID, 2, duration=0.2, action=action)
    vector.reset(seed=[5, 6])
    alone = make(duration=0.2, action=action)
    seen, _ = alone.reset(seed=5)
    for count in range(60):
        if count == 10:
            mask = np.array([False, True])
            rows, _ = vector.reset(options={"motion": motion, "reset_mask": mask})
        rows, *_ = vector.step(np.zeros((2, 6)))
        seen, *_ = alone.step(np.zeros(6))
        assert_array_equal(rows[0], seen)


@pytest.mark.parametrize("machine", ["stewart", "driving_simulator"])
def test_motions_may_begin_on_the_way(machine):
    """A machine with three degrees of freedom turns as it moves."""
    home = twin.load(machine).home
    motion = SineMotion(home, amplitude={"z": 0.01, "roll": 0.05}, frequency=0.5, duration=1.0)
    env = make(machine=machine, motion=motion)
    _, info = env.reset(seed=0)
    assert np.linalg.norm(info["twist"]) > 0.1
    infos = run(env, np.zeros(env.action_space.shape), 50)
    assert max(float(max_abs(each["position_error"])) for each in infos) < 5e-4


@pytest.mark.parametrize("machine", ["stewart", "driving_simulator", "rss"])
@pytest.mark.parametrize("residual", [True, False])
def test_pose_increments_begin_where_the_machine_is(machine, residual):
    platform = twin.load(machine)
    step = 0.05 * machine_scales(platform).half.min() * (1.0 if machine != "rss" else 0.1)
    begin = platform.constrain(displaced(platform.home, [0, 0, step, step, 0, 0]), np.zeros(6))
    motion = SineMotion(begin.pose, amplitude={"z": 1e-9}, frequency=1.0, duration=1.0)
    env = make(machine=machine, action="pose", residual=residual, motion=motion)
    env.reset(seed=0)
    infos = run(env, np.zeros(6), 50)
    assert len(infos) == 50
    moved = max(float(max_abs(info["position_error"])) for info in infos)
    assert moved < 1e-4 * step


def test_bad_options_of_an_episode_are_named():
    env = make()
    names = ("amplitude", "lowest_frequency", "highest_frequency")
    assert_all_refused(
        lambda name, value: env.reset(options={name: value}),
        [(name, value, name) for name in names for value in (-1.0, 1e9, np.nan, "much")],
    )


def test_bad_options_are_refused():
    assert_all_refused(
        lambda options: PoseTrackingEnv(**options),
        [
            ({"largest_position_error": np.inf}, "largest_position_error"),
            ({"action": "thoughts"}, "action"),
            ({"amplitude": 2.0}, "amplitude"),
            ({"motion": "tank"}, "motion"),
            ({"lowest_frequency": 5.0}, "lowest_frequency"),
            ({"randomisation": "hail"}, "randomisation"),
            (
                {"randomisation": {"sky.colour": {"kind": "uniform", "low": 0, "high": 1}}},
                "sky.colour",
            ),
        ],
    )


def test_randomised_machines_differ_and_are_logged():
    mass = {"kind": "uniform", "low": 0.5, "high": 2.0, "relative": True}
    env = make(randomisation={"platform.body.mass": mass})
    masses, weights = [], []
    for seed in range(3):
        _, info = env.reset(seed=seed)
        masses.append(info["randomised"]["platform.body.mass"])
        weights.append(float(np.abs(info["forces"]).sum()))
        platform = env.unwrapped.task.batch.platforms[0]
        assert platform.parameters.platform.body.mass == masses[-1]
    assert (np.diff(np.array(weights)[np.argsort(masses)]) > 0.0).all()
