"""Mutations of both sides at once: engines and reference agree on a wrong machine."""

from __future__ import annotations

from math import pi, radians

from mutations.change import Change, Formula, Value, inertia, joint, one_leg, times, to
from mutations.run import Mutation
from twin.machine.quantity import UNITS

CHANGES: tuple[tuple[str, str, Change, str], ...] = (
    ("stewart", "even legs not mirrored", to("leg.mirrored", ()), "centres of"),
    ("stewart", "housings 1 kg lighter", to("leg.housing.mass", 17.43), "masses of"),
    ("stewart", "frame angle of the bodies reversed", to("leg.frame_angle", -pi / 2), "centres of"),
    (
        "stewart",
        "rod: Ixz with the other sign",
        inertia("leg.rod.inertia", 0, 2, -1.0),
        "tensors of",
    ),
    ("stewart", "base joint 2 off by 1 mm", joint(2, (1e-3, 0.0, 0.0), "base"), "base joints"),
    ("stewart", "home 1 mm higher", to("home.position", (0.0, 0.0, 0.8726)), "home pose"),
    ("stewart", "thrust of 3073 lbf: a unit", times("leg.actuator.force", 4.44822), "actuators"),
    (
        "stewart",
        "bodies mirrored in y instead of x",
        Formula(
            "twin.machine.legs.ups.UpsLeg.bodies",
            "np.diag([-1.0 if leg_geometry.number in self.mirrored else 1.0, 1.0",
            "np.diag([1.0, -1.0 if leg_geometry.number in self.mirrored else 1.0",
        ),
        "centres of",
    ),
    (
        "stewart",
        "rev1 of the thesis reversed",
        Formula(
            "twin.machine.legs.leg.UniversalLeg.home_axis",
            "np.cross(leg_geometry.vector, [0.0, 0.0, 1.0])",
            "np.cross([0.0, 0.0, 1.0], leg_geometry.vector)",
        ),
        "centres of",
    ),
    (
        "stewart",
        "platform joints turned by 1 deg",
        to("platform.joints.center_angle", radians(41.0)),
        "platform joints",
    ),
    ("compliant_stewart", "gravity of the moon", to("gravity", 1.62), "gravity"),
    (
        "compliant_stewart",
        "springs 1 % stiffer",
        times("leg.stiffness", 1.01),
        "natural frequencies",
    ),
    (
        "compliant_stewart",
        "dampers 1 % stronger",
        times("leg.damping", 1.01),
        "springs and dampers",
    ),
    (
        "compliant_stewart",
        "masses of the followers 10 mm higher",
        to("leg.follower_length", 0.1944),
        "centres of",
    ),
    (
        "compliant_stewart",
        "masses of the springs 1 % heavier",
        times("leg.spring_mass", 1.01),
        "weight of",
    ),
    (
        "srspm",
        "lengths of the links exchanged, as printed",
        to("leg.housing.length", 1.5),
        "masses of",
    ),
    ("srspm", "gravity 9.81 m/s2", to("gravity", 9.81), "holding forces at home"),
    ("srspm", "platform's mass in grams: a unit", times("platform.body.mass", 1e3), "masses of"),
    (
        "srspm",
        "transverse moment of cylinders with r² for 3 r²",
        Formula("twin.machine.body.Cylinder.inertia_tensor", "(3 * radii", "(radii"),
        "tensors of",
    ),
    ("srspm", "actuators 10 mm shorter", to("leg.actuator.minimum", 1.13), "actuators"),
    ("driving_simulator", "speed 0.9 m/s", to("leg.actuator.speed", 0.9), "actuators"),
    (
        "rss",
        "half spacing as printed: 0.8080 rad",
        to("base.joints.half_spacing", 0.8080),
        "base joints",
    ),
    (
        "rss",
        "diameter of the cranks taken as their radius",
        to("leg.crank.outer_radius", 0.01),
        "crank mass",
    ),
    (
        "rss",
        "rods' mass by their length alone",
        Formula("twin.machine.legs.rss.RssLeg.rod_mass", "math.pi * ", ""),
        "rod mass",
    ),
    (
        "driving_simulator",
        "corner and foot of leg 1 20 mm inwards",
        joint(1, (0.0, 0.02, 0.0), "base", "platform"),
        "platform joints",
    ),
    (
        "driving_simulator",
        "1 kg of the foot at the corner",
        to("leg.upper_mass", 29.0),
        "masses of",
    ),
    ("driving_simulator", "feet of 3 kg", to("leg.foot_mass", 3.0), "mass matrix"),
    (
        "driving_simulator",
        "moments of roll and pitch exchanged",
        to("platform.body.inertia", ((38.9795, 0.0, 0.0), (0.0, 29.5346, 0.0), (0.0, 0.0, 60.0))),
        "tensors of",
    ),
    (
        "micro_hexapod",
        "stiffness of 20 N/mm: a unit",
        times("leg.axial.stiffness", 1e-3),
        "natural frequencies",
    ),
    (
        "micro_hexapod",
        "pairs of base joints turned by 1 deg",
        to("base.joints.center_angle", radians(1.0)),
        "actuator coordinates",
    ),
    (
        "micro_hexapod",
        "strut of leg 3 alone 1 % heavier",
        one_leg(3, "rod.mass", 1.01),
        "holding forces of the reference",
    ),
)
"""Machine, what is wrong, change, measure that has to notice."""

