"""Laws that any mechanism of rigid bodies obeys, whatever its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from paths import moved
from twin.errors import SingularPoseError
from twin.parameters import MachineParameters
from twin.platform import Platform

Array = NDArray[np.float64]

ROUNDING = 1e-12
"""Relative: condition number of M or J below 1e3, times a few dozen roundings."""


def close(found: Any, expected: Any, tolerance: float = ROUNDING) -> None:
    """Assert that arrays agree relative to the largest entry."""
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


def test_mass_matrix_is_symmetric_and_positive_definite(platform: Platform, states: Any) -> None:
    mass = platform.mass_matrix(states.pose, internal=states.internal)
    np.testing.assert_array_equal(mass, mass.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(mass).min() > 0


def test_kinetic_energy_is_half_twist_mass_twist(platform: Platform, states: Any) -> None:
    k = platform.n_internal
    still = np.hstack([states.internal[:, :k], 0 * states.internal[:, k:]])
    kinetic, _ = platform.energy(states.pose, states.twist, internal=still)
    mass = platform.mass_matrix(states.pose, internal=still)
    close(kinetic, 0.5 * np.einsum("ki,kij,kj->k", states.twist, mass, states.twist))


def test_forward_and_inverse_dynamics_are_inverse(platform: Platform, states: Any) -> None:
    pose, twist, acceleration, forces, wrench, internal = states
    needed = platform.inverse_dynamics(pose, twist, acceleration, wrench, internal=internal)
    found = platform.forward_dynamics(pose, twist, needed, wrench, internal=internal)
    close(found[:, :6], acceleration, 1e-11)
    reached = platform.forward_dynamics(pose, twist, forces, wrench, internal=internal)[:, :6]
    again = platform.inverse_dynamics(pose, twist, reached, wrench, internal=internal)
    if platform.n_actuators == platform.dof:
        close(again, forces, 1e-11)
    else:
        assert (np.linalg.norm(again, axis=1) <= np.linalg.norm(forces, axis=1)).all()
        same = platform.forward_dynamics(pose, twist, again, wrench, internal=internal)[:, :6]
        close(same, reached, 1e-11)


def test_virtual_work(platform: Platform, states: Any) -> None:
    """Actuator forces and the wrench J^T f they are equal to do the same thing."""
    pose, twist, _, forces, _, internal = states
    wrench = np.einsum("kij,ki->kj", platform.jacobian(pose), forces)
    close(
        platform.forward_dynamics(pose, twist, forces, internal=internal)[:, :6],
        platform.forward_dynamics(pose, twist, 0 * forces, wrench, internal=internal)[:, :6],
    )


def test_power_of_all_forces_is_the_rate_of_the_energy(
    platform: Platform, states: Any, derivative: Any
) -> None:
    pose, twist, _, forces, wrench, internal = states
    k = platform.n_internal
    reached = platform.forward_dynamics(pose, twist, forces, wrench, internal=internal)
    acceleration, inner = reached[:, :6], reached[:, 6:]

    def energy(time: float) -> Array:
        place = moved(platform, pose, twist, acceleration, time)
        motion = platform.constrain(place, twist + acceleration * time)
        springs = internal[:, :k] + internal[:, k:] * time + 0.5 * inner * time**2
        inside = np.hstack([springs, internal[:, k:] + inner * time])
        kinetic, potential = platform.energy(motion.pose, motion.twist, internal=inside)
        return np.asarray(kinetic + potential)

    # Stiff springs store energies that change within a shorter time.
    rate = derivative(energy, 4e-4 if platform.kind != "strut" else 1e-6)
    rates = np.einsum("kij,kj->ki", platform.jacobian(pose), twist)
    if k:
        rates -= internal[:, k:]
    power = np.einsum("ki,ki->k", forces, rates) + np.einsum("ki,ki->k", wrench, twist)
    power -= platform.dissipation(pose, twist, internal=internal)
    # Energies of 1e3 J hold 1e-13 J, over the smallest step; powers are about 1e3 W.
    scale = np.abs(power).max() + np.abs(platform.energy(pose, twist, internal=internal)[1]).max()
    np.testing.assert_allclose(rate, power, rtol=0, atol=1e-8 * scale)


def test_static_forces_are_the_gradient_of_the_potential(
    platform: Platform, states: Any, derivative: Any
) -> None:
    rest = np.zeros_like(states.twist)
    still = np.zeros_like(states.internal)
    still[:, : platform.n_internal] = states.internal[:, : platform.n_internal]
    forces = platform.inverse_dynamics(states.pose, rest, rest, internal=still)
    held = np.einsum("kij,ki->kj", platform.jacobian(states.pose), forces)
    for direction in np.eye(6):
        twist = platform.constrain(states.pose, np.tile(direction, (len(rest), 1))).twist

        def potential(time: float, twist: Array = twist) -> Array:
            place = moved(platform, states.pose, twist, rest, time)
            return np.asarray(platform.energy(place, rest, internal=still)[1])

        gradient = derivative(potential, 2e-3)
        # Potentials of 1e3 J hold 1e-13 J, over a step of 5e-4; forces are about 1e3 N.
        expected = np.einsum("ki,ki->k", twist, held)
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9 * np.abs(held).max())


def test_without_gravity_a_machine_at_rest_stays(platform: Platform) -> None:
    content = platform.parameters.model_dump()
    content["gravity"] = 0.0
    floating = Platform(MachineParameters.model_validate(content))
    rest, none = np.zeros(6), np.zeros(platform.n_actuators)
    np.testing.assert_array_equal(floating.inverse_dynamics(platform.home, rest, rest), 0.0)
    np.testing.assert_array_equal(floating.forward_dynamics(platform.home, rest, none), 0.0)
    assert floating.energy(platform.home, rest)[1] == 0.0


def test_velocity_terms_are_quadratic(platform: Platform, states: Any) -> None:
    """Forces that hold all rates of the freedoms, less what dampers take of them."""
    pose, twist, zero = states.pose, states.twist, np.zeros_like(states.twist)

    def held(factor: float) -> Array:
        motion = platform.constrain(pose, factor * twist, zero)
        forces = platform.inverse_dynamics(*motion)
        if platform.kind == "strut":
            damping = np.array([leg.axial.damping for leg in platform.parameters.legs])
            rates = np.einsum("kij,kj->ki", platform.jacobian(pose), motion.twist)
            forces = forces - damping * rates
        return forces

    rest = held(0.0)
    once, twice, back = (held(factor) - rest for factor in (1.0, 2.0, -1.0))
    scale = np.abs(rest).max() + np.abs(twice).max()
    np.testing.assert_allclose(twice, 4 * once, rtol=0, atol=ROUNDING * scale)
    np.testing.assert_allclose(back, once, rtol=0, atol=ROUNDING * scale)


def mirror_images(platform: Platform) -> list[tuple[Array, list[int]]]:
    """Return reflections that map the machine's joints and first axes onto themselves."""
    found = []
    for degrees in range(0, 180, 5):
        normal = np.array([-np.sin(np.radians(degrees)), np.cos(np.radians(degrees)), 0.0])
        mirror = np.eye(3) - 2 * np.outer(normal, normal)

        def partners(points: Array, mirror: Array = mirror) -> Array:
            gaps = np.linalg.norm((points @ mirror)[:, None] - points[None], axis=2)
            return np.where(gaps.min(axis=1) < 1e-9, gaps.argmin(axis=1), -1)

        base, top = partners(platform.base_joints), partners(platform.platform_joints)
        if (base < 0).any() or not np.array_equal(base, top):
            continue
        turned = np.abs(((platform.first_axes @ mirror) * platform.first_axes[base]).sum(axis=1))
        if np.abs(turned - 1.0).max() < 1e-9:
            found.append((mirror, [int(i) for i in base]))
    return found


