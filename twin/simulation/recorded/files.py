"""Recorded motions with their origin, and files of them: .npz, and .csv and .parquet with a table.

The table has columns with units in their names, and metadata. Signals of a closed loop are in the
rows of their times, empty (NaN) in the others. Where a control instant has no row of its own, all
signals follow below the motion.
"""

from __future__ import annotations

import csv
import json
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_flag,
    as_floats,
    as_instance,
    as_text,
    positive,
    read_only,
)
from twin.basics.files import (
    CHECKSUM_KEY,
    as_path,
    check_bytes,
    check_checksum,
    check_columns,
    read_arrays,
    table_checksum,
    warn_changed,
    write_atomically,
    write_csv_table,
)
from twin.basics.optional import optional
from twin.errors import InputError, TwinError, brief, listed
from twin.machine.file.read import read_parameters
from twin.machine.machine import gallery_names, machine_names, parameters_path
from twin.machine.payload import Occupant
from twin.model.machine_model import MachineModel
from twin.plant.drives import Saturation, saturation
from twin.simulation.live.settings import Payload, loaded_machine, occupant

ARRAY_FIELDS = ("time", "pose", "twist", "lengths", "rates", "forces", "deflection")

TEXT_FIELDS = ("machine", "engine", "fidelity", "parameters_hash", "coordinate_unit", "stopped")
"""Names of the fields that hold text."""

ACTUATOR_SIGNALS = ("setpoint", "measured", "command", "command_feedforward", "limited")
"""Signals with one column per actuator."""


@dataclass(frozen=True, eq=False, repr=False)
class RecordedMotion:
    """Motion of one machine in one engine, one row per time. Arrays are read-only."""

    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)` platform in base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(k, 6)` [m/s, rad/s], base axes"""
    lengths: FloatArray
    """`(k, n)` actuator coordinates [m] or [rad]"""
    rates: FloatArray
    """`(k, n)` [m/s] or [rad/s]"""
    forces: FloatArray
    """`(k, n)` [N] or [N m] held from each time to the next; the last row repeats the one before"""
    machine: str
    engine: str
    fidelity: str
    timestep: float
    """[s] of the engine"""
    parameters_hash: str
    """digest of the machine's parameters"""
    versions: dict[str, str]
    """versions of the package and of the libraries that took part"""
    deflection: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    """`(k, 2m)` deflections of springs, then their rates; `(k, 0)` for most machines"""
    coordinate_unit: str = "m"
    """unit of the actuator coordinates: "m", or "rad" for cranks"""
    signals: dict[str, FloatArray] = field(default_factory=dict)
    """signals of a closed loop by name, one row per control period: "time" `(m,)`, "setpoint",
    "measured", "command" and "command_feedforward" `(m, n)`, "command_mode" `(m,)` (0 for forces,
    1 for speeds, 2 for positions), "limited" `(m, n)` (1 at the limit of force, 2 at that of speed,
    else 0), "reference_pose" `(m, 7)`, "inertial" `(m, 6)` where there is such a sensor, and what
    the controller adds"""
    stopped: str = ""
    """why a closed loop was stopped; empty where it ran to the end"""
    limits: bool = True
    """whether the actuators' limits of force and speed held in a closed loop"""

    def __post_init__(self) -> None:
        """Make the arrays read-only and check that they belong together."""
        for name in TEXT_FIELDS:
            as_text(getattr(self, name), name)
        as_flag(self.limits, "limits")
        object.__setattr__(self, "timestep", positive(self.timestep, "timestep"))
        for name, value_type in (("versions", str), ("signals", object)):
            _check_names(getattr(self, name), name, value_type)
        if np.size(self.deflection) == 0:
            object.__setattr__(self, "deflection", np.empty((np.size(self.time), 0)))
        for name in ARRAY_FIELDS:
            object.__setattr__(self, name, read_only(as_floats(getattr(self, name), name)))
        if self.time.ndim != 1 or self.lengths.ndim != 2 or self.deflection.ndim != 2:
            raise InputError("time, lengths, deflection", "must have shapes (k,), (k, n), (k, 2m)")
        signals = {name: read_only(as_floats(value, name)) for name, value in self.signals.items()}
        n_samples, n = len(self.time), self.lengths.shape[1]
        _check_signals(signals, n)
        object.__setattr__(self, "signals", signals)
        shapes = {"pose": (7,), "twist": (6,), "lengths": (n,), "rates": (n,), "forces": (n,)}
        shapes["deflection"] = self.deflection.shape[1:]
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != (n_samples, *shape):
                raise InputError(name, f"must have shape {(n_samples, *shape)}, got {array.shape}")

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        time_range = f", {self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self) else ""
        return f"<Trajectory of {self.machine!r} in {self.engine}: {len(self)} times{time_range}>"

    @property
    def saturation(self) -> Saturation:
        """Fractions of time that actuators of a closed loop spent at their limits; else zero."""
        return saturation(self.signals.get("limited", np.empty((0, self.lengths.shape[1]))))


