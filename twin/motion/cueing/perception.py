"""Difference between the motions that a driver perceives on the platform and in the vehicle.

A model of the inner ear gives the perceived specific force and angular rate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, as_instance, positive
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion.cueing.manoeuvre import Manoeuvre

OTOLITH_GAIN = 0.4
"""Sensed over true specific force at low frequencies."""

OTOLITH_LEAD = 10.0
"""[s] Lead time constant of the otoliths."""

OTOLITH_LONG = 5.0
"""[s] Long time constant of the otoliths."""

OTOLITH_SHORT = 0.016
"""[s] Short time constant of the otoliths."""

CANAL_LONG = 5.73
"""[s] Time constant of the torsion pendulum of the semicircular canals."""

CANAL_ADAPTATION = 80.0
"""[s] Time constant of the adaptation of the semicircular canals."""

SPECIFIC_FORCE_THRESHOLD = np.array([0.17, 0.17, 0.28])
"""[m/s2] Thresholds along x, y, z of what the otoliths sense."""

RATE_THRESHOLD = np.radians([3.0, 3.6, 2.6])
"""[rad/s] Thresholds about x, y, z of what the canals sense."""


class TransferFunction(NamedTuple):
    """Coefficients of a quotient of polynomials in s, highest power first."""

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]

    def at(self, frequency: Any) -> ComplexArray:
        """Return the response at frequencies [rad/s]; complex ones for fading oscillations."""
        s = 1j * np.asarray(frequency)
        return np.polyval(self.numerator, s) / np.polyval(self.denominator, s)


OTOLITH_MODEL = TransferFunction(
    (OTOLITH_GAIN * OTOLITH_LEAD, OTOLITH_GAIN),
    (OTOLITH_LONG * OTOLITH_SHORT, OTOLITH_LONG + OTOLITH_SHORT, 1.0),
)
"""Ratio of sensed to true specific force: 0.4 (10 s + 1) / ((5 s + 1) (0.016 s + 1))."""

CANAL_MODEL = TransferFunction(
    (CANAL_LONG * CANAL_ADAPTATION, 0.0, 0.0),
    (CANAL_LONG * CANAL_ADAPTATION, CANAL_LONG + CANAL_ADAPTATION, 1.0),
)
"""Ratio of sensed to true angular rate: 458.4 s^2 / ((5.73 s + 1) (80 s + 1))."""


class Perceived(NamedTuple):
    """Perceived specific force and angular rate in the axes of the head, before thresholds."""

    force: FloatArray
    """`(n, 3)` [m/s2] departure from rest, as the otoliths sense it"""
    rate: FloatArray
    """`(n, 3)` [rad/s] angular rate as the canals sense it"""

    def above_threshold(self) -> Perceived:
        """Return force and rate behind dead zones: signals above threshold, less the threshold."""
        thresholds = (SPECIFIC_FORCE_THRESHOLD, RATE_THRESHOLD)
        return Perceived(
            *(
                np.sign(signal) * np.maximum(np.abs(signal) - threshold, 0.0)
                for signal, threshold in zip(self, thresholds, strict=True)
            )
        )


def perceived(specific_force: FloatArray, angular_rate: FloatArray, period: float) -> Perceived:
    """Return the perception `(n, 3)` of evenly spaced samples `(n, 3)`, from rest before them.

    The models are linear. Their inputs are taken as linear between samples (first-order hold),
    for which the response is exact. The canals follow a heavily damped torsion pendulum with
    adaptation, the otoliths a lead-lag.

    Args:
        specific_force: `(n, 3)` [m/s2] at the head, (0, 0, 9.81) at rest.
        angular_rate: `(n, 3)` [rad/s].
        period: [s] between samples.

    Raises:
        InputError: wrong shapes, not finite, period not above zero.

    Reference:
        Telban and Cardullo, Motion cueing algorithm development, NASA/CR-2005-213747: models and
        their constants; Reid and Nahon, UTIAS report 296 (1985): thresholds. Adopted from them.
    """
    from scipy.signal import cont2discrete, lfilter

    force, rate = (
        as_floats(value, field, 3)
        for value, field in ((specific_force, "specific_force"), (angular_rate, "angular_rate"))
    )
    if force.ndim != 2 or force.shape != rate.shape:
        raise InputError("specific_force, angular_rate", "must both have shape (n, 3)")
    step = positive(period, "period")
    outputs = []
    for model, values in ((OTOLITH_MODEL, force - [0.0, 0.0, GRAVITY]), (CANAL_MODEL, rate)):
        numerator, denominator, _ = cont2discrete(tuple(model), step, method="foh")
        outputs.append(np.asarray(lfilter(numerator.ravel(), denominator, values, axis=0)))
    return Perceived(*outputs)


COMPARISON_PERIOD = 5e-3
"""[s] Period at which vehicle and platform are compared."""

PERCEPTION_THRESHOLDS = np.concatenate([SPECIFIC_FORCE_THRESHOLD, RATE_THRESHOLD])


class PerceivedError(NamedTuple):
    """Vehicle against platform, as perceived; order: force along x, y, z, rate about x, y, z."""

    time: FloatArray
    """times `(n,)` [s] of the samples"""
    vehicle: Perceived
    """what the vehicle's driver senses"""
    platform: Perceived
    """what the platform's driver senses"""
    rms: FloatArray
    """`(6,)` [m/s2], [rad/s] root mean square of the difference"""
    relative: FloatArray
    """`(6,)` the same, divided by the thresholds"""
    correlation: FloatArray
    """`(6,)` correlation of the two, about zero; zero where one of them is nothing"""
    false_cue: FloatArray
    """`(6,)` root mean square of the false cue in thresholds: the platform's motion above
    threshold, less the threshold, while that of the vehicle is below it or has the other sign
    """

    @property
    def total(self) -> float:
        """Root mean square of the six relative errors, in thresholds."""
        return float(np.sqrt(np.mean(self.relative**2)))

    @property
    def total_correlation(self) -> float:
        """Correlation of all six at once, each in thresholds."""
        platform, vehicle = (
            np.reshape(np.hstack(signals) / PERCEPTION_THRESHOLDS, (-1, 1))
            for signals in (self.platform, self.vehicle)
        )
        return float(_cosine(platform, vehicle)[0])

    @property
    def total_false_cue(self) -> float:
        """Root mean square of the six false-cue indices, in thresholds."""
        return float(np.sqrt(np.mean(self.false_cue**2)))


