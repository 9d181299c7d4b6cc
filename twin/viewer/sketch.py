"""A small drawing of a machine at home, as SVG text: parallel projection, no library."""

from __future__ import annotations

import html
from collections.abc import Iterator

import numpy as np
from scipy.spatial import ConvexHull

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.assembly import make_mechanism
from twin.engines.mechanism.mechanism import Mechanism
from twin.machine.mechanism.appearance import COLORS
from twin.machine.mechanism.parts import BASE, PLATFORM
from twin.machine.mechanism.shapes import Ball, Box, Cylinder, Plate, Shape
from twin.model.machine_model import MachineModel
from twin.viewer.bodies.drawing import drawn_mesh

AZIMUTH, ELEVATION = np.radians(-62.0), np.radians(20.0)
"""Direction from which the machine is seen: about z from x, and above the horizon."""

LARGER_SIDE = 400.0
"""[user units] of the picture."""

CIRCLE = np.linspace(0.0, 2.0 * np.pi, 73)[:-1]

INSIDE = 1e3
"""[m] by which rods are drawn farther away than the other parts of their leg."""

Part = tuple[float, str]
"""How near it is to the viewer (near parts hide others), and its SVG."""


def sketch_svg(platform: MachineModel) -> str:
    """Return an SVG element that shows base, legs and platform at home."""
    mechanism, drawing = make_mechanism(platform.parameters), platform.parameters.appearance
    corners: list[FloatArray] = []
    floor = _cylinder(mechanism.base_plate, np.eye(3), np.zeros(3), corners)[1]
    legs: dict[str, list[Part]] = {}
    plates = ""
    for owner, shape, turn, place in _placed(mechanism):
        if owner == PLATFORM and drawing is not None:
            if isinstance(shape, Plate):
                points = drawn_mesh(drawing).vertices @ turn.T + place
                plates += _outline(points, shape.color, corners)
        elif isinstance(shape, Plate):
            plates += _plate(shape, turn, place, corners)
        elif isinstance(shape, Box):
            plates += _box(shape, turn, place)
        elif isinstance(shape, Cylinder):
            near, svg = _cylinder(shape, turn, place, corners)
            # A rod inside its housing is hidden, however near its middle is.
            inside = INSIDE if shape.color == "rod" else 0.0
            legs.setdefault(owner, []).append((near - inside, svg))
        else:
            legs.setdefault(owner, []).append(_ball(shape, turn, place, corners))
    order = sorted(legs.values(), key=lambda parts: max(near for near, _ in parts))
    drawn = np.concatenate(corners)[:, :2]
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    margin = 0.02 * float((high - low).max())
    x, y = low - margin
    width, height = high - low + 2 * margin
    scale = LARGER_SIDE / max(width, height)
    name = html.escape(f"{platform.name} at home", quote=True)
    shapes = [floor, *(svg for parts in order for _, svg in sorted(parts)), plates]
    return (
        f'<svg role="img" aria-label="{name}" viewBox="{x:.4g} {y:.4g} {width:.4g} {height:.4g}" '
        f'width="{scale * width:.0f}" height="{scale * height:.0f}" stroke-linejoin="round">'
        f"{''.join(shapes)}</svg>"
    )


def _placed(mechanism: Mechanism) -> Iterator[tuple[str, Shape, FloatArray, FloatArray]]:
    """Yield every shape with its leg, and rotation and place of its body's frame at home."""
    frames = {BASE: (np.eye(3), np.zeros(3))}
    for shape in mechanism.base_shapes:
        yield shape.name, shape, *frames[BASE]
    for body in mechanism.bodies:
        turn, place = frames[body.parent]
        place = place + turn @ body.position
        turn = turn if body.rotation is None else turn @ body.rotation
        frames[body.name] = (turn, place)
        for shape in body.shapes:
            yield "_".join(body.name.split("_")[:2]), shape, turn, place


def _project(points: FloatArray) -> FloatArray:
    """Return `(m, 3)`: right, down and towards the viewer."""
    right = [-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0]
    toward = [
        np.cos(ELEVATION) * np.cos(AZIMUTH),
        np.cos(ELEVATION) * np.sin(AZIMUTH),
        np.sin(ELEVATION),
    ]
    return np.asarray(points @ np.stack([right, -np.cross(toward, right), toward], axis=1))