def _check_signals(signals: Mapping[str, FloatArray], n: int) -> None:
    """Refuse signals of different lengths, or that do not have `n` actuators as lengths have."""
    signal_lengths = {name: len(value) if value.ndim else 0 for name, value in signals.items()}
    if len(set(signal_lengths.values())) > 1 or any(value.ndim == 0 for value in signals.values()):
        listing = ", ".join(f"{name} {size}" for name, size in signal_lengths.items())
        raise InputError(
            "signals", f"must all have one row per control period, got rows: {listing}"
        )
    for name in ACTUATOR_SIGNALS:
        if name in signals and signals[name].shape[1:] != (n,):
            shape = (signal_lengths[name], n)
            raise InputError(
                f"signals[{name!r}]", f"must have shape {shape}, got {signals[name].shape}"
            )


def _check_names(value: Any, field: str, kind: type) -> None:
    """Refuse anything but a mapping of texts to values of a kind."""
    if not isinstance(value, Mapping):
        raise InputError(field, f"must map names to values, not be {brief(value)}")
    for name, entry in value.items():
        as_instance(entry, f"{field}[{as_text(name, field)!r}]", kind)


class RecordedMachine(NamedTuple):
    """A machine as it was when a run was recorded."""

    platform: MachineModel
    payload: Occupant | None
    """person on it"""
    description: str
    """name, configuration and payload, for messages"""


def machine_of(trajectory: RecordedMotion, machine: str | Path | None = None) -> RecordedMachine:
    """Return the machine of a trajectory, with the configuration and the payload that it had.

    Args:
        trajectory: a run.
        machine: name or path of its platform.toml; default: the shipped one of the trajectory's
            name.

    Raises:
        InputError: the machine has other parameters with any configuration and payload; says how to
            go on.
        MachineNotFoundError: not a known name and not a file.
        ParameterError: the file cannot be used.
    """
    name = trajectory.machine if machine is None else machine
    if machine is not None or name in (*machine_names(), *gallery_names()):
        for variant in _variants(name):
            if variant.platform.hash == trajectory.parameters_hash:
                return variant
    owner = "no shipped machine has" if machine is None else f"{str(machine)!r} does not have"
    raise InputError(
        "trajectory",
        f"is of a machine {trajectory.machine!r} with parameters that {owner}; give the "
        "platform.toml that it was made with",
    )


def check_machine(trajectory: RecordedMotion, platform: MachineModel) -> None:
    """Check that a trajectory was made with this machine.

    Raises:
        InputError: it was made with another machine, which the message names if known. Or rows that
            are no run of any machine: times that fall, other numbers of actuators or springs.
    """
    if trajectory.parameters_hash != platform.hash:
        raise InputError("machine", _difference(trajectory, platform))
    widths = (trajectory.lengths.shape[1], trajectory.deflection.shape[1])
    if widths[0] != platform.n_actuators or widths[1] not in (0, 2 * platform.n_deflections):
        raise InputError("trajectory", f"has {widths[0]} actuators and {widths[1]} inner numbers")
    for times in (trajectory.time, trajectory.signals.get("time")):
        if times is not None and (np.diff(times) < 0.0).any():
            raise InputError("trajectory.time", "must not fall")


