"""Mutations of the rotation conventions that the papers print."""

from __future__ import annotations

from mutations.change import Value
from mutations.run import Mutation
from twin.rotations import CONVENTIONS


def turned(name: str, sequence: str) -> Value:
    """Return the change of a convention's axis sequence."""
    changed = CONVENTIONS[name]._replace(sequence=sequence)
    return Value("twin.rotations.CONVENTIONS", {**CONVENTIONS, name: changed})


MUTATIONS = (
    Mutation(
        "micro_hexapod",
        "both",
        "rotations about fixed axes in reverse order",
        turned("fixed_xyz", "zyx"),
        "micro_hexapod",
        "fixed axes: entries of R",
    ),
    Mutation(
        "micro_hexapod",
        "both",
        "angles of the bushing joint about fixed axes",
        turned("moving_xyz", "xyz"),
        "micro_hexapod",
        "moving axes: entries of R",
    ),
    Mutation(
        "stewart",
        "both",
        "yaw, pitch, roll about fixed axes",
        turned("yaw_pitch_roll", "zyx"),
        "published",
        "rotation matrix of yaw, pitch, roll",
    ),
)
