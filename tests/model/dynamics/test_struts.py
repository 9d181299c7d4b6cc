"""Struts are UPS legs with a spring and a damper beside the actuator, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from paths import poses_near
from scales import scale_of
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.machine import MachineParameters

Array = NDArray[np.float64]

CLOSE = 1e-13
"""Relative to the largest of the forces that are added."""


class Pair(NamedTuple):
    """A machine on struts, and one of the same bodies on legs without springs."""

    struts: Platform
    plain: Platform
    pose: Array
    twist: Array

    def axial(self, name):
        """Return a number of each leg's spring `(n,)`."""
        return np.array([getattr(leg.axial, name) for leg in self.struts.parameters.legs])

    @property
    def rest_lengths(self):
        """Lengths `(n,)` without spring force: those at home unless the file gives them."""
        given = [leg.axial.rest_length for leg in self.struts.parameters.legs]
        pairs = zip(given, self.struts.home_coordinates, strict=True)
        return np.array([home if rest is None else rest for rest, home in pairs])

    @property
    def pull(self):
        """Forces `(k, n)` of springs and dampers on the rods: k (l0 - l) - c l'."""
        lengths = self.struts.inverse_kinematics(self.pose)
        rates = np.einsum("kij,kj->ki", self.struts.jacobian(self.pose), self.twist)
        stretch = self.rest_lengths - lengths
        return self.axial("stiffness") * stretch - self.axial("damping") * rates


@pytest.fixture(scope="module", params=["catalogue", "lopsided"])
def pair(request):
    """The positioning hexapod, and a machine whose springs differ and are not relaxed at home."""
    struts = twin.load("micro_hexapod")
    if request.param == "lopsided":
        struts = Platform(machine_without_symmetry("strut"))
    content = struts.parameters.model_dump()
    for table in (content["leg"], *(variant["leg"] for variant in content["variant"])):
        del table["axial"]
        table["kind"] = "ups"
    plain = Platform(MachineParameters.model_validate(content))
    pose = poses_near(struts, 100, 71)
    twist = 0.3 * scale_of(struts).twist * np.random.default_rng(72).normal(size=(100, 6))
    return Pair(struts, plain, pose, twist)


def close(found, expected, scale):
    assert_within(found, expected, CLOSE * scale)


def test_forward_dynamics_is_that_under_the_springs_forces(pair):
    """The forces are added in another order: rounding of the sum, through the mass matrix."""
    forces = scale_of(pair.struts).effort * np.random.default_rng(73).normal(size=(100, 6))
    found = pair.struts.forward_dynamics(pair.pose, pair.twist, forces)
    expected = pair.plain.forward_dynamics(pair.pose, pair.twist, forces + pair.pull)
    inverse = np.abs(np.linalg.inv(pair.struts.mass_matrix(pair.pose)))
    jacobian = np.abs(pair.struts.jacobian(pair.pose)).transpose(0, 2, 1)
    terms = inverse @ jacobian @ np.abs(pair.pull)[..., None]
    assert (np.abs(found - expected) <= CLOSE * terms[..., 0]).all()


def test_inverse_dynamics_leaves_the_springs_share_out(pair):
    acceleration = np.random.default_rng(74).normal(size=(100, 6))
    found = pair.struts.inverse_dynamics(pair.pose, pair.twist, acceleration)
    expected = pair.plain.inverse_dynamics(pair.pose, pair.twist, acceleration) - pair.pull
    condition = pair.struts.condition_number(pair.pose).max()
    close(found, expected, condition * max_abs(pair.pull))


def test_energy_and_mass(pair):
    assert_array_equal(pair.struts.mass_matrix(pair.pose), pair.plain.mass_matrix(pair.pose))
    kinetic, potential = pair.struts.energy(pair.pose, pair.twist)
    plain_kinetic, plain_potential = pair.plain.energy(pair.pose, pair.twist)
    assert_array_equal(kinetic, plain_kinetic)
    stretch = pair.struts.inverse_kinematics(pair.pose) - pair.rest_lengths
    stored = 0.5 * (pair.axial("stiffness") * stretch**2).sum(axis=1)
    close(potential, plain_potential + stored, max_abs(potential))
    rates = np.einsum("kij,kj->ki", pair.struts.jacobian(pair.pose), pair.twist)
    lost = (pair.axial("damping") * rates**2).sum(axis=1)
    close(pair.struts.dissipation(pair.pose, pair.twist), lost, lost.max())
    assert_array_equal(pair.plain.dissipation(pair.pose, pair.twist), 0.0)
