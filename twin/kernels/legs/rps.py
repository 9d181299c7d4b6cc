"""RPS legs, a hinge, a prismatic actuator and a ball joint: UPS legs that stay in a plane."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs import planes, ups
from twin.kernels.legs.interface import AXIS, HOME_COORDINATE, Acceleration, PlatformState
from twin.kernels.legs.ups import home_axis, leg_line, tip_motion
from twin.kernels.linear_algebra import row

JOINT_COUNT = 2

LEG_SIZE = ups.LEG_SIZE

CONSTRAINT_COUNT = planes.CONSTRAINT_COUNT

fill_constraints = planes.fill_constraints

project_onto_constraints = planes.project_onto_constraints


class RpsLegs(NamedTuple):
    """Constants of legs with hinge, prismatic actuator and spherical joint."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (2, 3) with (angle of the hinge, extension)."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    tip_velocity, tip_acceleration = tip_motion(arm, state, acceleration)
    out[0, 0], out[0, 1], out[0, 2], out[1, 1], out[1, 2] = planes.hinge_motion(
        row(legs, i, AXIS),
        home_axis(home, i, 2),
        along,
        length,
        tip_velocity,
        tip_acceleration,
    )
    out[1, 0] = length - home[i, HOME_COORDINATE]
    return length > 0.0
