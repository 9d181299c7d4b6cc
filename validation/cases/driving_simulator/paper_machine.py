"""The driving simulator with the paper's masses, and its states and forces along the inputs.

The paper lumps 30 kg of each pillar at its corner. Engines need feet with mass: 2 kg are added to
each, which slide on the floor by less than a millimetre and so take hundredths of a newton.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.machine.machine import MachineParameters
from twin.papers.driving_simulator.closed_forms import SmallAngleKinematics
from twin.papers.driving_simulator.inputs import DrivenLengths, sigmoid_inputs, sinusoidal_inputs
from twin.papers.driving_simulator.plate import PlateModel
from twin.papers.driving_simulator.studies.foot_friction import driven_motion
from twin.papers.driving_simulator.studies.head import exact_head_motion
from twin.rotations import angles_from_quaternion, quaternion_from_angles
from twin.validation.measures.sampling import RandomStates

SINES, SIGMOIDS = "sines", "sigmoids"

FOOT = 2.0
"""[kg] adopted"""


def paper_machine(platform: Platform) -> Platform:
    """Return the machine with the paper's 30 kg at each corner, and feet of `FOOT` beside them."""
    lumped = PlateModel.from_parameters(platform.parameters).lumped()
    content = platform.parameters.model_dump()
    content["leg"].update(upper_mass=lumped.upper_mass, foot_mass=FOOT)
    return Platform(MachineParameters.model_validate(content))


def without_feet(plate: PlateModel) -> PlateModel:
    """Return a plate without the mass of its feet: the paper's, of a `paper_machine`."""
    return replace(plate, foot_mass=0.0)


def paper_inputs(plate: PlateModel) -> dict[str, DrivenLengths]:
    """Return the paper's two sets of inputs by name."""
    return {SINES: sinusoidal_inputs(plate), SIGMOIDS: sigmoid_inputs(plate)}


def states_along(plate: PlateModel, inputs: DrivenLengths, time: FloatArray) -> RandomStates:
    """Return the exact states of the plate at times `(k,)` [s] while three lengths are driven."""
    motion = driven_motion(plate, inputs, time)
    coordinates = motion.value.coordinates
    center = exact_head_motion(plate, np.zeros(3), *(part.coordinates for part in motion))
    turn = quaternion_from_angles(coordinates[:, 1:], "roll_pitch")
    return RandomStates(
        np.hstack([center.position, turn]),
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
    roll = coordinates_of(pose)[:, 1]
    pitching = np.cos(roll) * twist[:, 4] + np.sin(roll) * twist[:, 5]
    return np.column_stack([twist[:, 2], twist[:, 3], pitching])


def accelerations_of(pose: FloatArray, twist: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Return the second derivatives `(m, 3)` of heave, roll and pitch."""
    roll = coordinates_of(pose)[:, 1]
    sine, cosine = np.sin(roll), np.cos(roll)
    turned = cosine * acceleration[:, 4] + sine * acceleration[:, 5]
    carried = twist[:, 3] * (cosine * twist[:, 5] - sine * twist[:, 4])
    return np.column_stack([acceleration[:, 2], acceleration[:, 3], turned + carried])
