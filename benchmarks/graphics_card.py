"""Rates of a graphics card against the processor, and the resources of its kernels.

Run `python benchmarks/graphics_card.py`; with `--compile` it prints registers, spills and local
memory of every kernel in place of rates, for which no card is needed.
"""

from __future__ import annotations

import argparse
import runpy
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.envs.episodes import Episodes
from twin.envs.pose_tracking.environment import PoseTrackingVectorEnv
from twin.envs.pose_tracking.task import PoseTracking
from twin.errors import TwinError
from twin.rotations import displaced
from twin.simulation.batched import make_batched_plant

SPAN = 1.0
"""[s] over which a rate is measured."""

STEPS = 10
"""Runge-Kutta steps of a call."""

LEARNING = Path(__file__).parents[1] / "examples" / "learning" / "ppo_on_the_card.py"

LEARNING_STEPS = 100_000_000
"""Control periods after which PPO ends short of the reward."""

Row = tuple[str, float, float]
"""What is counted, on the card and on the processor [1/s]"""


def rate(call: Callable[[], Any], count: int, wait: Callable[[], None]) -> float:
    """Return how often a second something happens that happens `count` times in a call."""
    call()
    wait()
    start, calls = perf_counter(), 0
    while perf_counter() - start < SPAN or calls < 2:
        call()
        calls += 1
        wait()
    return calls * count / (perf_counter() - start)


def dynamics_rows(platform: Platform, size: int, wait: Callable[[], None]) -> list[Row]:
    """Return the rates of forward dynamics, arrays on the card.

    The first row is the plain call. In the second, results go to an array that is kept, and
    failures are not looked for.
    """
    random, card = np.random.default_rng(0), platform.on("cuda")
    unchecked = platform.on("cuda", checked=False)
    poses = np.tile(platform.home, (size, 1))
    twists = platform.constrain(poses, 0.1 * random.normal(size=(size, 6))).twist
    forces = random.normal(size=(size, platform.n_actuators))
    given = [card.copied(array.reshape(-1)) for array in (poses, twists, forces)]
    on_card = [array.reshape(size, -1) for array in given]
    out = card.copied(np.zeros((size, 6 + platform.n_deflections)))
    processor = rate(lambda: platform.forward_dynamics(poses, twists, forces), size, lambda: None)
    plain = rate(lambda: card.forward_dynamics(*on_card), size, wait)
    kept = rate(lambda: unchecked.forward_dynamics(*on_card, out=out), size, wait)
    unchecked.check()
    return [("forward dynamics", plain, processor), ("the same, kept array", kept, processor)]


def search_row(platform: Platform, size: int, wait: Callable[[], None]) -> Row:
    """Return the rates of forward kinematics from home."""
    card = platform.on("cuda")
    shifts = 0.01 * np.random.default_rng(0).normal(size=(size, 6))
    coordinates = platform.inverse_kinematics(displaced(platform.home, shifts))
    on_card = card.copied(coordinates.reshape(-1)).reshape(size, -1)
    return (
        "forward kinematics",
        rate(lambda: card.forward_kinematics(on_card), size, wait),
        rate(lambda: platform.forward_kinematics(coordinates, platform.home), size, lambda: None),
    )


def steps_row(platform: Platform, size: int, few: int, wait: Callable[[], None]) -> Row:
    """Return the rates of Runge-Kutta steps; on the processor with ideal drives."""
    card, n, step = platform.on("cuda"), platform.n_actuators, 1e-4
    poses = card.copied(np.tile(platform.home, size)).reshape(size, 7)
    plant = make_batched_plant("analytic", platform, few, STEPS * step, step, mode="force")
    plant.reset(np.arange(few))
    forces = np.broadcast_to(plant.forces[0], (few, n)).copy()
    moved = lambda: card.advance(poses, np.zeros(6), forces[0], timestep=step, steps=STEPS)  # noqa: E731
    return (
        "Runge-Kutta steps",
        rate(moved, size * STEPS, wait),
        rate(lambda: plant.advance(forces), few * STEPS, lambda: None),
    )


