"""What a machine must do and may not exceed: the specification of a design."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from twin.basics.arrays import FloatArray
from twin.basics.files import as_path
from twin.basics.toml import read_toml
from twin.errors import InputError, ParameterError
from twin.machine.quantity import (
    Angle,
    Frequency,
    Length,
    Mass,
    Stiffness,
    to_si,
)
from twin.motion.motion import Motion
from twin.motion.recording import read_recording
from twin.rotations import pose_from_angles

AXES = ("x", "y", "z", "roll", "pitch", "yaw")

Objective = Literal["force", "stroke", "footprint", "condition", "price"]

SEARCHED_STEPS = 12
"""Most steps of a range in a search."""

FEWEST_STEPS = 4
"""Steps of the range of an axis at which a candidate is judged at first."""

MOTION_SAMPLES = 40
"""Evenly spaced times of a motion at which a candidate is judged, beside those of its extremes."""

FINE_MOTION_SAMPLES = 10_001
"""Times of a motion at which the machine is judged at the end."""

FREE_NUMBERS = {
    "ups": ("base_radius", "base_spacing", "platform_radius", "platform_spacing", "height"),
    "rss": (
        *("base_radius", "base_spacing", "platform_radius", "platform_spacing"),
        *("crank", "rod", "horn_angle"),
    ),
}
"""Free numbers of a machine with three pairs of joints on circles, for each kind of legs."""

JOINT_NUMBERS = ("radius", "angle", "height")
"""Free numbers of a joint that is alone; a height is that over the first joint."""

ANGLE_BOUNDS = {
    "spacing": (0.0, 2.0 * np.pi / 3.0),
    "horn_angle": (-0.5 * np.pi, 0.5 * np.pi),
    "angle": (-np.pi, np.pi),
}
"""Ends [rad] of free numbers that are angles, by the ends of their names; others are lengths."""


def angle_bounds(name: str) -> tuple[float, float] | None:
    """Return the ends [rad] of a free number that is an angle; None for a length."""
    return next((ends for end, ends in ANGLE_BOUNDS.items() if name.endswith(end)), None)


def actuator_units(legs: str) -> dict[str, str]:
    """Return the SI units of what actuators have, for a kind of legs."""
    if legs == "rss":
        return {"stroke": "rad", "force": "N m", "speed": "rad/s", "stiffness": "N m/rad"}
    return {"stroke": "m", "force": "N", "speed": "m/s", "stiffness": "N/m"}


def _both_ways(value: Any) -> Any:
    """Return a range as two ends; one number stands for as much to both sides."""
    if isinstance(value, bool):
        raise ValueError("must be a number with a unit, or two")
    if isinstance(value, str):
        size = value.strip().removeprefix("+")
        if size.startswith("-"):
            raise ValueError(f"must be above zero, or two ends, got {value!r}")
        return (f"-{size}", size)
    if isinstance(value, (int, float)):
        if value < 0.0:
            raise ValueError(f"must be above zero, or two ends, got {value!r}")
        return (-value, value)
    return value


LengthRange = Annotated[tuple[Length, Length], BeforeValidator(_both_ways)]

AngleRange = Annotated[tuple[Angle, Angle], BeforeValidator(_both_ways)]

AtLeastZero = Annotated[float, Field(ge=0.0)]


class Part(BaseModel):
    """A table of a specification."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AxisTable(Part):
    """Numbers of the six axes about home."""

    @property
    def axes(self) -> FloatArray:
        """Numbers `(6,)` of all axes, or both ends of each `(6, 2)`, in SI units."""
        return np.array([getattr(self, axis) for axis in AXES])


class RangeTable(AxisTable):
    """Ranges of the axes from home, each with the others at home."""

    x: LengthRange = (0.0, 0.0)
    y: LengthRange = (0.0, 0.0)
    z: LengthRange = (0.0, 0.0)
    roll: AngleRange = (0.0, 0.0)
    pitch: AngleRange = (0.0, 0.0)
    yaw: AngleRange = (0.0, 0.0)
    together: float = Field(
        0.0, ge=0.0, le=1.0, description="fraction of all ranges that is reached at once"
    )

    @model_validator(mode="after")
    def _ordered(self) -> RangeTable:
        for axis, (low, high) in zip(AXES, self.axes, strict=True):
            if not low <= 0.0 <= high:
                raise ValueError(f"{axis} must go from a number below home to one above it")
        return self


