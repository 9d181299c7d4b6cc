"""Mutations of one side that the projection finds: masses, points, springs, terms of a leg."""

from __future__ import annotations

from math import pi

from mutations.change import Formula, inertia, joint, one_leg, times, to

UPS = "twin.kernels.legs.ups"
RSS = "twin.kernels.legs.rss"
SERIES = "twin.kernels.legs.viscoelastic"
STRUT = "twin.kernels.legs.strut"
PILLAR = "twin.kernels.legs.pillar"

PROJECTED = (
    (
        "stewart",
        "reference",
        "gyroscopic moment of the platform left out",
        Formula(
            "twin.kernels.dynamics.assembly.fill_body",
            "cross(omega, body_tensor_times",
            "cross((0.0, 0.0, 0.0), body_tensor_times",
        ),
    ),
    ("stewart", "mujoco", "platform 1 % heavier", times("platform.body.mass", 1.01)),
    ("stewart", "mujoco", "platform joint 5 off by 1 mm", joint(5, (0.0, 1e-3, 0.0), "platform")),
    (
        "stewart",
        "mujoco",
        "rod: moment about its x axis 1 % larger",
        inertia("leg.rod.inertia", 0, 0, 1.01),
    ),
    ("stewart", "mujoco", "frame angle of the bodies reversed", to("leg.frame_angle", -pi / 2)),
    ("stewart", "bullet", "housings 1 % heavier", times("leg.housing.mass", 1.01)),
    (
        "stewart",
        "bullet",
        "platform: Ixy with the other sign",
        inertia("platform.body.inertia", 0, 1, -1.0),
    ),
    ("stewart", "bullet", "gravity 9.80665 m/s2", to("gravity", 9.80665)),
    ("stewart", "reference", "base joint 3 off by 1 mm", joint(3, (1e-3, 0.0, 0.0), "base")),
    ("stewart", "reference", "even legs not mirrored", to("leg.mirrored", ())),
    ("stewart", "reference", "gravity 9.80665 m/s2", to("gravity", 9.80665)),
    (
        "stewart",
        "reference",
        "Coriolis term of the rod with the other sign",
        Formula(f"{UPS}.general_response", "2.0 * motion.rate", "-2.0 * motion.rate"),
    ),
    (
        "srspm",
        "reference",
        "Coriolis term of the axisymmetric leg with the other sign",
        Formula(
            f"{UPS}.axisymmetric_response", "2.0 * rod_first_moment", "-2.0 * rod_first_moment"
        ),
    ),
    (
        "srspm",
        "reference",
        "gyroscopic term of the axisymmetric leg left out",
        Formula(f"{UPS}.axisymmetric_response", "- inertia_difference * omega[1] * omega[2]", ""),
    ),
    (
        "srspm",
        "mujoco",
        "first axes of the universal joints along x",
        to("leg.first_axis", (1.0, 0.0, 0.0)),
    ),
    ("srspm", "bullet", "housings solid instead of tubes", to("leg.housing.inner_radius", 0.0)),
    ("srspm", "bullet", "rod of leg 4 alone 1 % longer", one_leg(4, "rod.length", 1.01)),
    ("rss", "mujoco", "rod of leg 2 alone of 1 % more density", one_leg(2, "rod.density", 1.01)),
    ("rss", "bullet", "cranks of 1 % larger radius", times("leg.crank.outer_radius", 1.01)),
    ("rss", "reference", "base joint 1 off by 1 mm", joint(1, (0.0, 0.0, 1e-3), "base")),
    (
        "rss",
        "reference",
        "centripetal acceleration of the elbow with the other sign",
        Formula(
            f"{RSS}.response",
            "subtract(\n        scale(second_rate, q), scale(crank_length",
            "add(\n        scale(second_rate, q), scale(crank_length",
        ),
    ),
    (
        "rss",
        "reference",
        "half of the rod's weight left out at the elbow",
        Formula(
            f"{RSS}.response",
            "tip_acceleration)), weight\n    )\n    tip_force",
            "tip_acceleration)), (0.0, 0.0, 0.0)\n    )\n    tip_force",
        ),
    ),
    (
        "driving_simulator",
        "mujoco",
        "upper mass of leg 3 alone 1 % heavier",
        one_leg(3, "upper_mass", 1.01),
    ),
    (
        "driving_simulator",
        "bullet",
        "leg 1 off by 1 mm",
        joint(1, (1e-3, 0.0, 0.0), "base", "platform"),
    ),
    ("driving_simulator", "reference", "feet 1 % heavier", times("leg.foot_mass", 1.01)),
    (
        "driving_simulator",
        "reference",
        "Coriolis term of the feet with the other sign",
        Formula(
            f"{PILLAR}.response",
            "mass * (bias[0] - gravity[0])",
            "mass * (-bias[0] - gravity[0])",
        ),
    ),
    ("compliant_stewart", "mujoco", "springs 1 % stiffer", times("leg.stiffness", 1.01)),
    ("compliant_stewart", "bullet", "dampers 1 % stronger", times("leg.damping", 1.01)),
    (
        "compliant_stewart",
        "bullet",
        "spring of leg 6 alone 1 % stiffer",
        one_leg(6, "stiffness", 1.01),
    ),
    (
        "compliant_stewart",
        "reference",
        "masses of the springs 1 % heavier",
        times("leg.spring_mass", 1.01),
    ),
    (
        "compliant_stewart",
        "reference",
        "Coriolis term of the leg's direction with the other sign",
        Formula(
            f"{SERIES}.response",
            "scale(2.0 * rate, direction_rate)",
            "scale(-2.0 * rate, direction_rate)",
        ),
    ),
    (
        "compliant_stewart",
        "reference",
        "spring's own weight counted whole on its end",
        Formula(f"{SERIES}.deflection_acceleration", "0.5 * m1 + m2", "m1 + m2"),
    ),
    (
        "micro_hexapod",
        "mujoco",
        "stiffness taken as 20 kN/m: a unit",
        times("leg.axial.stiffness", 1e-3),
    ),
    (
        "micro_hexapod",
        "bullet",
        "spring of leg 2 alone 1 % stiffer",
        one_leg(2, "axial.stiffness", 1.01),
    ),
    (
        "micro_hexapod",
        "reference",
        "struts relaxed 1 µm longer",
        to("leg.axial.rest_length", 0.2793 + 1e-6),
    ),
    (
        "micro_hexapod",
        "reference",
        "damping with the other sign",
        Formula(f"{STRUT}.response", "+ legs[i, DAMPING]", "- legs[i, DAMPING]"),
    ),
)
"""Machine, side, what is wrong, change: found by the projection."""
