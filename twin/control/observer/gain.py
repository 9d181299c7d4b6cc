"""Gains of the Kalman observer: the covariance recursion, and where it settles.

The covariances do not depend on what is measured, so that the gains are known beforehand. They are
computed for coordinates in which every leg is alike but for one number: positions in standard
deviations r of the measurement, speeds in r/T, forces in r m/T^2; in SI units the entries of one
covariance differ by twenty decades.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.observer.noise import ObserverDesign
from twin.errors import StateError

SETTLED = 1e-12
"""Relative change of the gains per period at which the recursion has settled."""

LONGEST = 20_000
"""Periods after which a recursion that has not settled is cut."""

SLOWEST = 1.0 - 1e-9
"""Factor per period on the errors of an observer above which they do not decay."""


class CovarianceError(StateError):
    """The covariance recursion does not settle (`data`: periods, change)."""


class Gains(NamedTuple):
    """Gains of the first periods; the last row holds from there on."""

    gain: FloatArray
    """`(k, n, 3)` G_k"""
    covariance: FloatArray
    """`(k, n, 3, 3)` P_k,k after each correction"""


def recursive_gains(design: ObserverDesign, start: FloatArray, longest: int = LONGEST) -> Gains:
    """Return the gains from a start covariance `(n, 3, 3)` until they settle.

    The first row corrects the start itself, at the first measurement.

    Raises:
        CovarianceError: they do not settle within `longest` periods.

    Reference:
        Stewart thesis, equations (4.12).
    """
    scale, scaled = _scaled(design)
    predicted = start / (scale[:, :, None] * scale[:, None, :])
    gains, covariances = [], []
    for _ in range(longest):
        gain, corrected = _corrected(scaled, predicted)
        gains.append(gain)
        covariances.append(corrected)
        if len(gains) > 1:
            change = float(np.abs(gains[-1] - gains[-2]).max() / np.abs(gain).max())
            if change <= SETTLED:
                break
        predicted = _predicted(scaled, corrected)
    else:
        raise CovarianceError(
            f"the gains still change by {change:.3g} per period after {longest} periods; give the "
            "disturbance a larger step or the measurement a smaller variance",
            {"periods": longest, "change": change},
        )
    return _unscaled(np.array(gains), np.array(covariances), scale)


def steady_gains(design: ObserverDesign) -> Gains:
    """Return the one row of gains on which every recursion settles, by the Riccati equation.

    Raises:
        CovarianceError: there are none: a state that noise does not reach, or no noise at all.

    Reference:
        Discrete algebraic Riccati equation of (4.12), `scipy.linalg.solve_discrete_are`.
    """
    from scipy.linalg import solve_discrete_are

    scale, scaled = _scaled(design)
    predicted = np.empty_like(scaled.process)
    for k in range(len(predicted)):
        try:
            predicted[k] = solve_discrete_are(
                scaled.model.transition[k].T,
                scaled.model.output[k][:, None],
                scaled.process[k],
                scaled.measurement[k : k + 1, None],
            )
        except np.linalg.LinAlgError as error:
            raise CovarianceError(f"leg {k + 1} has no steady gains: {error}") from None
    gain, corrected = _corrected(scaled, predicted)
    slowest = np.abs(np.linalg.eigvals(_error_transition(scaled, gain))).max(axis=-1)
    if not (slowest < SLOWEST).all():
        leg = int(np.argmax(~(slowest < SLOWEST))) + 1
        raise CovarianceError(
            f"leg {leg}: the observer's errors do not decay (factor {slowest.max():.9g} per "
            "period); give the disturbance a noise",
            {"leg": leg, "factor": float(slowest.max())},
        )
    return _unscaled(gain[None], corrected[None], scale)


def observer_poles(design: ObserverDesign) -> FloatArray:
    """Return the decay rates of the steady observer's errors `(n, 3)`: complex, [1/s], s-plane.

    Raises:
        CovarianceError: there are no steady gains.
    """
    roots = np.linalg.eigvals(_error_transition(design, steady_gains(design).gain[0]))
    return np.asarray(np.log(roots.astype(complex)) / design.model.period)


def _error_transition(design: ObserverDesign, gain: FloatArray) -> FloatArray:
    """Return what one period makes of the estimate's errors `(n, 3, 3)`."""
    kept = np.eye(3) - gain[:, :, None] * design.model.output[:, None, :]
    return np.asarray(kept @ design.model.transition)


def _scaled(design: ObserverDesign) -> tuple[FloatArray, ObserverDesign]:
    """Return scales `(n, 3)` of the state and the design in these units."""
    model = design.model
    deviation = np.sqrt(design.measurement)
    pull = -model.transition[:, 1, 2]
    scale = np.stack([deviation, deviation / model.period, deviation / (model.period * pull)], 1)
    outer = scale[:, :, None] * scale[:, None, :]
    transition = model.transition * (scale[:, None, :] / scale[:, :, None])
    output = model.output * scale / deviation[:, None]
    return scale, ObserverDesign(
        model._replace(transition=transition, output=output),
        design.process / outer,
        np.ones(len(deviation)),
    )


def _unscaled(gain: FloatArray, covariance: FloatArray, scale: FloatArray) -> Gains:
    deviation = scale[:, :1]
    outer = scale[:, :, None] * scale[:, None, :]
    return Gains(gain * (scale / deviation), covariance * outer)


def _predicted(design: ObserverDesign, corrected: FloatArray) -> FloatArray:
    """Return P_k+1,k `(n, 3, 3)`."""
    transition = design.model.transition
    return np.asarray(transition @ corrected @ np.swapaxes(transition, -1, -2) + design.process)


def _corrected(design: ObserverDesign, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return G_k `(n, 3)` and P_k,k `(n, 3, 3)`, the latter symmetric to rounding."""
    output = design.model.output
    spread = np.einsum("nij,nj->ni", predicted, output)
    variance = np.einsum("ni,ni->n", output, spread) + design.measurement
    gain = spread / variance[:, None]
    corrected = predicted - gain[:, :, None] * spread[:, None, :]
    return gain, np.asarray(0.5 * (corrected + np.swapaxes(corrected, -1, -2)))
