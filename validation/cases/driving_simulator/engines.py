"""The driving simulator with the paper's masses, and its inputs in MuJoCo and PyBullet.

The paper lumps 30 kg of each pillar at its corner. Engines need feet with mass: 2 kg are added to
each, which slide on the floor by less than a millimetre and so take hundredths of a newton.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.engines.projection import projection
from twin.errors import MissingDependencyError
from twin.model.engine import State
from twin.papers.driving_simulator.dae.integration import DaeRun
from twin.papers.driving_simulator.dae.lagrange import DRIVEN_INDICES, DRIVEN_PILLARS
from twin.papers.driving_simulator.exact import (
    DrivenLengths,
    exact_head_motion,
    sigmoid_inputs,
    sinusoidal_inputs,
)
from twin.papers.driving_simulator.kinematics import (
    CORNERS,
    ExactKinematics,
    PlateKinematics,
    PlateModel,
    SmallAngleKinematics,
)
from twin.papers.driving_simulator.studies import (
    WorstErrors,
    driven_motion,
    exact_forces,
)
from twin.rotations import angles_from_quaternion, quaternion_from_angles
from twin.simulation.simulate import Trajectory, simulate
from twin.validation.case import (
    CaseResult,
    Curve,
    Entry,
    Measure,
    Panel,
    Plot,
    Statement,
    validation_case,
)
from twin.validation.measures.comparison import (
    ENGINE_LABELS,
    MODEL_REASON,
    MODEL_TOLERANCE,
    log_curve,
    missing,
)
from twin.validation.measures.sampling import RandomStates, largest
from twin.validation.published.printed import SIMULATOR_PAPER, PrintedValue

FOOT_MASS = 2.0
"""[kg] Mass of a foot. Engineering choice."""

DEGREES_PER_RADIAN = 180.0 / np.pi


SINE_INPUTS = "sines"
"""Name of the paper's sinusoidal inputs."""

SIGMOID_INPUTS = "sigmoids"
"""Name of the paper's sigmoid inputs."""


def paper_machine(platform: Platform) -> Platform:
    """Return the machine with the paper's 30 kg at each corner, and feet of `FOOT_MASS`."""
    lumped = PlateModel.from_parameters(platform.parameters).lumped()
    return platform.with_(
        parameters={"leg.upper_mass": lumped.upper_mass, "leg.foot_mass": FOOT_MASS}
    )


def paper_inputs(plate: PlateModel) -> dict[str, DrivenLengths]:
    """Return the paper's two sets of inputs by name."""
    return {SINE_INPUTS: sinusoidal_inputs(plate), SIGMOID_INPUTS: sigmoid_inputs(plate)}


def states_along(plate: PlateModel, inputs: DrivenLengths, time: FloatArray) -> RandomStates:
    """Return the exact states of the plate at times `(k,)` [s] while three lengths are driven."""
    motion = driven_motion(plate, inputs, time)
    coordinates = motion.value.coordinates
    center = exact_head_motion(plate, np.zeros(3), *(part.coordinates for part in motion))
    return RandomStates(
        np.hstack([center.position, quaternion_from_angles(coordinates[:, 1:], "roll_pitch")]),
        np.hstack([center.velocity, center.angular_velocity]),
        np.hstack([center.acceleration, center.angular_acceleration]),
        np.zeros((len(time), 0)),
    )


def small_angles(plate: PlateModel, inputs: DrivenLengths, time: FloatArray) -> FloatArray:
    """Return heave [m], roll and pitch [rad] `(k, 3)` of the paper's direct kinematics."""
    front_right, rear_left, front_left = inputs.sample(time).value.T
    rear_right = front_right + rear_left - front_left
    return SmallAngleKinematics(plate).direct(rear_right, rear_left, front_left).coordinates


def coordinates_of(pose: FloatArray) -> FloatArray:
    """Return heave [m], roll and pitch [rad] `(m, 3)` of poses `(m, 7)`."""
    return np.column_stack([pose[:, 2], angles_from_quaternion(pose[:, 3:], "roll_pitch")])


