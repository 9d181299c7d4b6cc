"""Published simulation output."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.model.integrate import integrate
from twin.rotations import angles_from_quaternion, pose_from_angles
from twin.validation.case import CaseResult, Measure, Statement, validation_case
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import (
    EXTENDED_SPACE_PAPER,
    LEVEL_FALL,
    SIGNIFICANT_DIGITS,
    TILTED_END_TASK_SPACE,
    TILTED_FALL,
    TILTED_START,
)

DIGIT_TOLERANCE = 1.0
"""Largest error in units of the last printed digit."""

TOLERANCE_REASON = (
    "half a unit for the printing, half a unit for the published integration (tolerance 1e-6); a "
    "wrong mass or length shows from the first rows on by hundreds of units"
)


@validation_case(
    machines=("srspm",),
    because="the programs were published for the paper's benchmark machine, srspm",
)
def check_published_runs(platform: Platform) -> CaseResult:
    """Published simulation output.

    Output files of the published C++ programs are compared with the reference. The actuator-space
    program gives leg lengths of the fall from home up to the singular pose. The
    extended-to-task-space program gives the whole pose of a fall from a tilted start over 1 s.
    Differences are in units of the last printed digit.
    """
    # The first column of both tables is the time [s].
    level, tilted = np.array(LEVEL_FALL), np.array(TILTED_FALL)
    lengths = platform.inverse_kinematics(integrate(platform, 0.5)(level[:, 0])[0])
    initial = pose_from_angles(TILTED_START[:3], TILTED_START[3:], "rodrigues")
    poses = rodrigues_from_pose(integrate(platform, 1.0, pose=initial)(tilted[:, 0])[0])
    task_space_end = np.array(TILTED_END_TASK_SPACE)
    difference = largest(task_space_end - tilted[-1, 1:])
    end_error = largest(poses[-1] - tilted[-1, 1:])
    level_errors = digits_off(lengths, level[:, 1:])
    tilted_errors = digits_off(poses, tilted[:, 1:])
    measures = [
        Measure(
            f"{name}, {len(table)} times up to {table[-1, 0]:g} s",
            errors.max(),
            DIGIT_TOLERANCE,
            TOLERANCE_REASON,
            "digits",
        )
        for name, table, errors in (
            ("leg lengths of the fall from home", level, level_errors),
            ("pose of the tilted fall", tilted, tilted_errors),
        )
    ]
    statements = (
        Statement.judged(
            f"{EXTENDED_SPACE_PAPER}, output of the actuator-space program",
            f"Leg lengths at 0.48 s: {_texts(level[-1, 1:])}",
            _texts(lengths[-1]),
            bool(level_errors.max() <= DIGIT_TOLERANCE),
        ),
        Statement.judged(
            f"{EXTENDED_SPACE_PAPER}, output of the extended-to-task-space program",
            f"Tilted fall at 1 s: {_texts(tilted[-1, 1:])}",
            _texts(poses[-1]),
            bool(tilted_errors.max() <= DIGIT_TOLERANCE),
        ),
        Statement.judged(
            f"{EXTENDED_SPACE_PAPER}, output of the task-space program",
            f"Tilted fall at 1 s: {_texts(task_space_end)}",
            _texts(poses[-1]),
            bool(digits_off(poses[-1], task_space_end).max() <= DIGIT_TOLERANCE),
            f"the two published programs end {difference:.1e} apart; the reference is "
            f"{end_error:.1e} from the extended-to-task-space one",
            "differs",
        ),
    )
    return check_published_runs.result(platform, measures, statements=statements)


def _texts(values: FloatArray) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


def rodrigues_from_pose(pose: FloatArray) -> FloatArray:
    """Return positions and Rodrigues parameters `(..., 6)`; see `TILTED_START`."""
    return np.concatenate(
        [pose[..., :3], angles_from_quaternion(pose[..., 3:], "rodrigues")], axis=-1
    )


def digits_off(value: FloatArray, printed: FloatArray) -> FloatArray:
    """Return differences in units of the last of the printed significant digits."""
    digit_unit = 10.0 ** (np.floor(np.log10(np.abs(printed))) - SIGNIFICANT_DIGITS + 1)
    return np.asarray(np.abs(value - printed) / digit_unit)
