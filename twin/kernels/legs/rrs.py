"""RRS legs, a crank, a rod on a second hinge and a ball joint: RSS legs that stay in a plane."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs import planes, rss
from twin.kernels.legs.interface import AXIS, Acceleration, PlatformState
from twin.kernels.legs.rss import CRANK_LENGTH, ROD_LENGTH, SMALLEST_GAIN, nearest
from twin.kernels.legs.ups import home_axis
from twin.kernels.linear_algebra import row

JOINT_COUNT = 2

LEG_SIZE = rss.LEG_SIZE

CONSTRAINT_COUNT = planes.CONSTRAINT_COUNT

fill_constraints = planes.fill_constraints

project_onto_constraints = planes.project_onto_constraints


class RrsLegs(NamedTuple):
    """Constants of legs with crank, hinged elbow and slender rod."""

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
    """Fill `out` (2, 3): angle, rate and acceleration of crank and elbow.

    The angles are zero at home. Returns False where crank and rod are nearly aligned.
    """
    linkage, velocity, rod_acceleration = rss.fill_crank(legs, home, i, state, acceleration, out)
    angle, rate, second_rate, _, _ = planes.hinge_motion(
        row(legs, i, AXIS),
        home_axis(home, i, 2),
        linkage.rod,
        legs[i, ROD_LENGTH],
        velocity,
        rod_acceleration,
    )
    # `angle` is that of the rod from home; the elbow's is relative to the crank, which has turned.
    out[1, 0] = nearest(angle - out[0, 0], 0.0)
    out[1, 1] = rate - out[0, 1]
    out[1, 2] = second_rate - out[0, 2]
    return abs(linkage.gain) > SMALLEST_GAIN * legs[i, CRANK_LENGTH]
