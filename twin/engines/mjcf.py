"""MJCF of a machine: `robot.xml` (the machine alone) and `scene.xml` (floor, light, camera).

Tree: the platform on a free joint; every leg a housing on two hinges and a rod on a slide. The
rods' tips are held to the platform joints by `connect` constraints between sites. The machine is
at home where all joints are zero; the free joint's frame is the platform frame.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from twin.arrays import FloatArray
from twin.engines.appearance import COLORS, Drawing, drawing
from twin.engines.mjcf_elements import add, add_cylinder, add_inertial, document, text
from twin.parameters.derived import LegBodies, home_leg_frames, leg_bodies
from twin.parameters.machine import MachineParameters
from twin.platform import Platform

TIMESTEP = 1e-3
"""[s] as written to the file; the constraint settings belong to it."""

LOOP_SOLREF = (2 * TIMESTEP, 1.0)
"""Time constant [s] and damping ratio: the stiffest reference MuJoCo takes at this time step."""

LOOP_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""Constant impedance at MuJoCo's upper limit: a loop yields as little as it can."""


def robot_xml(platform: Platform) -> str:
    """Return the MJCF of a machine at home; the same machine gives the same text."""
    parameters = platform.parameters
    look = drawing(parameters)
    root = Element("mujoco", model=parameters.name)
    add(root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
    _add_options(root, parameters.gravity)
    _add_defaults(root)
    _add_assets(root, look)
    world = add(root, "worldbody")
    _add_base(world, parameters, look)
    _add_platform(world, parameters, look)
    frames, bodies = home_leg_frames(parameters), leg_bodies(parameters)
    for leg in range(len(frames)):
        _add_leg(world, leg, parameters, bodies, frames[leg], look)
    _add_loops_and_motors(root, len(frames))
    home = [*parameters.home.position, *parameters.home.orientation, *[0.0] * (3 * len(frames))]
    add(add(root, "keyframe"), "key", name="home", qpos=text(home))
    return document(root)


def scene_xml(platform: Platform) -> str:
    """Return the MJCF of a scene around `robot.xml`, which must lie beside it."""
    parameters = platform.parameters
    look = drawing(parameters)
    size = look.base_radius + abs(parameters.home.position[2] - look.floor)
    middle = np.array([0.0, 0.0, 0.5 * (parameters.home.position[2] + look.floor)])
    root = Element("mujoco", model=f"{parameters.name} scene")
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
    floor = {"type": "plane", "size": "0 0 0.05", "pos": text([0.0, 0.0, look.floor])}
    mask = {"contype": "0", "conaffinity": "0"}
    add(world, "geom", name="floor", material="floor", **floor, **mask)
    lamp = size * np.array([0.8, -1.2, 2.5])
    light = {"pos": text(lamp), "dir": text(middle - lamp), "type": "directional"}
    add(world, "light", name="key", diffuse="0.6 0.6 0.58", castshadow="true", **light)
    eye = middle + size * np.array([1.20, -1.00, 0.62])
    camera = {"pos": text(eye), "xyaxes": text(_look_at(eye, middle)), "fovy": "36"}
    add(world, "camera", name="overview", **camera)
    return document(root)


def _add_options(root: Element, gravity: float) -> None:
    solver = {"solver": "Newton", "iterations": "100", "tolerance": "1e-14", "jacobian": "dense"}
    add(
        root,
        "option",
        gravity=text([0.0, 0.0, -gravity]),
        timestep=text([TIMESTEP]),
        integrator="RK4",
        **solver,
    )


def _add_defaults(root: Element) -> None:
    default = add(root, "default")
    loop = {"solref": text(LOOP_SOLREF), "solimp": text(LOOP_SOLIMP)}
    add(default, "equality", **loop)
    drawn = add(default, "default", **{"class": "drawn"})
    add(drawn, "geom", contype="0", conaffinity="0", mass="0", group="2")
    add(default, "site", size="0.005", group="4")


def _add_assets(root: Element, look: Drawing) -> None:
    asset = add(root, "asset")
    shine = {"specular": "0.4", "shininess": "0.5"}
    for name, color in COLORS.items():
        add(asset, "material", name=name, rgba=text(color), **shine)
    heights = (look.platform_bottom, look.platform_bottom + look.platform_thickness)
    corners = [(x, y, z) for z in heights for x, y in look.platform_outline]
    add(asset, "mesh", name="plate", vertex=text(np.ravel(corners)))


def _add_base(world: Element, parameters: MachineParameters, look: Drawing) -> None:
    faces = [[0.0, 0.0, look.floor], [0.0, 0.0, look.base_top]]
    add_cylinder(world, "base_plate", "base", look.base_radius, *faces)
    for number, point in enumerate(parameters.base.joints.points, start=1):
        foot, radius = [point[0], point[1], look.base_top], 0.8 * look.base_joint_radius
        add_cylinder(world, f"base_bracket_{number}", "joint", radius, foot, point)
        add(world, "site", name=f"leg_{number}_base_joint", pos=text(point))


def _add_platform(world: Element, parameters: MachineParameters, look: Drawing) -> None:
    home, rigid = parameters.home, parameters.platform.body
    place = {"pos": text(home.position), "quat": text(home.orientation)}
    body = add(world, "body", name="platform", **place)
    add(body, "freejoint", name="platform")
    add_inertial(body, rigid.mass, rigid.center_of_mass_vector, rigid.inertia_tensor)
    shape = {"class": "drawn", "type": "mesh", "mesh": "plate", "material": "platform"}
    add(body, "geom", name="platform_plate", **shape)
    top = look.platform_bottom + look.platform_thickness
    inner, width = 0.4 * look.platform_radius, 0.04 * look.platform_radius
    mark = {"pos": text([inner, 0.0, top]), "size": text([0.5 * inner, width, 0.002])}
    style = {"class": "drawn", "type": "box", "material": "heading"}
    add(body, "geom", name="platform_heading", **style, **mark)
    add(body, "site", name="reference", pos="0 0 0")
    add(body, "site", name="imu", pos="0 0 0")
    for number, point in enumerate(parameters.platform.joints.points, start=1):
        add(body, "site", name=f"leg_{number}_platform_joint", pos=text(point))


def _add_leg(
    world: Element,
    leg: int,
    parameters: MachineParameters,
    bodies: LegBodies,
    frame: FloatArray,
    look: Drawing,
) -> None:
    name, actuator = f"leg_{leg + 1}", parameters.leg.actuator
    length = float(np.linalg.norm(parameters.home_leg_vectors[leg]))
    place = {
        "pos": text(parameters.base.joints.points[leg]),
        "xyaxes": text(np.ravel(frame[:, :2].T)),
    }
    housing = add(world, "body", name=f"{name}_housing", **place)
    first = text(frame.T @ parameters.first_axes[leg])
    add(housing, "joint", name=f"{name}_first", type="hinge", axis=first)
    add(housing, "joint", name=f"{name}_second", type="hinge", axis="1 0 0")
    add_inertial(
        housing, bodies.housing_mass[leg], bodies.housing_center[leg], bodies.housing_inertia[leg]
    )
    ball = {"class": "drawn", "type": "sphere", "material": "joint"}
    size = text([look.base_joint_radius])
    add(housing, "geom", name=f"{name}_base_ball", **ball, size=size)
    end, collar = look.housing_length, 0.94 * look.housing_length
    add_cylinder(housing, f"{name}_tube", "housing", look.housing_radius, [0, 0, 0], [0, 0, end])
    wide = 1.12 * look.housing_radius
    add_cylinder(housing, f"{name}_collar", "joint", wide, [0, 0, collar], [0, 0, 1.005 * end])
    rod = add(housing, "body", name=f"{name}_rod", pos=text([0.0, 0.0, length]))
    stroke = text([actuator.minimum - length, actuator.maximum - length])
    slide = {"type": "slide", "axis": "0 0 1", "limited": "false", "range": stroke}
    add(rod, "joint", name=f"{name}_actuator", **slide)
    add_inertial(rod, bodies.rod_mass[leg], bodies.rod_center[leg], bodies.rod_inertia[leg])
    add_cylinder(rod, f"{name}_shaft", "rod", look.rod_radius, [0, 0, -look.rod_length], [0, 0, 0])
    size = text([look.platform_joint_radius])
    add(rod, "geom", name=f"{name}_platform_ball", **ball, size=size)
    add(rod, "site", name=f"{name}_tip", pos="0 0 0")


def _add_loops_and_motors(root: Element, legs: int) -> None:
    equality, actuator, sensor = (add(root, tag) for tag in ("equality", "actuator", "sensor"))
    for leg in (f"leg_{number}" for number in range(1, legs + 1)):
        sites = {"site1": f"{leg}_tip", "site2": f"{leg}_platform_joint"}
        add(equality, "connect", name=f"{leg}_loop", **sites)
        add(actuator, "motor", name=f"{leg}_force", joint=f"{leg}_actuator", gear="1")
        add(sensor, "jointpos", name=f"{leg}_position", joint=f"{leg}_actuator")
        add(sensor, "jointvel", name=f"{leg}_rate", joint=f"{leg}_actuator")
        add(sensor, "actuatorfrc", name=f"{leg}_measured_force", actuator=f"{leg}_force")
    frame = {"objtype": "site", "objname": "reference"}
    add(sensor, "framepos", name="platform_position", **frame)
    add(sensor, "framequat", name="platform_quaternion", **frame)
    add(sensor, "framelinvel", name="platform_velocity", **frame)
    add(sensor, "frameangvel", name="platform_angular_velocity", **frame)
    add(sensor, "accelerometer", name="imu_acceleration", site="imu")
    add(sensor, "gyro", name="imu_angular_velocity", site="imu")


def _look_at(eye: FloatArray, target: FloatArray) -> list[float]:
    """Return the x and y axes of a camera at `eye` that sees `target` upright."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return [*right, *np.cross(back, right)]
