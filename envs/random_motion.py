"""Random reference motions that a machine can follow: sines on all its axes, within its limits."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.reference import Reference, sample_reference
from twin.errors import InputError
from twin.kernels.tasks.arrays import Scales
from twin.model.constraints import characteristic_length
from twin.motion import Motion, MultiSineMotion, axis_names
from twin.platform import Platform

FADE = 0.5
"""[s] over which a motion rises from rest and returns to it, at most a quarter of it."""

SHRINK = 0.85
TRIES = 40


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
) -> tuple[Motion, Reference]:
    """Return sines of random frequency, direction and phase about home, and their samples.

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

    Raises:
        InputError: no motion within the limits is found.
    """
    radius = characteristic_length(platform.platform_joints)
    frequencies = np.sort(np.exp(generator.uniform(np.log(lowest), np.log(highest), lines)))
    frequencies += 1e-9 * np.arange(lines)
    directions = generator.standard_normal((lines, 6))
    seed = int(generator.integers(2**31))
    directions[:, 3:] /= radius
    kept = platform.constrain(np.tile(platform.home, (lines, 1)), directions).twist
    effect = np.abs(kept @ platform.jacobian(platform.home).T)
    travel = (effect.sum(axis=0) / scales.half).max()
    speed = ((2.0 * np.pi * frequencies) @ effect / scales.speed).max()
    amplitude = directions * (share / max(float(travel), float(speed), 1e-300))
    for _ in range(TRIES):
        motion = _motion(platform, frequencies, amplitude, duration, seed)
        reference = sample_reference(platform, motion, period)
        if reference.reachable.all() and (np.abs(reference.rates) <= scales.speed).all():
            return motion, reference
        amplitude = amplitude * SHRINK
    raise InputError("amplitude", f"no random motion within the limits of {platform.name} is found")


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
