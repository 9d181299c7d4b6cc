"""A hobby 6-RSS with servos: a plate of 150 g, horns of 20 mm, rods of 130 mm."""

import tomllib

from twin.analysis.platform import Platform
from twin.machine.file.read import parameters_from

SERVO = tomllib.loads("""
source = "Data sheet of a servo like the MG996R"
kind = "servo"
stall_torque = "9.4 kgf cm"
no_load_speed = "352.9 deg/s"
dead_band = "0.45 deg"
update_rate = "50 Hz"
friction_torque = "0.02 N m"
backlash = "0.3 deg"
""")
"""9.4 kgf cm and 0.17 s per 60 deg at 4.8 V; 5 us of 1 ms per 90 deg."""


MACHINE = """
name = "hobby"
title = "Hobby 6-RSS with servos"
source = "Test"
gravity = 9.81

[base]
source = "Test"

[base.joints]
source = "Test"
radius = "60 mm"
half_spacing = "{spread} deg"
center_angle = "60 deg"

[platform]
source = "Test"
thickness = "3 mm"
joints = {{source = "Test", radius = "45 mm", half_spacing = "10 deg", center_angle = "60 deg"}}

[platform.body]
source = "Test"
mass = "150 g"
center_of_mass = [0.0, 0.0, 0.0]
inertia = [9.5e-5, 9.5e-5, 1.875e-4]

[home]
source = "Test"
position = [0.0, 0.0, {height}]

[leg]
source = "Test"
kind = "rss"
axis = "tangential"
zero = [0.0, 0.0, 1.0]
crank_length = "20 mm"
rod_length = "130 mm"
rod = {{mass = "8 g", source = "Test"}}

[leg.crank]
source = "Test"
kind = "cylinder"
density = 1400.0
outer_radius = 0.004
length = 0.02

[leg.actuator]
source = "Data sheet"
minimum = "50 deg"
maximum = "140 deg"
speed = "352.9 deg/s"
torque = "9.4 kgf cm"
"""


def content(spread=47.0, height=0.115, drive=None):
    """Return the file of the machine.

    Args:
        spread: half the angle [deg] between the base joints of a pair; 20 for steep rods.
        height: of home [m].
        drive: of the cranks; None for ideal ones.
    """
    found = tomllib.loads(MACHINE.format(spread=spread, height=height))
    if drive is not None:
        found["leg"]["drive"] = drive
    return found


def hobby(*shape, **options):
    """Return the machine; see `content`."""
    return Platform(parameters_from(content(*shape, **options), "platform.toml"))
