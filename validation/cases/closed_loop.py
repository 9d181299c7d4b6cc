"""Closed loop, drives and safe stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade, takes_positions
from twin.control.gains import suitable_position_loop, suitable_velocity_loop
from twin.engines.base import suitable_timestep
from twin.errors import MissingDependencyError
from twin.machine.legs.strut import StrutLeg
from twin.machine.machine import MachineParameters, machine_names
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import Motion, SineMotion, StepMotion
from twin.plant.drives import drive_timestep
from twin.plant.plant import Plant
from twin.simulation.simulate import Trajectory, simulate
from twin.validation.case import CaseResult, Entry, Measure, validation_case
from twin.validation.measures.comparison import ENGINE_LIMITS, missing
from twin.validation.measures.sampling import (
    MOTION_SAMPLES,
    followed_motion,
    largest,
    position_error,
    rotation_error,
)

CONTROL_PERIOD = 1e-3
"""[s] Control period."""

OVERLOAD_FACTOR = 2.0
"""Load relative to the largest load that all drives together can hold."""

UNSTABLE_GAIN_FACTOR = 1e3
"""Factor on the machine's velocity and position gains: far beyond any stability margin."""

DIVERGENT_LOOP_GAIN = 10.0
"""Position gain times control period: each period multiplies an error by 1 minus this number.
Beyond 2 a loop diverges, whatever the gain of the machine."""


ENGINE_STEP = 5e-4
"""[s] Time step of the engines."""

MOTION_FREQUENCY = 1.0
"""[Hz] Frequency of the heave."""

HEAVE_FRACTION = 0.08
"""Amplitude of the heave as a fraction of the stroke; a hundredth of it where stretching struts
takes more force than holding."""

AGREEMENT_TOLERANCE = 1e-4
"""Largest distance of an engine's platform from the reference, relative to the motion."""

REST_SPEED = 1e-2
"""[1/s] Speed that counts as rest, in strokes per second: brakes hold motors, and elastic parts
behind the motors still swing out slowly."""

SPEED_FRACTION = 0.5
"""Largest actuator speed in the heave, relative to the limit of the slowest actuator."""

HARDWARE_CONFIGURATION = "hardware"


class Fault(NamedTuple):
    """A fault of a closed loop that has to end in a safe stop."""

    name: str
    options: Callable[[Platform], dict[str, Any] | None]
    """function that returns the fault: gains, dropouts, a wrench, or the height [m] of a jump;
    None: the machine cannot have it"""
    duration: float = 1.2
    """[s]"""


def _lever(platform: Platform) -> float:
    """Return a height [m] per actuator coordinate: cranks turn on a lever."""
    return platform.joint_radius if platform.coordinate_unit == "rad" else 1.0


def _unreachable(platform: Platform) -> dict[str, Any]:
    """Return a jump of the reference to twice the height that the stroke allows."""
    return {"jump": 2.0 * float(platform.stroke.max()) * _lever(platform)}


def _unstable_velocity_gain(platform: Platform) -> dict[str, Any] | None:
    """Return the velocity gain; None for drives that take positions and have no such loop."""
    if takes_positions(platform):
        return None
    return {
        "velocity_gain": UNSTABLE_GAIN_FACTOR * suitable_velocity_loop(platform, CONTROL_PERIOD)[0]
    }


def _unstable_position_gain(platform: Platform) -> dict[str, Any] | None:
    """Return the position gain; None for drives that take positions."""
    if takes_positions(platform):
        return None
    suitable = suitable_position_loop(platform, CONTROL_PERIOD)[0]
    return {
        "position_gain": max(UNSTABLE_GAIN_FACTOR * suitable, DIVERGENT_LOOP_GAIN / CONTROL_PERIOD)
    }


def _overload(platform: Platform) -> dict[str, Any] | None:
    """Return a weight that the drives cannot carry for 0.3 s.

    None if the drives have no limit, or if springs would have to carry the weight.
    """
    drives = platform.parameters.drives
    peaks = [None if drive is None else drive.reflected().peak for drive in drives]
    if any(peak is None for peak in peaks) or platform.leg.has_spring:
        return None
    # The column of z: its product with the leg forces is their vertical resultant.
    lifting_jacobian = platform.jacobian(platform.home)[:, 2]
    weight_force = OVERLOAD_FACTOR * float(np.abs(lifting_jacobian) @ np.array(peaks, dtype=float))
    load = np.array([0.0, 0.0, -weight_force, 0.0, 0.0, 0.0])

    def weight(time: float, state: Any) -> FloatArray:
        return load * (0.2 < time < 0.5)

    return {"wrench": weight}


