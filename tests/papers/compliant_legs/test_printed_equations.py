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
from compliant_lagrange import solve_extended
from tolerance import max_abs

import twin
from twin.papers.compliant_legs.equations import rest_lengths, solve_free, solve_locked
from twin.papers.compliant_legs.machine import leg_state

pytestmark = pytest.mark.slow

t = sympy.Symbol("t")
ALPHA, BETA, GAMMA = (sympy.Function(name)(t) for name in ("alpha", "beta", "gamma"))
THETA, PHI, DELTA1, DELTA2 = (
    sympy.Function(name)(t) for name in ("theta", "phi", "delta1", "delta2")
)
M1, M2, M3, L1, L2, L3, L4, K, B, G = sympy.symbols("m1 m2 m3 l1 l2 l3 l4 k B g", positive=True)
IX, IY, IZ = sympy.symbols("I_x I_y I_z", positive=True)
FORCE, FX, FY, FZ = sympy.symbols("F_act F_x F_y F_z")

R1, R2 = L1 + DELTA1 / 2, 2 * L1 + DELTA1 + L2
R3 = 2 * L1 + DELTA1 + L2 + L3 + DELTA2
LENGTH = R3 + L4
ANGLES = (ALPHA, BETA, GAMMA, THETA, PHI)
CA, CB, CG, CT, CP = map(sympy.cos, ANGLES)
SA, SB, SG, ST, SP = map(sympy.sin, ANGLES)
DA, DB, DG, DT, DP, D1, D2 = (x.diff(t) for x in (*ANGLES, DELTA1, DELTA2))
DDB, DDG, DDT, DD1, DD2 = (x.diff(t) for x in (DB, DG, DT, D1, D2))
DDA = DA.diff(t)
DIRECTION = sympy.Matrix([CT * CP, CT * SP, ST])

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
        numbers |= dict(zip((function, function.diff(t), function.diff(t, 2)), motion, strict=True))
    answer = np.array(sympy.Matrix([expression]).xreplace(numbers).evalf(17), dtype=float)
    return answer[0, 0] if answer.shape == (1, 1) else answer


SYMBOLS = {
    name: value
    for name, value in globals().items()
    if isinstance(value, (sympy.Expr, sympy.MatrixBase))
}


def line(text, **own):
    """Return a line as it is written, in the symbols of this file and in `own` ones."""
    return sympy.sympify(text, SYMBOLS | own)


def assert_misprinted(printed, corrected, right, by):
    """Assert that the corrected line is right and the printed one off by more than `by`."""
    assert value(corrected) == pytest.approx(value(right), abs=1e-10)
    assert max_abs(value(printed) - value(right)) > by


def spin_squared(elevation, azimuth):
    """Return the squared rate at which the direction of a leg turns."""
    return elevation.diff(t) ** 2 + azimuth.diff(t) ** 2 * sympy.cos(elevation) ** 2


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
    return lagrangian.diff(coordinate.diff(t)).diff(t) - lagrangian.diff(coordinate)


def pushed(coordinate):
    """Return the generalised force of the joint reaction: its virtual work."""
    tip = LENGTH * DIRECTION
    return sympy.Matrix([FX, FY, FZ]).dot(tip.diff(coordinate))


def rotation():
    """Return Ry(beta) Rx(alpha) Rz(gamma), platform to base."""
    return (
        sympy.Matrix([[CB, 0, SB], [0, 1, 0], [-SB, 0, CB]])
        * sympy.Matrix([[1, 0, 0], [0, CA, -SA], [0, SA, CA]])
        * sympy.Matrix([[CG, -SG, 0], [SG, CG, 0], [0, 0, 1]])
    )


def body_rates():
    """Return the 3 x 3 matrix from (alpha', beta', gamma') to the velocity in platform axes."""
    turn = rotation()
    spin = turn.T * turn.diff(t)
    omega = sympy.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
    return omega.jacobian([DA, DB, DG])


def platform_lagrangian():
    omega = body_rates() * sympy.Matrix([DA, DB, DG])
    return (IX * omega[0] ** 2 + IY * omega[1] ** 2 + IZ * omega[2] ** 2) / 2


