"""What the driving simulator paper says about kinematics, and what we find."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.closed_forms import ExactKinematics, SmallAngleKinematics
from twin.papers.driving_simulator.kinematics import PlateKinematics
from twin.papers.driving_simulator.plate import CORNERS, PlateModel
from twin.papers.driving_simulator.studies.error_map import ErrorMap
from twin.papers.driving_simulator.studies.head import exact_head_motion
from twin.validation.results import Statement
from twin.validation.simulator import EXAMPLE, PAPER, printed_places
from twin.validation.simulator_figures import DEGREES

REST = [0.0, 0.0, 0.0]
"""Rates of heave, roll and pitch."""

SEEN = 1e-3
"""Of the stroke: models closer than this are taken as identical; it is a line's width in a plot."""


def printed_difference(plate: PlateModel, coordinates: FloatArray) -> float:
    """Return how far [m] plate and feet are from where the printed equations have them."""
    found = SmallAngleKinematics(plate).inverse(coordinates)
    printed = printed_places(*coordinates.T)
    off = [found.center[:, :2] - np.column_stack(printed["mp"])]
    for corner in CORNERS[:3]:
        short = "".join(part[0] for part in corner.split("_"))
        off.append(found.feet[:, CORNERS.index(corner)] - np.column_stack(printed[short]))
    return float(np.abs(off).max())


def returned(model: PlateKinematics, coordinates: FloatArray) -> float:
    """Return how far [m, rad] direct kinematics of inverse kinematics ends from its start."""
    front_left, rear_left, rear_right = model.inverse(coordinates).lengths[:, 1:].T
    again = model.direct(rear_right, rear_left, front_left).coordinates
    return float(np.abs(again - coordinates).max())


def kinematics_statements(plate: PlateModel, errors: ErrorMap) -> tuple[Statement, ...]:
    """Return what the paper says about kinematics, ranges and the driver's head."""
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
        Statement(
            f"{PAPER}, direct kynematics",
            "Plots for hrr = 0.19, hrl = 0.189, hfl = 0.1896.",
            f"Heave {heave:.5g} m, roll {DEGREES * roll:.5g} deg, pitch {DEGREES * pitch:.5g} deg; "
            f"exact within {apart:.1e}.",
            "not given",
            "plots without numbers; the lengths lie outside the stroke about 0.3549 m",
        ),
        Statement.judged(
            f"{PAPER}, inverse kynematics",
            "Closed forms of lengths, plate and feet.",
            f"The same to {printed_difference(plate, grid):.0e} m.",
            printed_difference(plate, grid) < 1e-14,
        ),
        Statement.judged(
            f"{PAPER}, inverse kynematics",
            "Heave, roll and pitch of the direct model put into the inverse one give the original "
            "configuration.",
            f"They do, to {both:.0e} m and rad in the small-angle and in the exact model.",
            both < 1e-14,
        ),
        Statement(
            f"{PAPER}, motion ranges",
            "The data sheet's smaller plate gives the data sheet's larger angles.",
            "Ranges grow as the plate shrinks: half the stroke over half its length and width.",
            "not given",
            "neither the data sheet's dimensions nor its angles are printed",
        ),
        Statement.judged(
            f"{PAPER}, pilot linear acceleration",
            "Its vertical component ends with -981/100.",
            f"At rest the driver feels {felt:+.4g} m/s2, and is accelerated by {moved:.4g} m/s2.",
            min(abs(felt + plate.gravity), abs(moved + plate.gravity)) < 1e-9,
            "as printed a driver at rest feels -g, in free fall -2 g; see the errata",
        ),
        Statement.judged(
            f"{PAPER}, motion ranges and Simscape model",
            "The ranges, and results identical to the Simscape model's, confirm the small-angle "
            "approximation.",
            f"Lengths are off by up to {1e3 * worst.length:.2g} mm of "
            f"{1e3 * plate.stroke:g} mm stroke, heave by {1e3 * worst.heave:.2g} mm, "
            f"feet by {1e3 * worst.foot:.2g} mm.",
            max(worst.length, worst.heave, worst.foot) < SEEN * plate.stroke,
            "curves that look alike do not show a few millimetres; the errors grow with the square "
            "of the angles",
        ),
    )
