"""Runs validation cases on machines, in this process or in several."""

from __future__ import annotations

import os
import time as clock
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from twin.analysis.platform import Platform, load
from twin.engines.mechanism import least_mass_note, make_mechanism
from twin.errors import InputError, MissingDependencyError, TwinError, TwinWarning
from twin.machine.machine import machine_names
from twin.validation.case import Case, CaseResult, LeftOut, Quantity
from twin.validation.cases import CASES, load_case

Task = tuple[str, str, str]
"""Machine as it was requested, its name, and the case."""


def run(
    machines: Sequence[str | Path] | str | Path,
    cases: Sequence[str] | str | None = None,
    progress: bool = True,
    jobs: int = 1,
) -> list[CaseResult]:
    """Return the outcome of every case on every machine it makes sense for.

    A case that cannot be run does not stop the others: its result says why and counts as failed.

    Args:
        machines: names or paths of platform.toml, one or several.
        cases: names out of `twin.validation.cases.CASES`; default all.
        progress: show a progress bar on a terminal.
        jobs: processes to use; with more than one, a script that calls this needs the usual
            `if __name__ == "__main__":`.

    Raises:
        InputError: unknown case, no machine, two machines of the same name, or cases that make
            sense for none of the machines.
        MachineNotFoundError: not a known name and not a file.
        ParameterError: a platform.toml that cannot be used.
    """
    tasks = _tasks(_several(machines, "machines"), cases)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError("jobs", f"must be a whole number from 1 on, got {jobs!r}")
    results: dict[Task, CaseResult] = {}
    with _progress_bar(len(tasks), progress) as advance:
        for task, result in _outcomes(tasks, min(jobs, len(tasks))):
            results[task] = result
            advance(result)
    return [results[task] for task in tasks]


def left_out(
    platforms: Sequence[Platform], cases: Sequence[str] | str | None = None
) -> list[LeftOut]:
    """Return the cases, out of `cases` or of all, that make no sense for a machine, and why.

    Cases about one machine of the catalogue do not concern a user's own machine: left out of this.

    Raises:
        InputError: unknown case.
    """
    return [
        LeftOut(platform.name, key, case.title, reason)
        for platform in platforms
        for key, case in _selected(cases).items()
        if not case.machines or platform.name in machine_names()
        if (reason := case.obstacle(platform))
    ]


def raised_mass_notes(machines: Sequence[str | Path]) -> list[str]:
    """Return notes on parts whose masses are raised for the engines, one sentence each."""
    parameters = [load(machine).parameters for machine in machines]
    notes = (least_mass_note(make_mechanism(each), each) for each in parameters)
    return [note for note in notes if note]


def run_case(task: Task) -> CaseResult:
    """Return the outcome of one case; whatever goes wrong becomes its error."""
    start = clock.perf_counter()
    try:
        with warnings.catch_warnings():
            # Said once, by `raised_mass_notes`, and not by each case in each process.
            warnings.simplefilter("ignore", TwinWarning)
            result = load_case(task[2]).run(load(task[0]))
    except MissingDependencyError as error:
        note = Quantity("not run", float("nan"), str(error), "")
        result = replace(_without_measures(task), quantities=(note,))
    except TwinError as error:
        result = _without_measures(task, str(error))
    except Exception as error:
        result = _without_measures(task, f"unexpected {type(error).__name__}: {error}")
    return replace(result, seconds=clock.perf_counter() - start)


def _several(value: Any, field: str) -> list[Any]:
    entries = [value] if isinstance(value, (str, Path)) else value
    if not isinstance(entries, Sequence) or not entries:
        raise InputError(field, f"must be a name or a list of names, got {value!r}")
    if not all(isinstance(entry, (str, Path)) for entry in entries):
        raise InputError(field, f"must hold names only, got {value!r}")
    return list(dict.fromkeys(entries))


def _tasks(machines: list[str | Path], cases: Sequence[str] | str | None) -> list[Task]:
    selected = _selected(cases)
    tasks: list[Task] = []
    machine_by_name: dict[str, str | Path] = {}
    obstacles: list[str] = []
    for machine in machines:
        platform = load(machine)
        if platform.name in machine_by_name:
            raise InputError(
                "machines",
                f"{str(machine)!r} and {str(machine_by_name[platform.name])!r} are both called "
                f"{platform.name!r}; give one of them another name",
            )
        machine_by_name[platform.name] = machine
        for key, case in selected.items():
            reason = case.obstacle(platform)
            if reason:
                obstacles.append(f"{key}: {reason}")
            else:
                tasks.append((str(machine), platform.name, key))
    if not tasks:
        reasons = "; ".join(dict.fromkeys(obstacles))
        raise InputError(
            "cases",
            f"{', '.join(selected)} make no sense for {', '.join(machine_by_name)} ({reasons})",
        )
    return tasks


def _selected(cases: Sequence[str] | str | None) -> dict[str, Case]:
    keys = list(CASES) if cases is None else _several(cases, "cases")
    selected = {key: load_case(key) for key in keys}
    return {key: selected[key] for key in CASES if key in selected}


def _without_measures(task: Task, error: str = "") -> CaseResult:
    case = load_case(task[2])
    return CaseResult(task[1], case.key, case.title, case.description, (), error=error)


def _outcomes(tasks: list[Task], jobs: int) -> Iterator[tuple[Task, CaseResult]]:
    if jobs == 1:
        yield from ((task, run_case(task)) for task in tasks)
        return
    # Spawned, not forked: engines and compiled code hold threads that do not survive a fork.
    with one_thread_each(), ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        # A long case started last would run alone on one core.
        slowest_first = sorted(tasks, key=lambda task: -load_case(task[2]).run_time)
        task_of_future = {pool.submit(run_case, task): task for task in slowest_first}
        try:
            for future in as_completed(task_of_future):
                yield task_of_future[future], collected_result(future, task_of_future[future])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Limit worker processes started in this block to one thread each; more would compete."""
    environment = dict(os.environ)
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(environment)


def collected_result(future: Future[CaseResult], task: Task) -> CaseResult:
    """Return the result of a task; a failed one where the process that ran it has crashed."""
    try:
        return future.result()
    except BrokenProcessPool:
        return _without_measures(
            task, "its process, or one beside it, crashed; run the cases with one job"
        )


@contextmanager
def _progress_bar(count: int, shown: bool) -> Iterator[Callable[[CaseResult], None]]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    text = TextColumn("{task.description}")
    hidden = not (shown and console.is_terminal)
    with Progress(*columns, text, console=console, transient=True, disable=hidden) as progress:
        bar = progress.add_task("validation", total=count)

        def advance(result: CaseResult) -> None:
            line = f"{result.machine}: {result.case}, {result.seconds:.1f} s"
            if result.verdict == "fail" and not hidden:
                console.print(f"[red]fail[/red] {escape(line)}")
            progress.update(bar, advance=1, description=escape(line))

        yield advance
