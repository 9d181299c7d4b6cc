"""Plans at 100 Hz in real time: how many periods are held, and what a plan takes.

Run `python benchmarks/predictive_control.py --help`. Plans begin at the instants of a clock, along
a motion that the legs cannot follow. A plan that is not ready at the next instant misses its
period, and the next one begins at the first instant after it.
"""

from __future__ import annotations

import argparse
from math import ceil
from time import perf_counter, process_time, sleep

import numpy as np

import twin
from twin.control.predictive import Ilqr
from twin.motion import SineMotion
from twin.plant.signals import Measurement

SHARES = (50.0, 90.0, 99.0, 99.9, 100.0)
"""[%] Percentiles that are printed."""


def controller_of(machine: str, configuration: str, duration: float) -> Ilqr:
    """Return a controller along a motion that `stewart` cannot follow, started at its begin."""
    platform = twin.load(machine, configuration)
    motion = SineMotion(
        platform.home,
        amplitude={"z": 0.05, "pitch": 0.05},
        frequency=1.2,
        duration=duration,
        fade_in=1.0,
        convention="roll_pitch" if platform.dof < 6 else "yaw_pitch_roll",
    )
    controller = Ilqr(platform, motion)
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest)
    still = np.zeros(platform.n_actuators)
    controller.start(Measurement(0.0, platform.home_coordinates, still, forces))
    return controller


def main() -> None:
    """Make the plans and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", default="stewart")
    parser.add_argument("--configuration", default="hardware")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    controller = controller_of(given.machine, given.configuration, given.seconds + 1.0)
    ratio = round(controller.span / controller.period)
    for step in range(3):  # what is compiled or loaded once does not count
        controller.plan_ahead(step * ratio)
    taken, worked, start = [], [], perf_counter()
    count, periods = 0, round(given.seconds / controller.span)
    while count < periods:
        sleep(max(0.0, start + count * controller.span - perf_counter()))
        begin, before = perf_counter(), process_time()
        controller.plan_ahead(count * ratio)
        taken.append(1e3 * (perf_counter() - begin))
        worked.append(1e3 * (process_time() - before))
        count = max(count + 1, ceil((perf_counter() - start) / controller.span))
    held = 100.0 * sum(each <= 1e3 * controller.span for each in taken) / periods
    print(f"{given.machine} {given.configuration}: {periods} periods")
    print(f"held: {held:.2f} %")
    for title, times in (("time", taken), ("processor time", worked)):
        found = zip(SHARES, np.percentile(times, SHARES), strict=True)
        print(f"{title} [ms]: " + ", ".join(f"{share:g} %: {each:.2f}" for share, each in found))


if __name__ == "__main__":
    main()
