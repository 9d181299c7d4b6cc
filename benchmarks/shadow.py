"""Faults of emulated machines: time to detection, right alarm; false alarms an hour without one.

    python benchmarks/shadow.py stewart --hours 1 --seeds 3 --jobs 2

Machines differ from their file within the spreads of their data sheets, along motions of their own.
"""

from __future__ import annotations

import argparse
import csv
import time as clock
from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

import twin
from twin.control.gains import suitable_position_loop
from twin.kernels.control import controllers as position_loop
from twin.link.emulated import parse_fault
from twin.link.protocol import Sample
from twin.plant.drives import actuator_limit, drive_timestep
from twin.rotations import displaced
from twin.shadow.detectors import derive_thresholds
from twin.shadow.rehearsal import (
    DEFAULT_CHANNELS,
    DEFAULT_NOISE,
    measured_by,
    perturbed_machine,
    work,
    working_motion,
)
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import Thresholds, read_thresholds, write_thresholds
from twin.simulation.batched import make_batched_plant

RESULTS = Path(__file__).parent / "results"
LEARNING, BEGIN, AFTER = 10.0, 13.0, 2.5
"""[s] until the fault, and after it."""

PIECE, BATCH = 60.0, 10
"""[s] of one machine without a fault that are watched, and machines at a time."""

FIRST_SEED = 100
"""Machines that the thresholds have not seen."""

GROWTH = 1e-4
"""Of backlash [m, rad], for all machines alike."""

INERTIAL = ("accelerometer", "gyroscope")
ALL = (*DEFAULT_CHANNELS, *INERTIAL)


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
    if not play_of(machine):  # there is nothing that grows
        found = [case for case in found if case.expected[0] != "backlash"]
    if machine.parameters.imu is not None:
        found.append(Case("gyroscope frozen", "sensor@{t}s:signal=gyroscope", ("sensor", None)))
    if machine.coordinate_unit == "m" and limits[0] is not None:
        force = 5.0 * limits[0]
        text = f"overload@{{t}}s:force=-{force}"
        found.append(Case(f"blow of {force / 1e3:.3g} kN downwards", text, ("overload", None)))
    return found


def play_of(machine: twin.Platform) -> float:
    """Return the backlash of the third leg [m, rad]."""
    drive = machine.parameters.legs[2].drive
    return 0.0 if drive is None else drive.reflected().backlash


def shadow_of(machine: twin.Platform, limits: Thresholds) -> Shadow:
    """Return a shadow as all runs have it."""
    return Shadow(machine, thresholds=limits, learning=LEARNING)


def with_fault(name: str, case: Case, limits: Thresholds, seed: int) -> Found:
    """Return what is found of a fault."""
    machine = twin.load(name, configuration="hardware")
    hidden = perturbed_machine(machine, seed)
    play = play_of(hidden)
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


def limits_of(name: str, machine: twin.Platform, channels: tuple[str, ...]) -> Thresholds:
    """Return thresholds from their file among the results; without one they are derived."""
    title = "all" if channels else "encoders"
    path = RESULTS / f"shadow_{name}_{title}.toml"
    if not path.exists():
        found = derive_thresholds(machine, channels=channels, learning=LEARNING)
        write_thresholds(found, path)
    return read_thresholds(path)


class Healthy:
    """Many machines without a fault, stepped together: an hour costs minutes.

    Each differs from the file and has a motion of its own; the cascade is that of the file.
    """

    def __init__(self, machine: twin.Platform, seeds: range, duration: float) -> None:
        """Put the machines at home."""
        size, n = len(seeds), machine.n_actuators
        references = [working_motion(machine, duration, seed) for seed in seeds]
        self.setpoint = np.stack([each.coordinates for each in references], axis=1)
        self.rates = np.stack([each.rates for each in references], axis=1)
        hidden = [perturbed_machine(machine, seed) for seed in seeds]
        self.parts = int(np.ceil(1e-3 / min(drive_timestep(each) for each in hidden) - 1e-9))
        self.plant = make_batched_plant("analytic", machine, size, 1e-3 / self.parts)
        pose = np.tile(machine.home, (size, 1))
        self.plant.reset(np.arange(size), pose=pose, platforms=hidden)
        gain, integral = suitable_position_loop(machine, 1e-3)
        self.gains = gain, 1e-3 * integral
        self.loops = np.zeros((4, size * n))
        self.loops[position_loop.SPEED_ROW] = np.tile(actuator_limit(machine, "speed"), size)
        self.loops[position_loop.CHANGE_ROW] = np.inf
        self.command = np.zeros((size, n))
        self.random = np.random.default_rng(seeds.start)

    def samples(self, step: int) -> list[Sample]:
        """Return the samples of all machines at the end of a period."""
        plant, flat = self.plant, self.command.reshape(-1)
        rows = self.setpoint[step], plant.measured, self.rates[step]
        setpoint, measured, rates = (np.ascontiguousarray(row).reshape(-1) for row in rows)
        position_loop.limited_speeds(self.loops, *self.gains, setpoint, measured, rates, 1.0, flat)
        for _ in range(self.parts):
            plant.advance(self.command)
        size, n = self.command.shape
        noise = self.random.standard_normal((size, 6 + n))
        noise[:, :3] *= DEFAULT_NOISE["pose"]
        noise[:, 3:6] *= DEFAULT_NOISE["attitude"]
        pose = displaced(plant.pose, noise[:, :6])
        forces = plant.effort + DEFAULT_NOISE["forces"] * noise[:, 6:]
        coordinates, command = plant.measured.copy(), self.command.copy()
        time = (step + 1) * 1e-3
        return [
            Sample(
                "measurement",
                time,
                {
                    "coordinates": coordinates[i],
                    "forces": forces[i],
                    "pose": pose[i],
                    "command_rates": command[i],
                },
            )
            for i in range(size)
        ]


