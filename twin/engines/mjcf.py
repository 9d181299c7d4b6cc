"""MJCF of a machine: every body of its mechanism, loops closed by `connect` constraints.

The machine is at home where all joints are zero; a free joint's frame is the platform frame.
Actuators end at their limits, and legs at the angles that their joints allow, with the same
stiffness as the loops. The engines of this package switch these limits off.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.base import suitable_timestep
from twin.engines.mechanism import Mechanism, make_mechanism
from twin.machine.mechanism import (
    BASE_NAME,
    PART_COLORS,
    PLATFORM_NAME,
    Actuator,
    Body,
    Cylinder,
    Joint,
    Mass,
    Plate,
    Shape,
    Sphere,
)
from twin.model.ball import Ball, place_on_plate
from twin.model.machine_model import MachineModel

MIN_ASPECT_RATIO = 0.7
"""Smallest height over radius that places the camera: flatter machines are viewed as if this
high."""

LOOP_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)
"""Constant impedance at MuJoCo's upper limit: loops and limits yield as little as they can."""

REFERENCE_BODY = "platform_reference"
"""Body without mass at the platform's reference point: a wrench on it acts on the platform there,
at every stage of the integrator."""

BALL_NAME = "ball"
"""Name of the free body, its joint and its geom."""

BALL_PLATE_NAME = "ball_plate"
"""Name of the geom that the ball touches."""

MIN_FRICTION = 1e-5
"""Least coefficient that MuJoCo takes: about the normal [m], where the ball turns freely."""

GENERATED_NOTE = "<!-- Generated from platform.toml; do not edit. -->"

ZERO_TOLERANCE = 1e-15
"""Smaller numbers are rounding errors of sines and cosines and are written as zero."""

INERTIA_MARGIN = 1e-12
"""Relative excess of the smaller moments over the largest that MuJoCo surely accepts."""

MIN_INERTIA = 1e-14
"""Mass [kg] and moment [kg m2] of massless bodies: MuJoCo requires 1e-15 of all that move."""


def scene_xml(platform: MachineModel) -> str:
    """Return the MJCF of a scene around `robot.xml`, which must lie next to it."""
    machine = make_mechanism(platform.parameters)
    plate = machine.base_plate
    joints = [point for point in machine.points if point.name.startswith("leg")]
    x, y, z = np.stack([machine.home_position(joint) for joint in joints], axis=1)
    ground, height = float(plate.start[2]), float(z.max())
    radius = max(plate.radius, float(np.hypot(x, y).max()))
    size = radius + max(abs(height - ground), MIN_ASPECT_RATIO * radius)
    scene_center = np.array([0.0, 0.0, 0.5 * (height + ground)])
    root = Element("mujoco", model=f"{machine.name} scene")
    add(root, "include", file="robot.xml")
    add(root, "statistic", center=text(scene_center), extent=text([0.8 * size]))
    visual = add(root, "visual")
    add(visual, "global", offwidth="1920", offheight="1080")
    add(visual, "quality", shadowsize="8192", offsamples="8", numslices="64")
    add(visual, "headlight", ambient="0.35 0.35 0.37", diffuse="0.35 0.35 0.35", specular="0 0 0")
    add(visual, "rgba", haze="0.93 0.95 0.97 1")
    add(visual, "map", shadowclip="2", fogstart="4", fogend="12")
    asset = add(root, "asset")
    sky = {"type": "skybox", "builtin": "gradient", "width": "256", "height": "1536"}
    add(asset, "texture", name="sky", rgb1="0.80 0.85 0.90", rgb2="0.93 0.95 0.97", **sky)
    checker = {"type": "2d", "builtin": "checker", "width": "512", "height": "512"}
    tones = {"rgb1": "0.78 0.81 0.84", "rgb2": "0.74 0.77 0.80"}
    add(asset, "texture", name="tiles", **checker, **tones)
    repeat = {"texuniform": "true", "texrepeat": "2 2"}
    add(asset, "material", name="floor", texture="tiles", **repeat)
    world = add(root, "worldbody")
    floor = {"type": "plane", "size": "0 0 0.05", "pos": text([0.0, 0.0, ground])}
    no_contact = {"contype": "0", "conaffinity": "0"}
    add(world, "geom", name="floor", material="floor", **floor, **no_contact)
    lamp = size * np.array([0.8, -1.2, 2.5])
    light_attributes = {"pos": text(lamp), "dir": text(scene_center - lamp), "type": "directional"}
    add(world, "light", name="key", diffuse="0.6 0.6 0.58", castshadow="true", **light_attributes)
    eye = scene_center + size * np.array([1.20, -1.00, 0.62])
    camera = {"pos": text(eye), "xyaxes": text(_look_at(eye, scene_center)), "fovy": "36"}
    add(world, "camera", name="overview", **camera)
    return document(root)


