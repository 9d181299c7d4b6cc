"""Bodies of a machine in the base frame, from the numbers typed from a paper.

Nothing of the machine's file or of the parameters' code takes part: joint angles, body data and
the way in which each kind of leg moves are written down here a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Real or complex: all is differentiated by complex steps."""

Z = np.array([0.0, 0.0, 1.0])


class Piece(NamedTuple):
    """One rigid body."""

    name: str
    mass: float
    """[kg]"""
    center: Array
    """`(3,)` [m] in the base"""
    frame: Array
    """`(3, 3)` body to base"""
    tensor: Array
    """`(3, 3)` [kg m2] about the centre, body frame"""


class Legs(NamedTuple):
    """Legs with their tips at given points."""

    pieces: list[Piece]
    coordinates: list[Any]
    """length [m] or crank angle [rad] of each leg"""


Typed = dict[str, Any]
Assembly = Callable[[Typed, Array, Array, Array], Legs]
"""Returns the legs for typed numbers, base joints and tips `(n, 3)` [m], and series deflections."""


def unit(vector: Array) -> Array:
    """Return a vector of length one."""
    return np.asarray(vector / np.sqrt(vector @ vector))


def joints(typed: Typed) -> Array:
    """Return joint points `(n, 3)` [m] of a table with points, or with angles on a circle."""
    if "points" in typed:
        return np.array(typed["points"])
    angles = np.radians(typed["angles"] if "angles" in typed else typed["middles"])
    angles = angles + np.array(typed.get("radians_beside", 0.0))
    height = np.full(len(angles), typed["height"])
    return np.column_stack(
        [typed["radius"] * np.cos(angles), typed["radius"] * np.sin(angles), height]
    )


def solid(mass: float, radius: float, length: float) -> Array:
    """Return the tensor `(3, 3)` [kg m2] of a solid cylinder along z about its centre."""
    across = mass * radius**2 / 4.0 + mass * length**2 / 12.0
    return np.diag([across, across, mass * radius**2 / 2.0])


def tube(typed: dict[str, float]) -> tuple[float, Array]:
    """Return mass [kg] and tensor `(3, 3)` of a tube: an outer cylinder less an inner one."""
    outer, inner, length = typed["outer"], typed["inner"], typed["length"]
    if "mass" in typed:
        per_area = typed["mass"] / (outer**2 - inner**2)
    else:
        per_area = typed["density"] * np.pi * length
    whole, hole = per_area * outer**2, per_area * inner**2
    return whole - hole, solid(whole, outer, length) - solid(hole, inner, length)


def body(typed: Typed) -> tuple[float, Array]:
    """Return mass [kg] and tensor `(3, 3)` of a table with numbers, a tube or a disc."""
    if "tube" in typed:
        return tube(typed["tube"])
    if "disc" in typed:
        disc = typed["disc"]
        return disc["mass"], solid(disc["mass"], disc["radius"], disc["thickness"])
    return typed["mass"], np.array(typed.get("inertia", np.zeros((3, 3))))


