"""The platform.toml of a data sheet: printed numbers as they are, missing ones estimated."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np

from twin.basics.arrays import segment_distance
from twin.basics.files import write_text
from twin.errors import InputError, ParameterError
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.estimates import SHEET_SOURCE, body_table, quoted
from twin.machine.file.data_sheet.legs import joint_tables, leg_texts, middle_height, outer_radius
from twin.machine.file.data_sheet.sheet import SHEET_KINDS, DataSheet
from twin.machine.file.read import check_new, parameters_from
from twin.machine.legs.leg import COINCIDENCE_DISTANCE
from twin.machine.legs.rss import RssLeg
from twin.machine.machine import MachineParameters

HEADER_TEMPLATE = """\
# {title}
# Written by `twin new` from the numbers of a data sheet. Plain numbers are SI; a number with its
# unit is converted. Tables whose source says "Estimated" are worth measuring.
#
# Check the file at any time with:  twin info {name}.toml

name = "{name}"
title = {quoted_title}
source = "{source}"
gravity = 9.81  # m/s2, downwards along -z
"""

CRANK_WIDTH = 0.2
"""Minimum distance of the axes of two legs at home over the crank length; a crank's radius is a
tenth of its length.
"""

COMMENT_PATTERN = re.compile(r'^((?:[^#"\n]|"(?:\\.|[^"\\\n])*")+?) +(# .*)$', re.MULTILINE)
"""An entry with a comment behind it, which `sheet_text` aligns."""


def write_data_sheet(path: str | Path, sheet: DataSheet, *, replace: bool = False) -> Path:
    """Write the platform.toml of a data sheet, named after its file.

    Args:
        path: of the file.
        sheet: the numbers.
        replace: whether a file that exists is replaced.

    Raises:
        InputError: the file exists or cannot be written, fields are missing or do not fit
            together; names the fields.
    """
    target = check_new(path, replace=replace)
    return write_text(target, data_sheet_text(target.stem, sheet))


def data_sheet_text(name: str, sheet: DataSheet) -> str:
    """Return the text of a platform.toml that loads; cranks are laid out for the best home.

    Raises:
        InputError: fields are missing, or no machine has them together; names the fields.
    """
    if sheet.legs not in SHEET_KINDS:
        raise InputError(
            "legs",
            f"a data sheet describes legs of kind {', '.join(SHEET_KINDS)}, not {sheet.legs!r}",
        )
    missing_fields = sheet.missing()
    if missing_fields:
        raise InputError(
            missing_fields[0], f"missing; a data sheet needs {', '.join(missing_fields)}"
        )
    sheet.check()
    texts = [sheet_text(name, sheet, legs) for legs in leg_texts(sheet)]
    candidates, problems = [], []
    for text in texts:
        try:
            machine = parameters_from(tomllib.loads(text), name)
            candidates.append((_condition(machine), *closest_axes(machine), text))
        except ParameterError as error:
            problems.append("; ".join(f"{field}: {message}" for field, message in error.problems))
    if not candidates:
        raise InputError("data sheet", f"no machine has these numbers: {problems[0]}")
    required_distance = CRANK_WIDTH * (sheet.si("crank") or 0.0) or COINCIDENCE_DISTANCE
    separated = [candidate for candidate in candidates if candidate[1] >= required_distance]
    if not separated:
        _, distance, legs, _ = max(candidates, key=lambda entry: entry[1])
        first_leg, second_leg = legs
        options = "--horns, --horn-angle, --crank or --base-spacing"
        raise InputError(
            "crank" if sheet.has_cranks else "data sheet",
            f"legs {first_leg} and {second_leg} collide at home: their axes are {distance:.3g} m "
            f"apart, and need {required_distance:.3g} m"
            + (f"; change {options}" if sheet.has_cranks else "; move the joints apart"),
        )
    return min(separated)[3]


def closest_axes(machine: MachineParameters) -> tuple[float, tuple[int, int]]:
    """Return the least distance [m] between two legs' axes at home, and these legs' numbers.

    Legs that share a joint meet there by design and are left out; the distance is infinite where
    all pairs share one.
    """
    chains = []
    for leg, leg_geometry in zip(machine.legs, machine.home_leg_geometry, strict=True):
        elbow = (
            [leg_geometry.base + leg.home_crank(leg_geometry)] if isinstance(leg, RssLeg) else []
        )
        chains.append([leg_geometry.base, *elbow, leg_geometry.base + leg_geometry.vector])
    closest = (np.inf, (1, 2))
    for (i, first_chain), (j, second_chain) in combinations(enumerate(chains, start=1), 2):
        end_distances = np.linalg.norm(
            [first_chain[0] - second_chain[0], first_chain[-1] - second_chain[-1]], axis=1
        )
        if end_distances.min() < COINCIDENCE_DISTANCE:
            continue
        for first_segment, second_segment in product(pairwise(first_chain), pairwise(second_chain)):
            closest = min(
                closest, (float(segment_distance(*first_segment, *second_segment)), (i, j))
            )
    return closest


def _condition(machine: MachineParameters) -> float:
    """Return the condition number at home of the Jacobian per mean joint radius."""
    scaled_jacobian = machine.home_jacobian / np.repeat([1.0, machine.mean_arm], 3)
    return float(np.linalg.cond(scaled_jacobian))


def sheet_text(name: str, sheet: DataSheet, legs: str) -> str:
    """Return the text of a platform.toml with one of the sheet's candidates for its legs."""
    words = (sheet.title or "My motion platform").split()
    title = "".join(filter(str.isprintable, " ".join(words)))
    header = HEADER_TEMPLATE.format(
        name=name, title=title, quoted_title=quoted(title), source=SHEET_SOURCE
    )
    parts = (*joint_tables(sheet), *_platform(sheet), *_home(sheet), legs)
    return COMMENT_PATTERN.sub(
        lambda match: f"{match[1]:31} {match[2]}", "\n".join([header, *parts])
    )


def _platform(sheet: DataSheet) -> Iterator[str]:
    """Yield the table of the platform body: plate and payload."""
    radius, payload, moments = outer_radius(sheet), sheet.si("payload"), sheet.moments()
    plate_mass = sheet.si("plate_mass")
    bodies = [estimates.plate(radius, plate_mass)]
    bodies += [estimates.load(payload, radius)] if payload else []
    mass_basis = [f"plate of {sheet.plate_mass}" if plate_mass else "plate of aluminium"]
    mass_basis += [f"payload of {sheet.payload} as a cylinder on it"] if payload else []
    body, source = estimates.joined_bodies(bodies), f"Estimated: {', '.join(mass_basis)}"
    if sheet.hangs:
        body = body._replace(center=-body.center)
    if moments is not None:
        body, source = body._replace(tensor=np.array(moments)), f"{SHEET_SOURCE}: inertia. {source}"
    yield body_table("platform.body", body, source)


def _home(sheet: DataSheet) -> Iterator[str]:
    """Yield the table of home: at a height, or in the middle of the strokes."""
    if sheet.height is not None:
        yield f'[home]\nsource = "{SHEET_SOURCE}"\nposition = [0.0, 0.0, {quoted(sheet.height)}]\n'
    elif sheet.has_pairs:
        actuator_middle = "mid_range" if sheet.has_cranks else "mid_stroke"
        yield f'[home]\nsource = "Adopted: middle of the stroke"\nat = "{actuator_middle}"\n'
    else:
        middle = f"{middle_height(sheet):.9g}"
        yield f'[home]\nsource = "Adopted: middle of the stroke"\nposition = [0.0, 0.0, {middle}]\n'
