"""Nonlinear stage of an identification: the smallest prediction errors of the closed loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.charts.panels import number
from twin.errors import InputError
from twin.identification.linear import (
    ForceSamples,
    LinearModel,
    linear_estimate,
    linear_model,
    linear_part,
    of_drives,
    samples_of_log,
)
from twin.identification.linear.model import FORCE_DELAY_PATH, FORCE_ERROR_PREFIX, joined
from twin.identification.parameters import (
    Parameter,
    added_parameters,
    gravity_field,
    nominal_array,
    prior_std_array,
    signal_errors,
    with_parameters,
)
from twin.identification.prediction.optimise import Solution, first_jacobian, solve
from twin.identification.prediction.problem import PredictionProblem
from twin.identification.prediction.recording import Recording
from twin.identification.prediction.terms import MOTOR_TERM_PREFIX
from twin.identification.result.diagnosis import Pattern, find_patterns
from twin.identification.result.identification import (
    Errors,
    Fit,
    ForceStage,
    Misfit,
    backlash_warning,
    estimate_warnings,
    misfit,
    unsettled,
)
from twin.identification.result.statistics import (
    Whiteness,
    covariance,
    half_widths,
    spectrum,
    whiteness,
)
from twin.identification.visibility import GO_ON, Choice, Decision, visibility
from twin.logs import Log
from twin.model.machine_model import MachineModel

FORCE_SIGNALS = ("forces", "motor_forces")
"""Signals of forces, those of the legs before those that drives know of their motors."""

MAX_UNEXPLAINED_FRACTION = 0.5
"""Engineering choice: unexplained fraction of the forces above which the signal is taken to be
wrong.
"""

FORCE_BIAS_PREFIX = f"{FORCE_ERROR_PREFIX}bias."
"""Beginning of the paths of the biases of forces."""

MAX_DISAGREEMENT = 4.0
"""Engineering choice: difference of two estimates of a number, in their common standard error,
above which a note says so.
"""

TIE_TOLERANCE = 0.01
"""Engineering choice: relative difference of holdout errors below which neither stage counts as
better.
"""

MIN_DENOMINATOR = 1e-300
"""Smallest denominator, which keeps quotients of errors finite."""


def force_stage(
    platform: Platform,
    logs: Sequence[Log],
    parameters: Sequence[Parameter],
    *,
    if_unobservable: Choice,
    holdout: float,
    force_per_current: float | None,
) -> ForceStage | None:
    """Return the linear stage of logs with forces; None without forces or linear parameters.

    The delay between forces and motion is always estimated as well: otherwise it looks like inertia
    and centre of mass. So are friction and inertia of the drives, and bias and constant of each
    motor, beside forces of motors or currents.

    Args:
        platform: the machine as its file has it.
        logs: used are those with `forces`, `motor_forces`, or `currents` where `force_per_current`
            is known.
        parameters: any.
        if_unobservable: "hold" holds what does not show; otherwise the priors decide.
        holdout: fraction of each log, at its end, that only tests the result.
        force_per_current: [N/A] or [N m/A].

    Raises:
        InputError: logs that are too short, or forces that are not those of this machine.
        ForwardKinematicsError: coordinates that no pose has.
    """
    signals = FORCE_SIGNALS if force_per_current is None else (*FORCE_SIGNALS, "currents")
    force_logs = [log for log in logs if any(name in log for name in signals)]
    factor = {"force_per_current": force_per_current}
    samples = [samples_of_log(platform, log, **factor) for log in force_logs]
    linear_parameters = linear_part(platform, parameters, samples[0].where) if samples else ()
    if not linear_parameters:
        return None
    errors_of_forces = added_parameters(platform)
    drive_parameters = (
        errors_of_forces[FORCE_DELAY_PATH],
        *of_drives(platform, linear_parameters, samples[0].where),
    )
    if samples[0].where == "motors":
        prefixes = FORCE_BIAS_PREFIX, MOTOR_TERM_PREFIX
        drive_parameters += tuple(
            parameter for path, parameter in errors_of_forces.items() if path.startswith(prefixes)
        )
    parameters_by_path = {
        parameter.path: parameter for parameter in (*linear_parameters, *drive_parameters)
    }
    used, kept = zip(*(_parts(sample, holdout) for sample in samples), strict=True)
    choice: Choice = "hold" if if_unobservable == "hold" else "prior"
    estimate = linear_estimate(platform, tuple(parameters_by_path.values()), used, choice=choice)
    tested = joined([linear_model(platform, estimate.parameters, sample) for sample in kept])
    fits = (
        _fit("identified from", estimate.model, estimate.values),
        _fit("kept apart", tested, estimate.values),
    )
    signal = next(n for n in signals if n in force_logs[0])
    measured_forces = estimate.model.measured
    size = float(np.sqrt((measured_forces**2).mean()))
    if fits[0].after > MAX_UNEXPLAINED_FRACTION * size:
        raise InputError(
            signal,
            f"are not those of this machine: of {size:.4g} {platform.force_unit} rms the model "
            f"leaves {fits[0].after:.4g}; check sign, unit and order of the legs, or leave the "
            "channel out with a mapping file",
        )
    signal_factor = force_per_current if signal == "currents" else None
    return ForceStage(signal, estimate, fits, signal_factor or 1.0, tested)


def mapping_lines(platform: Platform, stage: ForceStage) -> list[str]:
    """Return the lines of a mapping file that correct the signal of a linear stage.

    Scale and bias become `unit` and `offset` of forces, the delay `delay`; the scale of currents is
    a force per current, which a comment names.
    """
    errors = signal_errors(platform, stage.estimate.parameters, stage.estimate.values)["forces"]
    lines, unit = [f"[signals.{stage.signal}]"], platform.force_unit
    offsets = -errors.bias / errors.scale
    if stage.signal == "currents":
        # The scale goes into the force per current, which multiplies current and offset alike.
        unit, offsets = "A", -errors.bias / stage.force_per_current
        factor = number(stage.force_per_current / errors.scale, 6)
        lines.append(f"# force per current: {factor} {platform.force_unit}/A")
    elif errors.scale != 1.0:
        lines.append(f'unit = "{1.0 / errors.scale:.6g} {unit}"')
    if errors.bias.any():
        lines.append("offset = [" + ", ".join(f'"{offset:.5g} {unit}"' for offset in offsets) + "]")
    scales = stage.estimate.model.scales(stage.estimate.values)
    if np.ptp(scales) > 0.0:
        texts = ", ".join(number(constant, 4) for constant in 1.0 / scales)
        lines.append(f"# constants of the motors over their mean: {texts}")
    return [*lines, f'delay = "{1e3 * errors.delay:.4g} ms"']


def _parts(samples: ForceSamples, holdout: float) -> tuple[ForceSamples, ForceSamples]:
    at = round((1.0 - holdout) * len(samples.pose))
    return samples.part(slice(at)), samples.part(slice(at, None))


def _fit(part: str, model: LinearModel, values: Any) -> Fit:
    """Return the errors of forces with the nominal values and with others."""
    both = nominal_array(model.parameters), values
    errors = np.array([model.measured - model.predicted(values) for values in both])
    return Fit(part, len(model.measured), *np.sqrt((errors**2).mean(axis=1)).tolist())


class PredictionStage(NamedTuple):
    """Parameters with which simulations predict the encoders best."""

    parameters: tuple[Parameter, ...]
    values: FloatArray
    """`(p,)` values in SI"""
    covariance: FloatArray
    """covariance of the values `(p, p)` in SI"""
    margins: FloatArray
    """`(p,)` half the widths of the 95 % confidence intervals, in standard errors"""
    fixed: tuple[Parameter, ...]
    notes: tuple[str, ...]
    fits: tuple[Fit, Fit]
    errors: Errors
    whiteness: Whiteness
    patterns: tuple[Pattern, ...] = ()
    """patterns in what is left, where that is not white"""
    surpassed: tuple[Parameter, ...] = ()
    """parameters that the force stage determines better, judged by the holdout data"""


def prediction_stage(
    platform: Platform,
    recordings: Sequence[Recording],
    parameters: Sequence[Parameter],
    forces: ForceStage | None,
    *,
    if_unobservable: Choice,
    window: float,
    holdout: float,
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
        forces: linear stage; None without measured forces.
        if_unobservable: what to do about parameters that neither shows.
        window: of predictions [s].
        holdout: fraction of the windows that only test the result.
        robust: whether large errors count less than their square.
        tick: called with the number of evaluations so far.
        settled: parameters whose estimates from forces stay.

    Raises:
        InputError: parameters that do not show (see `if_unobservable`), or rollouts that fail.
    """
    parameters = [parameter for parameter in parameters if parameter not in settled]
    if not parameters:
        return None
    all_problems = [
        PredictionProblem(platform, recording, parameters, window) for recording in recordings
    ]
    slopes = first_jacobian([_part(problem, holdout)[0] for problem in all_problems])
    decision, shown = _decided(slopes, parameters, forces, if_unobservable)
    if decision is None or (settled and not decision.free):
        return None
    _settle(all_problems, decision.free, [*shown, *settled], forces)
    used, tested = zip(*(_part(problem, holdout) for problem in all_problems), strict=True)
    initial = None if forces is None else forces.estimate.starting_values(decision.free)
    counter = count(1)
    solution = solve(used, initial, robust=robust, tick=lambda: tick(next(counter)))
    fits, errors = _fits(used, tested, solution)
    machine = with_parameters(used[0].machine, decision.free, solution.values)
    reversals = np.sum([problem.sign_reversals(machine).sum(axis=0) for problem in used], axis=0)
    unsure = [
        backlash_warning(parameter, reversals, solution.last_step) for parameter in decision.free
    ]
    white = _whiteness(used, solution)
    cov = _covariance(solution, decision.free, unsure, white)
    patterns = () if white.is_white else tuple(find_patterns(used, solution))
    left = misfit(fits[-1].after, used[0].noise, white, patterns)
    notes = (
        *decision.reasons,
        *left.sentences,
        *estimate_warnings(decision.free, solution.values, cov, unsure),
        *_disagreements(forces, decision.free, solution.values, cov),
        *unsettled(solution.last_step),
    )
    return PredictionStage(
        decision.free,
        solution.values,
        cov,
        np.where(left.is_withheld, np.inf, half_widths(solution.slopes)),
        decision.fixed,
        notes,
        fits,
        errors,
        white,
        patterns,
        ()
        if forces is None
        else _surpassed(forces, decision.free, solution.values, cov, tested, left),
    )


