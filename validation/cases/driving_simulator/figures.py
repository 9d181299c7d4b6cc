"""The driving simulator with the paper's masses and inputs, and the figures of its cases.

The paper lumps 30 kg of each pillar at its corner. Engines need feet with mass: 2 kg are added to
each, which slide on the floor by less than a millimetre and so take hundredths of a newton.
"""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.dae.integration import DaeRun
from twin.papers.driving_simulator.dae.lagrange import DRIVEN_PILLARS
from twin.papers.driving_simulator.exact import (
    DrivenLengths,
    exact_head_motion,
    sigmoid_inputs,
    sinusoidal_inputs,
)
from twin.papers.driving_simulator.kinematics import (
    PlateModel,
    SmallAngleKinematics,
)
from twin.papers.driving_simulator.studies import driven_motion
from twin.rotations import angles_from_quaternion, quaternion_from_angles
from twin.simulation.simulate import Trajectory
from twin.validation.case import Curve, Panel, Plot
from twin.validation.measures.comparison import ENGINE_LABELS, log_curve
from twin.validation.measures.sampling import RandomStates

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
    attitude = quaternion_from_angles(coordinates[:, 1:], "roll_pitch")
    return RandomStates(
        np.hstack([center.position, attitude]),
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
    angles = angles_from_quaternion(pose[:, 3:], "roll_pitch")
    return np.column_stack([pose[:, 2], angles])


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
