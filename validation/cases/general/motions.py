"""Motions of every machine: under constant and sinusoidal forces, driven, and in free fall."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import ForwardKinematicsError
from twin.model.integrate import Solution
from twin.motion import SineMotion, axis_names
from twin.validation.case import CaseResult, Statement, validation_case
from twin.validation.measures.comparison import (
    actuated_motion,
    end_work_measure,
    engines_along,
    trajectory_comparison,
    work_measure,
)
from twin.validation.measures.equilibrium import (
    compared_step,
    duration_for,
    fastest_rate,
    followed_duration,
    offset_force,
    rest,
    stiff_scale,
    time_scale,
    whole_steps,
)
from twin.validation.measures.laws import balance_of, free_motion
from twin.validation.measures.sampling import (
    MOTION_SAMPLES,
    followed_motion,
    largest,
    moved_poses,
    rate_per_speed,
    stroke,
)
from twin.validation.published.printed import (
    EXTENDED_SPACE_PAPER,
    FREE_FALLS,
    Comparison,
    FreeFall,
    PrintedValue,
    compared,
)

CONSTANT_FORCE_DURATION = 0.3
"""[s] Longest duration of the run."""


@validation_case(run_time=0.4)
def check_constant_forces(platform: Platform) -> CaseResult:
    """Motion under constant actuator forces.

    From rest at home, each actuator keeps its holding force plus a constant offset of its own. The
    offset is at most a tenth of the mean holding force; with stiff springs in the legs it is a
    tenth of the force that deflects a spring by 1 % of the stroke. The run takes 0.3 s, less in
    small machines, in stiff ones and in those that topple. The platform moves in all its degrees of
    freedom.
    """
    forces = constant_forces(platform)
    duration = followed_duration(platform, duration_for(platform, CONSTANT_FORCE_DURATION), forces)
    measures, plots = trajectory_comparison(
        platform, duration, "Constant forces", forces, deflection=rest(platform).deflection
    )
    return check_constant_forces.result(platform, measures, plots)


def constant_forces(platform: Platform) -> FloatArray:
    """Return holding forces plus a different constant offset for each actuator, `(n,)` [N, N m]."""
    pattern = np.cos(2.0 * np.arange(platform.n_actuators))
    return np.asarray(rest(platform).forces + offset_force(platform) * pattern)


SINUSOIDAL_FORCE_DURATION = 0.5
"""[s] Longest duration of the run."""

FREQUENCY_RANGE = (3.0, 8.0)
"""[Hz] Frequencies of the first and the last actuator's sine at steps of 1 ms; the others are
evenly spaced between them."""


@validation_case(run_time=0.6)
def check_sinusoidal_forces(platform: Platform) -> CaseResult:
    """Motion under sinusoidal actuator forces.

    From rest at home, each actuator adds a sine of its own frequency to its holding force.
    Frequencies are 3 to 8 Hz; in stiff machines they rise as the time step falls. The run takes 0.5
    s, less in small machines and in those that topple. Forces are sampled at the start of each step
    and held over it, in the reference as in the engines, so that the errors are those of the
    engines alone.
    """
    duration = sines_duration(platform, SINUSOIDAL_FORCE_DURATION)
    forces = sinusoidal_forces(platform, duration, compared_step(platform))
    measures, plots = trajectory_comparison(
        platform, duration, "Sinusoidal forces", forces, deflection=rest(platform).deflection
    )
    return check_sinusoidal_forces.result(platform, measures, plots)


def sines_duration(platform: Platform, longest: float) -> float:
    """Return the duration [s], at most `longest`, for which a machine follows the forces."""
    duration = duration_for(platform, longest)
    forces = sinusoidal_forces(platform, duration, compared_step(platform))
    return followed_duration(platform, duration, forces)


def sinusoidal_forces(platform: Platform, duration: float, timestep: float) -> FloatArray:
    """Return holding forces plus sines, sampled at the start of each step, `(steps, n)` [N, N m].

    Amplitudes are equal, frequencies and phases differ from actuator to actuator.
    """
    time = np.arange(round(duration / timestep))[:, None] * timestep
    legs = np.arange(platform.n_actuators)
    frequency = np.linspace(*FREQUENCY_RANGE, platform.n_actuators) * (
        1e-3 / compared_step(platform)
    )
    sines = np.sin(2.0 * np.pi * frequency * time + 1.3 * legs)
    return np.asarray(rest(platform).forces + offset_force(platform) * sines)


AMPLITUDE_FRACTION = 0.08
"""Amplitude of each of the six sines, as a fraction of the stroke."""

SPEED_FRACTION = 0.8
"""Largest actuator speed in the motion, as a fraction of the actuators' limit."""

SINE_FREQUENCIES = {"x": 1.0, "y": 2.0, "z": 1.0, "yaw": 1.0, "pitch": 2.0, "roll": 1.0}
"""[Hz] Frequency of each axis."""

SINE_PHASES = {"x": 0.0, "y": 0.5, "z": 1.0, "yaw": 1.5, "pitch": 2.0, "roll": 2.5}
"""[rad] Phase of each axis."""