class SpeedTable(AxisTable):
    """Speeds along the axes that are needed at home, in both directions."""

    units: ClassVar = ("m/s", "rad/s")
    x: AtLeastZero = 0.0
    y: AtLeastZero = 0.0
    z: AtLeastZero = 0.0
    roll: AtLeastZero = 0.0
    pitch: AtLeastZero = 0.0
    yaw: AtLeastZero = 0.0

    @field_validator(*AXES, mode="before")
    @classmethod
    def _in_si_units(cls, value: Any, info: ValidationInfo) -> float:
        return to_si(value, cls.units[info.field_name not in AXES[:3]])

    def both_ways(self) -> FloatArray:
        """Return motions `(k, 6)` along single axes, both ways."""
        rows = np.diag(self.axes)[self.axes > 0.0]
        return np.concatenate([rows, -rows])


class AccelerationTable(SpeedTable):
    """Accelerations along the axes that are needed at home, in both directions, one at a time."""

    units: ClassVar = ("m/s2", "rad/s2")


class PayloadTable(Part):
    """Load on the platform."""

    mass: Mass = Field(gt=0.0)
    height: Length = Field(0.0, description="of its centre above the platform joints")
    radius: Length = Field(0.0, ge=0.0, description="of gyration about its centre, on all axes")


class LimitTable(Part):
    """Limits of the machine; those that are left out are free.

    Forces and speeds of legs with cranks are torques [N m] and angular speeds [rad/s], their stroke
    is the whole range of the angle.
    """

    footprint: Length | None = Field(None, gt=0.0, description="diameter of both joint circles")
    height: Length | None = Field(None, gt=0.0, description="of the platform joints at home")
    stroke: Any = Field(None, description="of the actuators")
    force: Any = Field(None, description="of an actuator")
    speed: Any = Field(None, description="of an actuator")
    retracted: float = Field(
        1.2, ge=1.0, description="least length of a retracted leg, in strokes; for straight legs"
    )
    joint_angle: Angle | None = Field(
        None, gt=0.0, description="of a leg from its direction at home, at either end"
    )
    clearance: Length | None = Field(None, ge=0.0, description="distance of the axes of two legs")
    condition: float = Field(100.0, gt=1.0, description="of the Jacobian, moments scaled")
    stiffness: Stiffness | None = Field(
        None, gt=0.0, description="least, of the platform under a force at the joints' centre"
    )
    frequency: Frequency | None = Field(None, gt=0.0, description="least first natural frequency")


class Tasks(NamedTuple):
    """Poses relative to home with the motion that is needed there; home at rest comes first."""

    offsets: FloatArray
    """`(k, 7)` position [m] and quaternion"""
    twists: FloatArray
    """`(k, 6)` [m/s, rad/s]"""
    accelerations: FloatArray
    """`(k, 6)` [m/s2, rad/s2]"""


class Actuator(NamedTuple):
    """A row of a catalogue of actuators, in SI units."""

    name: str
    stroke: float
    """[m, rad]"""
    retracted: float
    """[m] length between the centres of the joints; zero for cranks"""
    force: float
    """[N, N m]"""
    speed: float
    """[m/s, rad/s]"""
    price: float


