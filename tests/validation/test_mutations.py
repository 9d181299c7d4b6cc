"""Wrong models are noticed by the measures that are there for it; the page lists them all."""

import pytest
from mutations import table
from mutations.catalogue import MUTATIONS
from mutations.change import Formula, changed_source, times
from mutations.run import Mutation, outcome, shorter

import twin
from twin.validation.cases import load_case

pytestmark = pytest.mark.quick

FAST = (
    "machine_data",
    "reference",
    "projection",
    "published",
    "free_fall",
    "constant_forces",
    "sinusoidal_forces",
    "driven_motion",
)
"""Cases that take less than two seconds; mutations of the others are left to `make mutations`."""

BRIEF = [m for m in reversed(MUTATIONS) if m.case in FAST]

FIRST = [
    *{(m.machine, m.side): m for m in BRIEF}.values(),
    *{m.case: m for m in BRIEF if m.case not in ("projection", "machine_data")}.values(),
]
"""One mutation of each machine and side, and one of each case; `make mutations` runs all."""

PAIRS = sorted({(m.machine, m.case) for m in FIRST})

WRONG = {"mujoco": "MuJoCo", "bullet": "Bullet"}


assert {m.case for m in FIRST} == set(FAST)


def test_all_machines_and_engines_have_mutations_of_their_own():
    assert {m.machine for m in MUTATIONS} == set(twin.machine_names())
    assert {m.side for m in MUTATIONS} == {"reference", "mujoco", "bullet", "both"}
    assert len({(m.machine, m.side, m.text, m.case) for m in MUTATIONS}) == len(MUTATIONS)


def test_every_wrong_formula_is_found_in_the_source():
    formulas = [m.change for m in MUTATIONS if isinstance(m.change, Formula)]
    assert len(formulas) > 100
    for formula in formulas:
        assert changed_source(formula)


def test_the_page_lists_all_mutations_and_what_catches_them():
    rows = table.rows()
    assert len(rows) == len(MUTATIONS), "run make mutations"
    for mutation, row in zip(MUTATIONS, rows, strict=True):
        start = f"{table.key(mutation)} {table.plain(mutation.measure)}"
        assert row.startswith(start), "run make mutations"
        value, bound = (cell.strip() for cell in row.split("|")[-3:-1])
        if value == "not finite":
            continue
        least = bound.removeprefix("at least ")
        held = float(value) >= float(least) if least != bound else float(value) <= float(bound)
        assert not held, row


@pytest.mark.slow
@pytest.mark.parametrize("mutation", FIRST, ids=lambda m: f"{m.machine}-{m.side}-{m.case}")
def test_mutations_are_caught(mutation):
    found = outcome(mutation)
    assert found.caught, found.measure
    if mutation.side in WRONG and mutation.case == "projection":
        assert all(name.startswith(WRONG[mutation.side]) for name in found.failed)


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "case"), PAIRS)
def test_right_models_pass_the_shortened_cases(machine, case):
    with shorter(case):
        assert load_case(case).run(twin.load(machine)).verdict == "pass"


def test_a_mutation_that_changes_nothing_is_not_caught():
    nothing = times("platform.body.mass", 1.0)
    idle = Mutation("stewart", "both", "nothing", nothing, "machine_data", "masses of")
    assert not outcome(idle).caught
