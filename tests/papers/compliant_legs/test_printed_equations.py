"""Every row of the compliant-leg paper in validation/errata.md, shown.

Printed lines are written down as they are printed; the right ones come from the Lagrangian, from
differentiation or from the definition of what they stand for.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import sympy
from compliant_held import held_equilibrium
from tolerance import max_abs

import twin
from twin.papers.compliant_legs.equations import rest_lengths, solve_free, solve_locked
from twin.papers.compliant_legs.machine import leg_state

t = sympy.Symbol("t")
ALPHA, BETA, GAMMA = (sympy.Function(name)(t) for name in ("alpha", "beta", "gamma"))
THETA, PHI, DELTA1, DELTA2 = (
    sympy.Function(name)(t) for name in ("theta", "phi", "delta1", "delta2")
)
M1, M2, M3, L1, L2, L3, L4, K, B, G = sympy.symbols("m1 m2 m3 l1 l2 l3 l4 k B g", positive=True)
IX, IY, IZ = sympy.symbols("I_x I_y I_z", positive=True)
FORCE, FX, FY, FZ = sympy.symbols("F_act F_x F_y F_z")
s, c = sympy.sin, sympy.cos

R1, R2 = L1 + DELTA1 / 2, 2 * L1 + DELTA1 + L2
R3 = 2 * L1 + DELTA1 + L2 + L3 + DELTA2
LENGTH = R3 + L4
DIRECTION = sympy.Matrix([c(THETA) * c(PHI), c(THETA) * s(PHI), s(THETA)])

VALUES = {
    M1: 2.0, M2: 8.0, M3: 5.0, L1: 0.08, L2: 0.3, L3: 0.2, L4: 0.2, K: 5e4, B: 500.0, G: 9.81,
    IX: 1.1, IY: 2.3, IZ: 3.1, FORCE: 140.0, FX: 30.0, FY: -50.0, FZ: 210.0,
}  # fmt: skip
MOTIONS = {
    ALPHA: (0.3, 0.7, -1.1), BETA: (-0.2, 0.5, 0.9), GAMMA: (0.4, -0.6, 1.3),
    THETA: (1.1, 0.4, -0.7), PHI: (0.6, -0.8, 0.5), DELTA1: (0.01, 0.3, 2.0),
    DELTA2: (0.1, -0.2, 1.0),
}  # fmt: skip
"""Value, rate and second derivative of every coordinate."""


def value(expression):
    """Return a sympy expression as numbers at the motion above."""
    numbers = dict(VALUES)
    for function, motion in MOTIONS.items():
        numbers |= {function: motion[0], rate(function): motion[1], rate(function, 2): motion[2]}
    answer = np.array(sympy.Matrix([expression]).xreplace(numbers).evalf(17), dtype=float)
    return answer[0, 0] if answer.shape == (1, 1) else answer


def rate(coordinate, order=1):
    return coordinate.diff(t, order)


@lru_cache
def leg_lagrangian():
    """Return the Lagrangian of three points on the leg in the paper's angles."""
    points = [(M1, R1 * DIRECTION), (M2, R2 * DIRECTION), (M3, R3 * DIRECTION)]
    kinetic = sum(m * p.diff(t).dot(p.diff(t)) / 2 for m, p in points)
    return kinetic - sum(m * G * p[2] for m, p in points) - K * DELTA1**2 / 2


@lru_cache
def leg_left_side(coordinate):
    """Return the left side of (29) without dissipation."""
    lagrangian = leg_lagrangian()
    return lagrangian.diff(rate(coordinate)).diff(t) - lagrangian.diff(coordinate)


def pushed(coordinate):
    """Return the generalised force of the joint reaction: its virtual work."""
    tip = LENGTH * DIRECTION
    return sympy.Matrix([FX, FY, FZ]).dot(tip.diff(coordinate))


