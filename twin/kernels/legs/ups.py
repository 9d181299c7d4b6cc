"""UPS legs, which are telescopic: kinematics and dynamics.

Here and in the other kinds, leg constants are rows of an array, of which kinematics reads the
geometry alone. See docs/theory.md for symbols.

The dynamics are effective mass and bias force at the tip. In the leg frame (x = s2, y = Z x s2, z =
Z) the tip's acceleration determines the leg's angular acceleration and the second rate of its
length; Newton and Euler about the base joint give the moment N and the axial force F_z; virtual
power gives the tip force

    F = ((N_y + tan(psi) N_z) / l,  -N_x / l,  F_z).

Derivation in docs/theory.md. Two bodies on the axis with axisymmetric tensors make the effective
mass diagonal; the general case is diagonalised by L D L^T. Both give three directions and three
masses.

Reference: idea of leg-natural coordinates from the extended-configuration-space paper, section 3.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import (
    AXIS,
    BASE_JOINT,
    GEOMETRY_SIZE,
    HOME_COORDINATE,
    PLATFORM_JOINT,
    Acceleration,
    LegResponse,
    PlatformState,
)
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    norm,
    rotate,
    row,
    scale,
    subtract,
)

JOINT_COUNT = 3

UNDEFINED_ANGLE_SINE = 1e-9
"""Sine of the angle between leg and first axis below which the joint's angles are undefined."""

SINGULAR_SINE = 1e-6
"""Sine of the same angle below which the leg's spin is undefined."""

AXISYMMETRIC = GEOMETRY_SIZE
"""1 where centres of mass lie on the axis and the tensors are diag(a, a, b)."""

HOUSING_MASS = GEOMETRY_SIZE + 1

HOUSING_CENTER = GEOMETRY_SIZE + 2
"""[m] From the base joint, in the frame of the leg."""

ROD_MASS = GEOMETRY_SIZE + 5

ROD_CENTER = GEOMETRY_SIZE + 6
"""[m] From the tip, in the frame of the leg: z is below zero towards the base."""

LEG_TENSOR = GEOMETRY_SIZE + 9
"""Housing about the base joint plus rod about its own centre: xx, yy, zz, xy, xz, yz."""

LEG_SIZE = GEOMETRY_SIZE + 15


@device
def leg_vector(legs: FloatArray, i: int, position: Vector, matrix: Matrix) -> tuple[Vector, Vector]:
    """Return arm r = R b_i and leg vector d = p + r - a_i, base frame."""
    arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    return arm, subtract(add(position, arm), row(legs, i, BASE_JOINT))