class Specification(Part):
    """Everything that a machine must do and may not exceed."""

    name: str = Field("designed", pattern=r"^[a-z][a-z0-9_]*$")
    title: str = "Designed motion platform"
    legs: Literal["ups", "rss"] = "ups"
    count: int = Field(6, ge=6, le=8, description="of legs")
    symmetry: int | None = Field(
        None, ge=1, description="times that free joints repeat around z; None: pairs on circles"
    )
    actuator_stiffness: Any = Field(None, description="of each actuator with its leg")
    minimise: Objective = "force"
    ranges: RangeTable = RangeTable()
    poses: tuple[tuple[Length, Length, Length, Angle, Angle, Angle], ...] = Field(
        (), description="x, y, z, roll, pitch, yaw from home that are reached at rest"
    )
    motion: Any = Field(None, description="motion about home, of `twin.motion`, or its file")
    speeds: SpeedTable = SpeedTable()
    accelerations: AccelerationTable = AccelerationTable()
    payload: PayloadTable | None = None
    limits: LimitTable = LimitTable()
    bounds: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="ends of the free numbers"
    )
    actuators: tuple[Actuator, ...] = Field((), description="catalogue to choose from")

    @model_validator(mode="before")
    @classmethod
    def _in_si_units(cls, content: Any) -> Any:
        """Convert numbers whose unit depends on the kind of legs."""
        if not isinstance(content, dict):
            return content
        units = actuator_units(content.get("legs", "ups"))
        stiffness_unit = units.pop("stiffness")
        result = dict(content)
        name = "actuator_stiffness"
        if content.get(name) is not None:
            result[name] = _positive(name, content[name], stiffness_unit)
        if isinstance(content.get("limits"), dict):
            result["limits"] = {
                key: _positive(f"limits.{key}", value, units[key]) if key in units else value
                for key, value in content["limits"].items()
            }
        if isinstance(content.get("bounds"), dict):
            result["bounds"] = {
                key: [to_si(end, "rad" if angle_bounds(key) else "m") for end in ends]
                for key, ends in content["bounds"].items()
                if isinstance(ends, (list, tuple))
            } | {k: v for k, v in content["bounds"].items() if not isinstance(v, (list, tuple))}
        return result

    @model_validator(mode="after")
    def _consistent(self) -> Specification:
        if (self.symmetry or self.count != 6) and self.legs == "rss":
            raise ValueError("legs: cranks are six, in pairs on circles; leave the symmetry out")
        if self.count % (self.symmetry or 6) or (self.symmetry or 0) > self.count // 2:
            raise ValueError(
                f"symmetry: {self.count} legs need one that divides {self.count}, with at least "
                "two legs in each repetition"
            )
        for name, (low, high) in self.bounds.items():
            if name not in self.free_numbers:
                known = ", ".join(self.free_numbers)
                raise ValueError(f"bounds.{name}: unknown; known: {known}")
            if not low < high:
                raise ValueError(f"bounds.{name}: must go from a lower to a higher number")
            ends = angle_bounds(name)
            if ends and (low < ends[0] or high > ends[1]):
                allowed = f"from {np.degrees(ends[0]):g} to {np.degrees(ends[1]):g} deg"
                raise ValueError(f"bounds.{name}: must be {allowed}")
            if not ends and low <= 0.0 and not name.endswith("_height"):
                raise ValueError(f"bounds.{name}: must be above zero")
        if (self.limits.stiffness or self.limits.frequency) and not self.actuator_stiffness:
            raise ValueError("actuator_stiffness: missing; limits of the stiffness need it")
        if not (np.ptp(self.ranges.axes) or np.any(self.poses) or self.motion):
            raise ValueError("ranges: give the range of at least one axis, poses or a motion")
        if not isinstance(self.motion, Motion | None):
            raise ValueError("motion: must be a motion of twin.motion, or the path of its file")
        if self.minimise == "price" and not self.actuators:
            raise ValueError("minimise: a price needs a catalogue of actuators")
        return self

    @property
    def free_numbers(self) -> tuple[str, ...]:
        """Names of the free numbers; a height is that of home, or of a joint over the first."""
        if self.symmetry is None:
            return FREE_NUMBERS[self.legs]
        names = [
            f"{side}_{number}_{quantity}"
            for side in ("base", "platform")
            for number in range(1, self.count // self.symmetry + 1)
            for quantity in JOINT_NUMBERS[: 2 if number == 1 else 3]
        ]
        return (*names, "height")

    def tasks(self, steps: int = 0) -> Tasks:
        """Return the tasks at which candidates are judged, or others between those.

        Args:
            steps: each range is divided into so many, and ranges together have six times as many
                random poses; 0: the tasks of the search. With more than `SEARCHED_STEPS` a motion
                has all its times, else those of its extremes and some between.
        """
        spans = self.ranges.axes
        rows = [np.zeros((1, 6))]
        for axis, (low, high) in enumerate(spans):
            if high > low:
                values = np.linspace(low, high, (steps or FEWEST_STEPS) + 1)
                rows.append(np.outer(values, np.eye(6)[axis]))
        if self.ranges.together:
            box = self.ranges.together * spans
            corners = np.stack(np.meshgrid(*box), axis=-1).reshape(-1, 6)
            rows.append(np.unique(corners, axis=0))
            random = np.random.default_rng(0).uniform(size=(6 * steps, 6))
            rows.append(box[:, 0] + random * (box[:, 1] - box[:, 0]))
        if self.poses:
            rows.append(np.array(self.poses))
        displacements = np.concatenate(rows)
        offsets = pose_from_angles(displacements[:, :3], displacements[:, :2:-1])
        parts = [Tasks(offsets, np.zeros((len(offsets), 6)), np.zeros((len(offsets), 6)))]
        for number, table in enumerate((self.speeds, self.accelerations)):
            motions = table.both_ways()
            home = np.tile(offsets[0], (len(motions), 1))
            rates = [np.zeros_like(motions)] * 2
            rates[number] = motions
            parts.append(Tasks(home, *rates))
        if self.motion is not None:
            times = np.linspace(0.0, self.motion.duration, FINE_MOTION_SAMPLES)
            sample = Tasks(*self.motion.sample(times))
            if steps <= SEARCHED_STEPS:
                rows_of_motion = np.concatenate(list(sample), axis=1)
                even = np.linspace(0, len(times) - 1, MOTION_SAMPLES).astype(int)
                extremes = (rows_of_motion.argmin(axis=0), rows_of_motion.argmax(axis=0))
                chosen = np.unique(np.concatenate([even, *extremes]))
                sample = Tasks(*(array[chosen] for array in sample))
            parts.append(sample)
        return Tasks(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _positive(field: str, value: Any, unit: str) -> float:
    try:
        number = to_si(value, unit)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from None
    if not number > 0.0:
        raise ValueError(f"{field}: must be above zero, got {value!r}")
    return number


def read_specification(path: str | Path) -> Specification:
    """Return the specification in a TOML file; catalogue and motion are CSV files beside it.

    Raises:
        InputError: the file cannot be read.
        ParameterError: unknown or missing fields, wrong units, or contradictions.
    """
    file = as_path(path)
    content = read_toml(file)
    if isinstance(content.get("motion"), str):
        center = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        content["motion"] = read_recording(file.parent / content["motion"], center)
    catalogue = content.get("actuators")
    if isinstance(catalogue, str):
        content["actuators"] = read_catalogue(file.parent / catalogue, content.get("legs") == "rss")
    return checked_specification(content, file)


def checked_specification(content: dict[str, Any], file: str | Path) -> Specification:
    """Return the specification of a TOML file's content; `file` names it in errors.

    Raises:
        ParameterError: unknown or missing fields, wrong units, or contradictions.
    """
    try:
        return Specification.model_validate(content)
    except ValidationError as error:
        problems = [
            (
                ".".join(map(str, entry["loc"])) or "specification",
                entry["msg"].removeprefix("Value error, ").replace("Input should be", "must be"),
            )
            for entry in error.errors(include_url=False)
        ]
        raise ParameterError(file, problems) from None


def read_catalogue(path: str | Path, cranks: bool = False) -> tuple[Actuator, ...]:
    """Return the actuators of a CSV file, one in a row.

    Its columns are `name`, `stroke`, `retracted`, `force`, `speed` and `price`, the middle four
    with their unit in brackets, such as `stroke [mm]`; of cranks without `retracted`.

    Raises:
        InputError: the file cannot be read, a column is missing, or an entry is no number.
    """
    units = ({} if cranks else {"retracted": "m"}) | actuator_units("rss" if cranks else "ups")
    del units["stiffness"]
    return tuple(
        Actuator(name, **{"retracted": 0.0} | values)
        for _, name, values in read_rows(path, units, ("price",))
    )


def read_rows(
    path: str | Path, units: dict[str, str], plain: tuple[str, ...]
) -> list[tuple[int, str, dict[str, float]]]:
    """Return the rows of a list of products: line of the file, name, and numbers in SI units.

    Args:
        path: CSV file with a column `name`.
        units: column -> SI unit; the file has a unit in brackets behind the column's name.
        plain: columns of numbers without a unit.

    Raises:
        InputError: the file cannot be read, a column is missing, or an entry is no number.
    """
    file = as_path(path)
    try:
        with file.open(newline="", encoding="utf-8-sig") as text:
            rows = list(csv.DictReader(text))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("file", f"{file} cannot be read ({error})") from None
    if not rows:
        raise InputError("file", f"{file} has no rows")
    titles = {(title or "").split("[")[0].strip(): title or "" for title in rows[0]}
    missing = [name for name in ("name", *units, *plain) if name not in titles]
    if missing:
        found = ", ".join(filter(None, titles))
        raise InputError(
            "file", f"{file} lacks the column {missing[0]!r}; columns, between commas: {found}"
        )
    for name in units:
        if "[" not in titles[name]:
            raise InputError("file", f"{file}: write the unit of {name!r} in brackets behind it")
    result = []
    for line, row in enumerate(rows, start=2):
        try:
            values = {
                name: to_si(f"{row[titles[name]]} {titles[name].split('[')[1].strip(' ]')}", unit)
                for name, unit in units.items()
            }
            values |= {name: float(row[titles[name]]) for name in plain}
        except (ValueError, IndexError, TypeError) as error:
            raise InputError(
                f"{file}, line {line}", f"{error}; each column needs a number"
            ) from None
        if not all(
            0.0 < value < np.inf or (name == "price" and value == 0.0)
            for name, value in values.items()
        ):
            raise InputError(f"{file}, line {line}", "must have numbers above zero")
        result.append((line, row[titles["name"]], values))
    return result
