"""Tables typed from the papers: complete, independent of the machines' files, and met by them."""

from pathlib import Path

import numpy as np
import pytest
from case_outcomes import failed
from tolerance import assert_within

import twin
from twin.machine.machine import machine_names
from twin.validation.cases import load_case
from twin.validation.cases.machine_data import composition
from twin.validation.cases.machine_data.composition import Composition, joints, solid, tube
from twin.validation.published.machines import MACHINE_NAMES, typed_numbers

pytestmark = pytest.mark.quick


def test_every_machine_of_the_catalogue_has_a_table():
    assert set(MACHINE_NAMES) == set(machine_names())


@pytest.mark.parametrize("name", MACHINE_NAMES)
def test_every_number_has_its_place(name):
    tables = {key: table for key, table in typed_numbers(name).items() if key != "legs"}
    assert len(tables) > 6
    assert all(table["place"] for table in tables.values())


def test_the_second_derivation_uses_nothing_of_the_first():
    source = Path(str(composition.__file__)).read_text()
    assert "import numpy" in source and "from twin" not in source and "import twin" not in source


@pytest.mark.parametrize("name", MACHINE_NAMES)
def test_machines_have_the_numbers_of_their_papers(name):
    result = load_case("machine_data").run(twin.load(name))
    assert not failed(result.measures)
    assert len(result.measures) > 12
    assert result.tables[0].rows


def test_printed_joints_of_the_thesis():
    """Appendix A.2 prints what the angles of A.1 give, to four decimals."""
    typed = typed_numbers("stewart")
    first = joints(typed["base_joints"])[0], joints(typed["platform_joints"])[0]
    assert_within(first[0], [0.5701, -0.2692, 0.0], 5e-5)
    assert_within(first[1], [0.1445, -0.4050, 0.0], 5e-5)


def test_tubes_and_discs():
    """A thin tube has m r^2 about its axis, a slender rod m L^2 / 12 across."""
    mass, tensor = tube({"mass": 2.0, "outer": 0.1, "inner": 0.0999999, "length": 1e-6})
    assert mass == pytest.approx(2.0)
    assert tensor[2, 2] == pytest.approx(2.0 * 0.1**2, rel=1e-5)
    assert solid(3.0, 1e-9, 2.0)[0, 0] == pytest.approx(1.0)


def test_derivatives_are_those_of_differences():
    """Centres move as their rates say: central differences over a micrometre."""
    own = Composition(typed_numbers("rss"))
    slopes, step = own.derivatives(own.origin).centers, 1e-5
    for k, along in enumerate(step * np.eye(6)):
        ahead = np.array([piece.center for piece in own.pieces(along)])
        behind = np.array([piece.center for piece in own.pieces(-along)])
        assert_within((ahead - behind) / (2.0 * step), slopes[:, :, k], 1e-8)
