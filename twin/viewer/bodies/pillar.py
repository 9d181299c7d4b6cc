"""Pillars: a cylinder fixed below the plate, its rod down to a foot on the floor."""

from __future__ import annotations

import numpy as np

from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.pillar import PillarLeg, appearance
from twin.machine.mechanism import BASE_NAME, Z_AXIS, Drawing
from twin.viewer.bodies.fittings import (
    ACCENT_MATERIAL,
    DARK_MATERIAL,
    METAL_MATERIAL,
    PAINT_MATERIAL,
    Part,
    drive_plate,
    motor,
    screws,
)
from twin.viewer.bodies.meshes import Mesh, around, extruded, joined, sphere, tube, turned

DOWN_ROTATION = np.diag([1.0, -1.0, -1.0])


def pillar_leg(leg: PillarLeg, leg_geometry: LegGeometry, look: Drawing) -> list[Part]:
    """Return the leg: on a bolted foot if it is fixed, else on one that slides."""
    name, dimensions = f"leg_{leg_geometry.number}", appearance(leg)
    strut_radius, foot = dimensions.strut_radius, dimensions.foot_radius
    is_fixed = leg_geometry.number == leg.fixed_foot
    lower_body = f"{name}_pillar" if is_fixed else f"{name}_rod"
    body, origin = (BASE_NAME, leg_geometry.base) if is_fixed else (f"{name}_carriage", np.zeros(3))
    pad = _pad(foot, strut_radius).moved(origin)
    rod = [
        Part(
            lower_body,
            METAL_MATERIAL,
            tube(0.62 * strut_radius, 0.8 * strut_radius, 0.9 * leg.actuator.minimum),
        ),
        Part(lower_body, METAL_MATERIAL, sphere(0.9 * strut_radius)),
        Part(
            lower_body,
            DARK_MATERIAL,
            tube(0.8 * strut_radius, 0.6 * strut_radius, 1.5 * strut_radius),
        ),
    ]
    bolted = []
    if is_fixed:
        low = origin - 0.65 * foot * Z_AXIS
        foot_outline = around(
            1.05 * foot * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]), 0.2 * foot
        )
        heads = screws(low + 0.16 * foot * Z_AXIS, 1.45 * foot, 0.12 * foot, 4)
        plate = extruded(foot_outline, 0.0, 0.16 * foot, 0.03 * foot).moved(low)
        bolted = [
            Part(BASE_NAME, DARK_MATERIAL, plate),
            Part(BASE_NAME, METAL_MATERIAL, joined(heads)),
        ]
    else:
        ring = tube(0.93 * foot, -0.655 * foot, -0.60 * foot)
        bolted = [Part(body, METAL_MATERIAL, ring.moved(origin))]
    return [
        *_upper(name, leg, strut_radius, leg_geometry),
        *rod,
        Part(body, DARK_MATERIAL, pad),
        *bolted,
    ]


def _upper(name: str, leg: PillarLeg, strut_radius: float, leg_geometry: LegGeometry) -> list[Part]:
    """Return the cylinder, which hangs on the plate; lengths count downwards from its corner."""
    visible_length = 0.6 * leg.actuator.minimum
    inward = -leg_geometry.joint[:2] / max(float(np.linalg.norm(leg_geometry.joint[:2])), 1e-12)
    motor_radius = 0.72 * strut_radius
    axis = 1.12 * (strut_radius + motor_radius) * inward * [1.0, -1.0]
    gear = drive_plate(
        1.14 * strut_radius, axis, 1.1 * motor_radius, 0.16 * visible_length, 0.32 * visible_length
    )
    drive = motor(motor_radius, 0.32 * visible_length, 0.85 * visible_length).moved(
        np.array([*axis, 0.0])
    )
    cap = 0.1 * visible_length
    dark = [
        tube(1.5 * strut_radius, 1e-3 * strut_radius, 0.25 * strut_radius),
        tube(1.1 * strut_radius, visible_length - cap, visible_length),
        gear,
        drive,
    ]
    housing = tube(strut_radius, 0.2 * strut_radius, visible_length - 0.5 * cap)
    ring = tube(1.04 * strut_radius, visible_length - 1.5 * cap, visible_length - 1.1 * cap)
    seal = tube(0.8 * strut_radius, visible_length - 0.1 * cap, visible_length + 0.3 * cap)
    meshes = {
        DARK_MATERIAL: joined(dark),
        PAINT_MATERIAL: housing,
        ACCENT_MATERIAL: ring,
        METAL_MATERIAL: seal,
    }
    return [
        Part(f"{name}_upper", material, mesh.moved(np.zeros(3), DOWN_ROTATION))
        for material, mesh in meshes.items()
    ]


def _pad(foot: float, strut_radius: float) -> Mesh:
    """Return the foot about the ball at the end of the rod."""
    return turned(
        [
            (0.0, -0.64 * foot),
            (0.97 * foot, -0.64 * foot),
            (foot, -0.6 * foot),
            (foot, -0.52 * foot),
            (0.95 * foot, -0.47 * foot),
            (1.25 * strut_radius, -0.38 * foot),
            (1.15 * strut_radius, 0.1 * strut_radius),
            (0.95 * strut_radius, 0.2 * strut_radius),
            (0.0, 0.2 * strut_radius),
        ]
    )
