"""RSS leg in its joint coordinates: two angles of the rod against the base, and the crank's.

The rod's first angle turns about the crank's axis u, from the base and not from the crank, so that
the tip a + l_c c + l_r z has the velocity T q' with T = [l_r cos x, -l_r y, l_c c']. A slender rod
whose ends move with v_e and v_e + w has the kinetic energy m (3 v_e^2 + 3 v_e . w + w^2) / 6.

Reference: extended-configuration-space paper, section 6; derivation in docs/reproductions.md.
"""

from __future__ import annotations

from math import cos, sin

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, BASE_JOINT
from twin.kernels.legs.rss import (
    CRANK_INERTIA,
    CRANK_LENGTH,
    CRANK_MASS,
    CRANK_MOMENT,
    ROD_LENGTH,
    ROD_MASS,
    SMALLEST_GAIN,
    ZERO_DIRECTION,
    crank_angle,
)
from twin.kernels.legs.ups import SINGULAR_SINE, in_base
from twin.kernels.linear_algebra import Vector, add, cross, dot, row, scale, subtract
from twin.papers.formulations.kernels.arrays import (
    LEG_AXES,
    LEG_BIAS,
    LEG_ELEVATION,
    LEG_JOINT,
    LEG_RATE,
    LEG_TIP,
    LEG_TIP_BIAS,
    Model,
    Work,
    put,
)
from twin.papers.formulations.kernels.legs.ups import (
    angular_motion,
    fill_frame,
    leg_axes,
    point_along,
    point_bias,
)


@device
def crank_direction(rows: FloatArray, i: int, angle: float) -> Vector:
    """Return the direction c of the crank at an angle."""
    axis, zero = row(rows, i, AXIS), row(rows, i, ZERO_DIRECTION)
    return add(scale(cos(angle), zero), scale(sin(angle), cross(axis, zero)))


@device
def find_joints(rows: FloatArray, model: Model, work: Work, i: int, vector: Vector) -> bool:
    """Fill the joint coordinates of a leg whose tip is at `vector` from its base joint."""
    angle = crank_angle(rows, i, vector)
    work.legs[i, LEG_JOINT + 2] = angle
    elbow = scale(rows[i, CRANK_LENGTH], crank_direction(rows, i, angle))
    return point_along(rows, model, work, i, subtract(vector, elbow))


@device
def place_leg(rows: FloatArray, model: Model, work: Work, i: int) -> None:
    """Fill frame of the rod, tip, T and its inverse."""
    x, y, z, c = fill_frame(rows, model, work, i)
    crank = crank_direction(rows, i, work.legs[i, LEG_JOINT + 2])
    crank_tangent = scale(rows[i, CRANK_LENGTH], cross(row(rows, i, AXIS), crank))
    rod_length = rows[i, ROD_LENGTH]
    elbow = add(row(rows, i, BASE_JOINT), scale(rows[i, CRANK_LENGTH], crank))
    put(work.legs, i, LEG_TIP, add(elbow, scale(rod_length, z)))
    columns, inverse = work.tip_columns[i], work.tip_inverses[i]
    put(columns, 0, 0, scale(rod_length * c, x))
    put(columns, 1, 0, scale(-rod_length, y))
    put(columns, 2, 0, crank_tangent)
    third_column = scale(1.0 / dot(crank_tangent, z), z)
    first_column = subtract(x, scale(dot(crank_tangent, x), third_column))
    second_column = subtract(y, scale(dot(crank_tangent, y), third_column))
    put(inverse, 0, 0, scale(1.0 / (rod_length * c), first_column))
    put(inverse, 1, 0, scale(-1.0 / rod_length, second_column))
    put(inverse, 2, 0, third_column)


@device
def move_leg(rows: FloatArray, model: Model, work: Work, i: int, gravity: Vector) -> None:
    """Fill the tip's bias and the leg's block of mass and bias from joints and rates."""
    x, y, z = leg_axes(work, i)
    columns, axis = work.tip_columns[i], row(rows, i, AXIS)
    first_column, second_column, third_column = (
        row(columns, 0, 0),
        row(columns, 1, 0),
        row(columns, 2, 0),
    )
    rate, mass = work.legs[i, LEG_RATE + 2], rows[i, ROD_MASS]
    omega, alpha = angular_motion(work, i)
    rod = in_base(x, y, z, point_bias(omega, alpha, 0.0, (0.0, 0.0, rows[i, ROD_LENGTH])))
    crank = cross(third_column, axis)
    elbow = scale(-rate * rate, crank)
    put(work.legs, i, LEG_TIP_BIAS, add(elbow, rod))
    # Forces that belong to w and to v_e; that of the crank's weight has no other place.
    rod_moment = scale(mass, add(scale(0.5, subtract(elbow, gravity)), scale(1.0 / 3.0, rod)))
    rod_force = scale(mass, subtract(scale(0.5, rod), gravity))
    crank_weight_moment = dot(cross(axis, crank_moment(rows, i, third_column, crank)), gravity)
    put(
        work.legs,
        i,
        LEG_BIAS,
        (
            dot(first_column, rod_moment),
            dot(second_column, rod_moment),
            dot(third_column, rod_force) - crank_weight_moment,
        ),
    )
    block = work.leg_mass[i]
    block[0, 0] = mass / 3.0 * dot(first_column, first_column)
    block[1, 1] = mass / 3.0 * dot(second_column, second_column)
    block[2, 2] = mass * dot(third_column, third_column) + rows[i, CRANK_INERTIA]
    block[0, 1] = block[1, 0] = 0.0
    block[0, 2] = block[2, 0] = 0.5 * mass * dot(first_column, third_column)
    block[1, 2] = block[2, 1] = 0.5 * mass * dot(second_column, third_column)


@device
def crank_moment(rows: FloatArray, i: int, turning: Vector, crank: Vector) -> Vector:
    """Return mass times centre of mass of the crank; `turning` and `crank` are l_c c', l_c c."""
    moment, inverse = row(rows, i, CRANK_MOMENT), 1.0 / rows[i, CRANK_LENGTH]
    center_offset = add(scale(moment[0], row(rows, i, AXIS)), scale(moment[1] * inverse, turning))
    return add(center_offset, scale(moment[2] * inverse, crank))


@device
def leg_potential(rows: FloatArray, work: Work, i: int, gravity: Vector) -> float:
    """Return the potential energy [J]; zero at the base's origin."""
    tip_column, base = row(work.tip_columns[i], 2, 0), row(rows, i, BASE_JOINT)
    crank = cross(tip_column, row(rows, i, AXIS))
    ends = add(add(base, crank), row(work.legs, i, LEG_TIP))
    moment = add(crank_moment(rows, i, tip_column, crank), scale(rows[i, CRANK_MASS], base))
    return -dot(gravity, add(scale(0.5 * rows[i, ROD_MASS], ends), moment))


@device
def leg_regular(rows: FloatArray, work: Work, i: int) -> bool:
    """Return False where the rod lies along the crank's axis, or in line with the crank."""
    gain = dot(row(work.tip_columns[i], 2, 0), row(work.legs, i, LEG_AXES + 6))
    straight = abs(gain) > SMALLEST_GAIN * rows[i, CRANK_LENGTH]
    return work.legs[i, LEG_ELEVATION] > SINGULAR_SINE and straight
