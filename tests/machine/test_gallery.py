"""Machines of the gallery: they load, hold themselves and move; each number has a source."""

import re
import tomllib

import numpy as np
import pytest
from package_walk import ROOT
from tolerance import max_abs

import twin
from twin.control.cascade import Cascade
from twin.errors import MachineNotFoundError
from twin.machine.machine import gallery_names, machine_names, parameters_path

pytestmark = pytest.mark.quick

GALLERY = gallery_names()


def test_the_gallery_is_beside_the_shipped_machines():
    assert len(GALLERY) >= 10
    assert not set(GALLERY) & set(machine_names())
    assert {twin.load(name).kind for name in GALLERY} >= {"ups", "rss", "strut", "rps", "rrs"}
    assert {twin.load(name).n_actuators for name in GALLERY} == {3, 6, 8}


def test_an_unknown_name_suggests_machines_of_both():
    with pytest.raises(MachineNotFoundError, match="did you mean 'lsst_m2'") as caught:
        twin.load("lsst_m1")
    assert caught.value.known == machine_names()
    assert caught.value.gallery == GALLERY
    with pytest.raises(MachineNotFoundError, match="known machines") as caught:
        twin.load("nosuch")
    assert all(name in str(caught.value) for name in (*machine_names(), *GALLERY))


@pytest.mark.parametrize("name", GALLERY)
def test_every_number_is_public_or_adopted(name):
    content = tomllib.loads(parameters_path(name).read_text(encoding="utf-8"))
    assert content["name"] == name
    sources = list(_sources(content))
    assert "Adopted" in " ".join(sources)
    assert any(not source.startswith("Adopted") for source in sources)
    assert not [source for source in sources if re.search("https?:", source)]


@pytest.mark.parametrize("name", ["esp32_servo", "sg90_servo"])
def test_servos_hold_their_platform(name):
    """It sags by what the servos need for their torque: measured 0.07 and 0.002 mm."""
    platform = twin.load(name, "hardware")
    run = platform.simulate(0.2, controller=Cascade(platform), timestep=5e-4, fidelity="fast")
    assert not run.stopped
    assert np.abs(run.pose - platform.home)[:, :3].max() < 1e-4
    assert max_abs(run.twist[-1]) < 1e-3


def test_both_tables_of_the_page_list_every_machine():
    page = (ROOT / "docs" / "machines.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE) == 2 * list(GALLERY)


def _sources(table):
    if isinstance(table, list):
        for entry in table:
            yield from _sources(entry)
    elif isinstance(table, dict):
        if "source" in table:
            yield table["source"]
        for entry in table.values():
            yield from _sources(entry)
