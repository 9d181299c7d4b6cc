"""A joblib backend of worker processes that stand alone: one that dies takes only its own run.

Joblib's own processes share one executor, which gives up all that is under way when one of them is
killed. Here every worker has an executor to itself and is replaced.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from joblib.externals.loky.process_executor import ProcessPoolExecutor
from joblib.parallel import ParallelBackendBase

WATCH = 0.5
"""[s] between a worker's looks at its parent."""


class Lost(NamedTuple):
    """Placeholder for a result whose worker has died."""

    argument: Any
    """Of the call that was under way"""
    reason: str


def call_argument(batch: Any) -> Any:
    """Return the first argument of the only call in one of joblib's batches."""
    (_, arguments, _), *_ = batch.items
    return arguments[0]


def _follow(parent: int) -> None:
    """Let this process end soon after its parent, which may be killed without a word."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def joblib_workers(count: int) -> int:
    """Return the number of workers for joblib, at least 2: with one it computes in this process."""
    return max(2, count)


class SeparateWorkers(ParallelBackendBase):  # type: ignore[misc]  # joblib has no types
    """Processes that stand alone; results of those that die are `Lost`."""

    supports_retrieve_callback = True
    supports_inner_max_num_threads = True

    def __init__(self, count: int) -> None:
        """Have so many workers, each with one thread; they start with their first calls."""
        super().__init__(inner_max_num_threads=1)
        self._count = count

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return the number of workers for joblib."""
        return joblib_workers(self._count)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        """Take note of the call."""
        self.parallel = parallel
        self._environment = self._prepare_worker_env(n_jobs=self._count)
        self._executors: set[Any] = set()
        self._idle: SimpleQueue[Any] = SimpleQueue()
        for _worker in range(self._count):
            self._idle.put(None)
        return self.effective_n_jobs(n_jobs)

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
        """Hand a batch to an idle worker; the caller dispatches no more than there are."""
        executor = self._idle.get() or self._new_executor()
        future = executor.submit(func)

        def finish(done: Future[Any]) -> None:
            self._release(executor, done)
            if callback is not None:
                callback((func, done))

        future.add_done_callback(finish)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        """Return the results of a batch, `Lost` where its worker died."""
        func, future = out
        try:
            return future.result()
        except BrokenProcessPool as error:
            return [Lost(call_argument(func), str(error).partition("\nDetailed")[0])]

    def terminate(self) -> None:
        """End all workers."""
        for executor in self._executors:
            executor.shutdown(wait=False, kill_workers=True)
        self._executors = set()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End all workers, whatever they do."""
        self.terminate()
        if ensure_ready:
            self.configure(parallel=self.parallel)

    def _new_executor(self) -> Any:
        executor = ProcessPoolExecutor(
            max_workers=1, env=self._environment, initializer=_follow, initargs=(os.getpid(),)
        )
        self._executors.add(executor)
        return executor

    def _release(self, executor: Any, done: Future[Any]) -> None:
        """Let a worker take another call; forget one that died."""
        if done.cancelled() or isinstance(done.exception(), BrokenProcessPool):
            self._executors.discard(executor)
            executor.shutdown(wait=False, kill_workers=True)
            self._idle.put(None)
        else:
            self._idle.put(executor)
