"""Faults of a channel's times."""

from __future__ import annotations

import numpy as np

from twin.logs.channel import Channel
from twin.logs.log import Finding


def timing_findings(channel: Channel, largest_gap: float) -> list[Finding]:
    """Return gaps and clock steps of a channel, and whether it is empty.

    Args:
        channel: to check.
        largest_gap: median intervals between two samples that are no gap.
    """
    name, time = channel.name, channel.time
    if not len(time):
        return [Finding("empty", name, "has no samples")]
    found = []
    steps = np.diff(time)
    late = np.flatnonzero(steps <= 0.0)
    if late.size:
        row = int(late[0]) + 1
        what = "repeats" if steps[row - 1] == 0.0 else f"steps back by {-steps[row - 1]:.6g} s"
        message = f"the clock {what}, {late.size} times in all; sort or cut the record there"
        found.append(Finding("clock", name, message, float(time[row])))
    forward = steps[steps > 0.0]
    if forward.size:
        usual = float(np.median(forward))
        gaps = np.flatnonzero(steps > largest_gap * usual)
        if gaps.size:
            row = int(gaps[0])
            message = f"{steps[row]:.6g} s without samples, which usually are {usual:.6g} s apart"
            more = f"; {gaps.size} gaps in all, {steps[gaps].sum():.6g} s" if gaps.size > 1 else ""
            found.append(Finding("gap", name, message + more, float(time[row])))
    return found
