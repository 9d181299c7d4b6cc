"""A chart with logarithmic axes as SVG text, in the colours of the page around it."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np

from twin.charts.style import curve_color
from twin.validation.case import Curve

WIDTH, HEIGHT = 640.0, 360.0
"""[user units]"""

LEFT, RIGHT, TOP, BOTTOM = 62.0, 12.0, 14.0, 44.0
"""[user units] around the axes."""

ROW = 17.0
"""[user units] of the legend, below."""

MARKS = ("0", "6 4", "2 3", "8 3 2 3")
"""Dashes by curve, so that curves on each other stay visible."""


class Scale:
    """One logarithmic axis."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        """Cover positive `values`, rounded outwards, between two positions on the sheet."""
        self.low, self.high = math.log10(min(values)) - 0.12, math.log10(max(values)) + 0.12
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        """Return where a value is."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return values inside with their labels: powers of ten, or halves and fifths of them."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        if len(powers) > 4:
            inside = [power for power in powers if self.low <= power <= self.high]
            return [(10.0**power, _power(power)) for power in inside[:: 1 + len(inside) // 9]]
        values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        return [
            (value, f"{value:g}") for value in values if self.low <= math.log10(value) <= self.high
        ]


def log_chart(title: str, curves: Sequence[Curve], x_label: str, y_label: str) -> str:
    """Return an SVG element; values that are not above zero are left out."""
    shown = [(curve.name, *_positive(curve)) for curve in curves]
    x = Scale([value for _, xs, _ in shown for value in xs], LEFT, WIDTH - RIGHT)
    y = Scale([value for _, _, ys in shown for value in ys], HEIGHT - BOTTOM, TOP)
    parts = [_axes(x, y, x_label, y_label)]
    for k, (name, xs, ys) in enumerate(shown):
        pairs = [f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in zip(xs, ys, strict=True)]
        stroke = f'stroke="{curve_color(k)}" stroke-dasharray="{MARKS[k % len(MARKS)]}"'
        parts.append(f'<polyline class="curve" points="{" ".join(pairs)}" {stroke}/>')
        for pair in pairs:
            a, b = pair.split(",")
            parts.append(f'<circle cx="{a}" cy="{b}" r="3.5" fill="{curve_color(k)}"/>')
        row = HEIGHT + ROW * (k + 0.4)
        parts.append(f'<path class="curve" d="M{LEFT} {row - 4:.1f}h28" {stroke}/>')
        parts.append(f'<text class="name" x="{LEFT + 36}" y="{row:.1f}">{html.escape(name)}</text>')
    height = HEIGHT + ROW * len(shown)
    return (
        f'<svg class="chart" role="img" aria-label="{html.escape(title, quote=True)}" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="{WIDTH:.0f}">{"".join(parts)}</svg>'
    )


def _positive(curve: Curve) -> tuple[list[float], list[float]]:
    kept = (np.asarray(curve.x) > 0.0) & (np.asarray(curve.y) > 0.0)
    return np.asarray(curve.x)[kept].tolist(), np.asarray(curve.y)[kept].tolist()


def _axes(x: Scale, y: Scale, x_label: str, y_label: str) -> str:
    parts = [
        f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{HEIGHT - TOP - BOTTOM}"/>'
    ]
    for value, label in x.ticks():
        at = x.place(value)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 17}">{label}</text>')
    for value, label in y.ticks():
        at = y.place(value)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 7}" y="{at + 4:.1f}">{label}</text>')
    middle_x, middle_y = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text x="{middle_x}" y="{HEIGHT - 10}">{html.escape(x_label)}</text>')
    turned = f"translate(14 {middle_y}) rotate(-90)"
    parts.append(f'<text transform="{turned}">{html.escape(y_label)}</text>')
    return "".join(parts)


def _power(power: int) -> str:
    return f'10<tspan dy="-5" font-size="9">{power}</tspan>'.replace(">-", ">\N{MINUS SIGN}")
