"""Second-order low-pass with exact steps of any length, driven by means and by its own noise."""

from __future__ import annotations

from math import cos, exp, sin, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.plant.inertial.columns import (
    BIAS,
    DAMPING,
    DRIFT,
    FORGETTING,
    FREQUENCY,
    INSTABILITY,
    NOISE,
    SLOPE,
    VALUE,
)


@device
def transition(
    frequency: float, damping: float, interval: float
) -> tuple[float, float, float, float]:
    """Return the transition matrix over `interval` [s] of x'' = w^2 (u - x) - 2 d w x'.

    Args:
        frequency: natural frequency w [rad/s], where the phase is -90 degrees.
        damping: ratio d, below one.
        interval: [s].

    Returns:
        Entries 11, 12, 21, 22 for the state (x - u, x') with u constant over the interval.
    """
    decay = damping * frequency
    ringing = frequency * sqrt(1.0 - damping * damping)
    size = exp(-decay * interval)
    even, odd = size * cos(ringing * interval), size * sin(ringing * interval) / ringing
    return even + decay * odd, odd, -frequency * frequency * odd, even - decay * odd


@device
def noise_factor(
    frequency: float, step: tuple[float, float, float, float]
) -> tuple[float, float, float]:
    """Return the lower Cholesky factor 11, 21, 22 of what noise adds to the state over a step.

    White noise at the input that makes x have unit variance makes x' have the variance w^2, and
    the two are uncorrelated; the step's share is what the transition loses of that.

    Args:
        frequency: natural frequency w [rad/s].
        step: entries of `transition`.
    """
    a, b, c, d = step
    square = frequency * frequency
    first = max(1.0 - a * a - b * b * square, 0.0)
    mixed = -(a * c + b * d * square)
    second = max(square - c * c - d * d * square, 0.0)
    root = sqrt(first)
    lower = mixed / root if root > 0.0 else 0.0
    return root, lower, sqrt(max(second - lower * lower, 0.0))


@device
def distorted(model: FloatArray, states: FloatArray, truth: FloatArray, i: int) -> float:
    """Return the true quantities (6,) with the errors of axis i, before filter and noise."""
    total = model[i, BIAS] + states[DRIFT + i]
    for j in range(6):
        total += model[i, j] * truth[j]
    return total


@device
def filtered(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    truth: FloatArray,
    interval: float,
    draws: FloatArray,
) -> None:
    """Advance the filters by a step over which the true quantities have the mean `truth` (6,)."""
    frequency = settings[FREQUENCY]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    first, mixed, second = 1.0, 0.0, 0.0
    if frequency > 0.0:
        a, b, c, d = transition(frequency, settings[DAMPING], interval)
        first, mixed, second = noise_factor(frequency, (a, b, c, d))
    for i in range(6):
        kept = exp(-interval * model[i, FORGETTING])
        fresh = model[i, INSTABILITY] * sqrt(max(1.0 - kept * kept, 0.0))
        states[DRIFT + i] = kept * states[DRIFT + i] + fresh * draws[i]
    for i in range(6):
        target = distorted(model, states, truth, i)
        apart, slope, noise = states[VALUE + i] - target, states[SLOPE + i], model[i, NOISE]
        states[VALUE + i] = target + a * apart + b * slope + noise * first * draws[6 + i]
        states[SLOPE + i] = (
            c * apart + d * slope + noise * (mixed * draws[6 + i] + second * draws[12 + i])
        )
