"""MJCF of a scene around a machine: floor, light and camera."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.assembly import make_mechanism
from twin.engines.mjcf.elements import add, document, text
from twin.model.machine_model import MachineModel

FLATTEST = 0.7
"""Height over radius below which a flat machine is seen from as far as one of this height."""


def scene_xml(platform: MachineModel) -> str:
    """Return the MJCF of a scene around `robot.xml`, which must lie beside it."""
    machine = make_mechanism(platform.parameters)
    plate = machine.base_plate
    joints = [point for point in machine.points if point.name.startswith("leg")]
    x, y, z = np.stack([machine.home_place(joint) for joint in joints], axis=1)
    ground, height = float(plate.start[2]), float(z.max())
    radius = max(plate.radius, float(np.hypot(x, y).max()))
    size = radius + max(abs(height - ground), FLATTEST * radius)
    middle = np.array([0.0, 0.0, 0.5 * (height + ground)])
    root = Element("mujoco", model=f"{machine.name} scene")
    add(root, "include", file="robot.xml")
    add(root, "statistic", center=text(middle), extent=text([0.8 * size]))
    visual = add(root, "visual")
    add(visual, "global", offwidth="1920", offheight="1080")
    add(visual, "quality", shadowsize="8192", offsamples="8", numslices="64")
    add(visual, "headlight", ambient="0.35 0.35 0.37", diffuse="0.35 0.35 0.35", specular="0 0 0")
    add(visual, "rgba", haze="0.93 0.95 0.97 1")
    add(visual, "map", shadowclip="2", fogstart="4", fogend="12")
    asset = add(root, "asset")
    sky = {"type": "skybox", "builtin": "gradient", "width": "256", "height": "1536"}
    add(asset, "texture", name="sky", rgb1="0.93 0.95 0.97", rgb2="0.80 0.85 0.90", **sky)
    checker = {"type": "2d", "builtin": "checker", "width": "512", "height": "512"}
    tones = {"rgb1": "0.78 0.81 0.84", "rgb2": "0.74 0.77 0.80"}
    add(asset, "texture", name="tiles", **checker, **tones)
    repeat = {"texuniform": "true", "texrepeat": "2 2"}
    add(asset, "material", name="floor", texture="tiles", **repeat)
    world = add(root, "worldbody")
    floor = {"type": "plane", "size": "0 0 0.05", "pos": text([0.0, 0.0, ground])}
    mask = {"contype": "0", "conaffinity": "0"}
    add(world, "geom", name="floor", material="floor", **floor, **mask)
    lamp = size * np.array([0.8, -1.2, 2.5])
    light = {"pos": text(lamp), "dir": text(middle - lamp), "type": "directional"}
    add(world, "light", name="key", diffuse="0.6 0.6 0.58", castshadow="true", **light)
    eye = middle + size * np.array([1.20, -1.00, 0.62])
    camera = {"pos": text(eye), "xyaxes": text(_look_at(eye, middle)), "fovy": "36"}
    add(world, "camera", name="overview", **camera)
    return document(root)


def _look_at(eye: FloatArray, target: FloatArray) -> list[float]:
    """Return the x and y axes of a camera at `eye` that sees `target` upright."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return [*right, *np.cross(back, right)]