def rotation():
    """Return Ry(beta) Rx(alpha) Rz(gamma), platform to base."""
    return (
        sympy.Matrix([[c(BETA), 0, s(BETA)], [0, 1, 0], [-s(BETA), 0, c(BETA)]])
        * sympy.Matrix([[1, 0, 0], [0, c(ALPHA), -s(ALPHA)], [0, s(ALPHA), c(ALPHA)]])
        * sympy.Matrix([[c(GAMMA), -s(GAMMA), 0], [s(GAMMA), c(GAMMA), 0], [0, 0, 1]])
    )


def body_rates():
    """Return the 3 x 3 matrix from (alpha', beta', gamma') to the velocity in platform axes."""
    turn = rotation()
    spin = turn.T * turn.diff(t)
    omega = sympy.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
    return omega.jacobian([rate(ALPHA), rate(BETA), rate(GAMMA)])


def platform_lagrangian():
    omega = body_rates() * sympy.Matrix([rate(ALPHA), rate(BETA), rate(GAMMA)])
    return (IX * omega[0] ** 2 + IY * omega[1] ** 2 + IZ * omega[2] ** 2) / 2


def test_printed_angular_velocity_is_not_that_of_the_rotation():
    printed = sympy.Matrix(
        [
            [
                c(GAMMA),
                c(ALPHA) * s(GAMMA),
                -c(ALPHA) * c(GAMMA) * s(BETA)
                - c(ALPHA) * s(ALPHA) * s(GAMMA)
                + c(ALPHA) * c(BETA) * s(ALPHA) * s(GAMMA),
            ],
            [
                -s(GAMMA),
                c(ALPHA) * c(GAMMA),
                -c(ALPHA) * c(GAMMA) * s(ALPHA)
                + c(ALPHA) * s(BETA) * s(GAMMA)
                + c(ALPHA) * c(BETA) * s(ALPHA) * c(GAMMA),
            ],
            [0, -s(ALPHA), s(ALPHA) ** 2 + c(ALPHA) ** 2 * c(BETA)],
        ]
    )
    right = value(body_rates())
    # Its first two columns are in platform axes, not in base axes as it says; its third is neither.
    assert value(printed)[:, :2] == pytest.approx(right[:, :2], abs=1e-14)
    assert right[:, 2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-14)
    in_base = value(rotation()) @ right
    assert max_abs(value(printed)[:, 2] - right[:, 2]) > 0.05
    assert max_abs(value(printed)[:, 2] - in_base[:, 2]) > 0.05
    assert value(body_rates()[2, :])[0] == pytest.approx(
        [0.0, -np.sin(MOTIONS[ALPHA][0]), 1.0], abs=1e-14
    )


