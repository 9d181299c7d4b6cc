"""Running kernels over batches of states, and the errors of states without a solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, as_floats
from twin.errors import InputError, SingularPoseError, UnreachablePoseError
from twin.kernels.interpret import interpreted
from twin.kernels.kinematics.inverse import inverse_kinematics_batch, leg_coordinates_batch
from twin.kernels.legs.dispatch import joint_count
from twin.model.batch import run_batch

ROUNDING = 1e-12
"""Rounding error of a coordinate that still counts as inside, as a share of its limit."""

INTERPRETED: ContextVar[bool] = ContextVar("interpreted", default=False)
FOR_MANY: ContextVar[bool] = ContextVar("for_many", default=False)


@contextmanager
def without_compiling() -> Iterator[None]:
    """Evaluate states in Python: up to a millisecond each, but no seconds of compiling before.

    Results are those of the kernels to rounding, not to the last bit.
    """
    token = INTERPRETED.set(not FOR_MANY.get())
    try:
        yield
    finally:
        INTERPRETED.reset(token)


@contextmanager
def for_many_machines(many: bool = True) -> Iterator[None]:
    """Evaluate by kernels also what is otherwise done `without_compiling`, if there are `many`.

    For many machines, compiling is sooner done.
    """
    token = FOR_MANY.set(many or FOR_MANY.get())
    try:
        yield
    finally:
        FOR_MANY.reset(token)


def run(
    kernel: Callable[..., int], constants: tuple[Any, ...], arrays: tuple[FloatArray, ...]
) -> int:
    """Run a batch kernel over `arrays`; return the first state that failed, or -1."""
    if len(arrays[0]) == 0:
        return -1
    if INTERPRETED.get():
        # Compiled kernels go on with inf and NaN without a word; NumPy's floats would warn.
        with suppress(ZeroDivisionError, ValueError), np.errstate(all="ignore"):
            return int(interpreted(kernel)(*constants, *arrays))
    return run_batch(kernel, constants, arrays)


def run_checked(
    kernel: Callable[..., int],
    constants: tuple[Any, ...],
    arrays: tuple[FloatArray, ...],
    legs: Any,
) -> None:
    """Run a batch kernel; poses come first in `arrays`, results last.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution, or one that overflows.
    """
    if len(arrays[0]) == 0:
        return
    check_results(run(kernel, constants, arrays), arrays[-1], legs, arrays[0])


def check_results(failed: int, results: FloatArray, legs: Any, poses: FloatArray) -> None:
    """Raise the error of the first state without a solution.

    Args:
        failed: index of the first state that a kernel could not handle, or -1.
        results: `(batch, ...)`.
        legs: constants of the legs.
        poses: `(batch, 7)`.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a state without a solution, or one that overflows.
    """
    if failed < 0 and np.isfinite(results).all():
        return
    bad = ~np.isfinite(results.reshape(len(results), -1)).all(axis=1)
    index = failed if failed >= 0 else int(np.argmax(bad))
    raise no_solution(legs, index, poses[index])


def joint_motion(
    legs: Any, home: FloatArray, motion: Sequence[FloatArray], deflections: int
) -> FloatArray:
    """Return values, rates and accelerations of the legs' joints, `(batch, n, joints, 3)`.

    Args:
        legs: constants of the legs.
        home: `(n, HOME_SIZE)` of the legs.
        motion: poses, twists, `deflection`, accelerations and the accelerations of the
            deflections, `(batch, .)` each.
        deflections: number k of the springs in series.

    Raises:
        UnreachablePoseError: a leg cannot reach a pose.
        SingularPoseError: a leg lies along its universal joint's first axis.
    """
    poses, twists, inside, accelerations, inside_accelerations = motion
    k = deflections
    out = np.empty((len(poses), len(legs.rows), joint_count(type(legs)), 3))
    run_checked(leg_coordinates_batch, (legs, home), (poses, twists, accelerations, out), legs)
    if k:
        springs = np.stack([inside[:, :k], inside[:, k:], inside_accelerations], axis=2)
        out[:, :, 2] += springs
        out[:, :, 3] -= springs
    return out


def no_solution(
    legs: Any, index: int, pose: FloatArray
) -> SingularPoseError | UnreachablePoseError:
    """Return the error of entry `index` of a batch, whose `pose` `(7,)` has no solution."""
    coordinates = np.empty((1, len(legs.rows)))
    inverse_kinematics_batch(legs, pose[None], coordinates)
    short = [int(i) + 1 for i in np.flatnonzero(np.isnan(coordinates[0]))]
    data = {"index": index, "pose": pose.copy()}
    if short and np.isfinite(pose).all():
        numbers = ", ".join(map(str, short))
        return UnreachablePoseError(
            f"entry {index}: leg {numbers} cannot reach the pose {pose.tolist()}; move the "
            "platform closer to home.",
            data | {"legs": short},
        )
    return SingularPoseError(
        f"entry {index} has no finite solution at pose {pose.tolist()}: the pose is singular (a "
        "leg without length, along its joint's first axis or stretched, or legs that do not span "
        "the platform's degrees of freedom), or the numbers overflow. Move away from it.",
        data,
    )


def coordinates_given(pose: Any, lengths: Any, n: int) -> tuple[tuple[int, ...], FloatArray | None]:
    """Return the batch shape and actuator coordinates `(..., n)`, None where poses are given.

    Args:
        pose: poses `(..., 7)`; also coordinates `(..., n)` unless n is seven.
        lengths: coordinates `(..., n)`.
        n: number of actuators.

    Raises:
        InputError: both or none of the two, wrong shapes, not finite.
    """
    if (pose is None) == (lengths is None):
        raise InputError("pose, lengths", "give one of the two")
    if lengths is not None:
        values = as_floats(lengths, "lengths", n)
        return values.shape[:-1], values
    values = as_floats(pose, "pose")
    return values.shape[:-1], values if n != 7 and values.shape[-1:] == (n,) else None


def inside(coordinates: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return `(...)` whether all coordinates `(..., n)` are within limits `(n,)`; NaN is not."""
    slack = ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return np.asarray(((coordinates >= low - slack) & (coordinates <= high + slack)).all(axis=-1))
