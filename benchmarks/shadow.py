"""Time to detection, first cause, and false alarms of the shadow.

    python benchmarks/shadow.py stewart --rig --minutes 5
    python benchmarks/shadow.py stewart --hours 1 --seeds 3 --jobs 2

With --rig beside the second plant of `twin.validation.rig`, which shares no drive, friction, sensor
or integrator with the shadow: five faults and five healthy machines, under commands of force and of
speed, with measured forces and without. Else beside emulated machines. All machines differ from
their file within the spreads of their data sheets, along motions of their own.
"""

from __future__ import annotations

import argparse
import csv
import time as clock
from array import array
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, delayed

import twin
from twin.control.gains import suitable_position_loop
from twin.kernels.control import controllers as position_loop
from twin.link.emulated import parse_fault
from twin.link.protocol import Sample
from twin.link.transport.source import Replay
from twin.logs import LogMapping, write_log
from twin.plant.drives import actuator_limit, drive_timestep
from twin.rotations import displaced
from twin.shadow.rehearsal import (
    DEFAULT_NOISE,
    measured_by,
    perturbed_machine,
    work,
    working_motion,
    working_sines,
)
from twin.shadow.shadow import Shadow
from twin.simulation.batched import make_batched_plant
from twin.validation.rig import Conditions, Fault, record

RESULTS = Path(__file__).parent / "results"
LEARNING, BEGIN, AFTER = 10.0, 13.0, 3.0
"""[s] until the fault, and after it."""

PIECE, BATCH = 60.0, 10
"""[s] of one machine without a fault that are watched, and machines at a time."""

FIRST_SEED = 100
"""Machines that the thresholds have not seen."""

GROWTH = 1e-4
"""Of backlash [m, rad], for all machines alike."""

INERTIAL = ("accelerometer", "gyroscope")
ALL = ("forces", "pose", *INERTIAL)


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


def with_fault(name: str, case: Case, seed: int) -> Found:
    """Return what is found of a fault."""
    machine = twin.load(name, configuration="hardware")
    hidden = perturbed_machine(machine, seed)
    play = play_of(hidden)
    text = case.fault.format(t=BEGIN, b=1.0 + GROWTH / play if play else 1.0)
    shadow = Shadow(machine, learning=LEARNING)
    reference = working_motion(machine, BEGIN + AFTER, seed)
    for sample in work(machine, reference, hidden=hidden, faults=[parse_fault(text)], seed=seed):
        shadow.update(measured_by(sample, case.channels))
    early = sum(alarm.time < BEGIN for alarm in shadow.alarms)
    after = shadow.alarms[early:]
    right = [alarm for alarm in after if (alarm.kind, alarm.leg) == case.expected]
    first = (after[0].kind, after[0].leg) if after else None
    delay = right[0].time - BEGIN if right else np.inf
    return Found(first, delay, len(after) - len(right), early)


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

    def __init__(self, machine: twin.Platform, channels: tuple[str, ...]) -> None:
        """Begin without machines."""
        self._machine, self._channels = machine, channels
        self._shadows: list[Shadow] = []
        self.seconds, self.alarms, self._durations = 0.0, list[str](), array("d")

    def start(self, count: int) -> None:
        """Put shadows beside other machines."""
        self._shadows = [Shadow(self._machine, learning=LEARNING) for _ in range(count)]

    def update(self, samples: list[Sample]) -> None:
        """Take a sample of each machine."""
        for shadow, sample in zip(self._shadows, samples, strict=True):
            seen, before = measured_by(sample, self._channels), len(shadow.alarms)
            begin = clock.perf_counter()
            shadow.update(seen)
            self._durations.append(clock.perf_counter() - begin)
            self.seconds += 1e-3 * (shadow.phase == "watching")
            self.alarms += map(str, shadow.alarms[before:])

    def row(self) -> list[object]:
        """Return the results."""
        title = "all channels" if self._channels else "encoders alone"
        times = (round(1e6 * float(each), 1) for each in np.percentile(self._durations, (50, 99.9)))
        return [title, round(self.seconds / 3600.0, 3), len(self.alarms), *times]