def rates_of(pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the rates `(m, 3)` of heave, roll and pitch: pitch turns about the rolled y axis."""
    # Columns of coordinates are heave, roll, pitch; those of a twist 3 to 5 are omega about x, y,
    # z.
    roll = coordinates_of(pose)[:, 1]
    pitch_rate = np.cos(roll) * twist[:, 4] + np.sin(roll) * twist[:, 5]
    return np.column_stack([twist[:, 2], twist[:, 3], pitch_rate])


def accelerations_of(pose: FloatArray, twist: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Return the second derivatives `(m, 3)` of heave, roll and pitch."""
    roll = coordinates_of(pose)[:, 1]
    sine, cosine = np.sin(roll), np.cos(roll)
    # Pitch rate is omega . y', with y' = (0, cos roll, sin roll); this is its derivative in time.
    angular_part = cosine * acceleration[:, 4] + sine * acceleration[:, 5]
    velocity_part = twist[:, 3] * (cosine * twist[:, 5] - sine * twist[:, 4])
    return np.column_stack([acceleration[:, 2], acceleration[:, 3], angular_part + velocity_part])


def response_plot(title: str, result: DaeRun, exact: FloatArray) -> Plot:
    """Return motion, forces and drift of an integrated response, and exact forces `(k, 3)`."""
    time, degrees = result.time, np.degrees(result.coordinates[:, 1:3])
    angles = (Curve("roll", time, degrees[:, 0]), Curve("pitch", time, degrees[:, 1]))
    pillars = [(k, corner.replace("_", " ")) for k, corner in enumerate(DRIVEN_PILLARS)]
    force_panels = (
        Panel(label, *(Curve(name, time, forces[:, k]) for k, name in pillars))
        for label, forces in (
            ("force of a driven pillar [N]", result.forces),
            ("less that of the exact model [N]", result.forces - exact),
        )
    )
    drift = (
        log_curve("position [m]", time, result.position_drift),
        log_curve("velocity [m/s]", time, result.velocity_drift),
    )
    return Plot(
        f"Response to {title}",
        "time [s]",
        Panel("heave [mm]", Curve("heave", time, 1e3 * result.coordinates[:, 0])),
        Panel("angle [deg]", *angles),
        *force_panels,
        Panel("drift of the constraints", *drift, log_y=True),
    )


def engines_plot(
    name: str, plate: PlateModel, inputs: DrivenLengths, courses: list[Trajectory]
) -> Plot:
    """Return the motion in the engines and the paper's, along inputs called `name`."""
    time = np.linspace(0.0, courses[0].time[-1], 300)
    motions = [("paper", time, small_angles(plate, inputs, time), "dot")]
    for course in courses:
        rows = slice(None, None, max(1, len(course.time) // 300))
        coordinates = coordinates_of(course.pose)[rows]
        motions.append((ENGINE_LABELS[course.engine], course.time[rows], coordinates, "line"))
    heave_curves, angle_curves = [], []
    for label, time, coordinates, style in motions:
        heave_curves.append(Curve(label, time, 1e3 * coordinates[:, 0], style))
        angles = zip(("roll", "pitch"), np.degrees(coordinates[:, 1:]).T, strict=True)
        angle_curves += [Curve(f"{axis}, {label}", time, angle, style) for axis, angle in angles]
    return Plot(
        f"The paper's {name} in the engines",
        "time [s]",
        Panel("heave [mm]", *heave_curves),
        Panel("angle [deg]", *angle_curves),
    )


PAPER_NAME = "Driving simulator"

MACHINE_REASON = "the paper is about its own machine, driving_simulator"

MOTION_RANGES = (
    PrintedValue(f"{PAPER_NAME}, motion ranges", "heave to each side", "50", "mm"),
    PrintedValue(f"{PAPER_NAME}, motion ranges", "roll to each side", "6.9873", "deg"),
    PrintedValue(f"{PAPER_NAME}, motion ranges", "pitch to each side", "3.581", "deg"),
)

EXAMPLE_LENGTHS = {"rear_right": 0.19, "rear_left": 0.189, "front_left": 0.1896}
"""[m] Lengths of the example in section "Direct kynematics": hrr, hrl, hfl."""

LINE_WIDTH = 1.0 / 342.0
"""Width of a drawn line, relative to the range of the curve: one pixel. Matlab draws lines of half
a point in axes 342 pixels high; curves closer than that look identical, and the paper gives no more
than curves."""

ZERO_RATES = [0.0, 0.0, 0.0]
"""Rates of heave, roll and pitch."""


RUN_DURATIONS = {SINE_INPUTS: 6.5, SIGMOID_INPUTS: 2.0}
"""[s] Duration of the runs: a period of the sines; the sigmoids to 99 percent."""

ENGINE_TIMESTEPS = {"mujoco": 1e-3, "bullet": 5e-3}
"""[s] Time steps of the engines."""

LOOP_BANDWIDTH = 30.0
"""[rad/s] Bandwidth of the loops that hold the lengths, ten times faster than a tilted plate
falls."""

POSE_TOLERANCES = {
    "mujoco": (1e-5, "springs at the feet give way by 1e-6 m and rad as they take the load"),
    "bullet": (1e-6, "forces held over 5 ms at their middle value, the rest is the loops'"),
}
"""Largest distance [m], [rad] from the exact motion, by engine."""

SETTLING_TIME = 0.3
"""[s] Time after which the initial transient has decayed to exp(-9)."""

FORCE_LIMITS = {
    "mujoco": (5e-2, "of 1.3 kN; what the loops take back of the feet's springs"),
    "bullet": (1e-2, "of 1.3 kN; what the loops take back of forces held over 5 ms"),
}
"""[N] Largest difference of forces from the closed form, and its reason, by engine."""

STATE_COUNT = 21
"""Number of states along each input at which engines give their forces."""

CONSTRAINT_RANK = 7
"""Rank of the constraints' Jacobian."""

LEVEL_RANKS = (0, 0, 7)
"""Ranks of the three levels' derivatives by the multipliers."""


def printed_places(heave: Any, roll: Any, pitch: Any) -> dict[str, tuple[Any, Any]]:
    """Return x and y [m] of plate and feet, term by term as section "Inverse kynematics" has it."""
    half_width, half_length = 41 / 100, 4 / 5
    pitch_term = 8 * pitch**2 / 5
    roll_pitch_term = 41 * roll * pitch / 50
    roll_term = 41 * roll**2 / 50
    return {
        "mp": (
            pitch * (80 * pitch - 41 * roll + 100 * heave) / 100,
            41 * roll**2 / 100 - heave * roll,
        ),
        "fr": (pitch_term + half_length, -half_width + 0 * roll),
        "fl": (pitch_term - roll_pitch_term + half_length, roll_term + half_width),
        "rl": (-roll_pitch_term - half_length, roll_term + half_width),
    }


def printed_difference(plate: PlateModel, coordinates: FloatArray) -> float:
    """Return the distance [m] of plate and feet from the printed equations."""
    model = SmallAngleKinematics(plate).inverse(coordinates)
    printed = printed_places(*coordinates.T)
    differences = [model.center[:, :2] - np.column_stack(printed["mp"])]
    for corner in CORNERS[:3]:
        initials = "".join(part[0] for part in corner.split("_"))
        differences.append(
            model.feet[:, CORNERS.index(corner)] - np.column_stack(printed[initials])
        )
    return largest(differences)


def round_trip_error(model: PlateKinematics, coordinates: FloatArray) -> float:
    """Return the error [m, rad] of direct kinematics of lengths from inverse kinematics."""
    front_left, rear_left, rear_right = model.inverse(coordinates).lengths[:, 1:].T
    recovered = model.direct(rear_right, rear_left, front_left).coordinates
    return largest(recovered - coordinates)


def kinematics_statements(plate: PlateModel, worst_errors: WorstErrors) -> tuple[Statement, ...]:
    """Return the statements about kinematics, ranges and the driver's head."""
    small = SmallAngleKinematics(plate).direct(**EXAMPLE_LENGTHS).coordinates
    exact = ExactKinematics(plate).direct(**EXAMPLE_LENGTHS).coordinates
    heave, roll, pitch = small
    grid = np.array([[0.35, 0.05, -0.03], [0.32, -0.1, 0.02]])
    kinematics_error = max(
        round_trip_error(model(plate), grid) for model in (SmallAngleKinematics, ExactKinematics)
    )
    printed_error = printed_difference(plate, grid)
    rest_motion = exact_head_motion(
        plate, [0.0, 0.0, 0.0], [plate.home_length, 0.0, 0.0], ZERO_RATES, ZERO_RATES
    )
    specific_force, acceleration = rest_motion.specific_force[2], rest_motion.acceleration[2]
    return (
        SIMULATOR_PAPER["direct_kinematics"].not_given(
            f"Heave {heave:.5g} m, roll {DEGREES_PER_RADIAN * roll:.5g} deg, pitch "
            f"{DEGREES_PER_RADIAN * pitch:.5g} deg; exact within {largest(small - exact):.1e}.",
            "plots without numbers; the lengths lie outside the stroke about 0.3549 m",
        ),
        SIMULATOR_PAPER["closed_forms"].judged(
            f"The same to {printed_error:.0e} m.", printed_error < 1e-14
        ),
        SIMULATOR_PAPER["original_configuration"].judged(
            f"They do, to {kinematics_error:.0e} m and rad in the small-angle and in the exact "
            "model.",
            kinematics_error < 1e-14,
        ),
        SIMULATOR_PAPER["smaller_plate"].not_given(
            "Ranges grow as the plate shrinks: half the stroke over half its length and width.",
            "neither the data sheet's dimensions nor its angles are printed",
        ),
        SIMULATOR_PAPER["vertical_acceleration"].judged(
            f"At rest the driver feels {specific_force:+.4g} m/s2, and is accelerated by "
            f"{acceleration:.4g} m/s2.",
            min(abs(specific_force + plate.gravity), abs(acceleration + plate.gravity)) < 1e-9,
            "as printed a driver at rest feels -g, in free fall -2 g; see the errata",
        ),
        SIMULATOR_PAPER["small_angles"].judged(
            f"Lengths are off by up to {1e3 * worst_errors.length:.2g} mm of "
            f"{1e3 * plate.stroke:g} mm stroke, heave by {1e3 * worst_errors.heave:.2g} mm, "
            f"feet by {1e3 * worst_errors.foot:.2g} mm.",
            max(worst_errors.length, worst_errors.heave, worst_errors.foot)
            < LINE_WIDTH * plate.stroke,
            "curves that look alike do not show a few millimetres; the errors grow with the square "
            "of the angles",
        ),
    )


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON, run_time=3.0)
def check_simulator_engines(platform: Platform) -> CaseResult:
    """The driving simulator paper's inputs in MuJoCo and PyBullet.

    The paper repeats its sines and sigmoids in Simscape. Here both engines do: forces of our
    inverse dynamics and stiff loops hold three lengths on the inputs, the fourth pillar follows.
    Heave, roll and pitch are held against the exact closed forms, and against the paper's small
    angles, which they must miss by the second-order term alone. Beside that each engine's own
    inverse dynamics runs along the motion, without a solver. Its forces are held against the exact
    model.
    """
    machine = paper_machine(platform)
    plate = PlateModel.from_parameters(machine.parameters)
    measures: list[Entry] = []
    plots, line_widths = [], {}
    for name, inputs in paper_inputs(plate).items():
        trajectories: list[Trajectory] = []
        for engine, label in ENGINE_LABELS.items():
            try:
                trajectory = engine_trajectory(machine, plate, inputs, engine, RUN_DURATIONS[name])
                force_error = projection_error(machine, plate, inputs, engine, RUN_DURATIONS[name])
            except MissingDependencyError as error:
                measures.append(missing(label, error))
                continue
            title = f"{name}, {label}"
            measures += [
                *_motion(title, plate, inputs, trajectory),
                Measure(
                    f"{title}: projected forces off the exact ones, per largest, {STATE_COUNT} "
                    "states",
                    force_error,
                    MODEL_TOLERANCE,
                    MODEL_REASON,
                ),
            ]
            line_widths[title] = _line_widths(plate, inputs, trajectory)
            trajectories.append(trajectory)
        if trajectories:
            plots.append(engines_plot(name, plate, inputs, trajectories))
    return check_simulator_engines.result(
        platform, measures, plots, (_statement(line_widths),) if line_widths else ()
    )


def engine_trajectory(
    machine: Platform, plate: PlateModel, inputs: DrivenLengths, engine: str, duration: float
) -> Trajectory:
    """Return an engine's trajectory while forces and loops hold three lengths on the inputs."""
    step = ENGINE_TIMESTEPS[engine]
    step_starts = np.arange(float(round(duration / step))) * step
    lengths, driven_indices = inputs.sample(step_starts), list(DRIVEN_INDICES)
    midpoint_forces = exact_forces(plate, inputs, step_starts + 0.5 * step)
    carried_mass = plate.lifted_mass / len(driven_indices)

    def forces(time: float, state: State) -> FloatArray:
        k = round(time / step)
        pillar_forces: FloatArray = midpoint_forces[k].copy()
        length_error = lengths.value[k] - state.lengths[driven_indices]
        rate_error = lengths.rate[k] - state.rates[driven_indices]
        pillar_forces[driven_indices] += carried_mass * (
            LOOP_BANDWIDTH**2 * length_error + 2.0 * LOOP_BANDWIDTH * rate_error
        )
        return pillar_forces

    initial = states_along(plate, inputs, np.zeros(1))
    return simulate(
        machine,
        duration,
        pose=initial.pose[0],
        twist=initial.twist[0],
        forces=forces,
        engine=engine,
        timestep=step,
        progress=False,
    )


def projection_error(
    machine: Platform, plate: PlateModel, inputs: DrivenLengths, engine: str, duration: float
) -> float:
    """Return the error of the driven pillars' forces by an engine's tree of bodies without loops.

    It is relative to the largest force along the inputs.
    """
    time = np.linspace(0.0, duration, STATE_COUNT)
    driven_indices = list(DRIVEN_INDICES)
    states = zip(*states_along(plate, inputs, time), strict=True)
    projections = [projection(engine, machine, *row) for row in states]
    forces = np.array(
        [np.linalg.solve(result.map[:, driven_indices], result.load) for result in projections]
    )
    exact = exact_forces(plate, inputs, time)[:, driven_indices]
    return largest(forces - exact) / largest(forces)


def _motion(
    title: str, plate: PlateModel, inputs: DrivenLengths, course: Trajectory
) -> Iterator[Entry]:
    engine_coordinates, expected = coordinates_of(course.pose), inputs.sample(course.time).value
    exact = driven_motion(plate, inputs, course.time).value.coordinates
    tolerance, reason = POSE_TOLERANCES[course.engine]
    yield Measure(
        f"{title}: driven lengths off the inputs",
        largest(course.lengths[:, list(DRIVEN_INDICES)] - expected),
        tolerance,
        reason,
        "m",
    )
    yield Measure(
        f"{title}: heave, roll, pitch off the exact closed forms",
        largest(engine_coordinates - exact),
        tolerance,
        reason,
        "m, rad",
    )
    is_settled = course.time > SETTLING_TIME
    errors = course.forces - exact_forces(plate, inputs, course.time + 0.5 * course.timestep)
    yield Measure(
        f"{title}: forces that hold the lengths off the exact ones, from {SETTLING_TIME:g} s",
        largest(errors[is_settled][:-1]),
        *FORCE_LIMITS[course.engine],
        unit="N",
    )
    small_angle_error = engine_coordinates - small_angles(plate, inputs, course.time)
    # The coordinates are heave [m], roll and pitch [rad].
    expected_error = -0.5 * engine_coordinates[:, 0] * (engine_coordinates[:, 1:] ** 2).sum(axis=1)
    yield Measure(
        f"{title}: heave less the paper's, against -z (roll^2 + pitch^2) / 2, per largest",
        largest(small_angle_error[:, 0] - expected_error) / largest(expected_error),
        0.05,
        "the next term is of the fourth order, 1e-3 of it; the rest is the engine's own error",
    )


def _line_widths(plate: PlateModel, inputs: DrivenLengths, course: Trajectory) -> FloatArray:
    """Return distances `(3,)` of an engine's curves from the paper's, per range of the curve."""
    paper = small_angles(plate, inputs, course.time)
    distance = np.abs(coordinates_of(course.pose) - paper).max(axis=0)
    return np.asarray(distance / np.ptp(paper, axis=0))


def _statement(line_widths: dict[str, FloatArray]) -> Statement:
    heave, roll, pitch = 100.0 * np.array(list(line_widths.values())).max(axis=0)
    worst_width = 0.01 * max(heave, roll, pitch)
    return SIMULATOR_PAPER["simscape"].judged(
        f"In both engines and for both inputs the curves lie within {heave:.2f} % of their range "
        f"for heave, {roll:.2f} % for roll, {pitch:.2f} % for pitch; a printed curve is "
        f"{100.0 * LINE_WIDTH:.2f} % wide. Inputs {LINE_WIDTH / worst_width:.1f} times as large "
        "would show it.",
        worst_width < LINE_WIDTH,
    )
