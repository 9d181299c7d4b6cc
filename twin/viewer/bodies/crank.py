"""Servo legs: a geared motor on the base, its crank, and a rod with ball joints at both ends."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.rss import RssLeg, appearance
from twin.machine.mechanism import BASE_NAME, X_AXIS, Z_AXIS, Drawing
from twin.viewer.bodies.fittings import (
    ACCENT_MATERIAL,
    DARK_MATERIAL,
    METAL_MATERIAL,
    PAINT_MATERIAL,
    Part,
    ball_socket,
    motor,
    screws,
)
from twin.viewer.bodies.meshes import (
    Mesh,
    around,
    box,
    extruded,
    joined,
    rod,
    sphere,
    tube,
    upright,
)


def servo_leg(
    leg: RssLeg, leg_geometry: LegGeometry, drawing: Drawing, neighbours: FloatArray
) -> list[Part]:
    """Return the leg; the motor lies on the side of the crank that is farther from the next leg.

    Args:
        leg: its parameters.
        leg_geometry: of it.
        drawing: dimensions of the machine as drawn.
        neighbours: `(k, 3)` [m] base joints of all legs.
    """
    name, dimensions, home = (
        f"leg_{leg_geometry.number}",
        appearance(leg),
        leg.home_geometry(leg_geometry),
    )
    rod_radius, servo = dimensions.rod_radius, _servo_size(drawing)
    side = _free_side(leg_geometry.base, home.axis, neighbours)
    length, tip = leg.crank_length, leg.rod_length
    joint = max(1.5 * rod_radius, 0.55 * servo)
    return [
        *_servo(leg_geometry.base, side * home.axis, servo, drawing.base_top),
        *_crank(f"{name}_crank", servo, length, side, joint),
        Part(
            f"{name}_rod",
            METAL_MATERIAL,
            tube(rod_radius, 1.5 * joint, tip - 1.5 * drawing.platform_joint_radius),
        ),
        Part(
            f"{name}_rod",
            DARK_MATERIAL,
            joined(_rod_ends(rod_radius, tip, joint, drawing.platform_joint_radius)),
        ),
        ball_socket(leg_geometry.joint, drawing),
    ]


def servo_end(
    leg: RssLeg, leg_geometry: LegGeometry, drawing: Drawing, neighbours: FloatArray
) -> FloatArray:
    """Return the end `(3,)` [m] of the motor of a leg, farthest from its crank."""
    axis = leg.home_axis(leg_geometry)
    side = _free_side(leg_geometry.base, axis, neighbours)
    return leg_geometry.base + 9.0 * _servo_size(drawing) * side * axis


def _servo(foot: FloatArray, axis: FloatArray, size: float, floor: float) -> list[Part]:
    """Return gearbox, motor and their stand on the base; the motor lies towards `axis`."""
    frame = upright(axis, Z_AXIS)
    front_end, width = 2.3 * size, 1.75 * size
    gear = tube(width, front_end, front_end + 1.8 * size)
    flange = tube(1.08 * width, front_end + 1.7 * size, front_end + 2.2 * size)
    drive = motor(0.92 * width, front_end + 2.2 * size, front_end + 6.8 * size)
    cap = tube(0.7 * width, front_end + 6.7 * size, front_end + 7.2 * size)
    height = foot[2] - floor
    # In the frame of the axis x points up: a stand below the gearbox and a saddle below the motor.
    bracket_box = box(
        [-0.5 * height, 0.0, front_end + 0.9 * size], [height, 2.6 * size, 1.2 * size]
    )
    saddle = box([-0.5 * height, 0.0, front_end + 5.4 * size], [height, 2.2 * size, 0.8 * size])
    thickness = 0.35 * size
    sole = box(
        [thickness / 2 - height, 0.0, front_end + 3.2 * size], [thickness, 4.2 * size, 7.6 * size]
    )
    ground = foot * [1.0, 1.0, 0.0] + (floor + thickness) * Z_AXIS
    corners = [
        part.moved(
            ground
            + axis * (front_end + axial_position * size)
            + np.cross(Z_AXIS, axis) * lateral_position * size
        )
        for axial_position in (0.1, 6.3)
        for lateral_position in (-1.6, 1.6)
        for part in screws(np.zeros(3), 0.0, 0.22 * size, 1)
    ]
    return [
        Part(BASE_NAME, DARK_MATERIAL, joined([drive, bracket_box, saddle]).moved(foot, frame)),
        Part(BASE_NAME, METAL_MATERIAL, joined([gear, sole]).moved(foot, frame)),
        Part(BASE_NAME, METAL_MATERIAL, joined(corners)),
        Part(BASE_NAME, DARK_MATERIAL, joined([flange, cap]).moved(foot, frame)),
    ]


def _crank(body: str, size: float, length: float, side: float, joint: float) -> list[Part]:
    """Return the horn of the servo along z, next to the rod, which is on a stud at its end."""
    near_end, far_end = 1.05 * size, 2.15 * size
    outline = around([[0.0, 0.0], [length, 0.0]], [1.75 * size, 0.85 * size])
    # Its plane is across x, its length along z.
    rotation = upright(side * X_AXIS, Z_AXIS)
    arm = extruded(outline, near_end, far_end, 0.12 * size)
    hub = tube(1.1 * size, near_end - 0.35 * size, near_end + 0.1 * size)
    shaft = tube(0.8 * size, far_end - 0.1 * size, far_end + 0.5 * size)
    stud = rod(0.55 * joint, length * X_AXIS, np.array([length, 0.0, far_end + 0.2 * size]))
    ring = tube(1.3 * size, near_end - 0.08 * size, near_end + 0.1 * size)
    origin = np.zeros(3)
    return [
        Part(body, PAINT_MATERIAL, arm.moved(origin, rotation)),
        Part(body, METAL_MATERIAL, joined([hub, shaft, stud]).moved(origin, rotation)),
        Part(body, ACCENT_MATERIAL, ring.moved(origin, rotation)),
        Part(body, METAL_MATERIAL, sphere(joint).moved(length * Z_AXIS)),
    ]


def _rod_ends(rod_radius: float, length: float, elbow: float, ball: float) -> list[Mesh]:
    """Return the eye about the elbow and the sleeve of the upper joint of a rod along z."""
    eye = tube(1.25 * elbow, -0.55 * elbow, 0.55 * elbow).moved(np.zeros(3), upright(X_AXIS))
    lower = tube(1.5 * rod_radius, 1.05 * elbow, 3.2 * elbow)
    upper = tube(1.5 * rod_radius, length - 2.8 * ball, length - 0.8 * ball)
    return [eye, lower, upper, sphere(ball).moved(length * Z_AXIS)]


def _servo_size(drawing: Drawing) -> float:
    """Return the unit length [m] of a servo's dimensions: its axis is 2.3 units above the base."""
    return drawing.base_joint_radius / 1.8


def _free_side(foot: FloatArray, axis: FloatArray, neighbours: FloatArray) -> float:
    """Return the sign of the direction of `axis` `(3,)` in which the nearest base joint is not."""
    offsets = neighbours - foot
    distances = np.linalg.norm(offsets, axis=1)
    nearest_offset = offsets[np.where(distances > 1e-9, distances, np.inf).argmin()]
    return -1.0 if nearest_offset @ axis > 0.0 else 1.0
