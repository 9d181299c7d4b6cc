"""What the driving simulator paper prints and cannot be right; one test for each erratum."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_array_equal
from paper_plate import PAPER, PLATE
from tolerance import assert_within, max_abs

from twin.papers.driving_simulator.dae.index_reduction import reduce_index
from twin.papers.driving_simulator.dae.integration import integrate_dae, numeric_dae
from twin.papers.driving_simulator.dae.lagrange import home_inertia, symbolic_dae
from twin.papers.driving_simulator.exact import (
    ExactModel,
    SlidingFriction,
    exact_head_motion,
    sigmoid_inputs,
    sinusoidal_inputs,
)
from twin.papers.driving_simulator.kinematics import ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.studies import driven_motion

pytestmark = pytest.mark.slow


def equation(kinetic, potential, symbols, number):
    """Return one of Lagrange's equations without multipliers, solved for its acceleration."""
    coordinate, rate, acceleration = (group[number] for group in symbols[:3])
    momentum = symbols.time_derivative(sympy.Matrix([kinetic.diff(rate)]))[0]
    left = momentum - kinetic.diff(coordinate) + potential.diff(coordinate)
    (solution,) = sympy.solve(left, acceleration)
    return solution


def without_multipliers(number):
    """Return what the printed accelerations a1 to a7 are when all multipliers are zero."""
    dae, reduction = symbolic_dae(PAPER), reduce_index(PAPER)
    return reduction.accelerations[number].subs(dict.fromkeys(dae.symbols.multipliers, 0))


@pytest.mark.parametrize(("number", "printed"), [(0, 0), (3, -6 * sympy.Rational(981, 100))])
def test_weight_of_the_plate_hangs_on_heave(number, printed):
    """With hmp_rr in the last term a1 has no gravity and a4 six times g; both print -981/100."""
    dae = symbolic_dae(PAPER)
    s = dae.symbols
    swapped = dae.potential + sympy.Rational(2943, 2) * (s.coordinates[3] - s.coordinates[0])
    assert equation(dae.kinetic, swapped, s, number) == printed
    right = equation(dae.kinetic, dae.potential, s, number)
    assert right == without_multipliers(number) == -sympy.Rational(981, 100)


def test_each_pillar_moves_once_in_the_kinetic_energy():
    """With hmp_rl twice a5 has 60 kg; the printed a5 divides by 30."""
    dae, reduction = symbolic_dae(PAPER), reduce_index(PAPER)
    s = dae.symbols
    twice = dae.kinetic + 15 * s.rates[4] ** 2
    fourth = s.multipliers[3]
    momentum = s.time_derivative(sympy.Matrix([twice.diff(s.rates[4])]))[0]
    assert momentum == 60 * s.accelerations[4]
    assert reduction.accelerations[4].diff(fourth) == -sympy.Rational(1, 30)


def test_driven_lengths_are_three_different_ones():
    """With hmp_rl - f_1 and hmp_rl - f_2 the rank is six, not the printed seven."""
    dae = symbolic_dae(PAPER)
    printed = dae.constraints.copy()
    printed[4] = dae.symbols.coordinates[4] - dae.symbols.inputs[0]
    assert printed.jacobian(dae.symbols.coordinates).rank() == 6
    assert dae.jacobian.rank() == 7


def test_sign_before_the_multipliers():
    """The printed a4 = -lambda1/30 - g belongs to a plus; the minus gives +lambda1/30."""
    dae, reduction = symbolic_dae(PAPER), reduce_index(PAPER)
    first = dae.symbols.multipliers[0]
    minus = dae.equations - 2 * dae.jacobian.T * sympy.Matrix(dae.symbols.multipliers)
    acceleration = dae.symbols.accelerations[3]
    (printed,) = sympy.solve(minus[3], acceleration)
    assert printed.diff(first) == sympy.Rational(1, 30)
    assert reduction.accelerations[3].diff(first) == -sympy.Rational(1, 30)