def environment_row(machine: str, size: int, few: int, wait: Callable[[], None]) -> Row:
    """Return the rates of control periods of pose tracking, episodes of 500 periods included."""
    rates = []
    for count, device in ((size, "cuda"), (few, None)):
        options: dict[str, Any] = {"max_episode_steps": 500}
        if device:
            options["device"] = device
        env = PoseTrackingVectorEnv(count, machine, **options)
        env.reset(seed=0)
        actions: Any = np.zeros((count, *env.single_action_space.shape))
        if device:
            actions = twin.load(machine).on("cuda").copied(actions.reshape(-1))
            actions = actions.reshape(count, -1)
        given, waiting = actions, wait if device else lambda: None
        rates.append(rate(lambda env=env, given=given: env.step(given), count, waiting))
        env.close()
    return "environment steps", rates[0], rates[1]


def print_rates(machines: Sequence[str], size: int) -> None:
    """Print the rates of card and processor in one run."""
    from twin.model.device import cuda_library

    cuda, few = cuda_library(), min(size, 4096)
    print(f"{size} states or machines on the card; environments on the processor: {few}")
    print(f"{'machine':20} {'':20} {'card [1/s]':>14} {'processor [1/s]':>16} {'ratio':>8}")
    for name in machines:
        platform = twin.load(name)
        for what, card, processor in (
            *dynamics_rows(platform, size, cuda.synchronize),
            *([search_row(platform, size, cuda.synchronize)] if platform.dof == 6 else []),
            steps_row(platform, size, few, cuda.synchronize),
            environment_row(name, min(size, 65536), few, cuda.synchronize),
        ):
            ratio = card / processor
            print(f"{name:20} {what:20} {card:14.3e} {processor:16.3e} {ratio:8.2f}", flush=True)


def print_learning() -> None:
    """Print how long PPO takes on the card to the reward of the shipped policy."""
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    start = perf_counter()
    train = runpy.run_path(str(LEARNING))["train"]
    progress = deque(train("cuda", 8192, LEARNING_STEPS), maxlen=1).pop()
    waited = perf_counter() - start - progress.seconds
    print(
        f"PPO: reward {progress.reward:.4f} after {progress.seconds:.1f} s and {progress.steps:.2e}"
        f" steps, {waited:.1f} s of start before them"
    )


def kernels_of(machine: str) -> list[tuple[str, Any, tuple[Any, ...]]]:
    """Return name, kernel and types of the arguments of all kernels of a machine."""
    from twin.envs.pose_tracking.cuda_environment import prepare
    from twin.kernels.cuda.batches import Sizes
    from twin.kernels.cuda.compilation import FLOAT_ARRAY, machine_kernels, type_of

    legs = twin.load(machine).constants.legs
    episodes = Episodes(PoseTracking, machine, None, "analytic", 2, None, {"duration": 1.0})
    episodes.reset(np.arange(2), [np.random.default_rng(seed) for seed in range(2)])
    assert isinstance(episodes.task, PoseTracking)
    kernel, *groups = prepare(episodes.task, 4, 500, lambda array: array)
    environment = ("environment", kernel, (*map(type_of, groups), FLOAT_ARRAY))
    return [*machine_kernels(Sizes(type(legs), *legs.rows.shape)), environment]


def print_resources(machines: Sequence[str]) -> None:
    """Print registers, spills and local memory of all kernels."""
    from twin.kernels.cuda.compilation import COMPUTE_CAPABILITIES, resources, to_ptx

    heads = "".join(f"{f'sm_{a}{b}':>11} spilled   local" for a, b in COMPUTE_CAPABILITIES)
    print(f"{'machine':20} {'kernel':20}{heads}")
    print(f"{'':41}{'registers     [B]     [B]'.rjust(27) * len(COMPUTE_CAPABILITIES)}")
    for name in machines:
        for what, kernel, arguments in kernels_of(name):
            columns = ""
            for capability in COMPUTE_CAPABILITIES:
                taken = resources(to_ptx(kernel, arguments, capability), capability)
                columns += f"{taken.registers:11} {taken.spilled_bytes:7} {taken.local:7}"
            print(f"{name:20} {what:20}{columns}", flush=True)


def main() -> None:
    """Read the arguments and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", action="append", help="name; several are possible")
    parser.add_argument("--states", type=int, default=1 << 20, help="states on the card")
    parser.add_argument("--compile", action="store_true", help="resources in place of rates")
    given = parser.parse_args()
    machines = given.machine or list(twin.machine_names())
    try:
        if given.compile:
            print_resources(machines)
        else:
            print_rates(machines, given.states)
            print_learning()
    except TwinError as error:
        raise SystemExit(f"{error}") from None


if __name__ == "__main__":
    main()
