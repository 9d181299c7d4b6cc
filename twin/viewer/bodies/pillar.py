"""Pillars: a cylinder fixed below the plate, its rod down to a foot on the floor."""

from __future__ import annotations

import numpy as np

from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.pillar import PillarLeg, appearance
from twin.machine.mechanism import BASE_NAME, Drawing
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

Z = np.eye(3)[2]

DOWN_ROTATION = np.diag([1.0, -1.0, -1.0])


def pillar_leg(leg: PillarLeg, place: LegGeometry, look: Drawing) -> list[Part]:
    """Return the leg: on a bolted foot if it is fixed, else on one that slides."""
    name, drawn = f"leg_{place.number}", appearance(leg)
    wide, foot = drawn.strut_radius, drawn.foot_radius
    fixed = place.number == leg.fixed_foot
    lower = f"{name}_pillar" if fixed else f"{name}_rod"
    body, where = (BASE_NAME, place.base) if fixed else (f"{name}_carriage", np.zeros(3))
    pad = _pad(foot, wide).moved(where)
    rod = [
        Part(lower, METAL_MATERIAL, tube(0.62 * wide, 0.8 * wide, 0.9 * leg.actuator.minimum)),
        Part(lower, METAL_MATERIAL, sphere(0.9 * wide)),
        Part(lower, DARK_MATERIAL, tube(0.8 * wide, 0.6 * wide, 1.5 * wide)),
    ]
    bolted = []
    if fixed:
        low = where - 0.65 * foot * Z
        square = around(1.05 * foot * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]), 0.2 * foot)
        heads = screws(low + 0.16 * foot * Z, 1.45 * foot, 0.12 * foot, 4)
        plate = extruded(square, 0.0, 0.16 * foot, 0.03 * foot).moved(low)
        bolted = [
            Part(BASE_NAME, DARK_MATERIAL, plate),
            Part(BASE_NAME, METAL_MATERIAL, joined(heads)),
        ]
    else:
        ring = tube(0.93 * foot, -0.655 * foot, -0.60 * foot)
        bolted = [Part(body, METAL_MATERIAL, ring.moved(where))]
    return [*_upper(name, leg, wide, place), *rod, Part(body, DARK_MATERIAL, pad), *bolted]


def _upper(name: str, leg: PillarLeg, wide: float, place: LegGeometry) -> list[Part]:
    """Return the cylinder, which hangs on the plate; lengths count downwards from its corner."""
    long = 0.6 * leg.actuator.minimum
    inward = -place.joint[:2] / max(float(np.linalg.norm(place.joint[:2])), 1e-12)
    own = 0.72 * wide
    axis = 1.12 * (wide + own) * inward * [1.0, -1.0]
    gear = drive_plate(1.14 * wide, axis, 1.1 * own, 0.16 * long, 0.32 * long)
    drive = motor(own, 0.32 * long, 0.85 * long).moved(np.array([*axis, 0.0]))
    cap = 0.1 * long
    dark = [
        tube(1.5 * wide, 1e-3 * wide, 0.25 * wide),
        tube(1.1 * wide, long - cap, long),
        gear,
        drive,
    ]
    nowhere, body = np.zeros(3), f"{name}_upper"
    ring = tube(1.04 * wide, long - 1.5 * cap, long - 1.1 * cap)
    return [
        Part(body, DARK_MATERIAL, joined(dark).moved(nowhere, DOWN_ROTATION)),
        Part(
            body,
            PAINT_MATERIAL,
            tube(wide, 0.2 * wide, long - 0.5 * cap).moved(nowhere, DOWN_ROTATION),
        ),
        Part(body, ACCENT_MATERIAL, ring.moved(nowhere, DOWN_ROTATION)),
        Part(
            body,
            METAL_MATERIAL,
            tube(0.8 * wide, long - 0.1 * cap, long + 0.3 * cap).moved(nowhere, DOWN_ROTATION),
        ),
    ]


def _pad(foot: float, wide: float) -> Mesh:
    """Return the foot about the ball at the end of the rod."""
    return turned(
        [
            (0.0, -0.64 * foot),
            (0.97 * foot, -0.64 * foot),
            (foot, -0.6 * foot),
            (foot, -0.52 * foot),
            (0.95 * foot, -0.47 * foot),
            (1.25 * wide, -0.38 * foot),
            (1.15 * wide, 0.1 * wide),
            (0.95 * wide, 0.2 * wide),
            (0.0, 0.2 * wide),
        ]
    )