def hours(name: str, wanted: float) -> None:
    """Print and write the false alarms of machines without a fault, after each batch of them."""
    machine = twin.load(name, configuration="hardware")
    watched = [Watched(machine, each) for each in (ALL, ())]
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
    known = cases(machine)
    jobs_given = [(case, FIRST_SEED + seed) for case in known for seed in range(seeds)]
    results = Parallel(n_jobs=jobs)(
        delayed(with_fault)(name, case, seed) for case, seed in jobs_given
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


TRACKER = {"tracker_rate": 60.0, "tracker_delay": 0.012}
"""Of the poses: rate [Hz] and delay [s], which is declared."""

CONDITIONS: dict[str, dict[str, Any]] = {
    "clean": {},
    "noise 0.5 um": {"encoder_noise": 5e-7},
    "tracker 60 Hz, 12 ms": TRACKER,
    "warming": {"warming_drop": 0.4},
    "all": TRACKER
    | {
        "friction_law": "lugre",
        "load_friction": 0.01,
        "warming_drop": 0.3,
        "cable_force": (30.0, 0.0, -20.0),
        "cable_stiffness": 500.0,
        "swinging_mass": 5.0,
        "base_frequency": 15.0,
        "lead_errors": (1e-4, -1e-4, 2e-4, 0.0, -2e-4, 1e-4),
        "motor_constants": (1.02, 0.98, 1.0, 1.01, 0.97, 1.0),
        "encoder_noise": 5e-7,
        "current_bias": (10.0, -8.0, 5.0, 0.0, -10.0, 4.0),
        "current_resolution": 5.0,
        "force_noise": 5.0,
        "jitter": 1e-4,
        "gaps": ((40.0, 0.05), (50.0, 0.3)),
    },
}
"""Healthy machines of the rig."""

RIG_LEARNING, RIG_BEGIN, RIG_AFTER, RUNAWAY = 20.0, 25.0, 4.0, 1.0
"""[s] of learning, until a fault, and after it; less where its loop runs away."""

FAULTS = {
    "friction doubling in 3 min": (Fault("friction", RIG_BEGIN, 2.0, 2, 180.0), ("friction", 3)),
    "slip 0.2 mm": (Fault("slip", RIG_BEGIN, 2e-4, 3), ("slip", 4)),
    "-20 kg": (Fault("lost_mass", RIG_BEGIN, 20.0), ("payload", None)),
    "motor -20 %": (Fault("weak_motor", RIG_BEGIN, 0.8, 4), ("motor", 5)),
    "frozen encoder": (Fault("frozen_encoder", RIG_BEGIN, leg=0), ("sensor", 1)),
}
"""Faults of the rig, and their causes."""

MODES: tuple[Literal["force", "velocity"], ...] = ("force", "velocity")


def beside_rig(
    name: str, conditions: Conditions, mode: Literal["force", "velocity"], seconds: float, seed: int
) -> dict[str, Shadow]:
    """Return the shadows with measured forces and without, after a run of a machine of the rig."""
    machine = twin.load(name, configuration="hardware")
    truth, motion = perturbed_machine(machine, seed), working_sines(machine, seconds, seed)
    log = record(truth, motion, conditions, model=machine, mode=mode, forces="motor", seed=seed)
    signals: dict[str, dict[str, Any]] = {each: {"channels": [each]} for each in log.names}
    if "pose" in signals:
        signals["pose"]["delay"] = conditions.tracker_delay
    shadows = {
        "forces": Shadow(machine, learning=RIG_LEARNING),
        "no forces": Shadow(machine, learning=RIG_LEARNING),
    }
    with TemporaryDirectory() as folder:
        path = write_log(log, Path(folder) / "run.parquet")
        source = Replay(path, machine, LogMapping.of({"signals": signals}))
        while (sample := source.receive()) is not None:
            shadows["forces"].update(sample)
            kept = {key: value for key, value in sample.values.items() if key != "forces"}
            shadows["no forces"].update(sample._replace(values=kept))
    return shadows


def rig(name: str, minutes: float, seed: int) -> None:
    """Print and write what is found beside the rig: of faults, and in healthy minutes."""
    titles = ["machine", "mode", "forces", "found after [s]", "first alarm", "right", "alarms"]
    rows: list[list[object]] = []

    def add(title: str, conditions: Conditions, seconds: float, cause: object) -> None:
        for mode in MODES:
            for forces, shadow in beside_rig(name, conditions, mode, seconds, seed).items():
                first = shadow.alarms[0] if shadow.alarms else None
                found = None if first is None else (first.kind, first.leg)
                after = "" if first is None else round(first.time - RIG_BEGIN, 2)
                rows.append(
                    [title, mode, forces, after, first or "", found == cause, len(shadow.alarms)]
                )
                print(*rows[-1], sep="; ", flush=True)
                write(f"shadow_{name}_rig.csv", [titles, *rows])

    for title, (fault, cause) in FAULTS.items():
        rise = fault.rise if fault.kind == "friction" else 0.0
        after = RUNAWAY if fault.kind == "frozen_encoder" else RIG_AFTER
        seconds = RIG_BEGIN + after + 0.5 * rise
        add(title, Conditions(faults=(fault,), force_noise=5.0, **TRACKER), seconds, cause)
    for title, switches in CONDITIONS.items():
        if minutes:
            add(title, Conditions(**switches), RIG_BEGIN + 60.0 * minutes, None)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", nargs="?", default="stewart")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rig", action="store_true", help="run beside the second plant")
    parser.add_argument("--minutes", type=float, default=5.0, help="of each healthy machine of it")
    given = parser.parse_args()
    if given.rig:
        rig(given.machine, given.minutes, FIRST_SEED + 1)
    elif given.seeds:
        table(given.machine, given.seeds, given.jobs)
    if given.hours:
        hours(given.machine, given.hours)


if __name__ == "__main__":
    main()