MOTION_DURATION = 1.0
"""[s] Duration of the motion: the common period of its sines."""

MAX_SAMPLE_STEP = 2.5e-4
"""[s] Longest time between samples."""

SAMPLED_RATE = 0.1
"""Largest product of the fastest rate of springs in series with actuators and the time between
samples."""

MIN_SAMPLE_STEP = 5e-6
"""[s] Shortest time between samples."""

DRIVEN_ENGINE_TIME = 0.3
"""[s] Longest duration of the engines' runs."""


@validation_case(run_time=1.5)
def check_driven_motion(platform: Platform) -> CaseResult:
    """Sines in all degrees of freedom about home.

    The platform is carried through sines in all its degrees of freedom at once. They have 1 and 2
    Hz and some 8 % of the stroke each, less where actuators would be too slow or cranks would line
    up with their rods. The work of the actuators' forces has to be the gain of energy and the loss
    in dampers and friction. Each engine's own inverse dynamics has to give the forces along the
    motion. Then both engines are driven by the forces, held over each step, for 0.3 s (less in
    small machines and in stiff ones).
    """
    motion = sines(platform)
    count = round(MOTION_DURATION / sample_step(platform))
    actuated_sines = actuated_motion(platform, motion, np.linspace(0.0, MOTION_DURATION, count + 1))
    title = "Sines in all degrees of freedom"
    engines, plots = engines_along(platform, motion, actuated_sines, title, DRIVEN_ENGINE_TIME)
    measures = [
        work_measure(platform, actuated_sines, 1e-9),
        end_work_measure(platform, actuated_sines, 1e-9),
        *engines,
    ]
    return check_driven_motion.result(platform, measures, plots)


def sample_step(platform: Platform) -> float:
    """Return the time [s] between samples, short enough for the motion of springs in series."""
    if not platform.n_deflections:
        return MAX_SAMPLE_STEP
    return max(min(MAX_SAMPLE_STEP, SAMPLED_RATE / fastest_rate(platform)), MIN_SAMPLE_STEP)


def sines(platform: Platform) -> SineMotion:
    """Return one period of sines about home, scaled to stroke and speed of the actuators."""
    amplitude = AMPLITUDE_FRACTION * stroke(platform) / rate_per_speed(platform)
    motion = followed_motion(platform, lambda size: _sines(platform, size), amplitude)
    speed = platform.parameters.leg.actuator.speed
    if speed is None:
        return motion
    pose, twist, _ = platform.constrain(*motion(np.linspace(0.0, MOTION_DURATION, MOTION_SAMPLES)))
    max_speed = largest(np.einsum("kij,kj->ki", platform.jacobian(pose), twist))
    return _sines(platform, motion.amplitude[2] * min(1.0, SPEED_FRACTION * speed / max_speed))


def _sines(platform: Platform, shift: float) -> SineMotion:
    convention = "yaw_pitch_roll" if platform.dof == 6 else "roll_pitch"
    axes = axis_names(convention) if platform.dof == 6 else ("z", "roll", "pitch")
    tilt_amplitude = shift / platform.joint_radius
    return SineMotion(
        platform.home,
        amplitude={axis: shift if len(axis) == 1 else tilt_amplitude for axis in axes},
        frequency={axis: SINE_FREQUENCIES[axis] for axis in axes},
        phase={axis: SINE_PHASES[axis] for axis in axes},
        duration=MOTION_DURATION,
        convention=convention,
    )


ENGINE_TIME = 0.3
"""[s] Longest duration of the engines' falls."""

FALL_TIME = 1.0
"""[s] Longest fall of the reference."""

START_DIRECTION = np.array([0.8, -0.5, 0.3])
"""Direction of the initial displacement from home, along or about x, y and z, in parts of its
size."""

START_TILT = np.radians(2.5)
"""[rad] Size of the initial rotation from home."""

OFFSET_FRACTION = 0.01
"""Size of the initial displacement from home as a fraction of the stroke, for legs with springs
along them."""


@validation_case(needs_gravity=True, run_time=0.7)
def check_free_fall(platform: Platform) -> CaseResult:
    """Free fall from rest.

    The machine falls without actuator forces. It starts tilted, as symmetric machines would
    otherwise only sink straight down. Where springs between platform and base carry it, it is let
    go a hundredth of the stroke beside home. Where a paper prints the end of a fall, it starts as
    there, and the end is compared. Both engines are compared with the reference over the first 0.3
    s (less in small machines and in stiff ones). The reference alone goes on to 1 s (less in stiff
    machines), through the base and through the singular pose in its plane, which task-space
    equations pass unharmed. On pillars it ends with the first part, before a strut has no length
    left. Its energy has to stay constant except for losses in dampers and friction.
    """
    initial = {"pose": start_pose(platform), "deflection": rest(platform).deflection}
    fall = free_fall(platform)
    duration = duration_for(platform, ENGINE_TIME)
    if fall.time[-1] < duration:
        duration = whole_steps(platform, float(fall.time[-1]))
    measures, plots = trajectory_comparison(platform, duration, "Free fall", **initial)
    balance = balance_of(platform, fall)
    crossing = singular_time(platform, fall)
    measures.append(balance.measure(f"reference: energy drift in {fall.time[-1]:.3g} s"))
    statements: tuple[Statement, ...] = ()
    if platform.name in FREE_FALLS and fall.time[-1] == FALL_TIME:
        printed = FREE_FALLS[platform.name]
        benchmark = tuple(_benchmark(printed, fall(FALL_TIME)[0]))
        measures.extend(comparison.measure for comparison in benchmark)
        statements = (
            *(comparison.statement for comparison in benchmark),
            *_statements(platform, printed, fall, crossing, balance.total),
        )
    return check_free_fall.result(platform, measures, plots, statements)