def _look_at(eye: FloatArray, target: FloatArray) -> list[float]:
    """Return the x and y axes of a camera at `eye` that sees `target` upright."""
    backward = (eye - target) / np.linalg.norm(eye - target)
    right_axis = np.cross([0.0, 0.0, 1.0], backward)
    right_axis /= np.linalg.norm(right_axis)
    return [*right_axis, *np.cross(backward, right_axis)]


def loop_solref(timestep: float) -> tuple[float, float]:
    """Return time constant [s] and damping ratio: the stiffest that MuJoCo takes at a time step."""
    return 2.0 * timestep, 1.0


def robot_xml(platform: MachineModel) -> str:
    """Return the MJCF of a machine at home; the same machine gives the same text."""
    return mechanism_xml(make_mechanism(platform.parameters), suitable_timestep(platform))


def mechanism_xml(machine: Mechanism, timestep: float) -> str:
    """Return the MJCF of a mechanism at home, for a time step [s]."""
    root = Element("mujoco", model=machine.name)
    add(root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
    _add_options(root, machine, timestep)
    _add_defaults(root, timestep)
    _add_assets(root, machine)
    world = add(root, "worldbody")
    for shape in (machine.base_plate, *machine.base_shapes):
        add_shape(world, shape)
    _add_points(world, machine, BASE_NAME)
    _add_bodies(world, machine, BASE_NAME)
    home = [*(machine.home if machine.floats else ()), *np.zeros(len(machine.joint_names))]
    if machine.ball is not None:
        home_position = place_on_plate(machine.ball, machine.home, np.zeros(6))[:7]
        contact = text(loop_solref(timestep)), text(LOOP_SOLIMP)
        add_ball(world, machine.ball, home_position, contact)
        home += home_position.tolist()
    _add_loops_and_motors(root, machine)
    _add_tethers(root, machine)
    add(add(root, "keyframe"), "key", name="home", qpos=text(home))
    return document(root)


def _add_options(root: Element, machine: Mechanism, timestep: float) -> None:
    solver = {"solver": "Newton", "iterations": "100", "tolerance": "1e-14", "jacobian": "dense"}
    option = add(
        root,
        "option",
        gravity=text([0.0, 0.0, -machine.gravity]),
        timestep=text([timestep]),
        integrator="RK4",
        **solver,
    )
    if machine.ball is not None:
        # The default pyramid of the friction cone overestimates friction along its edges.
        option.set("cone", "elliptic")


def _add_defaults(root: Element, timestep: float) -> None:
    default = add(root, "default")
    loop = {"solref": text(loop_solref(timestep)), "solimp": text(LOOP_SOLIMP)}
    add(default, "equality", **loop)
    limit = {"solreflimit": loop["solref"], "solimplimit": loop["solimp"]}
    add(default, "joint", **limit)
    add(default, "tendon", **limit)
    drawn_class = add(default, "default", **{"class": "drawn"})
    add(drawn_class, "geom", contype="0", conaffinity="0", mass="0", group="2")
    add(default, "site", size="0.005", group="4")


def _add_assets(root: Element, machine: Mechanism) -> None:
    asset = add(root, "asset")
    shine = {"specular": "0.4", "shininess": "0.5"}
    for name, color in PART_COLORS.items():
        if name in machine.colors:
            add(asset, "material", name=name, rgba=text(color), **shine)
    for body in machine.bodies:
        for shape in body.shapes:
            if isinstance(shape, Plate):
                add_mesh(asset, shape)
    if machine.ball is not None:
        add_ball_materials(asset)


def _add_bodies(parent: Element, machine: Mechanism, name: str) -> None:
    """Add the bodies that hang on a body, each with those that hang on it."""
    for body in machine.bodies:
        if body.parent == name:
            element = _add_body(parent, machine, body)
            _add_points(element, machine, body.name)
            _add_bodies(element, machine, body.name)


def _add_body(parent: Element, machine: Mechanism, body: Body) -> Element:
    frame_attributes = {"pos": text(body.position)}
    if body.free:
        frame_attributes["quat"] = text(machine.home[3:])
    elif body.rotation is not None:
        frame_attributes["xyaxes"] = text(np.ravel(body.rotation[:, :2].T))
    if body.extra_weight:
        frame_attributes["gravcomp"] = text([-body.extra_weight / body.mass.mass])
    element = add(parent, "body", name=body.name, **frame_attributes)
    if body.free:
        add(element, "freejoint", name=body.name)
    for joint in body.joints:
        _add_joint(element, joint, machine.viscosity(joint.name))
    add_inertial(element, body.mass)
    for shape in body.shapes:
        add_shape(element, shape)
    if body.name == PLATFORM_NAME:
        _add_reference(element, machine)
        if machine.ball is not None:
            add_ball_plate(element, machine.ball)
    return element


def _add_joint(body: Element, joint: Joint, viscosity: float) -> None:
    options = {}
    if joint.limits is not None:
        joint_range = (joint.limits.minimum, joint.limits.maximum)
        options = {"limited": "true", "range": text(joint_range)}
    if joint.spring is not None:
        options |= {
            "stiffness": text([joint.spring.stiffness]),
            "springref": text([joint.spring.zero]),
        }
    if viscosity:
        options["damping"] = text([viscosity])
    add(body, "joint", name=joint.name, type=joint.kind, axis=text(joint.axis), **options)


def _add_reference(platform: Element, machine: Mechanism) -> None:
    """Add the body that wrenches act on.

    MuJoCo looks at negative compensation of gravity, which is how extra weight is written, only
    in models that have a positive one somewhere: here, of a body without weight.
    """
    has_extra_weight = any(body.extra_weight for body in machine.bodies)
    add(platform, "body", name=REFERENCE_BODY, **({"gravcomp": "1"} if has_extra_weight else {}))


def _add_points(element: Element, machine: Mechanism, body: str) -> None:
    for point in machine.points_on(body):
        add(element, "site", name=point.name, pos=text(point.position))


def _add_loops_and_motors(root: Element, machine: Mechanism) -> None:
    equality, motor, sensor = (add(root, section) for section in ("equality", "actuator", "sensor"))
    for loop in machine.loops:
        add(equality, "connect", name=loop.name, site1=loop.first, site2=loop.second)
    for actuator_number, actuator in enumerate(machine.actuators, start=1):
        leg = f"leg_{actuator_number}"
        sensor_kind, target = "joint", {"joint": actuator.joint}
        if actuator.twist is not None:
            sensor_kind, target = "tendon", {"tendon": f"{leg}_screw"}
            _add_screw(root, actuator, f"{leg}_screw")
        add(motor, "motor", name=actuator.name, **target, gear="1")
        add(sensor, f"{sensor_kind}pos", name=f"{leg}_position", **target)
        add(sensor, f"{sensor_kind}vel", name=f"{leg}_rate", **target)
        add(sensor, "actuatorfrc", name=f"{leg}_measured_force", actuator=actuator.name)
    for joint in machine.deflection:
        add(sensor, "jointpos", name=f"{joint}_position", joint=joint)
        add(sensor, "jointvel", name=f"{joint}_rate", joint=joint)
    frame = {"objtype": "site", "objname": "reference"}
    add(sensor, "framepos", name="platform_position", **frame)
    add(sensor, "framequat", name="platform_quaternion", **frame)
    add(sensor, "framelinvel", name="platform_velocity", **frame)
    add(sensor, "frameangvel", name="platform_angular_velocity", **frame)
    add(sensor, "accelerometer", name="imu_acceleration", site="imu")
    add(sensor, "gyro", name="imu_angular_velocity", site="imu")


def _add_screw(root: Element, actuator: Actuator, name: str) -> None:
    """Add the tendon whose length is an actuator's coordinate: a joint and what its twist adds."""
    assert actuator.twist is not None
    tendon = add(tendon_section(root), "fixed", name=name)
    add(tendon, "joint", joint=actuator.joint, coef="1")
    add(tendon, "joint", joint=actuator.twist.joint, coef=text([actuator.twist.gain]))


def tendon_section(root: Element) -> Element:
    """Return the section of tendons, added where it is missing."""
    section = root.find("tendon")
    return add(root, "tendon") if section is None else section


def _add_tethers(root: Element, machine: Mechanism) -> None:
    """Add a tendon per tether; it acts only when its points are farther apart than allowed."""
    if not machine.tethers:
        return
    tendons = tendon_section(root)
    for tether in machine.tethers:
        length_range = text([0.0, tether.length])
        tendon = add(
            tendons, "spatial", name=tether.name, limited="true", range=length_range, group="4"
        )
        for point in (tether.first, tether.second):
            add(tendon, "site", site=point)


def add_ball_materials(asset: Element) -> None:
    """Add the materials of ball and plate; the ball's squares make its rolling visible."""
    ball_color, mark_color = PART_COLORS[BALL_NAME][:3], (0.95, 0.93, 0.88)
    squares = {"type": "cube", "builtin": "checker", "width": "64", "height": "64"}
    add(asset, "texture", name=BALL_NAME, rgb1=text(ball_color), rgb2=text(mark_color), **squares)
    add(asset, "material", name=BALL_NAME, texture=BALL_NAME, specular="0.5", shininess="0.6")
    add(asset, "material", name=BALL_PLATE_NAME, rgba=text(PART_COLORS[BALL_PLATE_NAME]))


def add_ball_plate(platform: Element, ball: Ball) -> None:
    """Add the plate to the platform's body, without mass of its own."""
    top, bottom = ball.plate_height, ball.plate_height - ball.plate_thickness
    shape_attributes = {"type": "cylinder", "fromto": text([0.0, 0.0, bottom, 0.0, 0.0, top])}
    contact_attributes = {"contype": "1", "conaffinity": "0", "group": "2", "mass": "0"}
    size = text([ball.plate_radius])
    add(
        platform,
        "geom",
        name=BALL_PLATE_NAME,
        size=size,
        material=BALL_PLATE_NAME,
        **shape_attributes,
        **contact_attributes,
    )


def add_ball(world: Element, ball: Ball, pose: FloatArray, contact: tuple[str, str]) -> None:
    """Add the ball as a free body.

    Args:
        world: the worldbody.
        ball: its numbers.
        pose: `(7,)` pose at home.
        contact: `solref` and `solimp` of its contact with the plate.
    """
    body = add(world, "body", name=BALL_NAME, pos=text(pose[:3]), quat=text(pose[3:]))
    add(body, "freejoint", name=BALL_NAME)
    add_inertial(body, Mass(ball.mass, np.zeros(3), ball.inertia * np.eye(3)))
    rolling = ball.rolling_resistance * ball.radius
    friction = [ball.friction, MIN_FRICTION, max(rolling, MIN_FRICTION)]
    contact_attributes = {
        "contype": "0",
        "conaffinity": "1",
        "condim": "6" if rolling > 0.0 else "3",
        "friction": text(friction),
        "priority": "1",
        "solref": contact[0],
        "solimp": contact[1],
        "group": "2",
        "mass": "0",
    }
    add(
        body,
        "geom",
        name=BALL_NAME,
        type="sphere",
        size=text([ball.radius]),
        material=BALL_NAME,
        **contact_attributes,
    )


def add(parent: Element, tag: str, **attributes: str) -> Element:
    """Append an element to `parent` and return it."""
    return SubElement(parent, tag, attributes)


def add_inertial(body: Element, mass: Mass) -> None:
    """Give `body` its mass, centre of mass and tensor."""
    smallest_moment, middle_moment, largest_moment = np.linalg.eigvalsh(mass.tensor)
    # Of a flat body the largest moment is the sum of the others: rounding must not exceed it.
    excess = max(
        0.0,
        largest_moment * (1.0 + INERTIA_MARGIN) - smallest_moment - middle_moment,
        MIN_INERTIA - smallest_moment,
    )
    tensor = mass.tensor + excess * np.eye(3)
    entries = text(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    kilograms = text([max(mass.mass, MIN_INERTIA)])
    add(body, "inertial", pos=text(mass.center), mass=kilograms, fullinertia=entries)


def add_shape(body: Element, shape: Shape) -> None:
    """Draw a shape of `body`; a plate refers to the mesh that `add_mesh` makes of it."""
    style = {"name": shape.name, "class": "drawn"}
    if isinstance(shape, Plate):
        add(body, "geom", **style, type="mesh", mesh=shape.name, material=shape.color)
        return
    if isinstance(shape, Cylinder):
        ends = text([*shape.start, *shape.end])
        kind, geometry = "cylinder", {"size": text([shape.radius]), "fromto": ends}
    elif isinstance(shape, Sphere):
        position = {"pos": text(shape.center)} if shape.center.any() else {}
        kind, geometry = "sphere", {"size": text([shape.radius]), **position}
    else:
        kind, geometry = "box", {"pos": text(shape.center), "size": text(0.5 * shape.size)}
    add(body, "geom", **style, type=kind, material=shape.color, **geometry)


def add_mesh(asset: Element, plate: Plate) -> None:
    """Keep a plate's corners, lower face first."""
    corners = [(x, y, z) for z in (plate.bottom, plate.top) for x, y in plate.outline]
    add(asset, "mesh", name=plate.name, vertex=text(np.ravel(corners)))


def text(values: Iterable[float]) -> str:
    """Return numbers as text with 15 digits, so that rounding errors leave it unchanged."""
    return " ".join(f"{0.0 if abs(value) < ZERO_TOLERANCE else value:.15g}" for value in values)


def document(root: Element) -> str:
    """Return the document as indented text under a one-line comment."""
    ElementTree.indent(root)
    return f"{GENERATED_NOTE}\n{ElementTree.tostring(root, encoding='unicode')}\n"
