"""Forces that move any machine about home: holding forces plus offsets."""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray
from twin.platform import Platform
from twin.validation.sampling import holding_forces, typical_force

SHARE = 0.1
"""Largest offset per mean holding force: centimetres in 0.3 s, well inside the stroke."""

FREQUENCIES = (3.0, 8.0)
"""[Hz] of the first and the last leg's sine; the others lie evenly between."""


def constant_forces(platform: Platform) -> FloatArray:
    """Return holding forces plus an offset of its own for each leg, `(n,)` [N]."""
    hold = holding_forces(platform)
    pattern = np.cos(2.0 * np.arange(platform.n_actuators))
    return np.asarray(hold + SHARE * typical_force(platform) * pattern)


def sinusoidal_forces(platform: Platform, duration: float, timestep: float) -> FloatArray:
    """Return holding forces plus sines, sampled at the start of each step, `(steps, n)` [N].

    Amplitudes are equal, frequencies and phases differ from leg to leg.
    """
    hold = holding_forces(platform)
    time = np.arange(round(duration / timestep))[:, None] * timestep
    legs = np.arange(platform.n_actuators)
    frequency = np.linspace(*FREQUENCIES, platform.n_actuators)
    sines = np.sin(2.0 * np.pi * frequency * time + 1.3 * legs)
    return np.asarray(hold + 2.0 * SHARE * typical_force(platform) * sines)
