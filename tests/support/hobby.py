"""A hobby 6-RSS with servos: a plate of 150 g, horns of 20 mm, rods of 130 mm."""

from twin.analysis.platform import Platform
from twin.machine.file.read import parameters_from

SERVO = {
    "source": "Data sheet of a servo like the MG996R",
    "kind": "servo",
    "stall_torque": "9.4 kgf cm",
    "no_load_speed": "352.9 deg/s",
    "dead_band": "0.45 deg",
    "update_rate": "50 Hz",
    "friction_torque": "0.02 N m",
    "backlash": "0.3 deg",
}
"""9.4 kgf cm and 0.17 s per 60 deg at 4.8 V; 5 us of 1 ms per 90 deg."""


def content(spread=47.0, height=0.115, drive=None):
    """Return the file of the machine.

    Args:
        spread: half the angle [deg] between the base joints of a pair; 20 for steep rods.
        height: of home [m].
        drive: of the cranks; None for ideal ones.
    """
    leg = {
        "kind": "rss",
        "axis": "tangential",
        "zero": [0.0, 0.0, 1.0],
        "crank_length": "20 mm",
        "rod_length": "130 mm",
        "crank": {
            "kind": "cylinder",
            "density": 1400.0,
            "outer_radius": 0.004,
            "length": 0.02,
            "source": "Test",
        },
        "rod": {"mass": "8 g", "source": "Test"},
        "actuator": {
            "minimum": "50 deg",
            "maximum": "140 deg",
            "speed": "352.9 deg/s",
            "torque": "9.4 kgf cm",
            "source": "Data sheet",
        },
    }
    if drive is not None:
        leg["drive"] = drive
    base = {"radius": "60 mm", "half_spacing": f"{spread} deg", "center_angle": "60 deg"}
    plate = {"radius": "45 mm", "half_spacing": "10 deg", "center_angle": "60 deg"}
    body = {"mass": "150 g", "center_of_mass": [0.0] * 3, "inertia": [9.5e-5, 9.5e-5, 1.875e-4]}
    return {
        "name": "hobby",
        "title": "Hobby 6-RSS with servos",
        "source": "Test",
        "gravity": 9.81,
        "base": {"source": "Test", "joints": {"source": "Test", **base}},
        "platform": {
            "source": "Test",
            "thickness": "3 mm",
            "joints": {"source": "Test", **plate},
            "body": {"source": "Test", **body},
        },
        "home": {"source": "Test", "position": [0.0, 0.0, height]},
        "leg": {"source": "Test", **leg},
    }


def hobby(spread=47.0, height=0.115, drive=None):
    """Return the machine; see `content`."""
    return Platform(parameters_from(content(spread, height, drive), "platform.toml"))