@pytest.mark.slow
def test_printed_kinetic_energy_squares_a_sine():
    rates = [rate(ALPHA), rate(BETA), rate(GAMMA)]
    right = sympy.hessian(platform_lagrangian(), rates)
    printed = sympy.Matrix(
        [
            [
                IX * c(GAMMA) ** 2 + IY * s(GAMMA) ** 2,
                (IX - IY) * c(ALPHA) * c(GAMMA) * s(GAMMA),
                0,
            ],
            [
                (IX - IY) * c(ALPHA) * c(GAMMA) * s(GAMMA),
                c(ALPHA) ** 2 * (IX * s(GAMMA) ** 2 + IY * c(GAMMA) ** 2) + IZ * s(ALPHA) ** 2,
                -IZ * s(ALPHA) ** 2,
            ],
            [0, -IZ * s(ALPHA) ** 2, IZ],
        ]
    )
    difference = value(printed) - value(right)
    off = -VALUES[IZ] * (np.sin(MOTIONS[ALPHA][0]) ** 2 - np.sin(MOTIONS[ALPHA][0]))
    assert difference == pytest.approx(np.array([[0, 0, 0], [0, 0, off], [0, off, 0]]), abs=1e-14)
    assert off > 0.1
    # (18), (21) and (23) follow from (9) as printed, sine squared and all.
    rates_column = sympy.Matrix(rates)
    lagrangian = (rates_column.T * printed * rates_column)[0] / 2
    a, b, g_ = rates
    line_18 = -b * s(ALPHA) * (
        IX * a * s(2 * GAMMA) / 2 - IY * a * s(2 * GAMMA) / 2 - IZ * b * c(ALPHA)
        + 2 * IZ * g_ * c(ALPHA) - IX * b * c(ALPHA) * (c(GAMMA) ** 2 - 1)
        + IY * b * c(ALPHA) * c(GAMMA) ** 2
    )  # fmt: skip
    line_23 = -IZ * (rate(BETA, 2) * s(ALPHA) ** 2 - rate(GAMMA, 2) + a * b * s(2 * ALPHA))
    line_21 = (
        rate(BETA, 2) * (
            IY * c(ALPHA) ** 2 * c(GAMMA) ** 2 + IX * c(ALPHA) ** 2 * s(GAMMA) ** 2
            + IZ * s(ALPHA) ** 2
        )
        - a * s(ALPHA) * (
            2 * IY * b * c(ALPHA) * c(GAMMA) ** 2 + 2 * IX * b * c(ALPHA) * s(GAMMA) ** 2
            + IX * a * s(2 * GAMMA) / 2 - IY * a * s(2 * GAMMA) / 2
            - 2 * IZ * b * c(ALPHA) + 2 * IZ * g_ * c(ALPHA)
        )
        - IZ * rate(GAMMA, 2) * s(ALPHA) ** 2
        + g_ * c(ALPHA) * (IX - IY) * (
            2 * a * c(GAMMA) ** 2 + 2 * b * c(ALPHA) * s(GAMMA) * c(GAMMA) - a
        )
        + rate(ALPHA, 2) * c(ALPHA) * c(GAMMA) * s(GAMMA) * (IX - IY)
    )  # fmt: skip
    assert value(line_21) == pytest.approx(value(lagrangian.diff(b).diff(t)), abs=1e-13)
    assert value(line_18) == pytest.approx(value(lagrangian.diff(ALPHA)), abs=1e-13)
    assert value(line_23) == pytest.approx(value(lagrangian.diff(g_).diff(t)), abs=1e-13)
    correct = platform_lagrangian()
    assert abs(value(line_18) - value(correct.diff(ALPHA))) > 0.1
    assert abs(value(line_21) - value(correct.diff(b).diff(t))) > 0.1
    assert abs(value(line_23) - value(correct.diff(g_).diff(t))) > 0.1


def test_printed_platform_lagrangian_has_no_moments_of_inertia():
    printed = (
        rate(ALPHA) ** 2 * c(GAMMA)
        + rate(ALPHA) * rate(BETA) * (-s(GAMMA) + c(ALPHA) * s(GAMMA))
        + rate(BETA) ** 2 * c(ALPHA) * c(GAMMA)
        + rate(GAMMA) * rate(BETA) * (
            -s(ALPHA)
            + c(ALPHA) * (-c(GAMMA) * s(ALPHA) + s(BETA) * s(GAMMA) + c(BETA) * s(ALPHA) * c(GAMMA))
        )
        + rate(GAMMA) * rate(ALPHA) * c(ALPHA) * (
            -c(GAMMA) * s(BETA) + s(ALPHA) * s(GAMMA) + c(BETA) * s(ALPHA) * s(GAMMA)
        )
        + rate(GAMMA) ** 2 * (s(ALPHA) ** 2 + c(ALPHA) ** 2 * c(BETA))
    ) / 2  # fmt: skip
    assert not printed.free_symbols & {IX, IY, IZ}
    units = {IX: 1.0, IY: 1.0, IZ: 1.0}
    assert abs(value(printed) - value(platform_lagrangian().subs(units))) > 0.05


