"""Batches on a graphics card: memory, rows, steps and control periods.

Rows of many machines lie in flat memory, entry e of row i at e * rows + i, so that neighbouring
threads read neighbouring entries. A thread sees its own row as the groups of arrays that kernels
take, with one row each.

Views of flat memory have shapes that are known when a kernel is compiled. Loops over a known shape
are unrolled, and entries of small arrays become registers.

Runge-Kutta steps are those of `runge_kutta_move`, stage by stage in a loop. The equations of motion
are then in the kernel once, with the registers for themselves; state and stages lie in the thread's
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from math import isfinite, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import float64

from twin.basics.arrays import FloatArray
from twin.kernels.batched.analytic import (
    DriveArrays,
    Machines,
    actuated,
    drive_one,
    issue,
    read_one,
    store,
)
from twin.kernels.cuda.translation import (
    CUDA_SIMULATED,
    Function,
    Translation,
    cuda,
    numba_types,
    on_card,
    written,
)
from twin.kernels.dynamics.assembly import BODY_SIZE, Work, assemble, energy
from twin.kernels.dynamics.forward import (
    Load,
    derivative,
    forward_dynamics,
    inverse_dynamics,
    normalise,
)
from twin.kernels.integrators import combine, shift
from twin.kernels.kinematics import (
    PoseMemory,
    forward_kinematics,
    inverse_kinematics,
    jacobian,
    jacobian_derivative,
)
from twin.kernels.legs.dispatch import attribute
from twin.kernels.legs.interface import Legs, platform_state

BODY_SHAPE = (BODY_SIZE,)
"""Shape of the constants of the platform's body."""

UNIT_NORM_TOLERANCE = 1e-6
"""Largest difference of a quaternion's norm from 1; a state beyond it counts as failed."""


class Sizes(NamedTuple):
    """Kind and number of a machine's legs, which fix all array sizes."""

    kind: type
    """type of the constants of the legs"""
    legs: int
    leg_size: int
    """entries of a leg's constants"""

    @property
    def constraints(self) -> int:
        """Number of constraints that the legs put on the platform."""
        return int(attribute(self.kind, "CONSTRAINT_COUNT", 0))

    @property
    def deflection(self) -> int:
        """Entries 2k of deflections and their rates."""
        return 2 * self.legs * int(attribute(self.kind, "DEFLECTION_COUNT", 0))

    @property
    def state(self) -> int:
        """Entries of a state: pose, twist, deflection."""
        return 13 + self.deflection


def _shaped(context: Any, memory: Any, shape: Any, layout: str) -> Any:
    """Return the type of a view and the function that writes its code, without checks of bounds.

    Arguments of the view: memory, first entry, shape, and with layout "A" a stride.
    """
    cgutils, arrayobj = import_module("numba.cuda.cgutils"), import_module("numba.cuda.np.arrayobj")

    kind = numba_types.Array(memory.dtype, len(shape), layout)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array, start, shape_tuple, *stride = args
        source = arrayobj.make_array(memory)(context, builder, array)
        size = context.get_constant(
            numba_types.intp, context.get_abi_sizeof(source.data.type.pointee)
        )
        lengths = cgutils.unpack_tuple(builder, shape_tuple, kind.ndim)
        strides: list[Any] = []
        step = builder.mul(size, stride[0]) if layout == "A" else size
        for length in reversed(lengths):
            strides.insert(0, step)
            step = builder.mul(step, length)
        view = arrayobj.make_array(kind)(context, builder)
        arrayobj.populate_array(
            view,
            data=builder.gep(source.data, [start]),
            shape=lengths,
            strides=strides,
            itemsize=size,
            meminfo=None,
        )
        return view._getvalue()

    return kind, write


@written
def _view(context: Any, memory: Any, start: Any, shape: Any) -> Any:
    """Return the array of a shape in flat memory from entry `start` on."""
    array_type, write = _shaped(context, memory, shape, "C")
    return array_type(memory, numba_types.intp, shape), write


@written
def _strided_view(context: Any, memory: Any, start: Any, shape: Any, stride: Any) -> Any:
    """Return the array of a shape in flat memory, of entries `stride` apart."""
    array_type, write = _shaped(context, memory, shape, "A")
    return array_type(memory, numba_types.intp, shape, numba_types.intp), write