def test_printed_angular_velocity_is_not_that_of_the_rotation():
    printed = line("""Matrix([
        [CG, CA*SG, -CA*CG*SB - CA*SA*SG + CA*CB*SA*SG],
        [-SG, CA*CG, -CA*CG*SA + CA*SB*SG + CA*CB*SA*CG],
        [0, -SA, SA**2 + CA**2*CB]])""")
    right = value(body_rates())
    # Its first two columns are in platform axes, not in base axes as it says; its third is neither.
    assert value(printed)[:, :2] == pytest.approx(right[:, :2], abs=1e-14)
    assert right[:, 2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-14)
    in_base = value(rotation()) @ right
    assert max_abs(value(printed)[:, 2] - right[:, 2]) > 0.05
    assert max_abs(value(printed)[:, 2] - in_base[:, 2]) > 0.05
    assert right[2] == pytest.approx([0.0, -np.sin(MOTIONS[ALPHA][0]), 1.0], abs=1e-14)


def test_printed_kinetic_energy_squares_a_sine():
    rates = [DA, DB, DG]
    right = sympy.hessian(platform_lagrangian(), rates)
    printed = line("""Matrix([
        [IX*CG**2 + IY*SG**2, (IX - IY)*CA*CG*SG, 0],
        [(IX - IY)*CA*CG*SG, CA**2*(IX*SG**2 + IY*CG**2) + IZ*SA**2, -IZ*SA**2],
        [0, -IZ*SA**2, IZ]])""")
    difference = value(printed) - value(right)
    off = -VALUES[IZ] * (np.sin(MOTIONS[ALPHA][0]) ** 2 - np.sin(MOTIONS[ALPHA][0]))
    assert difference == pytest.approx(np.array([[0, 0, 0], [0, 0, off], [0, off, 0]]), abs=1e-14)
    assert off > 0.1
    # (18), (21) and (23) follow from (9) as printed, sine squared and all.
    lagrangian = (sympy.Matrix([rates]) * printed * sympy.Matrix(rates))[0] / 2
    line_18 = line("""-DB*SA*((IX - IY)*DA*CG*SG - IZ*DB*CA + 2*IZ*DG*CA
        - IX*DB*CA*(CG**2 - 1) + IY*DB*CA*CG**2)""")
    line_21 = line("""DDB*(IY*CA**2*CG**2 + IX*CA**2*SG**2 + IZ*SA**2)
        - DA*SA*(2*IY*DB*CA*CG**2 + 2*IX*DB*CA*SG**2 + (IX - IY)*DA*CG*SG
            - 2*IZ*DB*CA + 2*IZ*DG*CA)
        - IZ*DDG*SA**2 + DG*CA*(IX - IY)*(2*DA*CG**2 + 2*DB*CA*SG*CG - DA)
        + DDA*CA*CG*SG*(IX - IY)""")
    line_23 = line("-IZ*(DDB*SA**2 - DDG + DA*DB*2*SA*CA)")
    correct = platform_lagrangian()
    for printed, derivative in (
        (line_18, lambda energy: energy.diff(ALPHA)),
        (line_21, lambda energy: energy.diff(DB).diff(t)),
        (line_23, lambda energy: energy.diff(DG).diff(t)),
    ):
        assert value(printed) == pytest.approx(value(derivative(lagrangian)), abs=1e-13)
        assert abs(value(printed) - value(derivative(correct))) > 0.1


def test_printed_platform_lagrangian_has_no_moments_of_inertia():
    printed = line("""(DA**2*CG + DA*DB*(-SG + CA*SG) + DB**2*CA*CG
        + DG*DB*(-SA + CA*(-CG*SA + SB*SG + CB*SA*CG))
        + DG*DA*CA*(-CG*SB + SA*SG + CB*SA*SG) + DG**2*(SA**2 + CA**2*CB))/2""")
    assert not printed.free_symbols & {IX, IY, IZ}
    with_units = platform_lagrangian().subs(dict.fromkeys((IX, IY, IZ), 1.0))
    assert abs(value(printed) - value(with_units)) > 0.05


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
    common = line(
        """M1/2*((D1/2)**2 + R1**2*turning) + M2/2*(D1**2 + R2**2*turning)
        + M3/2*R3**2*turning - G*ST*(M1*R1 + M2*R2 + M3*R3) - K*DELTA1**2/2""",
        turning=spin_squared(THETA, PHI),
    )
    printed, corrected = line("M3/2*(D1**2 + D2**2)**2"), line("M3/2*(D1 + D2)**2")
    assert_misprinted(common + printed, common + corrected, leg_lagrangian(), 1e-3)
    # (32) and (36) are those of the corrected line.
    assert value(leg_lagrangian().diff(D2).diff(t) - M3 * (DD1 + DD2)) == pytest.approx(
        0.0, abs=1e-12
    )


