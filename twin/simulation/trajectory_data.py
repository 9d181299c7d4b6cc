"""A simulated motion with its origin, saved and loaded."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, read_only
from twin.basics.files import write_atomically
from twin.errors import InputError

FORMAT = 1
SIGNAL = "signal: "
"""Before the names of a closed loop's signals in a file."""

ARRAYS = ("time", "pose", "twist", "lengths", "rates", "forces", "deflection")


@dataclass(frozen=True, eq=False, repr=False)
class TrajectoryData:
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
    """`(k, 2m)` coordinates inside the legs, then their rates; `(k, 0)` for most machines"""
    coordinate_unit: str = "m"
    """of the actuator coordinates: "m", or "rad" for cranks"""
    signals: dict[str, FloatArray] = field(default_factory=dict)
    """of a closed loop, by name, one row per control period: "time" `(m,)`, "setpoint", "measured"
    and "command" `(m, n)`, "reference_pose" `(m, 7)`, "inertial" `(m, 6)` where there is such a
    sensor, and what the controller adds"""
    stopped: str = ""
    """why a closed loop was stopped; empty where it ran to the end"""

    def __post_init__(self) -> None:
        """Make the arrays read-only and check that they belong together."""
        if np.size(self.deflection) == 0:
            object.__setattr__(self, "deflection", np.empty((np.size(self.time), 0)))
        for name in ARRAYS:
            object.__setattr__(self, name, read_only(as_floats(getattr(self, name), name)))
        if self.time.ndim != 1 or self.lengths.ndim != 2 or self.deflection.ndim != 2:
            raise InputError("time, lengths, deflection", "must have shapes (k,), (k, n), (k, 2m)")
        signals = {name: read_only(as_floats(value, name)) for name, value in self.signals.items()}
        if len({np.shape(value)[:1] for value in signals.values()}) > 1:
            raise InputError("signals", "must all have one row per control period")
        object.__setattr__(self, "signals", signals)
        count, n = len(self.time), self.lengths.shape[1]
        shapes = {"pose": (7,), "twist": (6,), "lengths": (n,), "rates": (n,), "forces": (n,)}
        shapes["deflection"] = self.deflection.shape[1:]
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != (count, *shape):
                raise InputError(name, f"must have shape {(count, *shape)}, got {array.shape}")

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        span = f", {self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self) else ""
        return f"<Trajectory of {self.machine!r} in {self.engine}: {len(self)} times{span}>"

    def save(self, path: str | Path) -> Path:
        """Write an .npz file with all arrays and where they come from; returns its path.

        Raises:
            InputError: the ending is not .npz or the place cannot be written to.
        """
        if not isinstance(path, (str, Path)) or Path(path).suffix != ".npz":
            raise InputError("path", f"must end in .npz, got {path!r}")
        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays |= {SIGNAL + name: value for name, value in self.signals.items()}
        apart = (*ARRAYS, "signals")
        origin = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in apart}
        metadata = json.dumps({"format": FORMAT, **origin})

        def write(file: IO[bytes]) -> None:
            np.savez_compressed(file, metadata=metadata, **arrays)

        return write_atomically(path, write)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return a saved trajectory.

        Raises:
            InputError: no such file, not a trajectory, or written by a later format.
        """
        try:
            with np.load(path, allow_pickle=False) as data:
                content = {name: data[name] for name in data.files}
            metadata = json.loads(str(content.pop("metadata")))
            names = [name for name in content if name.startswith(SIGNAL)]
            metadata["signals"] = {name.removeprefix(SIGNAL): content.pop(name) for name in names}
            if metadata.pop("format") != FORMAT:
                raise InputError("path", f"{path} was written in another format")
            return cls(**content, **metadata)
        except InputError:
            raise
        except FileNotFoundError:
            raise InputError("path", f"{path} does not exist") from None
        except Exception as error:
            raise InputError(
                "path", f"{path} is not a saved trajectory ({type(error).__name__}: {error})"
            ) from None


@lru_cache(maxsize=1)
def _installed() -> tuple[tuple[str, str], ...]:
    found = []
    for library in ("numpy", "scipy", "numba", "mujoco", "pybullet"):
        try:
            found.append((library, version(library)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def library_versions() -> dict[str, str]:
    """Return the versions of the package and of the numeric libraries that are installed."""
    import platform as interpreter

    return {
        "platform-twin": version("platform-twin"),
        "python": interpreter.python_version(),
        **dict(_installed()),
    }
