"""Machines that have no symmetry, plane or axis to hide a fault behind, one per kind of leg."""

import tomllib

import numpy as np
from scipy.spatial.transform import Rotation
from shipped import shipped_content

from twin.machine.file.read import parameters_from

BODY = tomllib.loads("""
center_of_mass = [0.06, -0.04, 0.15]
inertia = [[3.0, 0.4, -0.2], [0.4, 2.0, 0.3], [-0.2, 0.3, 4.0]]
""")
"""Of machines of the size of `stewart`: off the reference point, axes tilted."""

TURN = [0.9950376877284599, 0.05, -0.05, 0.07]
"""Attitude at home of machines with six degrees of freedom."""


def machine_without_symmetry(kind):
    """Return a machine on legs of a kind, called `<kind>_without_symmetry`."""
    return parameters_from(content_without_symmetry(kind), "platform.toml")


def content_without_symmetry(kind):
    """Return what the platform.toml of `machine_without_symmetry` would hold."""
    source, spoil = KINDS[kind]
    content = shipped_content(source)
    content["name"] = f"{kind}_without_symmetry"
    spoil(content)
    return content


def _joints(content, shift):
    """Move all joints at random by up to `shift` [m]; return base and platform joints."""
    random = np.random.default_rng(7)
    before = parameters_from(content, "platform.toml")
    points = []
    for table in ("base", "platform"):
        points.append(getattr(before, table).joints.points + random.uniform(-shift, shift, (6, 3)))
        content[table]["joints"] = {"source": "Test", "coordinates": points[-1].tolist()}
    return points[0], points[1]


def _turn_home(content):
    content["home"]["orientation"] = TURN
    content["home"]["position"] = [*np.add(content["home"]["position"], [0.01, -0.02, 0.01])]


def _upu(content):
    """Screws of much lead, and rods whose spin shows."""
    _ups(content)
    content["leg"] |= tomllib.loads("""
kind = "upu"
platform_axis = [1.0, 0.4, -0.2]
screw = {source = "Test", lead = "40 mm", hand = "left"}
[rod]
source = "Test"
kind = "symmetric"
mass = 11.7
center = -0.4344
transverse_inertia = 0.402
axial_inertia = 0.3
""")


def _ups(content):
    _joints(content, 0.03)
    _turn_home(content)
    content["platform"]["body"] |= BODY
    content["leg"] |= {"first_axis": [0.3, 1.0, 0.4], "frame_angle": "20 deg", "mirrored": [1, 4]}
    content["leg"]["actuator"] |= {"minimum": 0.85, "maximum": 1.1}


def _strut(content):
    _joints(content, 0.01)
    content["home"]["orientation"] = TURN
    content["platform"]["body"] |= tomllib.loads("""
center_of_mass = [0.02, -0.01, -0.28]
inertia = [[0.06, 0.01, -0.01], [0.01, 0.05, 0.01], [-0.01, 0.01, 0.08]]
""")
    content["leg"] |= {"first_axis": [0.3, 1.0, 0.4], "frame_angle": "20 deg", "mirrored": [1, 4]}
    content["leg"]["rod"]["center_of_mass"] = [0.004, -0.006, -0.05]
    axial = {"stiffness": 3e6, "damping": 700.0, "rest_length": 0.31}
    content["variant"] = [{"legs": [2, 5], "source": "Test", "axial": axial}]


def _viscoelastic(content):
    _joints(content, 0.03)
    _turn_home(content)
    content["platform"]["body"] |= BODY
    content["leg"]["first_axis"] = [0.3, 1.0, 0.4]
    content |= tomllib.loads("""
[[variant]]
legs = [2, 5]
source = "Test"
spring_mass = 3.0
follower_mass = 4.0
stiffness = 8e4
damping = 200.0
[[variant]]
legs = [3]
source = "Test"
spring_length = 0.12
follower_length = 0.15
""")


def _rss(content):
    _joints(content, 0.05)
    _turn_home(content)
    content["platform"]["body"] |= BODY
    content["leg"]["actuator"] |= {"minimum": -3.0, "maximum": 3.0}
    content["leg"] |= tomllib.loads("""
zero = [0.2, -0.1, 1.0]
rod = {source = "Test", mass = 1.2}
[crank]
source = "Test"
kind = "rigid"
mass = 2.5
center_of_mass = [0.03, 0.05, 0.35]
inertia = [[0.3, 0.01, 0.02], [0.01, 0.28, -0.015], [0.02, -0.015, 0.05]]
""")
    content["variant"] = [
        {"legs": [2, 5], "source": "Test", "branch": "inward", "rod_length": 0.75},
        {"legs": [3], "source": "Test", "axis": [0.9, 0.3, 0.2], "crank_length": 0.7},
    ]


def _pillar(content):
    roll, pitch, floor = 0.06, -0.04, 0.02
    turn = Rotation.from_euler("XY", [roll, pitch])
    corners = np.array(
        [[0.83, -0.38, 0.02], [0.76, 0.45, -0.03], [-0.79, 0.4, 0.05], [-0.85, -0.43, 0.01]]
    )
    home, normal = np.array([0.03, -0.02, 0.4]), turn.apply([0.0, 0.0, 1.0])
    tops = home + turn.apply(corners)
    feet = tops - ((tops[:, 2] - floor) / normal[2])[:, None] * normal
    content["platform"]["joints"] = {"source": "Test", "coordinates": corners.tolist()}
    content["base"]["joints"] = {"source": "Test", "coordinates": feet.tolist()}
    quaternion = turn.as_quat(scalar_first=True)
    content["home"] |= {"position": home.tolist(), "orientation": quaternion.tolist()}
    content["platform"]["body"] |= BODY | {"inertia": [[30, 2, -3], [2, 40, 1.5], [-3, 1.5, 60]]}
    content["leg"]["actuator"] |= {"minimum": 0.3, "maximum": 0.6}
    content["leg"]["fixed_foot"] = 2
    friction = {"source": "Test", "viscous": 150.0, "coulomb": 12.0, "transition_speed": 0.05}
    content["leg"]["friction"] = friction
    content["variant"] = [{"legs": [3], "source": "Test", "upper_mass": 15.0, "foot_mass": 4.0}]


KINDS = {
    "ups": ("stewart", _ups),
    "strut": ("micro_hexapod", _strut),
    "viscoelastic": ("compliant_stewart", _viscoelastic),
    "rss": ("rss", _rss),
    "pillar": ("driving_simulator", _pillar),
    "upu": ("stewart", _upu),
}
"""Kind of leg -> machine of the catalogue to start from, and what takes its symmetry away."""