def start_pose(platform: Platform) -> FloatArray:
    """Return the pose `(7,)` from which a machine falls."""
    if platform.leg.has_axial_spring:
        offset = OFFSET_FRACTION * stroke(platform)
        sizes = [offset, offset / platform.joint_radius]
    elif platform.name in FREE_FALLS:
        return platform.home
    else:
        sizes = [0.0, START_TILT]
    shift = np.outer(sizes, START_DIRECTION).reshape(1, 6)
    return np.asarray(platform.constrain(moved_poses(platform.home[None], shift, 1.0)).pose[0])


def free_fall(platform: Platform) -> Solution:
    """Return the fall of the reference, halved in duration if a leg cannot follow it."""
    max_duration = FALL_TIME if platform.dof == 6 else ENGINE_TIME
    duration = max_duration * (time_scale(platform) if platform.dof < 6 else stiff_scale(platform))
    return free_motion(
        platform, duration, pose=start_pose(platform), deflection=rest(platform).deflection
    )


CROSSING_STEP = 1e-5
"""[s] Time step near singular poses; the legs of srspm pass three of them within 0.2 ms."""


def singular_time(platform: Platform, fall: Solution) -> float | None:
    """Return the time [s] at which the determinant of a square Jacobian first changes sign."""
    if not platform.n_actuators == platform.dof == 6:
        return None
    from scipy.optimize import brentq

    def determinant(time: float | FloatArray) -> FloatArray:
        return np.asarray(np.linalg.det(platform.jacobian(fall(time)[0])))

    time = np.linspace(0.0, fall.time[-1], round(fall.time[-1] / CROSSING_STEP) + 1)
    values = determinant(time)
    sign_changes = np.flatnonzero(values[1:] * values[:-1] <= 0.0)
    if not sign_changes.size:
        return None
    return float(brentq(determinant, time[sign_changes[0]], time[sign_changes[0] + 1], xtol=1e-12))


def tracked_until(platform: Platform, fall: Solution, step: float) -> float:
    """Return the time [s] for which forward kinematics finds the pose of the falling legs.

    Each solution is the guess of the next one, `step` [s] later, as actuator-space equations do.
    """
    pose = platform.home
    for k in range(1, round(FALL_TIME / step) + 1):
        true_pose = fall(k * step)[0]
        try:
            pose = platform.forward_kinematics(platform.inverse_kinematics(true_pose), pose)
        except ForwardKinematicsError:
            return (k - 1) * step
        if largest(pose - true_pose) > 1e-6:
            return (k - 1) * step
    return FALL_TIME


def _benchmark(printed: FreeFall, end: FloatArray) -> Iterator[Comparison]:
    source = f"{EXTENDED_SPACE_PAPER}, code published with the paper: free fall from home"
    for axis, value, expected in (("x", end[0], printed.x), ("z", end[2], printed.z)):
        name = f"{axis} after {FALL_TIME:g} s"
        yield compared(PrintedValue(source, name, expected, "m"), float(value))


def _statements(
    platform: Platform, printed: FreeFall, fall: Solution, crossing: float | None, total: FloatArray
) -> tuple[Statement, ...]:
    tracked_time = tracked_until(platform, fall, printed.output_step)
    crossing_text = "none is passed" if crossing is None else f"it is passed at {crossing:.4f} s"
    drift_percent = 100.0 * (largest(total - total[0]) / abs(total[0]))
    return (
        EXTENDED_SPACE_PAPER["singular_fall"].judged(
            f"The singular pose: {crossing_text}. Tracking the legs' lengths in steps of "
            f"{1e3 * printed.output_step:g} ms, forward kinematics finds the platform until "
            f"{tracked_time:.2f} s and not after.",
            abs(tracked_time - printed.singular_time) < 1e-6,
        ),
        EXTENDED_SPACE_PAPER["task_space_passes"].judged(
            f"The task-space reference runs through to {FALL_TIME:g} s without a stop.",
            bool(fall(FALL_TIME)[0][2] < 0.0),
        ),
        EXTENDED_SPACE_PAPER["total_energy"].not_given(
            f"Largest change {drift_percent:.1e} percent of the energy at the start.",
            "a curve without numbers",
        ),
    )
