"""MuJoCo's model of a machine, compiled from its MJCF; the one place that imports the library."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from twin.basics.arrays import IndexArray
from twin.basics.optional import optional
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.mjcf.robot import mechanism_xml
from twin.errors import InputError

optional("mujoco")
import mujoco  # noqa: E402

__all__ = ["compile_model", "coordinates", "mujoco", "velocities"]


def compile_model(machine: Mechanism, timestep: float = 1e-3) -> mujoco.MjModel:
    """Return the compiled model of a machine for a time step [s], without limits of joints.

    The equations of motion of the other engines have none; a plant adds end stops of its own.

    Raises:
        InputError: MuJoCo refuses the model; says why.
    """
    try:
        model = mujoco.MjModel.from_xml_string(mechanism_xml(machine, timestep))
    except ValueError as error:
        raise InputError(
            "platform", f"MuJoCo refuses the model of {machine.name}: {error}"
        ) from None
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    return model


def coordinates(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Return the places of joints in `qpos`."""
    return np.array([model.joint(name).qposadr[0] for name in joints], dtype=np.int64)


def velocities(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Return the places of joints in `qvel`, `qacc` and forces."""
    return np.array([model.joint(name).dofadr[0] for name in joints], dtype=np.int64)