@device
def leg_line(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return arm, unit direction and length of leg i, base frame."""
    arm, vector = leg_vector(legs, i, position, matrix)
    length = norm(vector)
    return arm, scale(1.0 / length, vector), length


@device
def actuation(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return w, its moment and the leg's length; see `twin.kernels.legs.dispatch`."""
    arm, along, length = leg_line(legs, i, position, matrix)
    return along, cross(arm, along), length


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and arm x w, the row of the Jacobian."""
    arm, direction, length = leg_line(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, arm)
    tip_velocity = add(state.velocity, arm_rate)
    length_rate = dot(direction, tip_velocity)
    direction_rate = scale(1.0 / length, subtract(tip_velocity, scale(length_rate, direction)))
    return direction_rate, add(cross(arm_rate, direction), cross(arm, direction_rate))


@device
def leg_frame(first_axis: Vector, direction: Vector) -> tuple[Vector, Vector, float, float]:
    """Return x = s2 = normalise(s1 x Z), y = Z x s2, tan(psi) = (s1.Z) / (s1.y), and |s1 x Z|.

    |s1 x Z| is the sine of the angle between leg and first axis, which is cos(psi).
    """
    normal = cross(first_axis, direction)
    sine = sqrt(dot(normal, normal))
    second_axis = scale(1.0 / sine, normal)
    return second_axis, cross(direction, second_axis), dot(first_axis, direction) / sine, sine


@device
def leg_rotation(
    frame_x: Vector,
    frame_y: Vector,
    direction: Vector,
    tangent: float,
    length: float,
    tip_velocity: Vector,
) -> tuple[Vector, float]:
    """Return the leg's angular velocity in its own frame and the length rate.

    The spin follows from the universal joint: omega_z = tan(psi) omega_y.
    """
    omega_x = -dot(tip_velocity, frame_y) / length
    omega_y = dot(tip_velocity, frame_x) / length
    return (omega_x, omega_y, tangent * omega_y), dot(tip_velocity, direction)


@device
def leg_acceleration(
    omega: Vector, length_rate: float, tangent: float, length: float, tip_acceleration: Vector
) -> tuple[Vector, float]:
    """Return the leg's angular acceleration and the second rate of its length.

    All vectors in the leg frame; the tip accelerates with `tip_acceleration`.
    """
    alpha_x = -(tip_acceleration[1] + 2.0 * length_rate * omega[0]) / length + omega[2] * omega[1]
    alpha_y = (tip_acceleration[0] - 2.0 * length_rate * omega[1]) / length - omega[2] * omega[0]
    alpha_z = tangent * (alpha_y - omega[0] * omega[2]) - omega[0] * omega[1]
    second_rate = tip_acceleration[2] + length * (omega[0] * omega[0] + omega[1] * omega[1])
    return (alpha_x, alpha_y, alpha_z), second_rate


@device
def home_axis(home: FloatArray, i: int, axis: int) -> Vector:
    """Return axis x (0), y (1) or z (2) of the frame of leg i at home, base axes."""
    return home[i, axis], home[i, 3 + axis], home[i, 6 + axis]


@device
def universal_angles(
    home: FloatArray, i: int, first_axis: Vector, x: Vector, y: Vector, along: Vector
) -> tuple[float, float]:
    """Return the angles of a universal joint about its two axes, zero at home.

    Args:
        home: home rows `(n, HOME_SIZE)`.
        i: leg.
        first_axis: first axis.
        x: x axis of the leg frame, the second axis.
        y: y axis of the leg frame.
        along: z axis of the leg frame.
    """
    home_x, home_z = home_axis(home, i, 0), home_axis(home, i, 2)
    home_y = cross(home_z, home_x)
    first_angle = atan2(dot(first_axis, cross(home_x, x)), dot(home_x, x))
    return first_angle, atan2(dot(first_axis, home_z), dot(first_axis, home_y)) - atan2(
        dot(first_axis, along), dot(first_axis, y)
    )


@device
def universal_joint(
    home: FloatArray,
    i: int,
    first_axis: Vector,
    along: Vector,
    length: float,
    velocity: Vector,
    acceleration: Vector,
    out: FloatArray,
) -> tuple[float, float, bool]:
    """Write angles, rates and accelerations of a universal joint; return those of the length.

    The first two rows of `out` (joints, 3) are filled. `velocity` and `acceleration` are those of
    the leg's far end relative to the joint. The last value returned is False where the leg lies
    along the first axis.
    """
    x, y, tangent, axis_sine = leg_frame(first_axis, along)
    if not (length > 0.0 and axis_sine > UNDEFINED_ANGLE_SINE):
        return 0.0, 0.0, False
    angular_velocity, rate = leg_rotation(x, y, along, tangent, length, velocity)
    leg_acceleration_vector = (dot(acceleration, x), dot(acceleration, y), dot(acceleration, along))
    angular_acceleration, second_rate = leg_acceleration(
        angular_velocity, rate, tangent, length, leg_acceleration_vector
    )
    out[0, 0], out[1, 0] = universal_angles(home, i, first_axis, x, y, along)
    out[0, 1] = angular_velocity[1] / axis_sine
    out[1, 1] = angular_velocity[0]
    out[0, 2] = (angular_acceleration[1] - angular_velocity[0] * angular_velocity[2]) / axis_sine
    out[1, 2] = angular_acceleration[0]
    return rate, second_rate, True


@device
def tip_motion(
    arm: Vector, state: PlatformState, acceleration: Acceleration
) -> tuple[Vector, Vector]:
    """Return velocity [m/s] and acceleration [m/s2] of the platform at the end of an arm [m]."""
    arm_rate = cross(state.omega, arm)
    linear = add(acceleration.linear, cross(acceleration.angular, arm))
    return add(state.velocity, arm_rate), add(linear, cross(state.omega, arm_rate))


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (3, 3) with (first angle, second angle, extension)."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    tip_velocity, tip_acceleration = tip_motion(arm, state, acceleration)
    rate, second_rate, regular = universal_joint(
        home, i, row(legs, i, AXIS), along, length, tip_velocity, tip_acceleration, out
    )
    out[2, 0] = length - home[i, HOME_COORDINATE]
    out[2, 1] = rate
    out[2, 2] = second_rate
    return regular


Tensor = tuple[float, float, float, float, float, float]
"""Inertia tensor [kg m2]: xx, yy, zz, xy, xz, yz"""


class UpsLegs(NamedTuple):
    """Constants of legs with universal joint, prismatic actuator and spherical joint."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


class LegMotion(NamedTuple):
    """Motion of a leg in its own frame, under the part of the acceleration already known."""

    length: float
    """[m] length of the leg"""
    rate: float
    """first time derivative of the length [m/s]"""
    second_rate: float
    """second time derivative of the length [m/s2]"""
    tangent: float
    """tan(psi)"""
    omega: Vector
    """angular velocity [rad/s]"""
    alpha: Vector
    """angular acceleration [rad/s2]"""
    leg_gravity: Vector
    """gravity [m/s2] in the leg frame"""


@device
def fixed_tensor_times(legs: FloatArray, i: int, a: Vector) -> Vector:
    """Return the length-independent part of the leg's tensor times a vector, leg frame."""
    xx, yy, zz = legs[i, LEG_TENSOR], legs[i, LEG_TENSOR + 1], legs[i, LEG_TENSOR + 2]
    xy, xz, yz = legs[i, LEG_TENSOR + 3], legs[i, LEG_TENSOR + 4], legs[i, LEG_TENSOR + 5]
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )


