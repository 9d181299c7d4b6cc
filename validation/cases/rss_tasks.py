"""Heave task of the 6-RSS manipulator.

From 0.3 to 0.4 m, at rest at both ends, with a peak acceleration of 0.8 g (section 6.1). The law of
motion is not printed: stroke and peak give each of four usual laws its duration, and inverse
dynamics the torques. Both engines' own inverse dynamics are held against the torques of the first
law, half a cosine wave, and both engines are driven by them. The same task under payloads gives
the size of the motors.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Mapping

import numpy as np

from twin.analysis.feasibility.motor_requirement import (
    MotorRequirement,
    motor_requirement,
    payload_sweep,
)
from twin.analysis.payload.body import Payload
from twin.motion.rest_to_rest import LAWS, RestToRestMotion, shortest_rise
from twin.simulation.platform import Platform
from twin.validation.case import Case
from twin.validation.measures.driven import driven, engines_along, work_measure
from twin.validation.published.papers import EXTENDED
from twin.validation.results import (
    CaseResult,
    Curve,
    Entry,
    Measure,
    Panel,
    Plot,
    Quantity,
    Statement,
)

CASE = Case(
    "rss_tasks",
    __doc__,
    machines=("rss",),
    because="the paper states the task for its 6-RSS manipulator",
    cost=4.0,
)

LOW, HIGH = 0.3, 0.4
"""[m] section 6.1, initial and final pose."""

PEAK = 0.8
"""[g] section 6.1."""

PRINTED_DURATION = 0.3
"""[s] section 6.1: 'a real-time of 0.3 s'."""

PRINTED_RUN_TIME = 0.168
"""[s] section 6.1: to compute the torques of the task."""

MAIN = "harmonic"
"""Law of the engines' runs and of the payloads."""

STEPS = 500
"""Even steps of the task for the balance of work."""

ENGINE_TIME = 0.24
"""[s] of the task that the engines are driven."""

PAYLOADS = (
    None,
    Payload(50.0),
    Payload(100.0),
    Payload(200.0),
    Payload(50.0, [0.2, 0.0, 0.3], [2.0, 2.0, 1.0], name="50 kg, 0.2 m off the axis"),
)
"""A quarter, half and all of the platform's mass, and a quarter beside the axis."""

ROUNDING = "rounding; the six legs are placed symmetrically about the axis of the motion"


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    tasks = {law: heave(platform, law) for law in LAWS}
    motor_requirement(platform, tasks[MAIN])  # compiles, so that the time below is that of the task
    start = clock.perf_counter()
    required = {law: motor_requirement(platform, task) for law, task in tasks.items()}
    seconds = (clock.perf_counter() - start) / len(LAWS)
    main = tasks[MAIN]
    loaded = payload_sweep(platform, main, PAYLOADS)
    course = driven(platform, main, np.linspace(0.0, main.duration, STEPS + 1))
    caption = "The six legs turn alike."
    engines, plots = engines_along(
        platform, main, course, "Heave task", ENGINE_TIME, caption=caption
    )
    measures = [
        *_profile(platform, required),
        work_measure(platform, course, 1e-10),
        *_payloads(loaded),
        *engines,
    ]
    plots[:0] = [_laws_plot(required), _payload_plot(loaded)]
    return CASE.result(platform, measures, plots, _statements(tasks, required, seconds))


def heave(platform: Platform, law: str) -> RestToRestMotion:
    """Return the paper's task by one of the transition laws."""
    acceleration = PEAK * platform.parameters.gravity
    return RestToRestMotion(
        [0.0, 0.0, LOW],
        displacement={"z": HIGH - LOW},
        rise=shortest_rise(HIGH - LOW, acceleration, law),
        law=law,
    )


def _profile(platform: Platform, required: Mapping[str, MotorRequirement]) -> Iterator[Entry]:
    for law, task in required.items():
        peak, speed, power = task.peak_force, task.peak_speed, task.peak_power
        yield Quantity(
            f"{law}: peak torque, the motor requirement",
            abs(peak.value),
            note=f"at {peak.time:.3g} of {task.time[-1]:.4g} s; root mean square "
            f"{task.rms_forces.max():.4g} N m, speed up to {abs(speed.value):.3g} rad/s, power up "
            f"to {abs(power.value):.3g} W",
            unit="N m",
        )
    yield Measure(
        "lowest torque of all laws",
        min(task.lowest_force for task in required.values()),
        0.0,
        "the paper: the motor always supplies positive torque",
        unit="N m",
        at_least=True,
    )
    spread = max(float(np.ptp(task.forces, axis=1).max()) for task in required.values())
    scale = abs(required[MAIN].peak_force.value)
    yield Measure("torques of the six legs apart", spread / scale, 1e-12, ROUNDING)
    ends = platform.inverse_kinematics([[0.0, 0.0, z, 1.0, 0.0, 0.0, 0.0] for z in (LOW, HIGH)])
    over = np.maximum(platform.minimum_coordinates - ends, ends - platform.maximum_coordinates)
    yield Measure(
        "crank angle beyond its adopted limits", over.max(), 0.0, "negative: inside", unit="rad"
    )


