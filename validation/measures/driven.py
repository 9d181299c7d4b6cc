"""A prescribed motion of a machine: actuators, their forces and work, and engines driven so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.model.static_deflection import static_deflection
from twin.motion import Motion
from twin.validation.measures.comparison import projection_errors, trajectory_comparison
from twin.validation.measures.durations import TIMESTEP, compared_step, duration_for
from twin.validation.measures.equilibrium import fastest_rate
from twin.validation.measures.metrics import largest
from twin.validation.measures.sampling import RandomStates
from twin.validation.results import Curve, Entry, Measure, Panel, Plot, Quantity

WORK_REASON = (
    "integrals of quintic splines through the samples, and of the springs' motion, leave 1e-10, of "
    "content up to 70 Hz 4e-9; in the shipped machines forces without velocity terms leave 2e-5 "
    "and more, forces off by a thousandth 1e-3"
)

END_REASON = "the sum over the steps is of fourth order, and of a whole period exact to rounding"

DRAWN = 2500
"""Points of a curve at most; 8 s of 70 Hz still have four a period."""

ALIKE = 0.01
"""Of the height of a panel: curves so close lie on each other."""

PROJECTED = 50
"""States along the motion at which the engines' models are projected."""


def force_name(platform: Platform) -> str:
    """Return the name of the actuators' forces."""
    return "thrust" if platform.force_unit == "N" else "torque"


def coordinate_name(platform: Platform) -> str:
    """Return the name of the actuators' coordinates."""
    return platform.parameters.leg.coordinate


def actuator_rates(
    platform: Platform, pose: FloatArray, twist: FloatArray, deflection: FloatArray
) -> FloatArray:
    """Return rates `(m, n)` of what the actuators' forces move, of `m` states."""
    rates = np.asarray(np.einsum("kij,kj->ki", platform.jacobian(pose), twist))
    # A spring in series with the actuator takes its part of the leg's motion.
    return rates - deflection[:, platform.n_deflections :] if platform.n_deflections else rates


def leg_curves(time: FloatArray, values: FloatArray) -> tuple[Curve, ...]:
    """Return one curve per leg of values `(k, n)`."""
    return tuple(Curve(f"leg {i + 1}", time, column) for i, column in enumerate(values.T))


def alike(*panels: FloatArray) -> str:
    """Return the sentence that a chart of `(k, n)` per panel needs if only its last leg is seen."""
    same = all(np.ptp(each, axis=1).max() <= ALIKE * np.ptp(each) for each in panels)
    return "All legs move alike: their curves lie on each other." if same else ""


class DrivenMotion(NamedTuple):
    """A machine carried through a motion, sampled at even times."""

    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray
    deflection: FloatArray
    """`(k, 2m)` deflections of springs and their rates"""
    coordinates: FloatArray
    """`(k, n)` of the actuators [m, rad]"""
    rates: FloatArray
    """`(k, n)` of what the forces move"""
    forces: FloatArray
    """`(k, n)` [N, N m]"""


def driven(platform: Platform, motion: Motion, time: FloatArray | None = None) -> DrivenMotion:
    """Return actuators and forces of a machine along a motion, by the reference.

    Args:
        platform: the machine.
        motion: where it goes; what it cannot follow is left out (see `Platform.constrain`).
        time: `(k,)` [s], default in steps of `TIMESTEP` over the whole motion.
    """
    if time is None:
        time = np.arange(round(motion.duration / TIMESTEP) + 1.0) * TIMESTEP
    pose, twist, acceleration = platform.constrain(*motion(time))
    deflection = springs_along(platform, motion, time)
    return DrivenMotion(
        time,
        pose,
        twist,
        acceleration,
        deflection,
        platform.inverse_kinematics(pose),
        actuator_rates(platform, pose, twist, deflection),
        platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection),
    )


def springs_along(platform: Platform, motion: Motion, time: FloatArray) -> FloatArray:
    """Return deflections of springs and rates `(k, 2m)` along a motion, quiet at its start."""
    from scipy.integrate import solve_ivp

    count = platform.n_deflections
    if not count:
        return np.empty((len(time), 0))

    def slope(at: float, inside: FloatArray) -> FloatArray:
        state = platform.constrain(*motion(at))
        forces = platform.inverse_dynamics(*state, deflection=inside)
        found = platform.forward_dynamics(state.pose, state.twist, forces, deflection=inside)
        return np.concatenate([inside[count:], found[6:]])

    start = static_deflection(platform, *platform.constrain(*motion(0.0)))
    span = (0.0, float(time[-1]))
    # At rest nothing tells the solver how fast stiff springs are; a long first step overflows.
    first = min(span[1], 1.0 / fastest_rate(platform))
    options = {"rtol": 1e-9, "atol": 1e-12, "first_step": first}
    solution = solve_ivp(slope, span, start, "DOP853", time, **options)
    return np.asarray(solution.y.T)


