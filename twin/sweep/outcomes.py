"""Rows of runs as they are finished: in this process, in worker processes or on a cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings, filterwarnings

from twin.basics.arrays import one_of, whole_number
from twin.basics.optional import optional
from twin.errors import InputError
from twin.sweep.cluster import cluster_backend, cluster_cores, connected, ray_library
from twin.sweep.task import Task
from twin.sweep.work import Row, run_task

BACKENDS = ("loky", "ray", "serial")
"""Processes of this computer, a Ray cluster, or this process."""


class Crew:
    """Workers that compute runs."""

    def __init__(self, backend: str, workers: int | None) -> None:
        self._backend, self._workers = backend, workers

    def outcomes(
        self, tasks: Sequence[Task], alone: bool = False
    ) -> Generator[Row | Any, None, None]:
        """Yield the row of each run as it is finished, `Lost` where its worker died.

        Args:
            tasks: the runs.
            alone: one at a time, so that whoever dies does so by its own doing.
        """
        if self._backend == "serial":
            yield from map(run_task, tasks)
        elif alone:
            for task in tasks:
                yield from self._together([task], 1)
        else:
            yield from self._together(tasks, self._count())

    def _together(self, tasks: Sequence[Task], count: int) -> Generator[Row | Any, None, None]:
        joblib = optional("joblib")
        if self._backend == "ray":
            backend = cluster_backend(count)
        else:
            from twin.sweep.workers import SeparateWorkers

            backend = SeparateWorkers(count)
        parallel = joblib.Parallel(
            n_jobs=2,  # the backends know their number; for one joblib would not use them
            backend=backend,
            batch_size=1,
            pre_dispatch=count,
            return_as="generator_unordered",
        )
        rows = parallel(joblib.delayed(run_task)(task) for task in tasks)
        try:
            # Rows themselves would be closed before the warning is silenced.
            yield from (row for row in rows)
        finally:
            with catch_warnings():
                # Whoever interrupts a sweep knows that runs were under way.
                filterwarnings("ignore", category=UserWarning)
                rows.close()

    def _count(self) -> int:
        if self._workers is not None:
            return self._workers
        if self._backend == "ray":
            return cluster_cores()
        return int(optional("joblib").cpu_count())


def check_crew(backend: str, workers: int | None, address: str | None) -> None:
    """Check the options of `crew`, and that its libraries are there.

    Raises:
        InputError: an unknown backend, workers below one, or an address that nobody asks for.
        MissingDependencyError: joblib or Ray is not installed.
    """
    one_of(backend, "backend", BACKENDS)
    if workers is not None:
        whole_number(workers, "workers", 1)
    if address is not None and backend != "ray":
        raise InputError("address", f"is of a Ray cluster; the backend is {backend}")
    if backend != "serial":
        optional("joblib")
    if backend == "ray":
        ray_library(address)


@contextmanager
def crew(backend: str, workers: int | None, address: str | None) -> Iterator[Crew]:
    """Have a crew inside.

    Args:
        backend: one of `BACKENDS`.
        workers: how many; None: one per core.
        address: of a Ray cluster; None: one of this computer.

    Raises:
        InputError: as `check_crew`, or an address that is of no cluster.
        MissingDependencyError: joblib or Ray is not installed.
    """
    check_crew(backend, workers, address)
    if backend != "ray":
        yield Crew(backend, workers)
        return

    with connected(address, workers):
        yield Crew(backend, workers)
