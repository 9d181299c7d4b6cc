"""The shipped table of robustness: what is on record of it, and that a change either way fails."""

import pytest

from twin.training import policy_names
from twin.validation.cases.policies import SHIPPED_POLICIES, measure_of, robustness

ALL = [shipped for several in SHIPPED_POLICIES.values() for shipped in several]

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("shipped", ALL, ids=[shipped.policy for shipped in ALL])
def test_every_policy_has_its_conditions_on_record(shipped):
    held = robustness(shipped)
    assert held.verdict == "pass", held.value


def test_all_shipped_policies_of_shipped_machines_are_in_the_report():
    assert {shipped.policy for shipped in ALL} == {*policy_names()} - {"balancer_ball"}


def row(condition, difference, title="error"):
    means = {"baseline": [1.0, 0.1, 8], "policy": [1.0 + difference, 0.1, 8]}
    apart = [difference, 0.2, 8]
    return {"condition": condition, "title": title, "baseline name": "law", "difference": apart} | (
        means
    )


def test_outcomes_that_change_either_way_count():
    rows = [row("better", -0.3), row("alike", -0.1), row("worse", 1.2), row("of other", 9.0, "d")]
    own = ALL[0]._replace(title="error", max_ratio=None, known_failures=("alike", "worse"))
    assert measure_of(rows, own).value == 0
    assert measure_of([row("better", -0.1), *rows[1:]], own).value == 1
    assert measure_of([rows[0], row("alike", -0.3), *rows[2:]], own).value == 1
    assert measure_of(rows, own._replace(max_ratio=2.0, known_failures=("worse",))).value == 0


def test_larger_returns_are_better():
    own = ALL[0]._replace(title="return", max_ratio=None, known_failures=())
    assert measure_of([row("more", 0.3, "return")], own).value == 0
    assert measure_of([row("less", -0.3, "return")], own).value == 1