def test_printed_force_on_the_spring_belongs_to_other_coordinates():
    # Virtual work of a deflection at constant extension: the tip moves, the actuator does not.
    along = sympy.Matrix([FX, FY, FZ]).dot(DIRECTION)
    assert value(pushed(DELTA1)) == pytest.approx(value(along), abs=1e-12)
    # (34) says -F_act: that is the work of a deflection at constant length, where the actuator
    # gives way. Its equation is the difference of those of delta1 and delta2, and has no m3.
    difference = leg_left_side(DELTA1) - leg_left_side(DELTA2)
    expected = line(
        "(M1/4 + M2)*DD1 - (M1*R1/2 + M2*R2)*turning + G*ST*(M1/2 + M2) + K*DELTA1",
        turning=spin_squared(THETA, PHI),
    )
    assert value(difference) == pytest.approx(value(expected), abs=1e-10)


def deflection_55(inertia, swung, first, second):
    """Return delta1'' of (55) with the masses and angles that stand in two places each."""
    return line(
        "(-FORCE - K*DELTA1 - B*D1 + (M2*R2 + m*R1)*turning - G*sin(up)*(m + M2))/(inertia + M2)",
        m=swung, inertia=inertia, turning=spin_squared(first, second), up=first,
    )  # fmt: skip


def test_printed_spring_equation_swaps_angles_and_takes_all_of_the_spring_mass():
    right = (-FORCE - B * D1 - leg_left_side(DELTA1) + leg_left_side(DELTA2)) / (M1 / 4 + M2) + DD1
    right_masses, printed_masses = (M1 / 4, M1 / 2), (M1, M1)
    corrected = deflection_55(*right_masses, THETA, PHI)
    # Each of the two faults alone is seen, too.
    for masses, angles, by in (
        (printed_masses, (PHI, THETA), 1.0),
        (right_masses, (PHI, THETA), 0.1),
        (printed_masses, (THETA, PHI), 0.1),
    ):
        assert_misprinted(deflection_55(*masses, *angles), corrected, right, by)


def test_printed_actuator_equation_swaps_angles():
    along = sympy.Matrix([FX, FY, FZ]).dot(DIRECTION)

    printed, corrected = (
        line(
            "(FORCE + along)/M3 - DD1 + R3*turning - G*sin(up)",
            along=along,
            turning=spin_squared(*angles),
            up=angles[0],
        )
        for angles in ((PHI, THETA), (THETA, PHI))
    )
    right = (FORCE + along - leg_left_side(DELTA2)) / M3 + DD2
    assert_misprinted(printed, corrected, right, 0.1)


def test_printed_moment_about_z_repeats_a_component():
    x, y, _ = LENGTH * DIRECTION
    assert_misprinted(x * FY - y * FY, x * FY - y * FX, pushed(PHI), 1.0)


def test_printed_moment_about_y_takes_the_elevation_for_the_azimuth():
    x, y, z = LENGTH * DIRECTION

    def moment(cosine, sine):
        return FZ * (x * cosine + y * sine) - z * (FX * cosine + FY * sine)

    assert_misprinted(moment(CT, ST), moment(CP, SP), pushed(THETA), 1.0)


def printed_columns(point):
    """Return the last three columns of (51) with the components of `point` put in."""
    text = """Matrix([
        [y*CA*CG*SB - z*SA*SB + x*CA*SB*SG,
         y*(SB*SG + CB*CG*SA) - x*(CG*SB - CB*SA*SG) + z*CA*CB,
         -x*(CB*SG - CG*SA*SB) - y*(CB*CG + SA*SB*SG)],
        [-z*CA - y*CG*SA - x*SA*SG, 0, x*CA*CG - y*CA*SG],
        [y*CA*CB*CG - z*CB*SA + x*CA*CB*SG,
         y*(CB*SG - CG*SA*SB) - x*(CB*CG + SA*SB*SG) - z*CA*SB,
         x*(SB*SG + CB*CG*SA) + y*(CG*SB - CB*SA*SG)]])"""
    return line(text, **dict(zip("xyz", point, strict=True)))


