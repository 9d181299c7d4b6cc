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
"""Status of a run that reached its end."""

STOPPED_STATUS = "stopped"
"""Status of a run that was stopped safely."""

ERROR_STATUS = "error"
"""Status of a run that the package refused with an error."""

CRASHED_STATUS = "crashed"
"""Status of a run that raised another error, or lacked a library."""

DIED_STATUS = "died"
"""Status of a run whose worker process died in every attempt."""

REPEATED_STATUSES = (CRASHED_STATUS, DIED_STATUS)
"""Statuses of runs that a later call computes again."""

FINEST_RATIO = 0.5
"""Engine step as a fraction of the control period, unless a stiff machine needs a shorter one."""

WATCH_INTERVAL = 0.5
"""[s] Interval at which a worker checks whether its parent still runs."""


Row = dict[str, Any]
"""One row of the results: column -> number, text or None."""


def run_task(task: Task) -> Row:
    """Return the row of one run; an error is recorded in the row."""
    start_time = clock.perf_counter()
    row: Row = task.columns()
    try:
        trajectory, platform = simulated(task)
        results = measures(trajectory)
        if task.measure is not None:
            results |= own_measures(task.measure, trajectory, platform)
        row |= {"timestep": trajectory.timestep, **results}
        row |= {
            "status": STOPPED_STATUS if trajectory.stopped else DONE_STATUS,
            "stopped": trajectory.stopped,
        }
        row["error"] = ""
    except Exception as error:  # a user's function may raise anything; other runs go on
        is_final = isinstance(error, TwinError) and not isinstance(error, MissingDependencyError)
        row |= {"status": ERROR_STATUS if is_final else CRASHED_STATUS, "stopped": ""}
        row["error"] = f"{type(error).__name__}: {error}"
    return row | {"wall_time": clock.perf_counter() - start_time}


def lost_row(task: Task, reason: str) -> Row:
    """Return the row of a run whose worker died in every attempt."""
    return task.columns() | {"status": DIED_STATUS, "stopped": "", "error": reason}


def simulated(task: Task) -> tuple[Trajectory, Platform]:
    """Return the closed loop of a run, and its machine with values and payload.

    Raises:
        TwinError: whatever the machine, the controller or the engine refuses.
    """
    motion, controller_choice, machine_values = _sorted_values(task)
    nominal = Platform(task.machine)
    platform = Platform(with_values(task.machine, machine_values)) if machine_values else nominal
    platform = loaded(platform, task.payload)
    design_machine = platform if controller_choice.model == "true" else nominal
    reference_motion, duration = _motion(design_machine, motion, task.recording)
    controller = make_controller(
        controller_choice.name, design_machine, reference_motion, **controller_choice.options
    )
    timestep = task.timestep or _timestep(controller.period, platform)
    periods = max(1, round(duration / controller.period))
    trajectory = platform.simulate(
        periods * controller.period,
        controller=controller,
        plant=Plant(platform, seed=task.seed),
        engine=task.engine,
        timestep=timestep,
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
    """Return motion, controller and numbers of the machine with the values of the run.

    Raises:
        InputError: a value of the motion that is not above zero.
    """
    prefixed_values: dict[str, dict[str, float]] = {"motion": {}, "controller": {}}
    machine_values = {}
    for path, value in task.values.items():
        first_word, _, field_name = path.partition(".")
        if first_word in prefixed_values:
            prefixed_values[first_word][field_name] = value
        else:
            machine_values[path] = value
    options = {**task.controller.options, **prefixed_values["controller"]}
    for field_name, value in prefixed_values["motion"].items():
        positive(value, f"motion.{field_name}")
    motion = task.motion.model_copy(update=prefixed_values["motion"])
    return motion, task.controller.model_copy(update={"options": options}), machine_values


def _motion(
    platform: Platform, motion: MotionChoice, recording: str | None
) -> tuple[Motion | None, float]:
    """Return the motion of a machine, and the duration [s] for which it is followed."""
    from twin.logs.motion import read_motion
    from twin.motion.specification import MotionSpecification

    specification = MotionSpecification(**motion.model_dump())
    if recording is None:
        reference_motion = specification.motion_of(platform)
    else:
        with TemporaryDirectory() as folder:
            file = Path(folder) / Path(motion.name).name
            file.write_text(recording, encoding="utf-8")
            reference_motion = read_motion(file, platform)
    return reference_motion, specification.seconds(reference_motion)


def _timestep(period: float, platform: Platform) -> float:
    """Return the longest step that divides the control period and suits engine and drives."""
    max_step = min(suitable_timestep(platform), FINEST_RATIO * period)
    return period / int(np.ceil(period / max_step - 1e-9))


class Lost(NamedTuple):
    """Placeholder for a result whose worker has died."""

    argument: Any
    """first argument of the call that the worker was computing"""
    reason: str


def call_argument(batch: Any) -> Any:
    """Return the first argument of the only call in one of joblib's batches."""
    (_, arguments, _), *_ = batch.items
    return arguments[0]


def _follow(parent: int) -> None:
    """End this process soon after its parent, which may be killed without notice."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_INTERVAL)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def joblib_workers(count: int) -> int:
    """Return the number of workers for joblib, at least 2: with one it computes in this process."""
    return max(2, count)


class SeparateWorkers(ParallelBackendBase):  # type: ignore[misc]  # joblib has no types
    """Independent worker processes; results of those that die are `Lost`."""

    supports_retrieve_callback = True
    supports_inner_max_num_threads = True

    def __init__(self, count: int) -> None:
        """Set up `count` workers with one thread each; they start with their first calls."""
        super().__init__(inner_max_num_threads=1)
        self._count = count

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return the number of workers for joblib."""
        return joblib_workers(self._count)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        """Prepare the workers for a call of joblib."""
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
        """End all workers, even while they compute."""
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
        """Return a worker to the idle ones; remove one that died."""
        if done.cancelled() or isinstance(done.exception(), BrokenProcessPool):
            self._executors.discard(executor)
            executor.shutdown(wait=False, kill_workers=True)
            self._idle.put(None)
        else:
            self._idle.put(executor)
