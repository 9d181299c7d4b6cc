"""Tank motion under control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.control.computed_torque import ComputedTorque, InverseDynamicsFeedforward
from twin.control.controller import Controller, Reference, reference_of, sample_reference
from twin.control.observer.cascade import ObserverCascade
from twin.control.observer.kalman_observer import lumped_mass
from twin.engines import make_engine
from twin.model.engine import Engine, State
from twin.motion.motion import AxisSample, Motion
from twin.plant.plant import Plant
from twin.plant.signals import Measurement
from twin.rotations import displacement
from twin.simulation.simulate import Trajectory, simulate
from twin.validation.case import (
    CaseResult,
    Curve,
    Entry,
    Measure,
    Panel,
    Plot,
    Statement,
    Table,
    validation_case,
)
from twin.validation.cases.thesis import tank_motion
from twin.validation.measures.comparison import ENGINE_LIMITS, FULL_MOTION, leg_curves
from twin.validation.measures.sampling import largest
from twin.validation.published.printed import STEWART_THESIS

FEEDFORWARD_OPTIONS: dict[str, Any] = {"feedforward_start": 0.0, "feedforward_rise": 0.0}
"""Options of cascades: velocity feedforward from the start, since runs rise fast from rest."""

CASCADE_VARIANTS: dict[str, dict[str, Any]] = {
    "feedback alone": {"compensation": False, "estimated_speed": False},
    "estimated speed": {"compensation": False},
    "estimated disturbance too": {},
}
"""Options of the cascade in torque mode, by variant."""


CONTROL_PERIOD = 1e-3
"""[s] Control period."""

ENGINE_STEP = 0.5e-3
"""[s] Time step of the engines."""

EXCERPT_BEGIN = 2.0
"""[s] Time in the tank motion, which has its full size from then on, at which the run begins."""

FADE_TIME = 0.4
"""[s] Fade-in of the motion."""

RUN_TIME = 1.2
"""[s] Duration of the run."""

LOOK_AHEAD_TIME = 0.02
"""[s] Reference beyond the end of the run, for controllers that look ahead."""

ENGINE_PERIODS = (500, 560)
"""First and last control period of the part that is run in all engines."""

ENGINE_DIFFERENCE = max(limit.tolerance for limit in ENGINE_LIMITS) / FULL_MOTION
"""Largest difference between engines, relative to the motion: their largest error in an open loop,
1e-6 m, per 1 cm of motion; a stable control loop does not increase it."""

COMPARED_CONTROLLERS: dict[str, type[Controller]] = {
    "thesis cascade": Cascade,
    "PI + Kalman": ObserverCascade,
    "feedforward": InverseDynamicsFeedforward,
    "computed torque": ComputedTorque,
}

ERROR_UNITS = (("position", "mm"), ("rotation", "mrad"), ("actuator", "mm"))
"""Names and units of the three rms errors, after multiplication by a thousand."""


class RmsErrors(NamedTuple):
    """Root mean squares of errors, or of a motion."""

    position: float
    """[m]"""
    rotation: float
    """[rad]"""
    actuators: float
    """error of an actuator [m] or [rad]"""


class TrackingRun(NamedTuple):
    """A closed-loop trajectory with its errors, one row per control instant."""

    trajectory: Trajectory
    time: FloatArray
    """`(k,)` [s]"""
    position: FloatArray
    """`(k, 3)` actual minus reference [m]"""
    rotation: FloatArray
    """`(k, 3)` rotation vectors from reference to actual [rad], base axes"""
    actuators: FloatArray
    """`(k, n)` actual minus reference leg coordinates [m] or [rad]"""

    @property
    def rms(self) -> RmsErrors:
        """Root mean squares of the errors."""
        return _root_mean_squares(self.position, self.rotation, self.actuators)


class Excerpt(Motion):
    """A part of a motion from `begin` on, faded in from rest.

    Attributes:
        motion: the whole motion.
        begin: [s] time in the whole motion at which the excerpt begins.
    """

    motion: Motion
    begin: float

    def __init__(self, motion: Motion, begin: float, duration: float, fade_in: float) -> None:
        """Describe the excerpt by its start in the motion, duration and fade-in time, all [s]."""
        super().__init__(motion.center, duration, motion.convention, fade_in)
        self._set(motion=motion, begin=begin)

    def _axes(self, time: FloatArray) -> AxisSample:
        return self.motion.axes(time + self.begin)


def track(
    platform: Platform,
    controller: Controller,
    engine: Engine,
    duration: float,
    plant: Plant | None = None,
) -> TrackingRun:
    """Return the closed-loop run of a machine that starts at the pose and twist of its reference.

    Without a `plant` its drives and sensors are those of its parameters.
    """
    reference = controller.reference
    trajectory = simulate(
        platform,
        duration,
        pose=reference.pose[0],
        twist=reference.twist[0],
        controller=controller,
        plant=plant,
        engine=engine,
        every=round(controller.period / engine.timestep),
        progress=False,
    )
    reference_rows = [reference.row(k) for k in range(len(trajectory))]
    pose_error = displacement(trajectory.pose, reference.pose[reference_rows])
    length_error = trajectory.lengths - reference.coordinates[reference_rows]
    return TrackingRun(
        trajectory, trajectory.time, pose_error[:, :3], pose_error[:, 3:], length_error
    )


def motion_size(reference: Reference, count: int) -> RmsErrors:
    """Return the rms size of the first `count` rows of a reference, as `TrackingRun.rms`.

    It is the error of a machine that stays where it is.
    """
    pose, coordinates = reference.pose[:count], reference.coordinates[:count]
    offset = displacement(pose, pose[0])
    return _root_mean_squares(offset[:, :3], offset[:, 3:], coordinates - coordinates[0])


def reference_part(platform: Platform, reference: Reference, begin: int, end: int) -> Reference:
    """Return rows `begin` to `end` of a reference as one that begins at time 0."""
    window = slice(begin, end + 1)
    return reference_of(
        platform,
        reference.period,
        reference.time[window] - reference.time[begin],
        reference.pose[window],
        reference.twist[window],
        reference.acceleration[window],
    )


def relative_difference(one: Trajectory, other: Trajectory) -> float:
    """Return the largest difference of two trajectories, relative to the motion of the first.

    Positions and quaternions are compared by themselves; the motion is the largest change since
    the begin.
    """
    return max(
        largest(other.pose[:, k] - one.pose[:, k]) / largest(one.pose[:, k] - one.pose[0, k])
        for k in (slice(0, 3), slice(3, 7))
    )


def _root_mean_squares(
    position: FloatArray, rotation: FloatArray, actuators: FloatArray
) -> RmsErrors:
    squares = (position**2).sum(axis=1), (rotation**2).sum(axis=1), actuators**2
    return RmsErrors(*(float(np.sqrt(square.mean())) for square in squares))


def tracking_plots(runs: dict[tuple[str, str], TrackingRun]) -> list[Plot]:
    """Return errors over time, and what the observer estimates, by plant and controller."""
    error_panels = []
    for index, (quantity, unit) in enumerate(ERROR_UNITS[:2]):
        curves = []
        for name in COMPARED_CONTROLLERS:
            run = runs["hardware", name]
            error_norm = np.linalg.norm((run.position, run.rotation)[index], axis=1)
            # The first sample lies on the reference; a zero has no place on a logarithmic axis.
            curves.append(Curve(name, run.time[1:], 1e3 * error_norm[1:]))
        error_panels.append(Panel(f"{quantity} error [{unit}]", *curves, log_y=True))
    run = runs["hardware", "PI + Kalman"]
    signals = run.trajectory.signals
    time, estimated = signals["time"], signals["estimated_rate"]
    actual = run.trajectory.rates[: len(time)]
    return [
        Plot(
            "Errors under control, hardware plant",
            "time [s]",
            *error_panels,
            caption="Thesis figure 4.40 shows the error in pitch on the thesis' ideal plant.",
        ),
        Plot(
            "Speed and disturbance estimated by the Kalman observer, hardware plant",
            "time [s]",
            Panel(
                "speed of leg 1 [mm/s]",
                Curve("actual", time, 1e3 * actual[:, 0]),
                Curve("estimated", time, 1e3 * estimated[:, 0], "dash"),
            ),
            Panel(
                "estimated minus actual [mm/s]",
                Curve("leg 1", time, 1e3 * (estimated - actual)[:, 0]),
            ),
            Panel(
                "disturbance force [N]",
                *leg_curves(time, signals["estimated_disturbance"]),
            ),
            caption="As thesis figures 4.41 to 4.44. The observer knows the motor's position; the "
            "leg's actual speed differs from it by backlash and compression of the transmission.",
        ),
    ]


Errors = dict[str, RmsErrors]
"""Errors by controller."""

Evidence = dict[str, Errors]
"""Errors by plant and variant of the controller."""

Loop = tuple[type[Controller], type[Plant], dict[str, Any]]
"""Kinds of controller and plant, and options of the controller."""


def analytic_errors(machine: Platform, motion: Motion, loops: dict[str, Loop]) -> Errors:
    """Return the errors of control loops on the analytic engine along a motion."""
    reference = sample_reference(machine, motion, CONTROL_PERIOD)
    engine = make_engine("analytic", machine, ENGINE_STEP, "fast")
    errors = {}
    for name, (kind, plant, options) in loops.items():
        controller = kind(machine, reference, **options, **FEEDFORWARD_OPTIONS)
        errors[name] = track(machine, controller, engine, RUN_TIME, plant(machine)).rms
    engine.close()
    return errors


def observer_evidence(machines: dict[str, Platform], motion: Motion) -> Evidence:
    """Return errors of all variants on plants with and without friction and backlash.

    `machines` are "ideal" and "hardware".
    """
    hardware = machines["hardware"]
    frictionless = {"leg.drive.friction_torque": 0.0, "leg.drive.viscous_torque": 0.0}
    plants = machines | {
        "hardware, no friction": hardware.with_(parameters=frictionless),
        "hardware, no backlash": hardware.with_(parameters={"leg.drive.backlash": 0.0}),
    }
    loops: dict[str, Loop] = {
        variant: (ObserverCascade, Plant, options) for variant, options in CASCADE_VARIANTS.items()
    }
    # Without friction or backlash only the disturbance fed forward is judged.
    estimated = {name: loops[name] for name in loops if name != "feedback alone"}
    return {
        plant: analytic_errors(machine, motion, loops if plant in machines else estimated)
        for plant, machine in plants.items()
    }


def evidence_table(evidence: Evidence) -> Table:
    """Return position and rotation errors by plant and variant."""
    rows = (
        (
            plant,
            *(
                f"{1e3 * variants[name][k]:.4f}" if name in variants else ""
                for k in range(2)
                for name in CASCADE_VARIANTS
            ),
        )
        for plant, variants in evidence.items()
    )
    units = ("position [mm]", "rotation [mrad]")
    return Table(
        "Tracking errors with and without the observer's estimates",
        ("plant", *(f"{name}: {unit}" for unit in units for name in CASCADE_VARIANTS)),
        tuple(rows),
        "Root mean squares on the analytic engine; the same gains in torque mode, on speeds that "
        "drives measure, on estimated speeds, and with the estimated disturbance fed forward.",
    )


def evidence_measure(evidence: Evidence) -> Measure:
    """Return the factor by which the rotation error falls when the disturbance is fed forward."""
    return Measure(
        "hardware plant: rotation error without the disturbance fed forward, per error with it",
        _error_ratio(evidence, "hardware"),
        1.0,
        "friction that is estimated and fed forward leaves less error to feedback; with the "
        "opposite sign it would act twice",
        at_least=True,
    )


class LinearEncoderPlant(Plant):
    """Drives of a machine with linear encoders on the legs, behind transmission and backlash."""

    def measure(self, state: State) -> Measurement:
        """Return the measurement with the legs' coordinates, in counts of the same resolution."""
        encoder_counts = np.round(self.actuated(state)[0] / self.drives.resolution)
        self._last = (
            super().measure(state)._replace(coordinates=encoder_counts * self.drives.resolution)
        )
        return self._last


