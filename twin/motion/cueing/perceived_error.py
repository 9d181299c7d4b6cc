"""Difference between the motions that a driver perceives on the platform and in the vehicle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.cueing.perception import FORCE_THRESHOLD, RATE_THRESHOLD, Perceived, perceived

PERIOD = 5e-3
"""[s] of the comparison."""

THRESHOLDS = np.concatenate([FORCE_THRESHOLD, RATE_THRESHOLD])


class PerceivedError(NamedTuple):
    """Vehicle against platform, as perceived; order: force along x, y, z, rate about x, y, z."""

    time: FloatArray
    """`(n,)` [s]"""
    vehicle: Perceived
    """what the vehicle's driver senses"""
    platform: Perceived
    """what the platform's driver senses"""
    rms: FloatArray
    """`(6,)` [m/s2], [rad/s] root mean square of the difference"""
    relative: FloatArray
    """`(6,)` the same over the thresholds"""
    correlation: FloatArray
    """`(6,)` of the two, about zero; zero where one of them is nothing"""
    false_cue: FloatArray
    """`(6,)` root mean square of the false part over the threshold: what the platform's driver
    is conscious of, less the threshold, while the vehicle's is not or is in the other direction"""

    @property
    def total(self) -> float:
        """Root mean square of the six relative errors, in thresholds."""
        return float(np.sqrt(np.mean(self.relative**2)))

    @property
    def total_correlation(self) -> float:
        """Correlation of all six at once, each over its threshold."""
        ours, theirs = (_thresholds_of(part) for part in (self.platform, self.vehicle))
        return float(_cosine(ours.ravel()[:, None], theirs.ravel()[:, None])[0])

    @property
    def total_false_cue(self) -> float:
        """Root mean square of the six false-cue indices, in thresholds."""
        return float(np.sqrt(np.mean(self.false_cue**2)))


def perceived_error(
    vehicle: Manoeuvre, platform: Manoeuvre, period: Any = PERIOD
) -> PerceivedError:
    """Return the difference between two manoeuvres as perceived, over the time that both last.

    Raises:
        InputError: no manoeuvres, period not above zero or longer than a quarter of them.
    """
    for field, value in (("vehicle", vehicle), ("platform", platform)):
        if not isinstance(value, Manoeuvre):
            raise InputError(field, f"must be a Manoeuvre, not {value!r}")
    step = positive(period, "period")
    last = min(vehicle.duration, platform.duration)
    if step > 0.25 * last:
        raise InputError("period", f"must be at most a quarter of the manoeuvres' {last:g} s")
    time = np.arange(int(last / step * (1.0 + 1e-12)) + 1, dtype=np.float64) * step
    theirs, ours = (perceived(*manoeuvre.at(time), step) for manoeuvre in (vehicle, platform))
    v, p = (np.hstack(part) for part in (theirs, ours))
    rms = np.sqrt(np.mean((p - v) ** 2, axis=0))
    known, shown = (np.hstack(part.conscious()) for part in (theirs, ours))
    false = np.where(known * shown > 0.0, 0.0, shown)
    return PerceivedError(
        time,
        theirs,
        ours,
        rms,
        rms / THRESHOLDS,
        _cosine(p, v),
        np.sqrt(np.mean(false**2, axis=0)) / THRESHOLDS,
    )


def _thresholds_of(part: Perceived) -> FloatArray:
    return np.asarray(np.hstack(part) / THRESHOLDS)


def _cosine(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return correlations about zero of columns; zero where a column is only rounding."""
    sizes = np.linalg.norm(one, axis=0) * np.linalg.norm(other, axis=0)
    product = np.sum(one * other, axis=0)
    return np.where(sizes > 1e-12, product / np.maximum(sizes, 1e-12), 0.0)
