"""VibrationIsolation: shaking, sensors, rewards and ends against independent calculations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within, max_abs

import twin
import twin.envs
from twin.analysis.frequency.linear import frequency_response
from twin.control.linear.lqr import linearise
from twin.envs.channels import channel_slices
from twin.envs.pose_tracking.environment import PoseTrackingEnv
from twin.envs.random_motion import (
    ShakingTables,
    fill_tables,
    random_lines,
    spectrum,
    usual_acceleration,
)
from twin.envs.task import machine_scales
from twin.envs.vibration_isolation import (
    IsolationLaw,
    VibrationIsolationEnv,
    VibrationIsolationVectorEnv,
)

QUIET = {"accelerometer_noise": 0.0, "gyroscope_noise": 0.0}


def shaking_tables(lines, periods, ratio, timestep):
    """Return the base motion over control periods of `ratio` steps of `timestep` [s]."""
    tables = ShakingTables(np.empty((periods, ratio, 3)), np.empty((periods + 1, 3)))
    fill_tables(lines, timestep, tables)
    return tables


def run(env, policy, steps, **reset):
    """Return the infos of an episode under a policy, or under an action."""
    observation, info = env.reset(**reset)
    found = []
    for _ in range(steps):
        action = policy(observation) if callable(policy) else policy
        observation, reward, ended, _, info = env.step(action)
        found.append({**info, "observation": observation, "reward": reward})
        if ended:
            break
    return found


def stacked(infos, name):
    return np.array([info[name] for info in infos])


def test_a_base_swings_from_rest_to_rest():
    lines = random_lines(np.random.default_rng(1), 0.7, 2.0, 30.0, 6)
    tables = shaking_tables(lines, 400, 5, 1e-3)
    steps = tables.mean.reshape(-1, 3)
    velocity = np.vstack([np.zeros(3), 1e-3 * np.cumsum(steps, axis=0)])
    place = np.vstack([np.zeros(3), np.cumsum(5e-4 * (velocity[1:] + velocity[:-1]), axis=0)])
    peak = max_abs(tables.displacement)
    assert max_abs(velocity[-1]) < 1e-12 * max_abs(velocity)
    assert not np.abs(tables.displacement[[0, -1]]).any()
    # Held accelerations cut the corners of the fastest line: (omega h)^2 / 12 of it.
    assert_within(place[::5], tables.displacement, 5e-3 * peak)


def test_lines_keep_their_band_and_size():
    low, high, given = 1.5, 12.0, 0.4
    lines = random_lines(np.random.default_rng(2), given, low, high, 40)
    assert lines[..., 0].min() >= low and lines[..., 0].max() <= high
    part = np.log(lines[..., 0] / low) / np.log(high / low) * 40
    assert_array_equal(np.floor(part), np.tile(np.arange(40), (3, 1)))
    tables = shaking_tables(lines, 12000, 1, 5e-3)
    inner = tables.mean[200:-200, 0]
    assert_allclose(inner.std(axis=0), given, rtol=0.03)
    level = spectrum(given, low, high)
    assert_allclose(tables.displacement[200:-200].std(axis=0), level.displacement, rtol=0.1)
    speed = np.diff(tables.displacement, axis=0)[200:-200] / 5e-3
    assert_allclose(speed.std(axis=0), level.velocity, rtol=0.1)
    narrow = spectrum(given, 5.0, 5.0)
    assert_allclose(narrow.displacement, given / (10.0 * np.pi) ** 2, rtol=1e-6)


@pytest.mark.parametrize("name", twin.machine_names())
def test_the_usual_shaking_stays_within_the_actuators(name):
    """What the base does, undone by the legs, takes less than their travel and speed."""
    platform = twin.load(name)
    scales = machine_scales(platform)
    size = usual_acceleration(platform, scales, 1.0, 20.0)
    jacobian = platform.jacobian(platform.home)[:, :3]
    for seed in range(5):
        lines = random_lines(np.random.default_rng(seed), size, 1.0, 20.0, 8)
        tables = shaking_tables(lines, 800, 1, 5e-3)
        assert (np.abs(tables.displacement @ jacobian.T) < 0.6 * scales.half).all()
        speed = np.diff(tables.displacement, axis=0) / 5e-3
        assert (np.abs(speed @ jacobian.T) < scales.speed).all()


@pytest.mark.slow
def test_noise_is_that_of_the_readings():
    env = VibrationIsolationVectorEnv(16, accelerometer_noise=0.3, gyroscope_noise=0.02)
    still = VibrationIsolationVectorEnv(16, **QUIET)
    noisy, clean = (each.reset(seed=1)[0] for each in (env, still))
    seen = []
    for _ in range(50):
        zero = np.zeros(env.action_space.shape)
        noisy, clean = (each.step(zero)[0] for each in (env, still))
        seen.append(noisy - clean)
    found = np.array(seen).reshape(-1, noisy.shape[1])
    scale = np.array([float(np.ravel(c.scale)[0]) for c in env.task.observations[:4]])
    for k, size in ((0, 0.3), (1, 0.02), (3, 0.3)):
        part = found[:, 3 * k : 3 * k + 3] * scale[k]
        assert_allclose(part.std(axis=0), size, rtol=0.1)
        assert max_abs(part.mean(axis=0)) < 0.15 * size


@pytest.mark.slow
def test_what_arrives_is_what_the_linear_model_says(subtests):
    """One line of shaking, and the forces with which the drives hold, through the linear model."""
    for frequency in [3.0, 6.5, 14.0]:
        with subtests.test(f"{frequency}"):
            env = VibrationIsolationEnv(
                lowest_frequency=frequency,
                highest_frequency=frequency,
                lines=1,
                acceleration=0.02,
                duration=8.0,
                period=1e-3,
                **QUIET,
            )
            infos = run(env, np.zeros(6), 6000, seed=3)[2000:]
            time = 1e-3 * np.arange(len(infos))
            wave = np.hanning(len(time)) * np.exp(-2j * np.pi * frequency * time)
            given, left, forces = (
                wave @ stacked(infos, name)
                for name in ("base_acceleration", "absolute_acceleration", "forces")
            )
            model, where = linearise(env.platform), np.array([frequency])
            wanted = frequency_response(model, "base_acceleration", "absolute_acceleration", where)[
                0
            ]
            pushed = frequency_response(model, "forces", "absolute_acceleration", where)[0]
            found = (wanted @ given + pushed @ forces)[:3]
            # Means over a step are of the second order in it: (omega h)^2 / 6.
            assert_within(left, found, 5e-3 * max_abs(found))


def test_without_actions_the_drives_hold():
    env = VibrationIsolationEnv(configuration="hardware", **QUIET)
    infos = run(env, np.zeros(6), 400, seed=3)
    away = stacked(infos, "observation")[:, channel_slices(env.task.observations)["coordinate"]]
    held = max_abs(away * env.task.observations[6].scale)
    moved = max_abs(stacked(infos, "pose")[:, :3] - env.platform.home[:3])
    assert held < 0.1 * moved


def test_absolute_motion_is_that_of_base_and_platform():
    env = VibrationIsolationEnv(**QUIET)
    infos = run(env, np.zeros(6), 300, seed=0)
    period, home = env.task.batch.period, env.platform.home[:3]
    place = stacked(infos, "absolute_displacement")
    base = place - (stacked(infos, "pose")[:, :3] - home)
    rate = period * np.cumsum(stacked(infos, "base_acceleration"), axis=0)
    assert_within(
        np.diff(base, axis=0),
        0.5 * period * (rate[1:] + rate[:-1]),
        2e-2 * max_abs(np.diff(base, axis=0)),
    )
    squares = [np.sum(stacked(infos, f"{name}_acceleration") ** 2) for name in ("absolute", "base")]
    ratio = float(np.sqrt(squares[0] / squares[1]))
    assert infos[-1]["transmissibility"] == pytest.approx(ratio, rel=1e-9)


def test_the_base_rests_after_its_shaking():
    env = VibrationIsolationEnv("stewart", duration=0.5)
    infos = run(env, np.zeros(6), 300, seed=0)
    given = stacked(infos, "base_acceleration")
    assert max_abs(given[:100]) > 0.3 and not np.abs(given[100:]).any()
    assert max_abs(infos[-1]["absolute_acceleration"]) < 0.01


@pytest.mark.parametrize("machine", ["stewart", "compliant_stewart"])
def test_forces_hold_the_machine_at_home(machine):
    env = VibrationIsolationEnv(machine, action="forces", acceleration=1e-9)
    infos = run(env, np.zeros(6), 40, seed=0)
    assert max_abs(infos[-1]["absolute_displacement"]) < 1e-6


@pytest.mark.parametrize(
    ("configuration", "engine"),
    [
        (None, "analytic"),
        ("hardware", "analytic"),
        pytest.param("hardware", "mujoco", marks=pytest.mark.slow),
        pytest.param(None, "bullet", marks=pytest.mark.slow),
    ],
)
def test_a_law_keeps_the_platform_stiller_than_the_passive_machine(configuration, engine):
    pytest.importorskip({"bullet": "pybullet"}.get(engine, "mujoco"))
    env = VibrationIsolationEnv(configuration=configuration, engine=engine)
    passive, active = (
        run(env, policy, 250, seed=1) for policy in (np.zeros(6), IsolationLaw(env.task))
    )
    left = [
        float(np.linalg.norm(stacked(infos, "absolute_acceleration")))
        for infos in (passive, active)
    ]
    assert left[1] < 0.3 * left[0]
    rewards = [float(np.mean(stacked(infos, "reward"))) for infos in (passive, active)]
    assert rewards[1] > rewards[0] + 0.2


def test_a_rigid_machine_is_kept_still_by_moving_against_its_base():
    env = VibrationIsolationEnv("stewart")
    passive, active = (
        run(env, policy, 250, seed=1)[-1]["transmissibility"]
        for policy in (np.zeros(6), IsolationLaw(env.task))
    )
    assert active < 0.3 < 0.9 < passive


def test_the_law_is_linear_and_within_the_actions():
    env = VibrationIsolationEnv()
    law = IsolationLaw(
        env.task, base_gain=2.0, base_delay=0.0, velocity_gain=0.0, acceleration_gain=0.0
    )
    observation = np.zeros((4, 5, env.observation_space.shape[0]))
    where = channel_slices(env.task.observations)["base velocity"]
    observation[..., where] = [0.1, -0.2, 0.3]
    scale = env.task.observations[5].scale
    wanted = (
        -2.0
        * env.platform.jacobian(env.platform.home)[:, :3]
        @ np.multiply([0.1, -0.2, 0.3], scale)
    )
    wanted = wanted / env.task.actions[0].scale
    assert law(observation).shape == (4, 5, 6)
    assert_allclose(law(observation)[2, 3], wanted, rtol=1e-12, atol=1e-15)
    assert max_abs(law(1e3 * observation)) == 1.0
    for wrong in ({"base_gain": np.nan}, {"base_delay": "long"}, {"velocity_gain": [1.0, 2.0]}):
        with refused(next(iter(wrong))):
            IsolationLaw(env.task, **wrong)
    for task in (VibrationIsolationEnv(action="forces").task, PoseTrackingEnv().task, None):
        with refused("task"):
            IsolationLaw(task)


@pytest.mark.parametrize(
    ("options", "action", "reason"),
    [
        ({"overtravel": 0.0, "action_scale": 1.0}, 1.0, "limit"),
        ({"largest_attitude": 0.01}, np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), "attitude"),
    ],
)
def test_ends_have_reasons(options, action, reason):
    env = VibrationIsolationEnv(**options)
    infos = run(env, np.broadcast_to(np.asarray(action, dtype=float), (6,)), 800, seed=0)
    assert infos[-1]["termination"] == reason and len(infos) < 800
    assert all(info["termination"] == "" for info in infos[:-1])
    with pytest.warns(UserWarning, match="after the end"):
        *_, ended, _, _ = env.step(np.zeros(6))
    assert ended


def test_bad_options_are_refused():
    assert_all_refused(
        lambda options: VibrationIsolationEnv(**options),
        [
            ({"action": "pose"}, "action"),
            ({"acceleration": -1.0}, "acceleration"),
            ({"lowest_frequency": 30.0}, "lowest_frequency"),
            ({"lines": 0}, "lines"),
            ({"accelerometer_noise": np.nan}, "accelerometer_noise"),
        ],
    )


def test_episodes_may_be_shaken_otherwise():
    env = VibrationIsolationEnv(**QUIET)
    sizes = []
    for size in (0.1, 0.2):
        infos = run(env, np.zeros(6), 100, seed=0, options={"acceleration": size})
        sizes.append(stacked(infos, "base_acceleration"))
    assert_allclose(sizes[1], 2.0 * sizes[0], rtol=1e-9, atol=1e-12)
