"""Faults of emulated machines: time to detection, right alarm; false alarms an hour without one.

    python benchmarks/shadow.py stewart --hours 1 --seeds 3 --jobs 2

Machines differ from their file within the spreads of their data sheets, along motions of their own.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

import twin
from twin.link.emulated import parse_fault
from twin.shadow.derive import CHANNELS, derive_thresholds, measured_by
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import Thresholds
from twin.shadow.working import hidden_machine, work, working_motion

RESULTS = Path(__file__).parent / "results"
LEARNING, BEGIN, AFTER = 10.0, 13.0, 2.5
"""[s] until the fault, and after it."""

PIECE = 120.0
"""[s] of one machine without a fault that are watched."""

FIRST_SEED = 100
"""Machines that the thresholds have not seen."""

GROWTH = 1e-4
"""Of backlash [m, rad], for all machines alike."""

INERTIAL = ("accelerometer", "gyroscope")
ALL = (*CHANNELS, *INERTIAL)


class Case(NamedTuple):
    """A fault of the table."""

    title: str
    fault: str
    expected: tuple[str, int | None]
    channels: tuple[str, ...] = ALL


class Found(NamedTuple):
    """Outcome of a run with a fault."""

    first: tuple[str, int | None] | None
    delay: float
    others: int
    early: int


def cases(machine: twin.Platform) -> list[Case]:
    """Return the faults that the machine can have."""
    mass = 0.1 * machine.parameters.platform.body.mass
    weight = 9.81 * machine.parameters.platform.body.mass
    limits = [leg.actuator.continuous_effort for leg in machine.parameters.legs]
    found = [
        Case("friction 1.5 times", "friction@{t}s:leg=2,factor=1.5", ("friction", 2)),
        Case("friction twice", "friction@{t}s:leg=2,factor=2", ("friction", 2)),
        Case("friction twice, encoders alone", "friction@{t}s:leg=2,factor=2", ("friction", 2), ()),
        Case("backlash + 0.1 mm or mrad", "backlash@{t}s:leg=3,factor={b}", ("backlash", 3)),
        Case("20 counts lost", "counts@{t}s:leg=4,counts=20", ("counts", 4)),
        Case("20 counts lost, encoders alone", "counts@{t}s:leg=4,counts=20", ("counts", 4), ()),
        Case(f"payload + {mass:.3g} kg", f"payload@{{t}}s:mass={mass}", ("payload", None)),
        Case(
            f"payload + {2 * mass:.3g} kg, encoders alone",
            f"payload@{{t}}s:mass={2 * mass}",
            ("payload", None),
            (),
        ),
        Case("encoder frozen", "sensor@{t}s:leg=1", ("sensor", 1)),
        Case("encoder frozen, encoders alone", "sensor@{t}s:leg=1", ("sensor", 1), ()),
        Case("encoder reads zero", "sensor@{t}s:leg=1,reading=zero", ("sensor", 1)),
        Case("force sensor frozen", "sensor@{t}s:leg=1,signal=forces", ("sensor", 1)),
        Case("pose frozen", "sensor@{t}s:signal=pose", ("sensor", None)),
        Case(
            f"push of {weight / 2:.3g} N along x",
            f"overload@{{t}}s:force={weight / 2},axis=x",
            ("overload", None),
        ),
    ]
    if machine.parameters.imu is not None:
        found.append(Case("gyroscope frozen", "sensor@{t}s:signal=gyroscope", ("sensor", None)))
    if machine.coordinate_unit == "m" and limits[0] is not None:
        force = 5.0 * limits[0]
        text = f"overload@{{t}}s:force=-{force}"
        found.append(Case(f"blow of {force / 1e3:.3g} kN downwards", text, ("overload", None)))
    return found


def shadow_of(machine: twin.Platform, limits: Thresholds) -> Shadow:
    """Return a shadow as all runs have it."""
    return Shadow(machine, thresholds=limits, learning=LEARNING)


def with_fault(name: str, case: Case, limits: Thresholds, seed: int) -> Found:
    """Return what is found of a fault."""
    machine = twin.load(name, configuration="hardware")
    hidden = hidden_machine(machine, seed)
    drive = hidden.parameters.legs[2].drive
    play = 0.0 if drive is None else drive.reflected().backlash
    text = case.fault.format(t=BEGIN, b=1.0 + GROWTH / play if play else 1.0)
    shadow = shadow_of(machine, limits)
    reference = working_motion(machine, BEGIN + AFTER, seed)
    for sample in work(machine, reference, hidden=hidden, faults=[parse_fault(text)], seed=seed):
        shadow.update(measured_by(sample, case.channels))
    early = sum(alarm.time < BEGIN for alarm in shadow.alarms)
    after = shadow.alarms[early:]
    right = [alarm for alarm in after if (alarm.kind, alarm.leg) == case.expected]
    first = (after[0].kind, after[0].leg) if after else None
    delay = right[0].time - BEGIN if right else np.inf
    return Found(first, delay, len(after) - len(right), early)


def without_fault(
    name: str, limits: Thresholds, seed: int, channels: tuple[str, ...]
) -> tuple[float, list[str], float, float]:
    """Return watched seconds, alarms, and median and 99.9 % of the updates' durations [us]."""
    machine = twin.load(name, configuration="hardware")
    shadow, spent, watched = shadow_of(machine, limits), [], 0
    reference = working_motion(machine, LEARNING + PIECE + 2.0, seed)
    for sample in work(machine, reference, hidden=hidden_machine(machine, seed), seed=seed):
        seen = measured_by(sample, channels)
        begin = time.perf_counter()
        shadow.update(seen)
        spent.append(time.perf_counter() - begin)
        watched += shadow.phase == "watching"
    half, most = 1e6 * np.percentile(spent, (50, 99.9))
    return 1e-3 * watched, [str(alarm) for alarm in shadow.alarms], float(half), float(most)


