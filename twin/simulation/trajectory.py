"""A simulated motion with its origin, saved and loaded.

Plots of trajectories: position, orientation, actuators and their forces over time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_text, positive, read_only
from twin.basics.files import write_atomically
from twin.charts.panels import Axes, Line, columns, legs, panels_figure
from twin.errors import InputError, brief
from twin.plant.saturation import Saturation, saturation
from twin.rotations import angle_between, angles_from_quaternion

FORMAT = 1
SIGNAL = "signal: "
"""Before the names of a closed loop's signals in a file."""

ARRAYS = ("time", "pose", "twist", "lengths", "rates", "forces", "deflection")


ORIGIN = ("machine", "engine", "fidelity", "parameters_hash", "coordinate_unit", "stopped")
"""Fields that are texts."""


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
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
    and "command" `(m, n)`, "limited" `(m, n)` (1 at the limit of force, 2 at that of speed, else
    0), "reference_pose" `(m, 7)`, "inertial" `(m, 6)` where there is such a sensor, and what the
    controller adds"""
    stopped: str = ""
    """why a closed loop was stopped; empty where it ran to the end"""
    limits: bool = True
    """whether the actuators' limits of force and speed held in a closed loop"""

    def __post_init__(self) -> None:
        """Make the arrays read-only and check that they belong together."""
        for name in ORIGIN:
            as_text(getattr(self, name), name)
        object.__setattr__(self, "timestep", positive(self.timestep, "timestep"))
        for name, kind in (("versions", str), ("signals", object)):
            _check_names(getattr(self, name), name, kind)
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

    @property
    def saturation(self) -> Saturation:
        """Shares of the time that actuators of a closed loop spent at their limits; else zero."""
        return saturation(self.signals.get("limited", np.empty((0, self.lengths.shape[1]))))

    def plot(self, reference: Trajectory | None = None) -> Any:
        """Return a plotly figure of position, orientation, lengths and forces over time.

        With a `reference` on the same times: position and orientation of both, and how far apart
        they are.

        Raises:
            InputError: the reference is no trajectory or has other times.
            MissingDependencyError: plotly is not installed.
        """
        return trajectory_figure(self) if reference is None else comparison_figure(self, reference)

    def save(self, path: str | Path) -> Path:
        """Write an .npz file with all arrays and where they come from; returns its path.

        Raises:
            InputError: the ending is not .npz or the place cannot be written to.
        """
        if not isinstance(path, (str, Path)) or Path(path).suffix != ".npz":
            raise InputError("path", f"must end in .npz, got {brief(path)}")
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


def _check_names(value: Any, field: str, kind: type) -> None:
    """Refuse what does not map texts to values of a kind."""
    if not isinstance(value, Mapping):
        raise InputError(field, f"must map names to values, not be {brief(value)}")
    for name, entry in value.items():
        if not isinstance(entry, kind):
            raise InputError(f"{field}[{as_text(name, field)!r}]", f"must not be {brief(entry)}")
        as_text(name, field)


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


POSITIONS = ("x", "y", "z")
ANGLES = ("yaw", "pitch", "roll")


def trajectory_figure(trajectory: Trajectory) -> Any:
    """Return a plotly figure of one motion, panels over time [s].

    Displacement [m] from the start in the base frame, yaw, pitch and roll [deg], leg lengths [m] or
    crank angles [rad], leg forces [N] or crank torques [N m]; a fifth with the springs [m] of legs
    that have some.

    Raises:
        InputError: not a trajectory.
        MissingDependencyError: plotly is not installed.
    """
    time, names = _checked(trajectory).time, legs(trajectory.lengths.shape[1])
    cranks = trajectory.coordinate_unit == "rad"
    panels = [
        Axes("displacement [m]", columns(time, _displacement(trajectory), POSITIONS)),
        Axes("orientation [deg]", columns(time, degrees(trajectory.pose), ANGLES)),
        Axes(
            "crank angle [rad]" if cranks else "leg length [m]",
            columns(time, trajectory.lengths, names),
        ),
        Axes(
            "crank torque [N m]" if cranks else "leg force [N]",
            columns(time, trajectory.forces, names, "steps"),
        ),
    ]
    springs = trajectory.deflection[:, : trajectory.deflection.shape[1] // 2]
    if springs.size:
        panels.append(Axes("spring extension [m]", columns(time, springs, names)))
    return panels_figure(panels, "time [s]", title=_title(trajectory))


def comparison_figure(trajectory: Trajectory, reference: Trajectory) -> Any:
    """Return a plotly figure of a motion against a reference on the same times [s].

    Four panels: displacements [m] of both from their start, the distance [m] between their
    positions, yaw, pitch and roll [deg] of both, the angle [rad] between their orientations.

    Raises:
        InputError: not trajectories, or times that differ.
        MissingDependencyError: plotly is not installed.
    """
    time = _checked(trajectory).time
    if len(_checked(reference, "reference").time) != len(time) or not np.allclose(
        reference.time, time, rtol=0.0, atol=1e-9
    ):
        raise InputError("reference", "must have the same times as the trajectory")
    distance = np.linalg.norm(trajectory.pose[:, :3] - reference.pose[:, :3], axis=1)
    angle = angle_between(trajectory.pose[:, 3:], reference.pose[:, 3:])
    panels = [
        Axes("displacement [m]", _pairs(trajectory, reference, _displacement, POSITIONS)),
        Axes("distance [m]", [Line("distance", time, _above_zero(distance))], log_y=True),
        Axes(
            "orientation [deg]",
            _pairs(trajectory, reference, lambda one: degrees(one.pose), ANGLES),
        ),
        Axes("angle [rad]", [Line("angle", time, _above_zero(angle))], log_y=True),
    ]
    title = f"{trajectory.machine}: {trajectory.engine} against {reference.engine}"
    return panels_figure(panels, "time [s]", title=title)


def _checked(trajectory: Any, field: str = "trajectory") -> Trajectory:
    if not isinstance(trajectory, Trajectory):
        raise InputError(field, f"must be a Trajectory, not {type(trajectory).__name__}")
    return trajectory


def _title(trajectory: Trajectory) -> str:
    x, y, z = trajectory.pose[0, :3]
    return (
        f"{trajectory.machine} in {trajectory.engine} ({trajectory.fidelity}, "
        f"{1e3 * trajectory.timestep:g} ms), start at ({x:.4g}, {y:.4g}, {z:.4g}) m"
    )


def _displacement(trajectory: Trajectory) -> FloatArray:
    return trajectory.pose[:, :3] - trajectory.pose[0, :3]


def degrees(pose: FloatArray) -> FloatArray:
    """Return yaw, pitch and roll `(m, 3)` [deg] of poses `(m, 7)`, without jumps."""
    angles = angles_from_quaternion(pose[:, 3:], "yaw_pitch_roll")
    return np.asarray(np.degrees(np.unwrap(angles, axis=0)))


def _pairs(
    trajectory: Trajectory,
    reference: Trajectory,
    quantity: Callable[[Trajectory], FloatArray],
    names: Sequence[str],
) -> list[Line]:
    lines = []
    for motion, style in ((reference, "line"), (trajectory, "dash")):
        labels = [f"{name}, {motion.engine}" for name in names]
        lines += columns(motion.time, quantity(motion), labels, style)
    return lines


def _above_zero(values: FloatArray) -> FloatArray:
    """Leave out zeros, which have no place on decades."""
    return np.where(values > 0.0, values, np.nan)
