"""Observability: parameters, and combinations of them, that measurements can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg import qr

from twin.basics.arrays import FloatArray, as_floats, as_instance, one_of
from twin.errors import InputError, listed
from twin.identification.parameters import Parameter

Choice = Literal["prior", "hold", "refuse"]

MIN_SINGULAR_VALUE = 1.0
"""Singular value below which measurements say less than the prior."""

MAX_REMAINING_STD = 0.5
"""Fraction of the prior standard deviation that may remain of a parameter which counts as visible.
"""

RANK_TOLERANCE = 1e-9
"""Fraction of the largest singular value below which others are zero: derivatives by parameters are
exact to some 1e-11.
"""

MIN_COMPONENT = 0.05
"""Component of a direction, in prior standard deviations, below which a text leaves it out."""

MAX_PARTNERS_NAMED = 3
"""Maximum number of parameters that a sentence names in addition to its first."""

RATIO_TOLERANCE = 0.02
"""Relative difference of two columns that count as the same."""


@dataclass(frozen=True)
class Direction:
    """A change of parameters that measurements do not show."""

    parameters: tuple[Parameter, ...]
    """the first may change by its amount if all others change by theirs"""
    changes: tuple[float, ...]
    """change of each parameter, in its unit; that of the first is its prior standard deviation"""

    def __str__(self) -> str:
        """Return a phrase with the parameters that cannot be distinguished."""
        first, *others = self.parameters
        if not others:
            return f"{first.words} does not show"
        ratios = [-change / self.changes[0] for change in self.changes[1:]]
        if len(others) == 1 and first.unit == others[0].unit:
            for name, value in (("sum", 1.0), ("difference", -1.0)):
                if abs(ratios[0] - value) < RATIO_TOLERANCE:
                    return f"only the {name} of {first.words} and {others[0].words} is visible"
        pairs = list(zip(ratios, others, strict=True))[:MAX_PARTNERS_NAMED]
        looks = ", ".join(
            f"{ratio:+.3g} {other.unit} of {other.words}".replace("  ", " ")
            for ratio, other in pairs
        )
        more = len(others) - len(pairs)
        looks += f" with changes of {more} more" if more else ""
        one = f"+1 {first.unit}".strip()
        return f"{first.words} shows only together with others: {one} of it looks like {looks}"


GO_ON = (
    'move the machine in other ways, leave them out, or go on with unseen="prior" (their spreads '
    'decide) or "hold" (the values of the file stay): --unseen prior, --unseen hold'
)
"""What to do about parameters that do not show."""


@dataclass(frozen=True)
class Decision:
    """Parameters to estimate, and those to hold at their nominal values."""

    free: tuple[Parameter, ...]
    held: tuple[Parameter, ...]
    reasons: tuple[str, ...]
    """sentences about what is not visible"""


@dataclass(frozen=True, eq=False)
class Visibility:
    """Parameters and their combinations that measurements show, before anything is estimated."""

    parameters: tuple[Parameter, ...]
    singular_values: FloatArray
    """`(p,)` falling singular values of the Jacobian, in prior standard deviations per noise; below
    1 the prior says more
    """
    vectors: FloatArray
    """`(p, p)` the parameters' parts in each, one row per singular value"""
    sizes: FloatArray
    """`(p,)` norms of the scaled columns: what each parameter would show if it were alone"""
    expected_errors: FloatArray
    """`(p,)` standard errors to expect with the priors, each in its unit"""
    unobservable_directions: tuple[Direction, ...]
    """directions that do not show, each in few parameters"""
    pivots: tuple[Parameter, ...]
    """one parameter of each direction: where these are known, all others show"""

    @property
    def shares(self) -> FloatArray:
        """Expected standard errors per prior standard deviation `(p,)`, from 0 to 1."""
        return np.asarray(self.expected_errors / [each.spread for each in self.parameters])

    @property
    def unobservable(self) -> tuple[Parameter, ...]:
        """Parameters of which more than half of the prior standard deviation remains."""
        left = zip(self.parameters, self.shares, strict=True)
        return tuple(parameter for parameter, remaining in left if remaining > MAX_REMAINING_STD)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences about all that does not show; empty where nothing is hidden."""
        said = tuple(str(direction) for direction in self.unobservable_directions)
        named = {
            each.path for direction in self.unobservable_directions for each in direction.parameters
        }
        weak = [each for each in self.unobservable if each.path not in named]
        return said + tuple(f"{each.words} shows too weakly" for each in weak)

    def decide(self, choice: Choice = "prior") -> Decision:
        """Return which parameters are estimated.

        Args:
            choice: "prior": all, where the prior decides about what does not show; "hold": one
                parameter of each hidden direction stays at its nominal value; "refuse": an error.

        Raises:
            InputError: "refuse", and something does not show; or an unknown choice.
        """
        one_of(choice, "choice", get_args(Choice))
        reasons = self.sentences
        if choice == "prior" or not reasons:
            return Decision(self.parameters, (), reasons)
        if choice == "refuse":
            message = f"cannot be identified from this motion: {listed(reasons, '; ')}"
            raise InputError("parameters", f"{message}; {GO_ON}")
        fixed = {each.path for each in self.pivots}
        fixed |= {each.path for each in self.unobservable if self.alone(each) < MIN_SINGULAR_VALUE}
        free = tuple(each for each in self.parameters if each.path not in fixed)
        kept = tuple(each for each in self.parameters if each.path in fixed)
        return Decision(free, kept, reasons)

    def alone(self, parameter: Parameter) -> float:
        """Return prior standard deviations per noise of a parameter if all others are known."""
        paths = [each.path for each in self.parameters]
        return float(self.sizes[paths.index(parameter.path)])


def visibility(jacobian: Any, parameters: Sequence[Parameter], noise: Any = 1.0) -> Visibility:
    """Return what measurements with a Jacobian `(rows, p)` show of p parameters.

    Each column is scaled by the spread of its parameter, each row by its noise.

    Args:
        jacobian: derivatives of the measurements by the parameters, of any stage.
        parameters: p of them.
        noise: standard deviation of each row `(rows,)`, or one for all.

    Raises:
        InputError: wrong shapes, not finite, or a noise that is not above zero.

    Reference:
        M. Gautier, Numerical calculation of the base inertial parameters of robots, J. Robotic
        Systems 8 (1991), for the singular value decomposition; without its prior.
    """
    chosen = tuple(as_instance(each, "parameters", Parameter) for each in parameters)
    rows = as_floats(jacobian, "jacobian", len(chosen))
    deviations = as_floats(noise, "noise")
    if rows.ndim != 2 or not chosen:
        raise InputError("jacobian", f"must have shape (rows, p), not {rows.shape}")
    if deviations.shape not in ((), (len(rows),)) or not (deviations > 0.0).all():
        raise InputError("noise", "must be one number above zero, or one for each row")
    prior_stds = np.array([each.spread for each in chosen])
    scaled = rows * prior_stds / (deviations[:, None] if deviations.ndim else deviations)
    triangle = np.linalg.qr(scaled, mode="r") if len(scaled) > len(chosen) else scaled
    _, found, vectors = np.linalg.svd(triangle, full_matrices=True)
    values = np.zeros(len(chosen))
    values[: len(found)] = np.where(found > RANK_TOLERANCE * found.max(initial=0.0), found, 0.0)
    left = np.sqrt(((vectors / np.sqrt(1.0 + values[:, None] ** 2)) ** 2).sum(axis=0))
    sizes = np.linalg.norm(triangle, axis=0)
    unobservable, fixed = _unobservable_directions(chosen, values, vectors, sizes)
    return Visibility(chosen, values, vectors, sizes, left * prior_stds, unobservable, fixed)


def _unobservable_directions(
    parameters: tuple[Parameter, ...], values: FloatArray, vectors: FloatArray, sizes: FloatArray
) -> tuple[tuple[Direction, ...], tuple[Parameter, ...]]:
    """Return the directions that do not show, in few parameters each, and one to hold for each."""
    basis = vectors[values < MIN_SINGULAR_VALUE]
    if not len(basis):
        return (), ()
    # What shows least by itself is held first.
    _, _, pivots = qr(basis / (1.0 + sizes), mode="economic", pivoting=True)
    first = pivots[: len(basis)]
    rows = _sparse(np.asarray(np.linalg.solve(basis[:, first], basis)))
    found = []
    for row in rows:
        parts = np.flatnonzero(row)
        own = int(parts[np.argmin(sizes[parts])])
        others = [int(k) for k in np.argsort(-np.abs(row)) if row[k] and k != own]
        scale = 1.0 / row[own]
        changes = tuple(float(scale * row[k] * parameters[k].spread) for k in (own, *others))
        found.append(Direction(tuple(parameters[k] for k in (own, *others)), changes))
    return tuple(found), tuple(parameters[k] for k in sorted(first))


def _sparse(rows: FloatArray) -> FloatArray:
    """Return rows that span the same space with fewer entries each, the largest of them 1."""
    found = np.array([_rounded(row) for row in rows])
    better = True
    while better:
        better = False
        for i, j in permutations(range(len(found)), 2):
            shared = np.flatnonzero((found[i] != 0.0) & (found[j] != 0.0))
            for k in shared:
                other = _rounded(found[i] - found[i, k] / found[j, k] * found[j])
                if 0 < np.count_nonzero(other) < np.count_nonzero(found[i]):
                    found[i], better = other, True
                    break
    return found


def _rounded(row: FloatArray) -> FloatArray:
    size = np.abs(row).max()
    if size < MIN_COMPONENT:
        return np.zeros_like(row)
    return np.where(np.abs(row) > MIN_COMPONENT * size, row / size, 0.0)
