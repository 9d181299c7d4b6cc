"""Calibration of machines with known errors: errors of unseen poses, intervals, time.

Joints and offsets have errors of 0.2 mm (standard deviation, each coordinate); of cranks turns and
offsets that move the crank's end as far. A tracker of 20 um and 50 urad measures 60 poses; encoders
have 1 um. Errors are those of 100 other poses without noise, all over the workspace. Run:

    python benchmarks/calibration.py [seeds] [table.csv]
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import twin
from twin.analysis.platform import Platform
from twin.basics.arrays import BoolArray, FloatArray
from twin.calibration import (
    Calibration,
    Frames,
    LegErrors,
    MeasuredPoses,
    calibrate,
    plan,
    poses_within,
    simulated,
)
from twin.calibration.measurement_model import Residuals
from twin.rotations import displacement

MACHINES = ("stewart", "srspm", "rss", "micro_hexapod")
SPREAD, POSES, OTHERS = 2e-4, 60, 100
VARIANTS = {
    "known frames": {"frames": "known"},
    "unknown frames": {"frames": "both"},
    "known frames, tolerance": {"frames": "known", "tolerance": SPREAD},
    "known frames, planned poses": {"frames": "known"},
}
COLUMNS = (
    *("machine", "variant", "seeds", "before mean [um]", "before 95 % [um]", "after mean [um]"),
    *("after 95 % [um]", "after largest [um]", "after mean [urad]", "inside 95 % [%]", "time [s]"),
)


def study(machine: Platform, variant: str, seeds: int) -> list[str]:
    """Return the row of a table: one machine over all seeds."""
    legs, options = LegErrors(machine), VARIANTS[variant]
    planned = plan(machine, POSES, frames="known").poses if "planned" in variant else None
    others = poses_within(machine, OTHERS, seed=10_000)
    before, after, angles, inside, seconds = [], [], [], [], []
    for seed in range(seeds):
        random = np.random.default_rng([seed, 2])
        errors = SPREAD * legs.scales * random.normal(size=legs.shape)
        poses = planned if planned is not None else poses_within(machine, POSES, seed)
        measured = simulated(machine, poses, errors, seed=seed)
        start = time.process_time()
        found = calibrate(machine, measured, holdout=0.0, **options)
        seconds.append(time.process_time() - start)
        old, new = found.errors_of(simulated(machine, others, errors))
        before.append(1e6 * old.position)
        after.append(1e6 * new.position)
        angles.append(1e6 * new.angle)
        inside.append(shown_inside(found, errors, measured))
    numbers = (
        *(np.mean(before), np.quantile(before, 0.95), np.mean(after), np.quantile(after, 0.95)),
        *(np.max(after), np.mean(angles), 100.0 * np.mean(np.concatenate(inside))),
        np.median(seconds),
    )
    return [machine.name, variant, str(seeds), *(f"{number:.3g}" for number in numbers)]


def shown_inside(found: Calibration, errors: FloatArray, measured: MeasuredPoses) -> BoolArray:
    """Return whether the 95 % interval of each combination that the poses show holds the truth.

    Combinations are those of the singular vectors of the residuals' derivatives.
    """
    model = found.model
    frames = [displacement(Frames()[k], model.frames[k]) for k in range(2)]
    truth = np.concatenate([errors.ravel(), *frames]) / np.where(model.scales, model.scales, np.inf)
    slopes = Residuals(model, measured).slopes(found.after.unknowns).reshape(-1, model.size)
    ways = np.linalg.svd(slopes @ found.gauge.basis, full_matrices=False)[0][:, : found.after.rank]
    shown = ways.T @ slopes
    deviations = np.sqrt(np.diag(shown @ found.after.covariance @ shown.T))
    return np.abs(shown @ (found.after.unknowns - truth)) < 1.96 * deviations


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print(", ".join(COLUMNS))
    rows = []
    for name in MACHINES:
        for variant in VARIANTS:
            rows.append(study(twin.load(name), variant, seeds))
            print(", ".join(rows[-1]), flush=True)
    if len(sys.argv) > 2:
        with Path(sys.argv[2]).open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
