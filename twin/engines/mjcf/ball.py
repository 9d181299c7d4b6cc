"""The ball in MJCF: a free body, a plate on the platform, and a contact between these two alone."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mjcf.elements import add, add_inertial, text
from twin.machine.mechanism import PART_COLORS, Mass
from twin.model.ball import Ball

BALL_NAME = "ball"
"""Name of the free body, its joint and its geom."""

BALL_PLATE_NAME = "ball_plate"
"""Name of the geom that the ball touches."""

MIN_FRICTION = 1e-5
"""Least coefficient that MuJoCo takes: about the normal [m], where the ball turns freely."""


def add_ball_options(option: Element) -> None:
    """Select the elliptic friction cone: the default pyramid overestimates friction along edges."""
    option.set("cone", "elliptic")


def add_ball_materials(asset: Element) -> None:
    """Add the materials of ball and plate; the ball's squares make its rolling visible."""
    ball_color, mark_color = PART_COLORS[BALL_NAME][:3], (0.95, 0.93, 0.88)
    squares = {"type": "cube", "builtin": "checker", "width": "64", "height": "64"}
    add(asset, "texture", name=BALL_NAME, rgb1=text(ball_color), rgb2=text(mark_color), **squares)
    add(asset, "material", name=BALL_NAME, texture=BALL_NAME, specular="0.5", shininess="0.6")
    add(asset, "material", name=BALL_PLATE_NAME, rgba=text(PART_COLORS[BALL_PLATE_NAME]))


def add_ball_plate(platform: Element, ball: Ball) -> None:
    """Add the plate to the platform's body, without mass of its own."""
    top, bottom = ball.plate_height, ball.plate_height - ball.plate_thickness
    shape_attributes = {"type": "cylinder", "fromto": text([0.0, 0.0, bottom, 0.0, 0.0, top])}
    contact_attributes = {"contype": "1", "conaffinity": "0", "group": "2", "mass": "0"}
    size = text([ball.plate_radius])
    add(
        platform,
        "geom",
        name=BALL_PLATE_NAME,
        size=size,
        material=BALL_PLATE_NAME,
        **shape_attributes,
        **contact_attributes,
    )


def add_ball(world: Element, ball: Ball, pose: FloatArray, contact: tuple[str, str]) -> None:
    """Add the ball as a free body.

    Args:
        world: the worldbody.
        ball: its numbers.
        pose: `(7,)` pose at home.
        contact: `solref` and `solimp` of its contact with the plate.
    """
    body = add(world, "body", name=BALL_NAME, pos=text(pose[:3]), quat=text(pose[3:]))
    add(body, "freejoint", name=BALL_NAME)
    add_inertial(body, Mass(ball.mass, np.zeros(3), ball.inertia * np.eye(3)))
    rolling = ball.rolling_resistance * ball.radius
    friction = [ball.friction, MIN_FRICTION, max(rolling, MIN_FRICTION)]
    contact_attributes = {
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
    add(
        body,
        "geom",
        name=BALL_NAME,
        type="sphere",
        size=text([ball.radius]),
        material=BALL_NAME,
        **contact_attributes,
    )


def ball_home_pose(ball: Ball, platform: FloatArray) -> FloatArray:
    """Return the pose `(7,)` of a ball at rest on the middle of the plate, the platform at home."""
    from twin.model.ball import place_on_plate

    return place_on_plate(ball, platform, np.zeros(6))[:7]
