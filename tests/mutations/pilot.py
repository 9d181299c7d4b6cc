"""Mutations of the driver's head in the driving simulator's paper, in both of its models."""

from __future__ import annotations

from mutations.change import Formula
from mutations.run import Mutation

HEAD = "twin.papers.driving_simulator.studies.head"

MUTATIONS = tuple(
    Mutation("driving_simulator", "both", text, change, "simulator_kinematics", measure)
    for text, change, measure in (
        (
            "velocity of the head as -omega x r",
            Formula(
                f"{HEAD}.exact_head_motion",
                "swept = np.cross(omega, arm)",
                "swept = np.cross(arm, omega)",
            ),
            "head, velocity: exact model",
        ),
        (
            "acceleration of the head with half of alpha x r",
            Formula(
                f"{HEAD}.exact_head_motion", "np.cross(alpha, arm)", "0.5 * np.cross(alpha, arm)"
            ),
            "head, acceleration: exact model",
        ),
        (
            "acceleration of the head without its centripetal term",
            Formula(f"{HEAD}.exact_head_motion", " + np.cross(omega, swept)", ""),
            "head, acceleration: exact model",
        ),
        (
            "phi theta xp in the printed y position with the other sign",
            Formula(
                f"{HEAD}.small_angle_head_motion", "+ roll * pitch * xp", "- roll * pitch * xp"
            ),
            "head, position: small-angle model",
        ),
        (
            "angular velocity of the head along the rolled axes without its z component",
            Formula(
                f"{HEAD}._turning",
                "second * cosine, second * sine]",
                "second * cosine, 0.0 * sine]",
            ),
            "head, angular velocity: exact model",
        ),
        (
            "printed angular acceleration: theta phi'^2 with the other sign",
            Formula(
                f"{HEAD}._printed_turning",
                "theta_2 - theta * phi_rate**2",
                "theta_2 + theta * phi_rate**2",
            ),
            "head, angular acceleration: small-angle model",
        ),
    )
)
