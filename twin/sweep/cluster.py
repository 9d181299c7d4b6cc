"""A sweep's runs on a Ray cluster, through joblib's Ray backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from twin.errors import InputError
from twin.sweep.libraries import ray_library
from twin.sweep.workers import Lost, call_argument, told

LOCAL = "local"
"""Address of a cluster that is started on this computer and ends with the sweep."""


@contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[None]:
    """Be connected to a cluster inside; one that is connected to already stays so.

    Args:
        address: of a running cluster as `ray.init` takes it, such as "auto"; None or `LOCAL`: one
            on this computer, which other computers cannot reach.
        workers: cores of a cluster that is started here; None: all.

    Raises:
        InputError: there is no cluster at the address.
        MissingDependencyError: Ray is not installed.
    """
    local = address in (None, LOCAL)
    ray = ray_library(local)
    if ray.is_initialized():
        yield
        return
    try:
        if local:
            # Without an address Ray would join a cluster that it finds running.
            ray.init(
                LOCAL,
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
    """Return how many cores the cluster has that this process is connected to."""
    return max(1, int(ray_library(False).cluster_resources().get("CPU", 1)))


def cluster_backend(count: int, repeated: bool) -> Any:
    """Return joblib's Ray backend, changed in four ways.

    Results can be taken one by one as they come. A worker that dies is started again, and its
    result is `Lost`; unchanged, joblib ends all other workers with an error. Workers take a core
    each, so that they spread over the computers of a cluster. One worker is a worker too, instead
    of this process.

    Args:
        count: of workers.
        repeated: let Ray try a call once again whose worker has died.

    Raises:
        MissingDependencyError: Ray is not installed.
    """
    exceptions = ray_library(False).exceptions
    from ray.util.joblib.ray_backend import RayBackend
    from ray.util.multiprocessing.pool import Pool, PoolTaskError

    dead = (
        exceptions.RayActorError,
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
    )
    workers = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": int(repeated)}

    class ClusterBackend(RayBackend):  # type: ignore[misc]  # Ray's is without types
        """Ray's backend for joblib, with results as they come and workers that may die."""

        supports_return_generator = True

        def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
            """Start the workers."""
            self.parallel = parallel
            self._pool = Pool(count, ray_remote_args=workers)
            return told(count)

        def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
            """Hand a batch to a worker."""

            def failed(error: Exception) -> None:
                if callback is not None:
                    lost = isinstance(error, dead)
                    callback([Lost(call_argument(func), str(error))] if lost else error)

            pool = self._get_pool()
            return pool.apply_async(func, (), callback=callback, error_callback=failed)

        def retrieve_result_callback(self, result: Any) -> Any:
            """Return the results of a batch, or raise what its call raised."""
            if isinstance(result, PoolTaskError):
                raise result.underlying
            if isinstance(result, Exception):
                raise result
            return result

    return ClusterBackend()
