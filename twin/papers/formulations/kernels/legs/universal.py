"""Two angles that point a leg or a rod: about an axis fixed in the base, and across it.

With the second axis x0 at home and the first axis s1, x = cos(phi) x0 - sin(phi) n0 with
n0 = x0 x s1; the elevation of s1 in the leg frame is that at home less psi.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS
from twin.kernels.legs.ups import SINGULAR_SINE
from twin.kernels.linear_algebra import Vector, add, cross, dot, row, scale, subtract
from twin.papers.formulations.kernels.arrays import (
    LEG_AXES,
    LEG_ELEVATION,
    LEG_JOINT,
    LEG_RATE,
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
