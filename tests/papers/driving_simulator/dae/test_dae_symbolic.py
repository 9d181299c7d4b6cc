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

R = sympy.Rational


@pytest.fixture(scope="module")
def dae():
    """The paper's equations."""
    return symbolic_dae(PAPER)


@pytest.fixture(scope="module")
def reduction():
    """The paper's index reduction."""
    return reduce_index(PAPER)


def named(dae):
    """Return the symbols by name."""
    return {symbol.name: symbol for group in dae.symbols for symbol in group}


def test_seven_coordinates_and_seven_independent_constraints(dae):
    assert dae.jacobian.shape == (7, 7)
    assert dae.jacobian.rank() == 7
    assert dae.jacobian[:4, :].rank() == 4, "the pillars alone leave three degrees of freedom"


def test_constraints_as_printed(dae):
    s = named(dae)
    first, second = R(4, 5) * s["theta_mp"], R(41, 100) * s["phi_mp"]
    printed = [
        s["hmp_rr"] + second - first - s["z_mp"],
        s["hmp_fl"] - second + first - s["z_mp"],
        s["hmp_fr"] + second + first - s["z_mp"],
        s["hmp_rl"] - second - first - s["z_mp"],
        s["hmp_fr"] - s["f_1"],
        s["hmp_rl"] - s["f_2"],
        s["hmp_fl"] - s["f_3"],
    ]
    assert sympy.simplify(dae.constraints - sympy.Matrix(printed)).is_zero_matrix


def test_kinetic_energy_as_printed(dae):
    s = named(dae)
    lengths = sum(15 * s[f"dhmp_{name}"] ** 2 for name in ("fl", "fr", "rl", "rr"))
    product = s["phi_mp"] * s["dtheta_mp"] + s["theta_mp"] * s["dphi_mp"]
    turning = R(str(ROLL_INERTIA)) / 2 * s["dphi_mp"] ** 2
    turning += R(str(PITCH_INERTIA)) / 2 * s["dtheta_mp"] ** 2
    printed = lengths + turning + 75 * s["dz_mp"] ** 2 + R(192, 5) * product**2
    assert sympy.expand(dae.kinetic - printed) == 0


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
    s = named(dae)
    lengths = sum(R(2943, 10) * s[f"hmp_{name}"] for name in ("fl", "fr", "rl", "rr"))
    assert sympy.expand(dae.potential - lengths - R(2943, 2) * s["z_mp"]) == 0


def test_ranks_by_plain_sympy(reduction):
    """The ranks come from fractions of polynomials; here at numbers, entry by entry."""
    numbers = {"phi_mp": R(1, 10), "theta_mp": R(1, 20)}
    s = symbolic_dae(PAPER).symbols
    values = {symbol: numbers.get(symbol.name, R(3, 7)) for group in s[:6] for symbol in group}
    for level, rank in zip(reduction.levels, reduction.ranks, strict=True):
        assert level.jacobian(s.multipliers).subs(values).rank() == rank


def test_explicit_accelerations_as_printed(dae, reduction):
    one, two, three, four, five, six, seven = dae.symbols.multipliers
    weight = R(981, 100)
    printed = {
        0: (one + two + three + four) / 150 - weight,
        3: -one / 30 - weight,
        4: -four / 30 - six / 30 - weight,
        5: -two / 30 - seven / 30 - weight,
        6: -three / 30 - five / 30 - weight,
    }
    for k, expression in printed.items():
        assert sympy.simplify(reduction.accelerations[k] - expression) == 0


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
