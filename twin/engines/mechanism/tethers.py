"""Angles that passive joints allow, as distances between points of the bodies that they join."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from twin.engines.mechanism.mechanism import Mechanism
from twin.machine.legs.joint_limit import JointLimit
from twin.machine.legs.leg import Leg, unit
from twin.machine.mechanism.parts import PLATFORM, Point, Tether

ARM_SHARE = 0.1
"""Distance of both points from their joint, per length of the leg or rod at home."""


def joint_tethers(
    machine: Mechanism, legs: Sequence[Leg]
) -> tuple[tuple[Point, ...], tuple[Tether, ...]]:
    """Return points and tethers for the `maximum_angle` of base, elbow and platform joints.

    One point lies in the direction of the leg or rod, the other in the neutral direction, on the
    body that carries the joint. Both are at a distance r from the joint, so that they are
    2 r sin(angle / 2) apart.
    """
    points: list[Point] = []
    tethers: list[Tether] = []
    for number, leg in enumerate(legs, start=1):
        for field in ("base_joint", "elbow_joint", "platform_joint"):
            limit = getattr(leg, field, None)
            if limit is not None:
                start = "elbow" if leg.has_crank else "base_joint"
                ends, tether = _tether(machine, number, start, field, limit)
                points += ends
                tethers.append(tether)
    return tuple(points), tuple(tethers)


def _tether(
    machine: Mechanism, number: int, start: str, field: str, limit: JointLimit
) -> tuple[list[Point], Tether]:
    """Return the points and the tether of one joint; the leg or rod begins at point `start`."""
    leg = f"leg_{number}"
    first, tip = machine.point(f"{leg}_{start}"), machine.point(f"{leg}_tip")
    along = machine.home_place(tip) - machine.home_place(first)
    if field == "platform_joint":
        joint, carrier, body, away = tip, PLATFORM, tip.body, -along
    else:
        joint, carrier, body, away = first, first.body, machine.moved_by(f"{leg}_first"), along
    neutral = away
    if limit.neutral is not None:
        neutral = machine.home_frames[carrier][1] @ np.array(limit.neutral)
    arm = ARM_SHARE * float(np.linalg.norm(along))
    points = []
    for end, owner, direction in (("direction", body, away), ("neutral", carrier, neutral)):
        origin, turn = machine.home_frames[owner]
        place = machine.home_place(joint) + arm * unit(direction)
        points.append(Point(f"{leg}_{field}_{end}", owner, turn.T @ (place - origin)))
    length = 2.0 * arm * math.sin(0.5 * limit.maximum_angle)
    return points, Tether(f"{leg}_{field}_limit", points[0].name, points[1].name, length)
