"""Bodies in MuJoCo's documents: a mesh for each body and material, in place of simple shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from twin.engines.mjcf.elements import add
from twin.machine.mechanism.appearance import COLORS
from twin.machine.mechanism.parts import BASE
from twin.viewer.bodies.fittings import Part
from twin.viewer.bodies.plates import SHADOW

MATERIALS = {
    "base": ((0.46, 0.49, 0.54), 0.2),
    "platform": ((0.90, 0.91, 0.92), 0.2),
    "housing": ((0.13, 0.30, 0.52), 0.5),
    "rod": ((0.78, 0.80, 0.83), 0.8),
    "joint": ((0.13, 0.14, 0.16), 0.4),
    "heading": ((0.95, 0.43, 0.10), 0.3),
    SHADOW: ((0.0, 0.0, 0.0), 0.0),
}
"""Red, green, blue and shine of materials in pictures; others look as in the machine's model."""


LAMP = (0.8, -1.1, 2.55)
"""Place of the lamp, in proportion; it casts no shadow, whose edges would be stairs."""

GROUND = {"builtin": "flat", "mark": "edge", "width": "160", "height": "160"}
"""Tiles of the ground, with fine lines between them."""


class Scheme(NamedTuple):
    """Colours of what is around a machine: red, green, blue from 0 to 1."""

    ground: tuple[float, float, float]
    lines: tuple[float, float, float]
    below: tuple[float, float, float]
    """of the sky at the horizon"""
    above: tuple[float, float, float]


LIGHT = Scheme((0.79, 0.81, 0.84), (0.66, 0.69, 0.74), (0.93, 0.95, 0.97), (0.80, 0.85, 0.90))

DARK = Scheme((0.18, 0.20, 0.22), (0.24, 0.26, 0.30), (0.23, 0.25, 0.28), (0.11, 0.12, 0.15))

TILES = 2.0
"""Number of tiles along the size of a machine."""


CLEAR = 0.028
"""Opacity of one layer of a soft shadow."""


def light_up(scene: Element, *, dark: bool) -> None:
    """Light a scene evenly, on a ground of tiles with fine joints, in light or dark colours."""
    world, asset = scene.find("worldbody"), scene.find("asset")
    assert world is not None and asset is not None
    colours = DARK if dark else LIGHT
    statistic = scene.find("statistic")
    assert statistic is not None
    size = float(statistic.attrib["extent"])
    for light in world.findall("light"):
        world.remove(light)
    aim = {"pos": _numbers(size * np.array(LAMP)), "dir": _numbers(-np.array(LAMP))}
    shine = {"type": "directional", "diffuse": _numbers(3 * [0.5]), "castshadow": "false"}
    add(world, "light", name="lamp", **aim, **shine)
    for found in asset.findall("texture[@name='tiles']"):
        tones = {"rgb1": _numbers(colours.ground), "markrgb": _numbers(colours.lines)}
        found.attrib |= GROUND | tones
    for found in asset.findall("texture[@name='sky']"):
        found.attrib |= {"rgb1": _numbers(colours.below), "rgb2": _numbers(colours.above)}
    for found in scene.findall("visual/rgba"):
        found.set("haze", _numbers([*colours.below, 1.0]))
    for found in asset.findall("material[@name='floor']"):
        found.set("texrepeat", _numbers(2 * [TILES / size]))
    for found in scene.iter("headlight"):
        found.set("ambient", "0.40 0.40 0.42")


def dress(robot: Element, parts: Sequence[Part]) -> None:
    """Replace what the bodies of a MuJoCo document `robot` show by parts.

    The geoms have no mass and touch nothing.
    """
    for parent in robot.iter():
        for geom in parent.findall("geom[@class='drawn']"):
            parent.remove(geom)
    asset = robot.find("asset")
    world = robot.find("worldbody")
    assert asset is not None and world is not None
    for old in (*asset.findall("mesh"), *asset.findall("material")):
        if old.tag == "mesh" or old.get("name") in COLORS:
            asset.remove(old)
    bodies = {body.get("name"): body for body in robot.iter("body")} | {BASE: world}
    for material in dict.fromkeys(part.material for part in parts):
        rgb, shine = MATERIALS[material] if material in MATERIALS else (COLORS[material][:3], 0.3)
        rgba = _numbers([*rgb, CLEAR if material == SHADOW else 1.0])
        add(asset, "material", name=material, rgba=rgba, specular=str(shine), shininess="0.6")
    for body, material, mesh in parts:
        name = f"{body}_{material}"
        shape = {"vertex": _numbers(mesh.vertices), "face": _numbers(mesh.faces)}
        add(asset, "mesh", name=name, inertia="shell", **shape)
        add(
            bodies[body],
            "geom",
            name=name,
            type="mesh",
            mesh=name,
            material=material,
            **{"class": "drawn"},
        )


def _numbers(values: Any) -> str:
    """Return numbers to a tenth of a micrometre."""
    return " ".join(map(repr, np.round(np.ravel(values), 7).tolist()))