@pytest.mark.parametrize(
    ("part", "axis", "printed"),
    [
        ("x of front right", "pitch", 8 / 5),
        ("x of front left", "pitch", 8 / 5),
        ("y of front left", "roll", 41 / 50),
        ("y of rear left", "roll", 41 / 50),
        ("x of the centre", "pitch", 4 / 5),
        ("y of the centre", "roll", 41 / 100),
    ],
)
def test_second_order_terms_are_twice_too_large(part, axis, printed):
    """Keeping roll * pitch but not 1 - angle^2 / 2 doubles every square that is left."""

    def square(model):
        def at(angle):
            q = [PLATE.home_length, *((angle, 0.0) if axis == "roll" else (0.0, angle))]
            found, column = model(PLATE).inverse(q), "xy".index(part[0])
            if part.endswith("centre"):
                return float(found.center[column])
            corner = {"front right": 0, "front left": 1, "rear left": 2}[part[5:]]
            return float(found.feet[corner, column])

        return float((at(1e-3) - 2 * at(0.0) + at(-1e-3)) / 2e-6)

    assert square(SmallAngleKinematics) == pytest.approx(printed, rel=1e-6)
    assert square(ExactKinematics) == pytest.approx(printed / 2, rel=1e-5)


def test_sideways_motion_is_missing_in_the_kinetic_energy():
    """x_mp = hmp_rr theta moves 270 kg by 0.3549 m per radian: 34 kg m2 in roll and in pitch."""
    inertia = home_inertia(PAPER)
    exact = ExactModel(PAPER).mass_matrix([PAPER.home_length, 0.0, 0.0])
    assert_within(exact, np.diag(inertia.exact), 1e-12)
    missing = inertia.exact - inertia.printed
    assert_within(missing, [0.0, 34.007, 34.007], 1e-3)
    assert missing[1] / inertia.exact[1] > 0.4
    assert missing[2] / inertia.exact[2] > 0.2


@pytest.mark.parametrize("axis", [1, 2])
def test_lowering_by_tilt_is_missing_in_the_potential_energy(axis):
    """Lengths of a tilted plate held still: weight times height tilts it, in the print nothing."""
    q = np.array([PAPER.home_length, 0.0, 0.0])
    q[axis] = angle = 0.01
    exact = ExactModel(PAPER)
    forces = exact.forces(q, np.zeros(3), np.zeros(3))
    moment = float(forces @ [(-0.41, 0.41, 0.41, -0.41), (-0.8, -0.8, 0.8, 0.8)][axis - 1])
    assert moment / angle == pytest.approx(-270 * 9.81 * PAPER.home_length, rel=1e-3)
    for complete, expected in ((False, 0.0), (True, moment)):
        dae = numeric_dae(PAPER, complete)
        lengths = ExactKinematics(PAPER).inverse(q).lengths
        coordinates = np.concatenate([q, lengths[[3, 2, 1, 0]]])
        bias = np.ravel(dae.bias(*coordinates, *np.zeros(7)))
        assert bias[axis] == pytest.approx(expected, rel=1e-2)


def test_head_at_rest_feels_its_weight_upward():
    """The printed acceleration ends in -981/100: -g at rest, and -2 g instead of 0 in free fall."""
    rest = [PLATE.home_length, 0.0, 0.0]
    for heave, felt in ((0.0, 9.81), (-9.81, 0.0)):
        motion = exact_head_motion(PLATE, [0, 0, 1.1], rest, np.zeros(3), [heave, 0.0, 0.0])
        assert motion.specific_force[2] == felt
        assert heave - 9.81 != felt


T = sympy.Symbol("t")
X, Y, Z, PHI, THETA = (sympy.Function(name)(T) for name in ("x", "y", "z", "phi", "theta"))
NAMES = {"x": X, "y": Y, "z": Z, "phi": PHI, "theta": THETA}
NAMES |= {f"d{name}": value.diff(T) for name, value in NAMES.items()}
NAMES |= {f"d{name}": value.diff(T) for name, value in NAMES.items() if name[0] == "d"}
SMALL_ANGLE_ROTATION = sympy.Matrix([[1, 0, THETA], [PHI * THETA, 1, -PHI], [-THETA, PHI, 1]])


