"""The native vector environments against single ones, bit for bit, through many episodes."""

import itertools
import json
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin.envs
from twin.envs.vector import PlatformVectorEnv
from twin.errors import ClosedEngineError, StateError

ENGINES = ("analytic", "mujoco", "bullet")

MODES = tuple(AutoresetMode)

ROWS, STEPS, LIMIT = 3, 28, 6
"""Episodes are so short that each row goes through several."""

SPREAD = {
    "platform.body.mass": {"kind": "uniform", "low": 0.8, "high": 1.2, "relative": True},
    "gravity": {"kind": "uniform", "low": 9.0, "high": 10.0},
}

COMBINATIONS = [
    (name, engine, MODES[(row + column) % len(MODES)])
    for row, name in enumerate(twin.envs.environment_ids())
    for column, engine in enumerate(ENGINES)
]
"""Every environment on every engine, and each of both with every mode: how rows begin anew is
written once for all environments and engines."""
assert {(engine, mode) for _, engine, mode in COMBINATIONS} == set(
    itertools.product(ENGINES, MODES)
)


def native(name, engine="analytic", rows=ROWS, **options):
    """Return the environment's own vector version."""
    made = gym.make_vec(
        name, rows, vectorization_mode="vector_entry_point", engine=engine, **options
    )
    assert isinstance(made, PlatformVectorEnv)
    return made


def singles(name, engine, mode, rows=ROWS, **options):
    """Return single environments, stepped one after the other by Gymnasium."""

    def one():
        return gym.make(name, engine=engine, disable_env_checker=True, **options)

    return SyncVectorEnv([one] * rows, autoreset_mode=mode)


def parts(infos, row):
    """Return what a vector's infos say of one row."""
    said = {}
    for key, value in infos.items():
        if key.startswith("_") or not infos[f"_{key}"][row]:
            continue
        said[key] = parts(value, row) if isinstance(value, dict) else value[row]
    return said


def assert_same(mine, its, rows=ROWS):
    """Compare what two vectors return: arrays, and the infos of each row."""
    *arrays, infos = mine
    *others, their_infos = its
    for array, other in zip(arrays, others, strict=True):
        assert array.dtype == other.dtype
        assert_array_equal(array, other)
    for row in range(rows):
        own, other = parts(infos, row), parts(their_infos, row)
        for key in set(own) | set(other):
            assert data_equivalence(own.get(key), other.get(key), exact=True), (
                f"{key} of row {row}: {own.get(key)!r}, {other.get(key)!r}"
            )


def run_both(mine, its, mode, change=np.copy):
    """Step two vectors with the same actions; returns how many episodes were cut and ended."""
    cut = ended = 0
    random = np.random.default_rng(8)
    assert_same(mine.reset(seed=21), its.reset(seed=21))
    for _ in range(STEPS):
        action = change(random.uniform(-1.0, 1.0, mine.action_space.shape).astype(np.float32))
        one, other = mine.step(action), its.step(action)
        assert_same(one, other)
        over = one[2] | one[3]
        ended, cut = ended + int(one[2].sum()), cut + int(one[3].sum())
        if mode is AutoresetMode.DISABLED and over.any():
            options = [{"reset_mask": over.copy()} for _ in range(2)]
            assert_same(mine.reset(options=options[0]), its.reset(options=options[1]))
    return cut, ended


@pytest.mark.slow
def test_a_vector_is_its_single_environments(subtests):
    for name, engine, mode in COMBINATIONS:
        with subtests.test(f"{name}"):
            options = {"max_episode_steps": LIMIT, "randomisation": SPREAD}
            mine = native(name, engine, autoreset_mode=mode, **options)
            its = singles(name, engine, mode, **options)
            cut, ended = run_both(mine, its, mode)
            assert cut + ended >= 2 * ROWS
            mine.close()
            its.close()


def test_episodes_that_end_are_the_same(subtests):
    """Rows that leave their reference end at different times."""
    for mode in MODES:
        with subtests.test(f"{mode}"):
            name = "twin/PoseTracking-v0"
            options = {"largest_position_error": 0.004, "residual": False}
            mine = native(name, autoreset_mode=mode, **options)
            its = singles(name, "analytic", mode, **options)
            cut, ended = run_both(mine, its, mode, change=np.sign)
            assert ended >= 2 * ROWS and cut == 0


@pytest.mark.parametrize("name", twin.envs.environment_ids())
def test_spaces_and_metadata(name):
    env, single = native(name), gym.make(name)
    assert env.num_envs == ROWS
    assert env.single_observation_space == single.observation_space
    assert env.single_action_space == single.action_space
    assert env.observation_space.shape == (ROWS, *single.observation_space.shape)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert env.max_episode_steps == gym.spec(name).max_episode_steps
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space
    assert len(env.np_random) == len(env.np_random_seed) == ROWS


def test_returned_arrays_are_the_callers():
    """What one call returned, the next leaves alone."""
    env = native("twin/PoseTracking-v0")
    env.reset(seed=0)
    calls = [env.step(env.action_space.sample()) for _ in range(2)]
    kept = pickle.loads(pickle.dumps(calls))
    env.step(env.action_space.sample())
    assert data_equivalence(calls, kept, exact=True)


