"""Values of options: quantities with units, settings such as name=value, files to be written.

A plain number is SI; "3 deg", "20 mm" or "500 ms" is converted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from twin.basics.files import check_replaced, check_writable, write_text
from twin.basics.optional import optional
from twin.cli.application import BadQuantity
from twin.cli.console import line
from twin.errors import InputError, brief

if TYPE_CHECKING:
    from twin.analysis.payload.body import Payload
    from twin.analysis.platform import Platform
    from twin.basics.arrays import FloatArray
    from twin.simulation.simulate import Trajectory

HOLDING_FORCES = "hold"
"""Value of --force that stands for the forces that hold a machine at its initial pose."""

PAGE_ENDING = ".html"
"""Ending of the file names of pages."""

TRAJECTORY_ENDINGS = (".npz", ".csv", ".parquet", ".mcap")
"""Endings of saved trajectories; .mcap is the ending of a log."""


@contextmanager
def renamed_fields(**names: str) -> Iterator[None]:
    """Let an InputError raised inside name the option that it concerns.

    Args:
        names: field of an error -> name of the option.

    Raises:
        InputError: as inside, with the option's name.
    """
    try:
        yield
    except InputError as error:
        if error.field not in names:
            raise
        raise InputError(names[error.field], error.message) from None


def check_files(
    *,
    reads: Iterable[str | Path | None] = (),
    replace: bool = True,
    report: Path | None = None,
    json: Path | None = None,
    **files: tuple[Path | None, *tuple[str, ...]],
) -> None:
    """Check, before the work, that the files named by options can probably be written.

    Args:
        reads: arguments that name files which the command reads, or other things.
        replace: whether files that exist may be replaced.
        report: file of a page.
        json: file of a result, a name in `.json`.
        files: option -> file (None without the option) and allowed endings of its name.

    Raises:
        InputError: wrong ending, a folder, a file in a folder that does not exist, one that exists
            and is not to be replaced, or one that the command reads or another option names.
        MissingDependencyError: a page, a Parquet or an MCAP file is to be written, and its library
            is not installed.
    """
    taken_names = [name for name in reads if name]
    files |= {"report": (report, PAGE_ENDING), "json": (json, ".json")}
    for option, (path, *endings) in files.items():
        if path is not None:
            with renamed_fields(path=option):
                check_writable(path, *endings)
            check_replaced(path, option, replace=replace)
            if any(_is_same_file(path, name) for name in taken_names):
                message = f"{path} is also read, or written by another option; name another file"
                raise InputError(option, message)
            taken_names.append(path)
            if PAGE_ENDING in endings:
                optional("plotly")
            if path.suffix == ".parquet":
                optional("pyarrow", "Parquet files")
            if path.suffix == ".mcap":
                optional("mcap")


def _is_same_file(path: Path, name: str | Path) -> bool:
    """Return whether a path and a name are those of one file, which need not exist."""
    try:
        return path.resolve() == Path(name).resolve() or path.samefile(name)
    except (OSError, ValueError):
        return False


def write(path: Path | None, text: str) -> None:
    """Write a text, where a file is given, and print the file's name."""
    if path is not None:
        line(f"wrote {write_text(path, text)}")


def save(run: Trajectory, path: Path | None) -> None:
    """Save a trajectory, or its log as .mcap, where a file is given, and print the file's name."""
    if path is not None and path.suffix == ".mcap":
        from twin.logs import log_of, write_log

        line(f"wrote {write_log(log_of(run), path)}")
    elif path is not None:
        line(f"wrote {run.save(path)}")


def write_json(path: Path | None, content: Any) -> None:
    """Write content as JSON, where a file is given.

    Arrays become lists, and numbers that are not finite null.
    """
    write(path, json.dumps(json_content(content), indent=1, allow_nan=False) + "\n")


