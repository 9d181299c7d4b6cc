"""Calibrate a machine by measured poses: plan them, measure, fit, and check on other poses.

The measured machine is a simulated one here, with joints that are off by 0.2 mm.
"""

from __future__ import annotations

import numpy as np

import twin
from twin.calibration import LegErrors, calibrate, plan, poses_within, simulated

SPREAD = 2e-4

machine = twin.load("stewart")
legs = LegErrors(machine)
hidden = SPREAD * np.random.default_rng(1).normal(size=legs.shape)

print("  poses  before: um       urad      after: um       urad")
others = simulated(machine, poses_within(machine, 100, seed=9), hidden)
for count in (15, 30, 60):
    proposed = plan(machine, count, frames="known", tolerance=SPREAD)
    poses = simulated(machine, proposed.poses, hidden, seed=2)
    found = calibrate(machine, poses, frames="known", tolerance=SPREAD, holdout=0.0)
    before, after = found.errors_of(others)
    numbers = [1e6 * each.mean() for each in (*before, *after)]
    print(" {:6d} {:14.1f} {:10.1f} {:14.1f} {:10.1f}".format(count, *numbers))

print("\n Only the position of the target is measured, frames are unknown:")
poses = simulated(machine, proposed.poses, hidden, measured=("x", "y", "z"), seed=3)
for text in calibrate(machine, poses).unobservable:
    print(f" not shown: {text}")
