"""Nonlinear stage of an identification: the smallest prediction errors of the closed loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters import Parameter, gravity_field, with_parameters
from twin.identification.prediction.optimise import Solution, first_jacobian, solve
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import Recording
from twin.identification.result.doubts import doubt_of_play, doubts, misfit, unsettled
from twin.identification.result.identification import Errors, Fit, ForceStage
from twin.identification.result.statistics import (
    Whiteness,
    covariance,
    half_widths,
    spectrum,
    whiteness,
)
from twin.identification.visibility import GO_ON, Choice, Decision, visibility
from twin.model.machine_model import MachineModel

ALIKE = 0.01
"""Adopted: relative difference of errors on data kept apart below which neither is better."""

TINY = 1e-300
"""Keeps quotients of errors finite."""


class PredictionStage(NamedTuple):
    """Parameters with which simulations predict the encoders best."""

    parameters: tuple[Parameter, ...]
    values: FloatArray
    """`(p,)` in SI"""
    covariance: FloatArray
    """`(p, p)`"""
    margins: FloatArray
    """`(p,)` half the widths of the 95 % confidence intervals, in standard errors"""
    held: tuple[Parameter, ...]
    notes: tuple[str, ...]
    fits: tuple[Fit, Fit]
    errors: Errors
    whiteness: Whiteness
    surpassed: tuple[Parameter, ...] = ()
    """that the forces determine better, by the data kept apart"""


def prediction_stage(
    platform: Platform,
    recordings: Sequence[Recording],
    parameters: Sequence[Parameter],
    forces: ForceStage | None,
    *,
    unseen: Choice,
    window: float,
    apart: float,
    robust: bool,
    tick: Callable[[int], Any],
    settled: Sequence[Parameter] = (),
) -> PredictionStage | None:
    """Return the parameters that predict recordings best; None if forces alone show them all.

    Estimates from forces are where the search begins. They stay for what predictions do not show.
    `surpassed` names those that should stay beyond that.

    Args:
        platform: the machine as its file has it.
        recordings: of its commands and encoders.
        parameters: of the machine, tilts, or errors of signals other than forces.
        forces: what measured forces say; None without any.
        unseen: what to do about parameters that neither shows.
        window: of predictions [s].
        apart: share of the windows that only test the result.
        robust: whether large errors count less than their square.
        tick: called with the number of evaluations so far.
        settled: parameters whose estimates from forces stay.

    Raises:
        InputError: parameters that do not show (see `unseen`), or rollouts that fail.
    """
    parameters = [each for each in parameters if each not in settled]
    if not parameters:
        return None
    whole = [PredictionProblem(platform, each, parameters, window) for each in recordings]
    slopes = first_jacobian([_part(problem, apart)[0] for problem in whole])
    decision, taken = _decided(slopes, parameters, forces, unseen)
    if decision is None:
        return None
    if not decision.free:
        raise InputError(
            "parameters", f"the logs show none: {'; '.join(decision.reasons)}; {GO_ON}"
        )
    taken = [*taken, *settled]
    known = np.zeros(0) if forces is None else forces.estimate.starting_values(taken)
    for problem in whole:
        problem.parameters = decision.free
        problem.machine = with_parameters(platform, taken, known)
        problem.field = gravity_field(platform, taken, known) - gravity_field(platform, (), ())
    used, kept = zip(*(_part(problem, apart) for problem in whole), strict=True)
    start = None if forces is None else forces.estimate.starting_values(decision.free)
    done = count(1)
    solution = solve(used, start, robust=robust, tick=lambda: tick(next(done)))
    fits, errors, residuals = _fits(used, kept, solution.values)
    machine = with_parameters(used[0].machine, decision.free, solution.values)
    reversals = np.sum([problem.turns(machine).sum(axis=0) for problem in used], axis=0)
    unsure = [doubt_of_play(each, reversals, solution.last) for each in decision.free]
    found = _covariance(solution, decision.free, unsure)
    notes = (
        *decision.reasons,
        *doubts(decision.free, solution.values, found, unsure),
        *misfit(fits[-1].after, used[0].noise),
        *unsettled(solution.last),
    )
    return PredictionStage(
        decision.free,
        solution.values,
        found,
        half_widths(solution.slopes),
        decision.held,
        notes,
        fits,
        errors,
        whiteness(residuals),
        () if forces is None else _surpassed(forces, decision.free, solution.values, found, kept),
    )


def _surpassed(
    forces: ForceStage,
    parameters: Sequence[Parameter],
    values: FloatArray,
    square: FloatArray,
    kept: Sequence[PredictionProblem],
) -> tuple[Parameter, ...]:
    """Return the parameters that both stages show, if those of the forces are the better ones.

    Both sets of values predict the encoders and the forces that were kept apart. A set is better
    where it loses less on the data of the other stage than the other loses on its own. Within
    `ALIKE` neither is, and the smaller standard errors decide.

    Args:
        forces: the first stage.
        parameters: of the second.
        values: `(p,)` theirs in SI.
        square: `(p, p)` covariance of the values.
        kept: predictions of the data kept apart.
    """
    shared = [k for k, each in enumerate(parameters) if each in forces.shown]
    both = [parameters[k] for k in shared]
    if not both:
        return ()
    mixed = values.copy()
    mixed[shared] = forces.estimate.starting_values(both)
    own, other = (_rms(kept, each) for each in (values, mixed))
    lost = forces.error_apart(both, values[shared]) / max(forces.error_apart((), values[:0]), TINY)
    ratio = lost * own / max(other, TINY)  # above 1 where the forces are better
    if abs(ratio - 1.0) < ALIKE:
        errors = forces.estimate.standard_errors
        places = [forces.estimate.parameters.index(each) for each in both]
        shares = np.sqrt(np.diag(square))[shared] / errors[places]
        ratio = float(np.exp(np.mean(np.log(shares))))
    return tuple(both) if ratio > 1.0 else ()


def _rms(problems: Sequence[PredictionProblem], values: FloatArray) -> float:
    """Return the root mean square [m, rad] of all errors of the encoders; infinite if some fail."""
    try:
        squares = np.concatenate([_left(each, values).ravel() ** 2 for each in problems])
    except InputError:
        return np.inf
    found = float(np.sqrt(squares.mean()))
    return found if np.isfinite(found) else np.inf


def _decided(
    slopes: FloatArray, parameters: Sequence[Parameter], forces: ForceStage | None, unseen: Choice
) -> tuple[Decision | None, list[Parameter]]:
    """Return what predictions shall estimate, and what forces alone show."""
    shown = [] if forces is None else forces.shown
    hidden = [each for each in visibility(slopes, parameters).invisible if each in shown]
    kept = [k for k, each in enumerate(parameters) if each not in hidden]
    if not kept:
        return None, hidden
    return visibility(slopes[:, kept], [parameters[k] for k in kept]).decide(unseen), hidden


def check_predictable(platform: MachineModel) -> None:
    """Raise InputError if predictions are not supported for a machine."""
    if platform.dof != 6 or platform.n_actuators != 6 or platform.n_deflections:
        raise InputError(
            "platform",
            f"{platform.name} has {platform.n_actuators} actuators, {platform.dof} degrees of "
            f"freedom and {platform.n_deflections} springs in its legs; identification takes "
            "machines with six actuators, six degrees of freedom and none",
        )
    if any(leg.drive is not None and leg.drive.positioning() for leg in platform.parameters.legs):
        raise InputError("platform", "drives of positions are not supported; forces or speeds are")


def _covariance(
    solution: Solution, parameters: Sequence[Parameter], unsure: Sequence[str]
) -> FloatArray:
    """Return the covariance `(p, p)` in SI; of unsure plays that of the spread."""
    found = covariance(solution.errors, solution.slopes)
    size = np.where([bool(each) for each in unsure], 1.0 / np.sqrt(np.diag(found)), 1.0)
    size *= [each.spread for each in parameters]
    return np.asarray(found * np.outer(size, size))


def _part(problem: PredictionProblem, apart: float) -> tuple[PredictionProblem, PredictionProblem]:
    """Return the problem of the first stretches, and that of the last share of them."""
    count = len(problem.windows.first)
    at = min(count - 1, max(1, round((1.0 - apart) * count)))
    return problem.part(np.arange(at)), problem.part(np.arange(at, count))


def _fits(
    used: Sequence[PredictionProblem],
    kept: Sequence[PredictionProblem],
    values: FloatArray,
) -> tuple[tuple[Fit, Fit], Errors, FloatArray]:
    """Return the fits of both parts, errors for charts, and those after `(k, samples)`."""
    nominal = np.array([each.nominal for each in used[0].parameters])
    fits: list[Fit] = []
    lists, rows, times = [], [], []
    for name, problems in (("identified from", used), ("kept apart", kept)):
        pairs = []
        for problem in problems:
            before = _left(problem, nominal)
            after = _left(problem, values)
            pairs.append((_size(before), _size(after)))
            times.append(problem.times[:, 0])
            rows.append(np.swapaxes(after, 1, 2).reshape(-1, after.shape[1]))
        sizes = np.hstack([np.array(pair) for pair in pairs])
        fits.append(Fit(name, sizes.shape[1], *np.sqrt((sizes**2).mean(axis=1)).tolist()))
        lists.append(sizes)
    sizes, time = np.hstack(lists), np.concatenate(times)
    residuals = np.vstack(rows[: len(used)])
    frequency, density = spectrum(residuals, used[0].period)
    order = np.arange(len(time)) if len(used) > 1 else np.argsort(time)
    return (
        (fits[0], fits[1]),
        Errors(time[order], sizes[0][order], sizes[1][order], frequency, density),
        residuals,
    )


def _left(problem: PredictionProblem, values: FloatArray) -> FloatArray:
    """Return the errors `(W, samples, n)` of the encoders [m, rad]."""
    found = problem.errors(values)[:, : problem.windows.samples * len(problem.noise)]
    return np.asarray(found.reshape(len(found), -1, len(problem.noise)) * problem.noise)


def _size(errors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((errors**2).mean(axis=(1, 2))))