@written
def _memory_barrier(context: Any) -> Any:
    """Force the compiler to reload values from memory."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        void_function = ir.FunctionType(ir.VoidType(), [])
        builder.call(ir.InlineAsm(void_function, "", "~{memory}", side_effect=True), [])
        return context.get_dummy_value()

    return numba_types.none(), write


@written
def _opaque_copy(context: Any, number: Any) -> Any:
    """Return the same whole number, in a way that hides the equality from the compiler."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        int64 = ir.IntType(64)
        copy = ir.InlineAsm(ir.FunctionType(int64, [int64]), "mov.u64 $0, $1;", "=l,l", True)
        return builder.call(copy, [args[0]])

    return numba_types.intp(numba_types.intp), write


def _numpy_view(memory: Any, start: int, shape: tuple[int, ...], stride: int = 1) -> Any:
    backing_array = getattr(memory, "_item", memory)
    array, size = getattr(backing_array, "_ary", backing_array), int(np.prod(shape))
    assert 0 <= start <= start + (size - 1) * stride < array.size or not size, "beyond the memory"
    return array[start:][::stride][:size].reshape(shape)


def _identity(number: int) -> int:
    return number


def _nothing() -> None:
    return None


view: Any = _numpy_view if CUDA_SIMULATED else _view
"""`view(memory, start, shape)`"""

strided_view: Any = _numpy_view if CUDA_SIMULATED else _strided_view
"""Function `strided_view(memory, start, shape, stride)`."""

memory_barrier: Any = _nothing if CUDA_SIMULATED else _memory_barrier
"""Function `memory_barrier()`: without it, values that a loop does not change would occupy
registers, of which there are few."""

opaque_copy: Any = _identity if CUDA_SIMULATED else _opaque_copy
"""Function `opaque_copy(number)`: addresses that follow from the copy are computed again rather
than kept in registers over the steps between."""


class Part(NamedTuple):
    """An array of a group within a row."""

    is_integer: bool
    """whether it holds integers, which are stored in a separate memory"""
    start: int
    """first entry in its memory"""
    shape: tuple[int, ...]
    """shape, with one row"""


class Rows:
    """Layout of groups of arrays in the rows of two memories, one for floats, one for integers."""

    def __init__(self) -> None:
        """Start with an empty layout."""
        self.sizes = [0, 0]
        self._arrays: tuple[list[Any], list[Any]] = [], []

    def add(self, arrays: Sequence[Any]) -> Function:
        """Assign entries to arrays `(rows, ...)`; return the function of a card that views them.

        It takes both memories, the row and the number of rows, and returns a tuple of arrays.
        """
        parts = []
        for array in arrays:
            is_integer = array.dtype.kind in "bi"
            parts.append(Part(is_integer, self.sizes[is_integer], (1, *array.shape[1:])))
            self.sizes[is_integer] += prod(array.shape[1:])
            self._arrays[is_integer].append(array)
        return _viewer(tuple(parts))

    def pack(self) -> tuple[Any, Any]:
        """Return the memories of the arrays' present values, flat: floats, whole numbers."""
        return _pack(self._arrays[0], np.float64), _pack(self._arrays[1], np.int64)


def _pack(arrays: list[Any], kind: type) -> Any:
    row_blocks: list[Any] = [
        np.asarray(array, dtype=kind).reshape(len(array), -1) for array in arrays
    ]
    return np.ascontiguousarray(np.concatenate(row_blocks, axis=1).T).reshape(-1)


def _viewer(parts: tuple[Part, ...]) -> Function:
    """Return the function of a card that views the parts of a row; see `Rows.add`."""
    is_integer, start, shape = parts[0]
    view_rest = _viewer(parts[1:]) if len(parts) > 1 else _no_views

    def floats(memory: Any, numbers: Any, i: int, rows: int) -> Any:
        array = strided_view(memory, start * rows + i, shape, rows)
        return (array,) + view_rest(memory, numbers, i, rows)  # noqa: RUF005 (numba)

    def integers(memory: Any, numbers: Any, i: int, rows: int) -> Any:
        array = strided_view(numbers, start * rows + i, shape, rows)
        return (array,) + view_rest(memory, numbers, i, rows)  # noqa: RUF005 (numba)

    return on_card(integers if is_integer else floats)


@on_card
def _no_views(memory: Any, numbers: Any, i: int, rows: int) -> Any:
    """Return the empty tuple of views."""
    return ()


