"""Phases of an emulated machine: what is true from one change of its faults to the next."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from twin.analysis.payload.body import Payload, with_payload
from twin.basics.arrays import FloatArray
from twin.engines import make_engine
from twin.errors import InputError
from twin.link.emulated.fault import (
    CountsFault,
    DriveFault,
    Fault,
    OverloadFault,
    PayloadFault,
    SensorFault,
)
from twin.machine.randomisation.paths import with_values
from twin.model.engine import Engine
from twin.model.machine_model import MachineModel
from twin.simulation.live.machine_run import make_engine_for


class Phase(NamedTuple):
    """A machine between two changes of its faults."""

    begin: float
    """[s]"""
    platform: MachineModel
    """with its payload and its drives"""
    engine: Engine
    """of the same mechanism; shared by phases with the same payload"""
    wrench: FloatArray | None
    """`(6,)` on the platform from outside, base axes"""
    sensors: tuple[CountsFault | SensorFault, ...]
    """faults of sensors that act"""


def phases(
    platform: MachineModel, faults: Sequence[Fault], engine: str, fidelity: str, period: float
) -> tuple[Phase, ...]:
    """Return the phases of a machine in turn; the first one begins at zero.

    Args:
        platform: the machine without faults.
        faults: those of the link are left out.
        engine: name of the engine.
        fidelity: of the engine.
        period: [s] that the engine's step divides.

    Raises:
        InputError: a fault that this machine cannot have, or an engine that refuses it.
        MissingDependencyError: the engine's library is not installed.
    """
    first = make_engine_for(platform, engine, fidelity, period)
    mechanisms: dict[float, tuple[MachineModel, Engine]] = {0.0: (platform, first)}
    _check(platform, faults)
    times = {0.0, *(each.begin for each in faults), *(each.end for each in faults)}
    found = []
    for time in sorted(filter(isfinite, times)):
        active = [fault for fault in faults if fault.active(time)]
        mass = sum(fault.mass for fault in active if isinstance(fault, PayloadFault))
        if mass not in mechanisms:
            loaded = with_payload(platform, Payload(mass))
            mechanisms[mass] = loaded, make_engine(engine, loaded, first.timestep, fidelity)
        loaded, mechanism = mechanisms[mass]
        wrench = sum((_wrench(each) for each in active if isinstance(each, OverloadFault)), _NONE)
        sensors = tuple(each for each in active if isinstance(each, CountsFault | SensorFault))
        machine = _with_drives(loaded, active)
        found.append(Phase(time, machine, mechanism, wrench if wrench.any() else None, sensors))
    return tuple(found)


_NONE = np.zeros(6)


def _wrench(fault: OverloadFault) -> FloatArray:
    found = np.zeros(6)
    axis = "xyz".index(fault.axis)
    found[axis], found[3 + axis] = fault.force, fault.moment
    return found


def _with_drives(platform: MachineModel, faults: Sequence[Fault]) -> MachineModel:
    """Return a machine with the drives that its faults leave; later ones multiply earlier ones."""
    parameters = platform.parameters
    for fault in faults:
        if isinstance(fault, DriveFault):
            parameters = with_values(parameters, fault.values(parameters))
    if parameters is platform.parameters:
        return platform
    return type(platform)(parameters, limits=platform.limits)


def _check(platform: MachineModel, faults: Sequence[Fault]) -> None:
    """Check that a machine has the legs and sensors of its faults.

    Raises:
        InputError: names what it does not have.
    """
    legs = platform.parameters.legs
    for fault in faults:
        leg = getattr(fault, "leg", None)
        if leg is not None and leg > len(legs):
            raise InputError("fault.leg", f"must be from 1 to {len(legs)}, not {leg}")
        if isinstance(fault, CountsFault) and not all(each.encoder for each in legs):
            raise InputError(
                "fault.counts", f"{platform.name} has no encoders; choose another configuration"
            )
