"""Machines of one's own as files: from a hobby platform of 150 g to a flight simulator of 14 t."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

HEAD = """
name = "{name}"
title = "{name}"
gravity = 9.81
source = "adopted"
[base]
source = "adopted"
[base.joints]
source = "adopted"
{base}
[platform]
source = "adopted"
[platform.joints]
source = "adopted"
{joints}
[platform.body]
source = "adopted"
mass = {mass}
inertia = [{moment}, {moment}, {axial}]
[home]
source = "adopted"
position = [0.0, 0.0, {height}]
[leg]
source = "adopted"
kind = "{kind}"
[leg.actuator]
source = "adopted"
minimum = {low}
maximum = {high}
"""

CIRCLE = """layout = "paired_circle"
radius = {radius}
half_spacing = "{spacing} deg"
center_angle = "{center} deg"
shift = {shift}"""

UPS = """
[leg.housing]
source = "adopted"
kind = "rigid"
mass = {mass}
center_of_mass = [0.0, 0.0, {center}]
inertia = [{moment}, {moment}, {axial}]
[leg.rod]
source = "adopted"
kind = "rigid"
mass = {mass}
center_of_mass = [0.0, 0.0, -{center}]
inertia = [{moment}, {moment}, {axial}]
"""

RSS = """
[leg.crank]
source = "adopted"
kind = "rigid"
mass = "5 g"
center_of_mass = [0.0, 0.0, "10 mm"]
inertia = ["2e-7 kg m2", "2e-7 kg m2", "1e-8 kg m2"]
[leg.rod]
source = "adopted"
mass = "6 g"
"""


class Own(NamedTuple):
    """A machine on UPS legs in a few numbers, SI."""

    base: float
    """[m] radius"""
    top: float
    """[m] radius"""
    height: float
    """[m] of home"""
    stroke: float
    """[m]"""
    mass: float
    """[kg] of the platform"""
    leg: float
    """[kg] of housing and of rod"""
    speed: float
    """[m/s]"""
    force: float
    """[N]"""
    share: float = 0.5
    """of the stroke below home"""
    legs: int = 6


MACHINES = {
    "desktop": Own(0.075, 0.05, 0.12, 0.025, 1.0, 0.1, 0.02, 20.0),
    "flight": Own(3.2, 2.6, 2.6, 1.5, 14e3, 400.0, 1.0, 90e3),
    "eight": Own(0.6, 0.4, 0.7, 0.25, 80.0, 6.0, 0.3, 2e3, legs=8),
    "low_home": Own(0.6, 0.4, 0.7, 0.2, 80.0, 6.0, 0.3, 2e3, share=0.02),
    "weak": Own(0.6, 0.4, 0.7, 0.2, 80.0, 6.0, 0.3, 235.0),
}
"""On UPS legs, by name."""

OWN = ("hobby", *MACHINES)


def own_machine(name, folder):
    """Return the file of a machine of `OWN`, written into a folder."""
    file = folder / f"{name}.toml"
    file.write_text(_hobby() if name == "hobby" else _ups(name, MACHINES[name]), encoding="utf-8")
    return file


def _ups(name, own):
    angles = np.radians(_angles(own.legs))
    base, top = (
        radius * np.stack([np.cos(turned), np.sin(turned), 0.0 * turned], axis=1)
        for radius, turned in ((own.base, angles[0]), (own.top, angles[1]))
    )
    length = float(np.hypot(own.height, np.linalg.norm(top[0] - base[0])))
    low = length - own.share * own.stroke
    moment, leg = 0.4 * own.mass * own.top**2, own.leg * length**2 / 48.0
    text = HEAD.format(
        name=name, base=_points(base), joints=_points(top), mass=own.mass, moment=moment,
        axial=1.5 * moment, height=own.height, kind="ups", low=low, high=low + own.stroke,
    )  # fmt: skip
    limits = f"speed = {own.speed}\nforce = {own.force}\n"
    text = text.replace("[leg.actuator]", 'first_axis = "horizontal"\n[leg.actuator]')
    return text + limits + UPS.format(
        mass=own.leg, center=0.25 * length, moment=leg, axial=0.02 * leg
    )  # fmt: skip


def _angles(legs):
    """Return the angles `(2, n)` [deg] of base and platform joints in pairs."""
    pairs = legs // 2
    middles = 360.0 / pairs * np.arange(pairs)
    near, far = 10.0, 180.0 / pairs - 10.0
    base = np.stack([middles - near, middles + near], axis=1).ravel()
    top = np.stack([middles - far, middles + far], axis=1).ravel()
    return np.array([base, top])


def _points(points):
    return f"layout = 'points'\ncoordinates = {np.round(points, 9).tolist()}"


def _hobby():
    """Return a plate of 150 g on six servos with horns of 20 mm."""
    text = HEAD.format(
        name="hobby",
        base=CIRCLE.format(radius=0.09, spacing=12.0, center=60.0, shift=0),
        joints=CIRCLE.format(radius=0.07, spacing=40.0, center=60.0, shift=0),
        mass=0.15, moment=2e-4, axial=4e-4, height=0.107, kind="rss",
        low="'45 deg'", high="'135 deg'",
    )  # fmt: skip
    cranks = 'axis = "tangential"\nbranch = "outward"\ncrank_length = 0.02\nrod_length = 0.12\n'
    text = text.replace("[leg.actuator]", cranks + "[leg.actuator]")
    return text + "speed = '60 rpm'\ntorque = '0.9 N m'\n" + RSS
