"""Identification of a machine's parameters from logs of its motion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from scipy.linalg import block_diag

from twin.analysis.platform import Platform
from twin.basics.arrays import as_instance, bounded, one_of, positive
from twin.basics.files import as_path, check_replaced, write_text
from twin.basics.toml import toml_value
from twin.charts.panels import number
from twin.errors import InputError, listed
from twin.identification.linear.model import FORCE_ERROR_PREFIX
from twin.identification.linear.samples import FORCE_SIGNALS, MOTION_SIGNALS
from twin.identification.parameters import Parameter, select, with_parameters
from twin.identification.prediction.problem import DEFAULT_WINDOW
from twin.identification.prediction.recording import Recording, recording_of
from twin.identification.prediction.rollouts import synchronised
from twin.identification.result.identification import ForceStage, Identification, Source
from twin.identification.result.predictions import (
    PredictionStage,
    check_predictable,
    file_error,
    force_stage,
    prediction_stage,
)
from twin.identification.visibility import GO_ON, Choice
from twin.logs import Log
from twin.machine.machine import gallery_names, machine_names

INPUT_SIGNALS = (*MOTION_SIGNALS, *FORCE_SIGNALS, "command_rates")
"""Signals that an identification reads."""

AUXILIARY_SIGNALS = ("accelerometer", "gyroscope", "position_noise", "angle_noise")
"""Optional signals that an identification reads; gaps in them do not matter."""

MAX_GAP = 10.0
"""Longest interval between two samples that is no gap, in median intervals, as in `check_log`."""

MIN_SEGMENT = 1.0
"""[s] Shortest segment of a log that is used."""

HOLDOUT_FRACTION = 0.2
"""Fraction of the windows at the end of each log that are used for the holdout."""

TYPICAL_EVALUATIONS = 80
"""Approximate number of evaluations of an identification, for progress bars."""


def log_segments(logs: Sequence[Log], window: float) -> tuple[list[Log], list[str]]:
    """Return logs cut at the gaps of their signals, and sentences on what was left out.

    Pieces are those of 1 s or of twelve windows, whichever is longer. Logs without gaps stay whole.

    Args:
        logs: in signals of a machine.
        window: of predictions [s].

    Raises:
        InputError: no piece of a log is long enough.
    """
    segments, notes, least_duration = list[Log](), list[str](), max(MIN_SEGMENT, 12.0 * window)
    for log in logs:
        gaps = sorted(_gaps(log))
        if not gaps:
            segments.append(log)
            continue
        start, stop = log.span
        starts = np.maximum.accumulate([start, *(end for _, end, _ in gaps)])
        stops = [*(begin for begin, _, _ in gaps), stop]
        pairs = zip(starts, stops, strict=True)
        long_segments = [(a, b) for a, b in pairs if b - a >= least_duration]
        names = ", ".join(sorted({name for _, _, name in gaps}))
        text = f"{len(gaps)} gaps in {names}, the first of them at {gaps[0][0]:.6g} s"
        if not long_segments:
            message = f"has {text}: no piece without gaps is {least_duration:.3g} s long"
            raise InputError("log", message)
        segments += [log.between(a, np.nextafter(b, np.inf)) for a, b in long_segments]
        unused = stop - start - sum(b - a for a, b in long_segments)
        notes.append(f"a log has {text}: it was cut there, and {unused:.3g} s are left out")
    return segments, notes


def _gaps(log: Log) -> list[tuple[float, float, str]]:
    """Return begin and end [s] of each gap, and the signal that has it."""
    gaps = []
    for channel in log.channels:
        steps = np.diff(channel.time)
        if channel.name not in INPUT_SIGNALS or not (steps > 0.0).any():
            continue
        rows = np.flatnonzero(steps > MAX_GAP * np.median(steps[steps > 0.0]))
        gap_bounds = zip(channel.time[rows].tolist(), channel.time[rows + 1].tolist(), strict=True)
        gaps += [(begin, end, channel.name) for begin, end in gap_bounds]
    return gaps


def identified_toml(result: Identification, machine: str, target: Path) -> str:
    """Return the text of a file that makes the identified machine of the old one.

    Args:
        result: of the identification.
        machine: name or path of the old machine, as the user gave it.
        target: where the text will be written; a base beside it is named by its relative path.
    """
    configuration = result.before.parameters.configuration
    names = [source.name for source in result.sources]
    logs = ", ".join(filter(None, names)) or "logs"
    head = {
        "extends": _base(machine, target),
        "configuration": configuration.applied if configuration else "",
        "source": f"Identified on {result.date[:10]} from {logs}",
    }
    record = {"logs": names, "sha256": [source.sha256 for source in result.sources]}
    comments, outside = dict[str, list[str]](), list[str]()
    for parameter, value, error in zip(
        result.parameters, result.values, result.standard_errors, strict=True
    ):
        comment = (
            f"# {parameter.label}: {number(value)} +- {number(error, 2)} {parameter.unit}, "
            f"was {number(parameter.nominal)}"
        ).replace(" ,", ",")
        if parameter.is_of_machine:
            # A list is one field.
            field = re.sub(r"(\.\d+)+$", "", parameter.path)
            comments.setdefault(field, []).append(comment)
        else:
            outside += [comment, f'"{parameter.path}" = {toml_value(value)}']
    lines = [f"# {result.platform.name} as identified on {result.date}. Values are SI."]
    lines += [f"{key} = {toml_value(text)}" for key, text in head.items() if text]
    for field, field_comments in comments.items():
        lines += ["", *field_comments, f"{field} = {toml_value(_value(result.platform, field))}"]
    lines += ["", "[identified]", f"date = {result.date}"]
    lines += [f"{key} = {toml_value(texts)}" for key, texts in record.items()]
    return "\n".join([*lines, *outside]) + "\n"


def write_identified(
    result: Identification, machine: str, path: str | Path, *, replace: bool = False
) -> Path:
    """Write the file of the identified machine; returns its path.

    Raises:
        InputError: the file exists and is not to be replaced, or cannot be written.
    """
    target = as_path(path)
    check_replaced(target, "out", replace=replace)
    return write_text(target, identified_toml(result, machine, target))


def _base(machine: str, target: Path) -> str:
    """Return what `extends` names: a machine of the catalogue, or a file, relative if possible."""
    if machine in machine_names() or machine in gallery_names():
        return machine
    base, folder = Path(machine).expanduser().resolve(), target.resolve().parent
    return base.relative_to(folder).as_posix() if folder in base.parents else base.as_posix()


def _value(platform: Platform, path: str) -> Any:
    """Return the value of a field; of all legs that of the first that has the field."""
    owners: list[Any]
    keys, owners = path.split("."), [platform.parameters]
    if keys[0] == "leg":
        legs = platform.parameters.legs
        owners = [legs[int(keys[1]) - 1]] if keys[1].isdecimal() else list(legs)
        keys = keys[2:] if keys[1].isdecimal() else keys[1:]
    for key in keys:
        owners = [child for owner in owners if (child := getattr(owner, key, None)) is not None]
    return owners[0]


MIN_IMPROVEMENT = 0.95
"""Engineering choice: errors on data kept apart, over those without a free term, up to which
`suggested` keeps the term.
"""


def suggested(
    platform: Platform, logs: Sequence[Log], parameters: str | Iterable[str], **options: Any
) -> Identification:
    """Return the identification with those free terms that pay; notes name all that were tried.

    Candidate terms are those of the patterns in the residuals, one group after the other. A group
    is kept where it makes the errors on held-out data smaller.

    Args:
        platform: as of `identify`.
        logs: as of `identify`.
        parameters: as of `identify`.
        options: of `identify`.

    Raises:
        InputError: see `identify`.
    """
    names = parameters.split(",") if isinstance(parameters, str) else list(parameters)
    current = identify(platform, logs, names, **options)
    sentences, tried = [], set[str]()
    while groups := [pattern.group for pattern in current.patterns if pattern.group not in tried]:
        tried.add(groups[0])
        candidate = identify(platform, logs, [*names, groups[0]], **options)
        # The last fit is that of the held-out data.
        ratio = candidate.fits[-1].after / current.fits[-1].after
        verb = "kept" if ratio <= MIN_IMPROVEMENT else "left out"
        sentences.append(
            f"{groups[0]} {verb}: with it, the errors on held-out data are {ratio:.2g} times those "
            "without it"
        )
        if ratio <= MIN_IMPROVEMENT:
            names, current = [*names, groups[0]], candidate
    return replace(current, notes=(*current.notes, *sentences))


def identify(
    platform: Platform,
    logs: Iterable[Log],
    parameters: str | Iterable[str],
    *,
    spreads: Mapping[str, float | str] | None = None,
    force_per_current: Any = None,
    if_unobservable: Choice = "refuse",
    window: float = DEFAULT_WINDOW,
    holdout: float = HOLDOUT_FRACTION,
    robust: bool = False,
    sources: Sequence[Source] = (),
    tick: Callable[[int], Any] = lambda _: None,
) -> Identification:
    """Return the parameters with which a machine predicts its logs best.

    Where logs have forces, the linear stage finds what these depend on first. Then the machine with
    its drives is simulated under the recorded commands and compared with the recorded encoders,
    starting from these estimates. Each sample is predicted from those before it. Every parameter
    has a prior: its value in the file with its spread. Without commands, forces alone decide.

    Args:
        platform: the machine as its file has it, with its drives.
        logs: in signals of the machine (`twin.logs.LogMapping`); see `recording_of`.
        parameters: groups, paths or patterns; see `twin.identification.parameters`.
        spreads: prior standard deviations in place of the defaults, by path: in SI or with a unit.
        force_per_current: of logs with currents [N/A] or [N m/A].
        if_unobservable: what to do about parameters that the logs do not show: "refuse", keep the
            "prior", or "hold" them at their values in the file.
        window: time over which predictions go on from what was measured [s].
        holdout: fraction of the windows, at the end of each log, that only test the result.
        robust: whether large errors count less than their square.
        sources: names and hashes of the logs, for the result.
        tick: called with the number of evaluations so far.

    Raises:
        InputError: no logs, missing signals, a machine that is not supported, parameters that the
            logs do not show (see `if_unobservable`), or arguments out of range.
    """
    as_instance(platform, "platform", Platform)
    one_of(if_unobservable, "if_unobservable", get_args(Choice))
    checked = [as_instance(log, "logs", Log) for log in logs]
    if not checked:
        raise InputError("logs", "is empty; give one log or more")
    length = bounded(window, "window", 0.02, 2.0)
    shared: dict[str, Any] = {
        "if_unobservable": if_unobservable,
        "holdout": bounded(holdout, "holdout", 0.05, 0.5),
    }
    factor = None if force_per_current is None else positive(force_per_current, "force_per_current")
    selected = select(platform, parameters, spreads)
    segments, cuts = log_segments(checked, length)
    forces = force_stage(platform, segments, selected, force_per_current=factor, **shared)
    predictable = [
        parameter for parameter in selected if not parameter.path.startswith(FORCE_ERROR_PREFIX)
    ]
    recordings, notes = _recordings(
        platform, segments, forces, predictable if if_unobservable == "refuse" else ()
    )
    predicted = None
    if forces is not None and if_unobservable == "refuse":
        alone = [
            parameter for parameter in selected if not recordings or parameter not in predictable
        ]
        seen = forces.estimate.visibility
        if any(parameter in seen.unobservable for parameter in alone):
            sentences = listed(seen.sentences, "; ")
            message = f"cannot be identified from these forces: {sentences}; {GO_ON}"
            raise InputError("parameters", message)
    if predictable and recordings:
        options = {"window": length, "robust": robust, "tick": tick, **shared}
        predict = partial(prediction_stage, platform, recordings, predictable, forces, **options)
        predicted = predict()
        if predicted is not None and predicted.surpassed:
            better = [parameter for parameter in predicted.surpassed if parameter in predictable]
            notes.append(
                f"{listed(parameter.path for parameter in better)} as the forces show: on data "
                "kept apart that is better than what predictions of the encoders gave"
            )
            predicted = predict(settled=better)
    seconds = [stop - start for start, stop in (log.span for log in segments)]
    named = tuple(sources) or tuple(Source("", "", duration) for duration in seconds)
    return _merged(platform, selected, forces, predicted, [*cuts, *notes], named)


def _recordings(
    platform: Platform, logs: Sequence[Log], forces: ForceStage | None, needed: Sequence[Parameter]
) -> tuple[list[Recording], list[str]]:
    """Return the recordings of logs, and notes; none, with a reason, if forces must do.

    Raises:
        InputError: neither can be used, or forces do not depend on all that is `needed`.
    """
    try:
        check_predictable(platform)
        recordings = [recording_of(log, platform) for log in logs]
    except InputError as error:
        if forces is None or not {*needed} <= {*forces.estimate.parameters}:
            raise
        return [], [f"the forces alone decide, without predictions ({error})"]
    pairs = [_on_one_clock(recording, platform) for recording in recordings]
    notes = [
        f"clocks of commands and encoders differ by {1e3 * clock:.2f} ms, which is removed: delays "
        "and lags of the drives are those of the file, do not identify them from this log"
        for _, clock in pairs
        if clock
    ]
    return [recording for recording, _ in pairs], notes


def _on_one_clock(recording: Recording, platform: Platform) -> tuple[Recording, float]:
    """Return `synchronised`, if the machine of the file predicts better with it.

    Commands of motors that stick lead the motion without any difference of clocks.
    """
    moved, clock_shift = synchronised(recording, platform)
    if clock_shift and file_error(platform, moved) > file_error(platform, recording):
        return recording, 0.0
    return moved, clock_shift


def _merged(
    platform: Platform,
    chosen: Sequence[Parameter],
    forces: ForceStage | None,
    predicted: PredictionStage | None,
    notes: Sequence[str],
    sources: tuple[Source, ...],
) -> Identification:
    """Return the result of both stages: predictions first, forces for what these do not show."""
    settled = () if predicted is None else (*predicted.parameters, *predicted.fixed)
    linear = None if forces is None else forces.estimate
    unsettled = [
        k
        for k, parameter in enumerate(() if linear is None else linear.parameters)
        if linear
        and parameter in chosen
        and parameter not in settled
        and parameter in linear.decision.free
    ]
    names: tuple[Parameter, ...] = ()
    values, covariance, margins = np.empty(0), np.empty((0, 0)), np.empty(0)
    if predicted is not None:
        names, values, covariance, margins = predicted[:4]
    if forces is not None and linear is not None and unsettled:
        names = (*names, *(linear.parameters[k] for k in unsettled))
        values = np.append(values, linear.values[unsettled])
        covariance = block_diag(covariance, linear.covariance[np.ix_(unsettled, unsettled)])
        # Forces of motors pass the drives, too, of which predictions miss something.
        is_withheld = forces.signal != "forces" and np.isinf(margins).any()
        margins = np.append(margins, np.where(is_withheld, np.inf, linear.margins[unsettled]))
    order = sorted(range(len(names)), key=lambda k: chosen.index(names[k]))
    names, values, margins = tuple(names[k] for k in order), values[order], margins[order]
    covariance = covariance[np.ix_(order, order)]
    fixed = tuple(parameter for parameter in chosen if parameter not in names)
    if not names:
        raise InputError(
            "parameters",
            f"{listed(parameter.path for parameter in fixed)} cannot be estimated: measured forces "
            "show their own scale, delay and biases, predictions show all other parameters",
        )
    if forces is None and any(parameter.path.startswith(FORCE_ERROR_PREFIX) for parameter in fixed):
        notes = [*notes, "scale, delay and biases of forces show in measured forces alone"]
    return Identification(
        before=platform,
        platform=with_parameters(platform, names, values),
        parameters=names,
        values=values,
        covariance=covariance,
        margins=margins,
        fixed=fixed,
        notes=(*notes, *(() if predicted is None else predicted.notes)),
        forces=forces,
        fits=predicted.fits if predicted else forces.fits if forces else (),
        errors=predicted.errors if predicted else None,
        whiteness=predicted.whiteness if predicted else None,
        patterns=predicted.patterns if predicted else (),
        sources=sources,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
