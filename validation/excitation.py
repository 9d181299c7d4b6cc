"""Forces that move any machine about home: holding forces plus offsets."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.simulation.platform import Platform
from twin.validation.durations import compared_step
from twin.validation.equilibrium import rest, typical_force

SHARE = 0.1
"""Largest offset per mean holding force: centimetres in 0.3 s, well inside the stroke."""

FREQUENCIES = (3.0, 8.0)
"""[Hz] at steps of 1 ms of the first and the last actuator's sine; the others lie evenly
between."""


def constant_forces(platform: Platform) -> FloatArray:
    """Return holding forces plus an offset of its own for each actuator, `(n,)` [N, N m]."""
    pattern = np.cos(2.0 * np.arange(platform.n_actuators))
    return np.asarray(rest(platform).forces + SHARE * typical_force(platform) * pattern)


def sinusoidal_forces(platform: Platform, duration: float, timestep: float) -> FloatArray:
    """Return holding forces plus sines, sampled at the start of each step, `(steps, n)` [N, N m].

    Amplitudes are equal, frequencies and phases differ from actuator to actuator.
    """
    time = np.arange(round(duration / timestep))[:, None] * timestep
    legs = np.arange(platform.n_actuators)
    frequency = np.linspace(*FREQUENCIES, platform.n_actuators) * (1e-3 / compared_step(platform))
    sines = np.sin(2.0 * np.pi * frequency * time + 1.3 * legs)
    return np.asarray(rest(platform).forces + SHARE * typical_force(platform) * sines)
