"""Gains that fit a machine: its own, or derived from its masses and delays."""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray, read_only
from twin.parameters.control import CascadeGains
from twin.plant.drives import equivalent_inertia
from twin.platform import Platform

SHORTEST_LAG = 0.7e-3
"""[s] Adopted: makes the thesis' 20 N per mm/s of what its machine moves without motors."""

SLOWER = 10.0
"""Adopted: by how much the position loop is slower than the velocity loop."""


def own_gains(platform: Platform) -> CascadeGains | None:
    """Return the gains of the machine's parameters, None if it has none."""
    return platform.parameters.control


def loop_lag(platform: Platform, period: float) -> float:
    """Return the sum of small lags [s] around the velocity loops: current, delay, half a period."""
    drives = [leg.drive for leg in platform.parameters.legs]
    lags = [0.0 if drive is None else drive.current_lag + drive.delay for drive in drives]
    return max(SHORTEST_LAG, max(lags) + 0.25 * period)


def derived_velocity_loop(platform: Platform, period: float) -> tuple[FloatArray, FloatArray]:
    """Return gains `(n,)` and integral times `(n,)` [s] of the symmetrical optimum.

    With the sum T of small lags: gain m / (2 T), integral time 4 T, for what each actuator moves
    when all move together.

    Reference:
        Kessler, "Das symmetrische Optimum", Regelungstechnik 6, 1958.
    """
    lag = loop_lag(platform, period)
    gain = equivalent_inertia(platform) / (2.0 * lag)
    return read_only(gain), read_only(np.full(platform.n_actuators, 4.0 * lag))


def suitable_velocity_loop(platform: Platform, period: float) -> tuple[FloatArray, FloatArray]:
    """Return the machine's own gains and times of the velocity loops, or derived ones."""
    own, n = own_gains(platform), platform.n_actuators
    gain = None if own is None else own.velocity_gain or own.crank_velocity_gain
    if own is None or gain is None:
        return derived_velocity_loop(platform, period)
    return read_only(np.full(n, gain)), read_only(np.full(n, own.velocity_time))


def suitable_position_loop(platform: Platform, period: float) -> tuple[float, float]:
    """Return gain [1/s] and integral gain [1/s2] of the position loop."""
    own = own_gains(platform)
    if own is not None:
        return own.position_gain, own.position_integral
    gain = 1.0 / (2.0 * SLOWER * loop_lag(platform, period))
    return gain, gain**2 / 10.0
