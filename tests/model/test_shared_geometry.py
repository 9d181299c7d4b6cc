"""Machines that take the geometry of another one over are those that are made anew."""

import pytest
from numpy.testing import assert_array_equal

import twin
from twin.machine.randomisation import nominal_value, with_values
from twin.model.machine_model import MachineModel

pytestmark = pytest.mark.quick

HEAVIER = {"platform.body.mass": 1.1}
CHANGES = {
    "stewart": {"leg.2.housing.mass": 1.3, "leg.drive.delay": 0.5, **HEAVIER},
    "compliant_stewart": {"leg.stiffness": 0.9, "leg.4.damping": 1.2, **HEAVIER},
    "rss": {"leg.crank.density": 1.2, "leg.rod_length": 1.001, **HEAVIER},
    "driving_simulator": {"leg.foot_mass": 2.0, "gravity": 0.5, **HEAVIER},
}
"""Machine -> factors on its numbers, among them some that geometry depends on."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_machine_is_the_same_with_and_without_another_one(name):
    nominal = twin.load(name, "hardware") if name == "stewart" else twin.load(name)
    for path, factor in CHANGES[name].items():
        values = {path: factor * nominal_value(nominal.parameters, path)}
        parameters = with_values(nominal.parameters, values)
        like, anew = MachineModel(parameters, like=nominal), MachineModel(parameters)
        assert vars(like).keys() == vars(anew).keys()
        assert like.hash == anew.hash != nominal.hash
        for attribute, value in vars(anew).items():
            if attribute == "constants":
                assert type(like.constants.legs) is type(value.legs)
                assert_array_equal(like.constants.legs.rows, value.legs.rows)
                assert_array_equal(like.constants.body, value.body)
                assert_array_equal(like.constants.home, value.home)
            else:
                assert_array_equal(getattr(like, attribute), value)
