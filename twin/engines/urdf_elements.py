"""Elements of a URDF file, and the frames it asks for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from twin.arrays import FloatArray
from twin.engines.appearance import COLORS


def principal_frame(tensor: FloatArray) -> FloatArray:
    """Return the rotation `(3, 3)` principal axes to body axes, the one closest to the identity."""
    size = np.abs(tensor).max()
    if np.abs(tensor - np.diag(np.diag(tensor))).max() <= 1e-15 * size:
        return np.eye(3)
    axes = np.linalg.eigh(tensor)[1]
    orders = [list(order) for order in itertools.permutations(range(3))]
    axes = axes[:, max(orders, key=lambda order: float(np.abs(axes[[0, 1, 2], order]).sum()))]
    axes = axes * np.where(np.diag(axes) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, np.argmin(np.diag(axes))] *= -1.0
    return axes


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the angles [rad] with Rz(yaw) Ry(pitch) Rx(roll) = `rotation` `(3, 3)`.

    Roll is measured after the yaw is taken out, which keeps the product exact at pitch = 90 deg.
    """
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    sine, cosine = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-rotation[2, 0], cosine * rotation[0, 0] + sine * rotation[1, 0])
    roll = math.atan2(
        sine * rotation[0, 2] - cosine * rotation[1, 2],
        cosine * rotation[1, 1] - sine * rotation[0, 1],
    )
    return roll, pitch, yaw


def joint(
    name: str, kind: str, links: tuple[str, str], origin: Element, axis: Iterable[float]
) -> Element:
    joint = Element("joint", name=name, type=kind)
    ElementTree.SubElement(joint, "parent", link=links[0])
    ElementTree.SubElement(joint, "child", link=links[1])
    joint.append(origin)
    ElementTree.SubElement(joint, "axis", xyz=" ".join(map(number, axis)))
    return joint


def link(name: str, *parts: Element) -> Element:
    link = Element("link", name=name)
    link.extend(parts)
    return link


def massless(name: str) -> Element:
    return link(name, inertial(0.0, np.zeros(3), np.zeros((3, 3))))


def inertial(mass: float, center: FloatArray, tensor: FloatArray) -> Element:
    """Write the tensor along its principal axes: Bullet ignores off-diagonal terms."""
    axes = principal_frame(tensor)
    moments = np.diag(axes.T @ tensor @ axes)
    inertial = Element("inertial")
    inertial.append(origin(center, axes))
    ElementTree.SubElement(inertial, "mass", value=number(mass))
    values = {f"i{axis}{axis}": number(m) for axis, m in zip("xyz", moments, strict=True)}
    ElementTree.SubElement(inertial, "inertia", values, ixy="0", ixz="0", iyz="0")
    return inertial


def visual(name: str, color: str, origin: Element) -> Element:
    visual = Element("visual", name=f"{name}_visual")
    visual.append(origin)
    ElementTree.SubElement(visual, "geometry")
    ElementTree.SubElement(visual, "material", name=color)
    return visual


def cylinder(name: str, color: str, radius: float, ends: tuple[float, float]) -> Element:
    visual = visual(name, color, origin([0.0, 0.0, 0.5 * (ends[0] + ends[1])]))
    values = {"radius": number(radius), "length": number(ends[1] - ends[0])}
    ElementTree.SubElement(visual.find("geometry"), "cylinder", values)  # type: ignore[arg-type]
    return visual


def sphere(name: str, radius: float) -> Element:
    visual = visual(name, "joint", origin())
    values = {"radius": number(radius)}
    ElementTree.SubElement(visual.find("geometry"), "sphere", values)  # type: ignore[arg-type]
    return visual


def materials() -> Iterable[Element]:
    for name, color in COLORS.items():
        material = Element("material", name=name)
        ElementTree.SubElement(material, "color", rgba=" ".join(map(number, color)))
        yield material


def origin(place: Iterable[float] = (0.0, 0.0, 0.0), turn: FloatArray | None = None) -> Element:
    angles = (0.0, 0.0, 0.0) if turn is None else roll_pitch_yaw(turn)
    return Element(
        "origin", xyz=" ".join(map(number, place)), rpy=" ".join(map(number, angles))
    )


def number(value: float) -> str:
    return "%.17g" % (value + 0.0)  # the sum turns -0 into 0


def text(robot: Element) -> str:
    ElementTree.indent(robot)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(robot, encoding="unicode") + "\n"
