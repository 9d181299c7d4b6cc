"""Machines with other joints or another home, made from the templates."""

import tomllib

from twin.machine.file.read import parameters_from, template

MID_STROKE = {"home": "mid_stroke"}

HEXAGON = {"radius": 0.6, "spacing": "20 deg", "center_angle": 0.0}
TOP = {"radius": 0.4, "spacing": "20 deg", "center_angle": "60 deg"}


def laid_out(base=None, top=None, legs="ups", **changes):
    """Return a template's machine with other joints, and tables of the file replaced."""
    content = tomllib.loads(template("laid_out", legs))
    for side, joints in (("base", base), ("platform", top)):
        if joints is not None:
            content[side]["joints"] = {"source": "Test"} | joints
    for name, value in changes.items():
        old = content.get(name)
        merge = isinstance(value, dict) and name != "home"
        content[name] = old | value if merge and isinstance(old, dict) else value
    return parameters_from(content, "platform.toml")


SERVO_BASE = {"radius": "80 mm", "chord": "60 mm", "center_angle": 0.0}
SERVO_TOP = {"radius": "60 mm", "chord": "30 mm", "center_angle": "60 deg"}

SERVOS = tomllib.loads("""
axis = "radial"
zero = "horizontal"
branch = "inward"
mirrored = [1, 3, 5]
crank_length = "24 mm"
rod_length = "140 mm"
actuator = {source = "Test", minimum = "-60 deg", maximum = "60 deg"}
""")
"""Hobby servos: axes along the radius, horns level at angle 0, away from those of the pair."""

CRANK = tomllib.loads("""
source = "Test"
kind = "rigid"
mass = "20 g"
center_of_mass = ["2 mm", "1 mm", "9 mm"]
inertia = [[3e-6, 2e-7, -1e-7], [2e-7, 2e-6, 3e-7], [-1e-7, 3e-7, 2e-6]]
""")
"""A crank without any symmetry."""


def servos(**changes):
    """Return a 6-RSS machine on hobby servos, level at home, with changes of its legs."""
    return laid_out(SERVO_BASE, SERVO_TOP, "rss", home="mid_range", leg=SERVOS | changes)
