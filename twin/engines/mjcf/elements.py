"""Pieces of MJCF that occur in many places, and how numbers and documents become text."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from twin.machine.mechanism import Ball, Box, Cylinder, Mass, Plate, Shape

GENERATED_NOTE = "<!-- Generated from platform.toml; do not edit. -->"

ZERO_TOLERANCE = 1e-15
"""Smaller numbers are rounding errors of sines and cosines and are written as zero."""

INERTIA_MARGIN = 1e-12
"""Relative excess of the smaller moments over the largest that MuJoCo surely accepts."""

MIN_INERTIA = 1e-14
"""Mass [kg] and moment [kg m2] of massless bodies: MuJoCo requires 1e-15 of all that move."""


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """Append an element to `parent` and return it."""
    return SubElement(parent, tag, attributes)


def add_inertial(body: Element, mass: Mass) -> None:
    """Give `body` its mass, centre of mass and tensor."""
    smallest_moment, middle_moment, largest_moment = np.linalg.eigvalsh(mass.tensor)
    # Of a flat body the largest moment is the sum of the others: rounding must not exceed it.
    excess = max(
        0.0,
        largest_moment * (1.0 + INERTIA_MARGIN) - smallest_moment - middle_moment,
        MIN_INERTIA - smallest_moment,
    )
    tensor = mass.tensor + excess * np.eye(3)
    entries = text(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    kilograms = text([max(mass.mass, MIN_INERTIA)])
    add(body, "inertial", pos=text(mass.center), mass=kilograms, fullinertia=entries)


def add_shape(body: Element, shape: Shape) -> None:
    """Draw a shape of `body`; a plate refers to the mesh that `add_mesh` makes of it."""
    style = {"name": shape.name, "class": "drawn"}
    color = {"material": shape.color}
    if isinstance(shape, Cylinder):
        ends = text([*shape.start, *shape.end])
        add(body, "geom", **style, type="cylinder", **color, size=text([shape.radius]), fromto=ends)
    elif isinstance(shape, Ball):
        position_attributes = {"pos": text(shape.center)} if shape.center.any() else {}
        add(
            body,
            "geom",
            **style,
            type="sphere",
            **color,
            size=text([shape.radius]),
            **position_attributes,
        )
    elif isinstance(shape, Box):
        position_attributes = {"pos": text(shape.center), "size": text(0.5 * shape.size)}
        add(body, "geom", **style, type="box", **color, **position_attributes)
    else:
        add(body, "geom", **style, type="mesh", mesh=shape.name, **color)


def add_mesh(asset: Element, plate: Plate) -> None:
    """Keep a plate's corners, lower face first."""
    corners = [(x, y, z) for z in (plate.bottom, plate.top) for x, y in plate.outline]
    add(asset, "mesh", name=plate.name, vertex=text(np.ravel(corners)))


def text(values: Iterable[float]) -> str:
    """Return numbers as text with 15 digits, so that rounding errors leave it unchanged."""
    return " ".join(f"{0.0 if abs(value) < ZERO_TOLERANCE else value:.15g}" for value in values)


def document(root: Element) -> str:
    """Return the document as indented text under a one-line comment."""
    ElementTree.indent(root)
    return f"{GENERATED_NOTE}\n{ElementTree.tostring(root, encoding='unicode')}\n"
