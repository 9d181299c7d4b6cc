"""An occupant on a platform as rigid added mass."""

import numpy as np
import pytest

from twin.analysis.platform import Platform
from twin.machine.payload.anthropometry import combined, rigid_sum
from twin.machine.payload.occupant import Occupant, Wheelchair, seated_on

OCCUPANT = Occupant(1.75, 75.0, wheelchair=Wheelchair())


def test_combined_bodies_keep_momentum_and_energy():
    """A rigid motion of the parts has the momentum and energy of the whole."""
    random = np.random.default_rng(4)
    masses, centers = random.uniform(1, 5, 4), random.normal(size=(4, 3))
    tensors = np.array([np.diag(random.uniform(1, 1.5, 3)) for _ in range(4)])
    whole = combined(masses, centers, tensors)
    velocity, omega = random.normal(size=(2, 3))
    speeds = velocity + np.cross(omega, centers)
    momentum = masses @ speeds
    own = velocity + np.cross(omega, whole.center)
    assert momentum == pytest.approx(whole.mass * own, abs=1e-12)
    energy = (masses * (speeds**2).sum(axis=1)).sum() + omega @ tensors.sum(axis=0) @ omega
    expected = whole.mass * own @ own + omega @ whole.inertia @ omega
    assert energy == pytest.approx(expected, rel=1e-13)


def test_seated_machine_answers_like_one_with_a_second_body(stewart):
    """Newton and Euler: the occupant's share of the forces is that of a body carried along."""
    seated = Platform(seated_on(stewart.parameters, OCCUPANT))
    random = np.random.default_rng(9)
    twist, acceleration = random.normal(size=(2, 6))
    forces = [
        machine.jacobian(machine.home).T
        @ machine.inverse_dynamics(machine.home, twist, acceleration)
        for machine in (seated, stewart)
    ]
    added = rigid_sum(OCCUPANT.segments())
    omega, alpha = twist[3:], acceleration[3:]
    center = acceleration[:3] + np.cross(alpha, added.center)
    center += np.cross(omega, np.cross(omega, added.center))
    center[2] += stewart.parameters.gravity
    push = added.mass * center
    moment = np.cross(added.center, push) + added.inertia @ alpha
    moment += np.cross(omega, added.inertia @ omega)
    assert forces[0] - forces[1] == pytest.approx([*push, *moment], abs=1e-9)