def universal(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Housing on the base joint, rod on the tip, in the frame (rev1, rev2, leg)."""
    pieces, lengths = [], []
    axes = _first_axes(typed, base)
    for leg, (foot, tip, axis) in enumerate(zip(base, tips, axes, strict=True), start=1):
        along = unit(tip - foot)
        rev2 = unit(np.cross(along, axis))
        frame = np.column_stack([np.cross(rev2, along), rev2, along])
        lengths.append((tip - foot) @ along)
        for name, end, way in (("housing", foot, 1.0), ("rod", tip, -1.0)):
            own = typed[name]
            mass, tensor = body(own)
            if "tube" in own:
                center = way * own["tube"]["length"] / 2.0 * Z
            else:
                center = np.array(own["center" if name == "housing" else "center_from_tip"])
            side = np.array([-1.0 if leg in own.get("reflected", ()) else 1.0, 1.0, 1.0])
            tensor = np.outer(side, side) * tensor
            pieces.append(
                Piece(_name(leg, name), mass, end + frame @ (side * center), frame, tensor)
            )
    return Legs(pieces, lengths)


def series_spring(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Three point masses: in the spring's middle, beyond the spring, below the tip."""
    pieces, lengths = [], []
    for leg, (foot, tip, stretched) in enumerate(zip(base, tips, deflection, strict=True), start=1):
        along = unit(tip - foot)
        length = (tip - foot) @ along
        spring = typed["spring_mass"]["length"] + stretched
        places = {
            "spring": 0.5 * spring,
            "housing": spring + typed["housing"]["beyond_spring"],
            "rod": length - typed["rod"]["below_tip"],
        }
        for name, place in places.items():
            mass = typed["spring_mass" if name == "spring" else name]["mass"]
            pieces.append(_point(leg, name, mass, foot + place * along))
        lengths.append(length)
    return Legs(pieces, lengths)


def crank(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Crank in the vertical plane through the base joint's radius, rod from its end to the tip."""
    pieces, angles = [], []
    (crank_mass, crank_tensor), (rod_mass, rod_tensor) = body(typed["crank"]), body(typed["rod"])
    slender = rod_tensor[0, 0] - rod_tensor[2, 2] / 2.0
    short, long = typed["crank"]["tube"]["length"], typed["rod"]["tube"]["length"]
    for leg, (foot, tip) in enumerate(zip(base, tips, strict=True), start=1):
        outward, reach = unit(foot * [1.0, 1.0, 0.0]), tip - foot
        # |reach - crank| = long, the crank at the angle that leans further outwards.
        up, out = reach @ Z, reach @ outward
        share = (reach @ reach + short**2 - long**2) / (2.0 * short)
        angle = np.arctan(out / up) + np.arccos(share / np.sqrt(up**2 + out**2))
        along = np.cos(angle) * Z + np.sin(angle) * outward
        rod = unit(reach - short * along)
        axis = np.cross(Z, outward)
        turned = np.column_stack([axis, np.cross(along, axis), along])
        across = unit(np.cross(axis, rod))
        frame = np.column_stack([across, np.cross(rod, across), rod])
        elbow = foot + short * along
        tensor = np.diag([slender, slender, 0.0])
        middle = elbow + 0.5 * long * rod
        pieces += [
            Piece(
                _name(leg, "crank"), crank_mass, foot + 0.5 * short * along, turned, crank_tensor
            ),
            Piece(_name(leg, "rod"), rod_mass, middle, frame, tensor),
        ]
        angles.append(angle)
    return Legs(pieces, angles)


def pillar(typed: Typed, base: Array, tips: Array, deflection: Array) -> Legs:
    """Upper masses in the plate's corners, feet below them along the plate's normal."""
    normal = unit(np.cross(tips[1] - tips[0], tips[2] - tips[1]))
    pieces, heights = [], []
    for leg, tip in enumerate(tips, start=1):
        height = tip[2] / normal[2]
        heights.append(height)
        pieces.append(_point(leg, "upper", typed["upper"]["mass"], tip))
        pieces.append(_point(leg, "foot", typed["foot"]["mass"], tip - height * normal))
    return Legs(pieces, heights)


def _first_axes(typed: Typed, base: Array) -> Iterator[Array]:
    """Yield the axis of each universal joint that is fixed in the base."""
    direction = typed["first_axis"]["direction"]
    level = joints(typed["platform_joints"]) * [1.0, 1.0, 0.0] - base * [1.0, 1.0, 0.0]
    for horizontal in level:
        yield unit(np.cross(horizontal, Z)) if direction == "across" else np.array(direction)


def _name(leg: int, part: str) -> str:
    return f"leg_{leg}_{part}"


def _point(leg: int, part: str, mass: float, place: Array) -> Piece:
    return Piece(_name(leg, part), mass, place, np.eye(3), np.zeros((3, 3)))


ASSEMBLIES: dict[str, Assembly] = {
    "universal": universal,
    "series_spring": series_spring,
    "crank": crank,
    "pillar": pillar,
}
