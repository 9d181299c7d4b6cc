"""Words for the path of a number: what it is and of what."""

from __future__ import annotations

AXES, ANGLES = ("x", "y", "z"), ("yaw", "pitch", "roll")

NAMES = {
    "center_of_mass": "centre of mass",
    "coulomb": "dry friction",
    "viscous": "viscous friction",
    "friction": "dry friction",
    "friction_torque": "dry friction torque",
    "viscous_torque": "viscous friction torque",
    "stribeck_speed": "Stribeck speed",
    "armature_inertia": "inertia of the armature",
}
"""Fields whose own name is not what they are called."""

OWNERS = {
    "axial": "axial spring",
    "friction": "foot",
    "imu": "inertial sensor",
    "body": "platform body",
}
"""Tables whose own name is not what they are called."""


def in_words(path: str) -> str:
    """Return what a numeric path of platform.toml means, such as "mass of the platform body"."""
    keys = path.split(".")
    leg = ""
    if keys[0] == "leg":
        single = keys[1].isdecimal()
        leg = f"of leg {keys[1]}" if single else "of all legs"
        keys = keys[2:] if single else keys[1:]
    if keys[:2] == ["platform", "body"]:
        keys = keys[1:]
    names = [key for key in keys if not key.isdecimal()]
    what = _field(names[-1], [int(key) for key in keys if key.isdecimal()])
    owners = [OWNERS.get(name, name.replace("_", " ")) for name in names[:-1]]
    return " ".join([what, *(f"of the {owner}" for owner in reversed(owners)), leg]).strip()


def _field(name: str, indices: list[int]) -> str:
    what = NAMES.get(name, name.replace("_", " ").replace("center", "centre"))
    if not indices:
        return what
    if name == "inertia":
        return f"{what} {''.join(AXES[index] for index in indices)}"
    if name == "attitude":
        return ANGLES[indices[0]]
    if len(indices) == 2 and indices[1] < len(AXES):
        return f"{AXES[indices[1]]} of joint {indices[0] + 1}"
    return f"{what} {AXES[indices[0]]}" if indices[0] < len(AXES) else f"{what} {indices[0] + 1}"
