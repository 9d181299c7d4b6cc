"""Thresholds of a machine, from a batch of machines that differ from its file without a fault."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection as Names
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from twin.basics.arrays import positive, whole_number
from twin.basics.files import write_text
from twin.basics.progress import Progress
from twin.basics.toml import read_toml
from twin.control.controller import PERIOD
from twin.errors import ParameterError, brief
from twin.link.protocol import Sample
from twin.model.machine_model import MachineModel, as_model
from twin.shadow.shadow import SETTLING, Shadow
from twin.shadow.thresholds import Collection, Thresholds
from twin.shadow.watch import BLOCK
from twin.shadow.working import NOISE, hidden_machine, work, working_motion

CHANNELS = ("forces", "pose")
"""Measured beside the coordinates, as far as a machine has them."""

NEVER = Thresholds(*[np.inf] * len(Thresholds._fields))
"""Of a shadow that raises no alarm."""


def derive_thresholds(
    machine: MachineModel,
    rate: float = 1000.0,
    *,
    channels: Names[str] = CHANNELS,
    noise: Mapping[str, float] = NOISE,
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
    first = positive(learning, "learning") + SETTLING
    length = first + positive(duration, "duration") + 1.0
    every = max(1, round(1.0 / (positive(rate, "rate") * PERIOD)))
    rate = 1.0 / (every * PERIOD)
    shadow = Shadow(model, rate, thresholds=NEVER, learning=learning)
    collection, steps = Collection(), 0
    with Progress("thresholds", round(machines * length / PERIOD), progress) as bar:
        for number in range(machines):
            shadow.reset()
            own = seed + number
            hidden = hidden_machine(model, own)
            motion = working_motion(model, length, own)
            for sample in work(model, motion, hidden=hidden, noise=noise, seed=own):
                steps += 1
                bar.tick(steps)
                if steps % every:
                    continue
                shadow.update(measured_by(sample, channels))
                if sample.time > SETTLING:
                    collection.add_jump(shadow.jump)
                if sample.time > first + 1.0 and steps % (every * BLOCK) == 0:
                    collection.add(shadow.sizes)
    return collection.thresholds(model.n_actuators, rate)


def measured_by(sample: Sample, channels: Names[str]) -> Sample:
    """Return a sample of a machine that measures its coordinates and some `channels` alone."""
    left = {"coordinates", "setpoint", "command_rates", "command_forces", *channels}
    kept = {name: value for name, value in sample.values.items() if name in left}
    return sample._replace(values=kept)


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
    known, found, problems = Thresholds._fields, {}, []
    for name in dict.fromkeys((*known, *content)):
        value = content.get(name)
        if name not in known:
            problems.append((name, f"unknown threshold; known: {', '.join(known)}"))
        elif value is None:
            problems.append((name, "missing; add it, or derive thresholds anew"))
        elif type(value) not in (int, float) or not value > 0:
            problems.append((name, f"must be a number above zero, not {brief(value)}"))
        else:
            found[name] = float(value) if value <= sys.float_info.max else math.inf
    if problems:
        raise ParameterError(path, problems)
    return Thresholds(**found)
