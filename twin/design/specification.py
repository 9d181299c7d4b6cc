"""What a machine must do and may not exceed: the specification of a design."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from scipy.linalg import block_diag

from twin.basics.arrays import FloatArray
from twin.basics.files import as_path
from twin.basics.text_table import TextTable
from twin.basics.toml import read_toml
from twin.errors import ParameterError
from twin.machine.quantity import TITLE_PATTERN, Angle, Length, Mass, to_si
from twin.motion.motion import Motion
from twin.motion.recording import read_recording
from twin.rotations import pose_from_angles

AXES = ("x", "y", "z", "roll", "pitch", "yaw")

AXIS_UNITS = {
    "ranges": ("m", "rad"),
    "speeds": ("m/s", "rad/s"),
    "accelerations": ("m/s2", "rad/s2"),
}
"""SI units of tables with numbers along and about the axes."""

LIMIT_UNITS = {
    "footprint": "m",
    "height": "m",
    "clearance": "m",
    "joint_angle": "rad",
    "stiffness": "N/m",
    "frequency": "Hz",
}
"""SI units of limits that do not depend on the kind of legs."""

Objective = Literal["force", "stroke", "footprint", "condition", "price"]

SEARCHED_STEPS = 12
"""Most steps of a range in a search."""

FEWEST_STEPS = 4
"""Steps of the range of an axis at which a candidate is judged at first."""

MOTION_SAMPLES = 40
"""Evenly spaced times of a motion at which a candidate is judged, beside those of its extremes."""

FINE_MOTION_SAMPLES = 10_001
"""Times of a motion at which the machine is judged at the end."""

PAIR_NUMBERS = ("base_radius", "base_spacing", "platform_radius", "platform_spacing")

FREE_NUMBERS = {
    "ups": (*PAIR_NUMBERS, "height"),
    "rss": (*PAIR_NUMBERS, "crank", "rod", "horn_angle"),
}
"""Free numbers of a machine with three pairs of joints on circles, for each kind of legs."""

JOINT_NUMBERS = ("radius", "angle", "height")
"""Free numbers of a joint that is alone; a height is that over the first joint."""

ALLOWED_BOUNDS = {
    "spacing": (0.0, 2.0 * np.pi / 3.0),
    "horn_angle": (-0.5 * np.pi, 0.5 * np.pi),
    "angle": (-np.pi, np.pi),
    "_height": (-np.inf, np.inf),
    "": (1e-6, np.inf),
}
"""Smallest and largest bound [rad, m] of a free number, by the first suffix that its name has."""


def by_ending(name: str, table: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the first entry of a table whose key is a suffix of a name."""
    return next(entry for ending, entry in table.items() if name.endswith(ending))


def is_angle(name: str) -> bool:
    """Return whether a free number of a design is an angle [rad]; the others are lengths [m].

    Angles are those named so, and the spacings of pairs of joints on a circle.
    """
    return name.endswith(("spacing", "angle"))


def actuator_units(legs: str) -> dict[str, str]:
    """Return the SI units of stroke, force, speed and stiffness of a kind of legs' actuators."""
    if legs == "rss":
        return {"stroke": "rad", "force": "N m", "speed": "rad/s", "stiffness": "N m/rad"}
    return {"stroke": "m", "force": "N", "speed": "m/s", "stiffness": "N/m"}


Range = Annotated[
    tuple[float, float],
    BeforeValidator(lambda value: (-value, value) if isinstance(value, float) else value),
]
"""Both ends of a range; one number stands for as much to both sides."""

STAYS_HOME = (0.0, 0.0)

AtLeastZero = Annotated[float, Field(ge=0.0)]

AboveZero = Annotated[float, Field(gt=0.0)]


