"""Modes of a machine on springs against its linearised dynamics and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tolerance import assert_within

import twin
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.stiffness import (
    EquilibriumError,
    natural_modes,
    springs_of,
    stiffness_matrix,
)
from twin.model.machine_base import ZERO_VECTOR


def test_damping_of_struts():
    machine = twin.load("micro_hexapod")
    found = natural_modes(machine)
    springs = springs_of(machine)
    # Damping proportional to stiffness: ratio = damping / stiffness * omega / 2; the geometric part
    # of the stiffness, 1e-4 of the whole, has none.
    expected = springs.damping[0] / springs.stiffness[0] * np.pi * found.frequencies
    assert_allclose(found.damping_ratios, expected, rtol=1e-3)

    twists = 1e-3 * np.eye(6)
    forces = machine.inverse_dynamics(machine.home, ZERO_VECTOR, ZERO_VECTOR)
    pulls = machine.forward_dynamics(machine.home, twists, forces)
    pulls -= machine.forward_dynamics(machine.home, -twists, forces)
    slopes = pulls.T / 2e-3
    projected = -np.einsum("ji,jk,ki->i", found.shapes, machine.mass_matrix(machine.home) @ slopes,
                           found.shapes)  # fmt: skip
    omega = 2.0 * np.pi * found.frequencies
    assert_allclose(found.damping_ratios, projected / (2.0 * omega), rtol=1e-6)


def test_shapes_diagonalise_mass_and_stiffness(sprung):
    found = natural_modes(sprung.platform, sprung.pose, **sprung.given)
    across = np.swapaxes(found.shapes, -1, -2)
    mass = across @ sprung.platform.mass_matrix(sprung.pose) @ found.shapes
    assert_within(mass, np.broadcast_to(np.eye(6), mass.shape), 1e-10)
    total = stiffness_matrix(sprung.platform, sprung.pose, **sprung.given).total
    squares = np.einsum("kia,kij,kja->ka", found.shapes, total, found.shapes)
    assert_allclose(np.sqrt(squares) / (2 * np.pi), found.frequencies, rtol=1e-9)
    assert (np.diff(found.frequencies, axis=-1) >= 0.0).all()


def test_unstable_machines_have_no_modes(srspm):
    top_heavy = with_payload(srspm, Payload(100.0, [0.0, 0.0, 5.0]))
    with pytest.raises(EquilibriumError, match="unstable"):
        natural_modes(top_heavy, stiffness=5e3)


def test_an_unstable_pose_of_many_is_named(stewart):
    inclined = twin.pose(z=float(stewart.home[2]), pitch=0.5)
    with pytest.raises(EquilibriumError) as caught:
        natural_modes(stewart, np.stack([stewart.home, inclined]), stiffness=2894.266)
    assert caught.value.data["index"] == 1
    assert_allclose(caught.value.data["pose"], inclined, rtol=0.0, atol=1e-15)