class StateInputs(NamedTuple):
    """A state, and the forces or accelerations that act on it."""

    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    """actuator forces, or an acceleration (inverse dynamics)"""
    wrench: FloatArray


def _inverse_kinematics(
    body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work
) -> bool:
    return inverse_kinematics(legs, state_inputs.pose, out)


def _jacobian(body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work) -> bool:
    jacobian(legs, state_inputs.pose, view(out, 0, (legs.rows.shape[0], 6)))
    return True


def _jacobian_derivative(
    body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work
) -> bool:
    state = platform_state(state_inputs.pose, state_inputs.twist)
    jacobian_derivative(legs, state, view(out, 0, (legs.rows.shape[0], 6)))
    return True


def _forward_dynamics(
    body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work
) -> bool:
    state = platform_state(state_inputs.pose, state_inputs.twist)
    return forward_dynamics(
        body,
        legs,
        state,
        state_inputs.deflection,
        state_inputs.inputs,
        state_inputs.wrench,
        out,
        work,
    )


def _inverse_dynamics(
    body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work
) -> bool:
    state = platform_state(state_inputs.pose, state_inputs.twist)
    return inverse_dynamics(
        body,
        legs,
        state,
        state_inputs.deflection,
        state_inputs.inputs,
        state_inputs.wrench,
        out,
        work,
    )


def _mass_matrix(body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work) -> bool:
    """Fill the mass matrix of one state; return whether it is regular."""
    state = platform_state(state_inputs.pose, state_inputs.twist)
    singular = assemble(body, legs, state, state_inputs.deflection, work)
    for i in range(6):
        for j in range(i + 1):
            out[6 * i + j] = work.mass_matrix[i, j]
            out[6 * j + i] = work.mass_matrix[i, j]
    return singular < 0


def _energy(body: Any, legs: Legs, state_inputs: StateInputs, out: Any, work: Work) -> bool:
    state = platform_state(state_inputs.pose, state_inputs.twist)
    out[0], out[1], out[2] = energy(body, legs, state, state_inputs.deflection)
    return True


class BatchFunction(NamedTuple):
    """Description of a batch function for n legs and 2k deflection entries."""

    function: Callable[..., bool]
    """computes the result of one state"""
    inputs: Callable[[Sizes], int]
    """entries of the inputs of a state"""
    result: Callable[[Sizes], tuple[int, ...]]
    """shape of the result of a state"""
    columns: bool = False
    """whether results are stored entry by entry (each for all states) rather than state by state"""


BATCH_FUNCTIONS: dict[str, BatchFunction] = {
    "inverse_kinematics": BatchFunction(_inverse_kinematics, lambda _: 0, lambda s: (s.legs,)),
    "jacobian": BatchFunction(_jacobian, lambda _: 0, lambda s: (s.legs, 6)),
    "jacobian_derivative": BatchFunction(_jacobian_derivative, lambda _: 0, lambda s: (s.legs, 6)),
    "mass_matrix": BatchFunction(_mass_matrix, lambda _: 0, lambda _: (6, 6)),
    "energy": BatchFunction(_energy, lambda _: 0, lambda _: (3,), columns=True),
    "forward_dynamics": BatchFunction(
        _forward_dynamics, lambda s: s.legs, lambda s: (6 + s.deflection // 2,)
    ),
    "inverse_dynamics": BatchFunction(_inverse_dynamics, lambda _: 6, lambda s: (s.legs,)),
}
"""Batch functions by the name that they have in `MachineModel`."""


@cache
def translation(kind: type) -> Translation:
    """Return the translation for a kind of legs; kernels of the same kind share it."""
    return Translation(kind)


def _read_row(rows: FloatArray, k: int, size: int, out: FloatArray) -> None:
    """Copy entry k of flat rows of `size`, or the only row there is, into `out`."""
    first_entry = size * k if rows.shape[0] > size else 0
    for j in range(size):
        out[j] = rows[first_entry + j]


def _write_row(values: FloatArray, k: int, size: int, out: FloatArray) -> None:
    """Copy `values` (size,) into row k of the flat rows `out`."""
    for j in range(size):
        out[size * k + j] = values[j]


def _normalised(pose: FloatArray) -> bool:
    """Normalise the quaternion of `pose`; return False where its norm is too far from one."""
    norm = sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6])
    for j in range(3, 7):
        pose[j] /= norm
    return abs(norm - 1.0) <= UNIT_NORM_TOLERANCE