ENCODER_LOOPS: dict[str, Loop] = {
    "cascade, motor": (Cascade, Plant, {}),
    "cascade, linear": (Cascade, LinearEncoderPlant, {}),
    "observer, linear": (ObserverCascade, LinearEncoderPlant, {}),
}
"""Loops with encoders on motors and on legs."""


def evidence_statements(evidence: Evidence, linear: Errors) -> tuple[Statement, ...]:
    """Return the thesis' statements about the observer and linear encoders with our results."""
    ideal, on_hardware = evidence["ideal"], evidence["hardware"]
    ideal_errors = [1e3 * ideal[name].rotation for name in CASCADE_VARIANTS]
    feedback_only, with_disturbance = "feedback alone", "estimated disturbance too"
    return (
        STEWART_THESIS["observer_in_simulation"].judged(
            f"On the ideal plant in torque mode the rotation error is {ideal_errors[0]:.4f} mrad "
            f"with feedback alone, {ideal_errors[1]:.4f} mrad on estimated speeds and "
            f"{ideal_errors[2]:.4f} mrad with the disturbance fed forward. That PI + Kalman has a "
            "smaller error than the cascade there is due to torque mode, not to its estimates: the "
            "controller closes the velocity loop itself, while the cascade's drives follow a speed "
            "that is held for a control period.",
            _smaller(ideal[feedback_only], ideal[with_disturbance]),
        ),
        STEWART_THESIS["observer_in_real_time"].judged(
            f"On the hardware plant the errors of position and rotation are "
            f"{_errors_text(on_hardware[with_disturbance])} with both estimates, and "
            f"{_errors_text(on_hardware[feedback_only])} with feedback alone on the drives' exact "
            "speeds. On estimated speeds, the disturbance fed forward divides the rotation error "
            f"by {_error_ratio(evidence, 'hardware'):.2f}, without friction by "
            f"{_error_ratio(evidence, 'hardware, no friction'):.2f}, without backlash by "
            f"{_error_ratio(evidence, 'hardware, no backlash'):.2f}: the observer estimates "
            "friction, but not backlash, which encoders on motors do not see.",
            _smaller(on_hardware[with_disturbance], on_hardware[feedback_only]),
        ),
        STEWART_THESIS["linear_encoders"].judged(
            "The errors of the thesis' cascade are "
            f"{_errors_text(linear['cascade, linear'])} with linear encoders, and "
            f"{_errors_text(linear['cascade, motor'])} with encoders on the motors.",
            _smaller(linear["cascade, linear"], linear["cascade, motor"]),
        ),
        STEWART_THESIS["linear_encoder_torque"].judged(
            "In torque mode the errors of the cascade with observer are "
            f"{_errors_text(linear['observer, linear'])} with linear encoders, and "
            f"{_errors_text(on_hardware[with_disturbance])} with encoders on the motors.",
            _smaller(linear["observer, linear"], on_hardware[with_disturbance]),
            "with linear encoders the velocity loop contains backlash and transmission, whose "
            "stiffness is adopted, and oscillates with these gains; with encoders on the motors it "
            "contains neither",
        ),
    )


