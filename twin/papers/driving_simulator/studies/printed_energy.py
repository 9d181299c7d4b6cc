"""Terms that the printed energies leave out, in inertia, stiffness and forces.

A plate that turns about a foot a home length below it moves sideways, and comes down as it tilts.
The printed energies have neither. In the forces both are of first order in the angles, as are the
terms that are there: for small angles they do not vanish beside them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.papers.driving_simulator.bounds import MOST_SAMPLES, whole_number
from twin.papers.driving_simulator.dae.lagrange import DRIVEN
from twin.papers.driving_simulator.dae.numeric import numeric_dae
from twin.papers.driving_simulator.exact.model import ExactModel
from twin.papers.driving_simulator.exact.pillars import Pillars
from twin.papers.driving_simulator.inputs import DrivenLengths
from twin.papers.driving_simulator.plate import CORNERS, PlateModel
from twin.papers.driving_simulator.studies.foot_friction import driven_motion

PUSHING = tuple(CORNERS.index(name) for name in DRIVEN)
"""The driven pillars; the fourth follows without a force, as in the paper."""


class HomeInertia(NamedTuple):
    """Inertia at home against heave [kg], roll and pitch [kg m2], `(3,)` each."""

    printed: FloatArray
    """From the printed energy"""
    exact: FloatArray


class ModelForces(NamedTuple):
    """Forces [N] of the driven pillars front right, rear left, front left at `k` times."""

    time: FloatArray
    """`(k,)` [s]"""
    printed: FloatArray
    """`(k, 3)` of the printed small-angle model"""
    complete: FloatArray
    """`(k, 3)` of the small-angle model with what the printed energies leave out"""
    exact: FloatArray
    """`(k, 3)` of the exact model"""


def home_inertia(plate: PlateModel) -> HomeInertia:
    """Return the inertia of a level plate at its home length, in the printed and the exact model.

    Both are diagonal. They differ by lifted_mass * home_length^2 in roll and in pitch.
    """
    pillars = len(CORNERS) * plate.upper_mass
    printed = np.array(
        [
            plate.lifted_mass,
            plate.roll_inertia + pillars * plate.half_width**2,
            plate.pitch_inertia + pillars * plate.half_length**2,
        ]
    )
    sideways = plate.lifted_mass * plate.home_length**2 * np.array([0.0, 1.0, 1.0])
    return HomeInertia(printed, printed + sideways)


def tilting_stiffness(plate: PlateModel) -> float:
    """Return the moment per angle [N m/rad] with which the weight tilts a tilted plate further.

    At home it is weight times home length, in roll as in pitch; the printed energies have none.
    """
    return plate.lifted_mass * plate.gravity * plate.home_length


def model_forces(
    plate: PlateModel, inputs: DrivenLengths, duration: Any, samples: int = 501
) -> ModelForces:
    """Return the forces of three models while three lengths follow the inputs.

    Args:
        plate: the machine.
        inputs: the driven lengths.
        duration: [s] from time 0.
        samples: number of times.

    Raises:
        InputError: values out of range.
        MissingDependencyError: sympy is not installed.
    """
    whole_number(samples, "samples", 2, MOST_SAMPLES)
    time = np.linspace(0.0, positive(duration, "duration"), samples)
    states = [part.coordinates for part in driven_motion(plate, inputs, time)]
    exact = ExactModel(Pillars.from_plate(plate)).forces(*states, pushing=PUSHING)
    return ModelForces(
        time,
        _small_angle_forces(plate, inputs, time, False),
        _small_angle_forces(plate, inputs, time, True),
        exact[:, list(PUSHING)],
    )


def _small_angle_forces(
    plate: PlateModel, inputs: DrivenLengths, time: FloatArray, complete: bool
) -> FloatArray:
    dae = numeric_dae(plate, complete)
    forces = []
    for now in time.tolist():
        sample = inputs.sample(now)
        coordinates, rates = dae.consistent(sample.value), dae.consistent(sample.rate)
        forces.append(-dae.multipliers(coordinates, rates, sample, 0.0)[-len(DRIVEN) :])
    return np.array(forces)