def test_printed_moment_about_alpha_is_about_the_wrong_axis():
    moment = np.array([7.0, -4.0, 9.0])
    in_base = value(rotation() * body_rates())
    right = in_base.T @ moment
    beta = MOTIONS[BETA][0]
    # beta turns first about Y: its axis is fixed, that of alpha turns with beta.
    assert right[0] == pytest.approx(np.cos(beta) * moment[0] - np.sin(beta) * moment[2], abs=1e-13)
    assert right[1] == pytest.approx(moment[1], abs=1e-13)
    assert right[2] == pytest.approx((value(rotation()).T @ moment)[2], abs=1e-13)
    assert abs(right[0] - moment[0]) > 1.0


def test_printed_reaction_pulls_leg_and_platform_the_same_way(shipped):
    at = held_equilibrium(shipped, shipped.home)
    weight = shipped.platform_mass * shipped.weight_direction
    # (1): forces on the leg's side, pushed down by the platform; so -F_r acts on the platform.
    assert (at.reactions[:, 2] < 0.0).all()
    assert weight - at.reactions.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-8)
    as_printed = weight + at.reactions.sum(axis=0)
    assert max_abs(as_printed) > 1.9 * max_abs(weight)


def test_printed_kinetic_energy_of_the_follower_has_no_such_unit():
    turning = rate(THETA) ** 2 + rate(PHI) ** 2 * c(THETA) ** 2
    common = M1 / 2 * ((rate(DELTA1) / 2) ** 2 + R1**2 * turning)
    common += M2 / 2 * (rate(DELTA1) ** 2 + R2**2 * turning)
    common -= G * s(THETA) * (M1 * R1 + M2 * R2 + M3 * R3) + K * DELTA1**2 / 2
    printed = M3 / 2 * ((rate(DELTA1) ** 2 + rate(DELTA2) ** 2) ** 2 + R3**2 * turning)
    corrected = M3 / 2 * ((rate(DELTA1) + rate(DELTA2)) ** 2 + R3**2 * turning)
    right = value(leg_lagrangian())
    assert value(common + corrected) == pytest.approx(right, abs=1e-12)
    assert abs(value(common + printed) - right) > 1e-3
    # (32) and (36) are those of the corrected line.
    assert value(leg_lagrangian().diff(rate(DELTA2)).diff(t)) == pytest.approx(
        value(M3 * rate(DELTA1, 2) + M3 * rate(DELTA2, 2)), abs=1e-12
    )


def test_printed_force_on_the_spring_belongs_to_other_coordinates():
    # Virtual work of a deflection at constant extension: the tip moves, the actuator does not.
    along = sympy.Matrix([FX, FY, FZ]).dot(DIRECTION)
    assert value(pushed(DELTA1)) == pytest.approx(value(along), abs=1e-12)
    # (34) says -F_act: that is the work of a deflection at constant length, where the actuator
    # gives way. Its equation is the difference of those of delta1 and delta2, and has no m3.
    difference = leg_left_side(DELTA1) - leg_left_side(DELTA2)
    turning = rate(THETA) ** 2 + rate(PHI) ** 2 * c(THETA) ** 2
    expected = (
        (M1 / 4 + M2) * rate(DELTA1, 2)
        - (M1 * R1 / 2 + M2 * R2) * turning
        + G * s(THETA) * (M1 / 2 + M2)
        + K * DELTA1
    )
    assert value(difference) == pytest.approx(value(expected), abs=1e-10)


def deflection_55(inertia, swung, hanging, first, second):
    """Return delta1'' of (55) with the masses and angles that stand in three and two places."""
    turning = rate(first) ** 2 + rate(second) ** 2 * c(first) ** 2
    push = -FORCE - K * DELTA1 - B * rate(DELTA1) + (M2 * R2 + swung * R1) * turning
    return (push - G * s(first) * (hanging + M2)) / (inertia + M2)


