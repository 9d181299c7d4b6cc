"""Kinematics of the driving simulator."""

from __future__ import annotations

from collections.abc import Iterator

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.kinematics import (
    ExactKinematics,
    PlateModel,
    SmallAngleKinematics,
)
from twin.papers.driving_simulator.studies import (
    small_angle_ranges,
    worst_small_angle_errors,
)
from twin.validation.case import validation_case
from twin.validation.cases.driving_simulator.engines import (
    MACHINE_REASON,
    MOTION_RANGES,
    kinematics_statements,
    printed_difference,
    returned,
)
from twin.validation.cases.driving_simulator.figures import (
    DEGREES_PER_RADIAN,
    coordinates_of,
    envelope_plot,
)
from twin.validation.cases.driving_simulator.pilot import pilot_measures, pilot_statements
from twin.validation.measures.sampling import largest, random_states
from twin.validation.published.printed import Comparison, compared
from twin.validation.results import CaseResult, Entry, Measure

STATE_COUNT = 200
"""Number of random poses at which the kinematics are compared."""

ROUNDING_REASON = "rounding of some ten operations on lengths below a metre"


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON)
def check_simulator_kinematics(platform: Platform) -> CaseResult:
    """Kinematics of the driving simulator.

    The paper's closed forms for small angles are evaluated as printed and compared with ours.
    Direct and inverse kinematics are compared in both models, and the exact closed forms with the
    machine's own kinematics. Motion ranges are compared with the printed ones. Over the whole
    workspace the small-angle model is compared with the exact one, in millimetres: the paper calls
    this model verified.
    """
    plate = PlateModel.from_parameters(platform.parameters)
    poses = random_states(platform, STATE_COUNT).pose
    worst = worst_small_angle_errors(plate)
    ranges = _ranges(plate)
    measures = [
        *(comparison.measure for comparison in ranges),
        *_consistency(plate, coordinates_of(poses)),
        *_machine(platform, plate, poses),
        *pilot_measures(plate),
    ]
    statements = (
        *(comparison.statement for comparison in ranges),
        *kinematics_statements(plate, worst),
        *pilot_statements(platform, plate),
    )
    return check_simulator_kinematics.result(
        platform, measures, (envelope_plot(plate),), statements
    )


def _ranges(plate: PlateModel) -> tuple[Comparison, ...]:
    heave, roll, pitch = small_angle_ranges(plate)
    computed = (1e3 * heave, DEGREES_PER_RADIAN * roll, DEGREES_PER_RADIAN * pitch)
    return tuple(compared(*pair) for pair in zip(MOTION_RANGES, computed, strict=True))


def _consistency(plate: PlateModel, coordinates: FloatArray) -> Iterator[Entry]:
    yield Measure(
        f"small-angle forms against the printed ones, {len(coordinates)} poses",
        printed_difference(plate, coordinates),
        1e-14,
        ROUNDING_REASON,
        unit="m",
    )
    for name, model in (
        ("small-angle", SmallAngleKinematics(plate)),
        ("exact", ExactKinematics(plate)),
    ):
        yield Measure(
            f"{name}: direct kinematics of inverse kinematics",
            returned(model, coordinates),
            1e-14,
            ROUNDING_REASON,
            unit="m, rad",
        )


def _machine(platform: Platform, plate: PlateModel, poses: FloatArray) -> Iterator[Entry]:
    closed_form = ExactKinematics(plate).inverse(coordinates_of(poses))
    for name, computed, expected in (
        ("lengths", closed_form.lengths, platform.inverse_kinematics(poses)),
        ("place of the plate", closed_form.center, poses[:, :3]),
    ):
        yield Measure(
            f"exact closed forms against the machine's kinematics: {name}",
            largest(computed - expected),
            1e-12,
            "two derivations; rounding and the angles taken out of a quaternion",
            unit="m",
        )
    alternating_sum = platform.inverse_kinematics(poses) @ [1.0, -1.0, 1.0, -1.0]
    yield Measure(
        "lengths front right - front left + rear left - rear right",
        largest(alternating_sum),
        1e-14,
        "zero at every pose: a plane rectangle; also without small angles",
        unit="m",
    )
