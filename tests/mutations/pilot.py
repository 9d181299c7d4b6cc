"""Mutations of the motion of the driver's head, exact and as the paper prints it."""

from __future__ import annotations

from mutations.change import Formula
from mutations.run import Mutation

EXACT = "twin.papers.driving_simulator.exact"
PRINTED = "twin.papers.driving_simulator.studies"

MUTATIONS = tuple(
    Mutation("driving_simulator", "both", text, change, "simulator_kinematics", measure)
    for text, change, measure in (
        (
            "velocity of the head with -omega x r",
            Formula(
                f"{EXACT}.exact_head_motion",
                "head_velocity = np.cross(omega, head_arm)",
                "head_velocity = np.cross(head_arm, omega)",
            ),
            "head, velocity: exact model",
        ),
        (
            "acceleration of the head with half of alpha x r",
            Formula(
                f"{EXACT}.exact_head_motion",
                "np.cross(alpha, head_arm)",
                "0.5 * np.cross(alpha, head_arm)",
            ),
            "head, acceleration: exact model",
        ),
        (
            "acceleration of the head without its centripetal term",
            Formula(f"{EXACT}.exact_head_motion", " + np.cross(omega, head_velocity)", ""),
            "head, acceleration: exact model",
        ),
        (
            "specific force on the head with half of its acceleration",
            Formula(
                f"{EXACT}.exact_head_motion",
                "acceleration + np.array",
                "0.5 * acceleration + np.array",
            ),
            "head, specific force: exact model",
        ),
        (
            "specific force on the head with -g, as printed",
            Formula(
                f"{PRINTED}.small_angle_head_motion",
                "acceleration + np.array",
                "acceleration - np.array",
            ),
            "head, specific force: small-angle model",
        ),
        (
            "printed y position of the head: phi theta xp with the opposite sign",
            Formula(
                f"{PRINTED}.small_angle_head_motion", "+ roll * pitch * xp", "- roll * pitch * xp"
            ),
            "head, position: small-angle model",
        ),
        (
            "angular velocity of the head without the z component of its pitch rate",
            Formula(
                f"{EXACT}._turning",
                "pitch_rate * cosine, pitch_rate * sine]",
                "pitch_rate * cosine, 0.0 * sine]",
            ),
            "head, angular velocity: exact model",
        ),
        (
            "printed angular acceleration: theta phi'^2 with the opposite sign",
            Formula(
                f"{PRINTED}._printed_turning",
                "theta_2 - theta * phi_rate**2",
                "theta_2 + theta * phi_rate**2",
            ),
            "head, angular acceleration: small-angle model",
        ),
    )
)
