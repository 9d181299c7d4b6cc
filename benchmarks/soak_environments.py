"""A million random actions in an environment: no NaN, no growth, observations inside the space.

Run `python benchmarks/soak_environments.py --help`; prints one line per environment and engine.
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path
from time import perf_counter

import gymnasium as gym
import numpy as np

import twin.envs

GROWTH = 50.0
"""MB of memory by which a run may grow."""


def resident() -> float:
    """Return the resident memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def soak(
    environment: str,
    engine: str,
    steps: int,
    size: int,
    configuration: str,
    period: float | None,
) -> bool:
    """Step one vector environment with random actions; return whether nothing was wrong."""
    options = {} if period is None else {"period": period}
    env = gym.make_vec(
        environment,
        num_envs=size,
        vectorization_mode="vector_entry_point",
        engine=engine,
        configuration=configuration,
        autoreset_mode="SameStep",
        **options,
    )
    env.reset(seed=0)
    random = np.random.default_rng(0)
    space, rounds = env.observation_space, -(-steps // size)
    shape = (size, *env.single_action_space.shape)
    begin, start, ends, inside = perf_counter(), 0.0, 0, True
    for count in range(rounds):
        action = random.uniform(-1.0, 1.0, shape).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        inside &= bool((observation >= space.low).all() and (observation <= space.high).all())
        inside &= bool(np.isfinite(reward).all())
        ends += int(terminated.sum() + truncated.sum())
        if count == rounds // 20:
            start = resident()
    growth = resident() - start
    env.close()
    rate = rounds * size / (perf_counter() - begin)
    good = inside and growth < GROWTH
    used = env.unwrapped.task.batch.period
    print(
        f"{environment} {engine} {configuration}, period {used:g} s: {rounds * size:,} steps, "
        f"{ends} episodes, {rate:,.0f} steps/s, grown by {growth:.1f} MB, "
        f"{'good' if good else 'WRONG'}",
        flush=True,
    )
    return good


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", action="append", choices=twin.envs.environment_ids())
    parser.add_argument("--engine", action="append", choices=("analytic", "mujoco", "bullet"))
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--configuration", default="ideal")
    parser.add_argument("--period", type=float, default=None, help="of control [s]")
    given = parser.parse_args()
    results = [
        soak(environment, engine, given.steps, given.size, given.configuration, given.period)
        for environment in given.environment or twin.envs.environment_ids()
        for engine in given.engine or ("analytic", "mujoco", "bullet")
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
