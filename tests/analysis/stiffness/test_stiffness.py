"""Stiffness matrices against differences of the push, closed forms and symmetry."""

import numpy as np
from net_wrench import net_wrench
from refusals import refused
from tolerance import assert_within, max_abs

from twin.analysis.stiffness import (
    characteristic_scale,
    compliance_matrix,
    holding_forces,
    springs_of,
    stiffness_matrix,
    weight_wrench,
)
from twin.rotations import displaced


def scaled(sprung, matrix):
    """Return a stiffness with rotations measured at the platform's radius: all entries [N/m]."""
    scale = characteristic_scale(sprung.platform)
    return np.asarray(matrix / np.outer(scale, scale) * scale[0] ** 2)


def difference_stiffness(sprung, pose, **loads):
    """Return -d(net wrench)/d(displacement) `(6, 6)` by Richardson differences."""
    scale = 1e-3 * characteristic_scale(sprung.platform)
    slopes = []
    for step in (1.0, 0.5):
        moves = step * np.diag(scale)
        ahead, behind = (
            net_wrench(sprung.platform, displaced(pose, sign * moves), **loads, **sprung.given)
            for sign in (1.0, -1.0)
        )
        slopes.append((ahead - behind) / (2.0 * step * scale)[:, None])
    return -(4.0 * slopes[1] - slopes[0]).T / 3.0


def loads_of(sprung, pose):
    """Return rest coordinates, forces and wrench that load the legs unevenly."""
    random = np.random.default_rng(1)
    n = sprung.platform.n_actuators
    springs = springs_of(sprung.platform, sprung.stiffness)
    away = 50.0 * random.normal(size=n) / springs.stiffness
    return {
        "coordinates": sprung.platform.inverse_kinematics(pose) + away,
        "forces": 30.0 * random.normal(size=n),
        "wrench": random.normal(size=6),
    }


def carried(sprung, pose, loads):
    """Return the forces along the actuators under these loads."""
    springs = springs_of(sprung.platform, sprung.stiffness)
    stretch = loads["coordinates"] - sprung.platform.inverse_kinematics(pose)
    return np.asarray(springs.stiffness * stretch + loads["forces"])


def test_total_stiffness_is_the_derivative_of_the_push(subtests, sprung):
    for index in range(5):
        with subtests.test(f"{index}"):
            pose = sprung.pose[index]
            loads = loads_of(sprung, pose)
            parts = stiffness_matrix(
                sprung.platform, pose, carried=carried(sprung, pose, loads), **sprung.given
            )
            expected = difference_stiffness(sprung, pose, **loads)
            size = max_abs(scaled(sprung, expected))
            # Fourth order of steps of 1e-3, rounding 1e-16 / 1e-3, times curvature of the legs.
            assert_within(scaled(sprung, parts.total), scaled(sprung, expected), 1e-10 * size)
            if sprung.stiffness:
                for part in (parts.geometric, parts.weight):
                    assert max_abs(scaled(sprung, part)) > 1e-6 * size  # the test sees every part


def test_stiffness_in_equilibrium_is_symmetric(sprung):
    parts = stiffness_matrix(sprung.platform, sprung.pose, **sprung.given)
    total = scaled(sprung, parts.total)
    assert_within(total, np.swapaxes(total, -1, -2), 1e-11 * max_abs(total))
    geometric = scaled(sprung, parts.geometric)
    assert max_abs(geometric - np.swapaxes(geometric, -1, -2)) > 1e-9 * max_abs(total)


def test_weights_are_the_slope_of_the_potential_energy(sprung):
    scale = 1e-3 * characteristic_scale(sprung.platform)
    pose = sprung.pose[3]

    def slope(step):
        moves = step * np.diag(scale)
        ahead, behind = (height_energy(displaced(pose, sign * moves)) for sign in (1.0, -1.0))
        return np.asarray((ahead - behind) / (2.0 * step * scale))

    def height_energy(poses):
        potential = sprung.platform.energy(poses, np.zeros(6))[1]
        springs = springs_of(sprung.platform, sprung.stiffness)
        if springs.own:
            stretch = springs.rest - sprung.platform.inverse_kinematics(poses)
            potential = potential - 0.5 * stretch**2 @ springs.stiffness
        return potential

    expected = -(4.0 * slope(0.5) - slope(1.0)) / 3.0
    weights = weight_wrench(sprung.platform, pose)
    assert_within(weights, expected, 1e-9 * max_abs(weights))


def test_holding_forces_balance_the_weight(sprung):
    load = [3.0, -2.0, 5.0, 0.4, 0.5, -0.6]
    forces = holding_forces(sprung.platform, sprung.pose, load)
    legs = np.einsum("kij,ki->kj", sprung.platform.jacobian(sprung.pose), forces)
    weights = weight_wrench(sprung.platform, sprung.pose)
    assert_within(legs + weights + load, 0.0, 1e-9 * max_abs(weights))


def test_compliance_is_the_inverse(sprung):
    for poses in (sprung.pose, sprung.pose[0], sprung.pose[:4].reshape(2, 2, 7)):
        total = stiffness_matrix(sprung.platform, poses, **sprung.given).total
        compliance = compliance_matrix(sprung.platform, poses, **sprung.given)
        assert total.shape == compliance.shape == (*poses.shape[:-1], 6, 6)
        identity = np.broadcast_to(np.eye(6), total.shape)
        assert_within(total @ compliance, identity, 1e-9)


def test_bad_arguments(stewart):
    with refused("carried"):
        stiffness_matrix(stewart, stiffness=1.0, carried=[1.0, 2.0])
    with refused("pose"):
        stiffness_matrix(stewart, [0.0, 1.0], stiffness=1.0)
