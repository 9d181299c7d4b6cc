"""The platform.toml of a data sheet: what is printed there as it is, the rest estimated."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from twin.basics.files import write_text
from twin.errors import InputError, ParameterError
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.estimates import Body
from twin.machine.file.data_sheet.sheet import KINDS, DataSheet
from twin.machine.file.read import parameters_from
from twin.machine.file.template import check_new
from twin.machine.layout.paired_circle import PairedCircle
from twin.machine.layout.pairing import nearest_shift
from twin.machine.legs.leg import COINCIDENT
from twin.machine.machine import MachineParameters

SHEET = "Data sheet"

HEAD = """\
# {title}
# Written by `twin new` from the numbers of a data sheet. Plain numbers are SI; a number with its
# unit is converted. Tables whose source begins with "Estimated" are worth measuring.
#
# Check the file at any time with:  twin info {name}.toml

name = "{name}"
title = {text}
source = "{sheet}"
gravity = 9.81  # m/s2, downwards along -z
"""

COMMENT = re.compile(r"^([^#\n]*?[^#\s]) +(# .*)$", re.MULTILINE)
"""An entry with a comment behind it, which `_text` aligns."""

MIRRORED = ((1, 3, 5), (2, 4, 6))
"""Legs whose cranks are the mirror images of their neighbours'."""


def write_data_sheet(path: str | Path, sheet: DataSheet) -> Path:
    """Write the platform.toml of a data sheet, named after its file; never replaces a file.

    Raises:
        InputError: the file exists or cannot be written, fields are missing or do not fit
            together; names the fields.
    """
    target = check_new(path)
    return write_text(target, data_sheet_text(target.stem, sheet))


def data_sheet_text(name: str, sheet: DataSheet) -> str:
    """Return the text of a platform.toml that loads; cranks are laid out for the best home.

    Raises:
        InputError: fields are missing, or no machine has them together; names the fields.
    """
    if sheet.legs not in KINDS:
        raise InputError(
            "legs",
            f"a data sheet describes legs of kind {' or '.join(KINDS)}; for {sheet.legs!r} leave "
            "the other options out, and edit the template",
        )
    missing = sheet.missing()
    if missing:
        raise InputError(missing[0], f"missing; a data sheet needs {', '.join(missing)}")
    sheet.check()
    choices = product(MIRRORED, ("inward", "outward")) if sheet.has_cranks else [((), "")]
    texts = [_text(name, sheet, *choice) for choice in choices]
    made, problems = [], []
    for text in texts:
        try:
            made.append((_condition(parameters_from(tomllib.loads(text), name)), text))
        except ParameterError as error:
            problems.append("; ".join(f"{field}: {message}" for field, message in error.problems))
    if not made:
        raise InputError("data sheet", f"no machine has these numbers: {problems[0]}")
    return min(made)[1]


def _condition(machine: MachineParameters) -> float:
    rows = machine.home_jacobian / np.repeat([1.0, machine.mean_arm], 3)
    return float(np.linalg.cond(rows))


def _text(name: str, sheet: DataSheet, mirrored: tuple[int, ...], branch: str) -> str:
    title = " ".join((sheet.title or "My motion platform").split())
    head = HEAD.format(name=name, title=title, text=_quoted(title), sheet=SHEET)
    legs = _cranks(sheet, mirrored, branch) if sheet.has_cranks else _actuators(sheet)
    parts = (*_joints(sheet), *_platform(sheet), *_home(sheet), *legs)
    return COMMENT.sub(lambda found: f"{found[1]:31} {found[2]}", "\n".join([head, *parts]))


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)


def _joints(sheet: DataSheet) -> Iterator[str]:
    """Yield the tables of the joints; the pairing with the shortest legs needs no `shift`."""
    for side, angle, thickness in (("base", 0, ""), ("platform", 60, sheet.platform_radius)):
        field, _ = sheet.spacing(side)
        yield f'[{side}]\nsource = "{SHEET}"'
        if thickness:
            size = estimates.PLATE * (sheet.si("platform_radius") or 0.0)
            yield f"thickness = {size:.4g}  # [m] for drawing only"
        yield f"""
[{side}.joints]  # three pairs on a circle
source = "{SHEET}"
layout = "paired_circle"
radius = {_quoted(getattr(sheet, f"{side}_radius"))}
{field} = {_quoted(getattr(sheet, f"{side}_spacing"))}  # between the joints of a pair
center_angle = "{angle} deg"  # of the middle of the first pair
"""


def _platform(sheet: DataSheet) -> Iterator[str]:
    radius, payload = sheet.si("platform_radius") or 0.0, sheet.si("payload")
    own = sheet.si("plate_mass")
    bodies = [estimates.plate(radius, own)]
    bodies += [estimates.load(payload, radius)] if payload else []
    known = [f"plate of {sheet.plate_mass}" if own else "plate of aluminium"]
    known += [f"payload of {sheet.payload} as a cylinder on it"] if payload else []
    yield _body("platform.body", estimates.together(bodies), f"Estimated: {', '.join(known)}")


