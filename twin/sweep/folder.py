"""The folder of a sweep: its description, a line per finished run, and the table of all.

One run gives one row of results; an error is a row as well.
"""

from __future__ import annotations

import json
import time as clock
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.basics.arrays import positive
from twin.basics.files import append_text, as_path, new_folder, write_atomically, write_text
from twin.basics.optional import optional
from twin.control import make_controller
from twin.engines.base import suitable_timestep
from twin.errors import InputError, MissingDependencyError, TwinError
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.machine.randomisation.sampler import with_values
from twin.motion import Motion
from twin.motion.specification import MotionSpecification
from twin.plant.plant import Plant
from twin.simulation.simulate import Trajectory
from twin.sweep.description import PayloadChoice, Sweep
from twin.sweep.plan import Task, measures, user_measures

if TYPE_CHECKING:
    import pyarrow

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

DEFAULT_STEP_RATIO = 0.5
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
    max_step = min(suitable_timestep(platform), DEFAULT_STEP_RATIO * controller.period)
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


FORMAT_VERSION = 2
"""Version of the folder's layout; a folder with another version is refused."""

MANIFEST_FILE = "sweep.json"
"""Name of the file with the description and the keys of all runs in order."""

ROWS_FILE = "runs.jsonl"
"""Name of the file with one line of JSON per finished run."""

RESULTS_FILE = "results.parquet"
"""Name of the table of all runs."""


class SweepFolder:
    """The folder with the results of one sweep.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: str | Path) -> None:
        """Refer to a folder, which need not exist."""
        self.path = as_path(path, "folder")

    def open(self, sweep: Sweep, keys: Sequence[str], resume: bool = True) -> None:
        """Create the folder, or check that it belongs to this sweep.

        Args:
            sweep: sweep whose results are stored here.
            keys: keys of its runs, in order.
            resume: take a folder that holds results already.

        Raises:
            InputError: the folder is of another sweep, holds other files or, unless resumed,
                results; or it cannot be made.
        """
        content = sweep.model_dump(mode="json")
        if (self.path / MANIFEST_FILE).exists():
            existing = self._manifest()["sweep"]
            names = [name for name in content if existing.get(name) != content[name]]
            if names:
                message = f"{self.path} holds another sweep (differs in {', '.join(names)})"
                raise InputError("folder", f"{message}; give a new folder")
            if not resume and (self.path / ROWS_FILE).exists():
                raise InputError("folder", f"{self.path} holds results; resume, or give a new one")
        elif self.path.is_dir() and any(self.path.iterdir()):
            raise InputError("folder", f"{self.path} holds other files; give a new or empty folder")
        manifest = {"format": FORMAT_VERSION, "sweep": content, "runs": list(keys)}
        with new_folder(self.path, "folder"):
            write_text(self.path / MANIFEST_FILE, json.dumps(manifest, indent=1) + "\n")

    def finished(self) -> set[str]:
        """Return the keys of runs that need not be computed again."""
        rows = self._rows().items()
        return {key for key, row in rows if row["status"] not in REPEATED_STATUSES}

    def write(self, row: Row) -> None:
        """Write the row of one run, whole or not at all.

        Raises:
            InputError: the folder cannot be written to.
        """
        try:
            # What a power cut has left of the last line stays alone.
            append_text(self.path / ROWS_FILE, f"\n{json.dumps(row)}")
        except OSError as error:
            message = f"cannot write to {self.path / ROWS_FILE} ({error.strerror})"
            raise InputError("folder", message) from None

    def table(self) -> pyarrow.Table:
        """Return the rows of all finished runs, in order; this works while others still run.

        Raises:
            InputError: not the folder of a sweep.
        """
        keys, rows_by_key = self._manifest()["runs"], self._rows()
        rows = [rows_by_key[key] for key in keys if key in rows_by_key]
        names = dict.fromkeys(name for row in rows for name in row)
        return optional("pyarrow").table(
            {name: [row.get(name) for row in rows] for name in names or ["key"]}
        )

    def consolidate(self) -> pyarrow.Table:
        """Write all rows into one table and return it.

        Raises:
            InputError: not the folder of a sweep, or it cannot be written to.
        """
        parquet = optional("pyarrow.parquet")
        description = json.dumps(self._manifest()["sweep"])
        table = self.table().replace_schema_metadata({"sweep": description})
        write_atomically(self.path / RESULTS_FILE, lambda file: parquet.write_table(table, file))
        return table

    def _rows(self) -> dict[str, Row]:
        """Return the latest row of every run by key; damaged lines do not count."""
        rows: dict[str, Row] = {}
        try:
            lines = (self.path / ROWS_FILE).read_bytes().splitlines()
        except FileNotFoundError:
            return rows
        except OSError as error:
            message = f"cannot read {self.path / ROWS_FILE} ({error.strerror})"
            raise InputError("folder", message) from None
        for line in lines:
            try:
                row = json.loads(line)
                if "status" in row:
                    rows[row["key"]] = row
            except (ValueError, TypeError, KeyError):
                continue
        return rows

    def _manifest(self) -> dict[str, Any]:
        """Return the checked description of the runs in the folder."""
        try:
            content = json.loads((self.path / MANIFEST_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError("folder", f"{self.path} is not the folder of a sweep") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT_VERSION:
            message = f"{self.path} was written in another format; give a new folder"
            raise InputError("folder", message)
        if not isinstance(content.get("sweep"), dict) or not isinstance(content.get("runs"), list):
            raise InputError("folder", f"{self.path / MANIFEST_FILE} is damaged; give a new folder")
        return content


def read_results(folder: str | Path) -> pyarrow.Table:
    """Return the results of a sweep, one row per run that is finished, in the sweep's order.

    Columns: what went in (`key`, `run`, `controller`, `payload`, `seed`, one column per parameter
    by its path, and more), `status`, `stopped`, `error`, `wall_time` [s], `timestep` [s], those of
    `twin.sweep.MEASURE_UNITS`, and those of the sweep's own function.

    Raises:
        InputError: not the folder of a sweep.
        MissingDependencyError: pyarrow is not installed.
    """
    return SweepFolder(folder).table()
