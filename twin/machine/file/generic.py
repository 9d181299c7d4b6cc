"""The configuration `hardware` of a file that has none: generic drives of the actuator's size.

The drives are sized by force, speed and stroke of the actuators. A missing force follows from what
holds the machine at home, a missing speed from the stroke. All else is adopted, as shares of these.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from twin.machine.machine import MachineParameters

HARDWARE = "hardware"
"""Name of the configuration."""

GENERIC = "Generic drives"
"""Beginning of its source."""

OWN_DRIVES = "The drives of the file itself"
"""Its source where the file states drives outside a configuration."""

HELD = 4.0
"""Force where none is given, over the largest that holds platform and legs at home."""

STROKE_TIME = 1.0
"""[s] that the whole stroke takes where no speed is given."""

MOTOR_SPEED = 2.0 * math.pi * 50.0
"""[rad/s] of the motor at the actuator's speed: 3000 rpm."""

START_TIME = 0.03
"""[s] in which the force brings the motor alone to its speed."""

FRICTION, VISCOUS = 0.03, 0.02
"""Shares of the force: friction while sliding, and what full speed adds to it."""

WIND_UP, BACKLASH, OVERTRAVEL = 5e-4, 1e-4, 0.02
"""Shares of the stroke: deflection of the transmission under the force, free play, overtravel."""

STIFFEST = 5e8
"""[N/m] or [N m/rad] Largest stiffness of a transmission."""

BRAKE = 2.0
"""Holding force of the brake over the force of the actuator."""

STEP, SHARE, DAMPING_RATIO = 2.5e-4, 0.5, 0.3
"""The transmission is so soft that an engine can take steps h of `STEP` [s]: h^2 k / m is `SHARE`
there, with this damping ratio."""

ELECTRONICS = {"current_lag": 5e-4, "delay": 1e-3}
"""[s] Current lag and delay of the electronics."""

COUNTS = 4096
"""Counts of an encoder over one turn of the motor."""


class Size(NamedTuple):
    """Numbers that a generic drive is sized from, in the unit of the actuator's coordinate."""

    force: float
    speed: float
    stroke: float
    mobility: float
    """largest acceleration per force of the platform at home [1/kg, 1/(kg m2)]"""
    source: str


def generic_hardware(machine: MachineParameters) -> dict[str, Any]:
    """Return the table of a configuration with generic drives and encoders."""
    size = _size(machine)
    table: dict[str, Any] = {"source": size.source, "leg": {}}
    if getattr(machine.leg, "drive", None) is not None:
        return {"source": OWN_DRIVES, "leg": {}}
    leg: dict[str, Any] = {"drive": _drive(machine, size), "encoder": {"counts": COUNTS}}
    for entry in leg.values():
        entry["source"] = size.source
    return table | {"leg": leg}


def is_generic(table: dict[str, Any]) -> bool:
    """Return whether a configuration is one that `generic_hardware` returned."""
    return str(table.get("source", "")).startswith((GENERIC, OWN_DRIVES))


def _size(machine: MachineParameters) -> Size:
    actuator = machine.leg.actuator
    unit, effort = actuator.coordinate_unit, actuator.effort_unit
    stroke = min(leg.actuator.stroke for leg in machine.legs)
    body, rows = machine.platform.body, machine.home_jacobian
    moment = np.cross(body.center_of_mass, [0.0, 0.0, 1.0])
    mass = body.mass + sum(leg.mass for leg in machine.legs)
    weight = mass * max(machine.gravity, 1.0) * np.array([0.0, 0.0, 1.0, *moment])
    held = float(np.abs(np.linalg.pinv(rows.T) @ weight).max())
    notes = []
    force, speed = actuator.effort, actuator.speed
    name = "torque" if unit == "rad" else "force"
    if force is None:
        force = HELD * held
        notes.append(f"{HELD:g} times the {name} that holds the machine at home")
    if speed is None:
        speed = stroke / STROKE_TIME
        notes.append("one stroke a second")
    numbers = f"{name} {force:.4g} {effort}, speed {speed:.4g} {unit}/s, stroke {stroke:.4g} {unit}"
    given = f"; not in the file, adopted: {', '.join(notes)}" if notes else ""
    inverse = np.zeros((6, 6))
    inverse[:3, :3], inverse[3:, 3:] = np.eye(3) / body.mass, np.linalg.inv(body.inertia)
    mobility = float(np.linalg.eigvalsh(rows @ inverse @ rows.T)[-1])
    return Size(force, speed, stroke, mobility, f"{GENERIC}, sized from {numbers}{given}")


def _drive(machine: MachineParameters, size: Size) -> dict[str, Any]:
    """Return the table `[leg.drive]`: a screw, or a gear for cranks; no motor for struts."""
    if machine.leg.has_axial_spring:
        return {"kind": "direct", "scale_period": 1e-3 * size.stroke, **ELECTRONICS}
    ratio = MOTOR_SPEED / size.speed
    soft = SHARE / (STEP**2 * size.mobility)
    stiffness = min(size.force / (WIND_UP * size.stroke), soft, STIFFEST)
    turning = {"kind": "gear", "ratio": ratio}
    if machine.leg.actuator.coordinate_unit == "m":
        turning = {"kind": "screw", "lead": 2.0 * math.pi / ratio}
    return {
        **turning,
        "armature_inertia": START_TIME * size.force / size.speed / ratio**2,
        "friction_torque": FRICTION * size.force / ratio,
        "viscous_torque": VISCOUS * size.force / size.speed / ratio**2,
        "breakaway": 1.3,
        "stribeck_speed": 0.01 * size.speed,
        "stiffness": stiffness,
        "damping": 2.0 * DAMPING_RATIO * math.sqrt(stiffness / size.mobility),
        "backlash": BACKLASH * size.stroke,
        "peak": size.force,
        "brake_torque": BRAKE * size.force / ratio,
        "brake_engage_time": 0.05,
        "brake_release_time": 0.02,
        "overtravel": OVERTRAVEL * size.stroke,
        **ELECTRONICS,
    }