read_row, write_row, normalised = on_card(_read_row), on_card(_write_row), on_card(_normalised)


@cache
def batch_kernel(sizes: Sizes, name: str) -> Any:
    """Return the kernel of one of `BATCH_FUNCTIONS` for machines of some sizes.

    Its arguments are flat arrays: constants of the body and the legs; poses, twists, deflections,
    inputs and wrenches, each a row per state or one for all; the results; and `first_failed` (1,),
    which becomes the least index of a state without a result.
    """
    kind, n, rows_shape = sizes.kind, sizes.legs, (sizes.legs, sizes.leg_size)
    batch_function, n_constraints = BATCH_FUNCTIONS[name], sizes.constraints
    columns, solve = batch_function.columns, translation(kind)(batch_function.function)
    deflection_size, input_size = sizes.deflection, batch_function.inputs(sizes)
    size = 6 + n_constraints
    result_size = 1
    for length in batch_function.result(sizes):
        result_size *= length
    deflections, inputs, constraints = (
        max(deflection_size, 1),
        max(input_size, 1),
        max(n_constraints, 1),
    )

    def kernel(
        body: Any, rows: Any, poses: Any, twists: Any, deflection: Any, input_rows: Any,
        wrenches: Any, results: Any, first_failed: Any,
    ) -> None:  # fmt: skip
        k = cuda.grid(1)
        if k < results.shape[0] // result_size:
            state_inputs = StateInputs(
                cuda.local.array(7, float64),
                cuda.local.array(6, float64),
                cuda.local.array(deflections, float64),
                cuda.local.array(inputs, float64),
                cuda.local.array(6, float64),
            )
            work = Work(
                cuda.local.array((6, 6), float64),
                cuda.local.array(6, float64),
                cuda.local.array((n, 6), float64),
                cuda.local.array(n, float64),
                cuda.local.array((constraints, 8), float64),
                cuda.local.array((size, size), float64),
                cuda.local.array(size, float64),
            )
            out = cuda.local.array(result_size, float64)
            read_row(poses, k, 7, state_inputs.pose)
            read_row(twists, k, 6, state_inputs.twist)
            read_row(deflection, k, deflection_size, state_inputs.deflection)
            read_row(input_rows, k, input_size, state_inputs.inputs)
            read_row(wrenches, k, 6, state_inputs.wrench)
            is_valid = normalised(state_inputs.pose)
            is_valid &= solve(
                view(body, 0, BODY_SHAPE), kind(view(rows, 0, rows_shape)), state_inputs, out, work
            )
            # One result that is not finite makes the sum of all not finite.
            checksum, states = 0.0, results.shape[0] // result_size
            for j in range(result_size):
                results[j * states + k if columns else result_size * k + j] = out[j]
                checksum += out[j]
            if not (is_valid and isfinite(checksum)):
                cuda.atomic.min(first_failed, 0, k)

    kernel.__name__ = f"{name}_{kind.__name__}"
    return cuda.jit(kernel)


@cache
def search_kernel(sizes: Sizes) -> Any:
    """Return the kernel of forward kinematics from guesses for machines of some sizes.

    Its arguments are flat arrays: constants of the body, which it does not need, and the legs;
    guesses and coordinates of the actuators, each a row per state or one for all; the poses found;
    and `first_failed` (1,), which becomes the least index of coordinates without a pose on the
    branch of their guess.
    """
    kind, n, rows_shape = sizes.kind, sizes.legs, (sizes.legs, sizes.leg_size)
    equations, constraints = n + sizes.constraints, max(sizes.constraints, 1)
    search = translation(kind)(forward_kinematics)

    def kernel(
        body: Any, rows: Any, guesses: Any, coordinates: Any, poses: Any, first_failed: Any
    ) -> None:
        k = cuda.grid(1)
        if k < poses.shape[0] // 7:
            guess, pose = cuda.local.array(7, float64), cuda.local.array(7, float64)
            target = cuda.local.array(n, float64)
            memory = PoseMemory(
                cuda.local.array(equations, float64),
                cuda.local.array((equations, 6), float64),
                cuda.local.array((constraints, 8), float64),
                cuda.local.array((6, 6), float64),
                cuda.local.array(6, float64),
                cuda.local.array(7, float64),
                cuda.local.array(7, float64),
                cuda.local.array(n, float64),
                cuda.local.array(n, float64),
            )
            read_row(guesses, k, 7, guess)
            read_row(coordinates, k, n, target)
            is_valid = normalised(guess)
            solution = search(kind(view(rows, 0, rows_shape)), target, guess, pose, memory)
            write_row(pose, k, 7, poses)
            if not (is_valid and solution[0]):
                cuda.atomic.min(first_failed, 0, k)

    kernel.__name__ = f"forward_kinematics_{kind.__name__}"
    return cuda.jit(kernel)


