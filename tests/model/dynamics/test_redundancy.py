"""More actuators than degrees of freedom: the forces are the smallest that do the same."""

import numpy as np
import pytest
from paths import poses_near
from redundant import redundant_machine
from scales import scale_of
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform

pytestmark = pytest.mark.quick

CLOSE = 1e-11
"""Relative to the largest entry: condition numbers below 1e2, squared by least squares."""

MACHINES = {
    "seven legs": lambda: redundant_machine(7),
    "eight legs": lambda: redundant_machine(8),
    "driving_simulator": lambda: twin.load("driving_simulator"),
    "hardware": lambda: twin.load("driving_simulator", configuration="hardware"),
    "lopsided pillars": lambda: Platform(machine_without_symmetry("pillar")),
}


@pytest.mark.parametrize("name", MACHINES)
def test_no_smaller_forces_give_the_acceleration(name):
    """They have no part along forces that do no work in any motion: those could be left out."""
    platform, random = MACHINES[name](), np.random.default_rng(82)
    scale = scale_of(platform)
    motion = platform.constrain(
        poses_near(platform, 100, 81),
        0.3 * scale.twist * random.normal(size=(100, 6)),
        0.5 * scale.twist / scale.time * random.normal(size=(100, 6)),
    )
    wrench = 0.1 * scale.wrench * random.normal(size=(100, 6))
    forces = platform.inverse_dynamics(*motion, wrench)
    found = platform.forward_dynamics(*motion[:2], forces, wrench)
    assert_within(found, motion.acceleration, CLOSE * max_abs(motion.acceleration))
    rates = platform.jacobian(motion.pose)
    if platform.dof < 6:
        free = np.linalg.svd(platform.constraints(motion.pose))[2][:, 6 - platform.dof :]
        rates = rates @ free.transpose(0, 2, 1)
    idle = np.linalg.svd(rates.transpose(0, 2, 1))[2][:, platform.dof :]
    assert idle.shape[1] == platform.n_actuators - platform.dof >= 1
    assert_within(np.einsum("kij,kj->ki", idle, forces), 0.0, CLOSE * max_abs(forces))
