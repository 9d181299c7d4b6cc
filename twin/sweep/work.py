"""The work of a sweep: one run to one row of results; an error is a row as well."""

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
from twin.engines.base import suitable_timestep
from twin.errors import MissingDependencyError, TwinError
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.machine.randomisation.sampler import with_values
from twin.motion import Motion
from twin.motion.specification import MotionSpecification
from twin.plant.plant import Plant
from twin.simulation.trajectory import Trajectory
from twin.sweep.description import PayloadChoice
from twin.sweep.measures import measures, user_measures
from twin.sweep.plan import Task

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

Row = dict[str, Any]
"""One row of the results: column -> number, text or None."""


def run_task(task: Task) -> Row:
    """Return the row of one run; an error is recorded in the row."""
    start_time = clock.perf_counter()
    row: Row = task.columns() | {"stopped": "", "error": ""}
    try:
        trajectory, platform = simulated(task)
        row |= {"timestep": trajectory.timestep, **measures(trajectory)}
        if task.measure is not None:
            row |= user_measures(task.measure, trajectory, platform)
        row["stopped"] = trajectory.stopped
        row["status"] = STOPPED_STATUS if trajectory.stopped else DONE_STATUS
    except Exception as error:  # a user's function may raise anything; other runs go on
        is_final = isinstance(error, TwinError) and not isinstance(error, MissingDependencyError)
        status = ERROR_STATUS if is_final else CRASHED_STATUS
        row = task.columns() | {"status": status, "stopped": ""}
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
    machine_values, motion_values, controller_values = _values_by_owner(task)
    nominal = Platform(task.machine)
    platform = Platform(with_values(task.machine, machine_values)) if machine_values else nominal
    platform = loaded(platform, task.payload)
    choice = task.controller
    design_machine = platform if choice.model == "true" else nominal
    motion = MotionSpecification(**task.motion._asdict() | motion_values)
    reference_motion, duration = _motion(design_machine, motion, task.recording)
    controller = make_controller(
        choice.name, design_machine, reference_motion, **choice.options | controller_values
    )
    max_step = min(suitable_timestep(platform), FINEST_RATIO * controller.period)
    step_count = int(np.ceil(controller.period / max_step - 1e-9))
    periods = max(1, round(duration / controller.period))
    trajectory = platform.simulate(
        periods * controller.period,
        controller=controller,
        plant=Plant(platform, seed=task.seed),
        engine=task.engine,
        timestep=task.timestep or controller.period / step_count,
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


def _values_by_owner(
    task: Task,
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Return the values of the machine, of the motion and of the controller, by name.

    Raises:
        InputError: a value of the motion that is not above zero.
    """
    values: dict[str, dict[str, float]] = {"motion": {}, "controller": {}}
    machine_values = {}
    for path, value in task.values.items():
        owner, _, name = path.partition(".")
        if owner == "motion":
            positive(value, path)
        if owner in values:
            values[owner][name] = value
        else:
            machine_values[path] = value
    return machine_values, values["motion"], values["controller"]


def _motion(
    platform: Platform, motion: MotionSpecification, recording: str | None
) -> tuple[Motion | None, float]:
    """Return the motion of a machine, and the duration [s] for which it is followed."""
    from twin.logs.motion import read_motion

    if recording is None:
        reference_motion = motion.motion_of(platform)
    else:
        with TemporaryDirectory() as folder:
            file = Path(folder) / Path(motion.name).name
            file.write_text(recording, encoding="utf-8")
            reference_motion = read_motion(file, platform)
    return reference_motion, motion.seconds(reference_motion)
