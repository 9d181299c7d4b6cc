"""Computing a sweep: what is missing in its folder, row by row, whatever happens to a worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twin.basics.arrays import whole_number
from twin.basics.optional import optional
from twin.basics.progress import Progress
from twin.errors import InputError, brief
from twin.sweep.description import Sweep
from twin.sweep.folder import SweepFolder
from twin.sweep.plan import plan
from twin.sweep.workers import check_backend, finished_rows, started_workers

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
    worker is killed is computed again, then recorded with the status "died"; other runs
    are not touched. Runs with the status "died" or "crashed" are tried again by the next call.

    Args:
        sweep: sweep to compute.
        folder: folder of the results: `sweep.json`, `runs.jsonl`, `results.parquet`.
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
    check_backend(backend, workers, address)
    optional("pyarrow.parquet")
    tasks = plan(sweep)
    sweep_folder = SweepFolder(folder)
    sweep_folder.open(sweep, [task.key for task in tasks], resume)
    finished_keys = sweep_folder.finished()
    missing_tasks = [task for task in tasks if task.key not in finished_keys]
    if missing_tasks:
        bar = Progress(f"sweep of {sweep.machine}", len(missing_tasks), progress, every=1)
        with bar, started_workers(backend, workers, address) as pool:
            for count, row in enumerate(finished_rows(pool, missing_tasks, retries), start=1):
                sweep_folder.write(row)
                bar.tick(count)
    return sweep_folder.consolidate()
