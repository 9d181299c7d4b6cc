"""Linear stage of an identification: what measured forces or currents say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.charts.text import number
from twin.errors import InputError
from twin.identification.linear import (
    BaseParameters,
    ForceSamples,
    LinearModel,
    base_parameters,
    linear_estimate,
    linear_model,
    linear_part,
    of_drives,
    samples_of_log,
)
from twin.identification.linear.model import DELAY, joined
from twin.identification.parameters import Parameter, signal_errors
from twin.identification.parameters.added import added
from twin.identification.result.identification import Fit, ForceStage
from twin.identification.visibility import Choice
from twin.logs import Log

MEASURED = ("forces", "motor_forces")
"""Signals of forces, those of the legs before those that drives know of their motors."""

UNEXPLAINED = 0.5
"""Adopted: share of the forces that no parameters explain, from which on the signal is wrong."""


def force_stage(
    platform: Platform,
    logs: Sequence[Log],
    parameters: Sequence[Parameter],
    *,
    unseen: Choice,
    apart: float,
    force_per_current: float | None,
) -> ForceStage | None:
    """Return what measured forces say; None without any, or where they depend on no parameter.

    The delay between forces and motion is always estimated as well: otherwise it looks like inertia
    and centre of mass. So are friction and inertia of the drives beside forces of motors.

    Args:
        platform: the machine as its file has it.
        logs: used are those with `forces`, `motor_forces`, or `currents` where `force_per_current`
            is known.
        parameters: any.
        unseen: "hold" holds what does not show; otherwise the priors decide.
        apart: share of each log, at its end, that only tests the result.
        force_per_current: [N/A] or [N m/A].

    Raises:
        InputError: logs that are too short, or forces that are not those of this machine.
        ForwardKinematicsError: coordinates that no pose has.
    """
    signals = MEASURED if force_per_current is None else (*MEASURED, "currents")
    given = [log for log in logs if any(name in log for name in signals)]
    samples = [samples_of_log(platform, log, force_per_current=force_per_current) for log in given]
    asked = linear_part(platform, parameters, samples[0].where) if samples else ()
    if not asked:
        return None
    more = (added(platform)[DELAY], *of_drives(platform, asked, samples[0].where))
    every = tuple({each.path: each for each in (*asked, *more)}.values())
    used, kept = zip(*(_parts(each, apart) for each in samples), strict=True)
    choice: Choice = "hold" if unseen == "hold" else "prior"
    estimate = linear_estimate(platform, every, used, choice=choice)
    tested = joined([linear_model(platform, estimate.parameters, each) for each in kept])
    fits = (
        _fit("identified from", estimate.model, estimate.values),
        _fit("kept apart", tested, estimate.values),
    )
    signal, whole = next(n for n in signals if n in given[0]), estimate.model.measured
    size = float(np.sqrt((whole**2).mean()))
    if fits[0].after > UNEXPLAINED * size:
        raise InputError(
            signal,
            f"are not those of this machine: of {size:.4g} {platform.force_unit} rms the model "
            f"leaves {fits[0].after:.4g}; check sign, unit and order of the legs, or leave the "
            "channel out with a mapping file",
        )
    base = base_parameters(estimate.model, estimate.values)
    return ForceStage(signal, estimate, base, fits, force_per_current or 1.0, tested)


def mapping_lines(platform: Platform, stage: ForceStage) -> list[str]:
    """Return the lines of a mapping file that correct the signal of a linear stage.

    Scale and bias become `unit` and `offset` of forces, the delay `delay`; the scale of currents is
    a force per current, which a comment names.
    """
    errors = signal_errors(platform, stage.estimate.parameters, stage.estimate.values)["forces"]
    lines, unit = [f"[signals.{stage.signal}]"], platform.force_unit
    if stage.signal == "currents":
        unit = "A"
        lines.append(
            f"# {number(stage.force_per_current / errors.scale, 6)} {platform.force_unit}/A"
        )
    elif errors.scale != 1.0:
        lines.append(f'unit = "{1.0 / errors.scale:.6g} {unit}"')
    if errors.bias.any():
        offsets = -errors.bias / (errors.scale * stage.force_per_current)
        lines.append("offset = [" + ", ".join(f'"{each:.5g} {unit}"' for each in offsets) + "]")
    return [*lines, f'delay = "{1e3 * errors.delay:.4g} ms"']


def base_rows(base: BaseParameters) -> list[tuple[str, float, float, float, str]]:
    """Return words, value of the file, estimate, standard error and unit of base parameters.

    Left out are those of which the forces say less than the file.
    """
    rows = zip(base.words, base.nominal, base.values, base.standard_errors, base.units, strict=True)
    return [row for row, spread in zip(rows, base.spreads, strict=True) if row[3] < spread]


def _parts(samples: ForceSamples, apart: float) -> tuple[ForceSamples, ForceSamples]:
    at = round((1.0 - apart) * len(samples.pose))
    return samples.part(slice(at)), samples.part(slice(at, None))


def _fit(part: str, model: LinearModel, values: Any) -> Fit:
    """Return the errors of forces with the nominal values and with others."""
    nominal = [each.nominal for each in model.parameters]
    sizes = [_size(model.measured - model.predicted(each)) for each in (nominal, values)]
    return Fit(part, len(model.measured), *sizes)


def _size(errors: FloatArray) -> float:
    return float(np.sqrt((errors**2).mean()))
