"""Running cases: order, errors, machines by path, several processes."""

import os
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest
from refusals import assert_all_refused, refused

import twin
from twin.errors import (
    MachineNotFoundError,
    MissingDependencyError,
    ParameterError,
    StateError,
)
from twin.machine.machine import parameters_path
from twin.model.batch import usable_cores
from twin.validation import runner
from twin.validation.case import validation_case
from twin.validation.cases import CASES, load_case
from twin.validation.runner import left_out, run

QUICK = ["projection", "constant_forces"]


def described(tmp_path, name):
    """Write a platform.toml of a machine called `name`."""
    text = parameters_path("stewart").read_text(encoding="utf-8")
    path = tmp_path / f"{name}.toml"
    path.write_text(text.replace('name = "stewart"', f'name = "{name}"'), encoding="utf-8")
    return path


def keys(results):
    """Return machine and case of each result."""
    return [(result.machine, result.case) for result in results]


def test_results_come_in_the_order_of_machines_and_registry():
    results = run(["stewart", "srspm"], list(reversed(QUICK)), progress=False)
    assert keys(results) == [(m, c) for m in ("stewart", "srspm") for c in QUICK]
    assert all(result.verdict == "pass" and result.seconds > 0.0 for result in results)


def test_cases_that_make_no_sense_for_a_machine_are_left_out():
    results = run(["srspm", "stewart"], ["published", "projection"], progress=False)
    assert keys(results) == [
        ("srspm", "projection"),
        ("stewart", "published"),
        ("stewart", "projection"),
    ]
    with refused(r"no sense for srspm .*its own machine, stewart"):
        run("srspm", "published")


def test_cases_left_out_are_the_others_with_a_reason(stewart):
    without = left_out([stewart])
    others = {key for key in CASES if load_case(key).obstacle(stewart)}
    assert {case.case for case in without} == others
    assert all(case.reason and case.title for case in without)
    assert left_out([stewart], "projection") == []


def test_a_case_that_leaves_machines_out_says_why():
    def anything(_):
        raise AssertionError

    with refused("does not say why"):
        validation_case(machines=("stewart",))(anything)
    case = validation_case(condition=lambda platform: f"not {platform.name}")(anything)
    assert case.obstacle(twin.load("srspm")) == "not srspm"


def test_bad_input():
    assert_all_refused(
        lambda machines, options: run(machines, progress=False, **options),
        [
            (3, {}, "machines"),
            ([["stewart"]], {}, "machines"),
            ("stewart", {"cases": []}, "cases"),
            ("stewart", {"cases": ["reference", "nonsense"]}, "case"),
            ("stewart", {"jobs": 1.5}, "jobs"),
        ],
    )


def test_machines_that_cannot_be_loaded_stop_before_anything_runs(tmp_path):
    with pytest.raises(MachineNotFoundError):
        run(["stewart", "nowhere"], "projection")
    broken = tmp_path / "broken.toml"
    broken.write_text("name = 3")
    with pytest.raises(ParameterError):
        run(broken, "projection")


def test_two_machines_of_one_name_are_refused(tmp_path):
    with refused("both called 'stewart'"):
        run(["stewart", described(tmp_path, "stewart")], "projection")


def fails_in_projection(monkeypatch, error):
    """Let the case `projection` raise an error."""

    def broken(_):
        raise error

    def load(key):
        case = load_case(key)
        return replace(case, run=broken) if key == "projection" else case

    monkeypatch.setattr(runner, "load_case", load)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (StateError("stopped at t = 0.1 s"), "stopped at t = 0.1 s"),
        (ZeroDivisionError("division by zero"), "unexpected ZeroDivisionError: division by zero"),
    ],
)
def test_errors_of_a_case_become_its_result(error, text, monkeypatch):
    fails_in_projection(monkeypatch, error)
    first, second = run("srspm", QUICK, progress=False)
    assert (first.verdict, first.error, first.measures) == ("fail", text, ())
    assert first.title == load_case("projection").title
    assert second.verdict == "pass"


def test_a_missing_library_is_told_and_does_not_fail(monkeypatch):
    error = MissingDependencyError("sympy", "Deriving equations", "pip install sympy")
    fails_in_projection(monkeypatch, error)
    (result,) = run("srspm", "projection", progress=False)
    assert result.verdict == "info"
    assert "pip install sympy" in result.quantities[0].note


def test_crashed_process_is_told():
    from concurrent.futures.process import BrokenProcessPool

    future = Future()
    future.set_exception(BrokenProcessPool("gone"))
    result = runner.collected_result(future, ("srspm", "srspm", "projection"))
    assert result.verdict == "fail"
    assert "crashed" in result.error


@pytest.mark.slow
def test_two_processes_give_the_same_numbers(tmp_path):
    machines = ["srspm", described(tmp_path, "mine")]
    alone, together = (run(machines, QUICK, progress=False, jobs=jobs) for jobs in (1, 2))
    assert keys(alone) == keys(together)
    for one, other in zip(alone, together, strict=True):
        assert one.measures == other.measures


@pytest.mark.quick
def test_processes_of_a_run_haveone_thread_each(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    with runner.one_thread_each(), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(usable_cores).result() == 1
        assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "5"
