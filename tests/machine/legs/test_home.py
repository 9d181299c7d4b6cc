"""Numbers that follow from the parameters: joints, cylinders, leg frames."""

import math

import numpy as np
import pytest
from legs_at_home import home_leg_frames, leg_bodies
from numpy.testing import assert_allclose, assert_array_equal
from tolerance import assert_within

import twin
from twin.machine.body import Cylinder, RigidBody
from twin.machine.layout.joints import PairedCircle


def test_legs_of_the_thesis_are_08644_long_when_retracted(stewart):
    lengths = stewart.inverse_kinematics([0.0, 0.0, 0.740, 1.0, 0.0, 0.0, 0.0])
    assert_within(lengths, 0.8644, 5e-5)  # printed with four decimals


def test_leg_frames_are_those_of_the_thesis(stewart):
    """At home rev1 is the leg frame's y and rev2 its -x: `frame_angle` is 90 degrees."""
    frames = home_leg_frames(stewart.parameters)
    along = stewart.parameters.home_leg_vectors / stewart.home_coordinates[:, None]
    rev1 = np.cross(along, [0.0, 0.0, 1.0])
    rev1 /= np.linalg.norm(rev1, axis=1)[:, None]
    rev2 = -np.cross(rev1, along)
    assert_within(frames[:, :, 1], rev1, 1e-15)  # rounding
    assert_within(stewart.first_axes, rev1, 1e-15)
    assert_within(frames[:, :, 0], -rev2, 1e-15)
    assert_within(frames[:, :, 2], along, 1e-15)


def test_bodies_are_where_the_thesis_puts_them(subtests, stewart):
    """Appendix A.1: origins of lower_leg and upper_leg, odd and even legs, at home."""
    for number in range(1, 7):
        with subtests.test(f"{number}"):
            i, sign = number - 1, 1.0 if number % 2 else -1.0
            frame = home_leg_frames(stewart.parameters)[i]
            bodies = leg_bodies(stewart.parameters)
            rev2, rev1, along = -frame[:, 0], frame[:, 1], frame[:, 2]
            lower = (352.67 + 41.3) / 1000 * along - sign * 9.81 / 1000 * rev1 - 9.96 / 1000 * rev2
            assert_within(frame @ bodies.housing_center[i], lower, 1e-15)
            # Given from the base joint when retracted; from the tip it is 0.8644 m less.
            upper = (430 / 1000 - 0.8644) * along - sign * 55 / 1000 * rev1 - 55 / 1000 * rev2
            assert_within(frame @ bodies.rod_center[i], upper, 1e-15)
            # upper_leg_inertia and upper_leg_inertia1, with the unit corrected.
            tensor = (
                np.array([[40.2, 0.088, -0.448], [0.088, 40.2, -0.448], [-0.448, -0.448, 3.24]])
                / 100
            )
            tensor *= np.array([[1, sign, sign], [sign, 1, 1], [sign, 1, 1]])
            axes = np.column_stack([rev1, rev2, along])
            found = frame @ bodies.rod_inertia[i] @ frame.T
            assert_within(found, axes @ tensor @ axes.T, 1e-15)


def paired_circle(**changes):
    content = {"source": "Test", "radius": 2.0, "half_spacing": 0.1, "center_angle": 0.3}
    return PairedCircle(**{**content, **changes})


def test_pairs_lie_on_a_circle():
    points = paired_circle(height=0.5).points
    angles = np.arctan2(points[:, 1], points[:, 0])
    assert_allclose(np.hypot(points[:, 0], points[:, 1]), 2.0, rtol=1e-15)
    assert_array_equal(points[:, 2], 0.5)
    third = 2 * math.pi / 3
    expected = [0.2, 0.4, 0.2 + third, 0.4 + third, 0.2 + 2 * third, 0.4 + 2 * third]
    assert_allclose(np.unwrap(angles), expected, rtol=1e-15)


def test_shift_moves_the_last_points_to_the_front(subtests):
    for shift in range(6):
        with subtests.test(f"{shift}"):
            plain = paired_circle().points
            shifted = paired_circle(shift=shift).points
            for i in range(6):
                assert_array_equal(shifted[(i + shift) % 6], plain[i])


