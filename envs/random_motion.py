"""Random reference motions that a machine can follow: sines on all its axes, within its limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, read_only
from twin.control.reference import sample_reference
from twin.errors import InputError
from twin.kernels.tasks.arrays import Scales
from twin.kernels.tasks.pose_tracking.motion import Sines, fill_motion
from twin.model.batch import lane_count
from twin.model.constraints import characteristic_length
from twin.model.evaluation import without_compiling
from twin.motion import Motion, MultiSineMotion, axis_names
from twin.motion.fitting import BASE_AXES, free_axes

FADE = 0.5
"""[s] over which a motion rises from rest and returns to it, at most a quarter of it."""

SHRINK = 0.85
TRIES = 40

Rows = tuple[FloatArray, FloatArray, FloatArray]
"""Poses `(k, 7)`, coordinates `(k, n)` and rates `(k, n)` at the control instants."""


def random_motion(
    platform: Platform,
    scales: Scales,
    generator: np.random.Generator,
    *,
    duration: float,
    lowest: float,
    highest: float,
    lines: int,
    share: float,
    period: float,
    rows: Rows,
) -> Callable[[], Motion]:
    """Fill `rows` with sines of random frequency, direction and phase about home.

    Every line has a direction of its own in the machine's free axes, rotations weighed with the
    joints' mean radius. Together they take `share` of the actuators' travel or speed, whichever
    is reached first, estimated at home; where the exact coordinates would exceed the limits the
    motion shrinks.

    Args:
        platform: the machine.
        scales: of its actuators.
        generator: of everything random.
        duration: [s].
        lowest: frequency [Hz].
        highest: frequency [Hz].
        lines: number of sines.
        share: of travel and speed, 0 to 1.
        period: of the samples [s].
        rows: overwritten; those after the end of the motion stay.

    Returns:
        What makes the motion.

    Raises:
        InputError: no motion within the limits is found.
    """
    radius, jacobian = _about_home(platform)
    frequencies = np.sort(np.exp(generator.uniform(np.log(lowest), np.log(highest), lines)))
    frequencies += 1e-9 * np.arange(lines)
    directions = generator.standard_normal((lines, 6))
    seed = int(generator.integers(2**31))
    directions[:, 3:] /= radius
    kept = directions
    if platform.dof < 6:
        directions *= np.isin(BASE_AXES, free_axes(platform))
        kept = platform.constrain(np.tile(platform.home, (lines, 1)), directions).twist
    effect = np.abs(kept @ jacobian.T)
    travel = (effect.sum(axis=0) / scales.half).max()
    speed = ((2.0 * np.pi * frequencies) @ effect / scales.speed).max()
    amplitude = directions * (share / max(float(travel), float(speed), 1e-300))
    for _ in range(TRIES):
        motion = partial(_motion, platform, frequencies, amplitude, duration, seed)
        fill = _sampled if platform.n_deflections else _filled
        if fill(platform, motion, scales, period, rows):
            return motion
        amplitude = amplitude * SHRINK
    raise InputError("amplitude", f"no random motion within the limits of {platform.name} is found")


@lru_cache(maxsize=8)
def _about_home(platform: Platform) -> tuple[float, FloatArray]:
    """Return the mean radius of the joints [m], and the Jacobian at home."""
    radius = characteristic_length(platform.platform_joints)
    with without_compiling():
        return radius, read_only(platform.jacobian(platform.home))


def _filled(
    platform: Platform, motion: partial[Motion], scales: Scales, period: float, rows: Rows
) -> bool:
    """Fill `rows` with a motion; return whether it is within the limits."""
    _, frequencies, amplitude, duration, seed = motion.args
    phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, amplitude.T.shape).T
    cosine, sine = amplitude * np.sin(phases), amplitude * np.cos(phases)
    sines = Sines(2.0 * np.pi * frequencies, cosine, sine, duration, min(FADE, 0.25 * duration))
    legs, width = platform.constants.legs, (0,) * max(2, lane_count())
    return bool(fill_motion(legs, platform.home, sines, scales, period, rows, width))


def _sampled(
    platform: Platform, motion: partial[Motion], scales: Scales, period: float, rows: Rows
) -> bool:
    """Fill `rows` with a motion as `_filled` does; what springs in series yield is left out."""
    reference = sample_reference(platform, motion(), period)
    pose, coordinates, rates = rows
    pose[:], coordinates[:], rates[:] = reference.pose, reference.coordinates, reference.rates
    return bool(reference.reachable.all() and (np.abs(reference.rates) <= scales.speed).all())


def _motion(
    platform: Platform, frequencies: FloatArray, amplitude: FloatArray, duration: float, seed: int
) -> Motion:
    names = axis_names("fixed_xyz")
    fade = min(FADE, 0.25 * duration)
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
