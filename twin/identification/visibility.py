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
from twin.identification.parameters import Parameter, prior_std_array

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
            return f"{first.label} does not show"
        ratios = [-change / self.changes[0] for change in self.changes[1:]]
        if len(others) == 1 and first.unit == others[0].unit:
            for name, value in (("sum", 1.0), ("difference", -1.0)):
                if abs(ratios[0] - value) < RATIO_TOLERANCE:
                    return f"only the {name} of {first.label} and {others[0].label} is visible"
        pairs = list(zip(ratios, others, strict=True))[:MAX_PARTNERS_NAMED]
        text = ", ".join(
            f"{ratio:+.3g} {parameter.unit} of {parameter.label}".replace("  ", " ")
            for ratio, parameter in pairs
        )
        n_more = len(others) - len(pairs)
        text += f" with changes of {n_more} more" if n_more else ""
        change_text = f"+1 {first.unit}".strip()
        return (
            f"{first.label} shows only together with others: {change_text} of it looks like {text}"
        )


GO_ON = (
    'move the machine in other ways, leave them out, or go on with if_unobservable="prior" (their '
    'prior distributions decide) or "hold" (the values of the file stay): --if-unobservable prior, '
    "--if-unobservable hold"
)
"""What to do about parameters that do not show."""


@dataclass(frozen=True)
class Decision:
    """Parameters to estimate, and those to hold at their nominal values."""

    free: tuple[Parameter, ...]
    fixed: tuple[Parameter, ...]
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
        return self.expected_errors / prior_std_array(self.parameters)

    @property
    def unobservable(self) -> tuple[Parameter, ...]:
        """Parameters of which more than half of the prior standard deviation remains."""
        shares = zip(self.parameters, self.shares, strict=True)
        return tuple(parameter for parameter, share in shares if share > MAX_REMAINING_STD)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences about all that does not show; empty where nothing is hidden."""
        directions = self.unobservable_directions
        named = {parameter for direction in directions for parameter in direction.parameters}
        weak = [parameter for parameter in self.unobservable if parameter not in named]
        return (
            *map(str, directions),
            *(f"{parameter.label} shows too weakly" for parameter in weak),
        )

    def decide(self, choice: Choice = "prior") -> Decision:
        """Return which parameters are estimated.

        Args:
            choice: "prior": all, where the prior decides about what does not show; "hold": one
                parameter of each hidden direction stays at its nominal value, and every one that
                would not show if all others were known; "refuse": an error.

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
        hidden = {
            *self.pivots,
            *(one for one in self.unobservable if self.alone(one) < MIN_SINGULAR_VALUE),
        }
        free, fixed = (
            tuple(parameter for parameter in self.parameters if (parameter in hidden) == is_fixed)
            for is_fixed in (False, True)
        )
        return Decision(free, fixed, reasons)

    def alone(self, parameter: Parameter) -> float:
        """Return prior standard deviations per noise of a parameter if all others are known."""
        return float(self.sizes[self.parameters.index(parameter)])


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
    checked_parameters = tuple(
        as_instance(parameter, "parameters", Parameter) for parameter in parameters
    )
    rows = as_floats(jacobian, "jacobian", len(checked_parameters))
    deviations = as_floats(noise, "noise")
    if rows.ndim != 2 or not checked_parameters:
        raise InputError("jacobian", f"must have shape (rows, p), not {rows.shape}")
    if deviations.shape not in ((), (len(rows),)) or not (deviations > 0.0).all():
        raise InputError("noise", "must be one number above zero, or one for each row")
    prior_stds = prior_std_array(checked_parameters)
    scaled_rows = rows * prior_stds / (deviations[:, None] if deviations.ndim else deviations)
    is_tall = len(scaled_rows) > len(checked_parameters)
    triangle = np.linalg.qr(scaled_rows, mode="r") if is_tall else scaled_rows
    _, singular_values, vectors = np.linalg.svd(triangle, full_matrices=True)
    values = np.zeros(len(checked_parameters))
    values[: len(singular_values)] = np.where(
        singular_values > RANK_TOLERANCE * singular_values.max(initial=0.0), singular_values, 0.0
    )
    remaining_error = np.sqrt(((vectors / np.sqrt(1.0 + values[:, None] ** 2)) ** 2).sum(axis=0))
    sizes = np.linalg.norm(triangle, axis=0)
    hidden = _unobservable_directions(checked_parameters, values, vectors, sizes)
    errors = remaining_error * prior_stds
    return Visibility(checked_parameters, values, vectors, sizes, errors, *hidden)


def _unobservable_directions(
    parameters: tuple[Parameter, ...], values: FloatArray, vectors: FloatArray, sizes: FloatArray
) -> tuple[tuple[Direction, ...], tuple[Parameter, ...]]:
    """Return the directions that do not show, in few parameters each, and one to hold for each."""
    basis = vectors[values < MIN_SINGULAR_VALUE]
    if not len(basis):
        return (), ()
    # What shows least by itself is held first.
    _, _, pivots = qr(basis / (1.0 + sizes), mode="economic", pivoting=True)
    held_indices = pivots[: len(basis)]
    rows = _sparse(np.asarray(np.linalg.solve(basis[:, held_indices], basis)))
    directions = []
    for row in rows:
        involved = np.flatnonzero(row)
        pivot = int(involved[np.argmin(sizes[involved])])
        indices = [pivot, *(int(k) for k in np.argsort(-np.abs(row)) if row[k] and k != pivot)]
        scale = 1.0 / row[pivot]
        changes = tuple(float(scale * row[k] * parameters[k].prior_std) for k in indices)
        directions.append(Direction(tuple(parameters[k] for k in indices), changes))
    return tuple(directions), tuple(parameters[k] for k in sorted(held_indices))


def _sparse(rows: FloatArray) -> FloatArray:
    """Return rows that span the same space with fewer entries each, the largest of them 1."""
    sparse_rows = np.array([_rounded(row) for row in rows])
    is_improving = True
    while is_improving:
        is_improving = False
        for i, j in permutations(range(len(sparse_rows)), 2):
            shared = np.flatnonzero((sparse_rows[i] != 0.0) & (sparse_rows[j] != 0.0))
            for k in shared:
                candidate = _rounded(
                    sparse_rows[i] - sparse_rows[i, k] / sparse_rows[j, k] * sparse_rows[j]
                )
                if 0 < np.count_nonzero(candidate) < np.count_nonzero(sparse_rows[i]):
                    sparse_rows[i], is_improving = candidate, True
                    break
    return sparse_rows


def _rounded(row: FloatArray) -> FloatArray:
    size = np.abs(row).max()
    if size < MIN_COMPONENT:
        return np.zeros_like(row)
    return np.where(np.abs(row) > MIN_COMPONENT * size, row / size, 0.0)