def test_printed_spring_equation_swaps_angles_and_takes_all_of_the_spring_mass():
    right = (-FORCE - B * rate(DELTA1) - leg_left_side(DELTA1) + leg_left_side(DELTA2)) / (
        M1 / 4 + M2
    ) + rate(DELTA1, 2)
    corrected = deflection_55(M1 / 4, M1 / 2, M1 / 2, THETA, PHI)
    assert value(corrected) == pytest.approx(value(right), abs=1e-10)
    printed = deflection_55(M1, M1, M1, PHI, THETA)
    assert abs(value(printed) - value(right)) > 1.0
    # Each of the two faults alone is seen, too.
    assert abs(value(deflection_55(M1 / 4, M1 / 2, M1 / 2, PHI, THETA)) - value(right)) > 0.1
    assert abs(value(deflection_55(M1, M1, M1, THETA, PHI)) - value(right)) > 0.1


def test_printed_actuator_equation_swaps_angles():
    along = sympy.Matrix([FX, FY, FZ]).dot(DIRECTION)

    def line(first, second):
        turning = rate(first) ** 2 + rate(second) ** 2 * c(first) ** 2
        push = FORCE + along - M3 * rate(DELTA1, 2) + M3 * R3 * turning - M3 * G * s(first)
        return push / M3

    right = (FORCE + along - leg_left_side(DELTA2)) / M3 + rate(DELTA2, 2)
    assert value(line(THETA, PHI)) == pytest.approx(value(right), abs=1e-11)
    assert abs(value(line(PHI, THETA)) - value(right)) > 0.1


def test_printed_moment_about_z_repeats_a_component():
    vector = LENGTH * DIRECTION
    right = pushed(PHI)
    assert value(vector[0] * FY - vector[1] * FX) == pytest.approx(value(right), abs=1e-11)
    assert abs(value(vector[0] * FY - vector[1] * FY) - value(right)) > 1.0


def test_printed_moment_about_y_takes_the_elevation_for_the_azimuth():
    x, y, z = LENGTH * DIRECTION

    def moment(angle):
        return FZ * (x * c(angle) + y * s(angle)) - z * (FX * c(angle) + FY * s(angle))

    right = value(pushed(THETA))
    assert value(moment(PHI)) == pytest.approx(right, abs=1e-11)
    assert abs(value(moment(THETA)) - right) > 1.0


def joint_point():
    own = sympy.Matrix([0.4, -0.2, 0.1])
    return own, rotation() * own


def printed_columns(point):
    """Return the last three columns of (51) with the components of `point` put in."""
    x, y, z = point
    ca, sa, cb, sb, cg, sg = c(ALPHA), s(ALPHA), c(BETA), s(BETA), c(GAMMA), s(GAMMA)
    return sympy.Matrix(
        [
            [
                y * ca * cg * sb - z * sa * sb + x * ca * sb * sg,
                y * (sb * sg + cb * cg * sa) - x * (cg * sb - cb * sa * sg) + z * ca * cb,
                -x * (cb * sg - cg * sa * sb) - y * (cb * cg + sa * sb * sg),
            ],
            [-z * ca - y * cg * sa - x * sa * sg, 0, x * ca * cg - y * ca * sg],
            [
                y * ca * cb * cg - z * cb * sa + x * ca * cb * sg,
                y * (cb * sg - cg * sa * sb) - x * (cb * cg + sa * sb * sg) - z * ca * sb,
                x * (sb * sg + cb * cg * sa) + y * (cg * sb - cb * sa * sg),
            ],
        ]
    )


def test_printed_jacobian_takes_base_for_platform_components():
    own, in_base = joint_point()
    right = value(in_base.jacobian([ALPHA, BETA, GAMMA]))
    assert value(printed_columns(own)) == pytest.approx(right, abs=1e-14)
    assert max_abs(value(printed_columns(in_base)) - right) > 0.05