@pytest.mark.pages
def test_pictures_of_all_rows():
    env = native("twin/PoseTracking-v0", render_mode="rgb_array")
    env.reset(seed=3)
    for _ in range(10):
        env.step(env.action_space.sample())
    pictures = env.render()
    assert len(pictures) == ROWS
    single = gym.make("twin/PoseTracking-v0", render_mode="rgb_array")
    single.reset(seed=3)
    assert single.render().shape == pictures[0].shape
    assert (pictures[0] != pictures[1]).any()
    env.close()


def test_copies_begin_the_same_episodes():
    env = native("twin/PoseTracking-v0", "mujoco", max_episode_steps=5, autoreset_mode="SameStep")
    env.reset(seed=0)
    copy = pickle.loads(pickle.dumps(env))
    assert copy.num_envs == ROWS and copy.max_episode_steps == 5
    assert copy.autoreset_mode is AutoresetMode.SAME_STEP
    assert data_equivalence(env.reset(seed=4), copy.reset(seed=4), exact=True)


def test_minus_one_is_no_limit_as_in_gymnasium():
    env = native("twin/PoseTracking-v0", max_episode_steps=-1)
    assert env.max_episode_steps is None
    env.close()


def test_rows_whose_reset_was_refused_do_not_go_on():
    env = native("twin/PoseTracking-v0", render_mode="rgb_array")
    with pytest.raises(StateError, match="reset"):
        env.render()
    env.reset(seed=0)
    with refused("options"):
        env.reset(options={"colour": "red"})
    with pytest.raises(StateError, match="reset"):
        env.step(env.action_space.sample())
    env.close()


def test_wrong_use_is_refused():
    env = native("twin/PoseTracking-v0", autoreset_mode=AutoresetMode.DISABLED, max_episode_steps=1)
    action = env.action_space.sample()
    with pytest.raises(StateError):
        env.step(action)
    env.reset(seed=0)
    env.step(action)
    with pytest.raises(StateError, match="reset"):
        env.step(action)
    for mask in (np.ones(2, dtype=bool), np.zeros(ROWS, dtype=bool), np.ones(ROWS)):
        with refused(field="reset_mask"):
            env.reset(options={"reset_mask": mask})
    env.close()
    env.close()
    for call in (env.reset, lambda: env.step(action), env.render):
        with pytest.raises(ClosedEngineError):
            call()


@pytest.mark.slow
def test_rows_have_the_attributes_of_single_environments():
    env = native("twin/PoseTracking-v0", render_mode="rgb_array")
    single = gym.make("twin/PoseTracking-v0", render_mode="rgb_array").unwrapped
    env.reset(seed=[4, 5, 6])
    single.reset(seed=5)
    assert env.get_attr("platform") == (env.platform,) * ROWS
    assert env.get_attr("np_random_seed") == (4, 5, 6)
    assert env.call("action_space")[1] == single.action_space
    assert_array_equal(env.get_attr("scene")[1].pose, single.scene.pose)
    assert_array_equal(env.call("render")[1], single.render())
    env.set_attr("difficulty", [1, 2, 3])
    assert env.get_attr("difficulty") == (1, 2, 3)
    env.set_attr("difficulty", 7)
    assert env.envs[2].get_wrapper_attr("difficulty") == 7
    with pytest.raises(AttributeError, match="colour"):
        env.get_attr("colour")
    for name, values in (("platform", 1), ("scene", 1), ("difficulty", [1, 2])):
        with refused():
            env.set_attr(name, values)
    env.close()
    single.close()


def test_without_info_the_rest_is_the_same():
    options = {"max_episode_steps": LIMIT, "info": False}
    mode = AutoresetMode.SAME_STEP
    mine = native("twin/PoseTracking-v0", autoreset_mode=mode, **options)
    its = singles("twin/PoseTracking-v0", "analytic", mode, **options)
    assert sum(run_both(mine, its, mode)) >= 2 * ROWS
    *_, infos = mine.step(mine.action_space.sample())
    assert not set(infos) - {"final_obs", "_final_obs", "final_info", "_final_info"}
    mine.close()
    its.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", twin.envs.environment_ids())
def test_scales_change_what_numbers_mean_and_nothing_else(name):
    """Observations in other scales, and actions in half: twice the action does the same."""
    usual = gym.make(name)
    task = usual.unwrapped.task
    seen = {each.name: 2.0 * np.asarray(each.scale) for each in task.observations}
    seen["last action"] = 1.0
    moved = {each.name: 0.5 * np.asarray(each.scale) for each in task.actions}
    other = gym.make(name, scales=json.loads(json.dumps(seen | moved, default=np.ndarray.tolist)))
    usual.reset(seed=3)
    other.reset(seed=3)
    random = np.random.default_rng(1)
    last = [channel.name for channel in task.observations].index("last action")
    start = sum(channel.size for channel in task.observations[:last])
    for _ in range(5):
        action = random.uniform(-0.5, 0.5, usual.action_space.shape)
        one, _, _, _, info = usual.step(action)
        two, _, _, _, same = other.step(2.0 * action)
        assert_array_equal(info["pose"], same["pose"])
        inside = np.abs(one[:start]) < 10.0
        assert_allclose(two[:start][inside], 0.5 * one[:start][inside], rtol=1e-6)
        assert_allclose(two[start:], 2.0 * one[start:], rtol=1e-6)
    usual.close()
    other.close()
