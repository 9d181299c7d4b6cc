"""Numbers that follow from the parameters: joints, cylinders, leg frames."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import twin
from twin.machine.body import Cylinder, RigidBody
from twin.machine.layout.joints import PairedCircle


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
