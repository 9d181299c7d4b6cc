"""Random reference motions that a machine can follow: sines on all its axes, within its limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, read_only
from twin.control.controller import sample_reference
from twin.errors import InputError
from twin.kernels.tasks.pose_tracking import Sines, fill_motion
from twin.kernels.tasks.task import Scales, fill_shaking
from twin.model.batch import lane_count
from twin.model.machine_base import without_compiling
from twin.motion import Motion, MultiSineMotion, axis_names
from twin.motion.recording import BASE_AXES, free_axes

FADE_TIME = 0.5
"""[s] Time in which a motion fades in from rest, and out again; at most a quarter of its
duration."""

SHRINK_FACTOR = 0.85
"""Factor on the amplitude after each try whose motion exceeds a limit of the machine."""

MAX_TRIES = 40
"""Largest number of tries; after them the amplitude would be 0.85^40 = 0.0015 of the first one."""

DEFAULT_ACCELERATION = 0.5
"""[m/s2] Upper limit of the default RMS acceleration along each axis."""

RATE_DIGITS = 12
"""Decimals to which rates are rounded, so that identical legs have identical rates."""


Rows = tuple[FloatArray, FloatArray, FloatArray]
"""Poses `(k, 7)`, coordinates `(k, n)` and rates `(k, n)` at the control instants."""


def random_motion(
    platform: Platform,
    scales: Scales,
    generator: np.random.Generator,
    *,
    duration: float,
    lowest_frequency: float,
    highest_frequency: float,
    lines: int,
    fraction: float,
    period: float,
    rows: Rows,
) -> Callable[[], Motion]:
    """Fill `rows` with sines of random frequency, direction and phase about home.

    Every line has a direction of its own in the machine's free axes, rotations weighed with the
    joints' mean radius. Together they take `fraction` of the actuators' travel or speed, whichever
    is reached first, estimated at home; where the exact coordinates would exceed the limits the
    motion shrinks.

    Args:
        platform: the machine.
        scales: scales of its actuators.
        generator: random generator of the motion.
        duration: [s].
        lowest_frequency: frequency [Hz].
        highest_frequency: frequency [Hz].
        lines: number of sines.
        fraction: share of travel and speed, 0 to 1.
        period: period of the samples [s].
        rows: arrays that are overwritten; samples after the end of the motion stay as they are.

    Returns:
        Function that makes the motion.

    Raises:
        InputError: no motion within the limits is found.
    """
    frequencies = np.sort(
        np.exp(generator.uniform(np.log(lowest_frequency), np.log(highest_frequency), lines))
    )
    # Equal frequencies would make one sine of two.
    frequencies += 1e-9 * np.arange(lines)
    directions = generator.standard_normal((lines, 6))
    seed = int(generator.integers(2**31))
    # The last three entries are rotations: at the joints' radius they count like translations.
    directions[:, 3:] /= platform.joint_radius
    twists = directions
    if platform.dof < 6:
        directions *= np.isin(BASE_AXES, free_axes(platform))
        twists = platform.constrain(np.tile(platform.home, (lines, 1)), directions).twist
    leg_rates = np.abs(twists @ _home_jacobian(platform).T)
    travel_use = (leg_rates.sum(axis=0) / scales.half).max()
    speed_use = ((2.0 * np.pi * frequencies) @ leg_rates / scales.speed).max()
    amplitude = directions * (fraction / max(float(travel_use), float(speed_use), 1e-300))
    for _ in range(MAX_TRIES):
        motion = partial(_motion, platform, frequencies, amplitude, duration, seed)
        fill = _fill_from_reference if platform.n_deflections else _fill
        if fill(platform, motion, scales, period, rows):
            return motion
        amplitude = amplitude * SHRINK_FACTOR
    raise InputError("amplitude", f"no random motion within the limits of {platform.name} is found")


@lru_cache(maxsize=8)
def _home_jacobian(platform: Platform) -> FloatArray:
    """Return the Jacobian at home."""
    with without_compiling():
        return read_only(platform.jacobian(platform.home))


def _fill(
    platform: Platform, motion: partial[Motion], scales: Scales, period: float, rows: Rows
) -> bool:
    """Fill `rows` with a motion; return whether it is within the limits."""
    _, frequencies, amplitude, duration, seed = motion.args
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, amplitude.T.shape).T
    cosine_amplitudes, sine_amplitudes = amplitude * np.sin(phases), amplitude * np.cos(phases)
    sines = Sines(
        2.0 * np.pi * frequencies,
        cosine_amplitudes,
        sine_amplitudes,
        duration,
        min(FADE_TIME, 0.25 * duration),
    )
    # The kernel takes `width` instants at a time: a tuple, whose length it knows when compiled.
    legs, width = platform.constants.legs, (0,) * max(2, lane_count())
    return bool(fill_motion(legs, platform.home, sines, scales, period, rows, width))


def _fill_from_reference(
    platform: Platform, motion: partial[Motion], scales: Scales, period: float, rows: Rows
) -> bool:
    """Fill `rows` with a motion as `_fill` does; deflections of series springs are neglected."""
    reference = sample_reference(platform, motion(), period)
    pose, coordinates, rates = rows
    pose[:], coordinates[:], rates[:] = reference.pose, reference.coordinates, reference.rates
    return bool(reference.reachable.all() and (np.abs(reference.rates) <= scales.speed).all())


def _motion(
    platform: Platform, frequencies: FloatArray, amplitude: FloatArray, duration: float, seed: int
) -> Motion:
    """Return a multi-sine about home with random phases."""
    names = axis_names("fixed_xyz")
    fade = min(FADE_TIME, 0.25 * duration)
    return MultiSineMotion(
        platform.home,
        frequencies=frequencies,
        amplitude={name: amplitude[:, k] for k, name in enumerate(names)},
        duration=duration,
        phases="random",
        seed=seed,
        convention="fixed_xyz",
        fade_in=fade,
        fade_out=fade,
    )


TRAVEL_FRACTION, SPEED_FRACTION = 0.085, 0.14
"""Fractions of the actuators' half travel and of their speed that the RMS of the motion along one
axis may take: peaks along three axes take less than half of them."""


class Spectrum(NamedTuple):
    """RMS along one axis of a sum of sines of equal acceleration, even over a band's logarithm."""

    acceleration: float
    """[m/s2] RMS acceleration"""
    velocity: float
    """[m/s] RMS velocity"""
    displacement: float
    """[m] RMS displacement"""


