"""Response of a controlled machine from its modes: one loop model per mode of the actuators.

Equal loops at all actuators see the mobility W = J M^-1 J^T (accelerations of the coordinates per
force, `(n, n)`, gravity's change left out). In its eigenvectors V, W = V diag(1 / m_k) V^T, they
fall apart into n loops around the masses m_k, each a `LoopModel` G_k. A reference along d is
followed by

    c = V diag(G_k) V^T d,

so that every actuator depends on the whole machine: its mass in pitch differs from that in heave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.excitation import AXES, MOVING, Path
from twin.analysis.frequency.response import FrequencyResponse, exact_response
from twin.basics import canonical
from twin.basics.arrays import FloatArray
from twin.control.controller import PERIOD
from twin.control.gains import suitable_position_loop, suitable_velocity_loop
from twin.model.machine_model import MachineModel, as_model
from twin.papers.stewart_thesis.loop_model import LoopModel
from twin.plant.drives import mobility

FREE = 1e-9
"""Share of the largest mobility below which actuators only push against each other."""


class ActuatorModes(NamedTuple):
    """Masses that equal loops at all actuators see, lightest first."""

    masses: FloatArray
    """`(n,)` [kg] or [kg m2], motors included; infinite where actuators push against each other"""
    shapes: FloatArray
    """`(n, n)` columns of unit length"""


def actuator_modes(platform: MachineModel) -> ActuatorModes:
    """Return what equal loops at all actuators move at home, motors rigidly coupled.

    Raises:
        InputError: not a machine.
    """
    rates, shapes = np.linalg.eigh(mobility(as_model(platform)))
    rates, shapes = rates[::-1], canonical.modes(rates, shapes)[:, ::-1]
    masses = np.full(len(rates), np.inf)
    free = rates > FREE * rates[0]
    masses[free] = 1.0 / rates[free]
    drives = [leg.drive for leg in platform.parameters.legs]
    motor = np.mean([0.0 if drive is None else drive.reflected().inertia for drive in drives])
    return ActuatorModes(masses + motor, shapes)


def path_mass(platform: MachineModel, path: Path) -> float:
    """Return the mass per actuator [kg] that a motion along a way has, motors included.

    d^T W^-1 d / d^T d: what equal loops see if the way is a mode, as it nearly is for machines with
    symmetry.

    Raises:
        InputError: not a machine.
    """
    modes = actuator_modes(platform)
    shares = (modes.shapes.T @ path.rates) ** 2
    seen = shares > FREE * shares.max()
    return float(shares[seen] @ modes.masses[seen] / shares[seen].sum())


def machine_loop(platform: MachineModel, mass: float, *, step: float = 1e-4) -> LoopModel:
    """Return the loop that the machine's own cascade closes around a mass [kg].

    Raises:
        InputError: not a machine.
    """
    gain, time = suitable_velocity_loop(as_model(platform), PERIOD)
    position, integral = suitable_position_loop(platform, PERIOD)
    drives = [leg.drive for leg in platform.parameters.legs if leg.drive is not None]
    return LoopModel(
        mass,
        float(gain.mean()),
        float(time.mean()),
        position,
        integral,
        current_lag=max((drive.current_lag for drive in drives), default=0.0),
        delay=max((drive.delay for drive in drives), default=0.0),
        friction=max((drive.reflected().viscous for drive in drives), default=0.0),
        period=PERIOD,
        step=step,
    )


def modelled_response(
    platform: MachineModel, path: Path, loop: LoopModel, frequency: FloatArray
) -> tuple[FrequencyResponse, dict[int, FrequencyResponse]]:
    """Return responses of the platform and of its moving actuators to a reference along a way.

    Args:
        platform: the machine.
        path: of the reference.
        loop: of every actuator; its mass is replaced by that of each mode.
        frequency: `(k,)` [Hz].

    Raises:
        InputError: not a machine.
    """
    modes = actuator_modes(platform)
    parts = modes.shapes.T @ path.rates
    moved = np.zeros((len(frequency), len(parts)), dtype=complex)
    for mass, shape, part in zip(modes.masses, modes.shapes.T, parts, strict=True):
        if np.isfinite(mass) and abs(part) > FREE * np.abs(parts).max():
            gain = loop.changed(mass=mass).response(frequency).gain
            moved += part * np.outer(gain, shape)
    back = np.linalg.pinv(platform.jacobian(platform.home))
    displaced = moved @ back.T
    along = (
        displaced[:, AXES.index(path.name)]
        if path.name in AXES
        else displaced @ path.twist / float(path.twist @ path.twist)
    )
    largest = np.abs(path.rates).max()
    return exact_response(frequency, along), {
        k + 1: exact_response(frequency, moved[:, k] / path.rates[k])
        for k in map(int, np.flatnonzero(np.abs(path.rates) > MOVING * largest))
    }