def _variants(machine: str | Path) -> Iterator[RecordedMachine]:
    """Yield a machine with each configuration and payload, the plain ones first."""
    configurations = read_parameters(parameters_path(machine)).configuration
    for payload in get_args(Payload):
        for configuration in (None, *(configurations.known if configurations else ())):
            description = str(machine)
            if configuration is not None:
                description += f" with the configuration {configuration}"
            if payload != "none":
                description += f" and the payload {payload}"
            platform = loaded_machine(machine, configuration, payload)
            yield RecordedMachine(platform, occupant(payload), description)


def _difference(trajectory: RecordedMotion, platform: MachineModel) -> str:
    problem = f"{platform.name!r} has other parameters than the machine that was recorded"
    try:
        return f"{problem}, which is {machine_of(trajectory).description}"
    except InputError as error:
        return f"{problem}, {trajectory.machine!r}; {error.message.partition('; ')[2]}"


FORMAT_VERSION = 1

SIGNAL_PREFIX = "signal: "
"""Beginning of the columns of a closed loop's signals."""

POSE_COLUMNS = ("x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz")

TWIST_COLUMNS = ("vx [m/s]", "vy [m/s]", "vz [m/s]", "wx [rad/s]", "wy [rad/s]", "wz [rad/s]")

INERTIAL_COLUMNS = ("ax [m/s2]", "ay [m/s2]", "az [m/s2]", *TWIST_COLUMNS[3:])

FILE_MARK = "twin trajectory"
"""Mark of the metadata: it opens the first line of a CSV file and is the key in a Parquet file."""

EMPTY_CELL = re.compile(r"^(?=,)|(?<=,)(?=,|\n|$)")
"""Pattern of an empty cell in a line of numbers."""


def metadata_of(motion: RecordedMotion) -> dict[str, Any]:
    """Return where a motion comes from, as texts and numbers."""
    excluded = (*ARRAY_FIELDS, "signals")
    origin = {f.name: getattr(motion, f.name) for f in fields(motion) if f.name not in excluded}
    return {"format": FORMAT_VERSION, **origin}


def shapes_of(motion: RecordedMotion) -> dict[str, Any]:
    """Return the column counts that a table stores besides the metadata."""
    signals = {name: list(value.shape[1:]) for name, value in motion.signals.items()}
    widths = {"actuators": motion.lengths.shape[1], "deflections": motion.deflection.shape[1]}
    return widths | {"signals": signals}


def table_of(motion: RecordedMotion) -> tuple[list[str], FloatArray]:
    """Return the names of the columns, and the values `(rows, columns)`, NaN where empty."""
    shapes = shapes_of(motion)
    table_rows = signal_rows(motion)
    n_rows = max(len(motion), int(table_rows.max(initial=-1)) + 1)
    names, parts = [], []
    for key, labels in _columns(shapes, motion.coordinate_unit):
        signal = key.startswith(SIGNAL_PREFIX)
        values = motion.signals[key.removeprefix(SIGNAL_PREFIX)] if signal else getattr(motion, key)
        signal_columns = np.full((n_rows, len(labels)), np.nan)
        signal_columns[table_rows if signal else slice(len(motion))] = values.reshape(
            len(values), len(labels)
        )
        names += labels
        parts.append(signal_columns)
    return names, np.hstack(parts)


