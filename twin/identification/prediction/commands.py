"""Recorded commands as the motors of a machine get them: converters, delay, current lag."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.identification.prediction.recording import Recording
from twin.kernels.plant import columns as column
from twin.model.machine_model import MachineModel

EVEN = 1e-9
"""Differences of what is left of a lag after each command, below which these are evenly spaced."""


def delayed_commands(
    recording: Recording, machine: MachineModel, constants: FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Return commands and feedforward `(k, n)` of a machine's motors; None: no feedforward.

    Commands pass the converters and the delay. Each step takes the mean of what is held over it,
    so that delays need not be whole steps. Forces also pass the lag of the current loop, in
    continuous time.

    Args:
        recording: of the commands.
        machine: with its delays and lags.
        constants: `(n, CONSTANTS)` of its drives.
        times: `(k + 1,)` [s] beginnings of all steps, and the end of the last one.
    """
    drives = [leg.drive for leg in machine.parameters.legs]
    delays = [0.0 if drive is None else drive.delay for drive in drives]
    none = [0.0] * len(drives)
    force = recording.mode == "force"
    lags = [0.0 if drive is None else drive.current_lag for drive in drives] if force else none
    limit, digit = (
        constants[:, [column.PEAK, column.EFFORT_DIGIT]].T
        if force
        else constants[:, [column.FASTEST, column.SPEED_DIGIT]].T
    )
    held = _converted(recording.commands, limit, digit)
    given = _means(recording.command_time, held, delays, lags, times)
    if recording.feedforward is None:
        return given, None
    limit, digit = constants[:, [column.PEAK, column.EFFORT_DIGIT]].T
    added = np.where(
        digit > 0.0, _converted(recording.feedforward, limit, digit), recording.feedforward
    )
    return given, _means(recording.command_time, added, delays, none, times)


def commands_key(machine: MachineModel, constants: FloatArray) -> bytes:
    """Return what `delayed_commands` depends on, of a machine with `constants` of its drives."""
    legs = [leg.drive for leg in machine.parameters.legs]
    times = [(0.0, 0.0) if each is None else (each.delay, each.current_lag) for each in legs]
    columns = [column.PEAK, column.FASTEST, column.EFFORT_DIGIT, column.SPEED_DIGIT]
    return np.array(times).tobytes() + constants[:, columns].tobytes()


def _converted(values: FloatArray, limit: FloatArray, digit: FloatArray) -> FloatArray:
    """Return values `(C, n)` as converters put them out, inside the limits `(n,)`."""
    found = np.clip(values, -limit, limit)
    for leg in np.flatnonzero(digit > 0.0):
        codes = np.round(found[:, leg] / digit[leg])
        found[:, leg] = digit[leg] * np.minimum(codes, limit[leg] / digit[leg] - 1.0)
    return found


def _means(
    at: FloatArray, held: FloatArray, delays: list[float], lags: list[float], times: FloatArray
) -> FloatArray:
    """Return the means over steps `(k, n)` of commands `(C, n)` from times `at`, late and lagging.

    What lags, y' = (u - y) / lag, has the integral of u less the lag times the change of y.
    """
    means = np.empty((len(times) - 1, held.shape[1]))
    for delay, lag in set(zip(delays, lags, strict=True)):
        legs = [own == (delay, lag) for own in zip(delays, lags, strict=True)]
        means[:, legs] = _late(at, held[:, legs], delay, lag, times)
    return means


def _late(
    at: FloatArray, command: FloatArray, delay: float, lag: float, times: FloatArray
) -> FloatArray:
    """Return what `_means` does, of legs with the same delay and lag [s]."""
    spans = np.diff(at)
    edges = np.maximum(times - delay, at[0])
    index = np.minimum(np.searchsorted(at, edges, side="right") - 1, len(at) - 1)
    total = np.zeros_like(command)
    np.cumsum(spans[:, None] * command[:-1], axis=0, out=total[1:])
    integral = total[index] + command[index] * (edges - at[index])[:, None]
    # The first command is held before its time.
    integral += command[0] * np.minimum(times - delay - at[0], 0.0)[:, None]
    if lag > 0.0:
        lagging = _lagging(command, np.exp(-spans / lag))
        left = np.exp((at[index] - edges) / lag)[:, None]
        integral -= lag * (command[index] + left * (lagging[index] - command[index]))
    return np.asarray(np.diff(integral, axis=0) / np.diff(times)[:, None])


def _lagging(command: FloatArray, left: FloatArray) -> FloatArray:
    """Return what lags behind commands `(C, n)`, of which a share `left` (C - 1,) is left."""
    from scipy.signal import lfilter

    if np.ptp(left) < EVEN:
        share = float(left.mean())
        first = share * command[:1]
        later, _ = lfilter([1.0 - share], [1.0, -share], command[:-1], axis=0, zi=first)
        return np.vstack([command[:1], later])
    found = np.empty_like(command)
    found[0] = command[0]
    for k, share in enumerate(left.tolist()):
        found[k + 1] = share * found[k] + (1.0 - share) * command[k]
    return found