def work_measure(platform: Platform, course: DrivenMotion, tolerance: float) -> Measure:
    """Return the largest running imbalance of work, losses and energy, per largest work or gain.

    The balance is taken from the start to every sample: over a whole period alone forces without
    losses would always balance, whatever their size.
    """
    from scipy.interpolate import make_interp_spline

    power = np.einsum("ki,ki->k", course.forces, course.rates)
    lost = platform.dissipation(course.pose, course.twist, deflection=course.deflection)
    spline = make_interp_spline(course.time, np.column_stack([power, lost]), k=5)
    work, losses = spline.antiderivative()(course.time).T
    energies = platform.energy(course.pose, course.twist, deflection=course.deflection)
    total = np.sum(energies, axis=0)
    gain = total - total[0]
    largest = max(np.abs(work).max(), np.abs(gain).max())
    name = "work of the forces less gain of energy and losses at any time, per largest of them"
    off = float(np.abs(work - losses - gain).max() / largest)
    return Measure(name, off, tolerance, WORK_REASON)


def end_work_measure(platform: Platform, course: DrivenMotion, tolerance: float) -> Measure:
    """Return the imbalance of work, losses and energy at the end of a course, per work exchanged.

    Where a course ends as it began, nothing but losses and their integral is left.
    """
    from scipy.integrate import simpson

    power = np.einsum("ki,ki->k", course.forces, course.rates)
    lost = platform.dissipation(course.pose, course.twist, deflection=course.deflection)
    ends = slice(None, None, len(course.time) - 1)
    energies = platform.energy(
        course.pose[ends], course.twist[ends], deflection=course.deflection[ends]
    )
    gain = float(np.diff(np.sum(energies, axis=0))[0])
    net = simpson(power - lost, x=course.time) - gain
    exchanged = np.trapezoid(np.abs(power), course.time)
    name = "work of the forces less gain of energy and losses at the end, per work exchanged"
    return Measure(name, abs(net) / exchanged, tolerance, END_REASON)


def actuator_measures(platform: Platform, course: DrivenMotion) -> Iterator[Entry]:
    """Yield the largest speed and force of an actuator, with its limits as a note."""
    actuator = platform.parameters.leg.actuator
    for name, values, unit, limit in (
        ("speed", course.rates, f"{platform.coordinate_unit}/s", actuator.speed),
        (force_name(platform), course.forces, platform.force_unit, actuator.effort),
    ):
        note = "the machine gives no limit" if limit is None else f"limit {limit:g} {unit}"
        yield Quantity(f"largest {name} of an actuator", largest(values), note=note, unit=unit)


def engines_along(
    platform: Platform,
    motion: Motion,
    course: DrivenMotion,
    title: str,
    longest: float,
    *,
    begin: float = 0.0,
    caption: str = "",
) -> tuple[list[Entry], list[Plot]]:
    """Return both engines against the reference along a motion, the legs' plot first.

    The engines' models are projected at states along the whole motion, then driven by the held
    forces of a part of it.

    Args:
        platform: the machine.
        motion: the reference motion.
        course: actuators and forces along it.
        title: of the legs' plot.
        longest: [s] that the engines are driven at most.
        begin: [s] where that part begins.
        caption: of the legs' plot.
    """
    projected, curves = projection_along(platform, course)
    title_driven = f"Driven by the {force_name(platform)}s"
    followed, plots = follow(platform, motion, begin, longest, title_driven)
    legs = legs_plot(platform, course, title, curves, caption)
    return [*projected, *followed], [legs, *plots]


def projection_along(platform: Platform, course: DrivenMotion) -> tuple[list[Entry], list[Curve]]:
    """Return the engines' projection errors at states spread over the motion."""
    at = np.linspace(0, len(course.time) - 1, PROJECTED).astype(int)
    states = RandomStates(
        course.pose[at], course.twist[at], course.acceleration[at], course.deflection[at]
    )
    return projection_errors(platform, states, x=course.time[at])


def follow(
    platform: Platform, motion: Motion, begin: float, longest: float, title: str
) -> tuple[list[Entry], list[Plot]]:
    """Return engines against reference, both driven by the held forces of a part of the motion.

    It begins at `begin` [s] and lasts `longest` [s], less in a small or stiff machine.
    """
    duration, step = duration_for(platform, longest), compared_step(platform)
    course = driven(platform, motion, begin + np.arange(round(duration / step) + 1.0) * step)
    return trajectory_comparison(
        platform,
        duration,
        title,
        course.forces[:-1],
        pose=course.pose[0],
        twist=course.twist[0],
        deflection=course.deflection[0],
    )


def legs_plot(
    platform: Platform, course: DrivenMotion, title: str, projection: list[Curve], caption: str
) -> Plot:
    """Return actuator coordinates, forces, and the projection errors below."""
    moved = course.coordinates - platform.minimum_coordinates
    kept = slice(None, None, 1 + len(course.time) // DRAWN)
    force = f"{force_name(platform)} [{platform.force_unit}]"
    panels = (
        Panel(
            f"{coordinate_name(platform)} from its minimum [{platform.coordinate_unit}]",
            *leg_curves(course.time[kept], moved[kept]),
        ),
        Panel(force, *leg_curves(course.time[kept], course.forces[kept])),
        Panel("projection error / largest force", *projection, log_y=True),
    )
    return Plot(title, "time [s]", *panels, caption=caption)
