"""Alarm thresholds of a machine, from a batch of healthy machines that differ from its file."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from twin.basics.arrays import FloatArray, one_of, positive, whole_number
from twin.basics.files import write_text
from twin.basics.progress import Progress
from twin.basics.toml import read_toml
from twin.control.controller import DEFAULT_PERIOD, Reference, sample_reference
from twin.control.gains import torque_loops
from twin.errors import ParameterError, brief
from twin.link.emulated import EmulatedMachine, Fault
from twin.link.protocol import Sample
from twin.machine.randomisation.randomisation import hardware_spread
from twin.model.machine_base import characteristic_length
from twin.model.machine_model import MachineModel, as_model
from twin.motion import MultiSineMotion
from twin.motion.motion import POSITION_AXES
from twin.motion.recording import free_axes
from twin.motion.specification import convention_of
from twin.plant.drives import actuator_limit
from twin.plant.signals import Mode, seed_sequence
from twin.shadow.detectors import Collection, Thresholds
from twin.shadow.shadow import DETECTION_INTERVAL, SETTLING_TIME, Shadow

LINE_FREQUENCIES = 0.1 + 0.05 * np.arange(39)
"""[Hz] Frequencies of the motion, 0.1 to 2: above what washout filters leave, up to what a cabin is
shaken with.
"""

CORNER_FREQUENCY = 0.3
"""[Hz] Engineering choice: frequency from which amplitudes fall, as those of vehicles do."""

FADE_TIME = 2.0
"""[s] Duration of the fade-in from rest."""

DEFAULT_NOISE = {"pose": 20e-6, "attitude": 50e-6, "forces": 5.0}
"""Engineering choice: noise of a laser tracker [m, rad], and of forces from motor currents [N, N
m].
"""

DEFAULT_CHANNELS = ("forces", "pose")
"""Channels measured in addition to the coordinates, as far as a machine has them."""

INFINITE_THRESHOLDS = Thresholds(*[np.inf] * len(Thresholds._fields))
"""Infinite thresholds, with which a shadow never raises an alarm."""


STROKE_FRACTION = 0.5
"""Engineering choice: largest fraction of half the stroke that any actuator uses."""

SPEED_FRACTION = 0.6
"""Engineering choice: largest fraction of the speed limit that any actuator uses."""


def working_motion(machine: MachineModel, duration: float, seed: int) -> Reference:
    """Return a motion of all axes at once, scaled to `STROKE_FRACTION` and `SPEED_FRACTION`.

    Args:
        machine: that performs the motion.
        duration: [s].
        seed: of the phases; another seed is another motion.

    Raises:
        InputError: a seed or a duration that cannot be used.
    """
    half_stroke = 0.5 * (machine.maximum_coordinates - machine.minimum_coordinates)
    speed = actuator_limit(machine, "speed", half_stroke)
    length = characteristic_length(machine.platform_joints)
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
    return reference


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
    mode: Mode = "velocity",
) -> Iterator[Sample]:
    """Yield the measurements of an emulated machine that follows a reference, one a period.

    Args:
        machine: as its control unit knows it.
        reference: at the control periods; a rehearsal ends with it.
        hidden: the real (perturbed) machine, default the same.
        faults: what goes wrong, and when.
        noise: of the readings, as of `EmulatedMachine`.
        seed: of everything random.
        mode: of the commands: "velocity", where the drives close the loops, or "force", where the
            control unit does.

    Raises:
        InputError: as `EmulatedMachine`, or another mode.
    """
    one_of(mode, "mode", ("velocity", "force"))
    emulated = EmulatedMachine(
        machine if hidden is None else hidden, design=machine, seed=seed, faults=faults, noise=noise
    )
    control_unit = None if mode == "velocity" else TorqueControl(machine, emulated.measurement)
    try:
        for step in range(len(reference.time) - 1):
            setpoint, rates = reference.coordinates[step], reference.rates[step]
            if control_unit is None:
                values = {"setpoint": setpoint, "command_rates": rates}
            else:
                forces = control_unit.forces(setpoint, rates, emulated.measurement.values)
                values = {"command_forces": forces}
            yield emulated.step(Sample("command", step * emulated.period, values, step + 1))
    finally:
        emulated.close()


class TorqueControl:
    """PI loops of position and speed of a control unit that commands forces."""

    def __init__(self, machine: MachineModel, first: Sample) -> None:
        """Begin with the forces that hold the machine at its first sample."""
        self._loops = torque_loops(machine, DEFAULT_PERIOD)
        self._speed_integral = np.zeros(machine.n_actuators)
        self._force_integral = first.values["forces"].copy()

    def forces(
        self, setpoint: FloatArray, rates: FloatArray, measured: Mapping[str, FloatArray]
    ) -> FloatArray:
        """Return forces `(n,)` [N, N m] for a setpoint and its rates `(n,)`, from the last sample."""
        loops = self._loops
        error = setpoint - measured["coordinates"]
        self._speed_integral += DEFAULT_PERIOD * loops.position_integral * error
        speed = rates + loops.position_gain * error + self._speed_integral
        speed_force = loops.velocity_gain * (speed - measured["rates"])
        self._force_integral += DEFAULT_PERIOD / loops.velocity_time * speed_force
        return np.asarray(speed_force + self._force_integral)


def derive_thresholds(
    machine: MachineModel,
    rate: float = 1000.0,
    *,
    channels: Names[str] = DEFAULT_CHANNELS,
    noise: Mapping[str, float] = DEFAULT_NOISE,
    machines: int = 4,
    learning: float = 10.0,
    duration: float = 10.0,
    seed: int = 0,
    progress: bool | None = None,
) -> Thresholds:
    """Return the thresholds of a machine's alarms.

    Machines that differ from the file within the spreads of their data sheets work without a
    fault, each with a shadow of the file's machine beside it. Their largest sizes are the noise
    and the model's uncertainty in one; see `Collection.thresholds`.

    Args:
        machine: as its file describes it, with drives.
        rate: samples per second [Hz] of the shadow; taken as the next whole part of 1000.
        channels: that are measured beside the coordinates.
        noise: of the readings, as of `EmulatedMachine`.
        machines: number of machines.
        learning: [s] of each before sizes count.
        duration: [s] of each in which they count.
        seed: of machines, motions and noise.
        progress: whether to show a progress bar; None when it takes a while.

    Raises:
        InputError: a machine without drives, or an argument that cannot be used.
    """
    model = as_model(machine)
    whole_number(machines, "machines", 1)
    learning_end = positive(learning, "learning") + SETTLING_TIME
    length = learning_end + positive(duration, "duration") + 1.0
    decimation = max(1, round(1.0 / (positive(rate, "rate") * DEFAULT_PERIOD)))
    rate = 1.0 / (decimation * DEFAULT_PERIOD)
    shadow = Shadow(model, rate, thresholds=INFINITE_THRESHOLDS, learning=learning)
    collection, steps = Collection(), 0
    with Progress(
        "thresholds", round(machines * length / DEFAULT_PERIOD), progress
    ) as progress_bar:
        for number in range(machines):
            shadow.reset()
            own_seed = seed + number
            perturbed = perturbed_machine(model, own_seed)
            motion = working_motion(model, length, own_seed)
            for sample in work(model, motion, hidden=perturbed, noise=noise, seed=own_seed):
                steps += 1
                progress_bar.tick(steps)
                if steps % decimation:
                    continue
                shadow.update(measured_by(sample, channels))
                if sample.time > SETTLING_TIME:
                    collection.add_jump(shadow.jump)
                if (
                    sample.time > learning_end + 1.0
                    and steps % (decimation * DETECTION_INTERVAL) == 0
                ):
                    collection.add(shadow.sizes)
    return collection.thresholds(model.n_actuators, rate)


def measured_by(sample: Sample, channels: Names[str]) -> Sample:
    """Return a sample reduced to coordinates, commands and the given `channels`."""
    kept_names = {"coordinates", "setpoint", "command_rates", "command_forces", *channels}
    kept_values = {name: value for name, value in sample.values.items() if name in kept_names}
    return sample._replace(values=kept_values)


def write_thresholds(thresholds: Thresholds, path: str | Path) -> Path:
    """Write thresholds to a TOML file and return its path.

    Raises:
        InputError: the file cannot be written.
    """
    rows = [f"{name} = {value!r}" for name, value in thresholds._asdict().items()]
    return write_text(path, "# Thresholds of twin shadow, in SI\n" + "\n".join(rows) + "\n")


def read_thresholds(path: str | Path) -> Thresholds:
    """Return the thresholds of a TOML file.

    Raises:
        ParameterError: unreadable, not TOML, or not the numbers of `Thresholds`, each above zero.
    """
    content = read_toml(path)
    known_fields, thresholds, problems = Thresholds._fields, {}, []
    for name in dict.fromkeys((*known_fields, *content)):
        value = content.get(name)
        if name not in known_fields:
            problems.append((name, f"unknown threshold; known: {', '.join(known_fields)}"))
        elif value is None:
            problems.append((name, "missing; add it, or derive thresholds anew"))
        elif type(value) not in (int, float) or not value > 0:
            problems.append((name, f"must be a number above zero, not {brief(value)}"))
        else:
            thresholds[name] = float(value) if value <= sys.float_info.max else math.inf
    if problems:
        raise ParameterError(path, problems)
    return Thresholds(**thresholds)
