"""Distance to singular poses along rays: where the determinant of the Jacobian changes sign.

The actuators' limits do not count here: the question is how far they keep the machine away.
Machines with more actuators than degrees of freedom have no determinant; their smallest singular
value (`twin.analysis.workspace.dexterity`) shows singularity without a distance.
"""

from __future__ import annotations

import numpy as np

from twin.analysis.workspace.admissible import determinants, square
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import FloatArray
from twin.errors import InputError

SAMPLES = 240
"""Poses tried along a ray; two sign changes closer to each other than 1/240 of it are missed."""

HALVINGS = 44


def singular_distance(
    chart: Chart, directions: FloatArray, reach: float | None = None
) -> FloatArray:
    """Return the scaled radii `(m,)` of the first singular pose along `directions` `(m, k)`.

    Infinite where there is none before the machine ends to exist or the radius `reach` (default
    the chart's bound).

    Raises:
        InputError: a machine without a square Jacobian, or a singular centre.
    """
    if not square(chart.platform):
        raise InputError("platform", f"{chart.platform.name} has no square Jacobian")
    size = chart.bound if reach is None else reach
    steps = size * np.arange(SAMPLES + 1) / SAMPLES
    shape = (len(directions), SAMPLES + 1)
    poses = chart.along(directions[:, None], np.broadcast_to(steps, shape))
    values = determinants(chart.platform, poses.reshape(-1, 7)).reshape(shape)
    side = np.sign(values[0, 0])
    if not side:
        raise InputError("center", "is a singular pose")
    other = side * values <= 0.0
    missing = np.isnan(values)
    ended = np.where(missing.any(axis=1), missing.argmax(axis=1), SAMPLES + 1)
    place = other.argmax(axis=1)
    ray = np.flatnonzero(other.any(axis=1) & (place < ended))
    low, high = steps[place[ray] - 1], steps[place[ray]]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        here = determinants(chart.platform, chart.along(directions[ray], middle))
        near = side * here > 0.0
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    found = np.full(len(directions), np.inf)
    found[ray] = low
    return found
