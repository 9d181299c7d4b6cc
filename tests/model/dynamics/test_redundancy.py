"""More actuators than degrees of freedom: forces of smallest norm, and forces that only strain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import poses_near
from redundant import redundant_machine
from scales import scale_of
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform

pytestmark = pytest.mark.quick

Array = NDArray[np.float64]

CLOSE = 1e-11
"""Relative to the largest entry: condition numbers below 1e2, squared by least squares."""

MAKERS = {
    "seven legs": lambda: redundant_machine(7),
    "eight legs": lambda: redundant_machine(8),
    "driving_simulator": lambda: twin.load("driving_simulator"),
    "hardware": lambda: twin.load("driving_simulator", configuration="hardware"),
    "lopsided pillars": lambda: Platform(machine_without_symmetry("pillar")),
}


class Sample(NamedTuple):
    """States of a machine, forces that give their accelerations, and the rows of its dof."""

    platform: Platform
    pose: Array
    twist: Array
    acceleration: Array
    wrench: Array
    needed: Array
    rows: Array
    """`(k, n, dof)`: actuator rates from independent rates of the degrees of freedom"""

    @property
    def strains(self):
        """Orthonormal forces `(k, n - dof, n)` that do no work in any motion."""
        return np.linalg.svd(self.rows.transpose(0, 2, 1))[2][:, self.platform.dof :]


@pytest.fixture(scope="module", params=MAKERS)
def sample(request):
    """Every machine with more actuators than degrees of freedom."""
    platform = MAKERS[request.param]()
    scale, random = scale_of(platform), np.random.default_rng(82)
    motion = platform.constrain(
        poses_near(platform, 100, 81),
        0.3 * scale.twist * random.normal(size=(100, 6)),
        0.5 * scale.twist / scale.time * random.normal(size=(100, 6)),
    )
    wrench = 0.1 * scale.wrench * random.normal(size=(100, 6))
    needed = platform.inverse_dynamics(*motion, wrench)
    rows = platform.jacobian(motion.pose)
    if platform.dof < 6:
        free = np.linalg.svd(platform.constraints(motion.pose))[2][:, 6 - platform.dof :]
        rows = rows @ free.transpose(0, 2, 1)
    return Sample(platform, *motion, wrench, needed, rows)


def close(found, expected):
    assert_within(found, expected, CLOSE * max_abs(expected))


def test_forces_give_the_acceleration(sample):
    found = sample.platform.forward_dynamics(
        sample.pose, sample.twist, sample.needed, sample.wrench
    )
    close(found, sample.acceleration)


def test_no_forces_are_smaller(sample):
    """They have no part along forces that do no work: those could be left out."""
    extra = sample.platform.n_actuators - sample.platform.dof
    assert sample.strains.shape[1] == extra >= 1
    along = np.einsum("kij,kj->ki", sample.strains, sample.needed)
    assert max_abs(along) <= CLOSE * max_abs(sample.needed)


def test_strains_move_nothing(sample):
    size = max_abs(sample.needed)
    for strain in sample.strains.transpose(1, 0, 2):
        found = sample.platform.forward_dynamics(
            sample.pose, sample.twist, sample.needed + size * strain, sample.wrench
        )
        close(found, sample.acceleration)