def _settle(
    problems: Sequence[PredictionProblem],
    free: tuple[Parameter, ...],
    shown: Sequence[Parameter],
    forces: ForceStage | None,
) -> None:
    """Leave the `free` parameters to the problems, with estimates of forces for those `shown`."""
    values = np.zeros(0) if forces is None else forces.estimate.starting_values(shown)
    for problem in problems:
        machine = problem.machine
        problem.parameters, problem.machine = free, with_parameters(machine, shown, values)
        problem.field = gravity_field(machine, shown, values) - gravity_field(machine, (), ())


def _disagreements(
    forces: ForceStage | None,
    parameters: Sequence[Parameter],
    values: FloatArray,
    cov: FloatArray,
) -> list[str]:
    """Return sentences on numbers of which forces and predictions say different things.

    Args:
        forces: the first stage.
        parameters: of the second.
        values: `(p,)` estimates of these parameters in SI.
        cov: `(p, p)` covariance of the values.
    """
    sentences = []
    for k, parameter in enumerate(parameters):
        if forces is None or parameter not in forces.shown:
            continue
        at = forces.estimate.parameters.index(parameter)
        other, error = forces.estimate.values[at], forces.estimate.standard_errors[at]
        distance = abs(float(other - values[k])) / float(np.hypot(error, np.sqrt(cov[k, k])))
        if distance > MAX_DISAGREEMENT:
            sentences.append(
                f"{parameter.label}: {forces.signal} say {number(other)} {parameter.unit}, "
                f"predictions {number(values[k])}, {distance:.0f} standard errors apart: check "
                f"the scale of {forces.signal}, and the model of the drives"
            )
    return sentences