def test_placement_of_the_benchmark(srspm):
    """Paper: joints at angles a0 + 120 k and a0 + 120 k + 2 gamma, with a0 = 60 deg - gamma."""
    for points, radius, gamma in (
        (srspm.base_joints, 1.0, 0.2985),
        (srspm.platform_joints, 0.5803, 0.6573),
    ):
        start = math.radians(60.0) - gamma
        angles = [start + math.radians(120.0) * k + 2 * gamma * j for k in range(3) for j in (0, 1)]
        expected = radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])
        assert_within(points, expected, 1e-15)  # rounding


def test_cylinder_against_integration_over_its_volume():
    body = Cylinder(
        source="Test", density=7858.0, outer_radius=0.02, inner_radius=0.0175, length=0.5, start=0.1
    )
    # Gauss points integrate the polynomials r, r^3, z^2 exactly, the angle analytically.
    nodes, weights = np.polynomial.legendre.leggauss(4)
    radius = 0.5 * (0.02 + 0.0175) + 0.5 * (0.02 - 0.0175) * nodes
    radius_weight = 0.5 * (0.02 - 0.0175) * weights
    height = 0.35 + 0.25 * nodes
    height_weight = 0.25 * weights
    mass = 7858.0 * 2 * math.pi * (radius_weight @ radius) * height_weight.sum()
    center = 7858.0 * 2 * math.pi * (radius_weight @ radius) * (height_weight @ height) / mass
    axial = 7858.0 * 2 * math.pi * (radius_weight @ radius**3) * height_weight.sum()
    along = 7858.0 * 2 * math.pi * (radius_weight @ radius)
    across = axial / 2 + along * (height_weight @ (height - center) ** 2)
    assert body.mass == pytest.approx(mass, rel=1e-14)
    assert_allclose(body.center_of_mass_vector, [0.0, 0.0, center], rtol=1e-14)
    assert_allclose(body.inertia_tensor, np.diag([across, across, axial]), rtol=1e-13)


def test_legs_of_the_benchmark(srspm):
    """A solid rod of 1.5 m: m L^2 / 12 about its middle, which is half its length below the tip."""
    bodies = leg_bodies(srspm.parameters)
    mass = 7858.0 * math.pi * 0.0175**2 * 1.5
    assert_allclose(bodies.rod_mass, mass, rtol=1e-15)
    assert_within(bodies.rod_center, np.tile([0.0, 0.0, -0.75], (6, 1)), 1e-16)
    across = mass * (3 * 0.0175**2 + 1.5**2) / 12
    assert_allclose(bodies.rod_inertia[:, 0, 0], across, rtol=1e-15)
    assert_allclose(bodies.housing_center[:, 2], 0.25, rtol=1e-15)


def test_principal_moments_are_a_diagonal_tensor():
    moments = RigidBody(source="Test", mass=1.0, inertia=[1.0, "1.5 kg m2", 2.0])
    rows = RigidBody(source="Test", mass=1.0, inertia=[[1.0, 0, 0], [0, 1.5, 0], [0, 0, 2.0]])
    assert_array_equal(moments.inertia_tensor, np.diag([1.0, 1.5, 2.0]))
    assert moments.inertia == rows.inertia


def test_plates_are_the_limit_of_what_a_body_can_be():
    """A plate has the sum of its two moments about the third axis; nothing has more."""
    assert RigidBody(source="Test", mass=1.0, inertia=[1.0, 1.0, 2.0]).mass == 1.0
    with pytest.raises(ValueError, match="no rigid body"):
        RigidBody(source="Test", mass=1.0, inertia=[1.0, 1.0, 2.001])


def test_arrays_of_a_platform_cannot_be_written(subtests):
    for name in twin.machine_names():
        with subtests.test(f"{name}"):
            platform = twin.load(name)
            for array in (
                platform.home,
                platform.home_coordinates,
                platform.base_joints,
                platform.platform_joints,
                platform.first_axes,
                platform.minimum_coordinates,
                platform.maximum_coordinates,
            ):
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0.0
