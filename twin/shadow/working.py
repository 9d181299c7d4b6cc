"""Emulated machines at work: other ones than the file says, along the motion of a simulator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from twin.control.controller import PERIOD
from twin.control.reference import Reference, sample_reference
from twin.link.emulated import EmulatedMachine, Fault
from twin.link.protocol import Sample
from twin.machine.randomisation.spreads import hardware_spread
from twin.model.constraints import characteristic_length
from twin.model.machine_model import MachineModel
from twin.motion import MultiSineMotion
from twin.motion.axes import POSITIONS
from twin.motion.fitting import free_axes
from twin.motion.specification import convention_of
from twin.plant.drives import actuator_limit
from twin.plant.signals import seed_sequence

FREQUENCIES = 0.1 + 0.05 * np.arange(39)
"""[Hz] 0.1 to 2: above what washout filters leave, up to what a cabin is shaken with."""

CORNER = 0.3
"""[Hz] Adopted: from which amplitudes fall with frequency, as those of vehicles do."""

STROKE, SPEED = 0.5, 0.6
"""Adopted: largest part of half the stroke, and of the speed limit, that any actuator uses."""

FADE = 2.0
"""[s] from rest."""

NOISE = {"pose": 20e-6, "attitude": 50e-6, "forces": 5.0}
"""Adopted: a laser tracker [m, rad], and forces from motor currents [N, N m]."""


def working_motion(machine: MachineModel, duration: float, seed: int) -> Reference:
    """Return a motion of all axes of a machine at once, as large as `STROKE` and `SPEED` allow.

    Args:
        machine: that shall do it.
        duration: [s].
        seed: of the phases; another seed is another motion.

    Raises:
        InputError: a seed or a duration that cannot be used.
    """
    half = 0.5 * (machine.maximum_coordinates - machine.minimum_coordinates)
    speed = actuator_limit(machine, "speed", half)
    length = characteristic_length(machine.platform_joints)
    size = 1e-3 * float(half.min()) if machine.coordinate_unit == "m" else 1e-3 * length
    axes = free_axes(machine)
    for _ in range(3):  # the last one is true to some per cent
        lines = size / (CORNER + FREQUENCIES)
        amplitude: dict[str, object] = {
            axis: lines if axis in POSITIONS else lines / length for axis in axes
        }
        motion = MultiSineMotion(
            machine.home,
            frequencies=FREQUENCIES,
            amplitude=amplitude,
            duration=duration,
            convention=convention_of(machine),
            phases="random",
            seed=seed,
            fade_in=min(FADE, 0.5 * duration),
        )
        found = sample_reference(machine, motion, PERIOD)
        moved = np.abs(found.coordinates - found.coordinates[0]).max(axis=0) / (STROKE * half)
        fast = np.abs(found.rates).max(axis=0) / (SPEED * speed)
        size /= float(max(moved.max(), fast.max()))
    return found


def hidden_machine(machine: MachineModel, seed: int) -> MachineModel:
    """Return a machine that differs from its file within the spreads of its data sheets.

    Raises:
        InputError: a machine without drives, or a seed that cannot be used.
    """
    random = np.random.default_rng(seed_sequence(seed, "hidden"))
    drawn = hardware_spread(machine.parameters).sample(random, machine.parameters)
    return type(machine)(drawn.parameters)


def work(
    machine: MachineModel,
    reference: Reference,
    *,
    hidden: MachineModel | None = None,
    faults: Iterable[Fault] = (),
    noise: Mapping[str, float] = NOISE,
    seed: int = 0,
) -> Iterator[Sample]:
    """Yield the measurements of an emulated machine that follows a reference, one a period.

    Args:
        machine: as its control unit knows it.
        reference: at the control periods; a rehearsal ends with it.
        hidden: the machine as it really is, default the same.
        faults: what goes wrong, and when.
        noise: of the readings, as of `EmulatedMachine`.
        seed: of everything random.

    Raises:
        InputError: as `EmulatedMachine`.
    """
    emulated = EmulatedMachine(
        machine if hidden is None else hidden, design=machine, seed=seed, faults=faults, noise=noise
    )
    try:
        for step in range(len(reference.time) - 1):
            values = {
                "setpoint": reference.coordinates[step],
                "command_rates": reference.rates[step],
            }
            yield emulated.step(Sample("command", step * emulated.period, values, step + 1))
    finally:
        emulated.close()