def _surpassed(
    forces: ForceStage,
    parameters: Sequence[Parameter],
    values: FloatArray,
    cov: FloatArray,
    kept: Sequence[PredictionProblem],
    left: Misfit,
) -> tuple[Parameter, ...]:
    """Return what the forces show if their estimates of what both stages show are better.

    Both sets of values predict the encoders and the forces that were kept apart. Each errs more on
    the other stage's data than that stage's own set; better is the set that does by the smaller
    factor. Within `TIE_TOLERANCE` the smaller standard errors decide. Forces on legs are better
    where predictions have no intervals: they do not pass the drives, which a model may miss. Those
    of motors do, and are not.

    Args:
        forces: the first stage.
        parameters: of the second.
        values: `(p,)` estimates of these parameters in SI.
        cov: `(p, p)` covariance of the values.
        kept: predictions of the data kept apart.
        left: what the predictions miss.
    """
    shared_indices = [k for k, parameter in enumerate(parameters) if parameter in forces.shown]
    shared_parameters = [parameters[k] for k in shared_indices]
    if not shared_parameters:
        return ()
    if left.is_withheld:
        return forces.shown if forces.signal == "forces" else ()
    mixed_values = values.copy()
    mixed_values[shared_indices] = forces.estimate.starting_values(shared_parameters)
    force_error = forces.holdout_error(shared_parameters, values[shared_indices])
    ratio = force_error / max(forces.holdout_error((), values[:0]), MIN_DENOMINATOR)
    # Above 1 where the forces are better.
    ratio *= _rms(kept, values) / max(_rms(kept, mixed_values), MIN_DENOMINATOR)
    if abs(ratio - 1.0) < TIE_TOLERANCE:
        rows = [forces.estimate.parameters.index(parameter) for parameter in shared_parameters]
        errors = forces.estimate.standard_errors[rows]
        ratios = np.sqrt(np.diag(cov))[shared_indices] / errors
        ratio = float(np.exp(np.mean(np.log(ratios))))
    return forces.shown if ratio > 1.0 else ()


