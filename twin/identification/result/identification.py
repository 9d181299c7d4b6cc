"""Result of an identification: estimates with their intervals, fits, and the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.identification.linear import LinearEstimate, LinearModel
from twin.identification.parameters import Parameter, values_by_path
from twin.identification.prediction.optimise import BACKLASH_KEY
from twin.identification.result.diagnosis import Pattern
from twin.identification.result.statistics import Whiteness
from twin.identification.visibility import MAX_REMAINING_STD

MIN_REVERSALS = 5
"""Engineering choice: windows in which the force of a leg must change its sign for its backlash to
be judged.
"""

ERROR_WARNING_RATIO = 3.0
"""Engineering choice: ratio of prediction errors to encoder noise above which the intervals get a
warning.
"""

STEP_WARNING_SIZE = 1.0
"""Engineering choice: last step of the search, in standard errors, above which the intervals get a
warning.
"""

PRIOR_WARNING_DISTANCE = 4.0
"""Distance of an estimate from the value of the file, in prior standard deviations, above which it
gets a warning.
"""


def backlash_warning(parameter: Parameter, reversals: FloatArray, last: float) -> str:
    """Return why a backlash estimate is uncertain, with advice; empty for other parameters.

    The cost of impacts has several minima, and the derivatives describe one of them. Few reversals
    do not tell which is the best, and a search whose `last` step was long has not converged.
    """
    if BACKLASH_KEY not in parameter.path:
        return ""
    n_reversals = reversals.max() if parameter.leg is None else reversals[parameter.leg]
    if n_reversals < MIN_REVERSALS:
        return "shows in few impacts: record a motion that unloads the leg, or leave backlash out"
    if last >= STEP_WARNING_SIZE:
        return "stays unsure, as the search has not converged"
    return ""


class Misfit(NamedTuple):
    """Verdict of the prediction errors on the model, and on the intervals."""

    sentences: tuple[str, ...]
    is_withheld: bool
    """whether there are no intervals"""


def misfit(
    error: float, noise: FloatArray, white: Whiteness, patterns: Sequence[Pattern]
) -> Misfit:
    """Return what errors [m, rad] far above the noise `(n,)`, or not white, are and do.

    White errors are larger noise, as of clocks that jitter: the intervals know it. What a model
    misses makes the errors of windows persist; standard errors are larger by that. Where a pattern
    explains the errors, or they are far above the noise, no interval can be given.
    """
    ratio = error / float(np.sqrt((noise**2).mean()))
    size = f"prediction errors are {ratio:.1f} times the noise of the encoders"
    if white.is_white:
        if ratio < ERROR_WARNING_RATIO:
            return Misfit((), False)
        return Misfit((f"{size}, but white: noise is larger than the file says",), False)
    sentences = [
        f"what is left {pattern.sentence} ({100.0 * pattern.explained:.0f} % of it; add "
        f"{pattern.group} to the parameters)"
        for pattern in patterns
    ]
    if not patterns and ratio < ERROR_WARNING_RATIO:
        text = f"{size} and persist, as of encoders at rest or of a small effect that is missed"
        return Misfit((f"{text}: intervals allow for as much of it in the parameters",), False)
    sentences.append(f"{size} and persist: the model misses something; intervals are withheld")
    return Misfit(tuple(sentences), True)


def unsettled(last: float) -> list[str]:
    """Return a sentence if the `last` step of a search was not short, else none."""
    if last < STEP_WARNING_SIZE:
        return []
    return [
        f"the last step of the search was {last:.1f} standard errors long: it has not converged, "
        "and intervals are too narrow; identify again from the file of this result"
    ]


def estimate_warnings(
    parameters: Sequence[Parameter],
    values: FloatArray,
    covariance: FloatArray,
    unsure: Sequence[str],
) -> list[str]:
    """Return warnings on estimates that are as uncertain as their prior, or far from the file."""
    sentences = []
    errors = np.sqrt(np.diag(covariance))
    for parameter, value, error, warning in zip(parameters, values, errors, unsure, strict=True):
        prior_distance = abs(float(value) - parameter.nominal) / parameter.prior_std
        if warning:
            sentences.append(f"{parameter.label} {warning}; its standard error is its spread")
        elif error > MAX_REMAINING_STD * parameter.prior_std:
            remaining_percent = 100.0 * error / parameter.prior_std
            sentences.append(
                f"{parameter.label} stays unsure: {remaining_percent:.0f} % of its spread are left"
            )
        elif prior_distance > PRIOR_WARNING_DISTANCE:
            sentences.append(
                f"{parameter.label} is {prior_distance:.1f} spreads from the file: check it"
            )
    return sentences


class Source(NamedTuple):
    """A log that took part."""

    name: str
    sha256: str
    duration: float
    """duration of the log [s]"""


class Fit(NamedTuple):
    """Errors of one part of the logs, root mean squares: of predicted coordinates, or of forces."""

    part: str
    windows: int
    """windows of predictions, or samples of forces"""
    before: float
    """error with the parameters of the file [m, rad], or [N, N m]"""
    after: float
    """error with the identified parameters [m, rad], or [N, N m]"""


class Errors(NamedTuple):
    """Prediction errors over time and frequency, for charts."""

    time: FloatArray
    """`(W,)` [s] times of the windows"""
    before: FloatArray
    """`(W,)` root mean square error with the parameters of the file [m, rad]"""
    after: FloatArray
    """`(W,)` root mean square error with the identified parameters [m, rad]"""
    frequency: FloatArray
    """frequencies of the density `(f,)` [Hz]"""
    density: FloatArray
    """`(f,)` amplitude density of those after [m/sqrt(Hz), rad/sqrt(Hz)]"""


class ForceStage(NamedTuple):
    """Linear stage: estimates from measured forces, before any simulation."""

    signal: str
    """"forces" of the legs, "motor_forces" or "currents" of the motors"""
    estimate: LinearEstimate
    """estimate of all selected parameters in which forces are linear, and of the delay of the
    signal
    """
    fits: tuple[Fit, Fit]
    """fits of the data that the estimate is from, and of the holdout data"""
    force_per_current: float
    """[N/A, N m/A] force per current, as given; 1 for forces"""
    kept: LinearModel
    """model of the holdout data"""

    def holdout_error(self, parameters: Sequence[Parameter], values: FloatArray) -> float:
        """Return the root mean square error [N, N m] of the forces of the holdout data.

        Args:
            parameters: those whose estimates are replaced by `values`.
            values: `(p,)` replacement values in SI.
        """
        replacements = values_by_path(parameters, values)
        pairs = zip(self.estimate.parameters, self.estimate.values, strict=True)
        trial_values = np.array(
            [replacements.get(parameter.path, estimate) for parameter, estimate in pairs]
        )
        return float(
            np.sqrt(np.mean((self.kept.measured - self.kept.predicted(trial_values)) ** 2))
        )

    @property
    def shown(self) -> tuple[Parameter, ...]:
        """The parameters that are identifiable from the forces."""
        invisible = self.estimate.visibility.unobservable
        return tuple(
            parameter for parameter in self.estimate.decision.free if parameter not in invisible
        )


@dataclass(frozen=True, eq=False)
class Identification:
    """Parameters of a machine as its logs show them."""

    before: Platform
    """the machine of the file"""
    platform: Platform
    """the machine with the identified parameters"""
    parameters: tuple[Parameter, ...]
    values: FloatArray
    """`(p,)` estimates in SI"""
    covariance: FloatArray
    """`(p, p)` covariance of the estimates"""
    margins: FloatArray
    """`(p,)` half the widths of the 95 % confidence intervals, in standard errors; infinite where
    the model misses too much for an interval
    """
    fixed: tuple[Parameter, ...]
    """parameters that were fixed at their values of the file"""
    notes: tuple[str, ...]
    """sentences on what the logs do not show, and on estimates with a warning"""
    forces: ForceStage | None
    """None where the logs have no measured forces, or these show none of the parameters"""
    fits: tuple[Fit, ...]
    """fits of the data that the estimate is from, and of the holdout data; of forces without errors
    """
    errors: Errors | None
    """errors of predictions; None where there are none"""
    whiteness: Whiteness | None
    patterns: tuple[Pattern, ...]
    """patterns in the errors that are left, and the free terms that would explain them"""
    sources: tuple[Source, ...]
    date: str
    """ISO 8601, UTC"""

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors `(p,)` of the estimates in SI."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def intervals(self) -> FloatArray:
        """Ends `(p, 2)` of the 95 % confidence intervals in SI."""
        half_widths = self.margins * self.standard_errors
        return np.stack([self.values - half_widths, self.values + half_widths], axis=1)

    @property
    def correlation(self) -> FloatArray:
        """Correlations `(p, p)` of the estimates."""
        errors = self.standard_errors
        return self.covariance / np.outer(errors, errors)

    @property
    def unit(self) -> tuple[float, str]:
        """Factor and unit in which people read the fits: um or urad of predictions."""
        if self.errors is None:
            return 1.0, self.platform.force_unit
        return 1e6, f"u{self.platform.coordinate_unit}"

    @property
    def summary(self) -> str:
        """One-sentence summary of the fit."""
        holdout, (scale, unit) = self.fits[-1], self.unit
        kind = "prediction errors" if self.errors else "errors of the forces"
        seconds = sum(source.duration for source in self.sources)
        verb = "fall" if holdout.after < holdout.before else "rise"
        return (
            f"{len(self.values)} parameters of {self.platform.name} from {seconds:.4g} s of data: "
            f"{kind} on data kept apart {verb} from {scale * holdout.before:.3g} to "
            f"{scale * holdout.after:.3g} {unit}, {holdout.before / holdout.after:.3g} times."
        )
