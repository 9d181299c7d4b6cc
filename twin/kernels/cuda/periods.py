"""Control periods of a batched plant on a graphics card: drives, Runge-Kutta steps, sensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.batched.analytic import actuated, store
from twin.kernels.batched.arrays import Machines
from twin.kernels.batched.drives import DriveArrays, drive_one, issue, read_one
from twin.kernels.cuda.batches import translation
from twin.kernels.cuda.memory import anew, view
from twin.kernels.cuda.sizes import Sizes
from twin.kernels.cuda.steps import memory_size, step_function
from twin.kernels.cuda.translation import Function, on_card
from twin.kernels.dynamics.work import Work
from twin.kernels.legs.interface import Legs


class Period(NamedTuple):
    """A control period, in steps of the engine."""

    ratio: int
    """steps of the engine"""
    mode: int
    """of the commands, `VELOCITY` or 0"""
    step: float
    """of the engine [s]"""


class Row(NamedTuple):
    """A machine among others in the memories of `Rows`."""

    floats: FloatArray
    numbers: Any
    number: int
    rows: int
    """of the memories"""


class Thread(NamedTuple):
    """Memory of a thread."""

    memory: FloatArray
    """`(memory_size,)`"""
    before: FloatArray
    """`(6,)` twist a step ago"""
    work: Work


def _viewed(views: Function) -> Function:
    """Return the function that views a row, with addresses of its own."""

    def of(row: Row) -> Any:
        return views(row.floats, row.numbers, anew(row.number), row.rows)

    return on_card(of)


def period_function(sizes: Sizes, period: Period, see: Function, drives: Function) -> Function:
    """Return the function that advances one machine by a control period.

    It does what `advance_rows` does for a row, without shaking of the base or wrenches.

    Args:
        sizes: of the machine.
        period: in steps of the engine.
        see: views the `Machines` of a row.
        drives: views the `DriveArrays` of a row, without the last, the zeros.
    """
    own, (ratio, mode, step) = translation(sizes.kind), period
    n, size, inside = sizes.legs, sizes.state, sizes.deflection
    entries, loaded = memory_size(sizes), 6 * sizes.state
    advance, start, drive = step_function(sizes), own(issue), own(drive_one)
    measure, keep, read = own(actuated), own(store), own(read_one)
    machines_of, drives_of = _viewed(see), _viewed(drives)

    def gather(machines: Machines, memory: FloatArray) -> None:
        for j in range(entries):
            memory[j] = 0.0
        for j in range(7):
            memory[j] = machines.pose[0, j]
        for j in range(6):
            memory[7 + j] = machines.twist[0, j]
        for j in range(inside):
            memory[13 + j] = machines.deflection[0, j]

    gathered = on_card(gather)

    def move(body: Any, legs: Legs, row: Row, command: Any, thread: Thread) -> None:
        memory, before, work = thread
        y, none = view(memory, 0, (size,)), view(memory, loaded + n, (n,))
        gathered(Machines(*machines_of(row)), memory)
        queued = drives_of(row)
        fine, part = start(queued[6][0], queued[7][0], command[0], none), 0
        while fine and part < ratio:
            arrays = DriveArrays(*(drives_of(row) + (none,)))  # noqa: RUF005 (numba)
            machines = Machines(*machines_of(row))
            coordinates, rates, forces = (
                machines.coordinates[0],
                machines.rates[0],
                machines.forces[0],
            )
            drive(arrays, 0, ratio, mode, step, coordinates, rates, forces)
            for j in range(n):
                memory[loaded + j] = forces[j]
            for j in range(6):
                before[j] = memory[7 + j]
            fine = advance(body, legs, memory, step, work)
            if fine:
                reached = Machines(*machines_of(row))
                measure(legs, y, reached.coordinates[0], reached.rates[0])
            part += 1
        last = Machines(*machines_of(row))
        if not fine:
            last.failed[0] = True
        keep(last, 0, y, before, step)
        read(DriveArrays(*(drives_of(row) + (none,))), last, 0, ratio * step)  # noqa: RUF005

    return on_card(move)
