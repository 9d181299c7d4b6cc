"""Rollouts of many parameter sets from many starts at once, in the analytic reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_velocity_loop
from twin.kernels.batched.analytic import advance_rows
from twin.kernels.batched.arrays import Constants, Inputs, Machines
from twin.kernels.batched.drives import PARTS, DriveArrays
from twin.kernels.lanes.advance import advance_groups
from twin.kernels.machine_code import SameTypes
from twin.kernels.plant import columns as column
from twin.model.batch import lane_count, on_threads, shares, usable_cores
from twin.model.machine_model import MachineModel
from twin.plant.drives import drive_constants, motor_parts
from twin.plant.signals import MODES, Mode
from twin.simulation.batched.drive_arrays import (
    CONTROLLER_PERIOD,
    empty_inputs,
    empty_machines,
    make_drive_arrays,
)

QUEUE = 2
"""Commands that a queue holds: none waits, delays are in the commands already."""


class Starts(NamedTuple):
    """States at the beginning of rollouts, first axis rows."""

    position: FloatArray
    """`(N, n)` coordinates of the motors"""
    speed: FloatArray
    """`(N, n)` theirs"""
    effort: FloatArray
    """`(N, n)` of the motors, which the velocity loops hold"""
    pose: FloatArray
    """`(N, 7)`"""
    twist: FloatArray
    """`(N, 6)`"""
    coordinates: FloatArray
    """`(N, n)` of the legs"""
    rates: FloatArray
    """`(N, n)`"""


class Commands(NamedTuple):
    """Commands of parameter sets at all steps."""

    given: FloatArray
    """`(sets, steps, n)` forces or speeds"""
    feedforward: FloatArray | None
    """`(sets, steps, n)` forces beside speeds; None for none"""


class ParameterSets:
    """Constants of machines that differ in numbers alone, stacked.

    Encoders count nothing and converters have no steps here: predictions are smooth.
    """

    def __init__(self, machines: Sequence[MachineModel], timestep: float, mode: Mode) -> None:
        """Stack the constants of `machines` for steps of `timestep` [s] under commands of `mode`.

        Raises:
            InputError: drives that cannot take steps of this length.
        """
        self.timestep, self.mode = timestep, mode
        first = machines[0]
        self.kind: Any = type(first.constants.legs)
        self.bodies = np.array([each.constants.body for each in machines])
        self.legs = np.array([each.constants.legs.rows for each in machines])
        self.constants = np.array([drive_constants(each, timestep) for each in machines])
        self.drives = self.constants.copy()
        self.drives[:, :, [column.SPEED_DIGIT, column.EFFORT_DIGIT]] = 0.0
        if mode == "force":
            # Their lag is in the commands already.
            self.drives[:, :, [column.LAG, column.LAG_MEAN]] = 0.0
        self.parts = max(motor_parts(each, timestep) for each in self.constants)
        gain, time = suitable_velocity_loop(first, CONTROLLER_PERIOD)
        self.gains = np.stack([gain, gain / time], axis=1)

    def run(
        self, sets: Any, starts: Starts, commands: Commands, rows: Any, samples: int, ratio: int
    ) -> FloatArray:
        """Return coordinates `(N, samples, n)` of the motors, every `ratio` steps from the start.

        Rollouts that fail are NaN.

        Args:
            sets: `(N,)` parameter set of each row.
            starts: of the rows.
            commands: of all parameter sets.
            rows: `(N,)` first step of each row in the commands.
            samples: how many, the start included.
            ratio: steps of the engine between two samples.
        """
        count, n = starts.position.shape
        arrays = make_drive_arrays(count, n, QUEUE)
        arrays.constants[:], arrays.gains[:] = self.drives[sets], self.gains
        arrays.counters[:, PARTS] = self.parts
        machines, inputs = empty_machines(count, n, 0), empty_inputs(count, n, 1)
        machines.pose[:], machines.twist[:] = starts.pose, starts.twist
        machines.coordinates[:], machines.rates[:] = starts.coordinates, starts.rates
        states = arrays.states
        states[:, :, column.POSITION], states[:, :, column.SPEED] = starts.position, starts.speed
        states[:, :, column.EFFORT] = states[:, :, column.INTEGRAL] = starts.effort
        advance, calls = self._calls(sets, arrays, machines, inputs)
        out = np.empty((count, samples, n))
        for sample in range(samples):
            for step in range((sample - 1) * ratio, sample * ratio) if sample else ():
                inputs.command[:] = commands.given[sets, rows + step]
                if commands.feedforward is not None:
                    inputs.feedforward[:] = commands.feedforward[sets, rows + step]
                on_threads(advance, calls)
            out[:, sample] = states[:, :, column.POSITION]
        out[machines.failed] = np.nan
        return out

    def _calls(
        self, sets: Any, arrays: DriveArrays, machines: Machines, inputs: Inputs
    ) -> tuple[SameTypes, list[tuple[Any, ...]]]:
        """Return the kernel of a step, and its arguments for each core."""
        count, legs = len(machines.pose), self.legs[sets]
        chunks = max(1, min(usable_cores(), count // lane_count()))
        width = (0,) * lane_count() if count // chunks >= lane_count() > 1 else ()
        last = (MODES.index(self.mode), self.timestep, *([width] if width else []))
        calls = []
        for part in (slice(*edge) for edge in shares(count, chunks)):
            constants = Constants(self.bodies[sets[part]], self.kind(legs[part]))
            drives = {k: v[part] for k, v in arrays._asdict().items() if k != "none"}
            groups = (type(group)(*(each[part] for each in group)) for group in (machines, inputs))
            calls.append((constants, arrays._replace(**drives), *groups, *last))
        return SameTypes(advance_groups if width else advance_rows), calls
