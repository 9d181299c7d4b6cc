"""Stewart thesis, figure 2.6: leg displacements of the pitch motion 3 deg sin(2 pi t) at 0.74 m."""

import numpy as np
from tolerance import assert_within, max_abs

from twin.rotations import pose_from_angles

RETRACTED = 0.8644
"""[m] leg length at height 0.74 m; appendix A.2 prints four decimals."""

# Appendix A.2, columns are legs.
BODY_POINTS = np.array(
    [
        [0.1445, 0.3710, 0.2785, -0.3737, -0.4230, 0.0027],
        [-0.4050, 0.2173, 0.3277, 0.2127, 0.0773, -0.4300],
        [0, 0, 0, 0, 0, 0],
    ]
)
BASE_POINTS = np.array(
    [
        [0.5701, 0.6097, -0.0519, -0.1661, -0.5181, -0.4436],
        [-0.2692, -0.1602, 0.6283, 0.6081, -0.3591, -0.4479],
        [0, 0, 0, 0, 0, 0],
    ]
)


def displacements(platform, time, axis_angle=np.pi / 2):
    """Return leg displacements `(k, 6)` [m] of the thesis motion about a horizontal axis."""
    angle = np.radians(3.0) * np.sin(2 * np.pi * np.asarray(time))
    axis = np.array([np.cos(axis_angle), np.sin(axis_angle), 0.0])
    pose = pose_from_angles([0.0, 0.0, 0.74], angle[:, None] * axis, "rotation_vector")
    return platform.inverse_kinematics(pose) - RETRACTED


def test_joints_are_those_of_the_thesis(stewart):
    # Printed with four decimals.
    assert_within(stewart.platform_joints, BODY_POINTS.T, 5.1e-5)
    assert_within(stewart.base_joints, BASE_POINTS.T, 5.1e-5)


def test_legs_start_retracted(stewart):
    assert max_abs(displacements(stewart, [0.0, 0.5, 1.0])) < 5e-5  # four decimals


def test_motion_is_symmetric_in_time(stewart):
    time = np.linspace(0.0, 0.25, 26)
    # Sines of mirrored times differ by rounding of the argument.
    assert_within(displacements(stewart, time), displacements(stewart, 0.5 - time), 1e-15)


def test_three_pairs_share_the_load(stewart):
    time = np.linspace(0.0, 1.0, 101)
    pitch = displacements(stewart, time)
    third = displacements(stewart, time, np.pi / 2 + 2 * np.pi / 3)
    # Rounding of lengths about one metre.
    assert_within(third, np.roll(pitch, 2, axis=1), 2e-15)


def test_mirrored_legs_move_alike(stewart):
    """Turning about the normal of a mirror plane keeps the plane: its legs come in equal pairs."""
    time = np.linspace(0.0, 1.0, 101)
    moved = displacements(stewart, time, np.radians(-20.0 + 90.0))
    assert_within(moved[:, [0, 2, 3]], moved[:, [1, 5, 4]], 2e-15)
    assert max_abs(moved[:, 0] - moved[:, 2]) > 1e-3


def test_pitch_lifts_and_lowers_equally_to_first_order(stewart):
    moved = displacements(stewart, np.linspace(0.0, 1.0, 101))
    # No leg changes by more than its joint travels, and the foremost ones by most of it.
    assert 0.75 < max_abs(moved) / (0.43 * np.radians(3.0)) < 1.0
    # What does not cancel is of second order: the joint radius times 3 deg squared.
    assert max_abs(moved.sum(axis=1)) < 6 * 0.43 * np.radians(3.0) ** 2


def test_printed_matrix_turns_backwards(stewart):
    """Erratum: appendix A.2 applies the matrix base to body to vectors of the body."""
    angle = np.radians(3.0)
    printed = np.array(
        [
            [np.cos(angle), 0.0, -np.sin(angle)],
            [0.0, 1.0, 0.0],
            [np.sin(angle), 0.0, np.cos(angle)],
        ]
    )
    legs = printed @ BODY_POINTS + np.array([[0.0], [0.0], [0.74]]) - BASE_POINTS
    backwards = pose_from_angles([0.0, 0.0, 0.74], [0.0, -angle, 0.0])
    # Points printed with four decimals.
    assert_within(np.linalg.norm(legs, axis=0), stewart.inverse_kinematics(backwards), 1e-4)
    forwards = pose_from_angles([0.0, 0.0, 0.74], [0.0, angle, 0.0])
    assert max_abs(np.linalg.norm(legs, axis=0) - stewart.inverse_kinematics(forwards)) > 1e-3