class ShakingTables(NamedTuple):
    """Motion of one machine's base over p control periods of `ratio` engine steps each."""

    mean: FloatArray
    """`(p, ratio, 3)` mean acceleration over each step of the engine [m/s2]"""
    displacement: FloatArray
    """`(p + 1, 3)` displacement at the periods' ends [m]"""


def spectrum(acceleration: float, lowest_frequency: float, highest_frequency: float) -> Spectrum:
    """Return the RMS of acceleration [m/s2], velocity and displacement in a band [Hz]."""

    def mean_power(order: int) -> float:
        """Return the mean of 1 / omega^order."""
        low, high = 2.0 * pi * lowest_frequency, 2.0 * pi * highest_frequency
        if high <= low * (1.0 + 1e-9):
            return low**-order
        return (low**-order - high**-order) / (order * log(high / low))

    return Spectrum(
        acceleration, acceleration * sqrt(mean_power(2)), acceleration * sqrt(mean_power(4))
    )


def leg_rate_per_speed(platform: Platform) -> FloatArray:
    """Return the largest rate `(n,)` of each actuator at home per speed of the platform."""
    rate_per_speed = np.linalg.norm(_home_jacobian(platform)[:, :3], axis=1)
    return np.asarray(np.round(rate_per_speed, RATE_DIGITS))


def usual_acceleration(
    platform: Platform, scales: Scales, lowest_frequency: float, highest_frequency: float
) -> float:
    """Return the RMS acceleration [m/s2] of a base that the actuators could make up for."""
    unit_spectrum = spectrum(1.0, lowest_frequency, highest_frequency)
    rate_per_speed = np.maximum(leg_rate_per_speed(platform), 1e-12)
    travel_limited = (
        TRAVEL_FRACTION
        * float((_max_displacement(platform, scales) / rate_per_speed).min())
        / unit_spectrum.displacement
    )
    speed_limited = (
        SPEED_FRACTION * float((scales.speed / rate_per_speed).min()) / unit_spectrum.velocity
    )
    return min(DEFAULT_ACCELERATION, travel_limited, speed_limited)


def shaking_force(platform: Platform, level: Spectrum) -> FloatArray:
    """Return `(n,)` RMS force [N, N m] of actuators that make up for a motion along one axis.

    It accelerates the platform's mass, and yields against the springs of struts.
    """
    force = platform.parameters.platform.body.mass * level.acceleration
    rate_per_speed = np.maximum(leg_rate_per_speed(platform), 1e-12)
    if platform.leg.has_axial_spring:
        stiffness = platform.leg_springs.stiffness
        return force / rate_per_speed + stiffness * level.displacement * rate_per_speed
    return force / rate_per_speed


def _max_displacement(platform: Platform, scales: Scales) -> FloatArray:
    """Return the travel of actuators from the middle; of those in struts, against their springs."""
    if not platform.leg.has_axial_spring:
        return scales.half
    stiffness = np.maximum(platform.leg_springs.stiffness, 1e-300)
    return np.minimum(scales.half, scales.effort / stiffness)


def random_lines(
    generator: np.random.Generator,
    acceleration: float,
    lowest_frequency: float,
    highest_frequency: float,
    count: int,
) -> FloatArray:
    """Return `(3, count, 3)` frequency [Hz], acceleration [m/s2] and phase of sines per axis.

    One line in each of `count` parts of the band's logarithm, all of one size, at random places
    and phases; RMS `acceleration` along each axis.
    """
    band_fraction = (np.arange(count) + generator.uniform(size=(3, count))) / count
    lines = np.empty((3, count, 3))
    lines[..., 0] = lowest_frequency * (highest_frequency / lowest_frequency) ** band_fraction
    # `count` sines of equal amplitude a have the RMS a sqrt(count / 2).
    lines[..., 1] = acceleration * sqrt(2.0 / count)
    lines[..., 2] = generator.uniform(0.0, 2.0 * pi, (3, count))
    return lines


def fill_tables(lines: FloatArray, timestep: float, tables: ShakingTables) -> None:
    """Fill tables with the base motion in engine steps of `timestep` [s]."""
    periods, ratio, _ = tables.mean.shape
    duration = periods * ratio * timestep
    fill_shaking(lines, duration, min(FADE_TIME, 0.25 * duration), timestep, *tables)
