"""Pose test, conventions and sag of the positioning hexapod.

The paper's pose test has no gravity. The lengths of the pose (10, 20, 30) mm and (0.1, 0.2, 0.05)
rad about fixed axes are commanded as rest lengths. Statics and simulations of the reference and of
both engines have to settle there. With gravity on, the sag is compared with the prediction of the
stiffness matrix. Fixed axes are compared with those of the bushing joint, and leg lengths with the
printed equation. Natural frequencies are compared, too, and the stroke that a mobility of 10 mm and
0.05 rad requires.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from twin.analysis.feasibility.mobility import Mobility
from twin.analysis.feasibility.stroke import RequiredStroke, required_stroke
from twin.analysis.platform import Platform
from twin.analysis.stiffness.equilibrium import commanded_coordinates, natural_modes, static_pose
from twin.analysis.stiffness.matrix import characteristic_scale, stiffness_matrix
from twin.analysis.stiffness.sag import SagSweep, sag_over_gravity, with_gravity
from twin.basics.arrays import FloatArray
from twin.rotations import (
    angle_between,
    angles_from_quaternion,
    displacement,
    pose_from_angles,
    quaternion_from_angles,
)
from twin.simulation.trajectory import Trajectory
from twin.validation.case import Case
from twin.validation.cases.micro_hexapod.pose_test import (
    RISE_TIME,
    SETTLING_TIME,
    TEST_ANGLES,
    TEST_POSITION,
    hexapod_statements,
    printed_lengths,
    rotation_measures,
    settle_everywhere,
)
from twin.validation.measures.comparison import log_curve
from twin.validation.measures.metrics import largest
from twin.validation.results import (
    CaseResult,
    Curve,
    CurveStyle,
    Entry,
    Measure,
    Panel,
    Plot,
    Quantity,
)

CASE = Case(
    "micro_hexapod",
    __doc__,
    machines=("micro_hexapod",),
    because="the paper states the test for its own machine, micro_hexapod",
    cost=5.0,
)

REACHED = "bar of 1e-10; the paper prints 1.6e-10 m and 6.2e-10 in an entry of R"

GRAVITIES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Gravity times these."""

