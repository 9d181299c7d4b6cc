"""Result of an identification: estimates with their intervals, fits, and the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.identification.linear import BaseParameters, LinearEstimate, LinearModel
from twin.identification.parameters import Parameter
from twin.identification.parameters.values import values_by_path
from twin.identification.result.statistics import Whiteness


class Source(NamedTuple):
    """A log that took part."""

    name: str
    sha256: str
    duration: float
    """[s]"""


class Fit(NamedTuple):
    """Errors of one part of the logs, root mean squares: of predicted coordinates, or of forces."""

    part: str
    windows: int
    """windows of predictions, or samples of forces"""
    before: float
    """with the parameters of the file [m, rad], or [N, N m]"""
    after: float
    """with the identified ones [m, rad], or [N, N m]"""


class Errors(NamedTuple):
    """Prediction errors over time and frequency, for charts."""

    time: FloatArray
    """`(W,)` [s] of the windows"""
    before: FloatArray
    """`(W,)` root mean square in each [m, rad]"""
    after: FloatArray
    """`(W,)`"""
    frequency: FloatArray
    """`(f,)` [Hz]"""
    density: FloatArray
    """`(f,)` amplitude density of those after [m/sqrt(Hz), rad/sqrt(Hz)]"""


class ForceStage(NamedTuple):
    """Linear stage: what measured forces say, before any simulation."""

    signal: str
    """"forces" of the legs, "motor_forces" or "currents" of the motors"""
    estimate: LinearEstimate
    """of all selected parameters in which forces are linear, and of the delay of the signal"""
    base: BaseParameters
    fits: tuple[Fit, Fit]
    """of the data that the estimate is from, and of those kept apart"""
    force_per_current: float
    """[N/A, N m/A] of currents, as given; 1 for forces"""
    kept: LinearModel
    """of the data kept apart"""

    def error_apart(self, parameters: Sequence[Parameter], values: FloatArray) -> float:
        """Return the root mean square error [N, N m] of the forces kept apart.

        Args:
            parameters: whose estimates other values replace.
            values: `(p,)` theirs in SI.
        """
        other = values_by_path(parameters, values)
        pairs = zip(self.estimate.parameters, self.estimate.values, strict=True)
        tried = np.array([other.get(each.path, own) for each, own in pairs])
        return float(np.sqrt(np.mean((self.kept.measured - self.kept.predicted(tried)) ** 2)))

    @property
    def shown(self) -> tuple[Parameter, ...]:
        """The parameters that the forces show."""
        invisible = self.estimate.visibility.invisible
        return tuple(each for each in self.estimate.decision.free if each not in invisible)


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
    """`(p, p)` of the estimates"""
    margins: FloatArray
    """`(p,)` half the widths of the 95 % confidence intervals, in standard errors"""
    held: tuple[Parameter, ...]
    """kept at their values of the file"""
    notes: tuple[str, ...]
    """what the logs do not show, and estimates to doubt, in words"""
    forces: ForceStage | None
    """None where the logs have no measured forces, or these show none of the parameters"""
    fits: tuple[Fit, ...]
    """of the data that the estimate is from, and of those kept apart; of forces without errors"""
    errors: Errors | None
    """of predictions; None where there are none"""
    whiteness: Whiteness | None
    sources: tuple[Source, ...]
    date: str
    """ISO 8601, UTC"""

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors `(p,)` of the estimates in SI."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def intervals(self) -> FloatArray:
        """Ends `(p, 2)` of the 95 % confidence intervals in SI."""
        half = self.margins * self.standard_errors
        return np.stack([self.values - half, self.values + half], axis=1)

    @property
    def correlation(self) -> FloatArray:
        """Correlations `(p, p)` of the estimates."""
        errors = self.standard_errors
        return np.asarray(self.covariance / np.outer(errors, errors))

    @property
    def unit(self) -> tuple[float, str]:
        """Factor and unit in which people read the fits: um or urad of predictions."""
        if self.errors is None:
            return 1.0, self.platform.force_unit
        return 1e6, f"u{self.platform.coordinate_unit}"

    @property
    def summary(self) -> str:
        """One sentence on what was found."""
        apart, (scale, unit) = self.fits[-1], self.unit
        kind = "prediction errors" if self.errors else "errors of the forces"
        seconds = sum(source.duration for source in self.sources)
        way = "fall" if apart.after < apart.before else "rise"
        return (
            f"{len(self.values)} parameters of {self.platform.name} from {seconds:.4g} s of data: "
            f"{kind} on data kept apart {way} from {scale * apart.before:.3g} to "
            f"{scale * apart.after:.3g} {unit}, {apart.before / apart.after:.3g} times."
        )