INJECTED_FAULTS = (
    Fault("sensor dropout", lambda _: {"dropouts": [(0.3, 99.0)]}),
    Fault("unreachable pose", _unreachable),
    Fault("unstable velocity gain", _unstable_velocity_gain),
    Fault("unstable position gain", _unstable_position_gain, 3.0),
    Fault("overload", _overload, 1.5),
)
"""Faults in the order of the report."""


COURSE_DURATION = 1.0
"""[s] Duration of the run with drives."""

AGREEMENT_TIME = 0.2
"""[s] Duration of the runs in which engines are compared."""


@validation_case(run_time=2.5)
def check_closed_loop(platform: Platform) -> CaseResult:
    """Closed loop, drives and safe stops.

    The machine follows a heave in closed loop. The position loops of the cascade run at 1 kHz over
    a shorter engine step. Their gains are the machine's own or derived from its masses. Without
    drives all engines must show one behaviour. In configuration hardware (motors, friction, delay,
    encoders) the errors are shown and not judged. Then come faults: each must end at rest, with a
    reason, and without a number that is not finite.
    """
    driven_platform = with_drives(platform)
    controller = Cascade(driven_platform, heave(driven_platform, COURSE_DURATION))
    trajectory = _run(driven_platform, controller, COURSE_DURATION)
    measures = [*_agreement(platform), _tracking(trajectory)]
    for fault in INJECTED_FAULTS:
        stopped = stopped_run(driven_platform, fault)
        if stopped is not None:
            measures.extend(stop_measures(driven_platform, fault, stopped))
    return check_closed_loop.result(platform, measures)


def with_drives(platform: Platform) -> Platform:
    """Return the machine with its configuration hardware, where it is shipped with one."""
    configuration = platform.parameters.configuration
    has_hardware = configuration is not None and HARDWARE_CONFIGURATION in configuration.known
    if not has_hardware or platform.name not in machine_names():
        return platform
    return load(platform.name, HARDWARE_CONFIGURATION)


def without_drives(platform: Platform) -> Platform:
    """Return the machine with ideal actuators and exact sensors."""
    if Plant(platform).ideal:
        return platform
    content = platform.parameters.model_dump()
    for leg in (content["leg"], *(variant["leg"] for variant in content["variant"])):
        leg["drive"] = leg["encoder"] = None
    return Platform(MachineParameters.model_validate(content | {"control": None}))


def heave(platform: Platform, duration: float) -> SineMotion:
    """Return one slow heave about home, at rest at both ends, that the actuators can follow."""
    amplitude = min(_within_stroke(platform), _within_speed(platform)) * _lever(platform)
    motion = followed_motion(platform, lambda size: _heave(platform, size, duration), amplitude)
    time = np.linspace(0.0, duration, MOTION_SAMPLES)
    max_jacobian = largest(platform.jacobian(motion(time).pose)[:, :, 2])
    amplitude = min(motion.amplitude[2], _within_speed(platform) / max_jacobian)
    return _heave(platform, amplitude, duration)


def _heave(platform: Platform, amplitude: float, duration: float) -> SineMotion:
    return SineMotion(
        platform.home,
        amplitude={"z": amplitude},
        frequency=MOTION_FREQUENCY,
        duration=duration,
        convention=_convention(platform),
        fade_in=0.2 * duration,
        fade_out=0.2 * duration,
    )


def _within_stroke(platform: Platform) -> float:
    amplitude = HEAVE_FRACTION * float(platform.stroke.min())
    if isinstance(platform.leg, StrutLeg):
        # The column of z: elongation of each leg per height.
        elongation = amplitude * largest(platform.jacobian(platform.home)[:, 2])
        holding_force = largest(platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR))
        if platform.leg.axial.stiffness * elongation > holding_force:
            amplitude *= 0.01
    return amplitude


