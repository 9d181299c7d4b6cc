"""Searches of `twin.design` against the best of many random machines.

    python benchmarks/design.py --random 200000

Each line is a specification: the time of the design, the objective that its search finds and that
of the best random machine of the same bounds that meets all demands, how many random machines do,
and how many demands were judged a second.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np

from twin.design import design
from twin.design.candidates import free_bounds
from twin.design.demands import assess
from twin.design.design import MAX_GENERATIONS, NEGLIGIBLE_EXCESS, Search
from twin.design.specification import checked_specification

BATCH = 2000
"""Random machines judged at once."""

HEXAPOD: dict[str, Any] = {
    "ranges": {
        **{"x": "50 mm", "y": "50 mm", "z": "25 mm"},
        **{"roll": "15 deg", "pitch": "15 deg", "yaw": "30 deg"},
    },
    "payload": {"mass": "30 kg", "height": "100 mm"},
    "limits": {"footprint": "400 mm", "joint_angle": "40 deg"},
}

MOTION_BASE: dict[str, Any] = {
    "ranges": {
        **{"x": ["-0.47 m", "0.63 m"], "y": "0.47 m", "z": "0.4 m"},
        **{"roll": "20 deg", "pitch": ["-19 deg", "21 deg"], "yaw": "21 deg"},
    },
    "speeds": {"x": "0.6 m/s", "y": "0.6 m/s", "z": "0.6 m/s"},
    "accelerations": {"x": "0.8 g", "y": "0.8 g", "z": "0.8 g"},
    "payload": {"mass": "1500 kg", "height": "0.6 m", "radius": "0.7 m"},
    "limits": {"footprint": "2.2 m"},
}

SERVOS: dict[str, Any] = {
    "legs": "rss",
    "ranges": {
        **{"x": "20 mm", "y": "20 mm", "z": "15 mm"},
        **{"roll": "10 deg", "pitch": "10 deg", "yaw": "15 deg"},
    },
    "payload": {"mass": "0.5 kg", "height": "20 mm"},
    "limits": {"force": "0.9 N m", "stroke": "120 deg", "footprint": "300 mm"},
}
"""Servos of the type MG996R hold 0.9 N m."""


def changed(content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a specification with other entries."""
    return {**content, **changes}


SPECIFICATIONS = {
    "hexapod, force": HEXAPOD,
    "hexapod, stroke": changed(HEXAPOD, minimise="stroke"),
    "hexapod, footprint": changed(HEXAPOD, minimise="footprint"),
    "hexapod, condition": changed(HEXAPOD, minimise="condition"),
    "motion base, force": MOTION_BASE,
    "motion base, stroke": changed(MOTION_BASE, minimise="stroke"),
    "motion base, footprint": changed(MOTION_BASE, minimise="footprint"),
    "servos, force": SERVOS,
    "servos, stroke": changed(SERVOS, minimise="stroke"),
    "servos, footprint": changed(SERVOS, minimise="footprint"),
    "joints anywhere, force": changed(HEXAPOD, symmetry=3),
    "eight legs, stroke": changed(MOTION_BASE, count=8, symmetry=4, minimise="stroke"),
}


def best_random(content: dict[str, Any], count: int) -> tuple[float, float, int]:
    """Return the best objective of random machines, demands judged a second, and how many hold."""
    specification = checked_specification(content, "benchmark")
    bounds = free_bounds(specification)
    random, tasks = np.random.default_rng(0), specification.tasks()
    best, held, judged, start = np.inf, 0, 0, perf_counter()
    for _ in range(count // BATCH):
        seen = assess(specification, random.uniform(*bounds.T, (BATCH, len(bounds))), tasks)
        holds = seen.excess() == 0.0
        held += int(holds.sum())
        judged += BATCH * len(seen.demands)
        best = min(best, seen.figures[specification.minimise][holds].min(initial=np.inf))
    return best, judged / (perf_counter() - start), held


def searched_value(content: dict[str, Any]) -> float:
    """Return the objective that one search finds, judged as the random machines are.

    The machine of `design` may need more: its limits hold with the masses of its legs too.
    """
    specification = checked_specification(content, "benchmark")
    seen = Search(specification, MAX_GENERATIONS, specification.tasks()).run()[1]
    assert seen.excess()[0] <= NEGLIGIBLE_EXCESS
    return float(seen.figures[specification.minimise][0])


def main() -> None:
    """Print a line per specification."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=200_000, help="random machines")
    count = parser.parse_args().random
    print(f"{'specification':24}{'time [s]':>9}{'found':>12}{'random':>12}{'ratio':>7}", end="")
    print(f"{'that hold':>10}{'demands/s':>11}")
    ratios = []
    for name, content in SPECIFICATIONS.items():
        start = perf_counter()
        design(checked_specification(content, "benchmark"))
        seconds = perf_counter() - start
        best, rate, held = best_random(content, count)
        value = searched_value(content)
        ratios.append(value / best)
        print(f"{name:24}{seconds:9.1f}{value:12.4g}{best:12.4g}{ratios[-1]:7.3f}", end="")
        print(f"{held:10}{rate:11.3g}", flush=True)
    print(f"median of the ratios: {np.median(ratios):.3f}")


if __name__ == "__main__":
    main()