def memory_size(sizes: Sizes) -> int:
    """Return the entries of a thread's memory: state, trial, four rates, load."""
    return 6 * sizes.state + 2 * sizes.legs + 6


@cache
def step_function(sizes: Sizes) -> Function:
    """Return the function that advances the state in a thread's memory by a step.

    Memory begins with the state `(m,)`; the last entries are the actuator forces (n,), their rate
    (n,) and the wrench (6,). It returns False where the step fails.
    """
    size, n = sizes.state, sizes.legs
    load_start = 6 * size
    translate = translation(sizes.kind)
    slope_of, shift_stage = translate(derivative), translate(shift)
    combine_stages, normalise_state = translate(combine), translate(normalise)

    def advance(body: FloatArray, legs: Legs, memory: FloatArray, step: float, work: Work) -> bool:
        y, trial = view(memory, 0, (size,)), view(memory, size, (size,))
        load = Load(
            view(memory, load_start, (n,)),
            view(memory, load_start + n, (n,)),
            view(memory, load_start + 2 * n, (6,)),
        )
        regular = True
        for stage in range(4):
            memory_barrier()
            previous_stage, current_stage = size * (2 + (stage + 3) % 4), size * (2 + stage)
            factor = 0.0 if stage == 0 else (step if stage == 3 else 0.5 * step)
            shift_stage(y, factor, view(memory, previous_stage, (size,)), trial)
            regular &= slope_of(
                body, legs, trial, load, 0.0, view(memory, current_stage, (size,)), work
            )
        regular &= combine_stages(y, step, view(memory, 2 * size, (4, size)), trial)
        if regular:
            for j in range(size):
                y[j] = trial[j]
            normalise_state(legs, y)
        return regular

    return on_card(advance)


@cache
def steps_kernel(sizes: Sizes) -> Any:
    """Return the kernel of steps of a batch for machines of some sizes.

    Its arguments are flat arrays: constants of the body and the legs; poses, twists, deflections,
    forces and wrenches, each a row per state or one for all; the step [s] and the number of steps;
    the poses, twists and deflections after them; and `first_failed` (1,), which becomes the least
    index of a state whose step fails.
    """
    kind, n, rows_shape = sizes.kind, sizes.legs, (sizes.legs, sizes.leg_size)
    deflection_size, constraints = sizes.deflection, max(sizes.constraints, 1)
    system, entries, load_start = 6 + sizes.constraints, memory_size(sizes), 6 * sizes.state
    advance = step_function(sizes)

    def kernel(
        body: Any, rows: Any, poses: Any, twists: Any, deflections: Any, forces: Any, wrenches: Any,
        step: float, count: int, new_poses: Any, new_twists: Any, new_deflections: Any,
        first_failed: Any,
    ) -> None:  # fmt: skip
        k = cuda.grid(1)
        if k < new_poses.shape[0] // 7:
            memory = cuda.local.array(entries, float64)
            work = Work(
                cuda.local.array((6, 6), float64),
                cuda.local.array(6, float64),
                cuda.local.array((n, 6), float64),
                cuda.local.array(n, float64),
                cuda.local.array((constraints, 8), float64),
                cuda.local.array((system, system), float64),
                cuda.local.array(system, float64),
            )
            for j in range(entries):
                memory[j] = 0.0
            read_row(poses, k, 7, memory)
            read_row(twists, k, 6, view(memory, 7, (6,)))
            read_row(deflections, k, deflection_size, view(memory, 13, (deflection_size,)))
            read_row(forces, k, n, view(memory, load_start, (n,)))
            read_row(wrenches, k, 6, view(memory, load_start + 2 * n, (6,)))
            is_valid, steps_done = normalised(memory), 0
            while is_valid and steps_done < count:
                is_valid &= advance(
                    view(body, 0, BODY_SHAPE), kind(view(rows, 0, rows_shape)), memory, step, work
                )
                steps_done += 1
            write_row(view(memory, 0, (7,)), k, 7, new_poses)
            write_row(view(memory, 7, (6,)), k, 6, new_twists)
            write_row(view(memory, 13, (deflection_size,)), k, deflection_size, new_deflections)
            if not is_valid:
                cuda.atomic.min(first_failed, 0, k)

    kernel.__name__ = f"steps_{kind.__name__}"
    return cuda.jit(kernel)