def test_printed_azimuth_equation_has_wrong_coriolis_terms():
    a2 = L2**2 * M1 + M1 * R2**2 + 4 * M2 * R2**2 + 4 * M3 * R3**2 - 2 * L2 * M1 * R2
    a1 = c(THETA) ** 2 * a2
    spin, tilt, d1, d2 = rate(PHI), rate(THETA), rate(DELTA1), rate(DELTA2)
    common = (4 * pushed(PHI) + a2 * tilt * spin * s(2 * THETA)) / a1
    printed = (
        -4 * M1 * d1 * R2 * spin - 4 * L2 * M1 * d1 * spin
        + 8 * M2 * d1 * R2 * spin + 8 * M3 * d1 * R3 * spin + 8 * M3 * d2 * R3 * spin
    ) / a2  # fmt: skip
    corrected = (
        -2 * M1 * d1 * R2 * spin + 2 * L2 * M1 * d1 * spin
        - 8 * M2 * d1 * R2 * spin - 8 * M3 * d1 * R3 * spin - 8 * M3 * d2 * R3 * spin
    ) / a2  # fmt: skip
    # The Lagrange equation is linear in phi''.
    inertia = value(leg_lagrangian().diff(spin, 2))
    rest = value(leg_left_side(PHI)) - inertia * MOTIONS[PHI][2]
    right = (value(pushed(PHI)) - rest) / inertia
    assert value(common + corrected) == pytest.approx(right, abs=1e-11)
    assert abs(value(common + printed) - right) > 0.5


def test_printed_elevation_equation_doubles_the_spring_mass():
    inertia = M2 * R2**2 + M3 * R3**2
    right_side = (
        -c(THETA) * s(THETA) * (inertia + M1 * (L2 / 2 - R2 / 2) ** 2) * rate(PHI) ** 2
        + pushed(THETA)
        - G * c(THETA) * (M2 * R2 + M3 * R3 - M1 * (L2 - R2) / 2)
        - 2 * rate(DELTA1) * rate(THETA) * (M2 * R2 + M3 * R3 - M1 * (L2 - R2) / 4)
        - 2 * M3 * rate(DELTA2) * R3 * rate(THETA)
    )
    # What is left when the Lagrange equation is written as inertia times theta'' = right side.
    left = value(pushed(THETA) - leg_left_side(THETA))
    corrected = (inertia + M1 / 4 * (L2 - R2) ** 2) * rate(THETA, 2)
    printed = (inertia + M1 / 2 * (L2 - R2) ** 2) * rate(THETA, 2)
    assert value(right_side - corrected) == pytest.approx(left, abs=1e-11)
    assert abs(value(right_side - printed) - left) > 1e-3


def test_printed_elevation_leaves_out_the_side_of_the_leg():
    bottom = np.array([0.3, 0.7, 0.0])
    top = bottom + value(LENGTH * DIRECTION)[:, 0]

    def elevation(side):
        return float(np.arctan2(top[2] - bottom[2], np.hypot(bottom[0] - top[0], side)))

    assert elevation(bottom[1] - top[1]) == pytest.approx(MOTIONS[THETA][0], abs=1e-14)
    assert abs(elevation(bottom[1] - bottom[1]) - MOTIONS[THETA][0]) > 0.05


def test_printed_leg_rotation_is_no_rotation():
    about_z = sympy.Matrix([[c(PHI), -s(PHI), 0], [s(PHI), c(PHI), 0], [0, 0, 1]])

    def turned(sign):
        tilt = [[c(THETA), 0, -s(THETA)], [0, 1, 0], [sign * s(THETA), 0, c(THETA)]]
        return value(about_z * sympy.Matrix(tilt))

    right, printed = turned(1), turned(-1)
    assert right @ right.T == pytest.approx(np.eye(3), abs=1e-14)
    assert right[:, 0] == pytest.approx(value(DIRECTION)[:, 0], abs=1e-14)
    assert max_abs(printed @ printed.T - np.eye(3)) > 0.5
    # (74) has the sign of the corrected line: the tip rises with theta.
    assert printed[2, 0] == pytest.approx(-right[2, 0], abs=1e-14)


