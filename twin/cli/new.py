"""Command new: a platform.toml from a data sheet, by options or by questions, or a template."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twin.cli.application import app
from twin.cli.console import line, paragraph
from twin.cli.options import argument, option
from twin.errors import InputError

if TYPE_CHECKING:
    from twin.machine.file.data_sheet.sheet import DataSheet

LEG_KINDS = tuple(
    sorted(path.stem for path in (Path(__file__).parents[1] / "machine" / "legs").glob("*.toml"))
)
"""Kinds of legs: the templates, so that `--help` imports none of them."""

DEFAULT_ANSWERS = {
    "base_radius": ("Radius of the base joints", "300 mm"),
    "base_spacing": ("Angle or distance of the two joints of a pair on the base", "20 deg"),
    "length": ("Distance of front and rear pillars (empty: three pillars on a circle)", ""),
    "width": ("Distance of left and right pillars (empty: three pillars on a circle)", ""),
    "platform_radius": ("Radius of the platform joints", "200 mm"),
    "platform_spacing": ("Angle or distance of the two joints of a pair on the platform", "20 deg"),
    "crank": ("Length of the cranks", "25 mm"),
    "rod": ("Length of the rods", "150 mm"),
    "stroke": ("Stroke of the actuators; of cranks, their whole angle", "150 mm"),
    "lead": ("Lead of the screws (empty: the rods' twist moves nothing)", ""),
    "shortest": ("Shortest length of a leg, joint to joint (empty: unknown)", ""),
    "height": ("Height of the platform joints at home (empty: middle of the stroke)", ""),
    "stiffness": ("Stiffness of a leg's spring", "20 N/um"),
    "damping": ("Damping beside the spring (empty: estimated)", ""),
    "speed": ("Largest speed of an actuator (empty: unknown)", ""),
    "force": ("Largest force of an actuator, or torque of a motor (empty: unknown)", ""),
    "payload": ("Mass of the payload (empty: none)", ""),
    "plate_mass": ("Mass of the plate alone (empty: estimated)", ""),
    "inertia": ("Three moments of inertia of plate and payload (empty: estimated)", ""),
    "leg_mass": ("Mass of one leg (empty: estimated)", ""),
}
"""Questions by field of a data sheet, each with the value for an empty answer."""

OPTION_NAMES = (*DEFAULT_ANSWERS, "horns", "horn_angle", "drive", "backlash")
"""Options that are fields of a data sheet; the user is not asked for the last four."""


def _known_leg_kind(legs: str | None) -> str | None:
    """Return a kind of legs; raises BadParameter if there is none of that name."""
    if legs is not None and legs not in LEG_KINDS:
        raise typer.BadParameter(f"{legs!r} is none of {', '.join(LEG_KINDS)}")
    return legs


def _value(text: str) -> Any:
    return option(text, metavar="VALUE")


Spacing = Annotated[
    str | None, _value("Joints of a pair on the base: angle ('20 deg') or distance ('60 mm').")
]
Length = Annotated[
    str | None, _value("Distance of front and rear pillars; without it, three on a circle.")
]
Horns = Annotated[
    str | None,
    option("Cranks in mirrored pairs, or all alike (rss).", metavar="mirrored|same"),
]
HornAngle = Annotated[
    str | None, _value("Cranks from the base circle's tangent: outward '90 deg', inward '-90 deg'.")
]
Drive = Annotated[str | None, option("RC servos; --force is their stall torque.", metavar="servo")]
Stiffness = Annotated[
    str | None, _value("Stiffness of a strut, or of the spring in series (viscoelastic).")
]
PlatformSpacing = Annotated[str | None, _value("Joints of a pair on the platform, likewise.")]


@app.command()
def new(
    path: Annotated[Path, argument("File to write, such as my_platform.toml.", metavar="FILE")],
    *,
    legs: Annotated[
        str | None,
        option(
            "Kind of the legs; default: ups.", metavar="|".join(LEG_KINDS), callback=_known_leg_kind
        ),
    ] = None,
    template: Annotated[
        bool, option("Write the template, without questions.", "--template")
    ] = False,
    title: Annotated[str | None, option("One line for reports.", metavar="TEXT")] = None,
    base_radius: Annotated[str | None, _value("Radius of the base joints, '300 mm'.")] = None,
    base_spacing: Spacing = None,
    platform_radius: Annotated[str | None, _value("Radius of the platform joints.")] = None,
    platform_spacing: PlatformSpacing = None,
    length: Length = None,
    width: Annotated[str | None, _value("Distance of left and right pillars.")] = None,
    stroke: Annotated[str | None, _value("Stroke, '6 in'; of cranks their whole angle.")] = None,
    horns: Horns = None,
    horn_angle: HornAngle = None,
    drive: Drive = None,
    backlash: Annotated[str | None, _value("Backlash of the servos, '0.5 deg'.")] = None,
    replace_file: Annotated[bool, option("Replace a file that exists.", "--replace")] = False,
    shortest: Annotated[str | None, _value("Shortest leg, joint to joint.")] = None,
    lead: Annotated[str | None, _value("Lead of the screws (upu), '5 mm'.")] = None,
    height: Annotated[
        str | None, _value("Height of the platform joints at home; default: mid-stroke.")
    ] = None,
    crank: Annotated[str | None, _value("Length of the cranks (rss).")] = None,
    rod: Annotated[str | None, _value("Length of the rods (rss).")] = None,
    stiffness: Stiffness = None,
    damping: Annotated[str | None, _value("Damping beside it; default: estimated.")] = None,
    speed: Annotated[str | None, _value("Largest speed, '8 in/s' or '60 rpm'.")] = None,
    force: Annotated[
        str | None, _value("Largest force, '500 lbf'; of cranks the torque, '9 kgf cm'.")
    ] = None,
    payload: Annotated[str | None, _value("Mass of the payload.")] = None,
    plate_mass: Annotated[str | None, _value("Mass of the plate alone.")] = None,
    inertia: Annotated[
        str | None, _value("Three moments of plate and payload, '2 kg m2, 2 kg m2, 3 kg m2'.")
    ] = None,
    leg_mass: Annotated[str | None, _value("Mass of one leg.")] = None,
) -> None:
    """Write a platform.toml from a data sheet, by options or questions; else a template."""
    known_names = (*OPTION_NAMES, "title")
    data_fields = {name: value for name, value in locals().items() if name in known_names}
    has_data = any(data_fields.values()) or (legs is None and not template and _on_a_terminal())
    if template or not has_data:
        from twin.machine.file.read import write_template

        machine_file = write_template(path, legs or "ups", replace=replace_file)
        line(f"wrote {machine_file}, a template: fill in your numbers")
    else:
        machine_file = _from_data_sheet(path, legs, data_fields, replace_file)
    line(f"next: twin info {machine_file}")
    line(f"      twin feasible {machine_file}")


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _from_data_sheet(
    path: Path, legs: str | None, answers: dict[str, str | None], replace_file: bool
) -> Path:
    """Write the machine of a data sheet, and ask for what is missing on a terminal."""
    from twin.cli.values import renamed_fields
    from twin.machine.file.data_sheet.sheet import DataSheet
    from twin.machine.file.data_sheet.text import write_data_sheet
    from twin.machine.file.read import check_new

    check_new(path, replace=replace_file)
    sheet = DataSheet(legs=legs or "ups", **answers)
    if _on_a_terminal() and sheet.missing():
        sheet = _ask_for_missing(sheet, legs)
    option_names = {name: f"--{name.replace('_', '-')}" for name in OPTION_NAMES}
    if missing := [option_names[name] for name in sheet.missing()]:
        others = f"; also needed: {', '.join(missing[1:])}" if missing[1:] else ""
        raise InputError(missing[0], f"missing{others}")
    with renamed_fields(legs="--legs", **option_names):
        machine_file = write_data_sheet(path, sheet, replace=replace_file)
    line(f"wrote {machine_file}")
    paragraph(
        "Inertia and masses that were not given are estimated; their `source` says so. Measure "
        "them, or take them from a drawing, before you rely on forces."
    )
    return machine_file


def _ask_for_missing(sheet: DataSheet, legs: str | None) -> DataSheet:
    """Return a data sheet completed with the user's answers."""
    if legs is None:
        leg_kind = typer.prompt(
            f"Kind of the legs: {', '.join(LEG_KINDS)}", "ups", value_proc=_kind
        )
        sheet = _with_answer(sheet, "legs", leg_kind)
    for name, (question, default) in DEFAULT_ANSWERS.items():
        if getattr(sheet, name) is not None or not sheet.takes(name):
            continue
        if name == "platform_radius" and sheet.length is not None:
            continue
        suggestion = "90 deg" if name == "stroke" and sheet.has_cranks else default
        answer = typer.prompt(question, suggestion, value_proc=_checked(sheet, name))
        sheet = _with_answer(sheet, name, answer)
    return sheet


def _with_answer(sheet: DataSheet, name: str, answer: str) -> DataSheet:
    change: dict[str, Any] = {name: answer or None}
    return replace(sheet, **change)


def _kind(answer: str) -> str:
    if answer not in LEG_KINDS:
        raise typer.BadParameter(f"one of {', '.join(LEG_KINDS)}")
    return answer


def _checked(sheet: DataSheet, name: str) -> Callable[[str], str]:
    """Return a function that returns an answer if it is a number with the right unit."""

    def check(answer: str) -> str:
        text = answer.strip()
        sheet_with_answer = _with_answer(sheet, name, text)
        try:
            if text and name.endswith("_spacing"):
                sheet_with_answer.spacing(name.removesuffix("_spacing"))
            elif text and name == "inertia":
                sheet_with_answer.moments()
            elif text:
                sheet_with_answer.si(name)
            elif name in sheet_with_answer.missing() and name != "shortest":
                raise InputError(name, "is needed")
        except InputError as error:
            raise typer.BadParameter(error.message) from None
        return text

    return check
