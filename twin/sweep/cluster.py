"""A sweep's runs on a Ray cluster, through joblib's Ray backend."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from twin.basics.optional import optional
from twin.errors import InputError, StateError
from twin.sweep.work import Lost, call_argument, joblib_workers

LOCAL_ADDRESS = "local"
"""Address of a cluster that is started on this computer and stopped after the sweep."""

LOOPBACK_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Environment variable. Set to 0 before Ray is imported, it keeps a cluster of this computer on the
loopback interface on every system; otherwise its ports are open to the network."""

USAGE_VARIABLE = "RAY_USAGE_STATS_ENABLED"
"""Environment variable. Set to 0, it keeps Ray from reporting its use."""

RECOMMENDATION = (
    "What is finished is kept, the same call computes the rest. Every computer of the cluster "
    "needs the same version of this package."
)


def ray_library(address: str | None = None) -> ModuleType:
    """Return the library Ray, with its usage reports switched off.

    Args:
        address: of the cluster; for one of this computer (None or `LOCAL_ADDRESS`) Ray is kept away
            from the network, unless it has been imported before.

    Raises:
        MissingDependencyError: it is not installed.
    """
    os.environ.setdefault(USAGE_VARIABLE, "0")
    if address in (None, LOCAL_ADDRESS):
        os.environ.setdefault(LOOPBACK_VARIABLE, "0")
    return optional("ray")


@contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[None]:
    """Connect to a cluster inside the block; an existing connection stays.

    Args:
        address: address of a running cluster as `ray.init` takes it, such as "auto"; None or
            `LOCAL_ADDRESS`: one on this computer, which other computers cannot reach.
        workers: cores of a cluster that is started here; None: all.

    Raises:
        InputError: there is no cluster at the address.
        MissingDependencyError: Ray is not installed.
    """
    ray = ray_library(address)
    if ray.is_initialized():
        yield
        return
    try:
        if address in (None, LOCAL_ADDRESS):
            # Without an address Ray would join a cluster that it finds running.
            ray.init(
                LOCAL_ADDRESS,
                num_cpus=workers,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
        else:
            ray.init(address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError("address", f"no cluster at {address!r} ({error})") from None
    try:
        yield
    finally:
        ray.shutdown()


def cluster_cores() -> int:
    """Return the number of cores of the connected cluster."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def cluster_backend(count: int) -> Any:
    """Return joblib's Ray backend, inside `connected`, with tasks in place of a pool of actors.

    The pool gives results together at the end, ends all runs when one worker dies, and hands runs
    to its workers in turn, busy or not. With tasks each result is taken as it comes, `Lost` where
    the worker died; the others are not touched, and whoever is idle gets the next run. One worker
    is a worker too, instead of this process.

    Args:
        count: number of workers.

    Raises:
        StateError: in a call, where the cluster itself fails.
    """
    import ray
    from ray.util.joblib.ray_backend import RayBackend

    fatal_errors = (
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.NodeDiedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.ObjectLostError,
    )

    class ClusterBackend(RayBackend):  # type: ignore[misc]  # Ray's is without types
        """Ray's backend for joblib, with results as they come and workers that may die."""

        supports_return_generator = True

        def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
            """Prepare the backend for a call of joblib."""
            self.parallel = parallel
            self._outstanding: set[Any] = set()
            self._call = ray.remote(num_cpus=1, max_retries=0)(_call)
            return joblib_workers(count)

        def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
            """Hand a batch to the cluster."""
            reference = self._call.remote(func)
            self._outstanding.add(reference)

            def finish(done: Any) -> None:
                self._outstanding.discard(reference)
                if callback is not None:
                    callback((func, done))

            future = reference.future()
            future.add_done_callback(finish)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            """Return the results of a batch, `Lost` where its worker died."""
            func, done = out
            try:
                return done.result()
            except fatal_errors as error:
                return [Lost(call_argument(func), str(error).partition("\n")[0])]
            except ray.exceptions.RayError as error:
                raise StateError(f"the cluster cannot go on: {error}\n{RECOMMENDATION}") from None

        def terminate(self) -> None:
            """Cancel the runs that are still being computed."""
            for reference in tuple(self._outstanding):
                ray.cancel(reference, force=True)

    return ClusterBackend()


def _call(batch: Callable[[], Any]) -> Any:
    return batch()
