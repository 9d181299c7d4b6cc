"""Feasibility: whether a machine does a motion with a load, and what is missing if it does not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from twin.analysis.feasibility.course import SAMPLES, motion_course, rest_course
from twin.analysis.feasibility.verdict import Feasibility, verdict
from twin.analysis.machine_summary import Ranges, axis_ranges, moved
from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import FloatArray
from twin.model.evaluation import without_compiling
from twin.model.machine_model import MachineModel, as_model


def feasibility(
    platform: MachineModel,
    motion: Any = None,
    *,
    payload: Payload | float | None = None,
    wrench: Any = None,
    samples: int = SAMPLES,
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
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(motion).__name__).lower()
    return verdict(machine, course, f"{words} of {motion.duration:.4g} s{load}", wrench)


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
    wrench: Any = None,
    ranges: Ranges | None = None,
    part: float = 1.0,
) -> Feasibility:
    """Return whether a machine rests at both ends of each range of `axis_ranges`.

    The ends are where an actuator is at its limit, springs relaxed, so stroke is left out.

    Args:
        platform: the machine.
        payload: as for `feasibility`.
        wrench: as for `feasibility`.
        ranges: what `axis_ranges` returns, where it is known.
        part: of the way from home to the ends.

    Raises:
        InputError: not a machine or payload, or wrong shapes.
    """
    machine, load = _loaded(platform, payload)
    with without_compiling():
        ends = [
            (f"{name} {part * value:+.4g} {unit}", moved(machine, name, part * value, unit))
            for name, unit, span, _ in (axis_ranges(machine) if ranges is None else ranges)
            for value in span
        ]
    places, poses = zip(*ends, strict=True)
    where = "its range ends" if part == 1.0 else f"{100.0 * part:.3g} % of its ranges"
    task = f"at rest at {where}{load}"
    found = rest_feasibility(machine, np.array(poses), places, task, wrench)
    return found._replace(
        margins=tuple(margin for margin in found.margins if "stroke" not in margin.quantity)
    )


def _loaded(platform: MachineModel, payload: Payload | float | None) -> tuple[MachineModel, str]:
    """Return the machine with a payload, and the payload in words."""
    as_model(platform)
    if payload is None:
        return platform, ""
    body = payload if isinstance(payload, Payload) else Payload(payload)
    return with_payload(platform, body), f" with {body.name}"
