"""Estimate of the linear stage: weighted least squares with priors, of bodies that can exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.linear.model import (
    Body,
    LinearModel,
    joined,
    linear_model,
    linear_part,
)
from twin.identification.linear.samples import ForceSamples
from twin.identification.parameters import (
    Parameter,
    bounds_array,
    nominal_array,
    prior_std_array,
    values_by_path,
)
from twin.identification.prediction.bodies import BodyCoordinates, second_moments
from twin.identification.result.statistics import covariance, half_widths
from twin.identification.visibility import Choice, Decision, Visibility, visibility
from twin.model.machine_model import MachineModel

MIN_NOISE = 1e-9
"""Smallest relative noise of the forces: exact ones leave the rounding of derivatives."""

MOMENT_TOLERANCE = 1e-12
"""Rounding error of second moments."""

ERROR_WINDOW = 0.25
"""[s] Engineering choice: errors of this time and of the next three of them may belong together."""

NORMAL_QUANTILE = 1.96
"""Half the width of a 95 % interval of a normal distribution, for samples without times, in
standard errors.
"""

MAX_STEPS = 40
"""Maximum number of steps of a search: a few suffice, except along the border of physically
possible bodies.
"""


@dataclass(frozen=True, eq=False)
class LinearEstimate:
    """Values of parameters from forces, with what is known about their errors."""

    parameters: tuple[Parameter, ...]
    """parameters that the linear stage can estimate"""
    values: FloatArray
    """`(p,)` values in SI; nominal where a parameter was fixed"""
    covariance: FloatArray
    """`(p, p)`, priors included"""
    margins: FloatArray
    """`(p,)` half the widths of the 95 % confidence intervals, in standard errors"""
    noise: FloatArray
    """`(n,)` standard deviation of the forces' rows, leg by leg [N] or [N m]"""
    residual: FloatArray
    """`(n,)` root mean square of the force residual, leg by leg [N] or [N m]"""
    nominal_residual: FloatArray
    """`(n,)` root mean square of the force residual with the nominal values, leg by leg [N] or [N
    m]
    """
    visibility: Visibility
    decision: Decision
    model: LinearModel

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors `(p,)`; the prior standard deviation of a parameter that was fixed."""
        return np.sqrt(np.diag(self.covariance))

    def starting_values(self, parameters: Sequence[Parameter]) -> FloatArray:
        """Return the estimates of those parameters that have one, and nominal values of others."""
        estimates = values_by_path(self.parameters, self.values)
        return np.array(
            [estimates.get(parameter.path, parameter.nominal) for parameter in parameters]
        )


def linear_estimate(
    platform: MachineModel,
    parameters: Sequence[Parameter],
    samples: ForceSamples | Sequence[ForceSamples],
    *,
    choice: Choice = "prior",
) -> LinearEstimate:
    """Return the parameters that explain measured forces best, among machines that can exist.

    Weighted least squares on forces = inverse dynamics, with a prior on each parameter. Masses stay
    above zero and second moments of bodies positive definite. The noise of each leg is estimated
    from the residual of a fit without constraints, and increased by the autocorrelation of the
    residual.

    Args:
        platform: the machine with its nominal values.
        parameters: any; those that the linear stage cannot estimate are left out.
        samples: states of motion with the forces measured in them, or several of them.
        choice: what becomes of parameters that do not show; see `Visibility.decide`.

    Raises:
        InputError: nothing to estimate, wrong shapes, forces at different places, or `choice` is
            "refuse" and something does not show.
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution.
    """
    sample_sets = [samples] if isinstance(samples, ForceSamples) else list(samples)
    if len({sample_set.where for sample_set in sample_sets}) != 1:
        raise InputError("samples", "need forces of one kind: on the legs, or of the motors")
    linear_parameters = linear_part(platform, parameters, sample_sets[0].where)
    model = joined(
        [linear_model(platform, linear_parameters, sample_set) for sample_set in sample_sets]
    )
    nominal = nominal_array(model.parameters)
    n = platform.n_actuators
    deviations = _noise(model, n)
    for _ in range(2):
        noise = deviations[model.legs]
        observability = visibility(model.jacobian(nominal), model.parameters, noise)
        decision = observability.decide(choice)
        problem = _Problem(model, decision, deviations)
        values = problem.solved()
        residual = model.measured - model.predicted(values)
        if any(sample_set.rate is None for sample_set in sample_sets):
            break
        deviations = _noise(model, n) * _autocorrelation_factor(residual, model.legs, n)
    nominal_residual = model.measured - model.predicted(nominal)
    return LinearEstimate(
        model.parameters,
        values,
        *problem.uncertainty(values),
        deviations,
        _by_leg(residual, model.legs, n),
        _by_leg(nominal_residual, model.legs, n),
        observability,
        decision,
        model,
    )


class _Problem:
    """Least squares for the deviations z of the free parameters from nominal.

    Deviations are in prior standard deviations. The weighted equations of the forces of each leg
    are compressed by a QR decomposition.
    """

    def __init__(self, model: LinearModel, decision: Decision, noise: FloatArray) -> None:
        self._model = model
        self._free: Any = np.array(
            [parameter not in decision.fixed for parameter in model.parameters]
        )
        self._nominal = nominal_array(model.parameters)
        self._spreads = prior_std_array(model.parameters)
        lower, upper = (bounds_array(model.parameters) - self._nominal) / self._spreads
        self._bounds = lower[self._free], upper[self._free]
        scaled_rows = np.column_stack([model.matrix, model.measured]) / noise[model.legs][:, None]
        self._noise = noise
        legs = range(len(noise))
        self._compressed = [np.linalg.qr(scaled_rows[model.legs == leg]).R for leg in legs]

    def solved(self) -> FloatArray:
        """Return the values `(p,)` in SI."""
        initial = np.clip(np.zeros(self._free.sum()), *self._bounds)
        if not len(initial):
            return self._values(initial)
        # Tolerances close to rounding error: the residuals are smooth and cheap.
        limits: Any = {"bounds": self._bounds, "xtol": 1e-13, "max_nfev": MAX_STEPS}
        optimum = least_squares(self._residual, initial, self._slopes, ftol=1e-15, **limits).x
        # A thin plate is at the border already.
        border = np.minimum(self._moments(initial), 0.0) - MOMENT_TOLERANCE
        if (self._moments(optimum) > border).all():
            return self._values(optimum)
        # Outside of what bodies can be: a search by possible ones, from the nominal machine. Those
        # of which only some moments are free are pulled back.
        pairs = zip(self._model.parameters, self._free, strict=True)
        bodies = BodyCoordinates([parameter for parameter, is_free in pairs if is_free])
        optimum = least_squares(
            lambda y: self._residual(bodies.scaled(y)),
            bodies.free(initial),
            lambda y: self._slopes(bodies.scaled(y)) @ bodies.slopes(y),
            **limits | {"bounds": tuple(bodies.free_bounds(np.array(self._bounds)))},
        ).x
        return self._values(self._pulled_in(initial, bodies.scaled(optimum), border))

    def uncertainty(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return covariance `(p, p)` and margins `(p,)` at values; priors for what is fixed.

        For rows with times, errors of neighbouring windows may be correlated (cluster-robust
        covariance).
        """
        slopes = self._slopes(((values - self._nominal) / self._spreads)[self._free])
        free_covariance = np.linalg.inv(slopes.T @ slopes)
        margins = np.full(len(values), NORMAL_QUANTILE)
        if self._model.times is not None and self._free.any():
            errors, rows = self._in_windows(values)
            free_covariance, margins[self._free] = covariance([errors], [rows]), half_widths([rows])
        full_covariance = np.diag(self._spreads**2)
        free_entries = np.ix_(self._free, self._free)
        scales = self._spreads[self._free]
        full_covariance[free_entries] = free_covariance * np.outer(scales, scales)
        return full_covariance, margins

    def _in_windows(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return errors `(W, m)` and slopes `(W, m, f)` by window, filled up with zeros."""
        model = self._model
        window_of_row = np.unique(np.floor(model.times / ERROR_WINDOW), return_inverse=True)[1]
        order = np.argsort(window_of_row, kind="stable")
        counts = np.bincount(window_of_row)
        position_in_window = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = model.jacobian(values)[:, self._free] * self._spreads[self._free]
        errors_and_slopes = np.column_stack([model.predicted(values) - model.measured, rows])
        padded = np.zeros((len(counts), counts.max(), errors_and_slopes.shape[1]))
        padded[window_of_row[order], position_in_window] = (
            errors_and_slopes / self._noise[model.legs][:, None]
        )[order]
        return padded[..., 0], padded[..., 1:]

    def _values(self, z: FloatArray) -> FloatArray:
        values = self._nominal.copy()
        values[self._free] += self._spreads[self._free] * z
        return values

    def _residual(self, z: FloatArray) -> FloatArray:
        """Return weighted residuals of the forces, then those of the prior.

        The last column of the equations is what was measured, hence the -1.
        """
        features = self._model.features(self._values(z))
        pairs = zip(self._compressed, features, strict=True)
        return np.concatenate([*(rows @ [*of_leg, -1.0] for rows, of_leg in pairs), z])

    def _slopes(self, z: FloatArray) -> FloatArray:
        all_slopes: FloatArray = self._model.slopes(self._values(z)) * self._spreads
        pairs = zip(self._compressed, all_slopes[..., self._free], strict=True)
        return np.vstack([*(rows[:, :-1] @ slopes for rows, slopes in pairs), np.eye(len(z))])

    def _moments(self, z: FloatArray) -> FloatArray:
        """Return the second moments `(3 b,)` of b bodies per nominal sum, about their own axes."""
        values = values_by_path(self._model.parameters, self._values(z))
        moments = [
            np.linalg.eigvalsh(second_moments(body.values(values)[4:])) / _nominal_sum(body)
            for body in self._model.bodies
        ]
        return np.concatenate([np.empty(0), *moments])

    def _pulled_in(self, start: FloatArray, end: FloatArray, border: FloatArray) -> FloatArray:
        """Return the point nearest to `end` on the line from `start` whose bodies are physical."""
        feasible, infeasible, fraction = 0.0, 1.0, 1.0
        for _ in range(50):
            is_physical = (self._moments(start + fraction * (end - start)) > border).all()
            feasible, infeasible = (fraction, infeasible) if is_physical else (feasible, fraction)
            fraction = 0.5 * (feasible + infeasible)
        return start + feasible * (end - start)


def _nominal_sum(body: Body) -> float:
    """Return the sum of the second moments [kg m2] about the centre of mass, as in the file."""
    return float(np.trace(second_moments(body.nominal[4:])))


def _noise(model: LinearModel, n: int) -> FloatArray:
    """Return the standard deviations `(n,)` of forces from the residual of an unconstrained fit."""
    norms = np.linalg.norm(model.matrix, axis=0)
    scaled = model.matrix / np.where(norms > 0.0, norms, 1.0)
    solution, _, rank, _ = np.linalg.lstsq(scaled, model.measured, rcond=1e-10)
    residual_rms = _by_leg(model.measured - scaled @ solution, model.legs, n)
    rows = len(model.measured)
    floor = MIN_NOISE * float(np.sqrt(np.mean(model.measured**2)))
    return np.asarray(
        np.maximum(residual_rms * np.sqrt(rows / max(rows - int(rank), 1)), floor or MIN_NOISE)
    )


def _by_leg(rows: FloatArray, legs: Any, n: int) -> FloatArray:
    """Return the root mean squares `(n,)` of rows, leg by leg."""
    counts = np.maximum(np.bincount(legs, minlength=n), 1)
    return np.sqrt(np.bincount(legs, rows**2, minlength=n) / counts)


def _autocorrelation_factor(rows: FloatArray, legs: Any, n: int) -> FloatArray:
    """Return the factor `(n,)` by which autocorrelation raises standard errors: 1 if white."""
    factors = np.ones(n)
    for leg in range(n):
        residual = rows[legs == leg]
        if len(residual) < 4 or not residual.any():
            continue
        spectrum = np.abs(np.fft.rfft(residual - residual.mean(), 2 * len(residual))) ** 2
        correlation = np.fft.irfft(spectrum)[: len(residual)]
        correlation = correlation / max(correlation[0], 1e-300)
        n_lags = int(np.argmax(correlation < 0.0)) or len(residual)
        factors[leg] = np.sqrt(1.0 + 2.0 * correlation[1:n_lags].sum())
    return factors
