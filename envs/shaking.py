"""Shaking of a machine's base: random sines in a band, from rest to rest."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.tasks.arrays import Scales
from twin.kernels.tasks.shaking import fill_shaking
from twin.model.evaluation import without_compiling

FADE = 0.5
"""[s] over which a base begins to shake, and ends; at most a quarter of the time."""

USUAL = 0.5
"""[m/s2] largest usual RMS acceleration along each axis."""

TRAVEL, SPEED = 0.085, 0.14
"""Shares of the actuators' half travel and of their speed that the RMS of the motion along one axis
may take: peaks along three axes take less than half of them."""

ROUNDED = 12
"""Digits after the point of rates, so that legs that are alike have the same."""


class Spectrum(NamedTuple):
    """RMS along one axis of lines of one acceleration, spread evenly over a band's logarithm."""

    acceleration: float
    """[m/s2]"""
    velocity: float
    """[m/s]"""
    displacement: float
    """[m]"""


class ShakingTables(NamedTuple):
    """Course of the base of one machine."""

    mean: FloatArray
    """`(p, ratio, 3)` mean acceleration over each step of the engine [m/s2]"""
    place: FloatArray
    """`(p + 1, 3)` displacement at the periods' ends [m]"""


def spectrum(acceleration: float, lowest: float, highest: float) -> Spectrum:
    """Return the RMS of acceleration [m/s2], velocity and displacement in a band [Hz]."""

    def mean_power(order: int) -> float:
        """Return the mean of 1 / omega^order."""
        low, high = 2.0 * pi * lowest, 2.0 * pi * highest
        if high <= low * (1.0 + 1e-9):
            return low**-order
        return (low**-order - high**-order) / (order * log(high / low))

    return Spectrum(
        acceleration, acceleration * sqrt(mean_power(2)), acceleration * sqrt(mean_power(4))
    )


def leg_effect(platform: Platform) -> FloatArray:
    """Return `(n,)` rate of each actuator at home per speed of the platform, worst direction."""
    with without_compiling():
        effect = np.linalg.norm(platform.jacobian(platform.home)[:, :3], axis=1)
    return np.asarray(np.round(effect, ROUNDED))


def usual_acceleration(platform: Platform, scales: Scales, lowest: float, highest: float) -> float:
    """Return the RMS acceleration [m/s2] of a base that the actuators could make up for."""
    unit = spectrum(1.0, lowest, highest)
    effect = np.maximum(leg_effect(platform), 1e-12)
    travel = TRAVEL * float((_reach(platform, scales) / effect).min()) / unit.displacement
    speed = SPEED * float((scales.speed / effect).min()) / unit.velocity
    return min(USUAL, travel, speed)


def shaking_force(platform: Platform, level: Spectrum) -> FloatArray:
    """Return `(n,)` RMS force [N, N m] of actuators that make up for a motion along one axis.

    It accelerates the platform's mass, and yields against the springs of struts.
    """
    force = platform.parameters.platform.body.mass * level.acceleration
    effect = np.maximum(leg_effect(platform), 1e-12)
    if platform.leg.has_axial_spring:
        stiffness = platform.leg_springs.stiffness
        return np.asarray(force / effect + stiffness * level.displacement * effect)
    return np.asarray(force / effect)


def _reach(platform: Platform, scales: Scales) -> FloatArray:
    """Return the travel of actuators from the middle; of those in struts, against their springs."""
    if not platform.leg.has_axial_spring:
        return scales.half
    stiffness = np.maximum(platform.leg_springs.stiffness, 1e-300)
    return np.asarray(np.minimum(scales.half, scales.effort / stiffness))


def random_lines(
    generator: np.random.Generator, acceleration: float, lowest: float, highest: float, count: int
) -> FloatArray:
    """Return `(3, count, 3)` frequency [Hz], acceleration [m/s2] and phase of sines per axis.

    One line in each of `count` parts of the band's logarithm, all of one size, at random places
    and phases; RMS `acceleration` along each axis.
    """
    share = (np.arange(count) + generator.uniform(size=(3, count))) / count
    lines = np.empty((3, count, 3))
    lines[..., 0] = lowest * (highest / lowest) ** share
    lines[..., 1] = acceleration * sqrt(2.0 / count)
    lines[..., 2] = generator.uniform(0.0, 2.0 * pi, (3, count))
    return lines


def shaking_tables(lines: FloatArray, periods: int, ratio: int, step: float) -> ShakingTables:
    """Return what a base does over `periods` control periods of `ratio` steps [s]."""
    tables = ShakingTables(np.empty((periods, ratio, 3)), np.empty((periods + 1, 3)))
    fill_tables(lines, step, tables)
    return tables


def fill_tables(lines: FloatArray, step: float, tables: ShakingTables) -> None:
    """Fill tables with what a base does, in steps [s] of the engine."""
    periods, ratio, _ = tables.mean.shape
    duration = periods * ratio * step
    fill_shaking(lines, duration, min(FADE, 0.25 * duration), step, *tables)
