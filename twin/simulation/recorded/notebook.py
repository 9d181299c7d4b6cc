"""A recorded motion in a notebook: where it comes from, and two small charts."""

from __future__ import annotations

import html

from twin.charts.panels import columns
from twin.charts.small_chart import small_chart
from twin.simulation.recorded.figures import ANGLES, POSITIONS, degrees, displacement
from twin.simulation.recorded.motion import RecordedMotion


def notebook_html(motion: RecordedMotion) -> str:
    """Return HTML of a motion: its origin, displacement [mm] and attitude [deg] over time [s]."""
    lines = [
        f"{motion!r}"[1:-1],
        f"{motion.fidelity}, {1e3 * motion.timestep:g} ms, {motion.lengths.shape[1]} actuators",
    ]
    if motion.signals:
        lines.append(f"signals: {', '.join(motion.signals)}")
    if motion.stopped:
        lines.append(f"stopped: {motion.stopped}")
    text = "<br>".join(map(html.escape, lines))
    if not len(motion):
        return f"<div>{text}</div>"
    charts = (
        ("displacement [mm]", 1e3 * displacement(motion), POSITIONS),
        ("attitude [deg]", degrees(motion.pose), ANGLES),
    )
    drawn = "".join(
        small_chart(label, columns(motion.time, values, names), "time [s]")
        for label, values, names in charts
    )
    return f"<div>{text}<br>{drawn}</div>"
