"""Result of an identification: estimates with their intervals, fits, and the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.parameters import Parameter
from twin.identification.result.statistics import Whiteness
from twin.platform import Platform


class Source(NamedTuple):
    """A log that took part."""

    name: str
    sha256: str
    duration: float
    """[s]"""


class Fit(NamedTuple):
    """Prediction errors of one part of the logs, root mean squares of the motors' coordinates."""

    part: str
    windows: int
    before: float
    """with the parameters of the file [m, rad]"""
    after: float
    """with the identified ones [m, rad]"""


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
    fits: tuple[Fit, ...]
    """of the data that the estimate is from, and of those kept apart"""
    errors: Errors
    whiteness: Whiteness
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
    def summary(self) -> str:
        """One sentence on what was found."""
        apart, unit = self.fits[-1], f"u{self.platform.coordinate_unit}"
        seconds = sum(source.duration for source in self.sources)
        return (
            f"{len(self.values)} parameters of {self.platform.name} from {seconds:.4g} s of data: "
            f"prediction errors on data kept apart fall from {1e6 * apart.before:.3g} to "
            f"{1e6 * apart.after:.3g} {unit}, {apart.before / apart.after:.3g} times."
        )
