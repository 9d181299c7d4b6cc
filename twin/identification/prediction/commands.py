"""Recorded commands as the motors of a machine get them: converters, delay, current lag."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.prediction.recording import Recording
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel


def delayed_commands(
    recording: Recording, machine: MachineModel, constants: FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Return commands and feedforward `(k, n)` of a machine's motors; None: no feedforward.

    Commands pass the converters and the delay. Each step takes the mean of what is held over it,
    so that delays need not be whole steps. Forces also pass the lag of the current loop.

    Args:
        recording: of the commands.
        machine: with its delays.
        constants: `(n, CONSTANTS)` of its drives, for steps as long as those of `times`.
        times: `(k + 1,)` [s] beginnings of all steps, and the end of the last one.
    """
    delays = [0.0 if leg.drive is None else leg.drive.delay for leg in machine.parameters.legs]
    force = recording.mode == "force"
    limit, digit = (
        constants[:, [column.PEAK, column.EFFORT_DIGIT]].T
        if force
        else constants[:, [column.FASTEST, column.SPEED_DIGIT]].T
    )
    given = _shifted(recording, _converted(recording.commands, limit, digit), delays, times)
    if force:
        _lag(given, constants)
    if recording.feedforward is None:
        return given, None
    limit, digit = constants[:, [column.PEAK, column.EFFORT_DIGIT]].T
    added = np.where(
        digit > 0.0, _converted(recording.feedforward, limit, digit), recording.feedforward
    )
    return given, _shifted(recording, added, delays, times)


def _converted(values: FloatArray, limit: FloatArray, digit: FloatArray) -> FloatArray:
    """Return values `(C, n)` as converters put them out, inside the limits `(n,)`."""
    found = np.clip(values, -limit, limit)
    for leg in np.flatnonzero(digit > 0.0):
        codes = np.round(found[:, leg] / digit[leg])
        found[:, leg] = digit[leg] * np.minimum(codes, limit[leg] / digit[leg] - 1.0)
    return found


def _shifted(
    recording: Recording, held: FloatArray, delays: list[float], times: FloatArray
) -> FloatArray:
    """Return the means over steps `(k, n)` of commands `(C, n)` that are held and come later."""
    at = recording.command_time
    spans = np.diff(at)[:, None] * held[:-1]
    total = np.concatenate([np.zeros((1, held.shape[1])), np.cumsum(spans, axis=0)])
    means = np.empty((len(times) - 1, held.shape[1]))
    for leg, delay in enumerate(delays):
        edges = times - delay
        integral = np.interp(edges, at, total[:, leg])
        # The first command is held before its time, the last one after it.
        integral += held[0, leg] * np.minimum(edges - at[0], 0.0)
        integral += held[-1, leg] * np.maximum(edges - at[-1], 0.0)
        means[:, leg] = np.diff(integral) / np.diff(times)
    return means


def _lag(given: FloatArray, constants: FloatArray) -> None:
    """Pass forces `(k, n)` through the current loops, in place: e' = u + lag (e - u)."""
    from scipy.signal import lfilter

    for leg, drive in enumerate(constants):
        lag, mean = drive[column.LAG], drive[column.LAG_MEAN]
        force = given[:, leg]
        after, _ = lfilter([1.0 - lag], [1.0, -lag], force, zi=[lag * force[0]])
        before = np.concatenate([force[:1], after[:-1]])
        force += mean * (before - force)
