"""Verdict on a task: margins to all limits that are known, worst first, and what is not known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.actuators import ActuatorTask, MotorRequirement, requirement_along
from twin.analysis.feasibility.collisions import (
    closest_legs,
    collision_quantities,
    plate_quantities,
)
from twin.analysis.feasibility.course import (
    TIGHT_FRACTION,
    Course,
    Margin,
    Quantity,
    amount,
    leg_points,
    legs_text,
    margin_of,
    reached,
    share_text,
)
from twin.analysis.feasibility.joint_angles import (
    directions,
    joint_quantities,
    missing_joints,
    singularity_quantities,
)
from twin.basics.arrays import FloatArray
from twin.errors import SingularPoseError, StateError
from twin.model.machine_model import MachineModel


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
        head, closest = f"{self.machine}, {self.task}", self.margins[0]
        if not closest.holds:
            count = f"{len(self.violated)} of {len(self.margins)}"
            return f"{head}: not feasible, {count} limits violated"
        word = "tight" if closest.share > TIGHT_FRACTION else "closest"
        fraction = share_text(closest.share)
        return f"{head}: feasible; {word}: {closest.quantity}, {fraction} of its limit"

    def __bool__(self) -> bool:
        return self.feasible

    def __str__(self) -> str:
        return "\n".join([self.summary, *self.remedies])


def verdict(platform: MachineModel, course: Course, task: str, wrench: Any = None) -> Feasibility:
    """Return the verdict on a course, over its rows that are reachable and not singular."""
    reach, course = _in_reach(platform, course)
    quantities: list[Quantity] = []
    missing: list[str] = []
    notes: list[str] = []
    margins = [reach]
    if len(course.time):
        course, needed, singular = _before_singular(platform, course, wrench)
        margins += [] if singular is None else [singular]
        if needed is not None:
            loads = ActuatorTask(platform, course, needed)
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
    )


def _in_reach(platform: MachineModel, course: Course) -> tuple[Margin, Course]:
    """Return the margin of reach, and the rows of a course that all legs reach."""
    legs = reached(platform, course.motion.pose)
    mask = np.asarray(legs.all(axis=1))
    count = int((~mask).sum())
    row = int(np.argmin(mask)) if count else 0
    leg_numbers = tuple(int(i) + 1 for i in np.flatnonzero(~legs[row]))
    text = (
        f"{legs_text(leg_numbers).capitalize()} cannot reach the pose ({course.place(row)}), nor "
        f"{count} of {len(mask)} poses in all. Move less, move the middle of the motion, or take "
        "longer legs."
    )
    margin = Margin(
        "reach",
        "poses",
        float(count),
        0.0,
        np.inf if count else 0.0,
        False,
        leg_numbers,
        None if course.places or not count else float(course.time[row]),
        course.place(row) if count else "all poses",
        course.motion.pose[row].copy(),
        text if count else "",
    )
    return margin, course.rows(mask) if count else course


def _before_singular(
    platform: MachineModel, course: Course, wrench: Any
) -> tuple[Course, MotorRequirement | None, Margin | None]:
    """Return the rows that are judged, what they require, and the margin of the first other one.

    A motion is judged up to a singular pose; of poses at rest only these are left out.
    """
    margin = None
    while len(course.time):
        try:
            needed = requirement_along(platform, course.time, course.motion, wrench)
            return course, needed, margin
        except SingularPoseError as error:
            row = int(error.data["index"])
            found = _singular(course, row)
        except StateError as error:
            row = 0
            found = _singular(course, row)._replace(quantity="springs in series", remedy=str(error))
        margin = margin or found
        course = course.rows(np.arange(len(course.time)) != row if course.places else slice(row))
    return course, None, margin


def _singular(course: Course, row: int) -> Margin:
    """Return the margin of a row whose pose is singular."""
    place = course.place(row)
    after = "" if course.places else ", and what comes after it is not judged"
    return Margin(
        "singular pose",
        "poses",
        1.0,
        0.0,
        np.inf,
        False,
        (),
        None if course.places else float(course.time[row]),
        place,
        course.motion.pose[row].copy(),
        f"The pose ({place}) is singular: no forces of the legs hold the machine there{after}. "
        "Stay closer to home, or place the joints differently.",
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
    if any(leg.sizes is None for leg in platform.parameters.legs):
        distance, one, other = closest_legs(platform, course.motion.pose)
        missing.append(
            f"thickness of the legs for collisions ({task}: the axes of legs {one} and {other} "
            f"come as close as {amount(distance, 'm')})"
        )
    return [*quantities, *collisions, *plate_quantities(platform, course, points)]


def _notes(platform: MachineModel, course: Course, loads: ActuatorTask) -> list[str]:
    """Return the assumptions behind the figures."""
    notes = []
    if platform.n_deflections and not course.places:
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
