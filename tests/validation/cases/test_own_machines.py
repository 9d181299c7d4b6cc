"""Machines of one's own: templates of every kind, unequal legs, more legs than dof."""

from pathlib import Path

import pytest
from case_outcomes import failed
from redundant import redundant_machine
from shipped import shipped_content

from twin.analysis.platform import Platform, load
from twin.machine.file.read import parameters_from, write_template
from twin.machine.legs import LEG_KINDS
from twin.validation.cases import load_case
from twin.validation.cases.workspace import plate_measures

CHECKED = ("reference", "projection", "free_fall", "driven_motion")
"""Cases that see all of a machine: its equations, its models in the engines, and its motion."""


def unequal(name):
    """Return a machine of the catalogue two of whose legs are heavier than the others."""
    content = shipped_content(name)
    content.pop("fidelity", None)
    changes = {
        "stewart": {"rod": {"mass": 14.0}},
        "rss": {"rod": {"radius": 0.008}},
        "compliant_stewart": {"stiffness": 40e3, "follower_mass": 6.0},
        "micro_hexapod": {"axial": {"stiffness": 1.5e7}},
        "driving_simulator": {"upper_mass": 20.0},
    }
    source = {"source": "Test", "legs": [2, 3]}
    content |= {"name": "unequal", "variant": [source | changes[name]]}
    return Platform(parameters_from(content, Path("unequal.toml")))


def check(platform, cases=CHECKED):
    """Check that a machine passes."""
    for key in cases:
        assert not failed(load_case(key).run(platform).measures), key


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEG_KINDS)
def test_a_template_passes_as_it_is_written(kind, tmp_path):
    pytest.importorskip("pybullet")
    file = tmp_path / "mine.toml"
    write_template(file, kind)
    # Unequal legs below move; a template is right if its equations and its models are.
    check(load(file), ("reference", "projection"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["stewart", "rss", "compliant_stewart", "micro_hexapod", "driving_simulator"]
)
def test_legs_may_be_unequal(name):
    pytest.importorskip("pybullet")
    check(unequal(name))


@pytest.mark.slow
def test_legs_may_be_more_than_degrees_of_freedom():
    pytest.importorskip("pybullet")
    check(redundant_machine(8))


@pytest.mark.quick
def test_pillars_of_another_plate_have_no_closed_form(tmp_path):
    """Three pillars; the paper's plate has four below a rectangle."""
    platform = load(write_template(tmp_path / "three.toml", "pillar"))
    never_used = None
    assert list(plate_measures(platform, never_used, ())) == []
