"""Forces and power of friction under the feet along prescribed lengths.

The motion is prescribed, so friction changes no position: it changes the forces that the actuators
must bring, and takes power. Through the feet's velocities J v it enters the three equations of
motion as the generalised force sum J^T f(J v).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.papers.driving_simulator.closed_forms import ExactKinematics
from twin.papers.driving_simulator.exact.model import ExactModel, SlidingFriction
from twin.papers.driving_simulator.exact.terms import Pillars
from twin.papers.driving_simulator.inputs import DrivenLengths
from twin.papers.driving_simulator.kinematics import ConfigurationMotion
from twin.papers.driving_simulator.plate import PlateModel


class FrictionEffect(NamedTuple):
    """Forces and power along a motion at `k` times."""

    time: FloatArray
    """`(k,)` [s]"""
    velocity: FloatArray
    """`(k, 4, 2)` [m/s] of the feet"""
    without: FloatArray
    """`(k, 4)` [N] smallest actuator forces on feet that slide freely"""
    with_friction: FloatArray
    """`(k, 4)` [N] on feet with friction"""
    power: FloatArray
    """`(k,)` [W] that friction turns into heat"""

    @property
    def force_difference(self) -> FloatArray:
        """Forces `(k, 4)` [N] that friction adds."""
        return self.with_friction - self.without

    @property
    def energy(self) -> float:
        """Heat [J] over the motion."""
        return float(np.trapezoid(self.power, self.time))


def friction_effect(
    plate: PlateModel,
    inputs: DrivenLengths,
    duration: float,
    friction: SlidingFriction,
    *,
    pushing: Sequence[int] | None = None,
    samples: int = 1001,
) -> FrictionEffect:
    """Return the effect of friction while three lengths follow the inputs, by the exact model.

    Args:
        plate: the machine.
        inputs: the driven lengths.
        duration: [s] from time 0.
        friction: of every foot that slides.
        pushing: actuators that bring a force, default all; see `ExactModel.forces`.
        samples: number of times.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    time = np.linspace(0.0, duration, samples)
    motion = driven_motion(plate, inputs, time)
    states = [configuration.coordinates for configuration in motion]
    pillars = Pillars.from_plate(plate)
    free, rubbing = ExactModel(pillars), ExactModel(pillars, friction)
    velocity, drag = rubbing.feet(*states[:2])
    return FrictionEffect(
        time,
        velocity,
        free.forces(*states, pushing=pushing),
        rubbing.forces(*states, pushing=pushing),
        0.0 - np.einsum("knj,knj->k", velocity, drag),
    )


def driven_motion(
    plate: PlateModel, inputs: DrivenLengths, time: FloatArray
) -> ConfigurationMotion:
    """Return the exact motion of a plate while its three driven lengths follow the inputs.

    Args:
        plate: the machine.
        inputs: the driven lengths.
        time: `(k,)` [s].
    """
    sample = inputs.sample(time)
    # The kinematics takes rear right, rear left, front left; rear right = fr + rl - fl.
    change = np.array([[1.0, 1.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return ExactKinematics(plate).direct_motion(*(part @ change.T for part in sample))
