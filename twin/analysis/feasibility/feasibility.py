"""Feasibility of a motion with a load: a verdict with margins to all known limits, worst first."""

from __future__ import annotations

import html
import re
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.actuators import (
    ActuatorTask,
    LegRequirement,
    MotorRequirement,
    requirement_along,
)
from twin.analysis.feasibility.collisions import (
    closest_legs,
    collision_quantities,
    plate_quantities,
)
from twin.analysis.feasibility.course import (
    DEFAULT_SAMPLES,
    TIGHT_FRACTION,
    Course,
    Margin,
    Quantity,
    amount,
    leg_points,
    legs_text,
    margin_of,
    motion_course,
    reached,
    rest_course,
    share_text,
)
from twin.analysis.feasibility.joint_angles import (
    directions,
    joint_quantities,
    missing_joints,
    singularity_quantities,
)
from twin.analysis.machine_summary import Ranges, axis_ranges, moved_home
from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import FloatArray, as_instance, bounded
from twin.basics.optional import optional
from twin.charts.panels import FOOTER_HEIGHT, PANEL_GAP, SINGLE_PANEL_HEIGHT, TITLE_HEIGHT, thin_out
from twin.charts.style import CURVE_COLORS, TITLE_SIZE, axis, curve_color, layout, legend
from twin.errors import InputError, SingularPoseError, StateError
from twin.model.machine_base import without_compiling
from twin.model.machine_model import MachineModel, as_model


class Feasibility(NamedTuple):
    """Verdict on a task; true where it is feasible."""

    machine: str
    task: str
    margins: tuple[Margin, ...]
    """margins to all known limits, the worst first"""
    not_given: tuple[str, ...]
    """limits that the machine's file does not give, and that are therefore not judged"""
    notes: tuple[str, ...]
    """assumptions behind the figures"""
    time: FloatArray
    """`(k,)` [s]; zero at rest"""
    shares: dict[str, FloatArray]
    """quantity -> fraction of its limit `(k,)` that the worst leg uses at each time"""
    worst_legs: dict[str, tuple[str, ...]]
    """quantity -> text that names the worst leg at each time, such as "leg 2" """
    required: tuple[LegRequirement, ...] = ()
    """requirement on each actuator, whether or not it has a limit"""
    places: tuple[str, ...] = ()
    """name of each pose at rest; empty for a motion"""
    units: tuple[str, str] = ("N", "m/s")
    """units of forces and speeds"""

    @property
    def feasible(self) -> bool:
        """Whether all known limits are kept."""
        return all(margin.holds for margin in self.margins)

    @property
    def violated(self) -> tuple[Margin, ...]:
        """Margins whose limits are not kept, the worst first."""
        return tuple(margin for margin in self.margins if not margin.holds)

    @property
    def remedies(self) -> tuple[str, ...]:
        """Sentences about what is violated, by how much, and what would mend it."""
        return tuple(margin.remedy for margin in self.violated)

    @property
    def summary(self) -> str:
        """One-line summary of the verdict."""
        head, worst = f"{self.machine}, {self.task}", self.margins[0]
        if not worst.holds:
            violated = f"{len(self.violated)} of {len(self.margins)}"
            return f"{head}: not feasible, {violated} limits violated"
        word = "tight" if worst.share > TIGHT_FRACTION else "closest"
        fraction = share_text(worst.share)
        return f"{head}: feasible; {word}: {worst.quantity}, {fraction} of its limit"

    def __bool__(self) -> bool:
        return self.feasible

    def __str__(self) -> str:
        return "\n".join([self.summary, *self.remedies])