@device
def leg_tensor(legs: FloatArray, i: int, mass: float, center: Vector) -> Tensor:
    """Return the tensor of leg i about its base joint, leg frame: xx, yy, zz, xy, xz, yz.

    The rod has the given mass and its centre at `center` [m] from the base joint.
    """
    cx, cy, cz = center
    return (
        legs[i, LEG_TENSOR] + mass * (cy * cy + cz * cz),
        legs[i, LEG_TENSOR + 1] + mass * (cx * cx + cz * cz),
        legs[i, LEG_TENSOR + 2] + mass * (cx * cx + cy * cy),
        legs[i, LEG_TENSOR + 3] - mass * cx * cy,
        legs[i, LEG_TENSOR + 4] - mass * cx * cz,
        legs[i, LEG_TENSOR + 5] - mass * cy * cz,
    )


@device
def in_base(x: Vector, y: Vector, z: Vector, a: Vector) -> Vector:
    """Return the base-frame vector with leg-frame components a."""
    return (
        x[0] * a[0] + y[0] * a[1] + z[0] * a[2],
        x[1] * a[0] + y[1] * a[1] + z[1] * a[2],
        x[2] * a[0] + y[2] * a[1] + z[2] * a[2],
    )


@device
def axisymmetric_response(legs: FloatArray, i: int, motion: LegMotion) -> tuple[Vector, Vector]:
    """Return effective masses and force of a leg whose bodies are axisymmetric, leg frame."""
    omega, alpha, leg_gravity, tangent = (
        motion.omega,
        motion.alpha,
        motion.leg_gravity,
        motion.tangent,
    )
    inverse = 1.0 / motion.length
    mass = legs[i, ROD_MASS]
    rod_distance = motion.length + legs[i, ROD_CENTER + 2]
    transverse_inertia, axial = legs[i, LEG_TENSOR], legs[i, LEG_TENSOR + 2]
    rod_first_moment = mass * rod_distance
    transverse = transverse_inertia + rod_first_moment * rod_distance
    inertia_difference = transverse - axial
    coriolis = 2.0 * rod_first_moment * motion.rate
    first_moment = legs[i, HOUSING_MASS] * legs[i, HOUSING_CENTER + 2] + rod_first_moment
    moment_x = (
        transverse * alpha[0]
        - inertia_difference * omega[1] * omega[2]
        + coriolis * omega[0]
        + first_moment * leg_gravity[1]
    )
    moment_y = (
        transverse * alpha[1]
        + inertia_difference * omega[0] * omega[2]
        + coriolis * omega[1]
        - first_moment * leg_gravity[0]
    )
    moment_z = axial * alpha[2]
    transverse_speed_square = omega[0] * omega[0] + omega[1] * omega[1]
    force = (
        (moment_y + tangent * moment_z) * inverse,
        -moment_x * inverse,
        mass * (motion.second_rate - rod_distance * transverse_speed_square - leg_gravity[2]),
    )
    inverse_square = inverse * inverse
    return (
        (transverse + tangent * tangent * axial) * inverse_square,
        transverse * inverse_square,
        mass,
    ), force