def vector(*entries):
    """Return a vector as it is printed, with d and dd before the names of derivatives."""
    return sympy.Matrix([sympy.sympify(entry, NAMES) for entry in entries])


def is_zero(vector):
    """Return whether all entries vanish when they are multiplied out."""
    return vector.applyfunc(sympy.expand).is_zero_matrix


def test_angular_acceleration_is_in_other_axes_than_the_velocity():
    """Printed: components in the plate for the one, derivatives of those in the base for the other.

    The angular velocity is R^T dR/dt of the small-angle matrix, which is not orthogonal: exactly
    its second entry is theta' alone.
    """
    turn = SMALL_ANGLE_ROTATION
    skew = turn.T * turn.diff(T)
    omega = sympy.Matrix([skew[2, 1], skew[0, 2], skew[1, 0]])
    assert is_zero(omega - vector("dphi", "dtheta - phi*theta*dphi", "theta*dphi"))
    printed = vector(
        "theta**2*ddphi + ddphi + 2*theta*dphi*dtheta",
        "ddtheta - theta*dphi**2 - phi*theta*ddphi - phi*dphi*dtheta",
        "phi*ddtheta - theta*phi**2*ddphi - 2*theta*phi*dphi**2 - dtheta*phi**2*dphi + dphi*dtheta",
    )
    assert is_zero(printed - (turn * omega).diff(T))
    assert not is_zero(printed - omega.diff(T))
    exact = sympy.rot_axis1(-PHI) * sympy.rot_axis2(-THETA)
    skew = (exact.T * exact.diff(T)).applyfunc(sympy.simplify)
    assert skew[0, 2] == THETA.diff(T)


def test_linear_vectors_of_the_pilot_are_in_base_axes():
    """Printed: velocity "within the body-fixed frame"; it is the derivative of base coordinates."""
    position = vector(
        "xp + x + zp*theta", "yp + y - zp*phi + xp*phi*theta", "zp + z + yp*phi - xp*theta"
    )
    printed = vector(
        "zp*dtheta + dx",
        "dy - zp*dphi + xp*phi*dtheta + xp*theta*dphi",
        "yp*dphi - xp*dtheta + dz",
    )
    velocity = position.diff(T)
    assert is_zero(printed - velocity)
    off = sympy.expand((printed - SMALL_ANGLE_ROTATION.T * velocity)[0])
    assert off.coeff(THETA * Z.diff(T)) == 1  # of first order in the angles


def test_friction_cannot_be_seen_in_prescribed_motion():
    """With friction and without, with right energies and wrong ones: the motion is the same."""
    inputs = sinusoidal_inputs(PLATE)
    runs = [integrate_dae(PLATE, inputs, 2.0, complete=flag) for flag in (False, True)]
    assert_within(runs[0].coordinates, runs[1].coordinates, 1e-10)
    motion = driven_motion(PLATE, inputs, np.linspace(0.0, 2.0, 101))
    states = [part.coordinates for part in motion]
    free = ExactModel(PLATE)
    for viscous in (1e3, 1e6):
        rough = ExactModel(PLATE, SlidingFriction(viscous))
        assert_array_equal(rough.feet(*states[:2])[0], free.feet(*states[:2])[0])
        assert max_abs(rough.forces(*states) - free.forces(*states)) > 1e-3


def test_sigmoids_are_no_lengths():
    """As printed the pillars would be 0.6 mm long at the start; about home three would overrun."""
    inputs = sigmoid_inputs(PLATE)
    strokes = inputs.sample(np.array([0.0, 100.0])).value - PLATE.minimum_length
    fourth = strokes @ [1.0, 1.0, -1.0]
    lengths = np.column_stack([strokes, fourth])
    assert lengths[0].max() < 1e-3
    assert (lengths[1] <= PLATE.stroke).all(), "from the retracted length all are in range"
    above_home = lengths[1] > 0.5 * PLATE.stroke + 1e-12
    assert above_home.sum() == 3