def perceived_error(
    vehicle: Manoeuvre, platform: Manoeuvre, period: Any = COMPARISON_PERIOD
) -> PerceivedError:
    """Return the difference between two manoeuvres as perceived, over the time that both last.

    Raises:
        InputError: no manoeuvres, period not above zero or longer than a quarter of them.
    """
    as_instance(vehicle, "vehicle", Manoeuvre)
    as_instance(platform, "platform", Manoeuvre)
    step = positive(period, "period")
    end_time = min(vehicle.duration, platform.duration)
    if step > 0.25 * end_time:
        raise InputError("period", f"must be at most a quarter of the manoeuvres' {end_time:g} s")
    time = np.arange(int(end_time / step * (1.0 + 1e-12)) + 1, dtype=np.float64) * step
    of_vehicle, of_platform = (
        perceived(*manoeuvre.at(time), step) for manoeuvre in (vehicle, platform)
    )
    vehicle_signals, platform_signals = (np.hstack(pair) for pair in (of_vehicle, of_platform))
    rms = np.sqrt(np.mean((platform_signals - vehicle_signals) ** 2, axis=0))
    vehicle_above, platform_above = (
        np.hstack(pair.above_threshold()) for pair in (of_vehicle, of_platform)
    )
    false_cue = np.where(vehicle_above * platform_above > 0.0, 0.0, platform_above)
    return PerceivedError(
        time,
        of_vehicle,
        of_platform,
        rms,
        rms / PERCEPTION_THRESHOLDS,
        _cosine(platform_signals, vehicle_signals),
        np.sqrt(np.mean(false_cue**2, axis=0)) / PERCEPTION_THRESHOLDS,
    )


def _cosine(signals: FloatArray, other_signals: FloatArray) -> FloatArray:
    """Return correlations about zero of columns; zero where a column is only rounding."""
    norm_products = np.linalg.norm(signals, axis=0) * np.linalg.norm(other_signals, axis=0)
    product = np.sum(signals * other_signals, axis=0)
    return np.where(norm_products > 1e-12, product / np.maximum(norm_products, 1e-12), 0.0)
