"""Known truth: hidden machines in other engines, identified from 20 s of their logs.

Each seed draws a machine within the spreads of `hardware_spread`: payload, friction and play of
each drive, delay and lag. A controller that knows the file alone moves it along a multi-sine, in
MuJoCo or PyBullet by turns, with drives and encoders of the data sheets. The analytic engine fits.

    python benchmarks/identification.py --seeds 6

One line per parameter and seed goes to `benchmarks/results/identification.csv`, and one per seed to
`identification_machines.csv`; lines of the same seeds are replaced. `--excite payload` takes the
motion of `twin excite --parameters payload`, and writes `identification_excited.csv` alone.
`--summary` prints the table of what is there. `--twenty` hides and identifies 20 numbers of one
machine, prints the time and the errors, and writes nothing.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.analysis.tracking import TrackingErrors
from twin.cli.closed_loop import closed_loop
from twin.control import make_controller
from twin.identification.excitation import excite
from twin.identification.parameters import select
from twin.identification.result.identification import Identification
from twin.identification.result.identify import identify
from twin.logs import Log, log_of
from twin.machine.randomisation import hardware_spread
from twin.machine.randomisation.sampler import nominal_value
from twin.motion import Motion
from twin.motion.profiles import MultiSineMotion
from twin.simulation.simulate import Trajectory

RESULTS = Path(__file__).parent / "results"
ESTIMATES, EXCITED = RESULTS / "identification.csv", RESULTS / "identification_excited.csv"
MACHINES = RESULTS / "identification_machines.csv"
PARAMETERS = (
    "platform.body.mass, platform.body.center_of_mass.*, platform.body.inertia.*, "
    "leg.*.drive.friction_torque, leg.*.drive.viscous_torque, leg.*.drive.backlash, "
    "leg.drive.delay, leg.drive.current_lag"
)
TWENTY = (
    "platform.body.mass, platform.body.center_of_mass.*, platform.body.inertia.*, "
    "leg.*.drive.friction_torque, leg.drive.viscous_torque, leg.drive.backlash, "
    "leg.drive.delay, leg.drive.current_lag"
)
ENGINES = ("mujoco", "bullet")
FREQUENCIES = np.array([0.3, 0.7, 1.1, 1.9, 2.9, 3.7, 4.5])
SHARES = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.6, 1.6])
SPEEDS = {"x": 0.04, "y": 0.04, "z": 0.01, "roll": 0.05, "pitch": 0.05, "yaw": 0.05}
"""[m/s, rad/s] of each sine; fast ones are larger, so that legs are unloaded and play shows."""

BANDWIDTH = 30.0
"""[rad/s] of the controller, a third of the usual one: its model decides how well it tracks."""

LIMITS = {
    "platform.body.mass": ("0.5 %", 5e-3, True),
    "center_of_mass": ("1 mm", 1e-3, False),
    "inertia": ("none", np.inf, False),
    "friction_torque": ("5 %", 0.05, True),
    "viscous_torque": ("5 %", 0.05, True),
    "delay": ("0.5 ms, half a period", 5e-4, False),
    "lag": ("none", np.inf, False),
    "backlash": ("10 % of the file's", 1e-5, False),
}
"""Part of a path -> the limit in words, its number, and whether it is relative to the truth."""

Line = dict[str, str]


def main() -> None:
    """Run the study, or print what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="number of machines")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--duration", type=float, default=20.0, help="of the excitation [s]")
    parser.add_argument("--excite", default="", help="groups that the motion shall show best")
    parser.add_argument("--summary", action="store_true", help="print the table only")
    parser.add_argument("--twenty", action="store_true", help="time of 20 parameters")
    options = parser.parse_args()
    if options.twenty:
        twenty(options.first, options.duration)
        return
    seeds = () if options.summary else range(options.first, options.first + options.seeds)
    for seed in seeds:
        study(seed, options.duration, options.excite)
    summary(EXCITED if options.excite else ESTIMATES)


def study(seed: int, duration: float, groups: str = "") -> None:
    """Hide, move and identify one machine; add its lines to the results."""
    file = twin.load("stewart", configuration="hardware")
    hidden = drawn(file, seed)
    engine = ENGINES[seed % len(ENGINES)]
    motion = excitation(file, duration, seed)
    if groups:
        motion = excite(file, select(file, groups), duration, seed=seed).motion
    run = moved(hidden, file, motion, engine)
    found, clock, processor = timed(file, run, PARAMETERS)
    print(f"seed {seed}, {engine}: {clock:.0f} s, {processor:.0f} s of processor time")
    print(found.summary, *found.notes, sep="\n  ", flush=True)
    lines = estimates(hidden, run.timestep, found)
    replace(EXCITED if groups else ESTIMATES, seed, [{"engine": engine, **each} for each in lines])
    if groups:
        return
    other = excitation(file, 5.0, seed + 1000)
    errors = [
        1e6 * TrackingErrors(moved(hidden, model, other, "mujoco")).root_mean_square()[0]
        for model in (file, found.platform)
    ]
    print(f"  tracking, rms: {errors[0]:.1f} um on the file, {errors[1]:.1f} um after", flush=True)
    line = {
        "processor [s]": f"{processor:.1f}",
        "clock [s]": f"{clock:.1f}",
        "tracking of the file [um]": f"{errors[0]:.2f}",
        "tracking after [um]": f"{errors[1]:.2f}",
    }
    replace(MACHINES, seed, [{"engine": engine, **line}])


