"""Steps of environments: native vectors against Gymnasium's, and what one costs over its engine."""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time, thread_time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import twin.envs

ID, ISOLATION = "twin/PoseTracking-v0", "twin/VibrationIsolation-v0"

LONG = 10**9
"""Steps of an episode, such that resets do not count."""

assert twin.envs.environment_ids()


def vector(
    engine: str, size: int, mode: str, environment: str = ID, **options: Any
) -> gym.vector.VectorEnv[Any, Any, Any]:
    env = gym.make_vec(
        environment,
        num_envs=size,
        vectorization_mode=mode,
        engine=engine,
        max_episode_steps=500,
        **options,
    )
    env.reset(seed=0)
    return env


@pytest.mark.benchmark(group="vector environment, stewart, 100 Hz over 1 ms Runge-Kutta")
@pytest.mark.parametrize(
    ("engine", "mode", "size", "configuration"),
    [
        ("analytic", "vector_entry_point", 256, None),
        ("analytic", "vector_entry_point", 256, "hardware"),
        ("mujoco", "vector_entry_point", 32, None),
        ("mujoco", "sync", 32, None),
        ("bullet", "vector_entry_point", 8, None),
    ],
)
def test_vector_steps(benchmark, engine, mode, size, configuration):
    """Steps with random actions, episodes of 500 steps and their resets included."""
    env = vector(engine, size, mode, configuration=configuration)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (50, size, 6)).astype(np.float32)

    def steps():
        for action in actions:
            env.step(action)

    benchmark.pedantic(steps, rounds=10 if engine == "analytic" else 3, warmup_rounds=1)
    rate = size * len(actions) / benchmark.stats.stats.median
    benchmark.extra_info["environment steps per second"] = rate
    print(f"\n{engine} {mode} {size} {configuration}: {rate:,.0f} steps/s")
    env.close()


CLOCKS = {"clock": perf_counter, "all threads": process_time, "main thread": thread_time}


@pytest.mark.benchmark(group="native vector on MuJoCo beside SyncVectorEnv")
@pytest.mark.parametrize("size", [8, 32])
@pytest.mark.parametrize(
    ("environment", "configuration"), [(ID, None), (ID, "hardware"), (ISOLATION, None)]
)
def test_native_beside_sync(benchmark, environment, configuration, size):
    """Time of an environment step of both kinds, in turn: on the clock, and of the processor."""
    modes = ("vector_entry_point", "sync")
    envs = {
        mode: vector("mujoco", size, mode, environment, configuration=configuration)
        for mode in modes
    }
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (20, size, 6)).astype(np.float32)

    def steps(mode: str) -> list[float]:
        before = [read() for read in CLOCKS.values()]
        for action in actions:
            envs[mode].step(action)
        pairs = zip(CLOCKS.values(), before, strict=True)
        return [1e6 * (read() - start) / actions[..., 0].size for read, start in pairs]

    rounds = [[steps(mode) for mode in modes] for _ in range(6)][1:]
    native, sync = np.median(rounds, axis=0)
    for name, own, other in zip(CLOCKS, native, sync, strict=True):
        benchmark.extra_info[f"{name} in us"] = (own, other)
        print(f"\n{environment} {configuration} {size}, {name}: ", end="")
        print(f"{own:.0f} against {other:.0f} us, {other / own:.2f} times")
    benchmark.pedantic(steps, args=(modes[0],), rounds=1)
    for env in envs.values():
        env.close()


@pytest.mark.benchmark(group="one environment, stewart")
@pytest.mark.parametrize("engine", ["analytic", "mujoco", "bullet"])
def test_overhead_of_one_environment(benchmark, engine):
    """What a step takes beyond that of its engine and drives, alternating both in one run."""
    env = gym.make(ID, engine=engine, max_episode_steps=LONG, disable_env_checker=True)
    env.reset(seed=0)
    batch = env.unwrapped.task.batch
    action, command = np.zeros(6, dtype=np.float32), np.zeros((1, 6))
    rounds = 2000 if engine == "analytic" else 200
    whole, raw = [], []
    for _ in range(rounds):
        begin = perf_counter()
        env.step(action)
        middle = perf_counter()
        batch.advance(command)
        raw.append(perf_counter() - middle)
        whole.append(middle - begin)
    over = 1e6 * (median(whole) - median(raw))
    benchmark.extra_info["overhead in us"] = over
    print(f"\n{engine}: {1e6 * median(whole):.1f} us a step, {over:.1f} us over its engine")
    benchmark.pedantic(env.step, args=(action,), rounds=200, warmup_rounds=5)
    env.close()
