"""UPS leg: effective mass and bias force at the tip, kinetic and potential energy.

In the leg frame (x = s2, y = Z x s2, z = Z) the tip's acceleration determines the leg's angular
acceleration and the second rate of its length; Newton and Euler about the base joint give the
moment N and the axial force F_z; virtual power gives the tip force

    F = ((N_y + tan(psi) N_z) / l,  -N_x / l,  F_z).

Derivation in docs/dynamics.md. Two bodies on the axis with axisymmetric tensors make the effective
mass diagonal; the general case is diagonalised by L D L^T, so that both answer with three
directions and three masses.

Reference: idea of leg-natural coordinates from the extended-configuration-space paper, section 3.
"""

from __future__ import annotations

from twin.kernels.jit import device
from twin.kernels.legs.kinds import AXIS, BASE_JOINT, GEOMETRY_SIZE
from twin.kernels.legs.ups.kinematics import leg_acceleration, leg_frame, leg_line, leg_rotation
from twin.kernels.vectors import add, cross, dot, row, scale, subtract

AXISYMMETRIC = GEOMETRY_SIZE
"""1 where centres of mass lie on the axis and the tensors are diag(a, a, b)."""
HOUSING_MASS = GEOMETRY_SIZE + 1
HOUSING_CENTER = GEOMETRY_SIZE + 2
ROD_MASS = GEOMETRY_SIZE + 5
ROD_CENTER = GEOMETRY_SIZE + 6
TENSOR = GEOMETRY_SIZE + 9
"""Housing about the base joint plus rod about its own centre: xx, yy, zz, xy, xz, yz."""
LEG_SIZE = GEOMETRY_SIZE + 15

SINGULAR_SINE = 1e-6
"""Sine of the angle between leg and first axis below which the leg's spin is undefined."""


@device
def fixed_tensor_times(legs, i, a):
    """Return the length-independent part of the leg's tensor times a vector, leg frame."""
    xx, yy, zz = legs[i, TENSOR], legs[i, TENSOR + 1], legs[i, TENSOR + 2]
    xy, xz, yz = legs[i, TENSOR + 3], legs[i, TENSOR + 4], legs[i, TENSOR + 5]
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )


@device
def leg_tensor(legs, i, mass, center):
    """Return the tensor of leg i about its base joint, leg frame: xx, yy, zz, xy, xz, yz.

    The rod has the given mass and its centre at `center` [m] from the base joint.
    """
    cx, cy, cz = center
    return (
        legs[i, TENSOR] + mass * (cy * cy + cz * cz),
        legs[i, TENSOR + 1] + mass * (cx * cx + cz * cz),
        legs[i, TENSOR + 2] + mass * (cx * cx + cy * cy),
        legs[i, TENSOR + 3] - mass * cx * cy,
        legs[i, TENSOR + 4] - mass * cx * cz,
        legs[i, TENSOR + 5] - mass * cy * cz,
    )


@device
def tip_response(legs, i, direction, length, tip_velocity, tip_acceleration, gravity):
    """Return how leg i answers at its tip, without actuator force; base frame.

    Args:
        legs: leg constants `(n, LEG_SIZE)`.
        i: leg.
        direction: unit vector from base joint to tip.
        length: [m].
        tip_velocity: [m/s].
        tip_acceleration: the part of the tip's acceleration that is already known [m/s2].
        gravity: what every body feels, base axes [m/s2].

    Returns:
        Three directions u_k, three masses m_k and a force f, so that moving the tip with
        `tip_acceleration + a` takes the force `sum m_k u_k (u_k . a) + f`; and a flag that is
        False where the leg lies along its first axis.
    """
    x, y, tangent, cosine = leg_frame(row(legs, i, AXIS), direction)
    omega, rate = leg_rotation(x, y, direction, tangent, length, tip_velocity)
    known = (dot(tip_acceleration, x), dot(tip_acceleration, y), dot(tip_acceleration, direction))
    alpha, second_rate = leg_acceleration(omega, rate, tangent, length, known)
    weight = (dot(gravity, x), dot(gravity, y), dot(gravity, direction))
    inverse = 1.0 / length
    regular = cosine > SINGULAR_SINE
    if legs[i, AXISYMMETRIC] == 1.0:
        masses, force = axisymmetric_response(
            legs, i, omega, alpha, rate, second_rate, weight, tangent, length, inverse
        )
        return x, y, direction, masses, in_base(x, y, direction, force), regular
    lower, masses, force = general_response(
        legs, i, omega, alpha, rate, second_rate, weight, tangent, length, inverse
    )
    first = add(x, add(scale(lower[0], y), scale(lower[1], direction)))
    second = add(y, scale(lower[2], direction))
    return first, second, direction, masses, in_base(x, y, direction, force), regular


@device
def in_base(x, y, z, a):
    """Return the base-frame vector with leg-frame components a."""
    return (
        x[0] * a[0] + y[0] * a[1] + z[0] * a[2],
        x[1] * a[0] + y[1] * a[1] + z[1] * a[2],
        x[2] * a[0] + y[2] * a[1] + z[2] * a[2],
    )


