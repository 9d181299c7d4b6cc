"""Laws that every registered environment keeps, on every engine."""

import gc
import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import twin
import twin.envs
from twin.envs.environment import PlatformEnv
from twin.errors import ClosedEngineError, StateError

ENGINES = ("analytic", "mujoco", "bullet")

COMBINATIONS = [
    (name, engine)
    for row, name in enumerate(twin.envs.environment_ids())
    for engine in ("analytic", ENGINES[1 + row % 2])
]
"""Every environment on the reference and on another engine: it knows its batched plant alone, whose
rows are compared with each engine in `tests/simulation/batched`, and vectors with all engines."""
assert {engine for _, engine in COMBINATIONS} == set(ENGINES)

STEPS = 30

CLOSED = {"analytic": 1e-12, "mujoco": 1e-4, "bullet": 1e-3}
"""Loop gap allowed over the machine's reach: soft loops yield under their load."""

every_combination = pytest.mark.parametrize(
    ("name", "engine"), COMBINATIONS, ids=["-".join(each) for each in COMBINATIONS]
)


def make(name, engine="analytic", **options):
    """Return an environment without wrappers, as Gymnasium makes it."""
    env = gym.make(name, engine=engine, disable_env_checker=True, **options).unwrapped
    assert isinstance(env, PlatformEnv)
    return env


@pytest.fixture
def env(request):
    """The environment that a test's `name` and `engine` ask for."""
    given = request.node.callspec.params
    opened = make(given["name"], given.get("engine", "analytic"))
    yield opened
    opened.close()


def drive(env, seed, steps=STEPS):
    """Return all that a seeded run of random actions gives, episode after episode."""
    env.action_space.seed(seed)
    seen = [env.reset(seed=seed)]
    for _ in range(steps):
        seen.append(env.step(env.action_space.sample()))
        if seen[-1][2]:
            seen.append(env.reset())
    return seen


def same(first, second):
    """Return whether two runs are equal in every bit."""
    return bool(data_equivalence(first, second, exact=True))


class Screen:
    """Stands in for a window, where there is no display."""

    shown = 0

    def __init__(self, *_, **__):
        """Open nothing."""

    def show(self, pose, *_, **__):
        """Count what is shown."""
        assert np.shape(pose) == (7,)
        Screen.shown += 1

    def close(self):
        """Close nothing."""


@pytest.fixture
def no_screen(monkeypatch):
    """Environments that show themselves open no window, since a test has no screen."""
    monkeypatch.setattr("twin.viewer.window.Window", Screen)


@every_combination
def test_gymnasium_finds_no_fault(name, engine, env, no_screen):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=engine != "analytic")


@pytest.mark.quick
@every_combination
def test_the_same_seed_gives_the_same_run(name, engine, env):
    other = make(name, engine)
    first, second = drive(env, 11), drive(other, 11)
    assert same(first, second)
    assert same(first, drive(env, 11)), "what was before the reset is still there"
    assert not same(first, drive(other, 12))
    other.close()


@pytest.mark.quick
@every_combination
def test_everything_stays_in_its_space(name, engine, env):
    """Also under actions at the corners of their space, which end episodes soonest."""
    random = np.random.default_rng(5)
    ended = True
    for _ in range(3 * STEPS):
        if ended:
            observation, info = env.reset(seed=int(random.integers(1000)))
            assert observation in env.observation_space
        action = random.choice([-1.0, 1.0], env.action_space.shape).astype(np.float32)
        observation, reward, ended, truncated, info = env.step(action)
        assert observation in env.observation_space
        assert observation.dtype == np.float32 and np.isfinite(reward) and not truncated
        assert (info["termination"] != "") == ended
        assert set(info["reward_terms"]) == set(env.task.terms)
        total = sum(
            weight * info["reward_terms"][term]
            for term, weight in zip(env.task.terms, env.task.weights, strict=True)
        )
        assert_allclose(reward, total, rtol=1e-12, atol=1e-12)
        for value in info.values():
            if isinstance(value, float | np.ndarray):
                assert np.isfinite(value).all()


@every_combination
def test_resets_close_the_loops(name, engine, env):
    """Coordinates are those of the pose, and the first step finds nothing to pull together."""
    batch = env.task.batch
    reach = float(np.max(batch.platform.maximum_coordinates))
    for seed in range(5):
        env.reset(seed=seed)
        k = batch.platform.n_deflections
        lengths = batch.coordinates[0] + (batch.deflection[0, :k] if k else 0.0)
        found = batch.platforms[0].forward_kinematics(lengths, batch.pose[0])
        assert_allclose(found, batch.pose[0], rtol=1e-9, atol=1e-9)
        assert batch.gap[0] < 1e-9
        env.step(np.zeros(env.action_space.shape, dtype=np.float32))
        assert batch.gap[0] <= CLOSED[engine] * reach


@pytest.mark.parametrize("name", twin.envs.environment_ids())
@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_open_loops_end_the_episode(name, engine, constants):
    """With a limit that any motion exceeds; the next reset closes the loops again."""
    constants(f"twin.simulation.batched.{engine}", LARGEST_GAP=1e-14)
    env = make(name, engine)
    env.reset(seed=1)
    for _ in range(STEPS):
        observation, reward, ended, _, info = env.step(np.ones(env.action_space.shape))
        assert observation in env.observation_space and np.isfinite(reward)
        if ended:
            break
    assert ended and info["termination"] == "engine"
    assert info["loop_gap"] > 1e-14
    _, info = env.reset(seed=1)
    assert info["termination"] == "" and info["loop_gap"] < 1e-9
    env.close()


