"""Pieces of logs without gaps: nothing is made up for samples that are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twin.errors import InputError
from twin.identification.linear.samples import COORDINATES, FORCES
from twin.logs import Log

SIGNALS = (*COORDINATES, *FORCES, "command_rates")
"""That an identification reads."""

BESIDE = ("accelerometer", "gyroscope", "position_noise", "angle_noise")
"""That it reads as well; gaps in these do not matter."""

LARGEST_GAP = 10.0
"""Median intervals between two samples that are no gap; as of `check_log`."""

SHORTEST = 1.0
"""[s] of a piece."""


def pieces(logs: Sequence[Log], window: float) -> tuple[list[Log], list[str]]:
    """Return logs cut at the gaps of their signals, and sentences on what was left out.

    Pieces are those of 1 s or of twelve windows, whichever is longer. Logs without gaps stay whole.

    Args:
        logs: in signals of a machine.
        window: of predictions [s].

    Raises:
        InputError: no piece of a log is long enough.
    """
    kept, notes, least = list[Log](), list[str](), max(SHORTEST, 12.0 * window)
    for log in logs:
        gaps = sorted(_gaps(log))
        if not gaps:
            kept.append(log)
            continue
        start, stop = log.span
        starts = np.maximum.accumulate([start, *(end for _, end, _ in gaps)])
        stops = [*(begin for begin, _, _ in gaps), stop]
        long = [(a, b) for a, b in zip(starts, stops, strict=True) if b - a >= least]
        names = ", ".join(sorted({name for _, _, name in gaps}))
        text = f"{len(gaps)} gaps in {names}, the first of them at {gaps[0][0]:.6g} s"
        if not long:
            raise InputError("log", f"has {text}: no piece without gaps is {least:.3g} s long")
        kept += [log.between(a, np.nextafter(b, np.inf)) for a, b in long]
        left = stop - start - sum(b - a for a, b in long)
        notes.append(f"a log has {text}: it was cut there, and {left:.3g} s are left out")
    return kept, notes


def _gaps(log: Log) -> list[tuple[float, float, str]]:
    """Return begin and end [s] of each gap, and the signal that has it."""
    found = []
    for channel in log.channels:
        steps = np.diff(channel.time)
        if channel.name not in SIGNALS or not (steps > 0.0).any():
            continue
        rows = np.flatnonzero(steps > LARGEST_GAP * np.median(steps[steps > 0.0]))
        ends = zip(channel.time[rows].tolist(), channel.time[rows + 1].tolist(), strict=True)
        found += [(begin, end, channel.name) for begin, end in ends]
    return found
