"""A small drawing of a machine at home, as SVG text: parallel projection, no library."""

from __future__ import annotations

import html

import numpy as np

from twin.arrays import FloatArray
from twin.engines.appearance import COLORS, Drawing, drawing
from twin.platform import Platform

AZIMUTH, ELEVATION = np.radians(-62.0), np.radians(20.0)
"""Direction from which the machine is seen: about z from x, and above the horizon."""

LARGER_SIDE = 400.0
"""[user units] of the picture."""

CIRCLE = np.linspace(0.0, 2.0 * np.pi, 73)[:-1]

Part = tuple[float, str]
"""How near it is to the viewer (near parts hide others), and its SVG."""


def sketch_svg(platform: Platform) -> str:
    """Return an SVG element that shows base, legs and platform at home."""
    parameters, look = platform.parameters, drawing(platform.parameters)
    circle = look.base_radius * np.stack([np.cos(CIRCLE), np.sin(CIRCLE)], axis=1)
    base = [
        np.column_stack([circle, np.full(len(circle), height)])
        for height in (look.base_top - look.base_thickness, look.base_top)
    ]
    outline, bottom = look.platform_outline, look.platform_bottom
    plate = [
        np.column_stack([outline, np.full(len(outline), height)]) @ parameters.home_rotation.T
        + parameters.home.position
        for height in (bottom, bottom + look.platform_thickness)
    ]
    legs = _legs(platform.base_joints, platform.base_joints + parameters.home_leg_vectors, look)
    shapes = [_plate(base, "base"), *(svg for _, svg in sorted(legs)), _plate(plate, "platform")]
    drawn = _project(np.concatenate([*base, *plate]))[:, :2]
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    margin = 0.02 * float((high - low).max())
    x, y = low - margin
    width, height = high - low + 2 * margin
    scale = LARGER_SIDE / max(width, height)
    name = html.escape(f"{platform.name} at home", quote=True)
    return (
        f'<svg role="img" aria-label="{name}" viewBox="{x:.4g} {y:.4g} {width:.4g} {height:.4g}" '
        f'width="{scale * width:.0f}" height="{scale * height:.0f}" stroke-linejoin="round">'
        f"{''.join(shapes)}</svg>"
    )


def _project(points: FloatArray) -> FloatArray:
    """Return `(m, 3)`: right, down and towards the viewer."""
    right = [-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0]
    toward = [
        np.cos(ELEVATION) * np.cos(AZIMUTH),
        np.cos(ELEVATION) * np.sin(AZIMUTH),
        np.sin(ELEVATION),
    ]
    return np.asarray(points @ np.stack([right, -np.cross(toward, right), toward], axis=1))


def _legs(base: FloatArray, tips: FloatArray, look: Drawing) -> list[Part]:
    parts = []
    for start, tip in zip(base, tips, strict=True):
        along = (tip - start) / np.linalg.norm(tip - start)
        housing = start + look.housing_length * along
        ends = _project(np.stack([start, housing, tip]))
        svg = _line(ends[1], ends[2], 2.0 * look.rod_radius, "rod")
        svg += _line(ends[0], ends[1], 2.0 * look.housing_radius, "housing")
        for end, radius in ((0, look.base_joint_radius), (2, look.platform_joint_radius)):
            x, y, _ = ends[end]
            svg += f'<circle cx="{x:.4f}" cy="{y:.4f}" r="{radius:.4f}" fill="{_rgb("joint")}"/>'
        parts.append((float(ends[:, 2].mean()), svg))
    return parts


def _line(start: FloatArray, end: FloatArray, width: float, kind: str) -> str:
    line = f'x1="{start[0]:.4f}" y1="{start[1]:.4f}" x2="{end[0]:.4f}" y2="{end[1]:.4f}"'
    return (
        f'<line {line} stroke="{_rgb(kind, 0.62)}" stroke-width="{width:.4f}"/>'
        f'<line {line} stroke="{_rgb(kind)}" stroke-width="{0.7 * width:.4f}"/>'
    )


def _plate(faces: list[FloatArray], kind: str) -> str:
    """Return a plate: its side as the lower face joined to the upper one, then the upper face."""
    lower, upper = (_project(face)[:, :2] for face in faces)
    side = ""
    for k in range(len(lower)):
        j = (k + 1) % len(lower)
        side += _polygon([lower[k], lower[j], upper[j], upper[k]], _rgb(kind, 0.72))
    edge = f'stroke="{_rgb(kind, 0.72)}" stroke-width="0.004"'
    return _polygon(list(lower), _rgb(kind, 0.72)) + side + _polygon(list(upper), _rgb(kind), edge)


def _polygon(points: list[FloatArray], fill: str, more: str = "") -> str:
    text = " ".join(f"{x:.4f},{y:.4f}" for x, y in points)
    return f'<polygon points="{text}" fill="{fill}" {more}/>'


def _rgb(kind: str, shade: float = 1.0) -> str:
    red, green, blue = (round(255 * shade * part) for part in COLORS[kind][:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
