"""Largest masses over frequency at the worst positions of a search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.payload.criterion import Criterion, VibrationTest
from twin.analysis.payload.dynamic import DynamicPayload
from twin.analysis.payload.worst_phase import WorstPhase
from twin.basics import canonical
from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.model.machine_model import MachineModel

POSITIONS = 48
"""Worst positions of a search that are swept; the others are far from deciding."""

WORST_POSITIONS = 8
"""The same with phases of their own each."""

SWEEP_SAMPLES = 72


class FrequencySweep(NamedTuple):
    """Largest masses [kg] over frequency, ends and speeds of actuators ignored."""

    frequency: FloatArray
    """`(f,)` [Hz]"""
    in_phase: FloatArray
    """`(f,)` with the criterion's own phases"""
    worst_phase: FloatArray
    """`(f,)` with each position's worst"""
    backwards: FloatArray
    """`(f,)` with the criterion's own phases and rotations that run backwards"""


def frequency_sweep(
    platform: MachineModel,
    dynamic: DynamicPayload,
    worst: WorstPhase,
    frequencies: Any,
    *,
    limit: Any = None,
    sense: str = "magnitude",
) -> FrequencySweep:
    """Return the largest masses over frequencies `(f,)` [Hz] at the worst positions of searches.

    Raises:
        InputError: as `dynamic_payload`, or frequencies that are no numbers above zero.
    """
    rates = as_floats(frequencies, "frequencies")
    if rates.ndim != 1 or not rates.size or not (rates > 0.0).all():
        raise InputError("frequencies", "must be numbers above zero, in Hz")
    machine = VibrationTest(platform, limit, sense, checked=False)
    rows = canonical.order(dynamic.masses.min(axis=1))[:POSITIONS]
    poses = dynamic.poses[rows]
    criterion = dynamic.criterion
    opposite = criterion._replace(reversed_rotation=not criterion.reversed_rotation)
    own = canonical.order(worst.bounds)[:WORST_POSITIONS]

    def lowest(shaken: Criterion, frequency: float, centers: FloatArray) -> float:
        return float(machine.run(shaken, frequency, centers, SWEEP_SAMPLES).mass.min())

    def lowest_own(frequency: float) -> float:
        return min(
            lowest(
                criterion.with_phases(worst.patterns[row]), frequency, worst.poses[row : row + 1]
            )
            for row in own
        )

    return FrequencySweep(
        rates,
        np.array([lowest(criterion, rate, poses) for rate in rates]),
        np.array([lowest_own(rate) for rate in rates]),
        np.array([lowest(opposite, rate, poses) for rate in rates]),
    )
