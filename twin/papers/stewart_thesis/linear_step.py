"""Velocity loop around one equivalent mass in closed form.

    m v' = Kp (1 + 1/(Ti s)) (v_d - v) - w

with a weight w that the integral does not carry yet at the step. For a setpoint v_d from rest,

    v / v_d = [ (Kp - w / v_d) s + Kp / Ti ] / ( m s^2 + Kp s + Kp / Ti ):

second order with a zero. The weight acts like a smaller gain in the numerator. Where the integral
carries it (w = 0), the loop has two integrators and the integral of the error over time is zero:
the response must overshoot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.tuning.steps import heave_direction
from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.model.motions import REST

SMALLEST_SPREAD = 1e-7
"""Of the poles per natural frequency: closer ones are moved apart by as much, which changes the
response by its square."""


class HeaveLeg(NamedTuple):
    """Share of one actuator in the vertical motion of the platform at home."""

    mass: float
    """[kg], for cranks [kg m2]"""
    weight: float
    """[N] or [N m] that holds the platform at rest"""


def heave_leg(platform: MachineModel) -> HeaveLeg:
    """Return the share of mass and weight of one actuator in heave at home, without its drive.

    The mass is that of the vertical motion over the sum of the actuators' squared rates; the thesis
    estimates it as the rod and a sixth of the platform.

    Raises:
        InputError: not a machine, or one that cannot rise.
    """
    direction = heave_direction(platform)
    # Speed of the platform per speed of the actuator that moves most.
    speed = 1.0 / float(np.abs(platform.jacobian(platform.home)[:, 2]).max())
    mass = float(platform.mass_matrix(platform.home)[2, 2]) * speed**2
    forces = platform.inverse_dynamics(platform.home, REST, REST)
    return HeaveLeg(
        mass / float(direction @ direction),
        float(forces @ direction) / float(direction @ direction),
    )


def velocity_step_response(
    time: FloatArray,
    mass: float,
    gain: float,
    integral_time: float,
    *,
    weight: float = 0.0,
    size: float = 0.02,
) -> FloatArray:
    """Return the velocity per step `(k,)` at times `(k,)` [s] after the step.

    Args:
        time: `(k,)` [s].
        mass: [kg].
        gain: of the velocity loop [N s/m].
        integral_time: [s].
        weight: [N] that the integral does not carry at the step.
        size: of the step [m/s].
    """
    natural = np.sqrt(gain / integral_time / mass)
    damping = 0.5 * gain / mass
    spread = np.sqrt(complex(damping**2 - natural**2))
    if abs(spread) < SMALLEST_SPREAD * natural:
        spread = complex(SMALLEST_SPREAD * natural)
    poles = np.array([-damping + spread, -damping - spread])
    numerator = np.array([gain - weight / size, gain / integral_time]) / mass
    # Partial fractions of numerator / (s (s - p1) (s - p2)); the one of the pole 0 is 1.
    residues = (numerator[0] * poles + numerator[1]) / (poles * (poles - poles[::-1]))
    return np.asarray(1.0 + (np.exp(time[:, None] * poles) @ residues).real)