def test_printed_jacobian_takes_base_for_platform_components():
    in_platform = sympy.Matrix([0.4, -0.2, 0.1])
    in_base = rotation() * in_platform
    right = in_base.jacobian([ALPHA, BETA, GAMMA])
    assert_misprinted(printed_columns(in_base), printed_columns(in_platform), right, 0.05)


def test_printed_azimuth_equation_has_wrong_coriolis_terms():
    own = {"a2": line("L2**2*M1 + M1*R2**2 + 4*M2*R2**2 + 4*M3*R3**2 - 2*L2*M1*R2")}
    own |= {"sliding": line("8*M2*D1*R2 + 8*M3*(D1 + D2)*R3"), "push": pushed(PHI)}
    common = line("(4*push + a2*DT*DP*2*ST*CT)/(CT**2*a2)", **own)
    printed = line("DP*(-4*M1*D1*(R2 + L2) + sliding)/a2", **own)
    corrected = line("DP*(-2*M1*D1*(R2 - L2) - sliding)/a2", **own)
    # The Lagrange equation is linear in phi''.
    inertia = leg_lagrangian().diff(DP, 2)
    right = (pushed(PHI) - leg_left_side(PHI)) / inertia + DP.diff(t)
    assert_misprinted(common + printed, common + corrected, right, 0.5)


def test_printed_elevation_equation_doubles_the_spring_mass():
    right_side = line(
        """-CT*ST*(M2*R2**2 + M3*R3**2 + M1*(L2/2 - R2/2)**2)*DP**2 + push
        - G*CT*(M2*R2 + M3*R3 - M1*(L2 - R2)/2)
        - 2*D1*DT*(M2*R2 + M3*R3 - M1*(L2 - R2)/4) - 2*M3*D2*R3*DT""",
        push=pushed(THETA),
    )
    # What is left when the Lagrange equation is written as inertia times theta'' = right side.
    printed, corrected = (
        right_side - line("M2*R2**2 + M3*R3**2 + m*(L2 - R2)**2", m=mass) * DDT
        for mass in (M1 / 2, M1 / 4)
    )
    assert_misprinted(printed, corrected, pushed(THETA) - leg_left_side(THETA), 1e-3)


def test_printed_elevation_leaves_out_the_side_of_the_leg():
    x, y, z = LENGTH * DIRECTION
    printed, corrected = (sympy.atan2(z, sympy.sqrt(x**2 + side**2)) for side in (y - y, y))
    assert_misprinted(printed, corrected, THETA, 0.05)


def test_printed_leg_rotation_is_no_rotation():
    about_z = sympy.Matrix([[CP, -SP, 0], [SP, CP, 0], [0, 0, 1]])

    def turned(sign):
        tilt = [[CT, 0, -ST], [0, 1, 0], [sign * ST, 0, CT]]
        return value(about_z * sympy.Matrix(tilt))

    right, printed = turned(1), turned(-1)
    assert right @ right.T == pytest.approx(np.eye(3), abs=1e-14)
    assert right[:, 0] == pytest.approx(value(DIRECTION)[:, 0], abs=1e-14)
    assert max_abs(printed @ printed.T - np.eye(3)) > 0.5
    # (74) has the sign of the corrected line: the tip rises with theta.
    assert printed[2, 0] == pytest.approx(-right[2, 0], abs=1e-14)


def test_printed_leg_length_repeats_the_deflection():
    own, length = 2 * L1 + L2 + L3 + L4, (LENGTH * DIRECTION).norm()
    # (65) takes delta2 from the length, so (73) must give it back.
    assert value(length - own - DELTA1) == pytest.approx(MOTIONS[DELTA2][0], abs=1e-14)
    assert_misprinted(own + DELTA1 + DELTA1, own + DELTA1 + DELTA2, length, 0.05)


def test_the_papers_azimuth_is_singular_for_a_vertical_leg(shipped):
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