def _payloads(loaded: tuple[MotorRequirement, ...]) -> Iterator[Entry]:
    for payload, task in zip(PAYLOADS, loaded, strict=True):
        if payload is None:
            continue
        yield Quantity(
            f"peak torque with {payload.name}",
            abs(task.peak_force.value),
            note=f"leg {task.peak_force.leg}; root mean square of the worst leg "
            f"{task.rms_forces.max():.4g} N m, lowest torque {task.lowest_force:.4g} N m",
            unit="N m",
        )
    none, fifty, _, two_hundred = (task.forces for task in loaded[:4])
    off = np.abs(two_hundred - none - 4.0 * (fifty - none)).max() / np.abs(two_hundred).max()
    name = "torques of 200 kg less four times the gain by 50 kg"
    yield Measure(name, off, 1e-12, "rounding; dynamics are linear in the masses")


def _laws_plot(required: Mapping[str, MotorRequirement]) -> Plot:
    panels = []
    for label, name in (("torque of a motor [N m]", "forces"), ("power [W]", "power")):
        curves = [
            Curve(law, task.time, getattr(task, name)[:, 0]) for law, task in required.items()
        ]
        if name == "forces":
            peaks = [task.peak_force for task in required.values()]
            times, values = (
                np.array([getattr(peak, key) for peak in peaks]) for key in ("time", "value")
            )
            curves.append(Curve("peaks", times, values, "markers"))
        panels.append(Panel(label, *curves))
    caption = "Paper, figure 16, shows the like for a law it does not state."
    return Plot("Torque profile of the heave task", "time [s]", *panels, caption=caption)


def _payload_plot(loaded: tuple[MotorRequirement, ...]) -> Plot:
    curves = []
    for payload, task in zip(PAYLOADS, loaded, strict=True):
        leg = task.peak_force.leg
        name = payload.name if payload else "no payload"
        curves.append(Curve(f"{name}, leg {leg}", task.time, task.forces[:, leg - 1]))
    panel = Panel("torque of the leg that carries most [N m]", *curves)
    return Plot("Heave task under payloads", "time [s]", panel)


def _statements(
    tasks: Mapping[str, RestToRestMotion], required: Mapping[str, MotorRequirement], seconds: float
) -> tuple[Statement, ...]:
    section = f"{EXTENDED}, section 6.1"
    durations = ", ".join(f"{law} {task.duration:.3f} s" for law, task in tasks.items())
    peaks = ", ".join(f"{law} {abs(task.peak_force.value):.1f}" for law, task in required.items())
    lowest = min(task.lowest_force for task in required.values())
    return (
        EXTENDED["heave_task"].judged(
            f"Durations that stroke and peak give: {durations}.",
            all(round(task.duration, 1) == PRINTED_DURATION for task in tasks.values()),
        ),
        EXTENDED["torque_profile"].not_given(
            f"Peak torques in N m: {peaks}.", "no law of motion and no torque is printed"
        ),
        EXTENDED["positive_torque"].judged(
            f"At least {lowest:.1f} N m with every law.", lowest > 0.0
        ),
        _peak_statement(section, required),
        EXTENDED["task_run_time"].judged(
            f"{1e3 * seconds:.2g} ms for {len(required[MAIN].time)} times along the task.",
            seconds < PRINTED_RUN_TIME,
            "another computer, or a busy one",
        ),
    )


def _peak_statement(section: str, required: Mapping[str, MotorRequirement]) -> Statement:
    """Return the statement that the peaks lie in the second half, where the platform slows down."""
    at = {law: task.peak_force.time / task.time[-1] for law, task in required.items()}
    late = [law for law, share in at.items() if share > 0.5]
    unloaded = (
        "slowing an upward motion down unloads the motors, as gravity does the braking; the "
        "printed law may not be symmetric, which the text leaves open"
    )
    return EXTENDED["torque_peaks"].judged(
        "The peak lies at these parts of the duration, of which the platform slows down in the "
        f"second half: {', '.join(f'{law} {share:.2f}' for law, share in at.items())}.",
        len(late) == len(at),
        f"only with these laws it lies there: {', '.join(late)}" if late else unloaded,
    )
