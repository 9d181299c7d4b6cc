"""Workers of a sweep: this process, processes of this computer, or a Ray cluster.

Every worker of this computer is a pool of one process. A process that is killed takes only its own
run with it and is replaced; a pool of several would end all of them.

Only what is missing in the sweep's folder is computed, row by row, whatever happens to a worker.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from twin.basics.arrays import as_instance, one_of, whole_number
from twin.basics.optional import optional
from twin.basics.progress import Progress
from twin.errors import InputError, StateError
from twin.sweep.description import Sweep
from twin.sweep.folder import Row, SweepFolder, lost_row, run_task
from twin.sweep.plan import Task, plan

if TYPE_CHECKING:
    import pyarrow

BACKEND_NAMES = ("loky", "ray", "serial")
"""Names of the backends: processes on this computer, a Ray cluster, or this process."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment of a worker process: libraries use one thread."""

WATCH_INTERVAL = 0.5
"""[s] Interval at which a worker checks whether its parent still runs."""

LOCAL_ADDRESS = "local"
"""Address of a cluster that is started on this computer and stopped after the sweep."""

RAY_VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Environment variables, set before Ray is imported: it does not report its use, and a cluster of
this computer stays on the loopback interface; otherwise its ports are open to the network."""

RESTART_ADVICE = (
    "What is finished is kept, the same call computes the rest. Every computer of the cluster "
    "needs the same version of this package."
)


class Workers(NamedTuple):
    """Workers that compute runs."""

    capacity: int
    """number of runs at a time"""
    submit: Callable[[Task], Future[Row]]
    """Hand a run to an idle worker"""
    death_errors: tuple[type[Exception], ...] = ()
    """errors of a run whose worker has died"""


def finished_rows(workers: Workers, tasks: Iterable[Task], retries: int) -> Iterator[Row]:
    """Yield the row of each run as it is finished.

    A run whose worker dies is tried again, up to `retries` times; then its row says so.
    """
    waiting, attempts = iter(tasks), Counter[str]()
    running = {workers.submit(task): task for task in islice(waiting, workers.capacity)}
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            task = running.pop(future)
            try:
                yield future.result()
            except workers.death_errors as error:
                attempts[task.key] += 1
                if attempts[task.key] <= retries:
                    running[workers.submit(task)] = task
                    continue
                # A long report of the library follows.
                reason = str(error).partition("\nDetailed")[0]
                yield lost_row(task, f"its worker died {1 + retries} times; the last: {reason}")
            running |= {workers.submit(task): task for task in islice(waiting, 1)}


def check_backend(backend: str, workers: int | None, address: str | None) -> None:
    """Check the options of `started_workers`, and that its libraries are installed.

    Raises:
        InputError: an unknown backend, workers below one, or an address that nobody asks for.
        MissingDependencyError: joblib or Ray is not installed.
    """
    one_of(backend, "backend", BACKEND_NAMES)
    if workers is not None:
        whole_number(workers, "workers", 1)
    if address is not None and backend != "ray":
        raise InputError("address", f"is of a Ray cluster; the backend is {backend}")
    if backend == "loky":
        optional("joblib")
    if backend == "ray":
        _ray()


@contextmanager
def started_workers(backend: str, workers: int | None, address: str | None) -> Iterator[Workers]:
    """Provide workers inside the block.

    Args:
        backend: one of `BACKEND_NAMES`.
        workers: number of workers; None: one per core.
        address: address of a Ray cluster; None: a cluster on this computer.

    Raises:
        InputError: an address that is of no cluster.
    """
    if backend == "serial":
        yield Workers(1, _computed_here)
    elif backend == "loky":
        with _processes(workers or optional("joblib").cpu_count()) as pool:
            yield pool
    else:
        with _cluster(workers, address) as pool:
            yield pool


def _computed_here(task: Task) -> Future[Row]:
    future: Future[Row] = Future()
    future.set_result(run_task(task))
    return future


@contextmanager
def _processes(count: int) -> Iterator[Workers]:
    """Provide worker processes of this computer with one thread each."""
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    pools = set()
    idle_pools: SimpleQueue[Any] = SimpleQueue()
    for _ in range(count):
        idle_pools.put(None)  # a pool that is not started yet

    def submit(task: Task) -> Future[Row]:
        pool = idle_pools.get()
        if pool is None:
            pool = ProcessPoolExecutor(
                1, env=ONE_THREAD, initializer=_end_with, initargs=(os.getpid(),)
            )
            pools.add(pool)
        future: Future[Row] = pool.submit(run_task, task)
        future.add_done_callback(lambda done: release(pool, done))
        return future

    def release(pool: Any, done: Future[Row]) -> None:
        if isinstance(done.exception(), BrokenProcessPool):
            pools.discard(pool)
            pool.shutdown(wait=False, kill_workers=True)
            pool = None
        idle_pools.put(pool)

    try:
        yield Workers(count, submit, (BrokenProcessPool,))
    finally:
        for pool in tuple(pools):
            pool.shutdown(wait=False, kill_workers=True)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without notice."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_INTERVAL)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _ray() -> Any:
    """Return the library Ray, kept from the network unless it has been imported before."""
    for name, value in RAY_VARIABLES.items():
        os.environ.setdefault(name, value)
    return optional("ray")


@contextmanager
def _cluster(count: int | None, address: str | None) -> Iterator[Workers]:
    """Provide the workers of a Ray cluster; a connection that exists is used and stays."""
    ray = _ray()
    connects = not ray.is_initialized()
    if connects:
        # Without an address Ray would join a cluster that it finds running.
        is_local = address in (None, LOCAL_ADDRESS)
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if is_local:
            options |= {"num_cpus": count, "include_dashboard": False}
        try:
            ray.init(address or LOCAL_ADDRESS, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError("address", f"no cluster at {address!r} ({error})") from None
    compute = ray.remote(num_cpus=1, max_retries=0)(run_task)
    references = set()

    def submit(task: Task) -> Future[Row]:
        reference = compute.remote(task)
        references.add(reference)
        future: Future[Row] = reference.future()
        future.add_done_callback(lambda _: references.discard(reference))
        return future

    errors = ray.exceptions
    death_errors = (
        errors.WorkerCrashedError,
        errors.NodeDiedError,
        errors.OutOfMemoryError,
        errors.ObjectLostError,
    )
    try:
        core_count = max(1, int(ray.cluster_resources().get("CPU", 1)))
        yield Workers(count or core_count, submit, death_errors)
    except errors.RayError as error:
        raise StateError(f"the cluster cannot go on: {error}\n{RESTART_ADVICE}") from None
    finally:
        for reference in tuple(references):
            ray.cancel(reference, force=True)
        if connects:
            ray.shutdown()


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
    as_instance(sweep, "sweep", Sweep)
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