def content_of(
    names: Sequence[str], values: FloatArray, metadata: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a trajectory from a table, in any order of its columns.

    Args:
        names: of the columns.
        values: `(rows, columns)`.
        metadata: what `metadata_of` and `shapes_of` give.

    Raises:
        InputError: a column is missing.
    """
    content = dict(metadata)
    shapes = {key: content.pop(key) for key in ("actuators", "deflections", "signals")}
    widths = (shapes["actuators"], shapes["deflections"], *map(prod, shapes["signals"].values()))
    if max(widths) > len(names):
        raise InputError("path", f"has {len(names)} columns, too few for what it says it holds")
    content["signals"] = {}
    label_columns = {name: k for k, name in enumerate(names)}
    for key, labels in _columns(shapes, str(content.get("coordinate_unit"))):
        missing_labels = [label for label in labels if label not in label_columns]
        if missing_labels:
            raise InputError("path", f"the table has no column {listed(missing_labels)}")
        signal_values = values[:, [label_columns[label] for label in labels]]
        signal_values = signal_values[~np.isnan(signal_values).all(axis=1)]
        name = key.removeprefix(SIGNAL_PREFIX)
        if key.startswith(SIGNAL_PREFIX):
            content["signals"][name] = signal_values.reshape(
                len(signal_values), *shapes["signals"][name]
            )
        else:
            content[name] = signal_values[:, 0] if name == "time" else signal_values
    return content


def signal_rows(motion: RecordedMotion) -> Any:
    """Return the rows `(m,)` of a motion's table that the signals are in."""
    signals = motion.signals
    n_signals = len(next(iter(signals.values()), ()))
    time = signals.get("time")
    extra_rows = np.arange(len(motion), len(motion) + n_signals)
    if time is None or not len(motion) or time.ndim != 1:
        return extra_rows
    time_rows = np.minimum(np.searchsorted(motion.time, time), len(motion) - 1)
    is_aligned = np.array_equal(motion.time[time_rows], time) and (np.diff(time_rows) > 0).all()
    return time_rows if is_aligned else extra_rows


def _columns(shapes: dict[str, Any], unit: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the fields of a trajectory and the names of their columns."""
    n, n_springs = shapes["actuators"], shapes["deflections"] // 2
    cranks = unit == "rad"
    coordinate, force = ("angle", "torque") if cranks else ("length", "force")
    leg_numbers = range(1, n + 1)
    yield "time", ["time [s]"]
    yield "pose", [*POSE_COLUMNS]
    yield "twist", [*TWIST_COLUMNS]
    yield "lengths", [f"{coordinate} {k} [{unit}]" for k in leg_numbers]
    yield "rates", [f"{coordinate} rate {k} [{unit}/s]" for k in leg_numbers]
    yield "forces", [f"{force} {k} [{'N m' if cranks else 'N'}]" for k in leg_numbers]
    if n_springs:
        numbers = range(1, n_springs + 1)
        deflections = [f"deflection {k} [m]" for k in numbers]
        yield "deflection", deflections + [f"deflection rate {k} [m/s]" for k in numbers]
    for name, shape in shapes["signals"].items():
        labels = [f"{SIGNAL_PREFIX}{label}" for label in _labels(name, shape, unit)]
        yield SIGNAL_PREFIX + name, labels


def _labels(name: str, shape: Sequence[int], unit: str) -> list[str]:
    """Return the names of a signal's columns, with units where the loop itself records it."""
    known_labels = {"reference_pose": POSE_COLUMNS, "inertial": INERTIAL_COLUMNS}.get(name, ())
    if len(known_labels) == prod(shape):
        return [f"{name} {label}" for label in known_labels]
    units = {"time": " [s]", "setpoint": f" [{unit}]", "measured": f" [{unit}]"}
    indices = product(*(range(1, size + 1) for size in shape))
    return [" ".join([*name.split(), *map(str, index)]) + units.get(name, "") for index in indices]


RecordingType = TypeVar("RecordingType", bound=RecordedMotion)


def write(motion: RecordedMotion, path: str | Path) -> Path:
    """Write a file of the kind that its ending says: .npz, .csv or .parquet.

    Raises:
        InputError: another ending, or as `write_atomically`.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    ending = Path(path).suffix if isinstance(path, (str, Path)) else ""
    if ending not in FILE_WRITERS:
        raise InputError("path", f"must end in {' or '.join(FILE_WRITERS)}, got {brief(path)}")
    return FILE_WRITERS[ending](motion, path)


def write_npz(motion: RecordedMotion, path: str | Path) -> Path:
    """Write all arrays and where they come from; raises InputError as `write_atomically`."""
    arrays = {name: getattr(motion, name) for name in ARRAY_FIELDS}
    arrays |= {SIGNAL_PREFIX + name: value for name, value in motion.signals.items()}
    metadata = json.dumps(metadata_of(motion))
    return write_atomically(
        path, lambda file: np.savez_compressed(file, metadata=metadata, **arrays)
    )


def write_csv(motion: RecordedMotion, path: str | Path) -> Path:
    """Write the table; raises InputError as `write_atomically`."""
    names, values = table_of(motion)
    rows = (row.tolist() for row in values)
    return write_csv_table(path, FILE_MARK, metadata_of(motion) | shapes_of(motion), names, rows)


def write_parquet(motion: RecordedMotion, path: str | Path) -> Path:
    """Write the table.

    Raises:
        InputError: as `write_atomically`.
        MissingDependencyError: pyarrow is not installed.
    """
    arrow, parquet = (optional(name, "Parquet files") for name in ("pyarrow", "pyarrow.parquet"))
    names, values = table_of(motion)
    columns = [np.ascontiguousarray(column) for column in values.T]
    layout = json.dumps(metadata_of(motion) | shapes_of(motion))
    checksum = str(table_checksum(values, zlib.crc32(layout.encode())))
    metadata = {FILE_MARK: layout, CHECKSUM_KEY: checksum}
    table = arrow.table(columns, names=names).replace_schema_metadata(metadata)
    return write_atomically(
        path, lambda file: parquet.write_table(table, file, write_page_checksum=True)
    )


def read(path: str | Path, kind: type[RecordingType]) -> RecordingType:
    """Return a motion of a kind from a file: .csv, .parquet, else .npz.

    Raises:
        InputError: no such file, not a trajectory, or written by a later format.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    ending = as_path(path).suffix
    try:
        content = FILE_READERS.get(ending, _read_npz)(path)
        if content.pop("format") != FORMAT_VERSION:
            raise InputError("path", f"{path} was written in another format")
        return kind(**content)
    except TwinError:
        raise
    except FileNotFoundError:
        raise InputError("path", f"{path} does not exist") from None
    except Exception as error:
        raise InputError(
            "path", f"{path} is not a saved trajectory ({type(error).__name__}: {error})"
        ) from None


def _read_npz(path: Any) -> dict[str, Any]:
    arrays = read_arrays(path)
    content: dict[str, Any] = json.loads(str(arrays.pop("metadata")))
    names = [name for name in arrays if name.startswith(SIGNAL_PREFIX)]
    content["signals"] = {name.removeprefix(SIGNAL_PREFIX): arrays.pop(name) for name in names}
    return content | arrays


def _read_csv(path: Any) -> dict[str, Any]:
    check_checksum(path)
    with Path(path).open(encoding="utf-8", newline="") as file:
        preamble, file_mark, metadata = file.readline().partition(f"# {FILE_MARK} ")
        if preamble or not file_mark:
            raise ValueError(f"the first line does not begin with '# {FILE_MARK}'")
        names = next(csv.reader([file.readline().rstrip("\r\n")]))
        check_columns(path, names)
        lines = (EMPTY_CELL.sub("nan", line.rstrip("\r\n")) for line in file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a motion without rows
            values = np.loadtxt(lines, delimiter=",", ndmin=2).reshape(-1, len(names))
    layout = json.loads(metadata)
    layout.pop(CHECKSUM_KEY, None)
    return content_of(names, values, layout)


def _read_parquet(path: Any) -> dict[str, Any]:
    library = optional("pyarrow.parquet", "Parquet files")
    with library.ParquetFile(path, page_checksum_verification=True) as file:
        check_columns(path, file.schema_arrow.names)
        check_bytes(path, 8 * file.metadata.num_rows * len(file.schema_arrow.names))
        table = file.read()
    values = np.array([column.to_numpy() for column in table.columns], dtype=np.float64).T
    metadata = table.schema.metadata or {}
    layout, value_rows = metadata[FILE_MARK.encode()], values.reshape(-1, table.num_columns)
    checksum = b"%d" % table_checksum(value_rows, zlib.crc32(layout))
    if metadata.get(CHECKSUM_KEY.encode(), checksum) != checksum:
        warn_changed(path)
    return content_of(table.column_names, value_rows, json.loads(layout))


FILE_WRITERS: dict[str, Callable[[RecordedMotion, str | Path], Path]] = {
    ".npz": write_npz,
    ".csv": write_csv,
    ".parquet": write_parquet,
}
"""Ending of a file -> function that writes it."""

FILE_READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
"""Ending of a file -> function that reads it; files with other endings are read as .npz."""