def verdict(platform: MachineModel, course: Course, task: str, wrench: Any = None) -> Feasibility:
    """Return the verdict on a course, over its rows that are reachable and not singular."""
    reach_margin, course = _in_reach(platform, course)
    quantities: list[Quantity] = []
    missing: list[str] = []
    notes: list[str] = []
    required: tuple[LegRequirement, ...] = ()
    margins = [reach_margin]
    if len(course.time):
        course, requirement, singular = _before_singular(platform, course, wrench)
        margins += [] if singular is None else [singular]
        if requirement is not None:
            loads = ActuatorTask(platform, course, requirement)
            required = loads.needed.legs
            quantities = [*loads.quantities(), *_geometry(platform, course, task, missing)]
            quantities += singularity_quantities(platform, course)
            missing = loads.missing() + missing
            notes = _notes(platform, course, loads)
    margins += [margin_of(quantity, course) for quantity in quantities]
    return Feasibility(
        platform.name,
        task,
        tuple(sorted(margins, key=lambda margin: -margin.share)),
        tuple(missing),
        tuple(notes),
        course.time,
        {quantity.name: quantity.share.max(axis=1) for quantity in quantities},
        {quantity.name: _worst_legs(quantity) for quantity in quantities},
        required,
        course.pose_names,
        (platform.force_unit, f"{platform.coordinate_unit}/s"),
    )


def _in_reach(platform: MachineModel, course: Course) -> tuple[Margin, Course]:
    """Return the margin of reach, and the rows of a course that all legs reach."""
    legs = reached(platform, course.motion.pose)
    mask = np.asarray(legs.all(axis=1))
    count = int((~mask).sum())
    row = int(np.argmin(mask))
    leg_numbers = tuple(int(i) + 1 for i in np.flatnonzero(~legs[row]))
    text = (
        f"{legs_text(leg_numbers).capitalize()} cannot reach the pose ({course.row_label(row)}); "
        f"{count} of {len(mask)} poses are out of reach. Move less, move the middle of the motion, "
        "or take longer legs."
    )
    margin = _singular(course, row)._replace(
        quantity="reach", required=float(count), legs=leg_numbers, remedy=text
    )
    if count:
        return margin, course.rows(mask)
    return margin._replace(share=0.0, time=None, place="all poses", remedy=""), course


def _before_singular(
    platform: MachineModel, course: Course, wrench: Any
) -> tuple[Course, MotorRequirement | None, Margin | None]:
    """Return the rows that are judged, their requirement, and the margin of the first other row.

    A motion is judged up to its first singular pose; of poses at rest only singular ones are left
    out. The requirement is None where no row is left, the margin None where all rows are judged.
    """
    margin = None
    while len(course.time):
        try:
            requirement = requirement_along(platform, course.time, course.motion, wrench)
            return course, requirement, margin
        except SingularPoseError as error:
            row = int(error.data["index"])
            this_margin = _singular(course, row)
        except StateError as error:
            row = 0
            this_margin = _singular(course, row)._replace(
                quantity="springs in series", remedy=str(error)
            )
        margin = margin or this_margin
        course = course.rows(
            np.arange(len(course.time)) != row if course.pose_names else slice(row)
        )
    return course, None, margin


def _singular(course: Course, row: int) -> Margin:
    """Return the margin of a row whose pose is singular."""
    label = course.row_label(row)
    restriction = "" if course.pose_names else ", and what comes after it is not judged"
    return Margin(
        "singular pose",
        "poses",
        1.0,
        0.0,
        np.inf,
        False,
        (),
        None if course.pose_names else float(course.time[row]),
        label,
        course.motion.pose[row].copy(),
        f"The pose ({label}) is singular: no forces of the legs hold the machine "
        f"there{restriction}. Stay closer to home, or place the joints differently.",
    )


def _geometry(
    platform: MachineModel, course: Course, task: str, missing: list[str]
) -> list[Quantity]:
    """Return the quantities of joints and collisions; appends missing limits to `missing`."""
    points = leg_points(platform, course.motion.pose)
    leg_directions = directions(platform, points)
    home = directions(platform, leg_points(platform, platform.home[None]))
    quantities = list(joint_quantities(platform, course, leg_directions, home))
    missing += missing_joints(platform, leg_directions)
    collisions = list(collision_quantities(platform, course, points))
    if any(leg.thickness is None for leg in platform.parameters.legs):
        distance, first_leg, second_leg = closest_legs(platform, course.motion.pose)
        missing.append(
            f"thickness of the legs for collisions ({task}: the axes of legs {first_leg} and "
            f"{second_leg} come as close as {amount(distance, 'm')})"
        )
    return [*quantities, *collisions, *plate_quantities(platform, course, points)]


