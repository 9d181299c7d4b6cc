"""A UPS leg in its joint coordinates: the two angles of its universal joint, and its length.

The two angles point a leg or a rod: about an axis fixed in the base, and across it. With the second
axis x0 at home and the first axis s1, x = cos(phi) x0 - sin(phi) n0 with n0 = x0 x s1; the
elevation of s1 in the leg frame is that at home less psi.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, BASE_JOINT
from twin.kernels.legs.ups import (
    HOUSING_CENTER,
    HOUSING_MASS,
    ROD_CENTER,
    ROD_MASS,
    SINGULAR_SINE,
    fixed_tensor_times,
    in_base,
    leg_tensor,
)
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


@device
def point_along(rows: FloatArray, model: Model, work: Work, i: int, vector: Vector) -> bool:
    """Fill both angles of leg i from a vector along it; False where it is the first axis."""
    first_axis, second_axis = row(rows, i, AXIS), row(model.second_axes, i, 0)
    second_component, third_component = (
        dot(vector, second_axis),
        dot(vector, cross(second_axis, first_axis)),
    )
    transverse_norm = sqrt(second_component * second_component + third_component * third_component)
    work.legs[i, LEG_JOINT] = atan2(second_component, third_component)
    work.legs[i, LEG_JOINT + 1] = model.home_angles[i] - atan2(
        dot(vector, first_axis), transverse_norm
    )
    return transverse_norm > SINGULAR_SINE * sqrt(dot(vector, vector))


@device
def fill_frame(
    rows: FloatArray, model: Model, work: Work, i: int
) -> tuple[Vector, Vector, Vector, float]:
    """Fill axes and elevation of leg i from its angles; return x, y, z and the cosine."""
    first_axis, second_axis = row(rows, i, AXIS), row(model.second_axes, i, 0)
    third_axis = cross(second_axis, first_axis)
    cosine, sine = cos(work.legs[i, LEG_JOINT]), sin(work.legs[i, LEG_JOINT])
    x = subtract(scale(cosine, second_axis), scale(sine, third_axis))
    normal = add(scale(cosine, third_axis), scale(sine, second_axis))
    angle = model.home_angles[i] - work.legs[i, LEG_JOINT + 1]
    c, s = cos(angle), sin(angle)
    y = subtract(scale(c, first_axis), scale(s, normal))
    z = add(scale(s, first_axis), scale(c, normal))
    put(work.legs, i, LEG_AXES, x)
    put(work.legs, i, LEG_AXES + 3, y)
    put(work.legs, i, LEG_AXES + 6, z)
    work.legs[i, LEG_ELEVATION], work.legs[i, LEG_ELEVATION + 1] = c, s
    return x, y, z, c


@device
def leg_axes(work: Work, i: int) -> tuple[Vector, Vector, Vector]:
    """Return the axes x, y, z of leg i in the base."""
    return (
        row(work.legs, i, LEG_AXES),
        row(work.legs, i, LEG_AXES + 3),
        row(work.legs, i, LEG_AXES + 6),
    )


@device
def angular_motion(work: Work, i: int) -> tuple[Vector, Vector]:
    """Return angular velocity, and angular acceleration without second rates, leg frame."""
    c, s = work.legs[i, LEG_ELEVATION], work.legs[i, LEG_ELEVATION + 1]
    first_rate, second_rate = work.legs[i, LEG_RATE], work.legs[i, LEG_RATE + 1]
    omega = (second_rate, c * first_rate, s * first_rate)
    return omega, (0.0, second_rate * omega[2], -second_rate * omega[1])


@device
def point_bias(omega: Vector, alpha: Vector, rate: float, point: Vector) -> Vector:
    """Return the acceleration of a point that slides along the leg, leg frame, without l''."""
    centrifugal = cross(omega, add(cross(omega, point), (0.0, 0.0, 2.0 * rate)))
    return add(cross(alpha, point), centrifugal)


@device
def find_joints(rows: FloatArray, model: Model, work: Work, i: int, vector: Vector) -> bool:
    """Fill the joint coordinates of a leg whose tip is at `vector` from its base joint."""
    work.legs[i, LEG_JOINT + 2] = sqrt(dot(vector, vector))
    return point_along(rows, model, work, i, vector)


@device
def place_leg(rows: FloatArray, model: Model, work: Work, i: int) -> None:
    """Fill frame, tip, T = [l c x, -l y, z] and its inverse; the columns are orthogonal."""
    x, y, z, c = fill_frame(rows, model, work, i)
    length = work.legs[i, LEG_JOINT + 2]
    put(work.legs, i, LEG_TIP, add(row(rows, i, BASE_JOINT), scale(length, z)))
    columns, inverse = work.tip_columns[i], work.tip_inverses[i]
    put(columns, 0, 0, scale(length * c, x))
    put(columns, 1, 0, scale(-length, y))
    put(columns, 2, 0, z)
    put(inverse, 0, 0, scale(1.0 / (length * c), x))
    put(inverse, 1, 0, scale(-1.0 / length, y))
    put(inverse, 2, 0, z)


@device
def move_leg(rows: FloatArray, model: Model, work: Work, i: int, gravity: Vector) -> None:
    """Fill the tip's bias and the leg's block of mass and bias from joints and rates."""
    x, y, z = leg_axes(work, i)
    c, s = work.legs[i, LEG_ELEVATION], work.legs[i, LEG_ELEVATION + 1]
    rate, length = work.legs[i, LEG_RATE + 2], work.legs[i, LEG_JOINT + 2]
    omega, alpha = angular_motion(work, i)
    bias = point_bias(omega, alpha, rate, (0.0, 0.0, length))
    put(work.legs, i, LEG_TIP_BIAS, in_base(x, y, z, bias))
    mass, center = rows[i, ROD_MASS], row(rows, i, ROD_CENTER)
    center = (center[0], center[1], center[2] + length)
    weight = (dot(gravity, x), dot(gravity, y), dot(gravity, z))
    rod = scale(mass, subtract(point_bias(omega, alpha, rate, center), weight))
    inertia_moment = add(
        fixed_tensor_times(rows, i, alpha), cross(omega, fixed_tensor_times(rows, i, omega))
    )
    housing = cross(scale(rows[i, HOUSING_MASS], row(rows, i, HOUSING_CENTER)), weight)
    moment = add(inertia_moment, subtract(cross(center, rod), housing))
    put(work.legs, i, LEG_BIAS, (c * moment[1] + s * moment[2], moment[0], rod[2]))
    fill_leg_mass(rows, i, c, s, mass, center, work.leg_mass[i])


@device
def fill_leg_mass(
    rows: FloatArray, i: int, c: float, s: float, mass: float, center: Vector, block: FloatArray
) -> None:
    """Fill the mass matrix (3, 3) of leg i in its joint coordinates: both angles and the length.

    `mass` and `center` are those of the rod, the centre at the present length; the leg's tensor
    covers housing and rod.
    """
    cx, cy, _ = center
    xx, yy, zz, xy, xz, yz = leg_tensor(rows, i, mass, center)
    block[0, 0] = c * c * yy + 2.0 * c * s * yz + s * s * zz
    block[0, 1] = block[1, 0] = c * xy + s * xz
    block[1, 1] = xx
    block[0, 2] = block[2, 0] = -mass * c * cx
    block[1, 2] = block[2, 1] = mass * cy
    block[2, 2] = mass


@device
def leg_potential(rows: FloatArray, work: Work, i: int, gravity: Vector) -> float:
    """Return the potential energy [J]; zero at the base's origin."""
    x, y, z = leg_axes(work, i)
    weight = (dot(gravity, x), dot(gravity, y), dot(gravity, z))
    housing, rod = rows[i, HOUSING_MASS], rows[i, ROD_MASS]
    fallen = housing * dot(row(rows, i, HOUSING_CENTER), weight)
    fallen += rod * (
        dot(row(rows, i, ROD_CENTER), weight) + work.legs[i, LEG_JOINT + 2] * weight[2]
    )
    return -fallen - (housing + rod) * dot(gravity, row(rows, i, BASE_JOINT))


@device
def leg_regular(rows: FloatArray, work: Work, i: int) -> bool:
    """Return False where the leg lies along its first axis or has no length."""
    return work.legs[i, LEG_ELEVATION] > SINGULAR_SINE and work.legs[i, LEG_JOINT + 2] > 0.0