def _cylinder(
    shape: Cylinder, turn: FloatArray, place: FloatArray, corners: list[FloatArray]
) -> Part:
    """Return a thin cylinder as a line with an edge, a flat one as two faces joined by a side."""
    ends = np.stack([shape.start, shape.end]) @ turn.T + place
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    if length < shape.radius:
        axis = along / length
        first = np.cross(axis, turn[:, int(np.abs(turn.T @ axis).argmin())])
        first /= np.linalg.norm(first)
        second = np.cross(axis, first)
        ring = shape.radius * np.stack([np.cos(CIRCLE), np.sin(CIRCLE)], axis=1)
        ring = ring @ np.stack([first, second])
        faces = sorted((end + ring for end in ends), key=lambda face: float(face[:, 2].mean()))
        corners += [_project(face) for face in faces]
        return float(_project(ends)[:, 2].mean()), _slab(faces, shape.color)
    start, end = drawn = _project(ends)
    corners.append(np.concatenate([drawn - shape.radius, drawn + shape.radius]))
    line = f'x1="{start[0]:.4f}" y1="{start[1]:.4f}" x2="{end[0]:.4f}" y2="{end[1]:.4f}"'
    width = 2.0 * shape.radius
    return float(drawn[:, 2].mean()), (
        f'<line {line} stroke="{_rgb(shape.color, 0.62)}" stroke-width="{width:.4f}"/>'
        f'<line {line} stroke="{_rgb(shape.color)}" stroke-width="{0.7 * width:.4f}"/>'
    )


def _ball(shape: Ball, turn: FloatArray, place: FloatArray, corners: list[FloatArray]) -> Part:
    drawn = _project((turn @ shape.center + place)[None])
    corners.append(np.concatenate([drawn - shape.radius, drawn + shape.radius]))
    x, y, near = drawn[0]
    color = _rgb(shape.color)
    circle = f'<circle cx="{x:.4f}" cy="{y:.4f}" r="{shape.radius:.4f}" fill="{color}"/>'
    return float(near) + shape.radius, circle


def _plate(shape: Plate, turn: FloatArray, place: FloatArray, corners: list[FloatArray]) -> str:
    faces = []
    for height in (shape.bottom, shape.top):
        outline = np.column_stack([shape.outline, np.full(len(shape.outline), height)])
        faces.append(outline @ turn.T + place)
    corners += [_project(face) for face in faces]
    return _slab(faces, shape.color)


def _outline(points: FloatArray, color: str, corners: list[FloatArray]) -> str:
    """Return the outline of points `(v, 3)` [m], without its hollows."""
    seen = _project(points)
    corners.append(seen)
    return _polygon(list(seen[ConvexHull(seen[:, :2]).vertices, :2]), _rgb(color))


def _box(shape: Box, turn: FloatArray, place: FloatArray) -> str:
    """Return the upper face of a flat box."""
    x, y, z = 0.5 * np.asarray(shape.size)
    face = np.array([[-x, -y, z], [x, -y, z], [x, y, z], [-x, y, z]]) + shape.center
    return _polygon(list(_project(face @ turn.T + place)[:, :2]), _rgb(shape.color))


def _slab(faces: list[FloatArray], color: str) -> str:
    """Return a slab: its side as the lower face joined to the upper one, then the upper face."""
    lower, upper = (_project(face)[:, :2] for face in faces)
    side = ""
    for k in range(len(lower)):
        j = (k + 1) % len(lower)
        side += _polygon([lower[k], lower[j], upper[j], upper[k]], _rgb(color, 0.72))
    edge = f'stroke="{_rgb(color, 0.72)}" stroke-width="0.004"'
    return (
        _polygon(list(lower), _rgb(color, 0.72)) + side + _polygon(list(upper), _rgb(color), edge)
    )


def _polygon(points: list[FloatArray], fill: str, more: str = "") -> str:
    text = " ".join(f"{x:.4f},{y:.4f}" for x, y in points)
    return f'<polygon points="{text}" fill="{fill}" {more}/>'


def _rgb(kind: str, shade: float = 1.0) -> str:
    red, green, blue = (round(255 * shade * part) for part in COLORS[kind][:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