def _smaller(errors: RmsErrors, others: RmsErrors) -> bool:
    """Return whether every error is smaller than its counterpart."""
    return all(error < other_error for error, other_error in zip(errors, others, strict=True))


def _errors_text(errors: RmsErrors) -> str:
    return f"{1e3 * errors.position:.4f} mm and {1e3 * errors.rotation:.4f} mrad"


def _error_ratio(evidence: Evidence, plant: str) -> float:
    """Return the rotation error without the estimated disturbance per that with it."""
    errors = evidence[plant]
    return errors["estimated speed"].rotation / errors["estimated disturbance too"].rotation


@validation_case(
    machines=("stewart",),
    because="the thesis controls its own machine, stewart; other machines' controllers are tested",
    run_time=5.0,
)
def check_tracking(platform: Platform) -> CaseResult:
    """Tank motion under control.

    Part of the tank-track motion runs at its full size, faded in from rest, with controllers at 1
    kHz in MuJoCo at 0.5 ms. The controllers are the thesis' cascade, the cascade with a Kalman
    observer in torque mode, feedforward by inverse dynamics, and computed torque. They run on the
    ideal plant and on the hardware one, with armature inertia, delay, friction, backlash and
    encoders. One table has the root mean squares of the platform's and the actuators' errors. Then
    the case shows the gain from the observer's estimates with and without friction and backlash.
    Last, each controller runs a short course of the ideal plant in all three engines.
    """
    machines = {"ideal": platform, "hardware": load(platform.name, "hardware")}
    motion = Excerpt(tank_motion(platform), EXCERPT_BEGIN, RUN_TIME + LOOK_AHEAD_TIME, FADE_TIME)
    references = {
        plant: sample_reference(machine, motion, CONTROL_PERIOD)
        for plant, machine in machines.items()
    }
    runs: dict[tuple[str, str], TrackingRun] = {}
    for plant, machine in machines.items():
        engine = make_engine("mujoco", machine, ENGINE_STEP, "accurate")
        for name in COMPARED_CONTROLLERS:
            controller = _controller(name, machine, references[plant])
            runs[plant, name] = track(machine, controller, engine, RUN_TIME)
        engine.close()
    errors = observer_evidence(machines, motion)
    encoder_errors = analytic_errors(machines["hardware"], motion, ENCODER_LOOPS)
    motion_rms = motion_size(references["hardware"], round(RUN_TIME / CONTROL_PERIOD) + 1)
    measures = [
        *_better(runs),
        evidence_measure(errors),
        *_engines(platform, reference_part(platform, references["ideal"], *ENGINE_PERIODS)),
    ]
    return check_tracking.result(
        platform,
        measures,
        tracking_plots(runs),
        (*evidence_statements(errors, encoder_errors), _mass_statement(platform)),
        (_table(runs, motion_rms), evidence_table(errors)),
    )