def reflected(mirror: Array, pose: Array, twist: Array) -> tuple[Array, Array]:
    """Return the mirror image of a state: vectors reflect, rotations reflect as pseudovectors."""
    turn = Rotation.from_quat(pose[[4, 5, 6, 3]]).as_matrix()
    quaternion = Rotation.from_matrix(mirror @ turn @ mirror).as_quat()[[3, 0, 1, 2]]
    image = np.concatenate([mirror @ pose[:3], quaternion])
    return image, np.concatenate([mirror @ twist[:3], -mirror @ twist[3:]])


def round_platform(platform: Platform, **leg: Any) -> Platform:
    """Return the machine with a platform body that every vertical plane mirrors onto itself."""
    content = platform.parameters.model_dump()
    content["platform"]["body"]["inertia"] = [1.0, 1.0, 2.0 - 1e-3]
    content["leg"] |= leg
    return Platform(MachineParameters.model_validate(content))


@pytest.mark.parametrize("name", ["srspm", "stewart"])
def test_mirror_image_moves_as_the_mirror_image(name: str, request: Any) -> None:
    """Holds only if the bodies of mirrored legs are mirrored with all their products of inertia."""
    platform = round_platform(request.getfixturevalue(name))
    images = mirror_images(platform)
    assert len(images) == {"srspm": 1, "stewart": 3}[name]
    random = np.random.default_rng(9)
    for mirror, partner in images:
        pose = platform.home + np.r_[random.uniform(-0.03, 0.03, 7)]
        pose[3:] /= np.linalg.norm(pose[3:])
        twist, forces = random.normal(size=6), 100.0 * random.normal(size=6)
        image, image_twist = reflected(mirror, pose, twist)
        close(platform.inverse_kinematics(image), platform.inverse_kinematics(pose)[partner])
        close(np.array(platform.energy(image, image_twist)), platform.energy(pose, twist))
        acceleration = platform.forward_dynamics(pose, twist, forces)
        expected = np.concatenate([mirror @ acceleration[:3], -mirror @ acceleration[3:]])
        close(platform.forward_dynamics(image, image_twist, forces[partner]), expected, 1e-11)


