"""Known truth: hidden machines in other engines, identified from 20 s of their logs.

Each seed draws a machine within the spreads of `hardware_spread`: payload, friction and play of
each drive, delay and lag. A controller that knows the file alone moves it along a multi-sine, in
MuJoCo or PyBullet by turns, with drives and encoders of the data sheets. The analytic engine fits.

    python benchmarks/identification.py --seeds 6

One line per parameter and seed goes to `benchmarks/results/identification.csv`; lines of the same
seeds are replaced. `--summary` prints the table of what is there.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import twin
from twin.analysis.tracking import TrackingErrors
from twin.cli.closed_loop import closed_loop
from twin.control import make_controller
from twin.identification.parameters import Parameter
from twin.identification.result.identification import Identification
from twin.identification.result.identify import identify
from twin.logs import log_of
from twin.machine.randomisation import hardware_spread
from twin.machine.randomisation.paths import nominal_value
from twin.motion import Motion
from twin.motion.multi_sine import MultiSineMotion
from twin.platform import Platform
from twin.simulation.trajectory import Trajectory

RESULTS = Path(__file__).parent / "results" / "identification.csv"
FIELDS = ("seed", "engine", "path", "file", "true", "estimate", "standard_error", "inside")
PARAMETERS = (
    "platform.body.mass, platform.body.center_of_mass.*, platform.body.inertia.*, "
    "leg.*.drive.friction_torque, leg.*.drive.viscous_torque, leg.*.drive.backlash, "
    "leg.drive.delay, leg.drive.current_lag"
)
ENGINES = ("mujoco", "bullet")
FREQUENCIES = np.array([0.3, 0.7, 1.1, 1.9, 2.9, 3.7, 4.5])
SHARES = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.6, 1.6])
SPEEDS = {"x": 0.04, "y": 0.04, "z": 0.01, "roll": 0.05, "pitch": 0.05, "yaw": 0.05}
"""[m/s, rad/s] of each sine; fast ones are larger, so that legs are unloaded and play shows."""

BANDWIDTH = 30.0
"""[rad/s] of the controller, a third of the usual one: its model decides how well it tracks."""

BARS = {
    "platform.body.mass": ("0.5 %", 5e-3, True),
    "center_of_mass": ("1 mm", 1e-3, False),
    "friction_torque": ("5 %", 0.05, True),
    "viscous_torque": ("5 %", 0.05, True),
    "delay": ("0.5 ms, half a period", 5e-4, False),
    "backlash": ("10 % of the file's", 1e-5, False),
}
"""Part of a path -> the bar in words, its number, and whether it is relative to the truth."""


def main() -> None:
    """Run the study, or print what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="number of machines")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--duration", type=float, default=20.0, help="of the excitation [s]")
    parser.add_argument("--summary", action="store_true", help="print the table only")
    options = parser.parse_args()
    seeds = () if options.summary else range(options.first, options.first + options.seeds)
    for seed in seeds:
        study(seed, options.duration)
    summary()


def study(seed: int, duration: float) -> None:
    """Hide, move and identify one machine; add its lines to the results."""
    file = twin.load("stewart", configuration="hardware")
    spread = hardware_spread(file.parameters)
    drawn = spread.sample(np.random.default_rng(seed), file.parameters).parameters
    hidden = Platform(drawn)
    engine = ENGINES[seed % len(ENGINES)]
    run = moved(hidden, file, excitation(file, duration, seed), engine)
    began, processor = time.perf_counter(), time.process_time()
    found = identify(file, [log_of(run)], PARAMETERS, unseen="hold")
    print(
        f"seed {seed}, {engine}: {found.summary} {time.perf_counter() - began:.0f} s, "
        f"{time.process_time() - processor:.0f} s of processor time"
    )
    record(seed, engine, hidden, run, found)
    other = excitation(file, 5.0, seed + 1000)
    errors = [
        TrackingErrors(moved(hidden, model, other, "mujoco")).root_mean_square()[0]
        for model in (file, found.platform)
    ]
    print(f"  tracking, rms: {1e6 * errors[0]:.1f} um on the file, {1e6 * errors[1]:.1f} um after")


def excitation(file: Platform, duration: float, seed: int) -> Motion:
    """Return a multi-sine about home with phases of its own."""
    sizes = SHARES / (2.0 * np.pi * FREQUENCIES)
    return MultiSineMotion(
        file.home,
        frequencies=FREQUENCIES,
        amplitude={axis: speed * sizes for axis, speed in SPEEDS.items()},
        duration=duration,
        phases="random",
        seed=seed,
        fade_in=0.5,
        fade_out=0.5,
    )


def moved(hidden: Platform, model: Platform, motion: Motion, engine: str) -> Trajectory:
    """Return a run of the hidden machine under computed torque that takes it for `model`."""
    law = make_controller("computed_torque", hidden, motion, model=model, bandwidth=BANDWIDTH)
    run = closed_loop(hidden, law, motion.duration, engine=engine, fidelity="accurate")
    if run.stopped:
        raise SystemExit(f"the hidden machine was stopped: {run.stopped}")
    return run


def truth(parameter: Parameter, hidden: Platform, timestep: float) -> float:
    """Return the true value; drives hold delays of whole steps."""
    value = nominal_value(hidden.parameters, parameter.path)
    return timestep * round(value / timestep) if parameter.path.endswith("delay") else value


def record(
    seed: int, engine: str, hidden: Platform, run: Trajectory, found: Identification
) -> None:
    """Replace the lines of a seed in the results."""
    lines = [line for line in read() if line["seed"] != str(seed)]
    for parameter, value, error, margin in zip(
        found.parameters, found.values, found.standard_errors, found.margins, strict=True
    ):
        true = truth(parameter, hidden, run.timestep)
        inside = abs(value - true) <= margin * error
        numbers = [f"{each:.8g}" for each in (parameter.nominal, true, value, error)]
        row = (str(seed), engine, parameter.path, *numbers, str(int(inside)))
        lines.append(dict(zip(FIELDS, row, strict=True)))
    with RESULTS.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(lines, key=lambda line: int(line["seed"])))


def read() -> list[dict[str, str]]:
    """Return the lines of the results."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as stream:
        return list(csv.DictReader(stream))


def rows() -> Iterator[tuple[str, ...]]:
    """Yield a row per bar: errors of all machines against it, and how often intervals held."""
    lines = read()
    for part, (words, bar, relative) in BARS.items():
        own = [line for line in lines if part in line["path"]]
        if not own:
            continue
        true = np.array([float(line["true"]) for line in own])
        errors = np.abs(np.array([float(line["estimate"]) for line in own]) - true)
        errors = errors / np.abs(true) if relative else errors
        inside = np.mean([line["inside"] == "1" for line in own])
        kept = f"{np.mean(errors <= bar):.0%}"
        sizes = [f"{each:.2g}" for each in np.percentile(errors, (50, 95, 100))]
        yield part, words, *sizes, kept, f"{inside:.0%}"
    every = np.mean([line["inside"] == "1" for line in lines])
    yield "all", "", "", "", "", "", f"{every:.0%}"


def summary() -> None:
    """Print the table of the results."""
    count = len({line["seed"] for line in read()})
    print(f"{count} machines")
    print("| parameter | bar | median error | 95 % | largest | inside the bar | intervals hold |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows():
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