def _controller(name: str, machine: Platform, reference: Reference) -> Controller:
    kind = COMPARED_CONTROLLERS[name]
    feedforward = FEEDFORWARD_OPTIONS if kind in (Cascade, ObserverCascade) else {}
    return kind(machine, reference, **feedforward)


def _table(runs: dict[tuple[str, str], TrackingRun], size: RmsErrors) -> Table:
    """Return root mean squares by controller, plant and error."""

    def texts(values: tuple[float, ...]) -> tuple[str, ...]:
        return tuple(f"{1e3 * value:.3g}" for value in values)

    rows = [
        (name, *texts(runs["ideal", name].rms), *texts(runs["hardware", name].rms))
        for name in COMPARED_CONTROLLERS
    ]
    rows.append(("none: the motion itself", *texts(size), *texts(size)))
    columns = [
        f"{plant}: {quantity} [{unit}]"
        for plant in ("ideal", "hardware")
        for quantity, unit in ERROR_UNITS
    ]
    return Table(
        "Errors under control",
        ("controller", *columns),
        tuple(rows),
        f"Root mean squares over {RUN_TIME:g} s in MuJoCo.",
    )


def _better(runs: dict[tuple[str, str], TrackingRun]) -> Iterator[Entry]:
    """Yield runs that stopped early, and the thesis cascade's errors over the best controller's."""
    yield Measure(
        "runs stopped early",
        sum(bool(run.trajectory.stopped) for run in runs.values()),
        0.0,
        "all controllers reach the end",
    )
    thesis_rms = np.array(runs["hardware", "thesis cascade"].rms)
    ratios = {
        name: float((thesis_rms / np.array(runs["hardware", name].rms)).min())
        for name in COMPARED_CONTROLLERS
        if name != "thesis cascade"  # its own ratio, 1, would always keep the bound
    }
    best_controller = max(ratios, key=lambda name: ratios[name])
    yield Measure(
        f"hardware plant: error of the thesis' cascade per error of {best_controller}, the best "
        "controller",
        ratios[best_controller],
        1.0,
        "smallest ratio of the three errors; forces of the motion that are fed forward leave less "
        "error to feedback",
        at_least=True,
    )