@device
def axisymmetric_response(
    legs, i, omega, alpha, rate, second_rate, weight, tangent, length, inverse
):
    """Return effective masses and force of a leg whose bodies are axisymmetric, leg frame."""
    mass = legs[i, ROD_MASS]
    reach = length + legs[i, ROD_CENTER + 2]
    across, axial = legs[i, TENSOR], legs[i, TENSOR + 2]
    lever = mass * reach
    transverse = across + lever * reach
    spread = transverse - axial
    coriolis = 2.0 * lever * rate
    fall = legs[i, HOUSING_MASS] * legs[i, HOUSING_CENTER + 2] + lever
    moment_x = (
        transverse * alpha[0]
        - spread * omega[1] * omega[2]
        + coriolis * omega[0]
        + fall * weight[1]
    )
    moment_y = (
        transverse * alpha[1]
        + spread * omega[0] * omega[2]
        + coriolis * omega[1]
        - fall * weight[0]
    )
    moment_z = axial * alpha[2]
    spin = omega[0] * omega[0] + omega[1] * omega[1]
    force = (
        (moment_y + tangent * moment_z) * inverse,
        -moment_x * inverse,
        mass * (second_rate - reach * spin - weight[2]),
    )
    square = inverse * inverse
    return ((transverse + tangent * tangent * axial) * square, transverse * square, mass), force


@device
def general_response(legs, i, omega, alpha, rate, second_rate, weight, tangent, length, inverse):
    """Return L (three entries), D and the force of a leg with general bodies, leg frame."""
    mass = legs[i, ROD_MASS]
    center = row(legs, i, ROD_CENTER)
    center = (center[0], center[1], center[2] + length)
    spin = cross(omega, add(cross(omega, center), (0.0, 0.0, 2.0 * rate)))
    rod = add(add(cross(alpha, center), spin), (0.0, 0.0, second_rate))
    rod = scale(mass, subtract(rod, weight))
    moment = add(
        add(fixed_tensor_times(legs, i, alpha), cross(omega, fixed_tensor_times(legs, i, omega))),
        subtract(
            cross(center, rod),
            cross(scale(legs[i, HOUSING_MASS], row(legs, i, HOUSING_CENTER)), weight),
        ),
    )
    force = ((moment[1] + tangent * moment[2]) * inverse, -moment[0] * inverse, rod[2])

    square = inverse * inverse
    xx, yy, zz, xy, xz, yz = leg_tensor(legs, i, mass, center)
    e_xx = (yy + tangent * (2.0 * yz + tangent * zz)) * square
    e_xy = -(xy + tangent * xz) * square
    e_xz = -mass * center[0] * inverse
    e_yy = xx * square
    e_yz = -mass * center[1] * inverse
    reciprocal = 1.0 / e_xx
    l_yx, l_zx = e_xy * reciprocal, e_xz * reciprocal
    d_y = e_yy - l_yx * e_xy
    l_zy = (e_yz - l_zx * e_xy) / d_y
    d_z = mass - l_zx * e_xz - l_zy * l_zy * d_y
    return (l_yx, l_zx, l_zy), (e_xx, d_y, d_z), force


@device
def tip_energy(legs, i, direction, length, tip_velocity, gravity):
    """Return kinetic and potential energy [J] of leg i; potential zero at the base's origin."""
    x, y, tangent, _ = leg_frame(row(legs, i, AXIS), direction)
    omega, rate = leg_rotation(x, y, direction, tangent, length, tip_velocity)
    center = row(legs, i, ROD_CENTER)
    center = (center[0], center[1], center[2] + length)
    rod = add(cross(omega, center), (0.0, 0.0, rate))
    mass, housing = legs[i, ROD_MASS], legs[i, HOUSING_MASS]
    kinetic = 0.5 * (dot(omega, fixed_tensor_times(legs, i, omega)) + mass * dot(rod, rod))
    moment = add(scale(housing, row(legs, i, HOUSING_CENTER)), scale(mass, center))
    weight = (dot(gravity, x), dot(gravity, y), dot(gravity, direction))
    fallen = dot(weight, moment) + (housing + mass) * dot(gravity, row(legs, i, BASE_JOINT))
    return kinetic, -fallen


@device
def response(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return how leg i answers the platform; see `twin.kernels.legs.dynamics`."""
    arm, along, length = leg_line(legs, i, position, matrix)
    arm_rate = cross(omega, arm)
    first, second, third, masses, force, regular = tip_response(
        legs, i, along, length, add(velocity, arm_rate), cross(omega, arm_rate), gravity
    )
    return arm, along, first, second, third, masses, force, regular and length > 0.0


@device
def leg_energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return kinetic and potential energy and dissipated power; see `response`."""
    arm, along, length = leg_line(legs, i, position, matrix)
    tip_velocity = add(velocity, cross(omega, arm))
    kinetic, potential = tip_energy(legs, i, along, length, tip_velocity, gravity)
    return kinetic, potential, 0.0
