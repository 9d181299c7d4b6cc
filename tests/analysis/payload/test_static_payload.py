"""Largest payloads at rest: the thesis's search, its exact limit, and machines of other kinds."""

from __future__ import annotations

import itertools
import json
import re
from typing import NamedTuple

import numpy as np
import pytest
from console import console
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.payload.body import mass_steps, scaled_payload
from twin.analysis.payload.dynamic import static_figure
from twin.analysis.payload.static import (
    Positions,
    grid_positions,
    static_payload,
)
from twin.analysis.stiffness import with_gravity
from twin.model.machine_base import ZERO_VECTOR


class Searched(NamedTuple):
    """A machine with a limit and masses that suit it."""

    name: str
    limit: float | None
    start: float
    step: float


SEARCHED = (
    Searched("stewart", None, 600.0, 50.0),
    Searched("srspm", 500.0, 10.0, 5.0),
    Searched("rss", 2000.0, 100.0, 20.0),
    Searched("driving_simulator", 2000.0, 100.0, 50.0),
)

each = pytest.mark.parametrize("case", SEARCHED, ids=[case.name for case in SEARCHED])


def search(case, **options):
    """Return a machine and what a search on it finds."""
    machine = twin.load(case.name)
    given = {"limit": case.limit, "start": case.start, "step": case.step, "grid": 3}
    return machine, static_payload(machine, **given | options)


def held(machine, mass, poses):
    """Return the static forces `(k, n)` of a machine that carries a mass, on its own."""
    return scaled_payload(machine, mass).inverse_dynamics(poses, ZERO_VECTOR, ZERO_VECTOR)


@pytest.mark.parametrize("sense", ["magnitude", "signed"])
def test_published_search_is_reproduced(stewart, sense):
    found = static_payload(stewart, sense=sense)
    assert (found.passes_kg, found.fails_kg) == (700.0, 750.0)
    assert found.first_failure is not None
    assert found.first_failure == pytest.approx([0, 0, 0.23 / 3, 0, 0.23, 0.23], abs=1e-12)
    assert found.exact_limit_kg == pytest.approx(704.5805, abs=1e-4)
    assert not found.skipped


def test_positions_are_those_of_nested_loops(stewart):
    steps = np.linspace(0.0, 0.23, 3)
    expected = np.array(list(itertools.product(steps, repeat=6)))
    positions = grid_positions(stewart, np.linspace(0.0, 1.0, 3))
    assert_within(positions.extensions, expected, 1e-15)
    lengths = stewart.inverse_kinematics(positions.poses) - stewart.minimum_coordinates
    assert_within(lengths, expected, 1e-12)


@each
def test_exact_limit_is_where_the_first_actuator_gives_up(subtests, case):
    for sense in ["magnitude", "signed"]:
        with subtests.test(f"{sense}"):
            machine, found = search(case, sense=sense)
            forces = held(machine, found.exact_limit_kg, found.poses)
            sizes = np.abs(forces) if sense == "magnitude" else forces
            assert sizes.max() == pytest.approx(found.limits[0], rel=1e-9)
            worst = np.abs(found.extensions - found.exact_position).max(axis=1).argmin()
            assert sizes[worst, found.exact_leg - 1] == pytest.approx(found.limits[0], rel=1e-9)


@each
def test_steps_are_those_of_a_search_mass_by_mass(case):
    machine, found = search(case)
    mass = case.start
    while True:
        over = (np.abs(held(machine, mass, found.poses)) > found.limits).any(axis=1)
        if over.any():
            break
        mass += case.step
    assert (found.passes_kg, found.fails_kg) == (mass - case.step, mass)
    assert np.array_equal(found.first_failure, found.extensions[over.argmax()])


def test_redundant_pillars_follow(driving):
    positions = grid_positions(driving, np.linspace(0.0, 1.0, 4))
    assert positions.skipped > 0
    assert len(positions.poses) + positions.skipped == 4**3
    lengths = driving.inverse_kinematics(positions.poses) - driving.minimum_coordinates
    assert_within(lengths, positions.extensions, 1e-12)


@pytest.fixture
def driving():
    """Return the machine with more actuators than degrees of freedom."""
    return twin.load("driving_simulator")


def test_largest_force_grows_through_the_limit(stewart):
    found = static_payload(stewart)
    forces = found.largest_force([600.0, found.exact_limit_kg, 750.0])
    assert forces[0] < 3073.0 < forces[2]
    assert forces[1] == pytest.approx(3073.0, rel=1e-12)
    figure = static_figure(stewart, found)
    assert len(figure.data) == 4


def test_legs_too_heavy_for_their_actuators_hold_nothing(stewart):
    found = static_payload(stewart, limit=20.0)
    assert found.exact_limit_kg == 0.0
    assert found.passes_kg is None
    assert found.fails_kg == 50.0


def test_zero_is_no_mass_that_holds():
    """0.9 less three steps of 0.3 is 1e-16 in double precision, and no mass to hold."""
    passes, fails = mass_steps(0.1, 0.9, 0.3)
    assert passes is None
    assert fails == pytest.approx(0.3)


def test_what_cannot_be_searched_is_told():
    assert_all_refused(
        lambda name, options: static_payload(twin.load(name), **options),
        [
            ("compliant_stewart", {}, "give way"),
            ("rss", {}, "gives no largest N m"),
            ("stewart", {"limit": -1.0}, "above zero"),
            ("stewart", {"limit": [1.0, 2.0]}, "6 numbers"),
            ("stewart", {"grid": 1}, "grid"),
            ("stewart", {"grid": 12}, "use fewer"),
            ("stewart", {"sense": "push"}, "known: magnitude, signed"),
            ("stewart", {"start": 0.0}, "start"),
        ],
    )


def test_without_gravity_there_is_no_limit(stewart):
    with refused("weighs nothing"):
        static_payload(with_gravity(stewart, 0.0))


def test_shares_outside_the_stroke_are_told(stewart):
    assert_all_refused(
        lambda shares: grid_positions(stewart, shares),
        [(shares, "shares") for shares in ([], [0.5, 1.5], [[0.5]], [-0.1])],
    )


def test_no_position_at_all_is_told(driving):
    assert isinstance(grid_positions(driving, [0.5]), Positions)
    with refused("mass"):
        static_payload(driving, limit=2000.0).largest_force(600.0)


def test_command_writes_what_it_prints(tmp_path):
    file, page = tmp_path / "payload.json", tmp_path / "payload.html"
    arguments = ["payload", "stewart", "--json", str(file), "--report", str(page)]
    result = console(*arguments)
    assert re.search("704.581 +607.581", result.output)
    assert "with the platform's own 97 kg" in result.output
    content = json.loads(file.read_text())
    assert (content["passes_kg"], content["dynamic"]) == (700, None)
    assert "plotly-graph-div" in page.read_text()
