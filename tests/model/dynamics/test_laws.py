"""Laws that any mechanism of rigid bodies obeys, whatever its formulas."""

import numpy as np
import pytest
from fields import LEANING, in_field
from numpy.testing import assert_array_equal
from paths import moved
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

from twin.analysis.platform import Platform
from twin.errors import SingularPoseError

pytestmark = pytest.mark.quick


ROUNDING = 1e-12
"""Relative: condition number of M or J below 1e3, times a few dozen roundings."""

TERMS = 1e-13
"""Relative to the sizes of all terms that cancel: some hundred roundings."""


def close(found, expected, tolerance=ROUNDING):
    """Assert that arrays agree relative to the largest entry."""
    assert_within(found, expected, tolerance * max_abs(expected))


def test_mass_matrix_is_symmetric_and_positive_definite(platform, states):
    mass = platform.mass_matrix(states.pose, deflection=states.deflection)
    assert_array_equal(mass, mass.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(mass).min() > 0


def test_kinetic_energy_is_half_twist_mass_twist(platform, states):
    k = platform.n_deflections
    still = np.hstack([states.deflection[:, :k], 0 * states.deflection[:, k:]])
    kinetic, _ = platform.energy(states.pose, states.twist, deflection=still)
    mass = platform.mass_matrix(states.pose, deflection=still)
    close(kinetic, 0.5 * np.einsum("ki,kij,kj->k", states.twist, mass, states.twist))


def rounding_of(platform, states, forces, acceleration):
    """Return what rounding of the terms of the equations of motion does to their solutions.

    Args:
        platform: the machine.
        states: where it is.
        forces: `(k, n)` of its actuators.
        acceleration: `(k, 6)` of its platform.

    Returns:
        `(k, 6)` for accelerations and `(k, n)` for forces: the sizes of all terms, which cancel,
        through the entries' sizes of the matrices solved with.
    """
    mass = platform.mass_matrix(states.pose, deflection=states.deflection)
    jacobian = platform.jacobian(states.pose)
    terms = np.abs(jacobian).transpose(0, 2, 1) @ np.abs(forces)[..., None]
    terms += np.abs(mass) @ np.abs(acceleration)[..., None] + np.abs(states.wrench)[..., None]
    for i, leg in enumerate(platform.parameters.legs):
        if platform.kind == "strut":
            stretch = platform.inverse_kinematics(states.pose)[:, i] - platform.home_coordinates[i]
            pull = np.abs(leg.axial.stiffness * stretch)[:, None] * np.abs(jacobian[:, i])
            terms += pull[..., None]
    inverse = np.abs(np.linalg.pinv(jacobian.transpose(0, 2, 1)))
    return (np.abs(np.linalg.inv(mass)) @ terms)[..., 0], (inverse @ terms)[..., 0]


def test_forward_and_inverse_dynamics_are_inverse(platform, states):
    pose, twist, acceleration, forces, wrench, deflection = states
    needed = platform.inverse_dynamics(pose, twist, acceleration, wrench, deflection=deflection)
    found = platform.forward_dynamics(pose, twist, needed, wrench, deflection=deflection)[:, :6]
    largest, _ = rounding_of(platform, states, needed, acceleration)
    assert (np.abs(found - acceleration) <= TERMS * largest).all()
    reached = platform.forward_dynamics(pose, twist, forces, wrench, deflection=deflection)[:, :6]
    again = platform.inverse_dynamics(pose, twist, reached, wrench, deflection=deflection)
    accelerating, pushing = rounding_of(platform, states, forces, reached)
    if platform.n_actuators == platform.dof:
        assert (np.abs(again - forces) <= TERMS * pushing).all()
    else:
        assert (np.linalg.norm(again, axis=1) <= np.linalg.norm(forces, axis=1)).all()
        same = platform.forward_dynamics(pose, twist, again, wrench, deflection=deflection)[:, :6]
        assert (np.abs(same - reached) <= TERMS * accelerating).all()


@pytest.mark.parametrize("field", [None, LEANING])
def test_power_of_all_forces_is_the_rate_of_the_energy(platform, states, derivative, scale, field):
    platform = in_field(platform, field)
    pose, twist, _, forces, wrench, deflection = states
    k = platform.n_deflections
    reached = platform.forward_dynamics(pose, twist, forces, wrench, deflection=deflection)
    acceleration, inner = reached[:, :6], reached[:, 6:]

    def energy(time):
        place = moved(platform, pose, twist, acceleration, time)
        motion = platform.constrain(place, twist + acceleration * time)
        springs = deflection[:, :k] + deflection[:, k:] * time + 0.5 * inner * time**2
        inside = np.hstack([springs, deflection[:, k:] + inner * time])
        kinetic, potential = platform.energy(motion.pose, motion.twist, deflection=inside)
        return np.asarray(kinetic + potential)

    # Stiff springs accelerate a machine out of all proportion to its own time.
    sizes = np.repeat([scale.length, 1.0], 3)
    time = min(scale.time, float(1.0 / np.sqrt(max_abs(acceleration / sizes))))
    rate = derivative(energy, 2e-3 * time)
    rates = np.einsum("kij,kj->ki", platform.jacobian(pose), twist)
    if k:
        rates -= deflection[:, k:]
    power = np.einsum("ki,ki->k", forces, rates) + np.einsum("ki,ki->k", wrench, twist)
    power -= platform.dissipation(pose, twist, deflection=deflection)
    # Rounding of the energies and of the lengths in them, over the smallest step.
    largest = np.abs(platform.energy(pose, twist, deflection=deflection)).sum(axis=0).max()
    error = 4e-15 * largest / (5e-4 * time) + 1e-10 * max_abs(power)
    assert_within(rate, power, error)


@pytest.mark.parametrize("field", [None, LEANING])
def test_static_forces_are_the_gradient_of_the_potential(
    platform, states, derivative, scale, field
):
    platform = in_field(platform, field)
    rest = np.zeros_like(states.twist)
    still = np.zeros_like(states.deflection)
    still[:, : platform.n_deflections] = states.deflection[:, : platform.n_deflections]
    forces = platform.inverse_dynamics(states.pose, rest, rest, deflection=still)
    held = np.einsum("kij,ki->kj", platform.jacobian(states.pose), forces)
    sizes = np.repeat([scale.length, 1.0], 3)
    for direction in np.diag(sizes):
        twist = platform.constrain(states.pose, np.tile(direction, (len(rest), 1))).twist

        def potential(share, twist=twist):
            place = moved(platform, states.pose, twist, rest, share)
            return np.asarray(platform.energy(place, rest, deflection=still)[1])

        step = 2e-3
        gradient = derivative(potential, step)
        expected = np.einsum("ki,ki->k", twist, held)
        # Rounding of the potentials, over the smallest step.
        error = 1e-15 * max_abs(potential(0.0)) / (step / 4) + 1e-10 * max_abs(held)
        assert_within(gradient, expected, error)


@pytest.fixture(scope="module", params=["ups", "strut", "viscoelastic"])
def straight(request):
    """A machine on straight legs of each kind."""
    return Platform(machine_without_symmetry(request.param))


def test_leg_along_its_first_axis_is_an_error(straight):
    start, joint = straight.base_joints[0], straight.platform_joints[0]
    pose = np.r_[start - joint + 0.5 * straight.first_axes[0], 1.0, 0.0, 0.0, 0.0]
    zero = np.zeros(6)
    for call in (straight.forward_dynamics, straight.inverse_dynamics):
        with pytest.raises(SingularPoseError) as caught:
            call(pose, zero, zero)
        assert_array_equal(caught.value.data["pose"], pose)


def test_leg_without_length_is_an_error(srspm):
    pose = np.r_[srspm.base_joints[0] - srspm.platform_joints[0], 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(SingularPoseError):
        srspm.forward_dynamics(pose, np.zeros(6), np.zeros(6))
    with pytest.raises(SingularPoseError):
        srspm.jacobian(pose)
    assert srspm.inverse_kinematics(pose)[0] < 1e-15
