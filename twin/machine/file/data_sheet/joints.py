"""Tables of the joints: three pairs on a circle, or the corners that pillars stand below."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.estimates import SHEET, quoted
from twin.machine.file.data_sheet.sheet import DataSheet

CORNERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Front right, front left, rear left, rear right; x is forward, y to the left."""


def joint_tables(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of base, platform and their joints."""
    yield from _pairs(sheet) if sheet.has_pairs else _pillars(sheet)


def outer_radius(sheet: DataSheet) -> float:
    """Return the radius [m] of a round plate over the joints; as large as a rectangle of them."""
    length, width = sheet.si("length"), sheet.si("width")
    if length is not None and width is not None:
        return math.sqrt(length * width / math.pi)
    return sheet.si("platform_radius") or 0.0


def _corners(sheet: DataSheet) -> FloatArray:
    """Return the corners `(3 or 4, 2)` [m] that pillars stand below."""
    length, width = sheet.si("length"), sheet.si("width")
    if length is not None and width is not None:
        return 0.5 * CORNERS * [length, width]
    angles = np.radians([0.0, 120.0, 240.0])
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.asarray((sheet.si("platform_radius") or 0.0) * circle)


def _pillars(sheet: DataSheet) -> Iterator[str]:
    rows = "".join(f"    [{x:.9g}, {y:.9g}, 0.0],\n" for x, y in _corners(sheet))
    for side in ("base", "platform"):
        source = f"{SHEET}; adopted: feet straight below the corners" if side == "base" else SHEET
        yield f'[{side}]\nsource = "{SHEET}"'
        if side == "platform":
            size = estimates.PLATE * outer_radius(sheet)
            yield f"thickness = {size:.4g}  # [m] for drawing only"
        yield f"""
[{side}.joints]
source = "{source}"
layout = "points"
coordinates = [
{rows}]
"""


def _pairs(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of the joints; the pairing with the shortest legs needs no `shift`."""
    for side, angle, thickness in (("base", 0, ""), ("platform", 60, sheet.platform_radius)):
        field, _ = sheet.spacing(side)
        yield f'[{side}]\nsource = "{SHEET}"'
        if thickness:
            size = estimates.PLATE * (sheet.si("platform_radius") or 0.0)
            yield f"thickness = {size:.4g}  # [m] for drawing only"
        yield f"""
[{side}.joints]  # three pairs on a circle
source = "{SHEET}"
layout = "paired_circle"
radius = {quoted(getattr(sheet, f"{side}_radius"))}
{field} = {quoted(getattr(sheet, f"{side}_spacing"))}  # between the joints of a pair
center_angle = "{angle} deg"  # of the middle of the first pair
"""