def file_error(platform: Platform, recording: Recording) -> float:
    """Return the root mean square error [m, rad] of the encoders with the numbers of the file."""
    return _rms([PredictionProblem(platform, recording, ())], np.zeros(0))


def _rms(problems: Sequence[PredictionProblem], values: FloatArray) -> float:
    """Return the root mean square [m, rad] of all errors of the encoders; infinite if some fail."""
    try:
        squares = np.concatenate(
            [_encoder_errors(problem, values).ravel() ** 2 for problem in problems]
        )
    except InputError:
        return np.inf
    rms = float(np.sqrt(squares.mean()))
    return rms if np.isfinite(rms) else np.inf


def _decided(
    slopes: FloatArray,
    parameters: Sequence[Parameter],
    forces: ForceStage | None,
    if_unobservable: Choice,
) -> tuple[Decision | None, list[Parameter]]:
    """Return the decision for the predictions, and the parameters left to the forces.

    Raises:
        InputError: neither predictions nor forces show any of the parameters.
    """
    shown = () if forces is None else forces.shown
    left_to_forces: list[Parameter] = []
    while kept := [k for k, parameter in enumerate(parameters) if parameter not in left_to_forces]:
        seen = visibility(slopes[:, kept], [parameters[k] for k in kept])
        left = [parameter for parameter in seen.unobservable if parameter in shown]
        for direction in seen.unobservable_directions:
            left += [parameter for parameter in direction.parameters if parameter in shown][:1]
        if not left:
            break
        left_to_forces += left
    if not kept:
        return None, left_to_forces
    decision = seen.decide(if_unobservable)
    if not decision.free and not shown:
        raise InputError(
            "parameters", f"the logs show none: {'; '.join(decision.reasons)}; {GO_ON}"
        )
    return decision, left_to_forces


