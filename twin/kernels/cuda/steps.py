"""Runge-Kutta steps on a graphics card: those of `runge_kutta_move`, stage by stage in a loop.

The equations of motion are then in the kernel once, with the registers for themselves; state and
stages lie in the thread's memory.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import float64

from twin.basics.arrays import FloatArray
from twin.kernels.cuda.batches import normalised, put, take, translation
from twin.kernels.cuda.library import cuda
from twin.kernels.cuda.memory import read_again, view
from twin.kernels.cuda.sizes import BODY, Sizes
from twin.kernels.cuda.translation import Function, on_card
from twin.kernels.dynamics.state import Load, derivative, normalise
from twin.kernels.dynamics.work import Work
from twin.kernels.integrators.runge_kutta import combine, shift
from twin.kernels.legs.interface import Legs


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
    loaded = 6 * size
    own = translation(sizes.kind)
    slope_of, shifted = own(derivative), own(shift)
    combined, normal = own(combine), own(normalise)

    def advance(body: FloatArray, legs: Legs, memory: FloatArray, step: float, work: Work) -> bool:
        y, trial = view(memory, 0, (size,)), view(memory, size, (size,))
        load = Load(
            view(memory, loaded, (n,)),
            view(memory, loaded + n, (n,)),
            view(memory, loaded + 2 * n, (6,)),
        )
        regular = True
        for stage in range(4):
            read_again()
            before, now = size * (2 + (stage + 3) % 4), size * (2 + stage)
            factor = 0.0 if stage == 0 else (step if stage == 3 else 0.5 * step)
            shifted(y, factor, view(memory, before, (size,)), trial)
            regular &= slope_of(body, legs, trial, load, 0.0, view(memory, now, (size,)), work)
        regular &= combined(y, step, view(memory, 2 * size, (4, size)), trial)
        if regular:
            for j in range(size):
                y[j] = trial[j]
            normal(legs, y)
        return regular

    return on_card(advance)


@cache
def steps_kernel(sizes: Sizes) -> Any:
    """Return the kernel of steps of a batch for machines of some sizes.

    Its arguments are flat arrays: constants of the body and the legs; poses, twists, deflections,
    forces and wrenches, each a row per state or one for all; the step [s] and the number of steps;
    the poses, twists and deflections after them; and `first` (1,), which becomes the least index of
    a state whose step fails.
    """
    kind, n, rows_shape = sizes.kind, sizes.legs, (sizes.legs, sizes.leg_size)
    inside, constraints = sizes.deflection, max(sizes.constraints, 1)
    system, entries, loaded = 6 + sizes.constraints, memory_size(sizes), 6 * sizes.state
    advance = step_function(sizes)

    def kernel(
        body: Any, rows: Any, poses: Any, twists: Any, deflections: Any, forces: Any, wrenches: Any,
        step: float, count: int, new_poses: Any, new_twists: Any, new_deflections: Any, first: Any,
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
            take(poses, k, 7, memory)
            take(twists, k, 6, view(memory, 7, (6,)))
            take(deflections, k, inside, view(memory, 13, (inside,)))
            take(forces, k, n, view(memory, loaded, (n,)))
            take(wrenches, k, 6, view(memory, loaded + 2 * n, (6,)))
            fine, done = normalised(memory), 0
            while fine and done < count:
                fine &= advance(
                    view(body, 0, BODY), kind(view(rows, 0, rows_shape)), memory, step, work
                )
                done += 1
            put(view(memory, 0, (7,)), k, 7, new_poses)
            put(view(memory, 7, (6,)), k, 6, new_twists)
            put(view(memory, 13, (inside,)), k, inside, new_deflections)
            if not fine:
                cuda.atomic.min(first, 0, k)

    kernel.__name__ = f"steps_{kind.__name__}"
    return cuda.jit(kernel)
