"""MuJoCo's model of a machine, compiled from its MJCF; the one place that imports the library."""

from __future__ import annotations

from twin.engines.mjcf import robot_xml
from twin.errors import InputError, MissingDependencyError
from twin.platform import Platform

try:
    import mujoco
except ImportError:
    raise MissingDependencyError("mujoco", "the MuJoCo engine", "pip install mujoco") from None

__all__ = ["JOINTS_START", "compile_model", "mujoco"]

JOINTS_START = 7
"""Entries of qpos before the legs' joints (6 of qvel): the platform's free joint comes first."""


def compile_model(platform: Platform) -> mujoco.MjModel:
    """Return the compiled model of a machine: free joint, then three joints per leg.

    Raises:
        InputError: MuJoCo refuses the model; says why.
    """
    try:
        return mujoco.MjModel.from_xml_string(robot_xml(platform))
    except ValueError as error:
        raise InputError(
            "platform", f"MuJoCo refuses the model of {platform.name}: {error}"
        ) from None
