"""Work of a worker: one run to one row of results; an error is a row as well."""

from __future__ import annotations

import time as clock
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.basics.arrays import positive
from twin.control import make_controller
from twin.engines.stability import suitable_timestep
from twin.errors import MissingDependencyError, TwinError
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.machine.randomisation.paths import with_values
from twin.motion import Motion
from twin.plant.plant import Plant
from twin.simulation.trajectory import Trajectory
from twin.sweep.choices import ControllerChoice, MotionChoice, PayloadChoice
from twin.sweep.measure import measures, own_measures
from twin.sweep.task import Task

Row = dict[str, Any]
"""One row of the results: column -> number, text or None."""

DONE = "done"
"""Status of a run that went to its end."""

STOPPED = "stopped"
"""Status of a run that was stopped safely."""

ERROR = "error"
"""Status of a run that the package refused."""

CRASHED = "crashed"
"""Status of a run that raised something else, or lacked a library."""

DIED = "died"
"""Status of a run whose worker process died every time."""

REPEATED = (CRASHED, DIED)
"""Statuses of runs that a later call tries again."""

FINEST_RATIO = 0.5
"""Engine's step in parts of the control period, unless a stiff machine needs a shorter one."""


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
        row |= {"status": STOPPED if trajectory.stopped else DONE, "stopped": trajectory.stopped}
        row["error"] = ""
    except Exception as error:  # a user's function may raise anything; other runs go on
        final = isinstance(error, TwinError) and not isinstance(error, MissingDependencyError)
        row |= {"status": ERROR if final else CRASHED, "stopped": ""}
        row["error"] = f"{type(error).__name__}: {error}"
    return row | {"wall_time": clock.perf_counter() - began}


def lost_row(task: Task, reason: str) -> Row:
    """Return the row of a run whose worker died every time."""
    return task.columns() | {"status": DIED, "stopped": "", "error": reason}


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
