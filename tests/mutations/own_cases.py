"""Mutations of one side that cases of one machine or of one kind of legs find."""

from __future__ import annotations

from mutations.change import Change, times
from mutations.run import Side

OWN_CASES: tuple[tuple[str, Side, str, Change, str, str], ...] = (
    (
        "stewart",
        "mujoco",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "thesis_motion",
        "MuJoCo: largest position error",
    ),
    (
        "stewart",
        "bullet",
        "rods 1 % heavier",
        times("leg.rod.mass", 1.01),
        "tank_motion",
        "Bullet: largest position error",
    ),
    (
        "rss",
        "mujoco",
        "rods 1 % denser",
        times("leg.rod.density", 1.01),
        "rss_free_fall",
        "MuJoCo: largest position error",
    ),
    (
        "rss",
        "bullet",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "rss_tasks",
        "Bullet: largest position error",
    ),
    (
        "micro_hexapod",
        "mujoco",
        "struts 1 % stiffer",
        times("leg.axial.stiffness", 1.01),
        "micro_hexapod",
        "commanded pose against the one reached, gravity off, MuJoCo",
    ),
    (
        "micro_hexapod",
        "reference",
        "struts 1 % stiffer",
        times("leg.axial.stiffness", 1.01),
        "frequency_response",
        "compliance along x, MuJoCo",
    ),
    (
        "micro_hexapod",
        "reference",
        "struts 1 % stiffer",
        times("leg.axial.stiffness", 1.01),
        "active_damping",
        "integral force feedback in MuJoCo",
    ),
    (
        "compliant_stewart",
        "reference",
        "springs 1 % stiffer",
        times("leg.stiffness", 1.01),
        "compliant_systems",
        "free system against",
    ),
)
"""Found by cases of one machine or of one kind of legs."""
