"""Appearance of machines in every engine: colours and plates, none of them with mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only

Color = tuple[float, float, float, float]

COLORS: dict[str, Color] = {
    "base": (0.50, 0.53, 0.57, 1.0),
    "housing": (0.16, 0.34, 0.55, 1.0),
    "rod": (0.80, 0.82, 0.85, 1.0),
    "joint": (0.16, 0.17, 0.19, 1.0),
    "platform": (0.93, 0.94, 0.95, 1.0),
    "heading": (0.93, 0.42, 0.13, 1.0),
    "spring": (0.85, 0.65, 0.20, 1.0),
    "occupant": (0.55, 0.63, 0.58, 1.0),
    "ball": (0.80, 0.16, 0.13, 1.0),
    "ball_plate": (0.93, 0.94, 0.95, 0.45),
}
"""Red, green, blue, opacity of each kind of part; `heading` marks the platform's x axis."""


class Ends(NamedTuple):
    """Dimensions [m] of the parts drawn at the ends of a machine's legs."""

    base_radius: float
    """of the balls at the base joints"""
    platform_radius: float
    """of the balls at the platform joints"""
    margin: float
    """from the platform joints out to the edge of the plate"""
    rise: float
    """from the platform joints up to the plate"""


class Drawing(NamedTuple):
    """Dimensions [m] of the parts that all legs share, as drawn."""

    base_joint_radius: float
    """of the balls drawn at the base joints"""
    platform_joint_radius: float
    base_radius: float
    """of the round base plate about the base frame's z axis"""
    base_top: float
    """height of the base plate's upper face in the base frame"""
    base_thickness: float
    platform_radius: float
    """of a round platform plate about the platform frame's z axis"""
    platform_outline: FloatArray
    """`(m, 2)` corners of a platform plate in the platform frame, one per joint where possible"""
    platform_bottom: float
    """height of the platform plate's lower face in the platform frame"""
    platform_thickness: float

    @property
    def floor(self) -> float:
        """Height [m] of the floor in the base frame: the base plate stands on it."""
        return self.base_top - self.base_thickness


def balls(base: float, platform: float) -> Ends:
    """Return ends with balls of these radii [m], the plate standing on those of the platform."""
    return Ends(base, platform, margin=1.8 * platform, rise=0.8 * platform)


def drawing(base: FloatArray, top: FloatArray, thickness: float, ends: Ends) -> Drawing:
    """Return the dimensions of a machine as drawn.

    Args:
        base: `(n, 3)` base joints [m], base frame.
        top: `(n, 3)` platform joints [m], platform frame.
        thickness: of the platform's plate [m].
        ends: of the legs.
    """
    base_ball, platform_radius = ends.base_radius, ends.margin
    platform_radius += float(np.linalg.norm(top[:, :2], axis=1).max())
    return Drawing(
        base_joint_radius=base_ball,
        platform_joint_radius=ends.platform_radius,
        base_radius=float(np.linalg.norm(base[:, :2], axis=1).max()) + 2.0 * base_ball,
        base_top=float(base[:, 2].min()) - 1.3 * base_ball,
        base_thickness=1.5 * thickness,
        platform_radius=platform_radius,
        platform_outline=_outline(top[:, :2], platform_radius, ends.margin),
        platform_bottom=float(top[:, 2].max()) + ends.rise,
        platform_thickness=thickness,
    )


def _outline(points: FloatArray, radius: float, margin: float) -> FloatArray:
    """Return the joints' places moved out by a margin; a circle if they lie on a line."""
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if spread[1] < 1e-2 * radius:
        angles = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
        return read_only(radius * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    distances = np.maximum(np.linalg.norm(points, axis=1), max(margin, 1e-2 * radius))
    return read_only(points * (1.0 + margin / distances)[:, None])
