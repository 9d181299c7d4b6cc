"""The plate under a ball in URDF: the only part of a machine that touches anything."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from twin.engines.urdf.elements import origin, text
from twin.model.ball.ball import Ball


def plate_collision(ball: Ball) -> Element:
    """Return the plate as a collision element of the platform's link."""
    element = Element("collision", name="ball_plate")
    middle = ball.plate_height - 0.5 * ball.plate_thickness
    element.append(origin((0.0, 0.0, middle)))
    sizes = {"radius": text([ball.plate_radius]), "length": text([ball.plate_thickness])}
    SubElement(SubElement(element, "geometry"), "cylinder", sizes)
    return element