def check_predictable(platform: MachineModel) -> None:
    """Raise InputError if predictions are not supported for a machine."""
    if platform.n_actuators != platform.dof or platform.n_deflections:
        raise InputError(
            "platform",
            f"{platform.name} has {platform.n_actuators} actuators, {platform.dof} degrees of "
            f"freedom and {platform.n_deflections} springs in its legs; predictions take machines "
            "with one actuator per degree of freedom and no springs",
        )
    if any(leg.drive is not None and leg.drive.positioning() for leg in platform.parameters.legs):
        raise InputError("platform", "drives of positions are not supported; forces or speeds are")


def _whiteness(used: Sequence[PredictionProblem], solution: Solution) -> Whiteness:
    """Return the test of the errors of the encoders, each over that of its window."""
    encoders = [_of_encoders(*pair) for pair in zip(used, solution.errors, strict=True)]
    return whiteness(np.concatenate(encoders), used[0].noise_ratio)


def _covariance(
    solution: Solution, parameters: Sequence[Parameter], unsure: Sequence[str], white: Whiteness
) -> FloatArray:
    """Return the covariance `(p, p)` in SI; for an unsure backlash that of its prior."""
    misfit = None if white.is_white else white.misfit
    matrix = covariance(solution.errors, solution.slopes, misfit)
    matrix = matrix + np.diag(solution.step_errors**2)
    to_prior = 1.0 / np.sqrt(np.diag(matrix))
    size = np.where([bool(warning) for warning in unsure], to_prior, np.minimum(1.0, to_prior))
    size *= prior_std_array(parameters)
    return np.asarray(matrix * np.outer(size, size))


def _part(
    problem: PredictionProblem, holdout: float
) -> tuple[PredictionProblem, PredictionProblem]:
    """Return the problem of the first segments, and that of the last ones, for the holdout."""
    count = len(problem.windows.first)
    at = min(count - 1, max(1, round((1.0 - holdout) * count)))
    return problem.part(np.arange(at)), problem.part(np.arange(at, count))


def _fits(
    used: Sequence[PredictionProblem],
    kept: Sequence[PredictionProblem],
    solution: Solution,
) -> tuple[tuple[Fit, Fit], Errors]:
    """Return the fits of both parts, and errors for charts."""
    nominal = nominal_array(used[0].parameters)
    fits: list[Fit] = []
    sizes_of_parts, rows, times = [], [], []
    for name, problems in (("identified from", used), ("kept apart", kept)):
        pairs = []
        for problem in problems:
            final_errors = _encoder_errors(problem, solution.values, solution.step_factor)
            pairs.append((_size(_encoder_errors(problem, nominal)), _size(final_errors)))
            times.append(problem.times[:, 0])
            rows.append(np.swapaxes(final_errors, 1, 2).reshape(-1, final_errors.shape[1]))
        sizes = np.hstack(pairs)
        fits.append(Fit(name, sizes.shape[1], *np.sqrt((sizes**2).mean(axis=1)).tolist()))
        sizes_of_parts.append(sizes)
    sizes, time = np.hstack(sizes_of_parts), np.concatenate(times)
    frequency, density = spectrum(np.vstack(rows[: len(used)]), used[0].period)
    order = np.arange(len(time)) if len(used) > 1 else np.argsort(time)
    errors = Errors(time[order], sizes[0][order], sizes[1][order], frequency, density)
    return (fits[0], fits[1]), errors


def _encoder_errors(problem: PredictionProblem, values: FloatArray, factor: int = 1) -> FloatArray:
    """Return the prediction errors `(W, samples, n)` of the encoders [m, rad].

    With a `factor` above one, the rollouts take a step that many times finer, and the error which
    remains from that step is extrapolated away.
    """
    every = problem.extrapolated_errors(values, factor) if factor > 1 else problem.errors(values)
    return np.asarray(_of_encoders(problem, every) * problem.noise)


def _of_encoders(problem: PredictionProblem, errors: FloatArray) -> FloatArray:
    """Return those `(W, samples, n)` of all errors `(W, m)` that are of the encoders."""
    count = len(problem.noise)
    return errors[:, : problem.windows.samples * count].reshape(len(errors), -1, count)


def _size(errors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((errors**2).mean(axis=(1, 2))))
