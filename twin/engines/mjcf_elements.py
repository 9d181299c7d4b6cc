"""Pieces of MJCF that occur in many places, and how numbers and documents become text."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from twin.arrays import FloatArray

NOTE = "<!-- Generated from platform.toml; do not edit. -->"

NOISE = 1e-15
"""Smaller numbers are rounding errors of sines and cosines and are written as zero."""

FLATNESS = 1e-12
"""Relative excess of the smaller moments over the largest that MuJoCo surely accepts."""


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """Append an element to `parent` and return it."""
    return SubElement(parent, tag, attributes)


def add_inertial(body: Element, mass: float, center: FloatArray, tensor: FloatArray) -> None:
    """Give `body` its mass [kg], centre of mass [m] and tensor [kg m2] about it, body frame."""
    small, middle, large = np.linalg.eigvalsh(tensor)
    # Of a flat body the largest moment is the sum of the others: rounding must not exceed it.
    tensor = tensor + max(0.0, large * (1.0 + FLATNESS) - small - middle) * np.eye(3)
    entries = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    values = {"pos": text(center), "mass": text([mass]), "fullinertia": text(entries)}
    add(body, "inertial", **values)


def add_cylinder(
    body: Element,
    name: str,
    material: str,
    radius: float,
    start: Iterable[float],
    end: Iterable[float],
) -> None:
    """Draw a cylinder between two points [m] of `body`'s frame."""
    shape = {"class": "drawn", "type": "cylinder", "material": material}
    ends = text([*start, *end])
    add(body, "geom", name=name, **shape, size=text([radius]), fromto=ends)


def text(values: Iterable[float]) -> str:
    """Return numbers as text with 15 digits, so that rounding errors leave it unchanged."""
    return " ".join(f"{0.0 if abs(value) < NOISE else value:.15g}" for value in values)


def document(root: Element) -> str:
    """Return the document as indented text under a one-line comment."""
    ElementTree.indent(root)
    return f"{NOTE}\n{ElementTree.tostring(root, encoding='unicode')}\n"