@device
def general_response(legs: FloatArray, i: int, motion: LegMotion) -> tuple[Vector, Vector, Vector]:
    """Return L (three entries), D and the force of a leg with general bodies, leg frame."""
    omega, alpha, leg_gravity, tangent = (
        motion.omega,
        motion.alpha,
        motion.leg_gravity,
        motion.tangent,
    )
    inverse = 1.0 / motion.length
    mass = legs[i, ROD_MASS]
    center = row(legs, i, ROD_CENTER)
    center = (center[0], center[1], center[2] + motion.length)
    center_bias = cross(omega, add(cross(omega, center), (0.0, 0.0, 2.0 * motion.rate)))
    rod_force = add(add(cross(alpha, center), center_bias), (0.0, 0.0, motion.second_rate))
    rod_force = scale(mass, subtract(rod_force, leg_gravity))
    moment = add(
        add(fixed_tensor_times(legs, i, alpha), cross(omega, fixed_tensor_times(legs, i, omega))),
        subtract(
            cross(center, rod_force),
            cross(scale(legs[i, HOUSING_MASS], row(legs, i, HOUSING_CENTER)), leg_gravity),
        ),
    )
    force = ((moment[1] + tangent * moment[2]) * inverse, -moment[0] * inverse, rod_force[2])

    inverse_square = inverse * inverse
    xx, yy, zz, xy, xz, yz = leg_tensor(legs, i, mass, center)
    e_xx = (yy + tangent * (2.0 * yz + tangent * zz)) * inverse_square
    e_xy = -(xy + tangent * xz) * inverse_square
    e_xz = -mass * center[0] * inverse
    e_yy = xx * inverse_square
    e_yz = -mass * center[1] * inverse
    reciprocal = 1.0 / e_xx
    l_yx, l_zx = e_xy * reciprocal, e_xz * reciprocal
    d_y = e_yy - l_yx * e_xy
    l_zy = (e_yz - l_zx * e_xy) / d_y
    d_z = mass - l_zx * e_xz - l_zy * l_zy * d_y
    return (l_yx, l_zx, l_zy), (e_xx, d_y, d_z), force


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its tip; see `LegResponse`."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, arm)
    centripetal = cross(state.omega, arm_rate)
    x, y, tangent, axis_sine = leg_frame(row(legs, i, AXIS), along)
    omega, rate = leg_rotation(x, y, along, tangent, length, add(state.velocity, arm_rate))
    known_acceleration = (dot(centripetal, x), dot(centripetal, y), dot(centripetal, along))
    alpha, second_rate = leg_acceleration(omega, rate, tangent, length, known_acceleration)
    leg_gravity = (dot(gravity, x), dot(gravity, y), dot(gravity, along))
    motion = LegMotion(length, rate, second_rate, tangent, omega, alpha, leg_gravity)
    regular = axis_sine > SINGULAR_SINE and length > 0.0
    if legs[i, AXISYMMETRIC] == 1.0:
        first_direction, second_direction = x, y
        masses, force = axisymmetric_response(legs, i, motion)
    else:
        lower, masses, force = general_response(legs, i, motion)
        first_direction = add(x, add(scale(lower[0], y), scale(lower[1], along)))
        second_direction = add(y, scale(lower[2], along))
    return LegResponse(
        arm,
        along,
        cross(arm, along),
        first_direction,
        second_direction,
        along,
        masses,
        in_base(x, y, along, force),
        regular,
    )


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy [J] and dissipated power [W] of leg i."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    tip_velocity = add(state.velocity, cross(state.omega, arm))
    x, y, tangent, _ = leg_frame(row(legs, i, AXIS), along)
    omega, rate = leg_rotation(x, y, along, tangent, length, tip_velocity)
    center = row(legs, i, ROD_CENTER)
    center = (center[0], center[1], center[2] + length)
    rod_velocity = add(cross(omega, center), (0.0, 0.0, rate))
    rod_mass, housing_mass = legs[i, ROD_MASS], legs[i, HOUSING_MASS]
    kinetic = 0.5 * (
        dot(omega, fixed_tensor_times(legs, i, omega)) + rod_mass * dot(rod_velocity, rod_velocity)
    )
    first_moment = add(scale(housing_mass, row(legs, i, HOUSING_CENTER)), scale(rod_mass, center))
    leg_gravity = (dot(gravity, x), dot(gravity, y), dot(gravity, along))
    work_of_gravity = dot(leg_gravity, first_moment) + (housing_mass + rod_mass) * dot(
        gravity, row(legs, i, BASE_JOINT)
    )
    return kinetic, -work_of_gravity, 0.0
