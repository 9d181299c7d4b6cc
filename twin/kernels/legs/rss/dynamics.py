"""RSS leg: effective mass and bias force at the tip of crank and slender rod.

The kinetic energy of a slender rod with end velocities v_e (elbow) and v_t (tip) is
m (v_e^2 + v_e . v_t + v_t^2) / 6, so its ends are moved by the forces

    F_e = m (2 a_e + a_t) / 6 - m g / 2,   F_t = m (a_e + 2 a_t) / 6 - m g / 2.

With q = l_c c', rate = w . v_t, and the crank's moment of inertia I about its axis, virtual power
gives the force at the tip F = F_t + w (q . F_e + I rate' - moment of the crank's weight), and

    E = (m / 3) 1 + (m / 6) (q w^T + w q^T) + (I + m l_c^2 / 3) w w^T.

Reference: extended-configuration-space paper, section 6; derivation in docs/dynamics.md.
"""

from __future__ import annotations

from twin.kernels.jit import device
from twin.kernels.legs.kinds import AXIS, BASE_JOINT
from twin.kernels.legs.rss.kinematics import (
    CRANK_LENGTH,
    RSS_GEOMETRY_SIZE,
    SMALLEST_GAIN,
    crank,
    crank_rates,
)
from twin.kernels.vectors import add, cross, dot, row, scale, subtract

ROD_MASS = RSS_GEOMETRY_SIZE
CRANK_INERTIA = RSS_GEOMETRY_SIZE + 1
"""About the crank's axis."""
CRANK_MASS = RSS_GEOMETRY_SIZE + 2
CRANK_MOMENT = RSS_GEOMETRY_SIZE + 3
"""Mass times centre of mass, along the axis, along c' and along c."""
LEG_SIZE = RSS_GEOMETRY_SIZE + 6


@device
def factored(xx, yy, zz, xy, xz, yz):
    """Return directions and masses whose sum m_k u_k u_k^T is the symmetric matrix given."""
    reciprocal = 1.0 / xx
    l_yx, l_zx = xy * reciprocal, xz * reciprocal
    d_y = yy - l_yx * xy
    l_zy = (yz - l_zx * xy) / d_y
    d_z = zz - l_zx * xz - l_zy * l_zy * d_y
    return (1.0, l_yx, l_zx), (0.0, 1.0, l_zy), (0.0, 0.0, 1.0), (xx, d_y, d_z)


@device
def crank_center(legs, i, direction, turning):
    """Return mass times centre of mass of the crank from its base joint, base frame."""
    moment = row(legs, i, CRANK_MOMENT)
    axis = row(legs, i, AXIS)
    across = add(scale(moment[0], axis), scale(moment[1], turning))
    return add(across, scale(moment[2], direction))


@device
def response(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return how leg i answers the platform; see `twin.kernels.legs.dynamics`."""
    arm, _, direction, turning, rod, gain = crank(legs, i, position, matrix)
    length, mass = legs[i, CRANK_LENGTH], legs[i, ROD_MASS]
    arm_rate = cross(omega, arm)
    tip_velocity = add(velocity, arm_rate)
    tip_acceleration = cross(omega, arm_rate)
    rate, changing, _ = crank_rates(legs, i, direction, turning, rod, gain, tip_velocity)
    w = scale(1.0 / gain, rod)
    second_rate = dot(w, tip_acceleration) + dot(changing, tip_velocity)
    q = scale(length, turning)
    elbow = subtract(scale(second_rate, q), scale(length * rate * rate, direction))
    sixth = mass / 6.0
    weight = scale(0.5 * mass, gravity)
    at_elbow = subtract(scale(sixth, add(scale(2.0, elbow), tip_acceleration)), weight)
    at_tip = subtract(scale(sixth, add(elbow, scale(2.0, tip_acceleration))), weight)
    inertia = legs[i, CRANK_INERTIA]
    falling = dot(cross(row(legs, i, AXIS), crank_center(legs, i, direction, turning)), gravity)
    force = add(at_tip, scale(dot(q, at_elbow) + inertia * second_rate - falling, w))

    third = mass / 3.0
    total = inertia + third * length * length
    first, second, last, masses = factored(
        third + 2.0 * sixth * q[0] * w[0] + total * w[0] * w[0],
        third + 2.0 * sixth * q[1] * w[1] + total * w[1] * w[1],
        third + 2.0 * sixth * q[2] * w[2] + total * w[2] * w[2],
        sixth * (q[0] * w[1] + q[1] * w[0]) + total * w[0] * w[1],
        sixth * (q[0] * w[2] + q[2] * w[0]) + total * w[0] * w[2],
        sixth * (q[1] * w[2] + q[2] * w[1]) + total * w[1] * w[2],
    )
    return arm, w, first, second, last, masses, force, abs(gain) > SMALLEST_GAIN * length


@device
def leg_energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return kinetic and potential energy and dissipated power; see `response`."""
    arm, _, direction, turning, rod, gain = crank(legs, i, position, matrix)
    length, mass = legs[i, CRANK_LENGTH], legs[i, ROD_MASS]
    tip = add(velocity, cross(omega, arm))
    rate = dot(rod, tip) / gain
    elbow = scale(length * rate, turning)
    kinetic = mass / 6.0 * (dot(elbow, elbow) + dot(elbow, tip) + dot(tip, tip))
    kinetic += 0.5 * legs[i, CRANK_INERTIA] * rate * rate
    base = row(legs, i, BASE_JOINT)
    ends = add(add(base, scale(length, direction)), add(position, arm))
    moment = add(crank_center(legs, i, direction, turning), scale(legs[i, CRANK_MASS], base))
    return kinetic, -dot(gravity, add(scale(0.5 * mass, ends), moment)), 0.0
