"""Legs that lengthen along a line: cylinders with a screw and a motor, flexures, springs."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.legs import viscoelastic
from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.ups import mechanism as ups
from twin.machine.legs.ups.parameters import UpsLeg
from twin.machine.legs.viscoelastic import ViscoelasticLeg
from twin.machine.mechanism import BASE_NAME, ORIGIN, PLATFORM_NAME, Z_AXIS, Drawing, crossed
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


def screw_leg(leg: UpsLeg, place: LegGeometry, look: Drawing) -> list[Part]:
    """Return a UPS leg: a ball screw in its housing, a motor next to it, joints at both ends."""
    name, drawn = f"leg_{place.number}", ups.appearance(leg)
    housing, radius = f"{name}_housing", look.base_joint_radius
    low, high = 1.35 * radius, drawn.housing_length
    motor_side = leg.home_frame(place).T @ _outward(place)
    return [
        *universal_base(BASE_NAME, place.base, leg.home_axis(place), radius, look.base_top),
        *universal_leg(housing, radius),
        *_cylinder(housing, drawn.housing_radius, drawn.rod_radius, low, high),
        *_motor_beside(housing, drawn.housing_radius, motor_side, low, high),
        *_rod(f"{name}_rod", drawn.rod_radius, drawn.rod_length, look.platform_joint_radius),
        ball_socket(PLATFORM_NAME, place.joint, look.platform_joint_radius, look.platform_bottom),
    ]


def flexure_leg(leg: UpsLeg, place: LegGeometry, look: Drawing) -> list[Part]:
    """Return a voice coil between two flexures: a strut, whose joints bend without backlash."""
    name, drawn = f"leg_{place.number}", ups.appearance(leg)
    housing, lower, upper = f"{name}_housing", look.base_joint_radius, look.platform_joint_radius
    leg_direction = place.vector / np.linalg.norm(place.vector)
    direction_in_platform = place.rotation.T @ leg_direction
    a, high = drawn.housing_radius, drawn.housing_length
    ground = place.base * [1.0, 1.0, 0.0] + look.base_top * Z_AXIS
    ceiling = place.joint * [1.0, 1.0, 0.0] + look.platform_bottom * Z_AXIS
    shaft = tube(drawn.rod_radius, -drawn.rod_length, -1.2 * upper)
    coil = tube(1.25 * a, 0.42 * high, 0.80 * high)
    rings = [tube(1.32 * a, at * high, (at + 0.03) * high) for at in (0.40, 0.79)]
    return [
        Part(BASE_NAME, DARK_MATERIAL, tube(1.6 * lower, 0.0, 0.5 * lower).moved(ground)),
        Part(
            BASE_NAME,
            METAL_MATERIAL,
            joined(screws(ground + 0.5 * lower * Z_AXIS, 1.3 * lower, 0.15 * lower, 6)),
        ),
        flexure(BASE_NAME, place.base, -leg_direction, lower, 1.25 * lower),
        flexure(housing, ORIGIN, Z_AXIS, lower, 1.6 * lower),
        Part(housing, PAINT_MATERIAL, joined([tube(a, 1.6 * lower, 0.97 * high), coil])),
        Part(housing, DARK_MATERIAL, joined([*rings, tube(1.1 * a, 0.96 * high, high)])),
        Part(housing, ACCENT_MATERIAL, tube(1.27 * a, 0.60 * high, 0.63 * high)),
        Part(f"{name}_rod", METAL_MATERIAL, shaft),
        flexure(f"{name}_rod", ORIGIN, -Z_AXIS, upper, 1.5 * upper),
        flexure(PLATFORM_NAME, place.joint, direction_in_platform, upper, 0.9 * upper),
        Part(
            PLATFORM_NAME,
            DARK_MATERIAL,
            tube(1.5 * upper, -0.35 * upper, 1e-3 * upper).moved(ceiling),
        ),
    ]


def spring_leg(leg: ViscoelasticLeg, place: LegGeometry, look: Drawing) -> list[Part]:
    """Return a spring on a universal joint, a ball screw with its motor on it, and the rod."""
    name, drawn = f"leg_{place.number}", viscoelastic.appearance(leg)
    guide, housing = f"{name}_guide", f"{name}_housing"
    radius, length = look.base_joint_radius, leg.spring_length
    frame = crossed(leg.home_axis(place), place.vector)
    high = viscoelastic.housing_end(leg)
    spring_radius, a = drawn.spring_radius, drawn.housing_radius
    cup = min(1.35 * radius + 0.1 * length, 0.6 * length)
    coil = helix(0.8 * spring_radius, 0.13 * spring_radius, cup - length, -0.02 * length, 6.0)
    seat = tube(1.1 * a, -0.06 * length, 0.02 * high)
    guided = tube(0.4 * spring_radius, -0.95 * length + cup, 0.0)
    follower_start = viscoelastic.follower_length(leg)
    return [
        *universal_base(BASE_NAME, place.base, leg.home_axis(place), radius, look.base_top),
        *universal_leg(guide, radius),
        Part(guide, DARK_MATERIAL, tube(1.05 * spring_radius, 1.3 * radius, cup)),
        Part(housing, "spring", coil),
        Part(housing, METAL_MATERIAL, guided),
        Part(housing, DARK_MATERIAL, seat),
        *_cylinder(housing, a, drawn.follower_radius, 0.0, high),
        *_motor_beside(housing, a, frame.T @ _outward(place), 0.0, high),
        *_rod(f"{name}_rod", drawn.follower_radius, follower_start, look.platform_joint_radius),
        ball_socket(PLATFORM_NAME, place.joint, look.platform_joint_radius, look.platform_bottom),
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
    body: str, radius: float, beside: FloatArray, low: float, high: float
) -> list[Part]:
    """Return a motor next to a housing along z, on the side of `beside` `(3,)`, and its gear."""
    motor_radius = 0.72 * radius
    unit_offset = beside[:2] / max(float(np.linalg.norm(beside[:2])), 1e-12)
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


def _outward(place: LegGeometry) -> FloatArray:
    """Return the direction `(3,)` away from the middle of the machine, or any across the leg."""
    outward = place.base + 0.5 * place.vector
    outward = outward * [1.0, 1.0, 0.0]
    leg_direction = place.vector / np.linalg.norm(place.vector)
    outward = outward - (outward @ leg_direction) * leg_direction
    size = float(np.linalg.norm(outward))
    return (
        outward / size
        if size > 1e-9
        else np.cross(leg_direction, np.eye(3)[np.abs(leg_direction).argmin()])
    )
