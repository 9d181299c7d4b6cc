"""Statements of the driving simulator paper about kinematics, beside our values."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.closed_forms import ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.kinematics import PlateKinematics
from twin.papers.driving_simulator.plate import CORNERS, PlateModel
from twin.papers.driving_simulator.studies.error_map import ErrorMap
from twin.papers.driving_simulator.studies.head import exact_head_motion
from twin.validation.cases.driving_simulator.figures import DEGREES
from twin.validation.measures.metrics import largest
from twin.validation.published.compared import PrintedValue
from twin.validation.published.papers import SIMULATOR
from twin.validation.results import Statement

PAPER = "Driving simulator"

BECAUSE = "the paper is about its own machine, driving_simulator"

RANGES = (
    PrintedValue(f"{PAPER}, motion ranges", "heave to each side", "50", "mm"),
    PrintedValue(f"{PAPER}, motion ranges", "roll to each side", "6.9873", "deg"),
    PrintedValue(f"{PAPER}, motion ranges", "pitch to each side", "3.581", "deg"),
)

EXAMPLE = {"rear_right": 0.19, "rear_left": 0.189, "front_left": 0.1896}
"""[m] section "Direct kynematics": hrr, hrl, hfl."""

LINE = 1.0 / 342.0
"""Of a curve's range: one pixel. Matlab draws lines of half a point in axes 342 pixels high; curves
closer than that are identical to who looks at them, and the paper gives no more than curves."""

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


REST = [0.0, 0.0, 0.0]
"""Rates of heave, roll and pitch."""


def printed_difference(plate: PlateModel, coordinates: FloatArray) -> float:
    """Return the distance [m] of plate and feet from the printed equations."""
    found = SmallAngleKinematics(plate).inverse(coordinates)
    printed = printed_places(*coordinates.T)
    off = [found.center[:, :2] - np.column_stack(printed["mp"])]
    for corner in CORNERS[:3]:
        short = "".join(part[0] for part in corner.split("_"))
        off.append(found.feet[:, CORNERS.index(corner)] - np.column_stack(printed[short]))
    return largest(off)


def returned(model: PlateKinematics, coordinates: FloatArray) -> float:
    """Return the error [m, rad] of direct kinematics after inverse kinematics."""
    front_left, rear_left, rear_right = model.inverse(coordinates).lengths[:, 1:].T
    again = model.direct(rear_right, rear_left, front_left).coordinates
    return largest(again - coordinates)


def kinematics_statements(plate: PlateModel, errors: ErrorMap) -> tuple[Statement, ...]:
    """Return the statements about kinematics, ranges and the driver's head."""
    small = SmallAngleKinematics(plate).direct(**EXAMPLE).coordinates
    exact = ExactKinematics(plate).direct(**EXAMPLE).coordinates
    heave, roll, pitch = small
    apart = np.abs(small - exact).max()
    grid = np.array([[0.35, 0.05, -0.03], [0.32, -0.1, 0.02]])
    both = max(returned(model(plate), grid) for model in (SmallAngleKinematics, ExactKinematics))
    worst = errors.worst
    still = exact_head_motion(plate, [0.0, 0.0, 0.0], [plate.home_length, 0.0, 0.0], REST, REST)
    felt, moved = float(still.specific_force[2]), float(still.acceleration[2])
    return (
        SIMULATOR["direct_kinematics"].not_given(
            f"Heave {heave:.5g} m, roll {DEGREES * roll:.5g} deg, pitch {DEGREES * pitch:.5g} deg; "
            f"exact within {apart:.1e}.",
            "plots without numbers; the lengths lie outside the stroke about 0.3549 m",
        ),
        SIMULATOR["closed_forms"].judged(
            f"The same to {printed_difference(plate, grid):.0e} m.",
            printed_difference(plate, grid) < 1e-14,
        ),
        SIMULATOR["original_configuration"].judged(
            f"They do, to {both:.0e} m and rad in the small-angle and in the exact model.",
            both < 1e-14,
        ),
        SIMULATOR["smaller_plate"].not_given(
            "Ranges grow as the plate shrinks: half the stroke over half its length and width.",
            "neither the data sheet's dimensions nor its angles are printed",
        ),
        SIMULATOR["vertical_acceleration"].judged(
            f"At rest the driver feels {felt:+.4g} m/s2, and is accelerated by {moved:.4g} m/s2.",
            min(abs(felt + plate.gravity), abs(moved + plate.gravity)) < 1e-9,
            "as printed a driver at rest feels -g, in free fall -2 g; see the errata",
        ),
        SIMULATOR["small_angles"].judged(
            f"Lengths are off by up to {1e3 * worst.length:.2g} mm of "
            f"{1e3 * plate.stroke:g} mm stroke, heave by {1e3 * worst.heave:.2g} mm, "
            f"feet by {1e3 * worst.foot:.2g} mm.",
            max(worst.length, worst.heave, worst.foot) < LINE * plate.stroke,
            "curves that look alike do not show a few millimetres; the errors grow with the square "
            "of the angles",
        ),
    )
