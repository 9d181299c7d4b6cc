"""Machines that repeat or mirror themselves move the same way turned, or in a mirror."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scales import scale_of
from scipy.spatial.transform import Rotation
from tolerance import assert_within, max_abs
from turns import turn_of

import twin
from twin.analysis.platform import Platform
from twin.machine import MachineParameters
from twin.model.integrate import integrate

Array = NDArray[np.float64]

MIRRORS = {"srspm": 1, "stewart": 3, "rss": 3, "compliant_stewart": 3, "micro_hexapod": 3}
"""Vertical planes that map a machine onto itself; the first axes of `srspm` spoil two of three."""

assert {name for name in twin.machine_names() if twin.load(name).dof == 6} == set(MIRRORS)

TRIPLE = [name for name, count in MIRRORS.items() if count == 3]

CLOSE = 1e-11
"""Relative to the largest entry, forces of stiff springs included."""


class State(NamedTuple):
    """A machine in motion."""

    pose: Array
    twist: Array
    forces: Array
    deflection: Array


def round_platform(name, **leg):
    """Return the machine with a platform body that every vertical plane mirrors onto itself."""
    content = twin.load(name).parameters.model_dump()
    across, axial = content["platform"]["body"]["inertia"][0], 1.9
    across = across if np.isscalar(across) else 1.0
    content["platform"]["body"]["inertia"] = [across, across, axial * across]
    content["leg"] |= leg
    return Platform(MachineParameters.model_validate(content))


def random_state(platform, seed):
    """Return a state near home; of stiff machines so near that springs do not drown the rest."""
    scale, random = scale_of(platform), np.random.default_rng(seed)
    share = 1e-4 if platform.kind == "strut" else 0.03
    pose = platform.home + share * random.uniform(-1.0, 1.0, 7) * [*[scale.length] * 3, 1, 1, 1, 1]
    pose[3:] /= np.linalg.norm(pose[3:])
    k = platform.n_deflections
    return State(
        pose,
        0.3 * scale.twist * random.normal(size=6),
        scale.effort * random.normal(size=6),
        np.repeat([0.005, 0.2], k) * random.normal(size=2 * k),
    )


def images(platform):
    """Return reflections that map the machine's joints and first axes onto themselves."""
    found = []
    for degrees in range(0, 180, 5):
        normal = np.array([-np.sin(np.radians(degrees)), np.cos(np.radians(degrees)), 0.0])
        mirror = np.eye(3) - 2 * np.outer(normal, normal)

        def partners(points, mirror=mirror):
            gaps = np.linalg.norm((points @ mirror)[:, None] - points[None], axis=2)
            return np.where(gaps.min(axis=1) < 1e-9, gaps.argmin(axis=1), -1)

        base, top = partners(platform.base_joints), partners(platform.platform_joints)
        if (base < 0).any() or not np.array_equal(base, top):
            continue
        turned = np.abs(((platform.first_axes @ mirror) * platform.first_axes[base]).sum(axis=1))
        if max_abs(turned - 1.0) < 1e-9:
            found.append((mirror, [int(i) for i in base]))
    return found


def permuted(state, order):
    """Return forces and springs of legs in another order."""
    k = len(state.deflection) // 2
    springs = state.deflection.reshape(2, k)
    return state.forces[order], (springs[:, order] if k else springs).ravel()


def reflected(mirror, partner, state):
    """Return the mirror image of a state: vectors reflect, rotations reflect as pseudovectors."""
    turn = turn_of(state.pose).as_matrix()
    quaternion = Rotation.from_matrix(mirror @ turn @ mirror).as_quat(scalar_first=True)
    image = np.concatenate([mirror @ state.pose[:3], quaternion])
    return State(image, mirrored(mirror, state.twist), *permuted(state, partner))


def mirrored(mirror, motion):
    """Return the mirror image of a twist or an acceleration."""
    return np.concatenate([mirror @ motion[:3], -mirror @ motion[3:6]])


def answer(platform, state):
    """Return accelerations of platform and springs."""
    found = platform.forward_dynamics(*state[:3], deflection=state.deflection)
    return found[:6], found[6:]


def close(found, expected):
    """Assert that arrays agree relative to the largest entry."""
    if expected.size:
        assert_within(found, expected, CLOSE * max_abs(expected))


def test_mirror_image_moves_as_the_mirror_image(subtests):
    """Holds only if the bodies of mirrored legs are mirrored with all their products of inertia."""
    for name in MIRRORS:
        with subtests.test(f"{name}"):
            platform = round_platform(name)
            found = images(platform)
            assert len(found) == MIRRORS[name]
            for mirror, partner in found:
                state = random_state(platform, 9)
                image = reflected(mirror, partner, state)
                close(
                    platform.inverse_kinematics(image.pose),
                    platform.inverse_kinematics(state.pose)[partner],
                )
                energies = [
                    np.array(platform.energy(*each[:2], deflection=each.deflection))
                    for each in (image, state)
                ]
                close(*energies)
                acceleration, springs = answer(platform, state)
                image_acceleration, image_springs = answer(platform, image)
                close(image_acceleration, mirrored(mirror, acceleration))
                close(image_springs, springs[partner] if springs.size else springs)


def test_without_mirrored_legs_the_thesis_machine_is_lopsided():
    """The law above means something only because the offsets matter, far above its rounding."""
    platform = round_platform("stewart", mirrored=[])
    mirror, partner = images(platform)[0]
    twist = np.array([0.3, 0.2, 0.1, 1.0, -1.0, 2.0])
    state = State(platform.home, twist, np.zeros(6), np.zeros(0))
    image = reflected(mirror, partner, state)
    kinetic = platform.energy(platform.home, twist)[0]
    assert abs(platform.energy(*image[:2])[0] / kinetic - 1.0) > 1e-4


def test_third_of_a_turn_changes_nothing(subtests):
    for name in TRIPLE:
        with subtests.test(f"{name}"):
            platform = round_platform(name)
            third = Rotation.from_rotvec([0.0, 0.0, 2 * np.pi / 3])
            state = random_state(platform, 10)
            start = turn_of(state.pose)
            turned = np.concatenate(
                [
                    third.apply(state.pose[:3]),
                    (third * start * third.inv()).as_quat(scalar_first=True),
                ]
            )
            onward = np.roll(np.arange(6), 2)
            twist = third.apply(state.twist.reshape(2, 3)).ravel()
            acceleration, springs = answer(platform, state)
            found, found_springs = answer(platform, State(turned, twist, *permuted(state, onward)))
            close(found, third.apply(acceleration.reshape(2, 3)).ravel())
            close(found_springs, springs[onward] if springs.size else springs)


def test_symmetric_start_stays_symmetric(subtests):
    """Equal forces on all legs of a machine at home move it up or down, and nowhere else."""
    for name in TRIPLE:
        with subtests.test(f"{name}"):
            platform = round_platform(name)
            forces = 0.9 * platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
            assert np.ptp(forces) <= 1e-2 * max_abs(forces)  # offsets of the thesis' legs
            even = np.full(6, forces.mean())
            solution = integrate(platform, 0.1, forces=even)
            moved = solution.pose[-1] - solution.pose[0]
            assert abs(moved[2]) > 1e-8
            # Those offsets turn the thesis' machine about the vertical; nothing else leaves it.
            assert max_abs(moved[[0, 1, 4, 5]]) <= 1e-11
            if name != "stewart":
                assert abs(moved[6]) <= 1e-11
