"""Clocks of commands and encoders: their difference, found in the motion and removed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twin.errors import InputError
from twin.identification.prediction.recording import Recording
from twin.identification.prediction.windows import smoothed_motion
from twin.logs import Channel, TimeOffset, time_offset
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, drive_timestep

LARGEST = 0.1
"""[s] Differences that are looked for; periodic motions need twice as long a period."""

LEAST = 5e-3
"""[s] Adopted: smaller ones are taken for delays, and for errors of the file's numbers."""

WIDEST = 2.0
"""[s] Differences up to which commands that do not fit are looked for, to refuse them."""

SURE = 0.9
"""Adopted: correlation of commands and motion below which neither says anything."""


def synchronised(recording: Recording, machine: MachineModel) -> tuple[Recording, float]:
    """Return a recording with its commands on the clock of the encoders, and their move [s].

    The motors' speeds, or the efforts that the file's numbers give for their motion, follow the
    commands. What is left of that time without the delays and lags of the file is the difference
    of the clocks. Nothing moves where it is small, or where the motion does not tell.

    Raises:
        InputError: the commands fit the motion at another time, farther away than `LARGEST`.
    """
    drives = drive_constants(machine, drive_timestep(machine))
    motion, _ = smoothed_motion(recording, machine, drives)
    force = recording.mode == "force"
    followed, units = motion.effort if force else motion.speed, ("",) * machine.n_actuators
    moved = Channel("motion", recording.time, followed, units)
    commands = Channel("commands", recording.command_time, recording.commands, units)
    found = _offset(moved, commands, LARGEST)
    if found is None or found.correlation < SURE:
        shared = min(recording.time[-1], commands.time[-1]) - max(
            recording.time[0], commands.time[0]
        )
        far = _offset(moved, commands, min(WIDEST, 0.25 * shared)) if shared > 0.0 else None
        if far is not None and far.correlation > SURE:
            name = "command_forces" if force else "command_rates"
            side = "later" if far.seconds > 0.0 else "earlier"
            delay = f'delay = "{-1e3 * far.seconds:.4g} ms" in a mapping file corrects it'
            message = f"fit the measured motion if they are {abs(far.seconds):.4g} s {side}"
            raise InputError(name, f"{message}: their clock is another one; {delay}")
        return recording, 0.0
    own = [leg.drive for leg in machine.parameters.legs if leg.drive is not None]
    late = [each.delay + (each.current_lag if force else 0.0) for each in own]
    clock = found.seconds - float(np.mean(late or [0.0]))
    if abs(clock) < LEAST:
        return recording, 0.0
    return replace(recording, command_time=recording.command_time + clock), clock


def _offset(channel: Channel, reference: Channel, most: float) -> TimeOffset | None:
    """Return the offset between two channels, None where there is none up to `most` [s]."""
    try:
        return time_offset(channel, reference, most)
    except InputError:
        return None
