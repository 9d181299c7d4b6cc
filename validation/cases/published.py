"""Printed numbers of the Stewart thesis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.engines.mujoco import MujocoEngine
from twin.rotations import quaternion_from_angles
from twin.validation.case import validation_case
from twin.validation.published.printed import (
    STEWART_BASE_JOINTS,
    STEWART_DOF,
    STEWART_PLATFORM_JOINTS,
    STEWART_RETRACTED_HEIGHT,
    STEWART_RETRACTED_LENGTH,
    STEWART_THESIS,
)
from twin.validation.results import CaseResult, Entry, Measure, Statement

YAW_PITCH_ROLL = (0.2, -0.1, 0.15)
"""[rad] Yaw psi, pitch theta and roll phi at which (2.2) is compared."""

DIGIT_REASON = "half a unit of the last printed digit"


@validation_case(
    machines=("stewart",),
    because="the thesis gives these numbers for its own machine, stewart",
    cost=0.5,
)
def check_published(platform: Platform) -> CaseResult:
    """Printed numbers of the Stewart thesis.

    What the thesis prints as numbers is computed from platform.toml: joint positions and leg
    lengths, and the number of degrees of freedom. Its rotation matrix (2.2) is compared with our
    rotation by the same angles.
    """
    measures = (*_geometry(platform), _rotation(), _degrees_of_freedom(platform))
    return check_published.result(platform, measures, (), (_mobility(platform),))


def _geometry(platform: Platform) -> Iterator[Entry]:
    retracted = np.array([0.0, 0.0, STEWART_RETRACTED_HEIGHT, 1.0, 0.0, 0.0, 0.0])
    for name, value, printed in (
        ("base joints (A.2)", platform.base_joints.T, STEWART_BASE_JOINTS),
        ("platform joints (A.2)", platform.platform_joints.T, STEWART_PLATFORM_JOINTS),
        (
            "leg lengths at 0.740 m (A.1, A.2)",
            platform.inverse_kinematics(retracted),
            STEWART_RETRACTED_LENGTH,
        ),
    ):
        error = np.abs(value - np.array(printed)).max()
        yield Measure(f"{name} against print", error, 5e-5, DIGIT_REASON, unit="m")


def _rotation() -> Measure:
    """Return the error of our rotation, body to base, against (2.2), which is base to body."""
    from scipy.spatial.transform import Rotation

    psi, theta, phi = YAW_PITCH_ROLL
    sin, cos = np.sin, np.cos
    printed = [
        [cos(theta) * cos(psi), cos(theta) * sin(psi), -sin(theta)],
        [
            sin(phi) * sin(theta) * cos(psi) - cos(phi) * sin(psi),
            sin(phi) * sin(theta) * sin(psi) + cos(phi) * cos(psi),
            cos(theta) * sin(phi),
        ],
        [
            cos(phi) * sin(theta) * cos(psi) + sin(phi) * sin(psi),
            cos(phi) * sin(theta) * sin(psi) - sin(phi) * cos(psi),
            cos(theta) * cos(phi),
        ],
    ]
    computed = Rotation.from_quat(quaternion_from_angles(YAW_PITCH_ROLL)[[1, 2, 3, 0]]).as_matrix()
    return Measure(
        "rotation matrix of yaw, pitch, roll against (2.2) transposed",
        np.abs(computed - np.transpose(printed)).max(),
        1e-15,
        "rounding of three products of numbers up to one",
    )


def _rank(platform: Platform) -> tuple[int, int]:
    """Return joint coordinates, and rank of the constraints, of the compiled MuJoCo model."""
    engine = MujocoEngine(platform)
    engine.reset()
    shape = engine.data.nefc, engine.model.nv
    rank = np.linalg.matrix_rank(np.reshape(engine.data.efc_J, shape))
    engine.close()
    return shape[1], int(rank)


def _degrees_of_freedom(platform: Platform) -> Measure:
    coordinates, rank = _rank(platform)
    return Measure(
        "degrees of freedom of the closed MuJoCo model, off the printed 6 by",
        abs(coordinates - rank - STEWART_DOF),
        0.0,
        "a count",
    )


def _mobility(platform: Platform) -> Statement:
    coordinates, rank = _rank(platform)
    legs = platform.n_actuators
    links, joints, joint_freedoms = 2 * legs + 2, 3 * legs, 6 * legs
    mobility = 6 * (links - joints - 1) + joint_freedoms
    agrees = mobility == STEWART_DOF == coordinates - rank
    return STEWART_THESIS["mobility"].judged(
        f"F = 6 ({links} - {joints} - 1) + {joint_freedoms} = {mobility}; the MuJoCo model has "
        f"{coordinates} joint coordinates and loop closures of rank {rank}: "
        f"{coordinates - rank} degrees of freedom.",
        agrees,
    )
