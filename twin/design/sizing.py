"""Sizing: which motors with their screws or gearboxes do a motion, and with what margin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.feasibility.actuators import requirement_along
from twin.analysis.feasibility.course import DEFAULT_SAMPLES, motion_course
from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import FloatArray, bounded
from twin.charts.panels import Axes, Line, panels_figure
from twin.charts.results import Figure, Results, Table
from twin.design.specification import read_rows
from twin.errors import InputError
from twin.model.machine_base import PlatformMotion
from twin.model.machine_model import MachineModel, as_model

RECOMMENDED_INERTIA_RATIO = 10.0
"""Load over rotor inertia up to which loops of a servo are usually tuned without trouble."""

DRAWN_DRIVES = 4

RPM = 30.0 / np.pi
"""[rpm] One radian a second."""


class DriveTrain(NamedTuple):
    """A motor with its screw or gearbox, in SI units."""

    name: str
    travel: float
    """[m/rad] of the leg, or [rad/rad] of the crank, per angle of the motor"""
    rated_torque: float
    """[N m] that the motor gives for ever"""
    peak_torque: float
    """[N m] that it gives for a short time"""
    speed: float
    """[rad/s] of the motor"""
    inertia: float
    """[kg m2] of the rotor, with screw or gears"""
    efficiency: float
    """fraction of the motor's power that reaches the leg"""
    price: float


class SizedDrive(NamedTuple):
    """A drive train under a motion."""

    drive: DriveTrain
    rms_share: float
    """root mean square torque of the worst leg over the rated torque"""
    peak_share: float
    speed_share: float
    inertia_ratio: float
    """largest inertia that a motor feels of machine and load, over its own"""
    overload: float
    """largest fraction of the time in which a motor gives more than its rated torque"""
    motor_speed: FloatArray
    """`(k, n)` [rad/s]"""
    motor_torque: FloatArray
    """`(k, n)` [N m]"""

    @property
    def share(self) -> float:
        """Largest share of a limit; above 1 the drive train does not do the motion."""
        return max(self.rms_share, self.peak_share, self.speed_share)


def size(
    platform: MachineModel,
    motion: Any,
    drives: Sequence[DriveTrain],
    *,
    payload: Payload | None = None,
    duty: float = 1.0,
    samples: int = DEFAULT_SAMPLES,
) -> list[SizedDrive]:
    """Return drive trains under a motion, the one with the largest margin first.

    A motor accelerates its own rotor; losses of screw or gears add to its torque while it drives,
    and take from it while it brakes.

    Args:
        platform: the machine; its own drives do not count.
        motion: from `twin.motion`.
        drives: that are compared.
        payload: body on the platform.
        duty: fraction of the time, from 0 to 1, that the motion runs; in between, the motors hold
            the machine where the motion begins.
        samples: number of times along the motion.

    Raises:
        InputError: no drives, not a machine, motion or payload, or a duty beyond 0 to 1.
        UnreachablePoseError: the motion leads out of reach.
        SingularPoseError: the motion passes a singular pose.
    """
    if not drives:
        raise InputError("drives", "must be a list of DriveTrain")
    machine = with_payload(as_model(platform), payload)
    course = motion_course(machine, motion, samples)
    needed = requirement_along(machine, course.time, course.motion)
    start, still = course.motion.pose[:1], np.zeros((1, 6))
    pause = requirement_along(machine, course.time[:1], PlatformMotion(start, still, still)).forces
    running = bounded(duty, "duty", 0.0, 1.0)
    masses = effective_masses(machine, course.motion.pose)
    sized = []
    for drive in drives:
        speed, acceleration = needed.rates / drive.travel, needed.accelerations / drive.travel
        load = needed.forces * drive.travel
        # A motor at rest counts as driving: losses do not help to hold.
        driving = needed.power >= 0.0
        load = np.where(driving, load / drive.efficiency, load * drive.efficiency)
        torque = load + drive.inertia * acceleration
        held = pause[0] * drive.travel / drive.efficiency
        moving = needed._replace(forces=torque).rms_forces
        rms = np.sqrt(running * moving**2 + (1.0 - running) * held**2)
        overload = running * (np.abs(torque) > drive.rated_torque).mean(axis=0)
        sized.append(
            SizedDrive(
                drive,
                float(rms.max()) / drive.rated_torque,
                float(np.abs(torque).max()) / drive.peak_torque,
                float(np.abs(speed).max()) / drive.speed,
                float(masses.max()) * drive.travel**2 / drive.inertia,
                float(overload.max()),
                speed,
                torque,
            )
        )
    return sorted(sized, key=lambda sized_drive: sized_drive.share)


