"""Random admissible poses: a walk through the workspace that starts at the centre.

Many chains at once; every step goes a random way along a random direction of the chart, shortened
until the pose is admissible. The chains spread over the part of the workspace that hangs together
with the centre, so that searches can start there which would not find it from the centre.

Reference: Neal, Slice sampling, 2003 (shrinkage), along random directions.
"""

from __future__ import annotations

import numpy as np

from twin.analysis.workspace.admissible import Admissible
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import FloatArray

CHAINS = 512

STEPS = 100

KEPT = 40
"""Last steps of every chain that are returned."""

SHRINKS = 10
"""Times a step is shortened before the chain stays where it is."""


def wander(chart: Chart, seed: int = 0) -> FloatArray:
    """Return scaled axis values `(CHAINS * KEPT, k)` of admissible poses.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    random = np.random.default_rng(seed)
    admissible = Admissible(chart.platform, chart.center)
    place = np.zeros((CHAINS, len(chart.axes)))
    kept = []
    for step in range(STEPS):
        direction = random.normal(size=place.shape)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        low, high = -np.ones(CHAINS), np.ones(CHAINS)
        waiting = np.arange(CHAINS)
        for _ in range(SHRINKS):
            part = random.uniform(low[waiting], high[waiting])
            tried = place[waiting] + part[:, None] * direction[waiting]
            fine = admissible.inside(chart.poses(tried * chart.scale))
            place[waiting[fine]] = tried[fine]
            waiting, part = waiting[~fine], part[~fine]
            if not waiting.size:
                break
            low[waiting] = np.where(part < 0.0, part, low[waiting])
            high[waiting] = np.where(part < 0.0, high[waiting], part)
        if step >= STEPS - KEPT:
            kept.append(place.copy())
    return np.concatenate(kept)