def json_content(content: Any) -> Any:
    """Return content with lists for arrays, and null for numbers that JSON does not have."""
    if hasattr(content, "tolist"):
        content = content.tolist()
    if isinstance(content, dict):
        return {name: json_content(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [json_content(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def write_plot(path: Path | None, figure: Callable[[], Any]) -> None:
    """Write the figure that a function returns, where a file is given; print the file's name."""
    if path is not None:
        from twin.charts.panels import write_figure

        line(f"wrote {write_figure(figure(), path)}")


def constant_forces(platform: Platform, text: str, pose: Any) -> FloatArray:
    """Return forces `(n,)` [N or N m] from a number, a list, or `HOLDING_FORCES` at `pose`.

    Raises:
        InputError: something else, or another count than the machine has actuators.
    """
    import numpy as np

    if text.strip() == HOLDING_FORCES:
        at_rest = np.zeros((2, 6))
        return platform.inverse_dynamics(platform.home if pose is None else pose, *at_rest)
    values = quantities(text, "force", platform.force_unit) or []
    if len(values) not in (1, platform.n_actuators):
        raise InputError(
            "force",
            f"give one number, {platform.n_actuators} numbers separated by commas, or "
            f"'{HOLDING_FORCES}'; got {len(values)} numbers",
        )
    return np.broadcast_to(np.array(values), (platform.n_actuators,)).copy()


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given: those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def settings_from(texts: Iterable[str] | None, option: str) -> dict[str, Any]:
    """Return settings by name; a value is JSON, or else the text itself.

    Args:
        texts: such as "preview=5", "motion=null", "layers=[64, 64]"; None for none.
        option: name of the option, for the message.

    Raises:
        InputError: a text without =, or a name that comes twice.
    """
    settings = {}
    for item in texts or ():
        name, equal_sign, text = item.partition("=")
        if not equal_sign or not name.strip():
            raise InputError(option, f"must look like name=value, not {item!r}")
        if name in settings:
            raise InputError(option, f"{name} is given twice")
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings


def environment_options(texts: Iterable[str] | None, **named_options: Any) -> dict[str, Any]:
    """Return the options of an environment, from --option and from options with other names.

    Args:
        texts: values of --option.
        named_options: name -> value of the other options; None for not given.

    Raises:
        InputError: a text that is no setting, or an option that is given both ways.
    """
    options, named_options = settings_from(texts, "option"), given(**named_options)
    for name in named_options:
        if name in options:
            raise InputError("option", f"{name} is given twice")
    return options | named_options


MAX_UNITS_SHOWN = 3
"""Maximum number of units of each kind in a message."""

NUMBERED_AXES = ("x", "y", "z")
ANGLE_NAMES = ("yaw", "pitch", "roll")

FOLLOWING_AXES = ("x", "y", "yaw")
"""Coordinates that follow from height, roll and pitch on machines with three freedoms."""

FOLLOWING_TOLERANCE = 1e-6
"""[m, rad] Difference of a coordinate that follows, as of one that was printed with six digits."""


class Measured(float):
    """A number in SI that knows the SI unit with which it was written; empty for none."""

    unit: str = ""


def quantity(text: Any, field: str, *units: str) -> Measured:
    """Return the SI number of a text such as "20 mm"; a plain number is SI.

    Args:
        text: the number with or without its unit.
        field: name of the option, for the message.
        units: SI units it may have.

    Raises:
        InputError: not a number, not finite, or a unit of another kind; the message lists units.
    """
    from twin.machine.quantity import UNITS, to_si

    number, problem = _number(text), f"must be a plain number, not {brief(text)}"
    for unit in units if number is not None else UNITS.keys() & units:
        try:
            value_in_si = Measured(to_si(text if number is None else number, unit))
        except ValueError as error:
            problem = str(error)
            continue
        value_in_si.unit = "" if number is not None else unit
        return value_in_si
    if len(units) > 1 and number is None:
        unit_list = ", ".join(", ".join([*UNITS[unit]][:MAX_UNITS_SHOWN]) for unit in units)
        problem = f"{brief(text)} is no number with one of the units {unit_list}"
    raise InputError(field, problem)


def quantities(text: str | None, field: str, *units: str) -> list[float] | None:
    """Return the SI numbers of a text such as "20 mm,5 mm,0"; None for None.

    Args:
        text: numbers separated by commas.
        field: name of the option, for the message.
        units: SI units, one per number; the last is that of all that follow.

    Raises:
        InputError: a part is no such quantity.
    """
    if text is None:
        return None
    return [
        quantity(part.strip(), field, units[min(k, len(units) - 1)])
        for k, part in enumerate(text.split(","))
    ]


def in_unit(value: float | None, field: str, unit: str, use: str) -> float | None:
    """Return a quantity that was read with several units, where it fits what it is used for.

    Args:
        value: as `quantity` returns it, or a number.
        field: name of the option, for the message.
        unit: SI unit that it must have, if any was written.
        use: description of its use, for the message.

    Raises:
        InputError: another unit.
    """
    given_unit = getattr(value, "unit", "")
    if given_unit and given_unit != unit:
        raise InputError(field, f"has a unit of {given_unit}, but {use} is in {unit}")
    return value


def quantity_option(text: str, *units: str) -> Any:
    """Return an option that is a quantity in one of some SI units, with its help text."""

    def parse(value: Any) -> Any:
        try:
            return None if value is None else quantity(value, "option", *units)
        except InputError as error:
            raise BadQuantity(error.message) from None

    return typer.Option(help=text, metavar="QUANTITY", parser=parse)


def pose_of(platform: Platform, text: str | None, field: str = "pose") -> FloatArray | None:
    """Return the pose `(7,)` of a text; None for None.

    Either seven numbers, position and unit quaternion; or up to three coordinates of the position
    and names with values, such as "0,0,900 mm,pitch=3 deg" or "z=0.9,yaw=5 deg". Omitted
    parts keep their home values; angles are yaw, pitch and roll of the platform in the base frame.

    Raises:
        InputError: no such text, or x, y or yaw of a machine on which they follow from the others.
        UnreachablePoseError: as `Platform.constrain`.
    """
    import numpy as np

    from twin.rotations import angles_from_quaternion, pose_from_angles

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 7 and "=" not in text:
        return np.array(quantities(text, field, "m", "m", "m", ""))
    angles = angles_from_quaternion(platform.home[3:])
    at_home = (*platform.home[:3], *angles)
    values = dict(zip((*NUMBERED_AXES, *ANGLE_NAMES), at_home, strict=True))
    for k, part in enumerate(parts):
        name, equal_sign, value = part.partition("=")
        if not equal_sign:
            name, value = (NUMBERED_AXES[k] if k < len(NUMBERED_AXES) else "", part)
        name = name.strip()
        if name not in values:
            form = "7 numbers, or x, y, z and names such as pitch=3 deg"
            raise InputError(field, f"must be {form}, not {brief(text)}")
        values[name] = quantity(value.strip(), field, "m" if name in NUMBERED_AXES else "rad")
    pose = pose_from_angles(
        [values[name] for name in NUMBERED_AXES], [values[name] for name in ANGLE_NAMES]
    )
    fitted = np.asarray(platform.constrain(pose).pose)
    constrained_values = (*fitted[:3], *angles_from_quaternion(fitted[3:]))
    for name, home, value in zip(values, at_home, constrained_values, strict=True):
        is_given = platform.dof < 6 and name in FOLLOWING_AXES and values[name] != home
        if is_given and abs(values[name] - value) > FOLLOWING_TOLERANCE:
            raise InputError(
                field,
                f"{platform.name} moves in height, roll and pitch: {name} follows from these and "
                f"is {value:.6g} here; leave it out",
            )
    return fitted


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def payload_of(text: str | None) -> Payload | None:
    """Return the payload of a text such as "100" or "100,0,0,0.3".

    Raises:
        InputError: not one or four numbers, or a mass that is not above zero.
    """
    from twin.analysis.payload.body import Payload

    values = quantities(text, "payload", "kg", "m")
    if values is None:
        return None
    if len(values) not in (1, 4):
        raise InputError("payload", f"must be KG or KG,X,Y,Z, got {text!r}")
    with renamed_fields(mass="payload", center="payload"):
        return Payload(values[0], values[1:] or (0.0, 0.0, 0.0))