MOBILITY = dict.fromkeys("xyz", (-0.01, 0.01)) | {f"angle_{axis}": (-0.05, 0.05) for axis in "xyz"}
"""[m], [rad]; adopted."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    target = pose_from_angles(platform.home[:3] + TEST_POSITION, TEST_ANGLES, "fixed_xyz")
    floating = with_gravity(platform, 0.0)
    lengths = platform.inverse_kinematics(target)
    settling, notes = settle_everywhere(floating)
    reached = {"statics": static_pose(floating, lengths, guess=platform.home)}
    reached |= {f"{name} after {SETTLING_TIME:g} s": run.pose[-1] for name, run in settling.items()}
    sweep = sag_over_gravity(platform, GRAVITIES, target)
    here = sweep.sags[GRAVITIES.index(1.0)]
    stroke = required_stroke(platform, Mobility.about(platform.home, MOBILITY, "fixed_xyz"))
    measures = [
        *_reached(reached, target),
        *notes,
        *_sag(platform, sweep, target),
        *_conventions(platform, target, lengths),
        *_design(platform, stroke),
    ]
    plots = (_settling_plot(settling, target), _sag_plot(sweep))
    statements = hexapod_statements(platform, floating, target, settling["reference"], here)
    return CASE.result(platform, measures, plots, statements)


def _reached(reached: Mapping[str, FloatArray], target: FloatArray) -> Iterator[Entry]:
    for how, pose in reached.items():
        error = np.abs(displacement(pose, target))
        name = f"commanded pose against the one reached, gravity off, {how}"
        yield Measure(f"{name}: position", error[:3].max(), 1e-10, REACHED, unit="m")
        yield Measure(f"{name}: rotation", error[3:].max(), 1e-10, REACHED, unit="rad")


def _sag(platform: Platform, sweep: SagSweep, target: FloatArray) -> Iterator[Entry]:
    scale = characteristic_scale(platform)
    here = sweep.sags[GRAVITIES.index(1.0)]
    whole, missed = (np.linalg.norm(part / scale) for part in (here.exact, here.remainder))
    yield Quantity(
        "sag under gravity at the commanded pose",
        float(np.linalg.norm(here.exact[:3])),
        note=f"and {np.linalg.norm(here.exact[3:]):.3g} rad",
        unit="m",
    )
    yield Measure(
        "sag that the stiffness matrix does not predict, per sag",
        float(missed / whole),
        1e-3,
        "of second order: about the sag per size of the machine, times ten for lever arms; a wrong "
        "entry of the matrix shows at 1e-1",
    )
    missing = np.array([np.linalg.norm(one.remainder / scale) for one in sweep.sags])
    orders = np.log2(missing[1:] / missing[:-1])
    yield Measure(
        "order of what it does not predict in the load, off 2 by",
        largest(orders - 2.0),
        0.02,
        "gravity doubled four times; third order enters with the sag per size, 1e-4",
    )
    lifted = displacement(static_pose(platform, commanded_coordinates(platform, target)), target)
    yield Measure(
        "pose reached under gravity with rest lengths that make up for the sag",
        largest(lifted),
        1e-10,
        "as without gravity",
        unit="m, rad",
    )


def _conventions(platform: Platform, target: FloatArray, lengths: FloatArray) -> Iterator[Entry]:
    moving = pose_from_angles(target[:3], TEST_ANGLES, "moving_xyz")
    apart = float(angle_between(target[3:], moving[3:]))
    yield Quantity(
        "same angles about fixed and about moving axes, attitudes apart",
        apart,
        note="legs differ by up to "
        f"{1e3 * np.abs(platform.inverse_kinematics(moving) - lengths).max():.2g} mm",
        unit="rad",
    )
    converted = angles_from_quaternion(target[3:], "moving_xyz")
    back = angle_between(quaternion_from_angles(converted, "moving_xyz"), target[3:])
    yield Measure(
        "angles converted for the bushing joint", float(back), 1e-14, "rounding", unit="rad"
    )
    yield from rotation_measures(target, moving)
    difference = np.abs(printed_lengths(platform, target) - lengths).max()
    yield Measure(
        "leg lengths against the printed equation",
        difference,
        1e-14,
        "rounding of squares ten times the lengths'",
        unit="m",
    )


def _design(platform: Platform, stroke: RequiredStroke) -> Iterator[Entry]:
    diagonal = np.diag(stiffness_matrix(platform).total)
    modes = natural_modes(platform)
    frequencies = ", ".join(f"{value:.1f}" for value in modes.frequencies)
    yield Quantity(
        "stiffness at home, vertical",
        diagonal[2],
        note=f"horizontal {diagonal[0]:.4g} N/m; about x {diagonal[3]:.4g}, about z "
        f"{diagonal[5]:.4g} N m/rad",
        unit="N/m",
    )
    yield Quantity(
        "lowest natural frequency", modes.frequencies[0], note=f"all: {frequencies}", unit="Hz"
    )
    yield Measure(
        "stroke for 10 mm and 0.05 rad about every axis at once",
        stroke.stroke.max(),
        float((platform.maximum_coordinates - platform.minimum_coordinates).min()),
        f"the actuators' range; legs from {1e3 * stroke.minimum.min():.1f} to "
        f"{1e3 * stroke.maximum.max():.1f} mm",
        unit="m",
    )


def _settling_plot(settling: Mapping[str, Trajectory], target: FloatArray) -> Plot:
    errors = {name: np.abs(displacement(run.pose, target)) for name, run in settling.items()}
    panels = tuple(
        Panel(
            label,
            *(
                log_curve(name, run.time, errors[name][:, columns].max(axis=1))
                for name, run in settling.items()
            ),
            log_y=True,
        )
        for label, columns in (
            ("position off [m]", slice(0, 3)),
            ("rotation off [rad]", slice(3, 6)),
        )
    )
    caption = f"Rest lengths are commanded within {RISE_TIME:g} s; gravity off."
    return Plot("Settling at the commanded pose", "time [s]", *panels, caption=caption)


SAG_CURVES: tuple[tuple[str, str, CurveStyle], ...] = (
    ("sag", "exact", "line+markers"),
    ("predicted", "predicted", "dash"),
    ("not predicted", "remainder", "line+markers"),
)
"""Name, attribute and style: sag and prediction lie on each other."""


def _sag_plot(sweep: SagSweep) -> Plot:
    panels = []
    for label, columns in (("translation [m]", slice(0, 3)), ("rotation [rad]", slice(3, 6))):
        curves = [
            Curve(
                title,
                sweep.factors,
                np.array([np.linalg.norm(getattr(one, name)[columns]) for one in sweep.sags]),
                style,
            )
            for title, name, style in SAG_CURVES
        ]
        panels.append(Panel(label, *curves, log_y=True))
    return Plot("Sag and what the stiffness predicts", "gravity / g", *panels, log_x=True)
