"""Python around compiled steps, as ratios within one run: closed loops, environments, resets.

Run `python benchmarks/overhead.py`. With `--save` the ratios are added to
`benchmarks/results/overhead.csv` with the commit they belong to. Times are processor times, both
parts of a ratio measured in turn: other work on the machine slows both.

The unit is a control period of 10 ms of one machine with its drives in the batched plant, compiled
from end to end and called once a period; of closed loops the same time, controlled at 1 kHz.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import gymnasium as gym
import numpy as np

import twin
import twin.envs
from twin.control import make_controller
from twin.motion import SineMotion
from twin.simulation.batched import make_batched_plant

RESULTS = Path(__file__).parent / "results" / "overhead.csv"

ROUNDS = 15

PERIODS = 200
"""Control periods in a round."""

ENVIRONMENTS = ("PoseTracking", "MotionCueing", "VibrationIsolation", "BallBalance")
CONTROLLERS = ("cascade", "feedforward", "computed_torque")
HEAVIER = {"platform.body.mass": {"kind": "uniform", "low": 0.9, "high": 1.1, "relative": True}}

Row = tuple[str, str, float]
"""Name of a ratio, configuration of the machine, ratio"""


def ratio(one: Callable[[], Any], other: Callable[[], Any], share: float = 1.0) -> float:
    """Return the processor time of a call of `one` per `share` of that of `other`."""
    ratios = []
    for _ in range(ROUNDS + 1):
        times = [process_time()]
        for call in (one, other):
            call()
            times.append(process_time())
        ratios.append((times[1] - times[0]) / (share * (times[2] - times[1])))
    return median(ratios[1:])


def compiled_periods(batch: Any) -> Callable[[], None]:
    """Return a call that advances a batched plant by `PERIODS` periods."""
    still = np.zeros((1, 6))

    def periods() -> None:
        for _ in range(PERIODS):
            batch.advance(still)

    return periods


def closed_loops(configuration: str | None) -> Iterator[Row]:
    """Yield what a closed loop takes, per compiled periods of the same time."""
    machine = twin.load("stewart", configuration)
    motion = SineMotion(machine.home, amplitude={"z": 0.01}, frequency=1.0, duration=1.0)
    batch = make_batched_plant("analytic", machine, 1)
    batch.reset(np.zeros(1, dtype=int))
    options: dict[str, Any] = {"timestep": batch.timestep, "fidelity": "fast", "progress": False}
    for name in CONTROLLERS:
        options["controller"] = make_controller(name, machine, motion)
        run = partial(machine.simulate, PERIODS * batch.period, **options)
        yield f"closed loop, {name}", configuration or "ideal", ratio(run, compiled_periods(batch))


def environments(configuration: str | None) -> Iterator[Row]:
    """Yield what a step and a reset of an environment take, per compiled period."""
    label = configuration or "ideal"
    for name in ENVIRONMENTS:
        plain, varied = (environment(name, configuration, spread) for spread in (None, HEAVIER))
        periods = compiled_periods(plain.task.batch)
        action = np.zeros(plain.action_space.shape, dtype=np.float32)

        def steps(env: Any = plain, action: Any = action) -> None:
            for _ in range(PERIODS):
                env.step(action)

        yield f"{name}: step", label, ratio(steps, periods, 1.0)
        yield f"{name}: reset", label, ratio(plain.reset, periods, 1.0 / PERIODS)
        yield f"{name}: randomised reset", label, ratio(varied.reset, periods, 1.0 / PERIODS)


def reset_time(name: str, configuration: str | None) -> float:
    """Return the median processor time [ms] of a reset with another mass."""
    varied, times = environment(name, configuration, HEAVIER), []
    for _ in range(10 * ROUNDS):
        begin = process_time()
        varied.reset()
        times.append(1e3 * (process_time() - begin))
    return median(times)


def environment(name: str, configuration: str | None, randomisation: Any) -> Any:
    """Return an environment of `stewart` whose first episode has begun."""
    settings = {"machine": "stewart", "configuration": configuration}
    env = gym.make(f"twin/{name}-v0", randomisation=randomisation, **settings).unwrapped
    env.reset(seed=0)
    return env


def commit() -> str:
    """Return the commit of the working tree, shortened."""
    command = ("git", "rev-parse", "--short=9", "HEAD")
    found = subprocess.run(command, cwd=RESULTS.parents[1], capture_output=True, text=True)
    return found.stdout.strip()


def save(rows: list[Row]) -> None:
    """Add ratios to the history."""
    new = not RESULTS.exists()
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(("commit", "what", "configuration", "ratio"))
        for name, configuration, value in rows:
            writer.writerow((commit(), name, configuration, f"{value:.3g}"))


def main() -> None:
    """Print the ratios, and save them where that is asked for."""
    parser = argparse.ArgumentParser(description="Python around compiled steps, as ratios")
    parser.add_argument("--save", action="store_true", help=f"add the ratios to {RESULTS.name}")
    chosen = parser.parse_args()
    title = "stewart: processor time per compiled period"
    print(f"{title:<46} {'configuration':<14} {'ratio':>7}")
    rows = []
    for configuration in (None, "hardware"):
        for measured in (closed_loops, environments):
            for row in measured(configuration):
                rows.append(row)
                print(f"{row[0]:<46} {row[1]:<14} {row[2]:>7.2f}", flush=True)
    if chosen.save:
        save(rows)
    print("resets with another mass [ms]")
    for name, configuration in product(ENVIRONMENTS, (None, "hardware")):
        time = reset_time(name, configuration)
        print(f"{name:<46} {configuration or 'ideal':<14} {time:>7.3f}", flush=True)


if __name__ == "__main__":
    main()
