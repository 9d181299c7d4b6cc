"""A sketch of a machine with its main dimensions: plan and side view at home, as SVG text."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.basics import canonical
from twin.basics.arrays import FloatArray

SIDE = 300.0
"""[user units] of the larger extent of each view."""

ROOM = 62.0
"""[user units] around a view, for its dimensions."""

TITLES = ("seen from above", "seen along y")


class View:
    """One parallel projection: which axes go right and up, and where on the sheet."""

    def __init__(self, right: int, up: int, points: FloatArray, scale: float, left: float) -> None:
        """Place the projection of `points` `(m, 3)` [m] with its left edge at `left`."""
        self.axes, self.scale, self.left = [right, up], scale, left
        low, high = points[:, self.axes].min(axis=0), points[:, self.axes].max(axis=0)
        self.origin = np.array([left + ROOM - scale * low[0], ROOM + scale * high[1]])
        self.right_edge = left + 2 * ROOM + scale * (high - low)[0]
        self.lower_edge = 2 * ROOM + scale * (high - low)[1]

    def place(self, point: FloatArray) -> FloatArray:
        """Return where a point `(3,)` [m] is on the sheet `(2,)`."""
        x, y = point[self.axes] * self.scale
        return np.asarray(self.origin + np.array([x, -y]))


def dimensions_svg(platform: Platform) -> str:
    """Return an SVG element in the colours of the page around it."""
    legs = _legs(platform)
    points = np.concatenate(legs)
    extents = np.ptp(points, axis=0)
    scale = SIDE / float(max(extents.max(), 1e-9))
    plan = View(0, 1, points, scale, 0.0)
    side = View(0, 2, points, scale, plan.right_edge)
    width, height = side.right_edge, max(plan.lower_edge, side.lower_edge)
    base = np.array([leg[0] for leg in legs])
    top = np.array([leg[-1] for leg in legs])
    parts = [_drawn(view, legs, top) + _directions(view) for view in (plan, side)]
    parts += [_number(plan, leg[0], i + 1) for i, leg in enumerate(legs)]
    parts += [
        _across(plan, base, 0, below=True),
        _across(plan, top, 0, below=False),
        _along(plan, base, 1),
        _across(side, base, 0, below=True),
        _along(side, np.stack([base.mean(axis=0), top.mean(axis=0)]), 2),
    ]
    parts += [
        f'<text x="{view.origin[0]:.0f}" y="{height - 4:.0f}" class="title">{title}</text>'
        for view, title in zip((plan, side), TITLES, strict=True)
    ]
    name = f"{platform.name} at home with dimensions in mm"
    return (
        f'<svg class="dimensions" role="img" aria-label="{name}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">{"".join(parts)}</svg>'
    )


def _legs(platform: Platform) -> list[FloatArray]:
    """Return the joints that each leg goes through at home, from the base up `(m, 3)` [m]."""
    parameters = platform.parameters
    lines = [
        leg.home_lines(place)
        for leg, place in zip(parameters.legs, parameters.home_leg_geometry, strict=True)
    ]
    return [np.stack([leg[0][0], *(start + along for start, along in leg)]) for leg in lines]


def _drawn(view: View, legs: list[FloatArray], top: FloatArray) -> str:
    centre = top.mean(axis=0)
    order = np.argsort(canonical.angles(*(top - centre)[:, [1, 0]].T))
    outline = " ".join(_pair(view.place(top[i])) for i in order)
    lines = [f'<polygon class="plate" points="{outline}"/>']
    for leg in legs:
        path = " ".join(_pair(view.place(joint)) for joint in leg)
        lines.append(f'<polyline class="leg" points="{path}"/>')
        for joint in leg:
            x, y = view.place(joint)
            lines.append(f'<circle class="joint" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
    return "".join(lines)


def _directions(view: View) -> str:
    """Return the axes of the base frame, in the lower left corner of a view."""
    right, up = ("xyz"[axis] for axis in view.axes)
    x, y = view.left + 14.0, view.lower_edge - 14.0
    return (
        f'<path class="dimension" d="M{x:.1f} {y:.1f}h26M{x:.1f} {y:.1f}v-26"/>'
        f"{_arrow(x + 26, y, 180)}{_arrow(x, y - 26, 90)}"
        f'<text x="{x + 34:.1f}" y="{y + 4:.1f}">{right}</text>'
        f'<text x="{x:.1f}" y="{y - 32:.1f}">{up}</text>'
    )


def _number(view: View, foot: FloatArray, number: int) -> str:
    """Return the number of a leg, outside its base joint."""
    x, y = view.place(foot)
    away = np.array([foot[0], -foot[1]])
    x, y = (x, y) + 13.0 * away / max(float(np.linalg.norm(away)), 1e-9)
    return f'<text class="number" x="{x:.1f}" y="{y + 4:.1f}">{number}</text>'


def _across(view: View, points: FloatArray, axis: int, *, below: bool) -> str:
    """Return the extent of points to the right, below or above the view."""
    low, high = points[points[:, axis].argmin()], points[points[:, axis].argmax()]
    (left, y1), (right, y2) = view.place(low), view.place(high)
    y = view.lower_edge - ROOM + 30.0 if below else ROOM - 30.0
    label = _millimetres(high - low, axis)
    return (
        f'<path class="dimension" d="M{left:.1f} {y1:.1f}V{y + (4 if below else -4):.1f}'
        f"M{right:.1f} {y2:.1f}V{y + (4 if below else -4):.1f}"
        f'M{left:.1f} {y:.1f}H{right:.1f}"/>{_arrow(left, y, 0)}{_arrow(right, y, 180)}'
        f'<text x="{(left + right) / 2:.1f}" y="{y - 5:.1f}">{label}</text>'
    )


def _along(view: View, points: FloatArray, axis: int) -> str:
    """Return the extent of points upwards, to the left of the view."""
    low, high = points[points[:, axis].argmin()], points[points[:, axis].argmax()]
    (x1, lower), (x2, upper) = view.place(low), view.place(high)
    x = view.right_edge - ROOM + 34.0
    return (
        f'<path class="dimension" d="M{x1:.1f} {lower:.1f}H{x + 4:.1f}'
        f'M{x2:.1f} {upper:.1f}H{x + 4:.1f}M{x:.1f} {lower:.1f}V{upper:.1f}"/>'
        f"{_arrow(x, upper, 90)}{_arrow(x, lower, 270)}"
        f'<text transform="translate({x - 5:.1f} {(lower + upper) / 2:.1f}) rotate(-90)">'
        f"{_millimetres(high - low, axis)}</text>"
    )


def _arrow(x: float, y: float, turn: int) -> str:
    place = f"translate({x:.1f} {y:.1f}) rotate({turn})"
    return f'<path class="head" transform="{place}" d="M0 0L9 -3V3Z"/>'


def _millimetres(extent: FloatArray, axis: int) -> str:
    return f"{1e3 * abs(extent[axis]):.4g}"


def _pair(point: FloatArray) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
