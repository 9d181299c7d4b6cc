"""Every kind of leg has all its parts, and a new kind is a module and one entry of the list."""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from shipped import machine_of_kind

from twin.machine.file.read import template
from twin.machine.legs import LEG_KINDS, leg
from twin.machine.mechanism import drawing

pytestmark = pytest.mark.quick

FOLDER = Path(leg.__file__).parent

LAMP = """
from typing import Literal

from twin.machine.legs.ups import UPS_KIND
from twin.machine.legs.ups.parameters import UpsLeg


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
from twin.engines.mjcf.robot import robot_xml

lit, plain = (twin.load(path) for path in machines)
assert (lit.kind, lit.n_actuators, lit.leg.is_straight) == ("lamp", plain.n_actuators, True)
np.testing.assert_array_equal(lit.constants.legs.rows, plain.constants.legs.rows)
np.testing.assert_allclose(lit.constants.body[0], plain.constants.body[0] + 12.0)
assert robot_xml(lit).count("leg_1_rod") == robot_xml(plain).count("leg_1_rod") > 0
"""
"""What else uses it: nothing but the machine's file."""


def test_every_template_is_listed():
    assert {file.stem for file in FOLDER.glob("*.toml")} == set(LEG_KINDS)


def test_every_kind_has_all_parts(subtests):
    for kind in LEG_KINDS:
        with subtests.test(f"{kind}"):
            own, parameters = LEG_KINDS[kind], machine_of_kind(kind)
            assert own.parameters.model_fields["kind"].default == kind
            assert f'"{kind}"' in template("new", kind)
            equations = import_module(f"twin.kernels.legs.{own.parameters.equations}")
            assert find_spec(f"twin.machine.legs.{kind}") and equations.LEG_SIZE > 0
            base, top = parameters.base.joints.points, parameters.platform.joints.points
            look = drawing(base, top, parameters.platform.thickness, own.ends(parameters.leg))
            for one, place in zip(parameters.legs, parameters.home_leg_geometry, strict=True):
                assert isinstance(one, own.parameters)
                assert all(np.isfinite(value).all() for value in own.constants(one, place).values())
                assert own.home_frame(one, place).shape == (9,)
                made = own.make_leg(one, place, look)
                assert made.bodies and made.joints and made.actuator.joint in made.joints
                assert bool(made.deflection) is one.has_series_spring
                spring = one.spring(place)
                assert (spring.stiffness > 0.0) is one.has_spring
                assert one.mass > one.platform_mass and one.reach > 0.0


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
