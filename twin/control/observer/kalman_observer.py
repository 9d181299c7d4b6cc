"""Speed and disturbance of every leg from its position and force: a Kalman filter per leg.

Gains of the Kalman observer: the covariance recursion, and where it settles.

The covariances do not depend on what is measured, so that the gains are known beforehand. They are
computed for coordinates in which every leg is alike but for one number: positions in standard
deviations r of the measurement, speeds in r/T, forces in r m/T^2; in SI units the entries of one
covariance differ by twenty decades.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector
from twin.control.observer.design import ObserverDesign
from twin.errors import InputError, StateError
from twin.kernels.control.observer import LegModels, observe

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


class KalmanObserver:
    """Kalman filters of n legs, stepped together once per control period.

    Attributes:
        state: `(n, 3)` estimated coordinate [m], rate [m/s] and disturbance [N] (or [rad],
            [rad/s], [N m]) after the last measurement; overwritten by `update`.
        innovation: `(n,)` what the last prediction of the coordinate missed [m] or [rad].
        gain: `(k, n, 3)` gains of the first k periods; the last holds from there on.
    """

    state: FloatArray
    innovation: FloatArray
    gain: FloatArray

    def __init__(self, design: ObserverDesign, start_covariance: Any = None) -> None:
        """Compute the gains.

        Args:
            design: model and noise of the legs.
            start_covariance: `(n, 3, 3)` of the start state: the gains follow the covariance
                from there; default None, the steady gains from the first period on.

        Raises:
            InputError: the covariance has another shape, or is not symmetric and non-negative.
            StateError: the gains do not settle (`gain.CovarianceError`).
        """
        self.design = design
        n = len(design.measurement)
        if start_covariance is None:
            self.gain = steady_gains(design).gain
        else:
            start = as_floats(start_covariance, "start_covariance")
            if start.shape != (n, 3, 3) or not np.array_equal(start, np.swapaxes(start, 1, 2)):
                raise InputError("start_covariance", f"must be symmetric, ({n}, 3, 3)")
            size = np.sqrt(np.einsum("nii->ni", np.maximum(start, 0.0)))
            size[size == 0.0] = 1.0
            scaled = start / (size[:, :, None] * size[:, None, :])
            if not (np.linalg.eigvalsh(scaled) >= -1e-9).all():
                raise InputError("start_covariance", "must have no negative eigenvalue")
            self.gain = recursive_gains(design, start).gain
        self.state, self.innovation = np.zeros((n, 3)), np.zeros(n)
        model = design.model
        self._model = LegModels(model.transition, model.input, model.output, model.feedthrough)
        self._rows = list(self.gain)
        self._unheard = np.zeros((n, 3))
        self._last = len(self._rows) - 1
        self._count = 0

    def start(self, position: Any, rate: Any = None, disturbance: Any = None) -> None:
        """Begin from measured coordinates `(n,)`, rates and disturbances (default zero).

        At rest the disturbance is the force that holds the machine.

        Raises:
            InputError: wrong shape or not finite.
        """
        n = len(self.state)
        zero = np.zeros(n)
        self.state[:, 0] = as_vector(position, "position", n)
        self.state[:, 1] = zero if rate is None else as_vector(rate, "rate", n)
        self.state[:, 2] = zero if disturbance is None else as_vector(disturbance, "disturbance", n)
        self.innovation[:] = 0.0
        self._count = 0

    def update(self, position: FloatArray, force: FloatArray) -> FloatArray:
        """Return the state `(n, 3)` at a measurement of `position` `(n,)`; it is overwritten.

        `force` `(n,)` is what the actuators gave over the period before the measurement. Both
        come from the loop and are not checked again.

        Reference:
            Stewart thesis, equations (4.12).
        """
        row = self._rows[min(self._count, self._last)]
        observe(self._model, row, force, position, self.state, self.innovation)
        self._count += 1
        return self.state

    def predict(self, force: FloatArray) -> FloatArray:
        """Return the state `(n, 3)` a period later without a measurement; it is overwritten.

        The innovation keeps its last value: nothing was compared.
        """
        innovation = self.innovation.copy()
        observe(self._model, self._unheard, force, innovation, self.state, self.innovation)
        self.innovation[:] = innovation
        return self.state

    @property
    def position(self) -> FloatArray:
        """Estimated coordinates `(n,)`, a view."""
        return self.state[:, 0]

    @property
    def rate(self) -> FloatArray:
        """Estimated rates `(n,)`, a view."""
        return self.state[:, 1]

    @property
    def disturbance(self) -> FloatArray:
        """Estimated disturbance forces `(n,)`, a view."""
        return self.state[:, 2]