@every_combination
def test_copies_begin_the_same_episode(name, engine, env):
    """A copy is made anew from what the environment was made of, as Gymnasium's own are."""
    drive(env, 3, 5)
    copy = pickle.loads(pickle.dumps(env))
    assert copy.observation_space == env.observation_space
    assert copy.action_space == env.action_space
    assert same(drive(env, 4), drive(copy, 4))
    copy.close()


@every_combination
def test_closed_environments_say_so(name, engine, env):
    env.reset(seed=0)
    env.close()
    env.close()
    for call in (env.reset, lambda: env.step(np.zeros(env.action_space.shape)), env.render):
        with pytest.raises(ClosedEngineError, match="closed"):
            call()


CLIENTS = 64
"""Numbers that Bullet may give its clients in these tests."""


def connected():
    """Return how many clients of Bullet are open."""
    from twin.engines.bullet.world import bullet

    return sum(bool(bullet.isConnected(number)) for number in range(CLIENTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", twin.envs.environment_ids())
def test_closing_frees_the_engine(name):
    pytest.importorskip("pybullet")
    gc.collect()
    before = connected()
    for _ in range(2):
        env = make(name, "bullet")
        env.reset(seed=0)
        assert connected() > before
        env.close()
        assert connected() == before


@pytest.mark.pages
@pytest.mark.parametrize("name", twin.envs.environment_ids())
def test_pictures_of_all_kinds(name, no_screen):
    env = gym.make(name, render_mode="rgb_array")
    env.reset(seed=1)
    pictures = [env.render()]
    env.step(env.action_space.sample())
    pictures.append(env.render())
    for picture in pictures:
        assert picture.shape == (480, 640, 3) and picture.dtype == np.uint8
    assert_array_equal(pictures[1], env.render())
    env.close()
    small = gym.make(name, render_mode="rgb_array", render_size=(64, 48))
    small.reset(seed=1)
    assert small.render().shape == (48, 64, 3)
    small.close()
    several = gym.make(name, render_mode="rgb_array_list")
    several.reset(seed=1)
    several.step(several.action_space.sample())
    kept = several.render()
    assert len(kept) == 2
    assert_array_equal(kept[0], pictures[0])
    several.close()
    Screen.shown = 0
    shown = gym.make(name, render_mode="human")
    shown.reset(seed=1)
    shown.step(shown.action_space.sample())
    assert shown.render() is None or Screen.shown
    assert Screen.shown >= 2
    assert shown.metadata["render_fps"] == round(1.0 / shown.unwrapped.task.batch.period)
    shown.close()


@every_combination
def test_steps_divide_the_control_period(name, engine):
    with refused(field="timestep"):
        make(name, engine, period=0.01, timestep=0.003)
    env = make(name, engine, period=0.01, timestep=0.0005)
    assert env.task.batch.ratio == 20
    env.close()


def test_wrong_options_are_named(subtests):
    for field, options in [
        ("engine", {"engine": "newton"}),
        ("render_mode", {"render_mode": "ascii"}),
        ("fidelity", {"fidelity": "exact"}),
        ("period", {"period": -0.01}),
        ("timestep", {"timestep": np.nan}),
        ("weights", {"weights": {"no such term": 1.0}}),
        ("no_such_option", {"no_such_option": 1}),
    ]:
        for name in twin.envs.environment_ids():
            with subtests.test(f"{field}, {name}"):
                entry = gym.spec(name)
                with refused() as caught, warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # Gymnasium's own, of render modes
                    gym.make(entry, **options)
                assert caught.value.field == field


def test_actions_of_all_kinds_of_numbers(subtests):
    for kind in [np.int8, np.int64, np.float16, np.float64, np.longdouble, ">f4"]:
        with subtests.test(f"{kind}"):
            env = make("twin/PoseTracking-v0")
            wanted, found = [], []
            for given, seen in ((np.float32, wanted), (kind, found)):
                env.reset(seed=2)
                seen.append(env.step(np.ones(6, dtype=given)))
            assert same(wanted, found)
            env.close()


@pytest.mark.parametrize("name", twin.envs.environment_ids())
def test_numbers_of_the_task_vary(name):
    """All that the docstring promises, relative to the usual value."""
    with make(name) as usual:
        own = usual.task.default_values()
    document = " ".join((type(usual).__doc__ or "").split())
    assert own and all(f"`task.{each}`" in document for each in own)
    factor = {"kind": "uniform", "low": 0.8, "high": 0.9, "relative": True}
    with make(name, randomisation={f"task.{each}": factor for each in own}) as env:
        _, info = env.reset(seed=1)
        drawn = info["randomised"]
        assert set(drawn) == {f"task.{each}" for each in own}
        for each, value in own.items():
            assert 0.8 * value <= drawn[f"task.{each}"] <= 0.9 * value


def test_an_episode_that_was_refused_does_not_go_on():
    env = make("twin/PoseTracking-v0")
    env.reset(seed=0)
    with refused("options"):
        env.reset(options={"colour": "red"})
    with pytest.raises(StateError, match="reset"):
        env.step(np.zeros(6))
    env.close()
