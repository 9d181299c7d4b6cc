"""Computing a sweep: what is missing in its folder, row by row, whatever happens to a worker."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from twin.basics.arrays import whole_number
from twin.basics.optional import optional
from twin.basics.progress import STEPS_BETWEEN_LOOKS, Progress
from twin.errors import InputError, brief
from twin.sweep.description import Sweep
from twin.sweep.folder import Crew, SweepFolder, check_crew, crew
from twin.sweep.plan import Task, plan
from twin.sweep.work import Row, lost_row

if TYPE_CHECKING:
    import pyarrow

MAX_RETRIES = 2
"""Default number of further attempts for a run whose worker process died."""


def run_sweep(
    sweep: Sweep,
    folder: str | Path,
    workers: int | None = None,
    backend: str = "loky",
    resume: bool = True,
    *,
    address: str | None = None,
    retries: int = MAX_RETRIES,
    progress: bool | None = None,
) -> pyarrow.Table:
    """Compute the runs of a sweep that its folder does not hold yet, and return all rows.

    Every run is written as soon as it is finished. A call that was interrupted, or whose computer
    went down, is made again to compute the rest; results can be read in between. A run whose
    worker is killed is computed again by itself, then recorded with the status "died"; other runs
    are not touched. Runs with the status "died" or "crashed" are tried again by the next call.

    Args:
        sweep: sweep to compute.
        folder: folder of the results: `sweep.json`, `parts/`, `results.parquet`.
        workers: number of parallel workers; None: one per core, of the cluster with Ray.
        backend: "loky" (processes of this computer), "ray" (a cluster) or "serial".
        resume: take a folder that holds results of this sweep already.
        address: of a running Ray cluster, such as "auto"; None: one on this computer, which ends
            with the call.
        retries: number of further attempts for a run whose worker died.
        progress: show a progress bar; default: on a terminal when it takes longer than 2 s.

    Raises:
        InputError: a sweep that its machine does not allow, a folder of another sweep, or unknown
            options.
        MachineNotFoundError: no such machine.
        ParameterError: the machine's file cannot be used.
        MissingDependencyError: joblib, pyarrow or Ray is not installed.
        StateError: the cluster itself failed.
    """
    if not isinstance(sweep, Sweep):
        raise InputError("sweep", f"must be a Sweep, not {brief(sweep)}")
    whole_number(retries, "retries", 1)
    check_crew(backend, workers, address)
    optional("pyarrow.parquet")
    tasks = plan(sweep)
    sweep_folder = SweepFolder(folder)
    sweep_folder.open(sweep, [task.key for task in tasks], resume)
    finished_keys = sweep_folder.finished()
    missing_tasks = [task for task in tasks if task.key not in finished_keys]
    if missing_tasks:
        bar = Progress(
            f"sweep of {sweep.machine}", STEPS_BETWEEN_LOOKS * len(missing_tasks), progress
        )
        with crew(backend, workers, address) as worker_pool, bar:
            _compute(worker_pool, missing_tasks, sweep_folder, retries, bar)
    return sweep_folder.consolidate()


def _compute(
    hands: Crew, tasks: Sequence[Task], place: SweepFolder, retries: int, bar: Progress
) -> None:
    """Compute runs and write their rows; those whose workers die are tried again one by one."""
    written = 0
    lost_reasons: dict[str, str] = {}

    def note(row: Row) -> None:
        nonlocal written
        place.write(row)
        written += 1
        bar.tick(STEPS_BETWEEN_LOOKS * written)

    for attempt in range(1 + retries):
        outstanding = (
            [task for task in tasks if task.key in lost_reasons] if attempt else list(tasks)
        )
        lost_reasons = {}
        if not outstanding:
            return
        with closing(hands.outcomes(outstanding, alone=attempt > 0)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, dict):
                    note(outcome)
                else:
                    lost_reasons[outcome.argument.key] = outcome.reason
    for task in tasks:
        if task.key in lost_reasons:
            note(
                lost_row(
                    task, f"its worker died {1 + retries} times; the last: {lost_reasons[task.key]}"
                )
            )