class Part(BaseModel):
    """A table of a specification."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        use_attribute_docstrings=True,
    )


class AxisTable(Part):
    """Numbers of the six axes about home."""

    @property
    def axes(self) -> FloatArray:
        """Numbers `(6,)` of all axes, or both ends of each `(6, 2)`, in SI units."""
        return np.array([getattr(self, axis) for axis in AXES])


class RangeTable(AxisTable):
    """Ranges of the axes from home, each with the others at home."""

    x: Range = STAYS_HOME
    y: Range = STAYS_HOME
    z: Range = STAYS_HOME
    roll: Range = STAYS_HOME
    pitch: Range = STAYS_HOME
    yaw: Range = STAYS_HOME
    together: float = Field(0.0, ge=0.0, le=1.0)
    """fraction of all ranges that is reached at once"""

    @model_validator(mode="after")
    def _ordered(self) -> RangeTable:
        for axis, (low, high) in zip(AXES, self.axes, strict=True):
            if not low <= 0.0 <= high:
                raise ValueError(f"{axis} must go from a number below home to one above it")
        return self


class RateTable(AxisTable):
    """Speeds or accelerations along the axes that are needed at home, in both directions."""

    x: AtLeastZero = 0.0
    y: AtLeastZero = 0.0
    z: AtLeastZero = 0.0
    roll: AtLeastZero = 0.0
    pitch: AtLeastZero = 0.0
    yaw: AtLeastZero = 0.0

    def both_ways(self) -> FloatArray:
        """Return motions `(k, 6)` along single axes, both ways."""
        rows = np.diag(self.axes)[self.axes > 0.0]
        return np.concatenate([rows, -rows])


class PayloadTable(Part):
    """Load on the platform."""

    mass: Mass = Field(0.0, ge=0.0)
    height: Length = 0.0
    """height of its centre above the platform joints"""
    radius: Length = Field(0.0, ge=0.0)
    """radius of gyration about its centre, the same on all axes"""


class LimitTable(Part):
    """Limits of the machine; those that are left out are free.

    Forces and speeds of legs with cranks are torques [N m] and angular speeds [rad/s], their stroke
    is the whole range of the angle.
    """

    footprint: AboveZero | None = None
    """diameter of both joint circles"""
    height: AboveZero | None = None
    """height of the platform joints at home"""
    stroke: AboveZero | None = None
    """stroke of the actuators"""
    force: AboveZero | None = None
    """force of an actuator"""
    speed: AboveZero | None = None
    """speed of an actuator"""
    retracted: float = Field(1.2, ge=1.0)
    """least length of a retracted leg, in strokes; for straight legs"""
    joint_angle: AboveZero | None = None
    """angle of a leg from its direction at home, at either end"""
    clearance: AtLeastZero | None = None
    """least distance of the axes of two legs"""
    condition: float = Field(20.0, gt=1.0)
    """largest condition number of the Jacobian, moments scaled"""
    stiffness: AboveZero | None = None
    """least stiffness of the platform under a force at the joints' centre"""
    frequency: AboveZero | None = None
    """least first natural frequency"""


class Tasks(NamedTuple):
    """Poses relative to home with the motion that is needed there; home at rest comes first.

    They are sorted by pose: tasks at one pose follow one another, so that what depends on poses
    alone is computed once.
    """

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
    force: float
    """[N, N m]"""
    speed: float
    """[m/s, rad/s]"""
    price: float
    retracted: float = 0.0
    """[m] length between the centres of the joints; zero for cranks"""


class Specification(Part):
    """Everything that a machine must do and may not exceed."""

    name: str = Field("designed", pattern=r"^[a-z][a-z0-9_]{0,63}$")
    title: str = "Designed motion platform"
    legs: Literal["ups", "rss"] = "ups"
    count: int = Field(6, ge=6, le=8)
    """number of legs"""
    symmetry: int | None = Field(None, ge=1)
    """times that free joints repeat around z; None: pairs on circles"""
    actuator_stiffness: AboveZero | None = None
    """stiffness of each actuator with its leg"""
    minimise: Objective = "force"
    ranges: RangeTable = RangeTable()
    poses: tuple[tuple[Length, Length, Length, Angle, Angle, Angle], ...] = ()
    """x, y, z, roll, pitch, yaw from home that are reached at rest"""
    motion: Motion | None = None
    """motion about home, of `twin.motion`; in a file the path of its recording"""
    speeds: RateTable = RateTable()
    accelerations: RateTable = RateTable()
    payload: PayloadTable = PayloadTable()
    limits: LimitTable = LimitTable()
    bounds: dict[str, tuple[float, float]] = {}
    """ends of the free numbers"""
    actuators: tuple[Actuator, ...] = ()
    """catalogue to choose from"""

    @model_validator(mode="before")
    @classmethod
    def _in_si_units(cls, content: Any) -> Any:
        """Convert numbers whose unit depends on the kind of legs or on their name."""
        if not isinstance(content, dict):
            return content
        units = actuator_units(content.get("legs", "ups"))
        content = _converted(content, {"actuator_stiffness": units.pop("stiffness")}, "")
        tables = {
            "limits": LIMIT_UNITS | units,
            "bounds": {
                name: "rad" if is_angle(name) else "m" for name in content.get("bounds", ())
            },
        }
        for name, axis_units in AXIS_UNITS.items():
            tables[name] = dict(zip(AXES, np.repeat(axis_units, 3).tolist(), strict=True))
        for name, table_units in tables.items():
            if isinstance(content.get(name), dict):
                content[name] = _converted(content[name], table_units, f"{name}.")
        return content

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
            ends = by_ending(name, ALLOWED_BOUNDS)
            if low < ends[0] or high > ends[1]:
                angles = "from {:g} to {:g} deg".format(*np.degrees(ends))
                allowed = angles if is_angle(name) else "above zero"
                raise ValueError(f"bounds.{name}: must be {allowed}")
        if (self.limits.stiffness or self.limits.frequency) and not self.actuator_stiffness:
            raise ValueError("actuator_stiffness: missing; limits of the stiffness need it")
        if not (np.ptp(self.ranges.axes) or np.any(self.poses) or self.motion):
            raise ValueError("ranges: give the range of at least one axis, poses or a motion")
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

    def named(self, values: Iterable[Any]) -> dict[str, Any]:
        """Return the free numbers by their names; a layout of cranks is left out."""
        return dict(zip(self.free_numbers, values, strict=False))

    def tasks(self, steps: int = 0) -> Tasks:
        """Return the tasks at which candidates are judged, or others between those.

        Args:
            steps: each range is divided into so many, and `together` adds six times as many random
                poses; 0: `FEWEST_STEPS`, and no random poses. Above `SEARCHED_STEPS` a motion has
                all its times, else those of its extremes and some between.
        """
        spans = self.ranges.axes
        rows = [np.zeros((1, 6))]
        for axis, (low, high) in enumerate(spans):
            if high > low:
                values = np.linspace(low, high, (steps or FEWEST_STEPS) + 1)
                rows.append(np.outer(values, np.eye(6)[axis]))
        if self.ranges.together:
            box = self.ranges.together * spans
            rows.append(np.unique(list(product(*box)), axis=0))
            low, high = box.T
            rows.append(np.random.default_rng(0).uniform(low, high, (6 * steps, 6)))
        if self.poses:
            rows.append(np.array(self.poses))
        moves = block_diag(
            np.concatenate(rows), self.speeds.both_ways(), self.accelerations.both_ways()
        )
        offsets = pose_from_angles(moves[:, :3], moves[:, 5:2:-1])
        tasks = np.hstack([offsets, moves[:, 6:]])
        if self.motion is not None:
            times = np.linspace(0.0, self.motion.duration, FINE_MOTION_SAMPLES)
            sample = np.hstack(self.motion.sample(times))
            if steps <= SEARCHED_STEPS:
                even = np.linspace(0, len(times) - 1, MOTION_SAMPLES).astype(int)
                sample = sample[np.unique([*even, *sample.argmin(axis=0), *sample.argmax(axis=0)])]
            tasks = np.concatenate([tasks, sample])
        tasks = tasks[np.lexsort(np.abs(tasks[:, :7]).T)]
        return Tasks(*map(np.ascontiguousarray, np.split(tasks, [7, 13], axis=1)))


