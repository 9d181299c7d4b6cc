"""A ring of the last minutes: what the machine sent and what the shadow made of it."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.link.protocol import Sample
from twin.logs import Channel, Log, signal_units
from twin.logs.channel import POSE_UNITS
from twin.model.machine_model import MachineModel
from twin.shadow.shadow import ShadowState

LARGEST = 1 << 28
"""Numbers that a ring may hold: 2 GiB."""


class Ring:
    """The last samples and states, in memory that is taken once.

    The machine's channels keep their names, so that the log can be replayed; those of the shadow
    are `estimated_coordinates`, `estimated_pose`, `estimated_forces`, `innovation`, `disturbance`
    and `residuals`.
    """

    def __init__(self, machine: MachineModel, first: Sample, seconds: float, period: float) -> None:
        """Make room for `seconds` of samples with the fields of the first one.

        Raises:
            InputError: too long for the memory.
        """
        n, unit, force = machine.n_actuators, machine.coordinate_unit, machine.force_unit
        known = signal_units(machine)
        self._read = {name: known[name] for name in first.values if name in known}
        self._units = self._read | {
            "estimated_coordinates": (unit,) * n,
            "estimated_pose": POSE_UNITS,
            "estimated_forces": (force,) * n,
            "innovation": (unit,) * n,
            "disturbance": (force,) * n,
            "residuals": ("1",) * n,
        }
        rows = max(1, round(seconds / period))
        if rows * sum(map(len, self._units.values())) > LARGEST:
            raise InputError("ring", f"{seconds:g} s are too long for the memory; take fewer")
        self._time: FloatArray = np.empty(rows)
        self._values: dict[str, FloatArray] = {
            name: np.zeros((rows, len(units))) for name, units in self._units.items()
        }
        self._name, self._count = machine.name, 0

    def add(self, sample: Sample, state: ShadowState) -> None:
        """Add a sample with the state that follows from it; missing fields keep their values."""
        row, values = self._count % len(self._time), self._values
        self._time[row] = sample.time
        for name in self._read:
            given = sample.values.get(name)
            values[name][row] = values[name][row - 1] if given is None else given
        values["estimated_coordinates"][row] = state.coordinates
        values["estimated_pose"][row] = state.pose
        values["estimated_forces"][row] = state.forces
        values["innovation"][row] = state.innovation
        values["disturbance"][row] = state.disturbance
        values["residuals"][row] = state.residuals
        self._count += 1

    def log(self) -> Log:
        """Return what the ring holds, oldest first."""
        size = len(self._time)
        rows = np.arange(max(0, self._count - size), self._count) % size
        channels = [
            Channel(name, self._time[rows], table[rows], self._units[name])
            for name, table in self._values.items()
        ]
        return Log(tuple(channels), {"machine": self._name, "engine": "shadow"})
