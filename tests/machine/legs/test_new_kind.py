"""Every kind of leg has all its parts, and a new kind is a module and one entry of the list."""

import subprocess
import sys
from pathlib import Path

import pytest

from twin.machine.file.read import template
from twin.machine.legs import LEG_KINDS, leg

pytestmark = pytest.mark.quick

FOLDER = Path(leg.__file__).parent

LAMP = """
from typing import Literal

from twin.machine.legs.ups import UPS_KIND
from twin.machine.legs.ups import UpsLeg


class LampLeg(UpsLeg):
    kind: Literal["lamp"] = "lamp"
    lamp_mass: float

    @property
    def platform_mass(self):
        return self.lamp_mass


LAMP = UPS_KIND._replace(parameters=LampLeg)
"""
"""A folder: UPS legs with a lamp on the platform joint."""

LINE = '    "lamp": __import__("twin.machine.legs.lamp", fromlist=["LAMP"]).LAMP,\n'
"""The line that lists it."""

USE = """
import sys
from importlib.machinery import PathFinder, SourceFileLoader

import numpy as np

folder, line, *machines = sys.argv[1:]


class Listing(SourceFileLoader):
    def get_code(self, name):
        before, mark, after = self.get_source(name).partition('    "pillar"')
        assert mark
        return compile(before + line + mark + after, self.path, "exec")


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "twin.machine.legs":
            return None
        spec = super().find_spec(name, path, target)
        spec.loader = Listing(name, spec.origin)
        spec.submodule_search_locations.append(folder)
        return spec


sys.meta_path.insert(0, Finder)
import twin
from twin.engines.mjcf import robot_xml

lit, plain = (twin.load(path) for path in machines)
assert (lit.kind, lit.n_actuators, lit.leg.is_straight) == ("lamp", plain.n_actuators, True)
np.testing.assert_array_equal(lit.constants.legs.rows, plain.constants.legs.rows)
np.testing.assert_allclose(lit.constants.body[0], plain.constants.body[0] + 12.0)
assert robot_xml(lit).count("leg_1_rod") == robot_xml(plain).count("leg_1_rod") > 0
"""
"""What else uses it: nothing but the machine's file."""


def test_every_template_is_listed():
    assert {file.stem for file in FOLDER.glob("*.toml")} == set(LEG_KINDS)


@pytest.mark.slow
def test_a_new_kind_takes_a_folder_and_a_line(tmp_path):
    (tmp_path / "lamp").mkdir()
    (tmp_path / "lamp" / "__init__.py").write_text(LAMP)
    text = template("machine", "ups")
    plain, lit = tmp_path / "plain.toml", tmp_path / "lit.toml"
    plain.write_text(text)
    lit.write_text(text.replace('kind = "ups"', 'lamp_mass = 2.0\nkind = "lamp"', 1))
    command = [sys.executable, "-c", USE, str(tmp_path), LINE, str(lit), str(plain)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
