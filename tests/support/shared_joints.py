"""Machines in which two legs share a joint: 3-3, 6-3 and 3-6 layouts."""

import tomllib

import numpy as np

from twin.analysis.platform import Platform
from twin.machine.file.read import parameters_from, template

APART, BELOW, ABOVE = (-10, 10, 110, 130, 230, 250), (0, 0, 120, 120, 240, 240), (-60, 60, 60)
TRIANGLE = (*ABOVE, 180, 180, 300)

LAYOUTS = {
    "3-3": (BELOW, TRIANGLE),
    "6-3": (APART, TRIANGLE),
    "3-6": (BELOW, (-50, 50, 70, 170, 190, 290)),
}
"""Angles [deg] of the base joints and of the platform joints, leg by leg."""


def machine_with_shared_joints(layout):
    """Return a UPS machine with a layout of `LAYOUTS`, its home near the middle of the stroke."""
    content = tomllib.loads(template(f"layout_{layout.replace('-', '_')}"))
    base, top = LAYOUTS[layout]
    content["base"]["joints"] = {"source": "Test", "coordinates": ring(0.6, base)}
    content["platform"]["joints"] = {"source": "Test", "coordinates": ring(0.4, top)}
    content["home"]["position"] = [0.0, 0.0, 0.85]
    return Platform(parameters_from(content, "platform.toml"))


def ring(radius, degrees):
    """Return points on a circle, at angles [deg]."""
    angles = np.radians(degrees)
    points = radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    return points.tolist()