def _within_speed(platform: Platform) -> float:
    speeds = [leg.actuator.speed for leg in platform.parameters.legs if leg.actuator.speed]
    return float(SPEED_FRACTION * min(speeds, default=np.inf) / (2 * np.pi * MOTION_FREQUENCY))


def _convention(platform: Platform) -> str:
    return "roll_pitch" if platform.dof < 6 else "yaw_pitch_roll"


def _run(
    platform: Platform,
    controller: Cascade,
    duration: float,
    engine: str = "analytic",
    **options: Any,
) -> Trajectory:
    max_step = min(ENGINE_STEP, suitable_timestep(platform), drive_timestep(platform))
    timestep = controller.period / int(np.ceil(controller.period / max_step - 1e-9))
    fidelity = "fast" if engine == "analytic" else "accurate"
    return simulate(
        platform,
        duration,
        controller=controller,
        engine=engine,
        timestep=timestep,
        fidelity=fidelity,
        progress=False,
        **options,
    )


def _agreement(platform: Platform) -> Iterator[Entry]:
    """Yield the engines' distances from the reference under the same controller."""
    ideal_platform = without_drives(platform)
    motion = heave(ideal_platform, AGREEMENT_TIME)
    reference = _run(ideal_platform, Cascade(ideal_platform, motion), AGREEMENT_TIME)
    if reference.stopped:
        yield Measure("closed loop without drives stopped", 1.0, 0.0, reference.stopped)
        return
    speed_limited = _within_speed(ideal_platform) < _within_stroke(ideal_platform)
    for limit in ENGINE_LIMITS:
        motion_size = largest(position_error(reference.pose, reference.pose[:1]))
        if speed_limited:
            # What slow actuators move is small beside the gap that an engine leaves in its loops.
            motion_size = max(motion_size, limit.tolerance / AGREEMENT_TOLERANCE)
        try:
            trajectory = _run(
                ideal_platform, Cascade(ideal_platform, motion), AGREEMENT_TIME, limit.engine
            )
        except MissingDependencyError as error:
            yield missing(limit.label, error)
            continue
        if trajectory.stopped:
            yield Measure(f"{limit.label}: closed loop stopped", 1.0, 0.0, trajectory.stopped)
            continue
        distance = position_error(trajectory.pose, reference.pose)
        distance += ideal_platform.joint_radius * rotation_error(trajectory.pose, reference.pose)
        yield Measure(
            f"{limit.label}: platform in closed loop off the reference, per size of the motion",
            distance.max() / motion_size,
            AGREEMENT_TOLERANCE,
            "one controller must behave alike on all engines; they are integrated differently",
        )


def _tracking(course: Trajectory) -> Measure:
    return Measure(
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
    settings = dict(options)
    motion: Motion = heave(platform, fault.duration)
    if "jump" in settings:
        motion = StepMotion(
            platform.home,
            displacement={"z": settings.pop("jump")},
            rise=0.0,
            start=0.1,
            duration=fault.duration,
            convention=_convention(platform),
        )
    plant = Plant(platform, dropouts=settings.pop("dropouts", ()))
    wrench = settings.pop("wrench", None)
    controller = Cascade(platform, motion, **settings)
    return _run(platform, controller, fault.duration, plant=plant, wrench=wrench)


def stop_measures(platform: Platform, fault: Fault, run: Trajectory) -> Iterator[Entry]:
    """Yield whether a fault ended the run, at rest and in finite numbers."""
    # Springs in series may swing on after their actuators are at rest.
    k = platform.n_deflections
    rates = run.rates[-1] - run.deflection[-1, k:] if k else run.rates[-1]
    if not run.stopped:
        yield Measure(f"{fault.name}: no safe stop", 1.0, 0.0, "the machine was not stopped")
    yield Measure(
        f"{fault.name}: actuators' speed at the end, per stroke",
        largest(rates / platform.stroke),
        REST_SPEED,
        run.stopped or "the machine should rest",
        "1/s",
    )
    arrays = (run.pose, run.twist, run.lengths, run.rates, run.forces, *run.signals.values())
    yield Measure(
        f"{fault.name}: numbers that are not finite",
        sum(int((~np.isfinite(array)).sum()) for array in arrays),
        0.0,
        "of all that the trajectory holds",
    )