MUTATIONS = (
    *(
        Mutation(machine, "both", text, change, "machine_data", measure)
        for machine, text, change, measure in CHANGES
    ),
    Mutation(
        "stewart",
        "both",
        "motor's damping taken per 1000 rad/s: a unit",
        Value(
            "twin.machine.quantity.UNITS",
            UNITS | {"N m s/rad": UNITS["N m s/rad"] | {"N m/krpm": 1e-3}},
        ),
        "machine_data",
        "28 numbers of drives",
    ),
    Mutation(
        "stewart",
        "both",
        "actuators of 5 mm/s",
        to("leg.actuator.speed", 0.005),
        "machine_data",
        "actuators against the table",
    ),
    Mutation(
        "stewart",
        "both",
        "actuators of 100 N",
        to("leg.actuator.force", 100.0),
        "closed_loop",
        "closed loop without drives stopped",
    ),
    Mutation(
        "srspm",
        "both",
        "gravity 9.81 m/s2",
        to("gravity", 9.81),
        "free_fall",
        "z after 1 s against the printed",
    ),
    Mutation(
        "srspm",
        "both",
        "gravity 9.81 m/s2",
        to("gravity", 9.81),
        "published_runs",
        "leg lengths of the fall",
    ),
    Mutation(
        "rss",
        "both",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "rss_torque_profile",
        "torque of the figure",
    ),
    Mutation(
        "stewart",
        "both",
        "half spacing of the base 5.5 deg",
        to("base.joints.half_spacing", radians(5.5)),
        "published",
        "base joints (A.2)",
    ),
    Mutation(
        "stewart",
        "both",
        "platform's radius 1 mm larger",
        to("platform.joints.radius", 0.431),
        "published",
        "leg lengths at 0.740 m",
    ),
    Mutation(
        "stewart",
        "both",
        "thrust of 30.73 N: two decimal places",
        times("leg.actuator.force", 0.01),
        "feasibility",
        "at rest at home: force",
    ),
    Mutation(
        "stewart",
        "both",
        "housings of 395 mm radius: a decimal point",
        times("leg.appearance.housing_radius", 10.0),
        "feasibility",
        "at rest at home: legs to each other",
    ),
    Mutation(
        "stewart",
        "both",
        "plates of 3 m thickness: two decimal places",
        times("platform.thickness", 100.0),
        "feasibility",
        "at rest at home: plates to each other",
    ),
)