def test_without_mirrored_legs_the_thesis_machine_is_lopsided(stewart: Platform) -> None:
    """The law above means something only because the offsets matter, far above its rounding."""
    platform = round_platform(stewart, mirrored=[])
    mirror, _ = mirror_images(platform)[0]
    twist = np.array([0.3, 0.2, 0.1, 1.0, -1.0, 2.0])
    image, image_twist = reflected(mirror, stewart.home, twist)
    kinetic = platform.energy(stewart.home, twist)[0]
    assert abs(platform.energy(image, image_twist)[0] / kinetic - 1.0) > 1e-4


def test_third_of_a_turn_changes_nothing(stewart: Platform) -> None:
    platform = round_platform(stewart)
    third = Rotation.from_rotvec([0.0, 0.0, 2 * np.pi / 3])
    pose = np.array([0.03, -0.02, 0.9, 1.0, 0.04, -0.05, 0.06])
    pose[3:] /= np.linalg.norm(pose[3:])
    twist, forces = np.array([0.3, 0.2, 0.1, 1.0, -1.0, 2.0]), np.arange(6.0) * 50
    start = Rotation.from_quat(pose[[4, 5, 6, 3]])
    turned = np.concatenate(
        [third.apply(pose[:3]), (third * start * third.inv()).as_quat()[[3, 0, 1, 2]]]
    )
    both = third.apply(twist.reshape(2, 3)).ravel()
    expected = third.apply(platform.forward_dynamics(pose, twist, forces).reshape(2, 3)).ravel()
    close(platform.forward_dynamics(turned, both, np.roll(forces, 2)), expected, 1e-11)


def test_round_legs_are_the_limit_of_legs_that_are_not(srspm: Platform) -> None:
    """Legs of round bodies take a shorter way through the formulas; a hair's breadth ends it."""

    def dynamics(difference: float) -> Array:
        content = srspm.parameters.model_dump()
        moments = [1.0, 1.0 + difference, 0.02]
        for part in ("housing", "rod"):
            body = {"source": "Test", "kind": "rigid", "mass": 5.0, "inertia": moments}
            content["leg"][part] = body
        platform = Platform(MachineParameters.model_validate(content))
        pose = np.array([0.1, -0.1, 1.1, 0.98, 0.1, 0.1, 0.14])
        pose[3:] /= np.linalg.norm(pose[3:])
        return platform.inverse_dynamics(pose, np.arange(6.0), -np.arange(6.0))

    exact, near = dynamics(0.0), dynamics(1e-6)
    change = np.abs(near - exact).max() / np.abs(exact).max()
    assert 1e-9 < change < 1e-5  # of the order of the difference itself


def test_leg_along_its_first_axis_is_an_error(srspm: Platform) -> None:
    start, joint = srspm.base_joints[0], srspm.platform_joints[0]
    pose = np.r_[start - joint + np.array([0.0, 0.5, 0.0]), 1.0, 0.0, 0.0, 0.0]
    zero = np.zeros(6)
    for call in (
        lambda: srspm.mass_matrix(pose),
        lambda: srspm.forward_dynamics(pose, zero, zero),
        lambda: srspm.inverse_dynamics(pose, zero, zero),
    ):
        with pytest.raises(SingularPoseError) as caught:
            call()
        np.testing.assert_array_equal(caught.value.data["pose"], pose)


def test_leg_without_length_is_an_error(srspm: Platform) -> None:
    pose = np.r_[srspm.base_joints[0] - srspm.platform_joints[0], 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(SingularPoseError):
        srspm.forward_dynamics(pose, np.zeros(6), np.zeros(6))
    with pytest.raises(SingularPoseError):
        srspm.jacobian(pose)
    assert srspm.inverse_kinematics(pose)[0] < 1e-15