def twenty(seed: int, duration: float) -> None:
    """Hide 20 numbers of one machine, and print the time that finding them takes, and errors."""
    file = twin.load("stewart", configuration="hardware")
    parameters, other = select(file, TWENTY), drawn(file, seed).parameters
    # One number of all legs is that of leg 1.
    paths = {each.path: each.path.replace("leg.drive", "leg.1.drive") for each in parameters}
    values = {path: nominal_value(other, own) for path, own in paths.items()}
    hidden = file.with_(parameters=values)
    engine = ENGINES[seed % len(ENGINES)]
    run = moved(hidden, file, excitation(file, duration, seed), engine)
    found, clock, processor = timed(file, run, TWENTY)
    samples = len(run.signals["measured"])
    print(f"{len(parameters)} parameters, {samples} samples of {duration:g} s, {engine}:")
    print(f"{clock:.1f} s by the clock, {processor:.1f} s of processor time")
    print(found.summary, *found.notes, sep="\n  ")
    for line in estimates(hidden, run.timestep, found):
        error = abs(float(line["estimate"]) - float(line["true"]))
        print(f"{line['path']}: {line['estimate']} of {line['true']}, error {error:.2g}")


def drawn(file: Platform, seed: int) -> Platform:
    """Return a machine within the spreads of a file."""
    spread = hardware_spread(file.parameters)
    return Platform(spread.sample(np.random.default_rng(seed), file.parameters).parameters)


def timed(file: Platform, run: Trajectory, names: str) -> tuple[Identification, float, float]:
    """Return what an identification from encoders and commands finds, clock and processor time."""
    began, processor = time.perf_counter(), time.process_time()
    log = log_of(run)
    kept = Log((log["measured"], log["command_forces"]))  # the forces would be exact
    found = identify(file, [kept], names, if_unobservable="hold")
    return found, time.perf_counter() - began, time.process_time() - processor


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


def estimates(hidden: Platform, timestep: float, found: Identification) -> Iterator[Line]:
    """Yield a line of the results for each parameter; drives hold delays of whole steps.

    Named are those that a note calls unsure, and those that are held.
    """
    margins = found.margins * found.standard_errors
    every = zip(found.parameters, found.values, found.standard_errors, margins, strict=True)
    held = [(each, each.nominal, each.prior_std, 2.0 * each.prior_std) for each in found.fixed]
    for parameter, value, error, margin in [*every, *held]:
        true = nominal_value(hidden.parameters, parameter.path)
        if parameter.path.endswith("delay"):
            true = timestep * round(true / timestep)
        named = any(note.startswith(parameter.label) for note in found.notes)
        numbers = {"file": parameter.nominal, "true": true}
        numbers |= {"estimate": value, "standard_error": error}
        yield {
            "path": parameter.path,
            **{name: f"{number:.8g}" for name, number in numbers.items()},
            "inside": str(int(abs(value - true) <= margin)),
            "named": str(int(named or parameter in found.fixed)),
        }


def replace(path: Path, seed: int, lines: Sequence[Line]) -> None:
    """Replace the lines of a seed in a file of results."""
    own = [{"seed": str(seed), **line} for line in lines]
    every = [*(line for line in read(path) if line["seed"] != str(seed)), *own]
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(own[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(every, key=lambda line: int(line["seed"])))


def read(path: Path) -> list[Line]:
    """Return the lines of a file of results."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def rows(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    """Yield a row per limit: errors of all machines against it, and how often intervals held."""
    parts = [(part, part, False) for part in LIMITS]
    parts += [("backlash", "backlash, not named", True)]
    for part, title, sure in parts:
        words, limit, relative = LIMITS[part]
        own = [line for line in lines if part in line["path"]]
        own = [line for line in own if not sure or line["named"] == "0"]
        if not own:
            continue
        true = np.array([float(line["true"]) for line in own])
        errors = np.abs(np.array([float(line["estimate"]) for line in own]) - true)
        errors = errors / np.abs(true) if relative else errors
        sizes = [f"{each:.2g}" for each in np.percentile(errors, (50, 95, 100))]
        yield title, str(len(own)), words, *sizes, f"{np.mean(errors <= limit):.1%}", held(own)
    yield "all", str(len(lines)), "", "", "", "", "", held(lines)


def held(lines: Sequence[Line]) -> str:
    """Return how often intervals held."""
    return f"{np.mean([line['inside'] == '1' for line in lines]):.1%}"


def summary(path: Path) -> None:
    """Print the table of the results."""
    lines = read(path)
    print(f"{len({line['seed'] for line in lines})} machines")
    print(
        "| parameter | count | limit | median | 95 % | largest | below the limit | intervals hold |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows(lines):
        print(f"| {' | '.join(row)} |")
    if path == ESTIMATES:
        tracking, after = (
            np.array([float(line[name]) for line in read(MACHINES)])
            for name in ("tracking of the file [um]", "tracking after [um]")
        )
        ratios = np.sort(tracking / after)
        print(f"tracking: {np.round(ratios, 2).tolist()} times as well, {np.mean(ratios >= 2):.0%}")


if __name__ == "__main__":
    main()
