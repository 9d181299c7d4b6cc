"""Conventions of a machine, by its kind of legs: numbers, coordinates, signs, angles."""

from __future__ import annotations

from twin.analysis.platform import Platform

ANGLES = {
    "stewart": "yaw_pitch_roll",
    "micro_hexapod": "fixed_xyz",
    "driving_simulator": "roll_pitch",
    "compliant_stewart": "compliant",
    "srspm": "rodrigues",
    "rss": "rodrigues",
}
"""Conventions of the papers, by machine; all others use the first."""


def conventions(platform: Platform) -> str:
    """Return the list of a machine's conventions."""
    unit, force = platform.coordinate_unit, platform.force_unit
    n = platform.n_actuators
    angles = ANGLES.get(platform.name, "yaw_pitch_roll")
    lines = [
        "Frames, poses and signs of all machines are under [conventions](../../conventions.md).",
        "",
        f"- Legs are numbered from 1 to {n} as in the sketch, arrays in the same order.",
        f"- Actuator coordinate [{unit}]: {platform.leg.definition}.",
        f"- Forces [{force}] are positive in the direction of growing coordinate.",
        f"- The platform has {platform.dof} degrees of freedom, {n} actuators drive them"
        + (": `inverse_dynamics` gives the forces of smallest norm." if n > platform.dof else "."),
        f"- Angles are usually given as `{angles}` of `twin.rotations`.",
    ]
    if platform.n_deflections:
        lines.append(
            f"- `deflection` `(..., {2 * platform.n_deflections})`: spring deflections [m], "
            "then their rates [m/s]; zero where the springs are relaxed."
        )
    return "\n".join(lines) + "\n"