def _engines(platform: Platform, reference: Reference) -> Iterator[Entry]:
    duration = (ENGINE_PERIODS[1] - ENGINE_PERIODS[0]) * CONTROL_PERIOD
    engines = [
        make_engine(name, platform, ENGINE_STEP, "accurate")
        for name in ("analytic", "mujoco", "bullet")
    ]
    for name in COMPARED_CONTROLLERS:
        runs = [
            track(platform, _controller(name, platform, reference), engine, duration).trajectory
            for engine in engines
        ]
        yield Measure(
            f"ideal plant, {name}: largest difference of engines, per motion",
            max(relative_difference(runs[0], course) for course in runs[1:]),
            ENGINE_DIFFERENCE,
            "MuJoCo and PyBullet against the analytic engine: their largest error in an open loop, "
            "1e-6 m, per 1 cm of motion",
        )
    for engine in engines:
        engine.close()


def _mass_statement(platform: Platform) -> Statement:
    mass = float(lumped_mass(platform, drives=False)[0])
    return STEWART_THESIS["equivalent_mass"].judged(
        f"By that rule {mass:.2f} kg; with the armature's inertia "
        f"{float(lumped_mass(load(platform.name, 'hardware'))[0]):.0f} kg.",
        abs(mass - 18.8) < 0.05,
        "the code gives no source for its mass; neither contains the armature, which is 26 "
        "times the rest",
    )
