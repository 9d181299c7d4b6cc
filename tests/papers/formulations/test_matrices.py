"""Matrices and operation counts: Lagrange's equations, shapes, and what is counted."""

import math

import numpy as np
import pytest
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

from twin.analysis.platform import Platform
from twin.papers.formulations.formulation import Counted
from twin.papers.formulations.model import CoefficientMatrices, coriolis

pytestmark = pytest.mark.quick


def tilted(machine):
    pose = machine.home.copy()
    pose[:3] += [0.01, -0.02, 0.015]
    pose[3:] = np.array([1.0, 0.05, -0.04, 0.06]) / np.sqrt(1.0077)
    return np.asarray(pose)


@pytest.fixture(scope="module", params=["ups", "cranks"])
def matrices(request):
    kind = "ups" if request.param == "ups" else "rss"
    return CoefficientMatrices(Platform(machine_without_symmetry(kind)))


def rates_of(matrices, pose, twist):
    """Return rates of the extended coordinates `(24,)` by differences along a motion."""
    step = 1e-6
    ends = []
    for way in (step, -step):
        moved = pose.copy()
        moved[:3] += way * twist[:3]
        w, v = pose[3], pose[4:]
        moved[3] -= 0.5 * way * (twist[3:] @ v)
        moved[4:] += 0.5 * way * (w * twist[3:] + np.cross(twist[3:], v))
        moved[3:] /= np.linalg.norm(moved[3:])
        ends.append(matrices.coordinates(moved))
    return np.asarray((ends[0] - ends[1]) / (2.0 * step))


def test_both_mass_matrices_give_the_kinetic_energy(matrices):
    machine, twist = matrices.platform, np.array([0.3, -0.2, 0.4, 0.2, 0.1, -0.3])
    pose = tilted(machine)
    coordinates, rates = matrices.coordinates(pose), rates_of(matrices, pose, twist)
    expected, _ = machine.energy(pose, twist)
    extended, joints = matrices.extended_mass(coordinates), coordinates[6:]
    assert 0.5 * rates @ extended @ rates == pytest.approx(float(expected), rel=1e-8)
    configuration = matrices.configuration_mass(joints)
    found = 0.5 * rates[6:] @ configuration @ rates[6:]
    assert found == pytest.approx(float(expected), rel=1e-8)
    for mass in (extended, configuration):
        assert_within(mass, mass.T, 1e-12 * max_abs(mass))
    # The rates keep the tips together.
    assert max_abs(matrices.closure(joints) @ rates[6:]) < 1e-8


def test_mass_rate_less_twice_the_coriolis_matrix_is_skew(matrices):
    """The property that eq. (15) gives: the Coriolis forces do no work beyond the mass's rate."""
    coordinates = matrices.coordinates(tilted(matrices.platform))
    rates = np.random.default_rng(2).normal(size=24)
    for mass, at, rate in (
        (matrices.extended_mass, coordinates, rates),
        (matrices.configuration_mass, coordinates[6:], rates[6:]),
    ):
        step = 1e-5
        change = (mass(at + step * rate) - mass(at - step * rate)) / (2.0 * step)
        rest = change - 2.0 * coriolis(mass, at, rate)
        assert max_abs(rest) > 1e-3, "no Coriolis forces: the test shows nothing"
        assert_within(rest, -rest.T, 1e-5)


def test_operations_are_counted():
    Counted.counts[:] = 0
    a, b = Counted(3.0), Counted(4.0)
    result = (a * b + 1.0 - b) / 2.0 - abs(-a)
    assert result == 1.5
    assert isinstance(2.0 / a, Counted)
    assert Counted.counts.tolist() == [3, 1, 2, 0]
    assert isinstance(math.sqrt(b), float)
