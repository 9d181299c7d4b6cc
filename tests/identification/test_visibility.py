"""What a motion shows of parameters: against columns that are made to be alike."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_each_refused, refused
from tolerance import max_abs

from twin.identification.parameters import Parameter
from twin.identification.visibility import visibility

pytestmark = pytest.mark.quick


def parameter(name, spread=1.0, unit="kg"):
    return Parameter(name, f"the {name}", unit, 10.0, spread, 0.0, 100.0)


A, B, C = parameter("mass"), parameter("load", 2.0), parameter("shift", 0.1, "m")
COLUMNS = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1.0, 30.0]


def test_expected_errors_are_those_of_bayesian_regression():
    found = visibility(COLUMNS, (A, B, C), 0.3)
    precision = COLUMNS.T @ COLUMNS / 0.3**2 + np.diag([1.0, 1.0 / 4.0, 100.0])
    expected = np.sqrt(np.diag(np.linalg.inv(precision)))
    assert_allclose(found.expected_errors, expected, rtol=1e-10)
    assert found.sentences == () == found.unobservable
    assert found.decide("refuse").free == (A, B, C)


@pytest.mark.parametrize(("sign", "word"), [(1.0, "sum"), (-1.0, "difference")])
def test_a_sum_and_a_difference_are_named(sign, word):
    columns = COLUMNS.copy()
    columns[:, 1] = sign * columns[:, 0]
    found = visibility(columns, (A, B, C), 1e-3)
    assert set(found.sentences) == {f"only the {word} of the mass and the load is visible"}
    # The two share what is known of one of them: the wider prior stays with more.
    left = 1.0 / np.sqrt(1.0 + 1.0 / 4.0)
    assert_allclose(found.expected_errors[:2], left, rtol=1e-5)
    decision = found.decide("hold")
    assert C in decision.free
    assert len(decision.fixed) == 1
    with refused(f"only the {word} of the mass and the load"):
        found.decide("refuse")
    assert found.decide("prior").free == (A, B, C)


def test_what_would_not_show_alone_is_held_too():
    columns = np.array([[0.9, 0.9 / B.prior_std]])  # less than the noise per prior deviation
    found = visibility(columns, (A, B))
    assert len(found.unobservable_directions) == 1
    assert max(found.alone(A), found.alone(B)) < 1.0
    assert found.decide("hold").fixed == (A, B)


def test_a_column_of_zeros_does_not_show():
    columns = COLUMNS * [0.0, 1.0, 1.0]
    found = visibility(columns, (A, B, C), 1e-3)
    assert found.sentences == ("the mass does not show",)
    assert found.decide("hold").fixed == (A,)
    assert_allclose(found.shares[0], 1.0, rtol=1e-12)


def test_columns_of_other_units_are_compared_in_theirs():
    columns = COLUMNS.copy()
    columns[:, 2] = 25.0 * columns[:, 0]
    [sentence] = visibility(columns, (A, B, C), 1e-3).sentences
    texts = (
        "the mass shows only together with others: +1 kg of it looks like +0.04 m of the shift",
        "the shift shows only together with others: +1 m of it looks like +25 kg of the mass",
    )
    assert sentence in texts


def test_directions_are_given_in_few_parameters():
    # Two pairs of equal columns: every turn of their null space mixes the pairs.
    names = tuple(parameter(name) for name in "abcd")
    columns = COLUMNS[:, [0, 1, 0, 1]]
    found = visibility(columns, names, 1e-3)
    said = {
        frozenset(each.path for each in direction.parameters)
        for direction in found.unobservable_directions
    }
    assert said == {frozenset("ac"), frozenset("bd")}
    for direction in found.unobservable_directions:
        changes = dict(
            zip([each.path for each in direction.parameters], direction.changes, strict=True)
        )
        change = columns @ [changes.get(name, 0.0) for name in "abcd"]
        assert max_abs(change) < 1e-12


def test_wrong_input_is_refused():
    given = {"jacobian": COLUMNS, "parameters": (A, B, C), "noise": 1.0}
    assert_each_refused(
        lambda **wrong: visibility(**given | wrong),
        {"jacobian": [COLUMNS[:, :2], COLUMNS[0], COLUMNS * np.nan], "noise": [0.0, [1.0, 2.0]]},
    )
