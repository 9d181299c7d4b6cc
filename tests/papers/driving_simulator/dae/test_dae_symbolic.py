"""The symbolic equations of the driving simulator against what its paper prints."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from paper_plate import PAPER, PITCH_INERTIA, PLATE, ROLL_INERTIA
from tolerance import assert_within

from twin.papers.driving_simulator.dae.index_reduction import (
    multipliers_of_motion,
    reduce_index,
)
from twin.papers.driving_simulator.dae.integration import numeric_dae
from twin.papers.driving_simulator.dae.lagrange import symbolic_dae
from twin.papers.driving_simulator.exact import ExactModel

pytestmark = pytest.mark.slow

R = sympy.Rational


@pytest.fixture(scope="module")
def dae():
    """The paper's equations."""
    return symbolic_dae(PAPER)


@pytest.fixture(scope="module")
def reduction():
    """The paper's index reduction."""
    return reduce_index(PAPER)


def printed(dae, text):
    """Return a line as it is printed, in the symbols of the equations by their names."""
    return sympy.sympify(text, {one.name: one for group in dae.symbols for one in group})


def test_seven_coordinates_and_seven_independent_constraints(dae):
    assert dae.jacobian.shape == (7, 7)
    assert dae.jacobian.rank() == 7
    assert dae.jacobian[:4, :].rank() == 4, "the pillars alone leave three degrees of freedom"


def test_constraints_as_printed(dae):
    found = printed(
        dae,
        """Matrix([
        hmp_rr + 41/100*phi_mp - 4/5*theta_mp - z_mp, hmp_fl - 41/100*phi_mp + 4/5*theta_mp - z_mp,
        hmp_fr + 41/100*phi_mp + 4/5*theta_mp - z_mp, hmp_rl - 41/100*phi_mp - 4/5*theta_mp - z_mp,
        hmp_fr - f_1, hmp_rl - f_2, hmp_fl - f_3])""",
    )
    assert sympy.simplify(dae.constraints - found).is_zero_matrix


def test_kinetic_energy_as_printed(dae):
    found = printed(
        dae,
        f"""15*(dhmp_fl**2 + dhmp_fr**2 + dhmp_rl**2 + dhmp_rr**2) + 75*dz_mp**2
        + Rational("{ROLL_INERTIA}")/2*dphi_mp**2 + Rational("{PITCH_INERTIA}")/2*dtheta_mp**2
        + 192/5*(phi_mp*dtheta_mp + theta_mp*dphi_mp)**2""",
    )
    assert sympy.expand(dae.kinetic - found) == 0


@pytest.mark.parametrize(
    ("inertia", "printed"),
    [
        (ROLL_INERTIA, Fraction(4156625437653019, 281474976710656)),
        (PITCH_INERTIA, Fraction(1371470290886227, 70368744177664)),
    ],
)
def test_printed_fractions_are_half_the_inertia(inertia, printed):
    assert float(2 * printed) == pytest.approx(inertia, rel=3e-16)


def test_potential_energy(dae):
    found = printed(dae, "2943/10*(hmp_fl + hmp_fr + hmp_rl + hmp_rr) + 2943/2*z_mp")
    assert sympy.expand(dae.potential - found) == 0


def test_ranks_by_plain_sympy(reduction):
    """The ranks come from fractions of polynomials; here at numbers, entry by entry."""
    numbers = {"phi_mp": R(1, 10), "theta_mp": R(1, 20)}
    s = symbolic_dae(PAPER).symbols
    values = {symbol: numbers.get(symbol.name, R(3, 7)) for group in s[:6] for symbol in group}
    for level, rank in zip(reduction.levels, reduction.ranks, strict=True):
        assert level.jacobian(s.multipliers).subs(values).rank() == rank


def test_explicit_accelerations_as_printed(dae, reduction):
    names = dict(
        zip(("l1", "l2", "l3", "l4", "l5", "l6", "l7"), dae.symbols.multipliers, strict=True)
    )
    for k, text in {
        0: "(l1 + l2 + l3 + l4)/150 - 981/100",
        3: "-l1/30 - 981/100",
        4: "-l4/30 - l6/30 - 981/100",
        5: "-l2/30 - l7/30 - 981/100",
        6: "-l3/30 - l5/30 - 981/100",
    }.items():
        assert sympy.simplify(reduction.accelerations[k] - sympy.sympify(text, names)) == 0


def test_printed_numbers_of_the_angular_accelerations(dae, reduction):
    """a2 and a3 are printed up to their first two terms; their leading numbers are b Iyy, a Ixx."""
    one, two = dae.symbols.multipliers[:2]
    level = {dae.symbols.roll: 0, dae.symbols.pitch: 0}
    rolled, pitched = (reduction.accelerations[k].subs(level) for k in (1, 2))
    roll, pitch = -rolled.diff(one), -pitched.diff(two)
    assert rolled.diff(two) == roll
    assert pitched.diff(one) == pitch
    printed = Fraction(35184372088832 * 281151409631676535) / (140737488355328 * 103915635941325475)
    # The print has the inertia as float64, here it is a decimal number.
    assert float(roll / pitch) == pytest.approx(float(printed), rel=1e-15)


def test_equations_are_those_of_the_explicit_accelerations(dae, reduction):
    values = dict(zip(dae.symbols.accelerations, reduction.accelerations, strict=True))
    assert sympy.simplify(dae.equations.subs(values)).is_zero_matrix


def test_shorter_way_to_the_multipliers(dae, reduction):
    difference = multipliers_of_motion(dae) - reduction.multipliers
    assert difference.applyfunc(sympy.expand).is_zero_matrix


@pytest.mark.parametrize("plate", [PAPER, PLATE])
def test_complete_energies_have_the_exact_inertia_at_home(plate):
    """Seven coordinates put on the three that the pillars leave."""
    model = ExactModel(plate)
    home = np.array([plate.home_length, 0.0, 0.0])
    lengths = model.length_jacobian(home)[[3, 2, 1, 0]]
    onto = np.vstack([np.eye(3), lengths])
    coordinates = np.array([*home, *np.full(4, plate.home_length)])
    mass = np.array(numeric_dae(plate, True).mass(*coordinates), dtype=float)
    assert_within(onto.T @ mass @ onto, model.mass_matrix(home), 1e-12)
