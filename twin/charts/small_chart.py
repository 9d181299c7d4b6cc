"""A small chart of some curves as SVG text, for pages that load no library."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from twin.basics.arrays import FloatArray
from twin.charts.panels import Line
from twin.charts.style import curve_color

WIDTH, HEIGHT = 360, 130
LEFT, TOP, RIGHT, BOTTOM = 52, 18, 8, 30
"""[pixels] around the curves, for numbers and names."""

MOST = 400
"""Points drawn of a curve."""


def small_chart(label: str, lines: Sequence[Line], x_label: str) -> str:
    """Return an SVG element with curves over a common axis, their ranges and names.

    Args:
        label: of the y axis, with its unit.
        lines: curves `(k,)` of finite numbers.
        x_label: of the x axis, with its unit.
    """
    x = _range(np.concatenate([line.x for line in lines]))
    y = _range(np.concatenate([line.y for line in lines]))
    text = '<text x="{}" y="{}" text-anchor="{}">{}</text>'
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" '
        'fill="none" stroke="#bbb"/>',
        text.format(LEFT, 12, "start", html.escape(label)),
        text.format(LEFT - 4, TOP + 9, "end", f"{y[1]:.3g}"),
        text.format(LEFT - 4, bottom, "end", f"{y[0]:.3g}"),
        text.format(LEFT, bottom + 12, "start", f"{x[0]:.3g}"),
        text.format(right, bottom + 12, "end", f"{x[1]:.3g}"),
        text.format((LEFT + right) // 2, HEIGHT - 6, "middle", html.escape(x_label)),
    ]
    for number, line in enumerate(lines):
        color = curve_color(number)
        rows = np.unique(np.linspace(0, len(line.x) - 1, min(len(line.x), MOST)).astype(int))
        across = LEFT + (line.x[rows] - x[0]) / (x[1] - x[0]) * (right - LEFT)
        down = bottom - (line.y[rows] - y[0]) / (y[1] - y[0]) * (bottom - TOP)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}"/>')
        name = text.format(
            right - 40 * (len(lines) - 1 - number), 12, "end", html.escape(line.name)
        )
        parts.append(name.replace("<text", f'<text fill="{color}"'))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="10" '
        f'fill="#444" style="background:#fff">{"".join(parts)}</svg>'
    )


def _range(values: FloatArray) -> tuple[float, float]:
    """Return the ends of an axis; of values that are equal to rounding, a little around them."""
    low, high = float(values.min()), float(values.max())
    room = max(1e-9, 1e-6 * max(abs(low), abs(high)))
    return (low, high) if high - low > room else (low - room, high + room)
