"""Fittings that bodies of many kinds share: joints, mounts, motors and screws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.mechanism import BASE_NAME, PLATFORM_NAME, X_AXIS, Z_AXIS, Drawing
from twin.viewer.bodies.meshes import (
    Mesh,
    around,
    extruded,
    joined,
    rod,
    sphere,
    tube,
    turned,
    upright,
)

DARK_MATERIAL = "joint"
"""Material of joints and motors."""

METAL_MATERIAL = "rod"
"""Material of shafts."""

PAINT_MATERIAL = "housing"
"""Material of housings."""

ACCENT_MATERIAL = "heading"
"""Material with the colour that catches the eye."""


class Part(NamedTuple):
    """Surface of a body in one material."""

    body: str
    material: str
    mesh: Mesh
    """mesh in the frame of the body"""


def universal_base(foot: FloatArray, axis: FloatArray, drawing: Drawing) -> list[Part]:
    """Return the fork of a universal joint on the base plate, with its pin along the first axis.

    Args:
        foot: `(3,)` [m] middle of the joint.
        axis: `(3,)` first axis of the joint.
        drawing: dimensions of the machine as drawn.
    """
    radius, floor = drawing.base_joint_radius, drawing.base_top
    horizontal = np.array([axis[0], axis[1], 0.0])
    across_axis = (
        X_AXIS if np.linalg.norm(horizontal) < 0.5 else horizontal / np.linalg.norm(horizontal)
    )
    depth = max(foot[2] - floor, 0.3 * radius)
    lugs = [
        _lug(radius, depth).moved(foot, upright(side * across_axis, -Z_AXIS))
        for side in (-1.0, 1.0)
    ]
    ground = foot * [1.0, 1.0, 0.0] + floor * Z_AXIS
    flange = tube(1.5 * radius, 0.0, 0.28 * radius).moved(ground)
    pin = rod(0.3 * radius, foot - 1.1 * radius * across_axis, foot + 1.1 * radius * across_axis)
    bolts = screws(ground + 0.28 * radius * Z_AXIS, 1.25 * radius, 0.14 * radius, 6)
    return [
        Part(BASE_NAME, DARK_MATERIAL, joined([flange, *lugs])),
        Part(BASE_NAME, METAL_MATERIAL, joined([pin, *bolts])),
    ]


def universal_leg(body: str, radius: float) -> list[Part]:
    """Return the fork of a leg along z above a universal joint, with pin and cross along x."""
    lugs = [
        _lug(radius, 1.3 * radius).moved(0 * Z_AXIS, upright(side * X_AXIS, Z_AXIS))
        for side in (-1.0, 1.0)
    ]
    yoke = tube(1.12 * radius, 1.0 * radius, 1.4 * radius)
    pin = rod(0.3 * radius, -1.1 * radius * X_AXIS, 1.1 * radius * X_AXIS)
    cross = sphere(0.6 * radius)
    return [
        Part(body, DARK_MATERIAL, joined([*lugs, yoke])),
        Part(body, METAL_MATERIAL, joined([pin, cross])),
    ]


def ball_end(body: str, radius: float) -> list[Part]:
    """Return the ball of a spherical joint at the origin, on a neck that comes up along z."""
    neck = turned(
        [(0, -2.4), (0.8, -2.4), (0.95, -2.2), (0.95, -1.6), (0.5, -0.95), (0.5, 0.0), (0, 0.0)]
    )
    scaled_neck = neck._replace(vertices=radius * neck.vertices)
    return [
        Part(body, METAL_MATERIAL, sphere(0.95 * radius)),
        Part(body, DARK_MATERIAL, scaled_neck),
    ]


def ball_socket(joint: FloatArray, drawing: Drawing) -> Part:
    """Return the socket below the platform's plate for the ball at `joint` `(3,)` [m]."""
    radius = drawing.platform_joint_radius
    high = max(drawing.platform_bottom - joint[2], 0.4 * radius)
    profile = np.array([(0, -0.25), (1.0, -0.25), (1.18, -0.1), (1.3, 0.35), (0, 0.35)]) * radius
    cup = turned(profile)
    flange = tube(1.65 * radius, high - 0.35 * radius, high + 1e-3 * radius)
    return Part(PLATFORM_NAME, DARK_MATERIAL, joined([cup, flange]).moved(joint))


def flexure(
    body: str, joint: FloatArray, direction: FloatArray, radius: float, length: float
) -> Part:
    """Return half of a flexure: from its thin neck at `joint` `(3,)` along a direction `(3,)`."""
    profile = np.array(
        [
            (0.0, 0.0),
            (0.22, 0.0),
            (0.26, 0.18),
            (0.4, 0.36),
            (0.85, 0.55),
            (0.9, 0.6),
            (0.9, 1.0),
            (0.0, 1.0),
        ]
    )
    profile = profile * [radius, length]
    return Part(body, METAL_MATERIAL, turned(profile).moved(joint, upright(direction)))


def motor(radius: float, low: float, high: float) -> Mesh:
    """Return a motor along z between two heights [m], ribbed towards its upper end."""
    length = high - low
    grooves = [0.55, 0.65, 0.75, 0.85]
    profile = [(0.0, low), (0.94 * radius, low), (radius, low + 0.04 * length)]
    for position in grooves:
        height = low + position * length
        profile += [(radius, height), (0.88 * radius, height + 0.01 * length)]
        profile += [(0.88 * radius, height + 0.03 * length), (radius, height + 0.04 * length)]
    profile += [(radius, high - 0.04 * length), (0.9 * radius, high), (0.0, high)]
    return turned(profile)


def drive_plate(
    radius: float, motor_axis: FloatArray, motor_radius: float, low: float, high: float
) -> Mesh:
    """Return the gearbox between a leg along z and a motor next to it.

    Args:
        radius: [m] about the leg.
        motor_axis: `(2,)` [m] of the motor's axis.
        motor_radius: radius [m] about the motor.
        low: height [m] of its lower face.
        high: height [m] of its upper face.
    """
    outline = around([[0.0, 0.0], motor_axis], [radius, motor_radius])
    return extruded(outline, low, high, 0.12 * (high - low))


def screws(middle: FloatArray, circle_radius: float, radius: float, count: int) -> list[Mesh]:
    """Return the heads of screws on a circle about z, which stand on `middle` `(3,)`."""
    angles = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    head = tube(radius, 0.0, 0.8 * radius, 12)
    return [
        head.moved(middle + circle_radius * np.array([np.cos(a), np.sin(a), 0.0])) for a in angles
    ]


def _lug(radius: float, depth: float) -> Mesh:
    """Return a lug with a round end about the origin, across z at 0.8 radii, its foot along x."""
    outline = around(
        [[0.0, 0.0], [depth, 0.3 * radius], [depth, -0.3 * radius]],
        [0.5 * radius, 1e-4 * radius, 1e-4 * radius],
    )
    return extruded(outline, 0.66 * radius, 0.96 * radius, 0.05 * radius)
