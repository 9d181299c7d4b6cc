"""Errors of the identification on machines that share no drives, friction or sensors with it.

The rig (`twin.validation.rig`) moves machines whose payload and friction are drawn about the file's
along the motion of `twin excite`, 20 s at 1 kHz. 14 numbers are identified from commands and
encoders. Each line is one machine; the table says how far from the truth the estimates are, and
whether intervals hold, are withheld, or the pattern that was put in is named. Mass or centre that
are wrong beyond `ERROR_LIMITS`, with an interval that does not hold them, are wrong in silence.

    python benchmarks/known_truth.py --conditions clean,cable --seeds 20 --out known_truth.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.errors import InputError
from twin.identification.excitation import excite
from twin.identification.parameters import select, with_parameters
from twin.identification.result.identification import Identification
from twin.identification.result.identify import identify
from twin.motion import Motion
from twin.plant.plant import encoder_resolution
from twin.validation.rig import FORCE_PER_CURRENT, Conditions, record

RESULTS = Path(__file__).parent / "results"

PARAMETERS = (
    "platform.body.mass, platform.body.center_of_mass.*, platform.body.inertia.*, "
    "leg.drive.friction_torque, leg.drive.viscous_torque, leg.drive.breakaway, "
    "leg.drive.stribeck_speed"
)
PAYLOAD_RATIO = 104.6 / 97.0
"""True mass of the platform with its payload, over that of the file."""

TRUTH_SPREAD = 0.5
"""Standard deviation of the truth, in that of the priors."""

CABLE = {"cable_force": (15.0, 0.0, -20.0), "cable_stiffness": 2000.0}
SWING = {"swinging_mass": 10.0}
MOTORS = {"motor_constants": (1.03, 0.98, 1.0, 0.97, 1.02, 1.0)}
WARMING = {"warming_drop": 0.3, "warming_time": 15.0}
TRACKER = {"tracker_rate": 60.0, "tracker_delay": 12e-3}
LEADS = {"lead_errors": (1e-3, -5e-4, 8e-4, -1e-3, 3e-4, 0.0)}
CURRENTS = {"current_bias": (10.0, -8.0, 5.0, 0.0, -10.0, 4.0), "current_resolution": 5.0}
EVERYTHING = {
    **CABLE,
    **SWING,
    **MOTORS,
    **WARMING,
    **TRACKER,
    **LEADS,
    **CURRENTS,
    "friction_law": "lugre",
    "base_frequency": 15.0,
    "jitter": 1e-4,
}

SWITCHES: dict[str, tuple[Conditions, str]] = {
    "clean": (Conditions(), ""),
    "law": (Conditions(friction_law="linear"), ""),
    "lugre": (Conditions(friction_law="lugre"), "lugre"),
    "screw": (Conditions(**LEADS), "leads"),  # type: ignore[arg-type]
    "base": (Conditions(base_frequency=15.0), ""),
    "currents": (Conditions(**CURRENTS), ""),  # type: ignore[arg-type]
    "jitter": (Conditions(jitter=1e-4), ""),
    "tracker": (Conditions(**TRACKER), ""),  # type: ignore[arg-type]
    "cable": (Conditions(**CABLE), "cable"),  # type: ignore[arg-type]
    "swing": (Conditions(**SWING), "pendulum"),  # type: ignore[arg-type]
    "motors": (Conditions(**MOTORS), "motor_constants"),
    "warming": (Conditions(**WARMING), "friction_drift"),  # type: ignore[arg-type]
    "load": (Conditions(load_friction=0.1), "load_friction"),
    "all": (Conditions(**EVERYTHING), "friction_drift"),  # type: ignore[arg-type]
}
"""Name -> conditions of the rig, and the group of free terms that explains them. Logs of "currents"
and "all" have currents.
"""

CENTER = [f"platform.body.center_of_mass.{k}" for k in range(3)]

ERROR_LIMITS = (0.3, 1.0)
"""[%], [mm] Errors of mass and centre up to which a result counts as right."""


class Line(NamedTuple):
    """Result of one machine."""

    switch: str
    ratio: float
    """errors on data kept apart over the noise of the encoders"""
    mass: float
    """[%] error"""
    center: float
    """[mm] largest error"""
    inertia: float
    """[%] largest error of a moment about an axis"""
    held: float
    """fraction of the intervals that hold"""
    withheld: bool
    named: bool
    """whether the pattern that was put in is the first one named"""
    silent: bool
    """whether mass or centre are wrong, and outside of their intervals"""
    seconds: float


def drawn(file: Platform, seed: int) -> tuple[Platform, dict[str, float]]:
    """Return a machine about the file's, and its true numbers by path."""
    rng, parameters = np.random.default_rng(1000 + seed), select(file, PARAMETERS)
    while True:
        shares = np.clip(TRUTH_SPREAD * rng.standard_normal(len(parameters)), -1.5, 1.5)
        truth = {
            each.path: each.nominal + float(share) * each.prior_std
            for each, share in zip(parameters, shares, strict=True)
        }
        truth["platform.body.mass"] = PAYLOAD_RATIO * file.parameters.platform.body.mass
        truth["leg.drive.breakaway"] = max(1.02, truth["leg.drive.breakaway"])
        truth["leg.drive.stribeck_speed"] = max(5e-4, truth["leg.drive.stribeck_speed"])
        try:
            return with_parameters(file, parameters, list(truth.values())), truth
        except InputError:
            continue  # no body has these moments


