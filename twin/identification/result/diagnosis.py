"""Patterns in the errors that a fit leaves, and the free terms that would explain them.

Each group of free terms is tried by its score: how much smaller the squares of the errors would be
if its terms were fitted together with the parameters, all effects taken as linear.

Reference:
    Engle, Wald, likelihood ratio, and Lagrange multiplier tests in econometrics, Handbook of
    Econometrics 2 (1984).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.parameters import (
    TERM_GROUPS,
    TERM_PREFIX,
    Parameter,
    groups_of,
    nominal_array,
    prior_std_array,
    select,
)
from twin.identification.prediction.optimise import Solution, rms_scale, term_starts
from twin.identification.prediction.problem import DIFFERENCE_STEP, PredictionProblem

SEGMENT_STEP = 2
"""Every second segment is enough to see a pattern."""

SWING_FREQUENCIES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
"""[Hz] Frequencies at which a payload is taken to swing."""

MIN_EXPLAINED = 0.05
"""Engineering choice: smallest fraction of the squares that a pattern explains."""

MAX_PATTERNS = 2
"""Maximum number of patterns that are named."""


class Pattern(NamedTuple):
    """A pattern in what is left, and the group of free terms that explains it."""

    group: str
    explained: float
    """fraction of the squares of the errors that it explains beyond those before it"""
    sentence: str


class Candidate(NamedTuple):
    """Terms of one group, with their effects on the errors."""

    group: str
    parameters: tuple[Parameter, ...]
    slopes: FloatArray
    """`(rows, k)` derivatives of the errors over their `rms_scale`, by terms in prior stds"""


def find_patterns(problems: Sequence[PredictionProblem], solution: Solution) -> list[Pattern]:
    """Return the patterns that explain most of the errors that a solution leaves, largest first."""
    parts = [
        problem.part(np.arange(0, len(problem.windows.first), SEGMENT_STEP)) for problem in problems
    ]
    errors = [part.extrapolated_errors(solution.values, solution.step_factor) for part in parts]
    scales = [rms_scale(e, part.blocks) for e, part in zip(errors, parts, strict=True)]
    rest = np.concatenate([(e / scale).ravel() for e, scale in zip(errors, scales, strict=True)])
    own, candidates = _slopes(parts, solution.values, scales)
    patterns: list[Pattern] = []
    basis = _orthonormal(own)
    rest = rest - basis @ (basis.T @ rest)
    total = float(rest @ rest)
    for _ in range(MAX_PATTERNS):
        scores = []
        for candidate in candidates:
            beyond = candidate.slopes - basis @ (basis.T @ candidate.slopes)
            directions = _orthonormal(beyond)
            gain = float(((directions.T @ rest) ** 2).sum())
            scores.append((gain, candidate, beyond, directions))
        if not scores:
            break
        gain, best, beyond, directions = max(scores, key=lambda score: score[0])
        if gain < MIN_EXPLAINED * total:
            break
        amounts = -np.linalg.lstsq(beyond, rest, rcond=1e-6)[0]
        sizes = amounts * prior_std_array(best.parameters)
        patterns.append(Pattern(best.group, gain / total, _sentence(best, sizes)))
        rest = rest - directions @ (directions.T @ rest)
        basis = np.hstack([basis, directions])
        candidates = [candidate for candidate in candidates if candidate.group != best.group]
    return patterns


def _slopes(
    parts: Sequence[PredictionProblem], values: FloatArray, scales: Sequence[FloatArray]
) -> tuple[FloatArray, list[Candidate]]:
    """Return derivatives `(rows, p)` by the parameters, and those of groups not in the fit."""
    free = parts[0].parameters
    # The first, without a group, stands for the parameters of the fit; slopes follow below.
    candidates = [Candidate("", free, np.empty(0))]
    for group in (name for name in groups_of(parts[0].machine) if name in TERM_GROUPS):
        terms = select(parts[0].machine, group)
        if not any(parameter in free for parameter in terms):
            candidates += [
                Candidate(group, variant, np.empty(0)) for variant in _variants(group, terms)
            ]
    linearised = []
    for group, parameters, _ in candidates:
        every = parameters if not group else (*free, *parameters)
        starts = nominal_array(parameters) + prior_std_array(parameters) * term_starts(parameters)
        at = values if not group else np.append(values, starts)
        steps = DIFFERENCE_STEP * np.eye(len(every))[-len(parameters) :]
        rows = []
        for part, scale in zip(parts, scales, strict=True):
            extended = copy(part)
            extended.parameters = tuple(every)
            _, taken, changes = extended.differences(at, steps)
            sizes = taken[:, -len(parameters) :].diagonal()
            rows.append((changes / scale / sizes[:, None, None]).reshape(len(parameters), -1))
        linearised.append(Candidate(group, tuple(parameters), np.hstack(rows).T))
    return linearised[0].slopes, linearised[1:]


def _variants(group: str, terms: Sequence[Parameter]) -> list[tuple[Parameter, ...]]:
    """Return the terms of a group, for a payload that swings once for each frequency."""
    if group != "pendulum":
        return [tuple(terms)]
    mass, frequency, damping = terms
    return [(mass, _moved(frequency, hertz), damping) for hertz in SWING_FREQUENCIES]


def _moved(parameter: Parameter, nominal: float) -> Parameter:
    """Return a parameter that begins at another value, less what terms begin beside it."""
    from dataclasses import replace

    start = float(term_starts([parameter])[0]) * parameter.prior_std
    return replace(parameter, nominal=max(nominal - start, parameter.lower))


def _orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of columns, without directions that hardly have an effect."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > 1e-6 * max(float(sizes.max(initial=0.0)), 1e-300)]


def _sentence(candidate: Candidate, sizes: FloatArray) -> str:
    """Return what a pattern looks like, and what it may be, with its approximate size."""
    terms = {
        parameter.path.removeprefix(TERM_PREFIX): float(size)
        for parameter, size in zip(candidate.parameters, sizes, strict=True)
    }
    if candidate.group == "cable":
        force = np.linalg.norm([terms[f"cable.force.{k}"] for k in range(3)])
        stiffness = 1e-3 * terms["cable.stiffness"]
        return (
            f"grows with the position of the platform: a spring or cable, about {stiffness:.2g} "
            f"kN/m and {force:.2g} N"
        )
    largest = max(terms.values(), key=abs)
    simple_sentences = {
        "motor_constants": "differs by leg in proportion to force: torque constants, up to "
        "{:.2g} %",
        "leads": "differs by leg in proportion to the way: leads of screws, up to {:.2g} %",
        "load_friction": "grows with load: dry friction of {:.2g} % of a leg's force",
    }
    if candidate.group in simple_sentences:
        return simple_sentences[candidate.group].format(100.0 * largest)
    if candidate.group == "friction_drift":
        percent = 100.0 * terms["friction.drift.0"]
        word = "falls" if percent < 0.0 else "rises"
        return f"changes with time: friction {word} by about {abs(percent):.2g} %, as in warming"
    if candidate.group == "lugre":
        size = 1e6 * terms["friction.presliding"]
        return f"rises where motors turn back: friction that bends {size:.2g} um before it slides"
    starts = nominal_array(candidate.parameters)
    starts += prior_std_array(candidate.parameters) * term_starts(candidate.parameters)
    hertz = starts[list(terms).index("pendulum.frequency")]
    mass = terms["pendulum.mass"]
    return f"swings at about {hertz:.2g} Hz: a part of the payload of about {mass:.2g} kg"