def effective_masses(machine: MachineModel, poses: FloatArray) -> FloatArray:
    """Return the mass [kg] or inertia [kg m2] that each actuator feels with the others at rest.

    `(k, n)`: the diagonal of the mass matrix in the coordinates of the actuators, for machines with
    as many actuators as degrees of freedom; with more, that of least squares.
    """
    inverse = np.linalg.pinv(machine.jacobian(poses))
    matrices = machine.mass_matrix(poses)
    return np.asarray(np.einsum("kji,kjl,kli->ki", inverse, matrices, inverse))


def read_drives(path: str | Path, cranks: bool = False) -> list[DriveTrain]:
    """Return the drive trains of a CSV file, one in a row.

    Its columns are `name`, `lead` per turn such as `lead [mm]`, for cranks `ratio`, then
    `rated torque`, `peak torque`, `speed`, `inertia`, `efficiency` and `price`. Ratio, efficiency
    and price have no unit.

    Raises:
        InputError: the file cannot be read, a column is missing, or an entry is no number.
    """
    units = {"ratio": ""} if cranks else {"lead": "m"}
    units |= {"rated torque": "N m", "peak torque": "N m", "speed": "rad/s", "inertia": "kg m2"}
    drives = []
    for line, name, values in read_rows(path, units | {"efficiency": "", "price": ""}):
        if values["efficiency"] > 1.0:
            raise InputError(
                f"{path}, line {line}", "the efficiency is a fraction above 0 and at most 1"
            )
        travel = 1.0 / values.pop("ratio") if cranks else values.pop("lead") / (2.0 * np.pi)
        fields = {column.replace(" ", "_"): number for column, number in values.items()}
        drives.append(DriveTrain(name, travel, **fields))
    return drives


def sizing_results(sized: Sequence[SizedDrive]) -> Results:
    """Return the results of a sizing: a table of all drive trains and pictures of the best."""
    fitting = [sized_drive for sized_drive in sized if sized_drive.share <= 1.0]
    best = sized[0]
    findings = [f"{len(fitting)} of {len(sized)} drive trains do the motion."]
    if fitting:
        cheapest = min(fitting, key=lambda sized_drive: sized_drive.drive.price)
        findings.append(
            f"{best.drive.name} has the largest margin: it uses {best.share:.0%} of its limits. "
            f"{cheapest.drive.name} is the cheapest at {cheapest.drive.price:g}."
        )
    uneven = [
        sized_drive.drive.name
        for sized_drive in fitting
        if sized_drive.inertia_ratio > RECOMMENDED_INERTIA_RATIO
    ]
    if uneven:
        findings.append(
            f"Loops are hard to tune with {', '.join(uneven)}: the load is more than "
            f"{RECOMMENDED_INERTIA_RATIO:g} times the inertia of the motor."
        )
    columns = (
        "drive train",
        "RMS torque [%]",
        "peak torque [%]",
        "speed [%]",
        "over rated [% of time]",
        "load over rotor",
        "price",
        "does it",
    )
    rows = [
        (
            sized_drive.drive.name,
            100.0 * sized_drive.rms_share,
            100.0 * sized_drive.peak_share,
            100.0 * sized_drive.speed_share,
            100.0 * sized_drive.overload,
            sized_drive.inertia_ratio,
            sized_drive.drive.price,
            "yes" if sized_drive.share <= 1.0 else "no",
        )
        for sized_drive in sized
    ]
    table = Table("Parts of the limits that are used", columns, rows)
    explanation = "Speed and torque of all motors over the motion, within the limits of the motor."
    figures = [
        Figure(sized_drive.drive.name, explanation, partial(_figure, sized_drive))
        for sized_drive in sized[:DRAWN_DRIVES]
    ]
    return Results("Sizing of the drives", findings, [table], figures)


def _figure(sized_drive: SizedDrive) -> Any:
    speeds = RPM * np.abs(sized_drive.motor_speed.ravel())
    torques = np.abs(sized_drive.motor_torque.ravel())
    lines = [Line("motion", speeds, torques, "markers")]
    limits = (
        ("peak", sized_drive.drive.peak_torque, "line"),
        ("rated", sized_drive.drive.rated_torque, "dash"),
    )
    for name, torque, style in limits:
        x, y = RPM * sized_drive.drive.speed * np.array([0, 1, 1]), torque * np.array([1, 1, 0])
        lines.append(Line(name, x, y, style))
    return panels_figure([Axes("torque [N m]", lines)], "speed of the motor [rpm]")
