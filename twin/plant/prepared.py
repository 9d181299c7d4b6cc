"""Drives and encoders of a machine as a plant takes them: constants, resolution, modes, start."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.errors import InputError
from twin.kernels.dynamics.inverse import inverse_dynamics_batch
from twin.model.evaluation import FOR_MANY, run_checked, without_compiling
from twin.model.machine_model import MachineModel
from twin.model.motions import REST
from twin.model.static_deflection import resting_deflection
from twin.plant.signals import Mode

if TYPE_CHECKING:
    from twin.model.engine import State

STILL = np.zeros(6)
"""No acceleration, no wrench; writeable, as kernels are compiled for."""


class PreparedDrives(NamedTuple):
    """Constants of a machine's drives and sensors for one step of an engine."""

    constants: FloatArray
    """`(n, CONSTANTS)`; columns as in `actuation`"""
    resolution: FloatArray
    """`(n,)` one count of the encoders in the actuators' coordinates; 0 for exact ones"""
    parts: int
    """steps of the motors within one of the engine"""
    delay_steps: int
    """steps of the engine by which commands come later"""


def command_modes(legs: Sequence[Any]) -> tuple[Mode, ...]:
    """Return the modes of the commands that the drives of all legs take.

    Raises:
        InputError: some are position drives and others are not.
    """
    positioned = {leg.drive is not None and leg.drive.positioning() is not None for leg in legs}
    if len(positioned) > 1:
        raise InputError("leg.drive.kind", "all legs have position drives, or none has")
    return ("velocity", "position") if True in positioned else ("force", "velocity")


def encoder_resolution(leg: Any) -> float:
    """Return one count of a leg's encoder in its actuator's coordinate; 0 for an exact one.

    Raises:
        InputError: a drive without a turn to count.
    """
    if leg.encoder is None:
        return 0.0
    turn = None if leg.drive is None else leg.drive.turn
    if turn is None:
        raise InputError(
            "leg.encoder", "counts turns of a drive: give leg.drive, with scale_period if direct"
        )
    return float(leg.encoder.resolution(turn))


def holding_forces(platform: MachineModel, state: State) -> FloatArray:
    """Return the forces `(n,)` of the actuators that hold a machine in a state of an engine.

    Springs in series count as standing still. Nothing is compiled for a machine that rests at home,
    unless it is one of many.
    """
    if not FOR_MANY.get() and _rests_at_home(platform, state):
        return forces_at_home(platform)
    inside, k = state.deflection.copy(), platform.n_deflections
    inside[k:] = 0.0
    if platform.dof < 6:  # what moves has to turn as well
        rest = platform.constrain(state.pose, state.twist, REST).acceleration
        return platform.inverse_dynamics(state.pose, state.twist, rest, deflection=inside)
    constants, held = platform.constants, np.empty((1, platform.n_actuators))
    motion = tuple(part[None] for part in (state.pose, state.twist, inside, STILL, STILL))
    run_checked(inverse_dynamics_batch, constants[:2], (*motion, held), constants.legs)
    return np.asarray(held[0])


@lru_cache(maxsize=32)
def forces_at_home(platform: MachineModel) -> FloatArray:
    """Return the forces `(n,)` of the actuators that hold a machine at rest at home, read-only."""
    inside = resting_deflection(platform)
    with without_compiling():
        return read_only(platform.inverse_dynamics(platform.home, REST, REST, deflection=inside))


def _rests_at_home(platform: MachineModel, state: State) -> bool:
    """Return whether a machine is at rest at home, to the last bit."""
    k = platform.n_deflections
    if state.pose.tobytes() != platform.home.tobytes() or state.twist.any():
        return False
    return not k or bool((state.deflection == resting_deflection(platform)).all())
