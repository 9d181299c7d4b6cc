"""The tables on compliant legs in docs/reproductions.md hold what the code gives."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
from compliant_held import held_equilibrium, held_linearisation
from package_walk import MODULES

import twin
from twin.machine.payload import Occupant, Wheelchair, seated_on
from twin.papers.compliant_legs.equations import rest_lengths
from twin.papers.compliant_legs.machine import from_parameters
from twin.papers.compliant_legs.rest import (
    locked_equilibrium,
    locked_linearisation,
    modes_of,
    run_load_cases,
    standard_load_cases,
)
from twin.rotations import pose_from_angles

TEXT = (Path(twin.__file__).parents[1] / "docs" / "reproductions.md").read_text(encoding="utf-8")
PAGE = TEXT.partition("## Compliant legs\n")[2].partition("\n## ")[0]


def table(name):
    """Return the cells of the table after a comment of that name."""
    lines = PAGE.split(f"<!-- {name} -->\n")[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def agrees(cell, number):
    """Return whether a printed number is the number to its last digit."""
    digits = len(cell.partition(".")[2])
    return abs(float(cell) - number) <= 0.51 * 10.0**-digits


def test_modes_are_as_printed(shipped):
    at = locked_equilibrium(shipped, shipped.home_extension)
    found = modes_of(locked_linearisation(shipped, at))
    rows = table("modes")
    assert len(rows) == 6
    damped = found.eigenvalues.imag[found.eigenvalues.imag > 0.0] / (2.0 * np.pi)
    columns = (found.frequencies, damped, found.damping_ratios)
    for row, *numbers in zip(rows, *columns, strict=True):
        assert all(map(agrees, row[1:], numbers)), row
    assert f"below 2 % after {found.settling_time:.2f} s." in PAGE
    sag = (shipped.home - at.pose)[2]
    assert (
        f"rests {1e3 * sag:.2f} mm lower, with every spring {-1e3 * at.deflection[0]:.2f} mm"
        in PAGE
    )
    assert f"{at.forces[0]:.1f} N in every actuator" in PAGE
    held = modes_of(held_linearisation(shipped, held_equilibrium(shipped, shipped.home)))
    assert f"at {held.frequencies[-1]:.2f} Hz" in PAGE
    assert f"damping ratio of {held.damping_ratios[-1]:.3f}" in PAGE
    tipping = held.growth[held.growth > 0.0]
    assert f"at rates of {tipping.min():.1f} to {tipping.max():.1f} 1/s" in PAGE
    longer = rest_lengths(shipped, shipped.home, shipped.home_extension).rest_lengths
    assert f"With rest lengths of {longer[0]:.4f} m instead of 0.16 m" in PAGE


def test_load_cases_are_as_printed(shipped):
    pose = pose_from_angles([0.02, -0.03, 0.87], [0.1, -0.15, 0.2], "compliant")
    extension = shipped.home_extension
    designed = rest_lengths(shipped, pose, extension).rest_lengths
    machine = replace(shipped, spring_length=designed)
    start = locked_equilibrium(machine, extension, guess=pose)
    rows = table("load cases")
    cases = [case for case in standard_load_cases() if case.frame == "base"]
    for row, response in zip(rows, run_load_cases(machine, cases, start), strict=True):
        assert row[:2] == [response.case.kind, response.case.axis]
        numbers = [*(1e3 * response.quasi_static)]
        assert all(map(agrees, row[2:], numbers)), row


def test_occupants_are_as_printed():
    chair = Wheelchair()
    occupants = {
        "none": None,
        "man, 1.75 m, 75 kg": Occupant(1.75, 75.0),
        "the same in a wheelchair": Occupant(1.75, 75.0, wheelchair=chair),
        "woman, 1.62 m, 60 kg, in a wheelchair": Occupant(1.62, 60.0, "female", wheelchair=chair),
    }
    parameters = twin.load("compliant_stewart").parameters
    for row, (name, occupant) in zip(table("occupants"), occupants.items(), strict=True):
        assert row[0] == name
        machine, settled, modes = seated(parameters, occupant)
        sag = (machine.home - settled.pose)[2]
        numbers = [machine.platform_mass, machine.platform_center[2], 1e3 * sag, *modes.frequencies]
        numbers += [modes.damping_ratios[0], modes.settling_time]
        assert all(map(agrees, row[1:], numbers)), row


def seated(parameters, occupant):
    """Return the machine that carries an occupant, its equilibrium and its modes."""
    machine = from_parameters(seated_on(parameters, occupant) if occupant else parameters)
    settled = locked_equilibrium(machine, machine.home_extension)
    return machine, settled, modes_of(locked_linearisation(machine, settled))


def test_every_function_named_on_the_page_exists():
    package = "twin.papers.compliant_legs."
    modules = [import_module(name) for name in MODULES if name.startswith(package)]
    named = set(re.findall(r"`((?:solve|run|rest|locked|held)_\w+)`", PAGE))
    assert named
    assert named <= {name for module in modules for name in vars(module)}