def _notes(platform: MachineModel, course: Course, loads: ActuatorTask) -> list[str]:
    """Return the assumptions behind the figures."""
    notes = []
    if platform.n_deflections and not course.pose_names:
        notes.append(
            "springs in series follow without oscillating: forces are quasi-static, those of the "
            "springs' equilibrium along the motion; simulate it for their oscillation"
        )
    if platform.leg.has_axial_spring:
        notes.append("forces are what spring, damper and actuator of a leg carry together")
    if platform.n_actuators > platform.dof:
        notes.append(
            "the legs are redundant: internal forces are chosen so that the limits are kept best; "
            "where one is exceeded, none keep it"
            if loads.shared
            else "the legs are redundant: forces are the smallest of many"
        )
    return notes


def _worst_legs(quantity: Quantity) -> tuple[str, ...]:
    return tuple(legs_text(quantity.legs[column]) for column in quantity.share.argmax(axis=1))


MAX_DRAWN_FRACTION = 100.0
"""Largest fraction of a limit that is drawn; at a singular pose it is infinite."""


def feasibility(
    platform: MachineModel,
    motion: Any = None,
    *,
    payload: Payload | float | None = None,
    wrench: Any = None,
    samples: int = DEFAULT_SAMPLES,
) -> Feasibility:
    """Return whether a machine does a motion, or rests at home, with a load.

    Springs beside the actuators count as in `motor_requirement`. Springs in series follow without
    oscillating: forces are those of static equilibrium at rest, and quasi-static in a motion.

    Args:
        platform: the machine.
        motion: from `twin.motion`; None: at rest at home.
        payload: body fixed to the platform, or the mass [kg] of a point at its reference point;
            default none.
        wrench: external, constant `(6,)` [N], [N m] in base axes, default none.
        samples: number of times along the motion.

    Raises:
        InputError: not a machine, motion or payload, wrong shapes, or a convention whose angles
            the machine cannot have.
    """
    machine, load = _loaded(platform, payload)
    if motion is None:
        task = f"at rest at home{load}"
        return rest_feasibility(machine, machine.home[None], ("home",), task, wrench)
    course = motion_course(machine, motion, samples)
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(motion).__name__).lower()
    return verdict(machine, course, f"{kind} of {motion.duration:.4g} s{load}", wrench)


def rest_feasibility(
    platform: MachineModel,
    poses: FloatArray,
    places: tuple[str, ...],
    task: str,
    wrench: Any = None,
) -> Feasibility:
    """Return whether a machine rests at poses `(k, 7)`, each for itself.

    Args:
        platform: the machine.
        poses: that it can have.
        places: a name for each.
        task: name of them all.
        wrench: as for `feasibility`.

    Raises:
        InputError: wrong shapes.
    """
    with without_compiling():
        return verdict(platform, rest_course(platform, poses, places), task, wrench)


def range_feasibility(
    platform: MachineModel,
    *,
    payload: Payload | float | None = None,
    ranges: Ranges | None = None,
    fraction: float = 1.0,
) -> Feasibility:
    """Return whether a machine rests at both ends of each range of `axis_ranges`.

    The ends are where an actuator is at its limit, springs relaxed, so stroke is left out.

    Args:
        platform: the machine.
        payload: as for `feasibility`.
        ranges: what `axis_ranges` returns, where it is known.
        fraction: fraction of each range from home to its ends.

    Raises:
        InputError: not a machine or payload, wrong shapes, or a fraction not from 0 to 1.
    """
    machine, load = _loaded(platform, payload)
    bounded(fraction, "fraction", 0.0, 1.0)
    with without_compiling():
        range_poses = [
            (
                f"{name} {fraction * value:+.4g} {unit}",
                moved_home(machine, name, fraction * value, unit),
            )
            for name, unit, span, _ in (axis_ranges(machine) if ranges is None else ranges)
            for value in span
        ]
    places, poses = zip(*range_poses, strict=True)
    ends_text = "its range ends" if fraction == 1.0 else f"{100.0 * fraction:.3g} % of its ranges"
    task = f"at rest at {ends_text}{load}"
    result = rest_feasibility(machine, np.array(poses), places, task)
    return result._replace(
        margins=tuple(margin for margin in result.margins if "stroke" not in margin.quantity)
    )


