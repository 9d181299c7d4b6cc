"""Work of a worker: one run to one row of results; an error is a row as well.

A joblib backend of worker processes that stand alone: one that dies takes only its own run.

Joblib's own processes share one executor, which gives up all that is under way when one of them is
killed. Here every worker has an executor to itself and is replaced.
"""

from __future__ import annotations

import os
import time
import time as clock
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from joblib.externals.loky.process_executor import ProcessPoolExecutor
from joblib.parallel import ParallelBackendBase

from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.basics.arrays import positive
from twin.control import make_controller
from twin.engines.stability import suitable_timestep
from twin.errors import MissingDependencyError, TwinError
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.machine.randomisation.sampler import with_values
from twin.motion import Motion
from twin.plant.plant import Plant
from twin.simulation.trajectory import Trajectory
from twin.sweep.description import ControllerChoice, MotionChoice, PayloadChoice
from twin.sweep.plan import Task, measures, own_measures

DONE_STATUS = "done"
"""Status of a run that went to its end."""

STOPPED_STATUS = "stopped"
"""Status of a run that was stopped safely."""

ERROR_STATUS = "error"
"""Status of a run that the package refused."""

CRASHED_STATUS = "crashed"
"""Status of a run that raised something else, or lacked a library."""

DIED_STATUS = "died"
"""Status of a run whose worker process died every time."""

REPEATED_STATUSES = (CRASHED_STATUS, DIED_STATUS)
"""Statuses of runs that a later call tries again."""

FINEST_RATIO = 0.5
"""Engine's step in parts of the control period, unless a stiff machine needs a shorter one."""

WATCH_INTERVAL = 0.5
"""[s] between a worker's looks at its parent."""


Row = dict[str, Any]
"""One row of the results: column -> number, text or None."""


def run_task(task: Task) -> Row:
    """Return the row of one run; whatever error it raises is told in the row."""
    began = clock.perf_counter()
    row: Row = task.columns()
    try:
        trajectory, platform = simulated(task)
        found = measures(trajectory)
        if task.measure is not None:
            found |= own_measures(task.measure, trajectory, platform)
        row |= {"timestep": trajectory.timestep, **found}
        row |= {
            "status": STOPPED_STATUS if trajectory.stopped else DONE_STATUS,
            "stopped": trajectory.stopped,
        }
        row["error"] = ""
    except Exception as error:  # a user's function may raise anything; other runs go on
        final = isinstance(error, TwinError) and not isinstance(error, MissingDependencyError)
        row |= {"status": ERROR_STATUS if final else CRASHED_STATUS, "stopped": ""}
        row["error"] = f"{type(error).__name__}: {error}"
    return row | {"wall_time": clock.perf_counter() - began}


def lost_row(task: Task, reason: str) -> Row:
    """Return the row of a run whose worker died every time."""
    return task.columns() | {"status": DIED_STATUS, "stopped": "", "error": reason}


def simulated(task: Task) -> tuple[Trajectory, Platform]:
    """Return the closed loop of a run, and its machine with values and payload.

    Raises:
        TwinError: whatever the machine, the controller or the engine refuses.
    """
    motion, choice, numbers = _sorted_values(task)
    nominal = Platform(task.machine)
    platform = Platform(with_values(task.machine, numbers)) if numbers else nominal
    platform = loaded(platform, task.payload)
    designed_for = platform if choice.model == "true" else nominal
    course, seconds = _motion(designed_for, motion, task.recording)
    controller = make_controller(choice.name, designed_for, course, **choice.options)
    step = task.timestep or _timestep(controller.period, platform)
    periods = max(1, round(seconds / controller.period))
    trajectory = platform.simulate(
        periods * controller.period,
        controller=controller,
        plant=Plant(platform, seed=task.seed),
        engine=task.engine,
        timestep=step,
        fidelity=task.fidelity,
        progress=False,
    )
    return trajectory, platform


def loaded(platform: Platform, payload: PayloadChoice) -> Platform:
    """Return the machine with a payload.

    Raises:
        InputError: numbers that no body or person can have.
    """
    person = payload.occupant
    if person is not None:
        chair = Wheelchair() if person.wheelchair else None
        occupant = Occupant(person.stature, person.mass, person.sex, wheelchair=chair)
        return Platform(seated_on(platform.parameters, occupant))
    if payload.mass == 0.0:
        return platform
    return with_payload(platform, Payload(payload.mass, payload.center, payload.inertia))


def _sorted_values(task: Task) -> tuple[MotionChoice, ControllerChoice, dict[str, float]]:
    """Return motion, controller and the machine's own numbers with the values of the run.

    Raises:
        InputError: a value of the motion that is not above zero.
    """
    apart: dict[str, dict[str, float]] = {"motion": {}, "controller": {}}
    numbers = {}
    for path, value in task.values.items():
        table, _, field = path.partition(".")
        if table in apart:
            apart[table][field] = value
        else:
            numbers[path] = value
    options = {**task.controller.options, **apart["controller"]}
    for field, value in apart["motion"].items():
        positive(value, f"motion.{field}")
    motion = task.motion.model_copy(update=apart["motion"])
    return motion, task.controller.model_copy(update={"options": options}), numbers


def _motion(
    platform: Platform, motion: MotionChoice, recording: str | None
) -> tuple[Motion | None, float]:
    """Return the motion of a machine, and how long it is followed [s]."""
    from twin.logs.motion import read_motion
    from twin.motion.specification import MotionSpecification

    specification = MotionSpecification(**motion.model_dump())
    if recording is None:
        course = specification.motion_of(platform)
    else:
        with TemporaryDirectory() as folder:
            file = Path(folder) / Path(motion.name).name
            file.write_text(recording, encoding="utf-8")
            course = read_motion(file, platform)
    return course, specification.seconds(course)


def _timestep(period: float, platform: Platform) -> float:
    """Return the longest step that divides the control period and suits engine and drives."""
    most = min(suitable_timestep(platform), FINEST_RATIO * period)
    return period / int(np.ceil(period / most - 1e-9))


class Lost(NamedTuple):
    """Placeholder for a result whose worker has died."""

    argument: Any
    """Key of the call that was under way"""
    reason: str


def call_argument(batch: Any) -> Any:
    """Return the first argument of the only call in one of joblib's batches."""
    (_, arguments, _), *_ = batch.items
    return arguments[0]


def _follow(parent: int) -> None:
    """Let this process end soon after its parent, which may be killed without a word."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_INTERVAL)
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