def line(file: Platform, motion: Motion, switch: str, seed: int, mode: str, term: bool) -> Line:
    """Return the result of one machine."""
    conditions, group = SWITCHES[switch]
    machine, truth = drawn(file, seed)
    forces = "current" if conditions.current_resolution else "none"
    log = record(machine, motion, conditions, model=file, mode=mode, forces=forces, seed=seed)  # type: ignore[arg-type]
    names = f"{PARAMETERS}, {group}" if term and group else PARAMETERS
    began = time.perf_counter()
    found = identify(
        file, [log], names, if_unobservable="prior", force_per_current=FORCE_PER_CURRENT
    )
    seconds = time.perf_counter() - began
    print("  ", *found.notes, sep="\n   ", flush=True)
    return _line(file, switch, group, found, truth, seconds)


def _line(
    file: Platform,
    switch: str,
    group: str,
    found: Identification,
    truth: dict[str, float],
    seconds: float,
) -> Line:
    own = [k for k, each in enumerate(found.parameters) if each.path in truth]
    paths = [found.parameters[k].path for k in own]
    true = np.array([truth[path] for path in paths])
    errors = np.abs(found.values[own] - true)
    margins = (found.margins * found.standard_errors)[own]

    def largest(part: str, relative: bool) -> float:
        rows = [k for k, path in enumerate(paths) if part in path]
        if part == "inertia":
            rows = [k for k in rows if len(set(paths[k].split(".")[-2:])) == 1]
        scale = np.abs(true[rows]) if relative else 1.0
        return float((errors[rows] / scale).max())

    mass, center = largest("body.mass", True), largest("center_of_mass", False)
    held = errors <= margins
    limits = {
        "platform.body.mass": 1e-2 * ERROR_LIMITS[0] * truth["platform.body.mass"],
        **dict.fromkeys(CENTER, 1e-3 * ERROR_LIMITS[1]),
    }
    silent = [
        not held[k] and errors[k] > limits[path] for k, path in enumerate(paths) if path in limits
    ]
    count = encoder_resolution(file.parameters.legs[0]) / np.sqrt(12.0)
    return Line(
        switch,
        found.fits[-1].after / count,
        100.0 * mass,
        1e3 * center,
        100.0 * largest("inertia", True),
        float(held.mean()),
        bool(np.isinf(margins).any()),
        bool(found.patterns) and found.patterns[0].group == group,
        bool(np.any(silent)),
        seconds,
    )


def main() -> None:
    """Run the machines, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", default="stewart", help="name, with its hardware")
    parser.add_argument("--conditions", default=",".join(SWITCHES), help="switches of the rig")
    parser.add_argument("--seeds", type=int, default=20, help="machines for each")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--mode", default="force", help="of the commands: force or velocity")
    parser.add_argument("--term", action="store_true", help="with the free term that explains them")
    parser.add_argument("--out", help="table among the results, written after each machine")
    options = parser.parse_args()
    file = twin.load(options.machine, configuration="hardware")
    motion = excite(file, select(file, "payload"), 20.0, seed=0, progress=False).motion
    print("| " + " | ".join(Line._fields) + " |")
    rows = []
    for switch in options.conditions.split(","):
        for seed in range(options.first, options.first + options.seeds):
            row = line(file, motion, switch, seed, options.mode, options.term)
            cells = [f"{each:.3g}" if isinstance(each, float) else str(each) for each in row]
            print(f"| {' | '.join(cells)} |", flush=True)
            rows.append([seed, options.mode, options.term, *cells])
            if options.out:
                with (RESULTS / options.out).open("w", newline="") as table:
                    titles = ["seed", "mode", "term", *Line._fields]
                    csv.writer(table).writerows([titles, *rows])


if __name__ == "__main__":
    main()
