"""Kernels of a graphics card for batches: one thread per state, the functions of one state."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isfinite, sqrt
from typing import Any, NamedTuple

from numba import float64

from twin.basics.arrays import FloatArray
from twin.kernels.cuda.library import cuda
from twin.kernels.cuda.memory import view
from twin.kernels.cuda.sizes import BODY, Sizes
from twin.kernels.cuda.translation import Translation, on_card
from twin.kernels.dynamics.assembly import assemble, energy
from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.dynamics.work import Work
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.kinematics.jacobian import jacobian, jacobian_derivative
from twin.kernels.legs.interface import Legs
from twin.kernels.platform_state import platform_state

UNIT = 1e-6
"""Difference of a quaternion's norm from 1 from which on its state has no result."""


class Given(NamedTuple):
    """A state and what acts on it."""

    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    """actuator forces, or an acceleration"""
    wrench: FloatArray


def _inverse_kinematics(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    return inverse_kinematics(legs, given.pose, out)


def _jacobian(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    jacobian(legs, given.pose, view(out, 0, (legs.rows.shape[0], 6)))
    return True


def _jacobian_derivative(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    state = platform_state(given.pose, given.twist)
    jacobian_derivative(legs, state, view(out, 0, (legs.rows.shape[0], 6)))
    return True


def _forward_dynamics(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    state = platform_state(given.pose, given.twist)
    return forward_dynamics(
        body, legs, state, given.deflection, given.inputs, given.wrench, out, work
    )


def _inverse_dynamics(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    state = platform_state(given.pose, given.twist)
    return inverse_dynamics(
        body, legs, state, given.deflection, given.inputs, given.wrench, out, work
    )


def _mass_matrix(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    state = platform_state(given.pose, given.twist)
    singular = assemble(body, legs, state, given.deflection, work)
    for i in range(6):
        for j in range(i + 1):
            out[6 * i + j] = work.mass_matrix[i, j]
            out[6 * j + i] = work.mass_matrix[i, j]
    return singular < 0


def _energy(body: Any, legs: Legs, given: Given, out: Any, work: Work) -> bool:
    state = platform_state(given.pose, given.twist)
    out[0], out[1], out[2] = energy(body, legs, state, given.deflection)
    return True


class Verb(NamedTuple):
    """A batch function of a machine with n legs and 2k entries of deflection."""

    function: Callable[..., bool]
    """of one state"""
    inputs: Callable[[Sizes], int]
    """entries of the inputs of a state"""
    result: Callable[[Sizes], tuple[int, ...]]
    """shape of the result of a state"""
    columns: bool = False
    """whether the results of all states lie entry by entry, not state by state"""


VERBS: dict[str, Verb] = {
    "inverse_kinematics": Verb(_inverse_kinematics, lambda _: 0, lambda s: (s.legs,)),
    "jacobian": Verb(_jacobian, lambda _: 0, lambda s: (s.legs, 6)),
    "jacobian_derivative": Verb(_jacobian_derivative, lambda _: 0, lambda s: (s.legs, 6)),
    "mass_matrix": Verb(_mass_matrix, lambda _: 0, lambda _: (6, 6)),
    "energy": Verb(_energy, lambda _: 0, lambda _: (3,), columns=True),
    "forward_dynamics": Verb(
        _forward_dynamics, lambda s: s.legs, lambda s: (6 + s.deflection // 2,)
    ),
    "inverse_dynamics": Verb(_inverse_dynamics, lambda _: 6, lambda s: (s.legs,)),
}
"""Batch functions by the name that they have in `MachineModel`."""


@cache
def translation(kind: type) -> Translation:
    """Return the translation for a kind of legs; kernels of the same kind share it."""
    return Translation(kind)


def _take(given: FloatArray, k: int, size: int, out: FloatArray) -> None:
    """Copy entry k of flat rows of `size`, or the only row there is, into `out`."""
    start = size * k if given.shape[0] > size else 0
    for j in range(size):
        out[j] = given[start + j]


def _put(values: FloatArray, k: int, size: int, out: FloatArray) -> None:
    """Copy `values` (size,) into row k of the flat rows `out`."""
    for j in range(size):
        out[size * k + j] = values[j]


def _normalised(pose: FloatArray) -> bool:
    """Scale the quaternion of `pose` to length one; return False where it is another one."""
    length = sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6])
    for j in range(3, 7):
        pose[j] /= length
    return abs(length - 1.0) <= UNIT


take, put, normalised = on_card(_take), on_card(_put), on_card(_normalised)


@cache
def batch_kernel(sizes: Sizes, name: str) -> Any:
    """Return the kernel of one of `VERBS` for machines of some sizes.

    Its arguments are flat arrays: constants of the body and the legs; poses, twists, deflections,
    inputs and wrenches, each a row per state or one for all; the results; and `first` (1,), which
    becomes the least index of a state without a result.
    """
    kind, n, rows_shape = sizes.kind, sizes.legs, (sizes.legs, sizes.leg_size)
    verb, count, columns = VERBS[name], sizes.constraints, VERBS[name].columns
    solve = translation(kind)(verb.function)
    inside, entries, size = sizes.deflection, verb.inputs(sizes), 6 + count
    result = 1
    for length in verb.result(sizes):
        result *= length
    deflections, inputs, constraints = max(inside, 1), max(entries, 1), max(count, 1)

    def kernel(
        body: Any, rows: Any, poses: Any, twists: Any, deflection: Any, given: Any, wrenches: Any,
        results: Any, first: Any,
    ) -> None:  # fmt: skip
        k = cuda.grid(1)
        if k < results.shape[0] // result:
            at = Given(
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
            out = cuda.local.array(result, float64)
            take(poses, k, 7, at.pose)
            take(twists, k, 6, at.twist)
            take(deflection, k, inside, at.deflection)
            take(given, k, entries, at.inputs)
            take(wrenches, k, 6, at.wrench)
            fine = normalised(at.pose)
            fine &= solve(view(body, 0, BODY), kind(view(rows, 0, rows_shape)), at, out, work)
            total, states = 0.0, results.shape[0] // result
            for j in range(result):
                results[j * states + k if columns else result * k + j] = out[j]
                total += out[j]
            if not (fine and isfinite(total)):
                cuda.atomic.min(first, 0, k)

    kernel.__name__ = f"{name}_{kind.__name__}"
    return cuda.jit(kernel)
