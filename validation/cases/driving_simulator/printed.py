"""The driving simulator paper's printed values, and its machine as its own models take it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.rotations import angles_from_quaternion
from twin.validation.published.compared import PrintedValue

PAPER = "Driving simulator"

BECAUSE = "the paper is about its own machine, driving_simulator"

RANGES = (
    PrintedValue(f"{PAPER}, motion ranges", "heave to each side", "50", "mm"),
    PrintedValue(f"{PAPER}, motion ranges", "roll to each side", "6.9873", "deg"),
    PrintedValue(f"{PAPER}, motion ranges", "pitch to each side", "3.581", "deg"),
)

EXAMPLE = {"rear_right": 0.19, "rear_left": 0.189, "front_left": 0.1896}
"""[m] section "Direct kynematics": hrr, hrl, hfl."""

RANK, RANKS = 7, (0, 0, 7)
"""Of the constraints' Jacobian; of the three levels' derivatives by the multipliers."""


def printed_places(heave: Any, roll: Any, pitch: Any) -> dict[str, tuple[Any, Any]]:
    """Return x and y [m] of plate and feet, term by term as section "Inverse kynematics" has it."""
    half_width, half_length = 41 / 100, 4 / 5
    tilted = 8 * pitch**2 / 5
    turned = 41 * roll * pitch / 50
    raised = 41 * roll**2 / 50
    return {
        "mp": (
            pitch * (80 * pitch - 41 * roll + 100 * heave) / 100,
            41 * roll**2 / 100 - heave * roll,
        ),
        "fr": (tilted + half_length, -half_width + 0 * roll),
        "fl": (tilted - turned + half_length, raised + half_width),
        "rl": (-turned - half_length, raised + half_width),
    }


def coordinates_of(pose: FloatArray) -> FloatArray:
    """Return heave [m], roll and pitch [rad] `(m, 3)` of poses `(m, 7)`."""
    angles = angles_from_quaternion(pose[:, 3:], "roll_pitch")
    return np.column_stack([pose[:, 2], angles])


def rates_of(pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the rates `(m, 3)` of heave, roll and pitch: pitch turns about the rolled y axis."""
    roll = coordinates_of(pose)[:, 1]
    pitching = np.cos(roll) * twist[:, 4] + np.sin(roll) * twist[:, 5]
    return np.column_stack([twist[:, 2], twist[:, 3], pitching])


def accelerations_of(pose: FloatArray, twist: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Return the second derivatives `(m, 3)` of heave, roll and pitch."""
    roll = coordinates_of(pose)[:, 1]
    sine, cosine = np.sin(roll), np.cos(roll)
    turned = cosine * acceleration[:, 4] + sine * acceleration[:, 5]
    carried = twist[:, 3] * (cosine * twist[:, 5] - sine * twist[:, 4])
    return np.column_stack([acceleration[:, 2], acceleration[:, 3], turned + carried])
