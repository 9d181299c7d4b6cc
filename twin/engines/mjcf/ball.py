"""The ball in MJCF: a free body, a plate on the platform, and a contact between these two alone."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mjcf.elements import add, add_inertial, text
from twin.machine.mechanism import COLORS, Mass
from twin.model.ball import Ball

BALL, BALL_PLATE = "ball", "ball_plate"
"""Names of the free body, its joint and its geom, and of the geom it touches."""

SMALLEST_FRICTION = 1e-5
"""Least coefficient that MuJoCo takes: about the normal [m], where the ball turns freely."""


def add_ball_options(option: Element) -> None:
    """Ask for the friction cone itself: the default pyramid brakes more along its edges."""
    option.set("cone", "elliptic")


def add_ball_materials(asset: Element) -> None:
    """Add how ball and plate look; the ball's squares show that it rolls."""
    own, dark = COLORS[BALL][:3], (0.95, 0.93, 0.88)
    squares = {"type": "cube", "builtin": "checker", "width": "64", "height": "64"}
    add(asset, "texture", name=BALL, rgb1=text(own), rgb2=text(dark), **squares)
    add(asset, "material", name=BALL, texture=BALL, specular="0.5", shininess="0.6")
    add(asset, "material", name=BALL_PLATE, rgba=text(COLORS[BALL_PLATE]))


def add_ball_plate(platform: Element, ball: Ball) -> None:
    """Add the plate to the platform's body, without mass of its own."""
    top, bottom = ball.plate_height, ball.plate_height - ball.plate_thickness
    ends = {"type": "cylinder", "fromto": text([0.0, 0.0, bottom, 0.0, 0.0, top])}
    touch = {"contype": "1", "conaffinity": "0", "group": "2", "mass": "0"}
    size = text([ball.plate_radius])
    add(platform, "geom", name=BALL_PLATE, size=size, material=BALL_PLATE, **ends, **touch)


def add_ball(world: Element, ball: Ball, place: FloatArray, contact: tuple[str, str]) -> None:
    """Add the ball as a free body.

    Args:
        world: the worldbody.
        ball: its numbers.
        place: `(7,)` pose at home.
        contact: `solref` and `solimp` of its contact with the plate.
    """
    body = add(world, "body", name=BALL, pos=text(place[:3]), quat=text(place[3:]))
    add(body, "freejoint", name=BALL)
    add_inertial(body, Mass(ball.mass, np.zeros(3), ball.inertia * np.eye(3)))
    rolling = ball.rolling_resistance * ball.radius
    friction = [ball.friction, SMALLEST_FRICTION, max(rolling, SMALLEST_FRICTION)]
    touch = {
        "contype": "0",
        "conaffinity": "1",
        "condim": "6" if rolling > 0.0 else "3",
        "friction": text(friction),
        "priority": "1",
        "solref": contact[0],
        "solimp": contact[1],
        "group": "2",
        "mass": "0",
    }
    add(body, "geom", name=BALL, type="sphere", size=text([ball.radius]), material=BALL, **touch)


def home_place(ball: Ball, platform: FloatArray) -> FloatArray:
    """Return the pose `(7,)` of a ball at rest on the middle of the plate, the platform at home."""
    from twin.model.ball import place_on_plate

    return place_on_plate(ball, platform, np.zeros(6))[:7]