class Period(NamedTuple):
    """A control period: number and size of the engine's steps, and the mode of its command."""

    engine_steps: int
    mode: int
    """mode of the commands, `VELOCITY_MODE` or `FORCE_MODE`"""
    timestep: float
    """step of the engine [s]"""


class Row(NamedTuple):
    """A machine among others in the memories of `Rows`."""

    floats: FloatArray
    numbers: Any
    number: int
    rows: int
    """number of rows in the memories"""


class Thread(NamedTuple):
    """Local memory of one thread."""

    memory: FloatArray
    """`(memory_size,)` state, trial state, four rates and loads"""
    last_twist: FloatArray
    """`(6,)` twist one step earlier"""
    work: Work


def _row_view(view_function: Function) -> Function:
    """Return the function that views a row and computes its addresses anew at each call."""

    def view_row(row: Row) -> Any:
        return view_function(row.floats, row.numbers, opaque_copy(row.number), row.rows)

    return on_card(view_row)


def period_function(
    sizes: Sizes, period: Period, view_machines: Function, view_drives: Function
) -> Function:
    """Return the function that advances one machine by a control period.

    It does what `batched.analytic.advance_rows` does for a row, except that the base is not shaken
    and no wrench acts.

    Args:
        sizes: numbers of legs and states of the machine.
        period: steps of the engine and mode of the commands.
        view_machines: views the `Machines` of a row.
        view_drives: views all `DriveArrays` of a row but the last, the feedforward, which is zero.
    """
    translate, (engine_steps, mode, step) = translation(sizes.kind), period
    n, size, internal_size = sizes.legs, sizes.state, sizes.deflection
    entries, load_start = memory_size(sizes), 6 * sizes.state
    advance, start_command, drive = step_function(sizes), translate(issue), translate(drive_one)
    measure, keep_state, read_sensors = translate(actuated), translate(store), translate(read_one)
    machines_of, drives_of = _row_view(view_machines), _row_view(view_drives)

    def gather(machines: Machines, memory: FloatArray) -> None:
        for j in range(entries):
            memory[j] = 0.0
        for j in range(7):
            memory[j] = machines.pose[0, j]
        for j in range(6):
            memory[7 + j] = machines.twist[0, j]
        for j in range(internal_size):
            memory[13 + j] = machines.deflection[0, j]

    gather_state = on_card(gather)

    def move(body: Any, legs: Legs, row: Row, command: Any, thread: Thread) -> None:
        memory, previous_twist, work = thread
        # The rate of the held forces stays zero, so that its memory is the drives' feedforward too.
        y, no_feedforward = view(memory, 0, (size,)), view(memory, load_start + n, (n,))
        gather_state(Machines(*machines_of(row)), memory)
        drive_arrays = drives_of(row)
        is_valid, substep = (
            start_command(drive_arrays[6][0], drive_arrays[7][0], command[0], no_feedforward),
            0,
        )
        while is_valid and substep < engine_steps:
            arrays = DriveArrays(*(drives_of(row) + (no_feedforward,)))  # noqa: RUF005 (numba)
            machines = Machines(*machines_of(row))
            coordinates, rates, forces = (
                machines.coordinates[0],
                machines.rates[0],
                machines.forces[0],
            )
            drive(arrays, 0, engine_steps, mode, step, coordinates, rates, forces)
            for j in range(n):
                memory[load_start + j] = forces[j]
            for j in range(6):
                previous_twist[j] = memory[7 + j]
            is_valid = advance(body, legs, memory, step, work)
            if is_valid:
                machines_now = Machines(*machines_of(row))
                measure(legs, y, machines_now.coordinates[0], machines_now.rates[0])
            substep += 1
        machine_rows = Machines(*machines_of(row))
        if not is_valid:
            machine_rows.failed[0] = True
        keep_state(machine_rows, 0, y, previous_twist, step)
        arrays = DriveArrays(*(drives_of(row) + (no_feedforward,)))  # noqa: RUF005 (numba)
        read_sensors(arrays, machine_rows, 0, engine_steps * step)

    return on_card(move)
