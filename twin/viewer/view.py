"""Views: directions of the camera, and distances from which a whole machine fits a picture."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, one_of


class View(NamedTuple):
    """Direction of looking."""

    azimuth: float
    """[deg] in which the camera looks, about the vertical: 0 along x of the base, 90 along y"""
    elevation: float
    """[deg] negative: down on the machine"""


VIEWS = {
    "overview": View(140.0, -24.0),
    "front": View(180.0, -8.0),
    "side": View(90.0, -8.0),
    "top": View(90.0, -89.0),
}
"""Views by name; x of the base is ahead, so `front` looks back along it."""

MAX_PIXELS = 4096
"""Largest width or height of a picture: what graphics libraries draw at once."""

MARGIN = 1.2
"""Room around a machine at home, in its own size: platforms move."""

CLOSE = 1.03
"""Room around all that a machine does, in the size of that."""


def as_view(value: Any) -> View:
    """Return a view by its name, or of azimuth and elevation [deg].

    Raises:
        InputError: no such name, not two finite numbers.
    """
    if isinstance(value, str):
        return VIEWS[one_of(value, "view", VIEWS)]
    return View(*as_vector(value, "view", 2).tolist())


class Framing(NamedTuple):
    """Target of the camera, and its distance."""

    target: FloatArray
    """`(3,)` [m]"""
    distance: float
    """[m]"""


def framing(
    corners: FloatArray, view: View, fovy: float, aspect: float, margin: float = MARGIN
) -> Framing:
    """Return the shortest distance from which all `corners` `(k, 3)` [m] are seen, and its target.

    Args:
        corners: points that shall be seen.
        view: the direction of looking.
        fovy: opening angle [deg] over the picture's height.
        aspect: width over height of the picture.
        margin: size of the picture's content, in that of what must be seen.
    """
    azimuth, elevation = np.radians(view)
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0]) * np.cos(elevation)
    ahead[2] = np.sin(elevation)
    right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
    across = np.stack([right, np.cross(right, ahead)], axis=1)
    slopes = np.tan(0.5 * np.radians(fovy)) * np.array([aspect, 1.0])
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    distance = 0.0
    for _ in range(8):
        # What is nearer looks larger: move the target until both edges are as far from the frame.
        offsets = corners - middle
        deep = offsets @ ahead
        sides = offsets @ across * margin / slopes
        distance = float((np.abs(sides) - deep[:, None]).max())
        seen = sides / (distance + deep)[:, None]
        shift = 0.5 * (seen.min(axis=0) + seen.max(axis=0)) * slopes * distance / margin
        middle = middle + across @ shift
    return Framing(middle, distance)