def test_printed_leg_length_repeats_the_deflection():
    own = 2 * L1 + L2 + L3 + L4
    tip = value(LENGTH * DIRECTION)[:, 0]
    # (65) takes delta2 from the length, so (73) must give it back.
    extension = np.linalg.norm(tip) - value(own) - MOTIONS[DELTA1][0]
    assert extension == pytest.approx(MOTIONS[DELTA2][0], abs=1e-14)
    assert value(own + DELTA1) + extension == pytest.approx(np.linalg.norm(tip), abs=1e-14)
    assert abs(value(own + DELTA1 + DELTA1) - np.linalg.norm(tip)) > 0.05


def test_the_papers_azimuth_is_singular_for_a_vertical_leg(shipped):
    from compliant_lagrange import solve_extended

    # (57) divides by cos^2 theta and (59) has no value; vectors know no such leg.
    upright = replace(shipped, base_joints=shipped.platform_joints)
    deflection = np.concatenate([np.full(6, -0.005), np.full(6, 0.1)])
    forces, twist = np.full(6, 200.0), np.array([0.1, 0.2, 0.3, 0.1, -0.2, 0.3])
    legs = leg_state(upright, upright.home[None], twist[None], deflection[None])
    assert max_abs(np.hypot(*legs.direction[0, :, :2].T)) < 1e-15
    ours = solve_free(upright, upright.home, twist, deflection, forces)
    reference = solve_extended(upright, upright.home, twist, deflection, forces)
    assert ours.acceleration == pytest.approx(reference.acceleration, abs=1e-9)


def test_equation_80_alone_does_not_keep_the_platform_still(shipped):
    extension = shipped.home_extension
    still = rest_lengths(shipped, shipped.home, extension)
    assert max_abs(still.acceleration) < 1e-9
    for deflection in (0.0, -0.003, -0.01):
        # (80) with a deflection chosen by hand gives rest lengths with which it moves.
        length = shipped.fixed_length + extension
        chosen = length - deflection - (shipped.fixed_length - shipped.spring_length) - extension
        machine = replace(shipped, spring_length=chosen)
        deflection = np.concatenate([np.full(6, deflection), np.zeros(6)])
        found = solve_locked(machine, machine.home, None, deflection)
        assert max_abs(found.extension_acceleration) < 1e-9
        assert np.abs(found.acceleration[2]) > 0.5


def test_printed_unknowns_mix_deflections_and_accelerations(shipped):
    machine, random, still = twin.load("compliant_stewart"), np.random.default_rng(7), np.zeros(6)
    springs = []
    for _ in range(2):
        deflection = random.uniform(-2e-3, 2e-3, 6)
        state = np.concatenate([deflection, np.zeros(6)])
        found = solve_free(shipped, shipped.home, still, state, still, still)
        expected = machine.forward_dynamics(shipped.home, still, still, deflection=state)
        springs.append(found.deflection_acceleration)
        # With a deflection that is given, an acceleration of the spring follows.
        assert springs[-1] == pytest.approx(expected[6:], rel=1e-10)
    assert max_abs(springs[0] - springs[1]) > 1.0


def test_printed_velocity_of_a_joint_lacks_the_rates():
    place = sympy.Matrix([sympy.Function(name)(t) for name in "XYZ"])
    point = place + rotation() * sympy.Matrix(sympy.symbols("t_x t_y t_z"))
    coordinates = sympy.Matrix([*place, ALPHA, BETA, GAMMA])
    jacobian = point.jacobian(coordinates)
    assert (jacobian.shape, point.diff(t).shape) == ((3, 6), (3, 1))
    assert sympy.simplify(jacobian * coordinates.diff(t) - point.diff(t)) == sympy.zeros(3, 1)