def table(name: str, seeds: int, jobs: int) -> None:
    """Print and write the table of faults of a machine, and its confusion."""
    machine = twin.load(name, configuration="hardware")
    limits = {
        channels: derive_thresholds(machine, channels=channels, learning=LEARNING)
        for channels in (ALL, ())
    }
    for channels, found in limits.items():
        print(name, "all channels" if channels else "encoders alone", found)
    known = cases(machine)
    jobs_given = [(case, FIRST_SEED + seed) for case in known for seed in range(seeds)]
    results = Parallel(n_jobs=jobs)(
        delayed(with_fault)(name, case, limits[case.channels], seed) for case, seed in jobs_given
    )
    confusion: dict[tuple[str, str], int] = {}
    rows = []
    for number, case in enumerate(known):
        own = results[number * seeds : (number + 1) * seeds]
        delays = np.array([each.delay for each in own])
        right = sum(each.first == case.expected for each in own)
        for each in own:
            first = "none" if each.first is None else each.first[0]
            first += "" if each.first in (None, case.expected) else " (other leg)"
            key = case.expected[0], first.replace(" (other leg)", "", each.first is None)
            confusion[key] = confusion.get(key, 0) + 1
        others, early = (sum(getattr(each, key) for each in own) for key in ("others", "early"))
        rows.append([case.title, seeds, right, np.median(delays), delays.max(), others, early])
    titles = ["fault", "runs", "right first", "median [s]", "slowest [s]", "others", "early"]
    print(f"{titles[0]:38}", *(f"{title:>12}" for title in titles[1:]))
    for row in rows:
        print(f"{row[0]:38}", *(f"{value:12.4g}" for value in row[1:]))
    for (expected, first), count in sorted(confusion.items()):
        print(f"  {expected:10} -> {first:24} {count}")
    with (RESULTS / f"shadow_{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([titles, *rows])


def hours(name: str, wanted: float, jobs: int) -> None:
    """Print and write the false alarms of machines without a fault."""
    machine = twin.load(name, configuration="hardware")
    path = RESULTS / f"shadow_{name}_healthy.csv"
    rows = []
    for channels in (ALL, ()):
        limits = derive_thresholds(machine, channels=channels, learning=LEARNING)
        count = int(np.ceil(3600.0 * wanted / PIECE))
        runs = Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(without_fault)(name, limits, FIRST_SEED + seed, channels)
            for seed in range(count)
        )
        total, alarms, medians, most = 0.0, 0, [], 0.0
        for watched, found, half, slow in runs:
            total, alarms = total + watched, alarms + len(found)
            medians.append(half)
            most = max(most, slow)
            print(f"{name}: {total / 3600:.3f} h, {alarms} alarms", *found, sep="\n  ", flush=True)
        title = "all channels" if channels else "encoders alone"
        rows.append([title, total / 3600.0, alarms, float(np.median(medians)), most])
        titles = ["channels", "watched [h]", "alarms", "update median [us]", "slowest 99.9 % [us]"]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([titles, *rows])


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", nargs="?", default="stewart")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if given.seeds:
        table(given.machine, given.seeds, given.jobs)
    if given.hours:
        hours(given.machine, given.hours, given.jobs)


if __name__ == "__main__":
    main()
