"""Closed loop, drives and safe stops.

The machine follows a heave in closed loop. The position loops of the cascade run at 1 kHz over a
shorter engine step. Their gains are the machine's own or derived from its masses. Without drives
all engines must show one behaviour. In configuration hardware (motors, friction, delay, encoders)
the errors are shown and not judged. Then come faults: each must end at rest, with a reason, and
without a number that is not finite.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from typing import Any

import numpy as np

from twin.analysis.platform import Platform, load
from twin.control.cascade import Cascade
from twin.engines.stability import suitable_timestep
from twin.errors import MissingDependencyError
from twin.machine.catalogue import machine_names
from twin.machine.legs.strut.parameters import StrutLeg
from twin.machine.machine import MachineParameters
from twin.model.motions import REST
from twin.motion import Motion, SineMotion, StepMotion
from twin.plant.drives import drive_timestep
from twin.plant.plant import Plant
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory
from twin.validation.case import Case
from twin.validation.cases.closed_loop.faults import FAULTS, Fault, stop_plot, tracking_plot
from twin.validation.measures.comparison import BARS, missing
from twin.validation.measures.metrics import largest, position_error, rotation_error
from twin.validation.measures.sampling import MOTION_SAMPLES, followed_motion, platform_radius
from twin.validation.results import CaseResult, Entry, Measure, Quantity

CASE = Case("closed_loop", __doc__, cost=2.5)

COURSE, AGREEMENT_TIME = 1.0, 0.2
"""[s]"""

ENGINE_STEP = 5e-4
"""[s]"""

FREQUENCY = 1.0
"""[Hz]"""

HEAVE_SHARE = 0.08
"""Of the stroke; a hundredth of it where stretching struts takes more force than holding."""

AGREEMENT = 1e-4
AT_REST = 1e-2
"""[1/s] of a leg's stroke: the speed that counts as rest; brakes hold motors, and what is elastic
behind them swings out slowly."""

SPEED_SHARE = 0.5
"""Largest speed of the heave per that of the slowest actuator."""

HARDWARE = "hardware"


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    real = with_drives(platform)
    controller = Cascade(real, heave(real, COURSE))
    _run(real, controller, 0.01)
    began = clock.perf_counter()
    course = _run(real, controller, COURSE)
    seconds = clock.perf_counter() - began
    measures = [*_agreement(platform), _duration(seconds), *_tracking(real, course)]
    plots = [tracking_plot(real, course)]
    for fault in FAULTS:
        ended = stopped_run(real, fault)
        if ended is not None:
            measures.extend(stop_measures(real, fault, ended))
            if fault.drawn:
                plots.append(stop_plot(real, fault, ended))
    return CASE.result(platform, measures, plots)


def with_drives(platform: Platform) -> Platform:
    """Return the machine with its configuration hardware, where it is shipped with one."""
    configuration = platform.parameters.configuration
    known = configuration is not None and HARDWARE in configuration.known
    if not known or platform.name not in machine_names():
        return platform
    return load(platform.name, HARDWARE)


def without_drives(platform: Platform) -> Platform:
    """Return the machine with ideal actuators and exact sensors."""
    if Plant(platform).ideal:
        return platform
    content = platform.parameters.model_dump()
    for leg in (content["leg"], *(variant["leg"] for variant in content["variant"])):
        leg["drive"] = leg["encoder"] = None
    return Platform(MachineParameters.model_validate(content | {"control": None}))


def heave(platform: Platform, duration: float) -> SineMotion:
    """Return one slow rise and fall about home, at rest at both ends, that the actuators follow."""
    lever = platform_radius(platform) if platform.coordinate_unit == "rad" else 1.0
    height = min(_within_stroke(platform), _within_speed(platform)) * lever
    motion = followed_motion(platform, lambda size: _heave(platform, size, duration), height)
    time = np.linspace(0.0, duration, MOTION_SAMPLES)
    steepest = largest(platform.jacobian(motion(time).pose)[:, :, 2])
    height = min(motion.amplitude[2], _within_speed(platform) / steepest)
    return _heave(platform, height, duration)


def _heave(platform: Platform, amplitude: float, duration: float) -> SineMotion:
    return SineMotion(
        platform.home,
        amplitude={"z": amplitude},
        frequency=FREQUENCY,
        duration=duration,
        convention=_convention(platform),
        fade_in=0.2 * duration,
        fade_out=0.2 * duration,
    )


def _within_stroke(platform: Platform) -> float:
    share = HEAVE_SHARE * float((platform.maximum_coordinates - platform.minimum_coordinates).min())
    if isinstance(platform.leg, StrutLeg):
        stretch = share * largest(platform.jacobian(platform.home)[:, 2])
        holding = largest(platform.inverse_dynamics(platform.home, REST, REST))
        share *= 0.01 if platform.leg.axial.stiffness * stretch > holding else 1.0
    return share


def _within_speed(platform: Platform) -> float:
    speeds = [leg.actuator.speed for leg in platform.parameters.legs if leg.actuator.speed]
    return float(SPEED_SHARE * min(speeds, default=np.inf) / (2 * np.pi * FREQUENCY))


def _convention(platform: Platform) -> str:
    return "roll_pitch" if platform.dof < 6 else "yaw_pitch_roll"


def _run(
    platform: Platform, controller: Cascade, duration: float, engine: str = "analytic", **more: Any
) -> Trajectory:
    longest = min(ENGINE_STEP, suitable_timestep(platform), drive_timestep(platform))
    timestep = controller.period / int(np.ceil(controller.period / longest - 1e-9))
    fidelity = "fast" if engine == "analytic" else "accurate"
    return simulate(
        platform,
        duration,
        controller=controller,
        engine=engine,
        timestep=timestep,
        fidelity=fidelity,
        progress=False,
        **more,
    )


def _agreement(platform: Platform) -> Iterator[Entry]:
    """Yield the engines' distances from the reference under the same controller."""
    ideal = without_drives(platform)
    motion = heave(ideal, AGREEMENT_TIME)
    reference = _run(ideal, Cascade(ideal, motion), AGREEMENT_TIME)
    if reference.stopped:
        yield Measure("closed loop without drives stopped", 1.0, 0.0, reference.stopped)
        return
    moved = float(position_error(reference.pose, reference.pose[:1]).max())
    slow = _within_speed(ideal) < _within_stroke(ideal)
    for bar in BARS:
        # What slow actuators move is small beside the gap that an engine leaves in its loops.
        size = max(moved, bar.tolerance / AGREEMENT) if slow else moved
        try:
            found = _run(ideal, Cascade(ideal, motion), AGREEMENT_TIME, bar.engine)
        except MissingDependencyError as error:
            yield missing(bar.label, error)
            continue
        off = position_error(found.pose, reference.pose)
        off = off + platform_radius(ideal) * rotation_error(found.pose, reference.pose)
        yield Measure(
            f"{bar.label}: platform in closed loop off the reference, per size of the motion",
            float(off.max()) / size,
            AGREEMENT,
            "one controller must behave alike on all engines; they are integrated differently",
        )