def _body(table: str, body: Body, source: str) -> str:
    moments = ", ".join(f"{value:.6g}" for value in body.tensor)
    return f"""\
[{table}]
source = {_quoted(source)}
kind = "rigid"
mass = {body.mass:.6g}  # kg
center_of_mass = [0.0, 0.0, {body.center:.6g}]
inertia = [{moments}]  # kg m2, about the centre of mass
"""


def _home(sheet: DataSheet) -> Iterator[str]:
    if sheet.height is None:
        yield f'[home]\nsource = "Adopted: middle of the stroke"\nat = "{_middle(sheet)}"\n'
    else:
        yield f'[home]\nsource = "{SHEET}"\nposition = [0.0, 0.0, {_quoted(sheet.height)}]\n'


def _middle(sheet: DataSheet) -> str:
    return "mid_range" if sheet.has_cranks else "mid_stroke"


def _limits(sheet: DataSheet) -> str:
    effort = "torque" if sheet.has_cranks else "force"
    given = (("speed", sheet.speed), (effort, sheet.force))
    return "".join(
        f"{name} = {_quoted(text)}\n" if text else f"# {name} = unknown\n" for name, text in given
    )


def _range(sheet: DataSheet) -> tuple[float, float, str]:
    """Return shortest and longest length [m] of the legs, and where they are from."""
    stroke = sheet.si("stroke") or 0.0
    shortest = sheet.si("shortest")
    if shortest is not None:
        return shortest, shortest + stroke, f"{SHEET}: shortest length, and stroke added to it"
    sides = []
    for side, angle in (("base", 0.0), ("platform", np.pi / 3)):
        field, value = sheet.spacing(side)
        radius = sheet.si(f"{side}_radius") or 0.0
        joints = {"source": SHEET, "radius": radius, field: value, "center_angle": angle}
        sides.append(PairedCircle.model_validate(joints).points)
    shift = nearest_shift(sides[0], sides[1], COINCIDENT) or 0
    x, y, _ = np.roll(sides[1], shift, axis=0)[0] - sides[0][0]
    middle = float(np.linalg.norm([x, y, sheet.si("height") or 0.0]))
    source = f"{SHEET}: stroke; home at the height given is adopted as its middle"
    if middle <= 0.5 * stroke:
        raise InputError(
            "stroke",
            f"{sheet.stroke} is too long for the height {sheet.height}: legs are {middle:.4g} m "
            "long at home, so the shortest would have no length; give --shortest, or change one",
        )
    return middle - 0.5 * stroke, middle + 0.5 * stroke, source


def _actuators(sheet: DataSheet) -> Iterator[str]:
    shortest, longest, source = _range(sheet)
    mass = sheet.si("leg_mass") or estimates.leg_mass(shortest)
    known = f"leg of {sheet.leg_mass}" if sheet.leg_mass else "leg of steel and aluminium"
    length, radius = estimates.OVERLAP * shortest, estimates.SLENDER * shortest
    share = estimates.HOUSING
    yield f"""\
[leg]
source = "{SHEET}"
kind = "ups"
first_axis = "horizontal"  # of the universal joint below, perpendicular to each leg at home
"""
    housing = estimates.rod(share * mass, length, radius, 0.5 * length)
    sliding = estimates.rod((1.0 - share) * mass, length, 0.6 * radius, -0.5 * length)
    text = f"Estimated: {known}, {share:.0%} of it in the housing, as cylinders"
    yield _body("leg.housing", housing, text)
    yield _body("leg.rod", sliding, text)
    yield f"""\
[leg.actuator]  # lengths between the centres of the joints
source = {_quoted(source)}
minimum = {shortest:.9g}
maximum = {longest:.9g}
{_limits(sheet)}"""


def _cranks(sheet: DataSheet, mirrored: tuple[int, ...], branch: str) -> Iterator[str]:
    crank, length = sheet.si("crank") or 0.0, sheet.si("rod") or 0.0
    half = np.degrees(0.5 * (sheet.si("stroke") or 0.0))
    mass, known = (
        sheet.si("leg_mass"),
        f"leg of {sheet.leg_mass}" if sheet.leg_mass else "steel and aluminium",
    )
    crank_mass = 0.5 * mass if mass else estimates.leg_mass(1.5 * crank)
    yield f"""\
[leg]
source = "{SHEET}; adopted: axes, and legs in mirrored pairs"
kind = "rss"
axis = "radial"  # or "tangential", or a list of directions
zero = "horizontal"  # cranks are level at angle 0, and a growing angle lifts them
mirrored = {list(mirrored)}  # the other legs: horns the other way
branch = "{branch}"
crank_length = {_quoted(sheet.crank)}
rod_length = {_quoted(sheet.rod)}
"""
    text = f"Estimated: {known}"
    yield _body("leg.crank", estimates.rod(crank_mass, crank, 0.1 * crank, 0.5 * crank), text)
    rod_mass = 0.5 * mass if mass else 0.1 * estimates.leg_mass(length)
    yield f"[leg.rod]\nsource = {_quoted(text)}\nmass = {rod_mass:.6g}  # kg\n"
    yield f"""\
[leg.actuator]  # angles of the cranks
source = "{SHEET}; adopted: the same up and down"
minimum = "{-half:.9g} deg"
maximum = "{half:.9g} deg"
{_limits(sheet)}"""