def _converted(table: dict[str, Any], units: dict[str, str], path: str) -> dict[str, Any]:
    """Return a table with the numbers, or lists of numbers, that have units in SI units."""
    result = dict(table)
    for name in units.keys() & table.keys():
        value, unit = table[name], units[name]
        try:
            if isinstance(value, (list, tuple)):
                result[name] = [to_si(end, unit) for end in value]
            elif value is not None:
                result[name] = to_si(value, unit)
        except ValueError as error:
            raise ValueError(f"{path}{name}: {error}") from None
    return result


def read_specification(path: str | Path) -> Specification:
    """Return the specification in a TOML file; catalogue and motion are CSV files beside it.

    Raises:
        InputError: the file cannot be read.
        ParameterError: unknown or missing fields, wrong units, or contradictions.
    """
    file = as_path(path)
    content = read_toml(file)
    if isinstance(content.get("motion"), str):
        content["motion"] = read_recording(file.parent / content["motion"], np.zeros(3))
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
    units = actuator_units("rss" if cranks else "ups") | {"price": ""}
    del units["stiffness"]
    if not cranks:
        units["retracted"] = "m"
    return tuple(Actuator(name, **values) for _, name, values in read_rows(path, units))


def read_rows(path: str | Path, units: dict[str, str]) -> list[tuple[int, str, dict[str, float]]]:
    """Return the rows of a list of products: line of the file, name, and numbers in SI units.

    Args:
        path: CSV file with a column `name`.
        units: column -> SI unit, empty for a plain number; the file has a unit in brackets behind
            the column's name.

    Raises:
        InputError: the file cannot be read, a column is missing or doubled, or an entry is empty or
            no number.
    """
    table = TextTable(path)
    columns = {}
    for column, title in enumerate(table.layout.names):
        match = TITLE_PATTERN.fullmatch(title)
        if match:
            if match["name"] in columns:
                table.fail(f"has two columns {match['name']!r}; leave one")
            columns[match["name"]] = (column, match["unit"])
    for name, unit in {"name": "", **units}.items():
        if name not in columns or (unit and not columns[name][1]):
            title = f"{name} [{unit}]" if unit else name
            table.fail(f"lacks the column {title!r}; columns: {', '.join(table.layout.names)}")
    result = []
    for line, cells in table.rows():
        values = {}
        for name, unit in units.items():
            column, given_unit = columns[name]
            cell = cells[column]
            try:
                number = to_si(f"{cell} {given_unit}", unit) if unit else float(cell)
            except ValueError as error:
                table.fail(f"line {line}, {name}: {error}")
            if not (0.0 < number < np.inf or (name == "price" and number == 0.0)):
                range_text = "zero or more" if name == "price" else "above zero"
                table.fail(f"line {line}, {name}: must be {range_text}, got {cell!r}")
            values[name] = number
        product = cells[columns["name"][0]].strip()
        if not product:
            table.fail(f"line {line}, name: must not be empty")
        result.append((line, product, values))
    if not result:
        table.fail("has no rows below its titles")
    return result