class Watched:
    """Shadows of machines without a fault, with some channels: time, alarms, durations of updates.

    Attributes:
        seconds: that were watched in all.
        alarms: all that were raised.
    """

    def __init__(self, machine: twin.Platform, channels: tuple[str, ...], limits: Thresholds):
        """Begin without machines."""
        self._machine, self._channels, self._limits = machine, channels, limits
        self._shadows: list[Shadow] = []
        self.seconds, self.alarms, self._spent = 0.0, list[str](), array("d")

    def start(self, count: int) -> None:
        """Put shadows beside other machines."""
        self._shadows = [shadow_of(self._machine, self._limits) for _ in range(count)]

    def update(self, samples: list[Sample]) -> None:
        """Take a sample of each machine."""
        for shadow, sample in zip(self._shadows, samples, strict=True):
            seen, before = measured_by(sample, self._channels), len(shadow.alarms)
            begin = clock.perf_counter()
            shadow.update(seen)
            self._spent.append(clock.perf_counter() - begin)
            self.seconds += 1e-3 * (shadow.phase == "watching")
            self.alarms += map(str, shadow.alarms[before:])

    def row(self) -> list[object]:
        """Return the results."""
        title = "all channels" if self._channels else "encoders alone"
        times = (round(1e6 * float(each), 1) for each in np.percentile(self._spent, (50, 99.9)))
        return [title, round(self.seconds / 3600.0, 3), len(self.alarms), *times]


def hours(name: str, wanted: float) -> None:
    """Print and write the false alarms of machines without a fault, after each batch of them."""
    machine = twin.load(name, configuration="hardware")
    watched = [Watched(machine, each, limits_of(name, machine, each)) for each in (ALL, ())]
    titles = ["channels", "watched [h]", "alarms", "update median [us]", "99.9 % [us]"]
    seed = FIRST_SEED
    while min(each.seconds for each in watched) < 3600.0 * wanted:
        healthy = Healthy(machine, range(seed, seed + BATCH), LEARNING + PIECE + 2.0)
        seed += BATCH
        for each in watched:
            each.start(BATCH)
        for step in range(len(healthy.setpoint) - 1):
            samples = healthy.samples(step)
            for each in watched:
                each.update(samples)
        for each in watched:
            print(name, each.row(), *each.alarms, sep="\n  ", flush=True)
        write(f"shadow_{name}_healthy.csv", [titles, *(each.row() for each in watched)])


def write(name: str, rows: list[list[object]]) -> None:
    """Write a table among the results."""
    with (RESULTS / name).open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def table(name: str, seeds: int, jobs: int) -> None:
    """Print and write the table of faults of a machine, and its confusion."""
    machine = twin.load(name, configuration="hardware")
    limits = {channels: limits_of(name, machine, channels) for channels in (ALL, ())}
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
        median, slowest = (round(float(each), 4) for each in (np.median(delays), delays.max()))
        rows.append([case.title, seeds, right, median, slowest, others, early])
    titles = ["fault", "runs", "right first", "median [s]", "slowest [s]", "others", "early"]
    print(f"\n{titles[0]:38}", *(f"{title:>12}" for title in titles[1:]))
    for row in rows:
        print(f"{row[0]:38}", *(f"{value:12.4g}" for value in row[1:]), flush=True)
    for (expected, first), count in sorted(confusion.items()):
        print(f"  {expected:10} -> {first:24} {count}")
    write(f"shadow_{name}.csv", [titles, *rows])


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
        hours(given.machine, given.hours)


if __name__ == "__main__":
    main()
