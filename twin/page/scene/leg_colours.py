"""Colours of legs by the share of their peak force, or of the stroke left to a limit."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray, one_of
from twin.errors import InputError

Colouring = Literal["none", "force", "stroke"]

COLOURINGS: tuple[Colouring, ...] = ("none", "force", "stroke")
"""Their own colours; share of the peak force or torque; share of the stroke left to a limit."""

BLUE, GREEN, YELLOW, RED = (
    (0.16, 0.42, 0.80),
    (0.13, 0.66, 0.38),
    (0.95, 0.78, 0.15),
    (0.78, 0.14, 0.14),
)

SCALES = {"force": (BLUE, GREEN, YELLOW, RED), "stroke": (RED, YELLOW, GREEN)}
"""Red, green, blue from 0 to 1 in equal steps."""

LEVELS = 32
"""Number of colours of a scale; values within one of them look the same."""

TITLES = {"force": "Leg force, share of its peak", "stroke": "Stroke left to the nearest limit"}

TICKS = {"force": ("0", "50 %", "100 %"), "stroke": ("at the limit", "50 %", "mid-stroke")}

Colour = tuple[int, int, int]
"""Red, green, blue from 0 to 255."""


def as_bytes(colour: Any) -> Colour:
    """Return red, green and blue from 0 to 1 as bytes."""
    red, green, blue = (round(255.0 * float(part)) for part in colour[:3])
    return red, green, blue


def levels(values: Any, count: int) -> IndexArray:
    """Return the indices `(n,)` of values on a scale of `LEVELS` colours, -1 for NaN.

    Args:
        values: `(n,)`, clipped to 0 and 1.
        count: n.

    Raises:
        InputError: wrong shape, not numbers.
    """
    try:
        given = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("values", "must be numbers") from None
    if given.shape != (count,):
        raise InputError("values", f"must have shape ({count},), not {given.shape}")
    unknown = np.isnan(given)
    share = np.clip(np.where(unknown, 0.0, given), 0.0, 1.0)
    return np.where(unknown, -1, np.rint(share * (LEVELS - 1))).astype(np.int64)


def palette(colouring: Colouring) -> FloatArray:
    """Return the colours `(LEVELS, 3)` of a scale, red, green and blue from 0 to 1.

    Raises:
        InputError: no such scale.
    """
    stops = np.array(SCALES[one_of(colouring, "colouring", tuple(SCALES))])
    places = np.linspace(0.0, len(stops) - 1.0, LEVELS)
    return np.stack([np.interp(places, np.arange(len(stops)), part) for part in stops.T], axis=1)


def legend(colouring: Colouring) -> str:
    """Return the legend of a colouring as HTML; empty for "none".

    Raises:
        InputError: no such colouring.
    """
    if one_of(colouring, "colouring", COLOURINGS) == "none":
        return ""
    stops = ", ".join(f"rgb{as_bytes(stop)}" for stop in SCALES[colouring])
    ticks = "".join(f"<span>{tick}</span>" for tick in TICKS[colouring])
    return (
        f'<div class="legend" style="font-size: 0.8em; padding: 0 0.75em">{TITLES[colouring]}'
        f'<div style="height: 0.6em; border-radius: 0.3em; margin: 0.25em 0;'
        f' background: linear-gradient(to right, {stops})"></div>'
        f'<div style="display: flex; justify-content: space-between">{ticks}</div></div>'
    )
