"""Tables typed from the papers: complete, independent of the machines' files, and met by them."""

from pathlib import Path

import pytest
from case_outcomes import failed
from tolerance import assert_within

import twin
from twin.machine.machine import machine_names
from twin.validation.cases import load_case
from twin.validation.cases.machine_data import composition
from twin.validation.cases.machine_data.composition import joints
from twin.validation.published import MACHINE_NAMES, typed_numbers

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
