"""Rehearsals of a shadow: an emulated machine at work that differs from its file."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from twin.control.controller import DEFAULT_PERIOD, Reference, sample_reference
from twin.link.emulated import EmulatedMachine, Fault
from twin.link.protocol import Sample
from twin.machine.randomisation.randomisation import hardware_spread
from twin.model.machine_model import MachineModel
from twin.motion import MultiSineMotion
from twin.motion.motion import POSITION_AXES
from twin.motion.recording import free_axes
from twin.motion.specification import convention_of
from twin.plant.drives import actuator_limit
from twin.plant.signals import seed_sequence

LINE_FREQUENCIES = 0.1 + 0.05 * np.arange(39)
"""[Hz] Frequencies of the motion, from the lowest that washout filters leave to those at which a
cabin is shaken.
"""

CORNER_FREQUENCY = 0.3
"""[Hz] Engineering choice: frequency from which amplitudes fall, as those of vehicles do."""

FADE_TIME = 2.0
"""[s] Duration of the fade-in from rest."""

DEFAULT_NOISE = {"pose": 20e-6, "attitude": 50e-6, "forces": 5.0}
"""Engineering choice: noise of a laser tracker [m, rad], and of forces from motor currents [N, N
m].
"""

STROKE_FRACTION = 0.5
"""Engineering choice: largest fraction of half the stroke that any actuator uses."""

SPEED_FRACTION = 0.6
"""Engineering choice: largest fraction of the speed limit that any actuator uses."""


def working_motion(machine: MachineModel, duration: float, seed: int) -> Reference:
    """Return the motion of `working_sines` at the control periods.

    Raises:
        InputError: a seed or a duration that cannot be used.
    """
    return sample_reference(machine, working_sines(machine, duration, seed), DEFAULT_PERIOD)


def working_sines(machine: MachineModel, duration: float, seed: int) -> MultiSineMotion:
    """Return a motion of all axes at once, scaled to `STROKE_FRACTION` and `SPEED_FRACTION`.

    Args:
        machine: machine that performs the motion.
        duration: [s].
        seed: seed of the phases; another seed gives another motion.

    Raises:
        InputError: a seed or a duration that cannot be used.
    """
    half_stroke = 0.5 * machine.stroke
    speed = actuator_limit(machine, "speed", half_stroke)
    length = machine.joint_radius
    size = 1e-3 * float(half_stroke.min()) if machine.coordinate_unit == "m" else 1e-3 * length
    axes = free_axes(machine)
    for _ in range(3):  # the last one is true to some per cent
        line_amplitudes = size / (CORNER_FREQUENCY + LINE_FREQUENCIES)
        amplitude: dict[str, object] = {
            axis: line_amplitudes if axis in POSITION_AXES else line_amplitudes / length
            for axis in axes
        }
        motion = MultiSineMotion(
            machine.home,
            frequencies=LINE_FREQUENCIES,
            amplitude=amplitude,
            duration=duration,
            convention=convention_of(machine),
            phases="random",
            seed=seed,
            fade_in=min(FADE_TIME, 0.5 * duration),
        )
        reference = sample_reference(machine, motion, DEFAULT_PERIOD)
        stroke_fractions = np.abs(reference.coordinates - reference.coordinates[0]).max(axis=0) / (
            STROKE_FRACTION * half_stroke
        )
        speed_fractions = np.abs(reference.rates).max(axis=0) / (SPEED_FRACTION * speed)
        size /= float(max(stroke_fractions.max(), speed_fractions.max()))
    return motion


def perturbed_machine(machine: MachineModel, seed: int) -> MachineModel:
    """Return a machine that differs from its file within the tolerances of its data sheets.

    Raises:
        InputError: a machine without drives, or a seed that cannot be used.
    """
    random = np.random.default_rng(seed_sequence(seed, "hidden"))
    sampled = hardware_spread(machine.parameters).sample(random, machine.parameters)
    return type(machine)(sampled.parameters)


def work(
    machine: MachineModel,
    reference: Reference,
    *,
    hidden: MachineModel | None = None,
    faults: Iterable[Fault] = (),
    noise: Mapping[str, float] = DEFAULT_NOISE,
    seed: int = 0,
) -> Iterator[Sample]:
    """Yield the measurements of an emulated machine that follows a reference, one a period.

    Args:
        machine: the machine as its control unit knows it.
        reference: reference at the control periods; the rehearsal ends with it.
        hidden: the real (perturbed) machine; None: the same machine.
        faults: faults with their times.
        noise: noise of the readings, as in `EmulatedMachine`.
        seed: seed of everything random.

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


def measured_by(sample: Sample, channels: Names[str]) -> Sample:
    """Return a sample reduced to coordinates, commands and the given `channels`."""
    kept_names = {"coordinates", "setpoint", "command_rates", "command_forces", *channels}
    kept_values = {name: value for name, value in sample.values.items() if name in kept_names}
    return sample._replace(values=kept_values)
