"""Legs that lengthen along a line: cylinders with a screw and a motor, flexures, springs."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.legs import viscoelastic
from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.ups import UpsLeg, appearance
from twin.machine.legs.viscoelastic import ViscoelasticLeg
from twin.machine.mechanism import (
    BASE_NAME,
    ORIGIN,
    PLATFORM_NAME,
    Z_AXIS,
    Drawing,
    two_hinge_frame,
)
from twin.viewer.bodies.fittings import (
    ACCENT_MATERIAL,
    DARK_MATERIAL,
    METAL_MATERIAL,
    PAINT_MATERIAL,
    Part,
    ball_end,
    ball_socket,
    drive_plate,
    flexure,
    motor,
    screws,
    universal_base,
    universal_leg,
)
from twin.viewer.bodies.meshes import helix, joined, tube, turned


def screw_leg(leg: UpsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> list[Part]:
    """Return a UPS leg: a ball screw in its housing, a motor next to it, joints at both ends."""
    name, dimensions = f"leg_{leg_geometry.number}", appearance(leg)
    housing, radius = f"{name}_housing", drawing.base_joint_radius
    low, high = 1.35 * radius, dimensions.housing_length
    motor_side = leg.home_frame(leg_geometry).T @ _outward(leg_geometry)
    return [
        *universal_base(leg_geometry.base, leg.home_axis(leg_geometry), drawing),
        *universal_leg(housing, radius),
        *_cylinder(housing, dimensions.housing_radius, dimensions.rod_radius, low, high),
        *_motor_beside(housing, dimensions.housing_radius, motor_side, low, high),
        *_rod(
            f"{name}_rod",
            dimensions.rod_radius,
            dimensions.rod_length,
            drawing.platform_joint_radius,
        ),
        ball_socket(leg_geometry.joint, drawing),
    ]


def flexure_leg(leg: UpsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> list[Part]:
    """Return a voice coil between two flexures: a strut, whose joints bend without backlash."""
    name, dimensions = f"leg_{leg_geometry.number}", appearance(leg)
    housing, base_radius, tip_radius = (
        f"{name}_housing",
        drawing.base_joint_radius,
        drawing.platform_joint_radius,
    )
    leg_direction = leg_geometry.direction
    direction_in_platform = leg_geometry.rotation.T @ leg_direction
    housing_radius, high = dimensions.housing_radius, dimensions.housing_length
    ground = leg_geometry.base * [1.0, 1.0, 0.0] + drawing.base_top * Z_AXIS
    ceiling = leg_geometry.joint * [1.0, 1.0, 0.0] + drawing.platform_bottom * Z_AXIS
    shaft = tube(dimensions.rod_radius, -dimensions.rod_length, -1.2 * tip_radius)
    coil = tube(1.25 * housing_radius, 0.42 * high, 0.80 * high)
    rings = [
        tube(1.32 * housing_radius, fraction * high, (fraction + 0.03) * high)
        for fraction in (0.40, 0.79)
    ]
    return [
        Part(
            BASE_NAME, DARK_MATERIAL, tube(1.6 * base_radius, 0.0, 0.5 * base_radius).moved(ground)
        ),
        Part(
            BASE_NAME,
            METAL_MATERIAL,
            joined(
                screws(
                    ground + 0.5 * base_radius * Z_AXIS, 1.3 * base_radius, 0.15 * base_radius, 6
                )
            ),
        ),
        flexure(BASE_NAME, leg_geometry.base, -leg_direction, base_radius, 1.25 * base_radius),
        flexure(housing, ORIGIN, Z_AXIS, base_radius, 1.6 * base_radius),
        Part(
            housing,
            PAINT_MATERIAL,
            joined([tube(housing_radius, 1.6 * base_radius, 0.97 * high), coil]),
        ),
        Part(
            housing, DARK_MATERIAL, joined([*rings, tube(1.1 * housing_radius, 0.96 * high, high)])
        ),
        Part(housing, ACCENT_MATERIAL, tube(1.27 * housing_radius, 0.60 * high, 0.63 * high)),
        Part(f"{name}_rod", METAL_MATERIAL, shaft),
        flexure(f"{name}_rod", ORIGIN, -Z_AXIS, tip_radius, 1.5 * tip_radius),
        flexure(
            PLATFORM_NAME, leg_geometry.joint, direction_in_platform, tip_radius, 0.9 * tip_radius
        ),
        Part(
            PLATFORM_NAME,
            DARK_MATERIAL,
            tube(1.5 * tip_radius, -0.35 * tip_radius, 1e-3 * tip_radius).moved(ceiling),
        ),
    ]


def spring_leg(leg: ViscoelasticLeg, leg_geometry: LegGeometry, drawing: Drawing) -> list[Part]:
    """Return a spring in a cup on a universal joint; on the spring a ball screw with motor and rod.

    The origin of the housing is the upper end of the spring.
    """
    name, dimensions = f"leg_{leg_geometry.number}", viscoelastic.appearance(leg)
    guide, housing = f"{name}_guide", f"{name}_housing"
    radius, length = drawing.base_joint_radius, leg.spring_length
    frame = two_hinge_frame(leg.home_axis(leg_geometry), leg_geometry.vector)
    high = viscoelastic.housing_end(leg)
    spring_radius, housing_radius = dimensions.spring_radius, dimensions.housing_radius
    cup_top = min(1.35 * radius + 0.1 * length, 0.6 * length)
    coil = helix(0.8 * spring_radius, 0.13 * spring_radius, cup_top - length, -0.02 * length, 6.0)
    seat = tube(1.1 * housing_radius, -0.06 * length, 0.02 * high)
    pin = tube(0.4 * spring_radius, -0.95 * length + cup_top, 0.0)
    follower_length = viscoelastic.follower_length(leg)
    return [
        *universal_base(leg_geometry.base, leg.home_axis(leg_geometry), drawing),
        *universal_leg(guide, radius),
        Part(guide, DARK_MATERIAL, tube(1.05 * spring_radius, 1.3 * radius, cup_top)),
        Part(housing, "spring", coil),
        Part(housing, METAL_MATERIAL, pin),
        Part(housing, DARK_MATERIAL, seat),
        *_cylinder(housing, housing_radius, dimensions.follower_radius, 0.0, high),
        *_motor_beside(housing, housing_radius, frame.T @ _outward(leg_geometry), 0.0, high),
        *_rod(
            f"{name}_rod",
            dimensions.follower_radius,
            follower_length,
            drawing.platform_joint_radius,
        ),
        ball_socket(leg_geometry.joint, drawing),
    ]


def _cylinder(body: str, radius: float, inner: float, low: float, high: float) -> list[Part]:
    """Return a housing along z: tube, end caps, ring, and the seal of a rod of `inner` [m]."""
    cap = min(0.8 * radius, 0.12 * (high - low))
    seal = [
        (0.0, high - 0.1 * cap),
        (0.5 * (radius + inner), high - 0.1 * cap),
        (0.5 * (radius + inner), high + 0.3 * cap),
        (1.15 * inner, high + 0.6 * cap),
        (0.0, high + 0.6 * cap),
    ]
    return [
        Part(body, PAINT_MATERIAL, tube(radius, low + 0.5 * cap, high - 0.5 * cap)),
        Part(
            body,
            DARK_MATERIAL,
            joined([tube(1.1 * radius, low, low + cap), tube(1.1 * radius, high - cap, high)]),
        ),
        Part(body, ACCENT_MATERIAL, tube(1.04 * radius, high - 1.5 * cap, high - 1.1 * cap)),
        Part(body, METAL_MATERIAL, turned(seal)),
    ]


def _motor_beside(
    body: str, radius: float, motor_side: FloatArray, low: float, high: float
) -> list[Part]:
    """Return a motor beside a housing along z, towards `motor_side` `(3,)`, and its gear."""
    motor_radius = 0.72 * radius
    unit_offset = motor_side[:2] / max(float(np.linalg.norm(motor_side[:2])), 1e-12)
    axis = 1.12 * (radius + motor_radius) * unit_offset
    thickness = min(0.9 * radius, 0.15 * (high - low))
    top = low + thickness + min(4.0 * radius, 0.42 * (high - low))
    gear = drive_plate(1.14 * radius, axis, 1.1 * motor_radius, low, low + thickness)
    motor_axis = np.array([*axis, 0.0])
    return [
        Part(
            body,
            DARK_MATERIAL,
            joined([gear, motor(motor_radius, low + thickness, top).moved(motor_axis)]),
        )
    ]


def _rod(body: str, radius: float, length: float, ball: float) -> list[Part]:
    """Return a rod along z up to the ball of its joint at the origin."""
    return [Part(body, METAL_MATERIAL, tube(radius, -length, -2.2 * ball)), *ball_end(body, ball)]


def _outward(leg_geometry: LegGeometry) -> FloatArray:
    """Return the direction `(3,)` away from the middle of the machine, or any across the leg."""
    outward = leg_geometry.base + 0.5 * leg_geometry.vector
    outward = outward * [1.0, 1.0, 0.0]
    leg_direction = leg_geometry.direction
    outward = outward - (outward @ leg_direction) * leg_direction
    size = float(np.linalg.norm(outward))
    return (
        outward / size
        if size > 1e-9
        else np.cross(leg_direction, np.eye(3)[np.abs(leg_direction).argmin()])
    )