def _loaded(platform: MachineModel, payload: Payload | float | None) -> tuple[MachineModel, str]:
    """Return the machine with a payload, and a description of the payload."""
    as_model(platform)
    if payload is None:
        return platform, ""
    body = payload if isinstance(payload, Payload) else Payload(payload)
    return with_payload(platform, body), f" with {body.name}"


def feasibility_record(result: Feasibility) -> dict[str, Any]:
    """Return a verdict as content for JSON; times in s, other values in the units named there."""
    margins = [
        margin._asdict() | {"pose": margin.pose.tolist(), "holds": margin.holds}
        for margin in result.margins
    ]
    return {
        "machine": result.machine,
        "task": result.task,
        "feasible": result.feasible,
        "summary": result.summary,
        "margins": margins,
        "required": [leg._asdict() for leg in result.required],
        "units": list(result.units),
        "not_given": list(result.not_given),
        "notes": list(result.notes),
    }


def feasibility_figure(result: Feasibility) -> Any:
    """Return a plotly figure of the fraction of each limit over time, with a line at 1.

    The cursor shows the fraction and the leg that has it. Larger fractions are drawn at
    `MAX_DRAWN_FRACTION`.

    Raises:
        InputError: not a verdict, or one at rest, which has no course over time.
        MissingDependencyError: plotly is not installed.
    """
    as_instance(result, "result", Feasibility)
    if not len(result.time) or not result.time[-1] > 0.0:
        raise InputError(
            "plot",
            "has no course over time; the motion's first pose must be within reach, not singular",
        )
    plotly_graphs = optional("plotly.graph_objects")
    top_margin = PANEL_GAP + TITLE_HEIGHT + PANEL_GAP
    figure = plotly_graphs.Figure(
        layout=layout(2 * SINGLE_PANEL_HEIGHT + top_margin + FOOTER_HEIGHT, top_margin)
    )
    title = html.escape(result.summary)
    figure.layout.title = {"text": title, "font": {"size": TITLE_SIZE}, "x": 0.01, "y": 0.99}
    figure.layout.title.yanchor = "top"
    drawn_quantities = [
        margin.quantity for margin in result.margins if margin.quantity in result.shares
    ]
    for index, name in enumerate(drawn_quantities):
        values = np.minimum(result.shares[name], MAX_DRAWN_FRACTION)
        point_indices = thin_out(result.time, values)
        dash = "dot" if index >= len(CURVE_COLORS) else "solid"
        figure.add_trace(
            plotly_graphs.Scatter(
                x=result.time[point_indices], y=values[point_indices], name=html.escape(name),
                mode="lines",
                line={"color": curve_color(index), "dash": dash, "width": 1.8, "simplify": False},
                customdata=np.array(result.worst_legs[name])[point_indices],
                hovertemplate="%{y:.3~g}, %{customdata}",
            )
        )  # fmt: skip
    figure.add_hline(y=1.0, line={"color": "#b3261e", "width": 1.5, "dash": "dash"})
    figure.layout.hovermode = "x unified"
    figure.layout.xaxis = axis("time [s]")
    max_fraction = max(float(result.shares[name].max()) for name in drawn_quantities)
    axis_limit = 1.05 * min(max(max_fraction, 1.05), MAX_DRAWN_FRACTION)
    figure.layout.yaxis = axis("share of the limit, above 1: violated") | {
        "range": [0.0, axis_limit]
    }
    figure.layout.legend = legend(1.01)
    return figure
