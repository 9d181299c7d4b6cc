"""A simulated motion with its origin: arrays and metadata, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from twin.basics.arrays import FloatArray, as_flag, as_floats, as_text, positive, read_only
from twin.errors import InputError, brief
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
    for name in (signal_name for signal_name in ACTUATOR_SIGNALS if signal_name in signals):
        if signals[name].shape[1:] != (n,):
            shape = (signal_lengths[name], n)
            raise InputError(
                f"signals[{name!r}]", f"must have shape {shape}, got {signals[name].shape}"
            )


def _check_names(value: Any, field: str, kind: type) -> None:
    """Refuse anything but a mapping of texts to values of a kind."""
    if not isinstance(value, Mapping):
        raise InputError(field, f"must map names to values, not be {brief(value)}")
    for name, entry in value.items():
        if not isinstance(entry, kind):
            raise InputError(f"{field}[{as_text(name, field)!r}]", f"must not be {brief(entry)}")
        as_text(name, field)


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
    payloads: tuple[Payload, ...] = get_args(Payload)
    for payload in payloads:
        for configuration in (None, *(configurations.known if configurations else ())):
            description = (
                f"{machine}"
                if configuration is None
                else f"{machine} with the configuration {configuration}"
            )
            if payload != "none":
                description = f"{description} and the payload {payload}"
            platform = loaded_machine(machine, configuration, payload)
            yield RecordedMachine(platform, occupant(payload), description)


def _difference(trajectory: RecordedMotion, platform: MachineModel) -> str:
    problem = f"{platform.name!r} has other parameters than the machine that was recorded"
    try:
        return f"{problem}, which is {machine_of(trajectory).description}"
    except InputError as error:
        return f"{problem}, {trajectory.machine!r}; {error.message.partition('; ')[2]}"