def _duration(seconds: float) -> Quantity:
    note = "analytic engine with drives and sensors; other cases run beside it"
    return Quantity(f"computing time of {COURSE:g} s in closed loop", seconds, note=note, unit="s")


def _tracking(platform: Platform, course: Trajectory) -> Iterator[Entry]:
    error = course.signals["setpoint"] - course.signals["measured"]
    size = float(np.ptp(course.signals["setpoint"]))
    configuration = platform.parameters.configuration
    drives = (
        "with configuration hardware"
        if configuration and configuration.applied
        else "without drives"
    )
    yield Quantity(
        "largest error of an actuator along the heave, per its motion",
        largest(error) / size,
        note=f"{drives}; the cascade with its own or derived gains",
    )
    yield Measure(
        "safe stops along the heave",
        bool(course.stopped),
        0.0,
        course.stopped or "the motion runs to its end",
    )


def stopped_run(platform: Platform, fault: Fault) -> Trajectory | None:
    """Return the run that a fault ends; None where the machine cannot have it."""
    options = fault.options(platform)
    if options is None:
        return None
    own = dict(options)
    motion: Motion = heave(platform, fault.duration)
    if "jump" in own:
        motion = StepMotion(
            platform.home,
            displacement={"z": own.pop("jump")},
            rise=0.0,
            start=0.1,
            duration=fault.duration,
            convention=_convention(platform),
        )
    plant = Plant(platform, dropouts=own.pop("dropouts", ()))
    wrench = own.pop("wrench", None)
    controller = Cascade(platform, motion, **own)
    return _run(platform, controller, fault.duration, plant=plant, wrench=wrench)


def stop_measures(platform: Platform, fault: Fault, run: Trajectory) -> Iterator[Entry]:
    """Yield whether a fault ended the run, at rest and in finite numbers."""
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    # Springs in series may swing on after their actuators are at rest.
    k = platform.n_deflections
    rates = run.rates[-1] - run.deflection[-1, k:] if k else run.rates[-1]
    speed = float((np.abs(rates) / stroke).max())
    if not run.stopped:
        yield Measure(f"{fault.name}: no safe stop", 1.0, 0.0, "the machine was not stopped")
    yield Measure(
        f"{fault.name}: actuators' speed at the end, per stroke",
        speed,
        AT_REST,
        run.stopped or "the machine should rest",
        unit="1/s",
    )
    arrays = (run.pose, run.twist, run.lengths, run.rates, run.forces, *run.signals.values())
    yield Measure(
        f"{fault.name}: numbers that are not finite",
        sum(int((~np.isfinite(array)).sum()) for array in arrays),
        0.0,
        "of all that the trajectory holds",
    )
