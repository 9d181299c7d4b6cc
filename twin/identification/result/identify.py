"""Identification of a machine's parameters from logs of its motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_instance, bounded
from twin.errors import InputError
from twin.identification.parameters import Parameter, select, with_parameters
from twin.identification.prediction.problem import WINDOW, PredictionProblem
from twin.identification.prediction.recording import recording_of
from twin.identification.prediction.refine import Solution
from twin.identification.prediction.solve import PLAY, first_slopes, solve
from twin.identification.result.identification import Errors, Fit, Identification, Source
from twin.identification.result.statistics import covariance, half_widths, spectrum, whiteness
from twin.identification.visibility import LARGEST_LEFT, Choice, visibility
from twin.logs import Log
from twin.platform import Platform

APART = 0.2
"""Share of the windows at the end of each log that are kept apart."""

FEWEST_REVERSALS = 5
"""Adopted: windows in which the force of a leg changes its sign, for its play to be told."""

DOUBTFUL = 3.0
"""Adopted: prediction errors in the noise of the encoders from which on intervals are doubted."""

UNSETTLED = 1.0
"""Adopted: last step of the search in standard errors, from which on intervals are doubted."""

FAR = 4.0
"""Spreads from the value of the file from which on an estimate is doubted."""

EVALUATIONS = 80
"""of an identification, about: for progress bars."""


def identify(
    platform: Platform,
    logs: Iterable[Log],
    parameters: str | Iterable[str],
    *,
    unseen: Choice = "refuse",
    window: float = WINDOW,
    apart: float = APART,
    robust: bool = False,
    sources: Sequence[Source] = (),
    tick: Callable[[int], Any] = lambda _: None,
) -> Identification:
    """Return the parameters with which a machine predicts its logs best.

    The machine with its drives runs under the recorded commands beside the recorded encoders. Each
    sample is predicted from those before it. Every parameter has a prior: its value in the file
    with its spread.

    Args:
        platform: the machine as its file has it, with its drives.
        logs: in signals of the machine (`twin.logs.LogMapping`); see `recording_of`.
        parameters: groups, paths or patterns; see `twin.identification.parameters.select`.
        unseen: what to do about parameters that the logs do not show: "refuse", keep the "prior",
            or "hold" them at their values in the file.
        window: time over which predictions go on from what was measured [s].
        apart: share of the windows, the last of each log, that only test the result.
        robust: whether large errors count less than their square.
        sources: names and hashes of the logs, for the result.
        tick: called with the number of evaluations so far.

    Raises:
        InputError: no logs, missing signals, a machine that is not supported, parameters that the
            logs do not show (see `unseen`), or arguments out of range.
    """
    as_instance(platform, "platform", Platform)
    given = [as_instance(log, "logs", Log) for log in logs]
    if not given:
        raise InputError("logs", "is empty; give one log or more")
    _check_machine(platform)
    span, share = bounded(window, "window", 0.02, 2.0), bounded(apart, "apart", 0.05, 0.5)
    chosen = select(platform, parameters)
    outside = tuple(each for each in chosen if not each.is_of_machine)
    inside = [each for each in chosen if each.is_of_machine]
    if not inside:
        raise InputError("parameters", "none is of the machine; predictions know no others")
    recordings = [recording_of(log, platform) for log in given]
    whole = [PredictionProblem(platform, each, inside, span) for each in recordings]
    slopes = first_slopes([_part(problem, share)[0] for problem in whole])
    decision = visibility(slopes, inside).decide(unseen)
    if not decision.free:
        raise InputError("parameters", f"the logs show none: {'; '.join(decision.reasons)}")
    for problem in whole:
        problem.parameters = decision.free
    used, kept = zip(*(_part(problem, share) for problem in whole), strict=True)
    done = count(1)
    solution = solve(used, robust=robust, tick=lambda: tick(next(done)))
    fits, errors, residuals = _fits(used, kept, solution.values)
    machine = with_parameters(platform, decision.free, solution.values)
    reversals = np.sum([problem.turns(machine).sum(axis=0) for problem in used], axis=0)
    unsure = [_doubt_of_play(each, reversals, solution.last) for each in decision.free]
    found = _covariance(solution, decision.free, unsure)
    seconds = [float(np.ptp(recording.time)) for recording in recordings]
    return Identification(
        before=platform,
        platform=machine,
        parameters=decision.free,
        values=solution.values,
        covariance=found,
        margins=half_widths(solution.slopes),
        held=(*decision.held, *outside),
        notes=(
            *decision.reasons,
            *_doubts(decision.free, solution.values, found, unsure),
            *_misfit(fits[-1].after, used[0].noise),
            *_unsettled(solution.last),
        ),
        fits=fits,
        errors=errors,
        whiteness=whiteness(residuals),
        sources=tuple(sources) or tuple(Source("", "", each) for each in seconds),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _covariance(
    solution: Solution, parameters: Sequence[Parameter], unsure: Sequence[str]
) -> FloatArray:
    """Return the covariance `(p, p)` in SI; of unsure plays that of the spread."""
    found = covariance(solution.errors, solution.slopes)
    size = np.where([bool(each) for each in unsure], 1.0 / np.sqrt(np.diag(found)), 1.0)
    size *= [each.spread for each in parameters]
    return np.asarray(found * np.outer(size, size))


def _doubt_of_play(parameter: Parameter, reversals: FloatArray, last: float) -> str:
    """Return why a play is unsure, with advice; nothing for other parameters and sure plays.

    Impacts have several minima, of which the slopes see one. Few do not tell which is the best,
    and a search whose `last` step was long has not found it.
    """
    if PLAY not in parameter.path:
        return ""
    most = reversals.max() if parameter.leg is None else reversals[parameter.leg]
    if most < FEWEST_REVERSALS:
        return "shows in few impacts: record a motion that unloads the leg, or hold it"
    if last >= UNSETTLED:
        return "stays unsure, as the search ended beside the best values"
    return ""


def _misfit(error: float, noise: FloatArray) -> list[str]:
    """Return a sentence if prediction errors [m, rad] are far above the noise `(n,)`, else none."""
    times = error / float(np.sqrt((noise**2).mean()))
    if times < DOUBTFUL:
        return []
    return [
        f"prediction errors are {times:.1f} times the noise of the encoders: the model misses "
        "something, or the search ended beside the best values; intervals are too narrow"
    ]


def _unsettled(last: float) -> list[str]:
    """Return a sentence if the `last` step of a search was not short, else none."""
    if last < UNSETTLED:
        return []
    return [
        f"the last step of the search was {last:.1f} standard errors long: it ended beside the "
        "best values, and intervals are too narrow; identify again from the file of this result"
    ]


def _doubts(
    parameters: Sequence[Parameter], values: FloatArray, found: FloatArray, unsure: Sequence[str]
) -> list[str]:
    """Return sentences on estimates that are as unsure as before, or far from the file."""
    doubts = []
    errors = np.sqrt(np.diag(found))
    for parameter, value, error, doubt in zip(parameters, values, errors, unsure, strict=True):
        moved = abs(float(value) - parameter.nominal) / parameter.spread
        if doubt:
            doubts.append(f"{parameter.words} {doubt}; its standard error is its spread")
        elif error > LARGEST_LEFT * parameter.spread:
            share = 100.0 * error / parameter.spread
            doubts.append(f"{parameter.words} stays unsure: {share:.0f} % of its spread are left")
        elif moved > FAR:
            doubts.append(f"{parameter.words} is {moved:.1f} spreads from the file: check it")
    return doubts


def _check_machine(platform: Platform) -> None:
    if platform.dof != 6 or platform.n_actuators != 6 or platform.n_deflections:
        raise InputError(
            "platform",
            f"{platform.name} has {platform.n_actuators} actuators, {platform.dof} degrees of "
            f"freedom and {platform.n_deflections} springs in its legs; identification takes "
            "machines with six actuators, six degrees of freedom and none",
        )
    if any(leg.drive is not None and leg.drive.positioning() for leg in platform.parameters.legs):
        raise InputError("platform", "drives of positions are not supported; forces or speeds are")


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
    """Return the errors `(W, samples, n)` [m, rad]."""
    found = problem.errors(values)
    return np.asarray(found.reshape(len(found), -1, len(problem.noise)) * problem.noise)


def _size(errors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((errors**2).mean(axis=(1, 2))))
