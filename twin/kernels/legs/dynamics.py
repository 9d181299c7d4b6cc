"""What dynamics asks of a leg, answered by the file of its kind.

A leg acts on the platform at the end of its arm. Accelerating that point by `known + a`, where
`known` follows from the twist, takes the force

    sum over k of m_k u_k (u_k . a) + f

without actuator force, which acts as w there (`twin.kernels.legs.kinematics`). Whatever a leg
consists of, the platform sees three directions, three masses and a force.
"""

from __future__ import annotations

from typing import Any

from twin.kernels.jit import by_kind
from twin.kernels.legs.kinds import PillarLegs, RssLegs, StrutLegs, UpsLegs, ViscoelasticLegs
from twin.kernels.legs.pillar import dynamics as pillar
from twin.kernels.legs.rss import dynamics as rss
from twin.kernels.legs.strut import dynamics as strut
from twin.kernels.legs.ups import dynamics as ups
from twin.kernels.legs.viscoelastic import dynamics as viscoelastic

KINDS: dict[type, Any] = {
    UpsLegs: ups,
    StrutLegs: strut,
    RssLegs: rss,
    ViscoelasticLegs: viscoelastic,
    PillarLegs: pillar,
}


def response(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return how leg i answers the platform.

    Args:
        legs: constants of the legs, one of `twin.kernels.legs.kinds`.
        i: leg.
        position: reference point.
        matrix: rotation platform to base.
        velocity: of the reference point.
        omega: angular velocity.
        gravity: what every body feels, base axes [m/s2].
        deflection: coordinates inside the legs, then their rates; empty for most kinds.

    Returns:
        Arm, drive w, three directions, three masses, the force f, and a flag that is False where
        the leg is singular.
    """
    raise NotImplementedError


@by_kind(response)
def _response(legs, i, position, matrix, velocity, omega, gravity, deflection):
    kernel = KINDS[legs.instance_class].response

    def answer(legs, i, position, matrix, velocity, omega, gravity, deflection):
        return kernel(legs.rows, i, position, matrix, velocity, omega, gravity, deflection)

    return answer


def leg_energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
    """Return kinetic and potential energy [J] and dissipated power [W] of leg i.

    Potential energy is zero at the base's origin and for springs at rest length.
    """
    raise NotImplementedError


@by_kind(leg_energy)
def _leg_energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
    kernel = KINDS[legs.instance_class].leg_energy

    def energy(legs, i, position, matrix, velocity, omega, gravity, deflection):
        return kernel(legs.rows, i, position, matrix, velocity, omega, gravity, deflection)

    return energy


def deflection_count(legs):
    """Return the number of coordinates inside the legs that move apart from the platform."""
    raise NotImplementedError


@by_kind(deflection_count)
def _internal_count(legs):
    if legs.instance_class is ViscoelasticLegs:
        return lambda legs: legs.rows.shape[0]
    return lambda legs: 0


def deflection_acceleration(
    legs, i, position, matrix, velocity, omega, gravity, deflection, actuator_force
):
    """Return the second rate of the internal coordinate i under the force of its actuator.

    Zero for legs without one.
    """
    raise NotImplementedError


@by_kind(deflection_acceleration)
def _deflection_acceleration(
    legs, i, position, matrix, velocity, omega, gravity, deflection, actuator_force
):
    def rigid(legs, i, position, matrix, velocity, omega, gravity, deflection, actuator_force):
        return 0.0

    kernel = viscoelastic.deflection_acceleration

    def springy(legs, i, position, matrix, velocity, omega, gravity, deflection, actuator_force):
        return kernel(
            legs.rows, i, position, matrix, velocity, omega, gravity, deflection, actuator_force
        )

    return springy if legs.instance_class is ViscoelasticLegs else rigid
