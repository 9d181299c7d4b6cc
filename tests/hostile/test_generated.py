"""Three hundred of the inputs of `make hostile`, and the judge himself."""

import warnings
from random import Random

import numpy as np
import pytest

from hostile import outcome as outcomes
from hostile.calls import calls
from hostile.files import file_input, machines
from hostile.outcome import REFUSED, RESULT, outcome
from hostile.run import judged, numbers, table, warmed_up
from twin.analysis.platform import Platform
from twin.errors import InputError, TwinError

pytestmark = pytest.mark.quick

QUICK = 300
SEED = 1

STUDIES = {"checked_states", "feasibility", "on", "payload", "step_derivatives", "workspace"}
"""Methods whose results are no arrays, or that take long: their own tests spoil their input."""


@pytest.mark.slow
def test_generated_input_ends_in_a_result_or_an_error():
    warmed_up()
    chosen = [(kind, number) for kind, number in numbers(2 * QUICK) if kind != "commands"][:QUICK]
    found = [judged(kind, number, SEED) for kind, number in chosen]
    assert len(found) == QUICK
    assert not any(each.outcome.is_fault for each in found), table(found)
    for kind in (RESULT, REFUSED):
        assert sum(each.outcome.kind == kind for each in found) > QUICK // 20


@pytest.mark.slow
def test_good_arguments_are_good():
    for name, call in calls().items():
        try:
            call.function(**call.good)
        except TwinError as error:
            assert "/dev/null/such" in str(error), name
    assert len(machines()) > 8


def test_no_public_method_is_left_out():
    names = (name for name in dir(Platform) if not name.startswith("_"))
    methods = {name for name in names if callable(getattr(Platform, name))}
    assert len(methods) > 10
    assert methods <= {name.partition(" of ")[0] for name in calls()} | STUDIES


def test_inputs_are_the_same_again():
    first, again = (file_input(Random("3"))[1] for _ in range(2))
    assert outcome(first).kind == outcome(again).kind


def refused():
    raise InputError("field", "cannot be used")


def nothing_said():
    raise TwinError


def warned():
    return np.full(3, 1e308) * 1e308


def endless():
    while True:
        pass


def test_the_judge(subtests, constants):
    for call, kind in [
        (lambda: 3.0, RESULT),
        (refused, REFUSED),
        (nothing_said, "an error without words"),
        (lambda: [1.0, {"a": np.array([np.nan])}], "NaN in result.1.a"),
        (lambda: {}["x"], "KeyError"),
        (warned, "RuntimeWarning"),
        (endless, "takes too long"),
    ]:
        with subtests.test(f"{call}"):
            constants(outcomes, PATIENCE=0.2)
            with warnings.catch_warnings():
                found = outcome(call)
            assert found.kind.startswith(kind)
            assert found.is_fault == (kind not in (RESULT, REFUSED))
