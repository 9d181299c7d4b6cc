"""Motions in time with locked actuators, integrated by scipy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.basics.quaternions import cross
from twin.errors import IntegrationError
from twin.papers.compliant_legs.equations.solve import solve_locked
from twin.papers.compliant_legs.loads import NO_LOAD, Load, wrench_in_base
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.state import checked_state, leg_state

RELATIVE, ABSOLUTE = 1e-10, 1e-12
"""Tolerances of the integration, per step."""


class CompliantMotion(NamedTuple):
    """States over time; the first axis is that of several motions, where there are several."""

    time: FloatArray
    """`(steps,)` [s]"""
    pose: FloatArray
    """`(..., steps, 7)`"""
    twist: FloatArray
    """`(..., steps, 6)`"""
    deflection: FloatArray
    """Deflections and their rates `(..., steps, 2n)` [m, m/s]"""


def locked_motions(
    machine: CompliantMachine,
    time: FloatArray,
    extension: Any,
    pose: Any,
    loads: Sequence[Load] = (NO_LOAD,),
    twist: Any = None,
) -> CompliantMotion:
    """Return the motions with locked actuators, one for each load, from the same state.

    Deflections follow from the pose, so the extensions stay where they are to rounding.

    Args:
        machine: the machine.
        time: times to report `(steps,)` [s], ascending; the state belongs to the first.
        extension: delta2 of the locked actuators `(n,)` [m].
        pose: `(7,)`.
        loads: external loads, at least one.
        twist: `(6,)`; default rest.

    Raises:
        InputError: wrong shapes, not finite.
        IntegrationError: the integrator stopped.
    """
    lengths = as_vector(extension, "extension", machine.n_legs)
    _, (poses, twists, _) = checked_state(machine, pose, twist, None)
    start = np.tile(np.concatenate([poses[0], twists[0]]), (len(loads), 1))

    def change(state: FloatArray) -> FloatArray:
        poses, twists = normalised(state[:, :7]), state[:, 7:]
        deflection = locked_states(machine, poses, twists, lengths)
        wrenches = np.array(
            [wrench_in_base(one, place) for one, place in zip(loads, poses, strict=True)]
        )
        found = solve_locked(machine, poses, twists, deflection, wrenches)
        return np.hstack([pose_rate(poses, twists), found.acceleration])

    states = integrated(change, time, start)
    poses, twists = normalised(states[..., :7]), states[..., 7:]
    flat = locked_states(machine, poses.reshape(-1, 7), twists.reshape(-1, 6), lengths)
    return CompliantMotion(time, poses, twists, flat.reshape((*poses.shape[:-1], -1)))


def locked_states(
    machine: CompliantMachine, pose: FloatArray, twist: FloatArray, extension: FloatArray
) -> FloatArray:
    """Return the deflection states `(batch, 2n)` with actuators at fixed extensions `(n,)`."""
    legs = leg_state(machine, pose, twist, np.zeros((len(pose), 2 * machine.n_legs)))
    return np.hstack([legs.extension - extension, legs.length_rate])


def pose_rate(pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the time derivatives `(batch, 7)` of poses with twists `(batch, 6)`."""
    scalar, vector, omega = pose[:, 3:4], pose[:, 4:], twist[:, 3:]
    turning = -(vector * omega).sum(axis=1, keepdims=True)
    return np.hstack([twist[:, :3], turning / 2.0, (scalar * omega + cross(omega, vector)) / 2.0])


def normalised(pose: FloatArray) -> FloatArray:
    """Return poses `(..., 7)` with quaternions of norm one."""
    norm = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    return np.concatenate([pose[..., :3], pose[..., 3:] / norm], axis=-1)


def integrated(
    change: Callable[[FloatArray], FloatArray], time: FloatArray, start: FloatArray
) -> FloatArray:
    """Return the states `(motions, steps, size)` from `start` `(motions, size)`.

    Raises:
        IntegrationError: the integrator stopped.
    """
    from scipy.integrate import solve_ivp

    answer = solve_ivp(
        lambda _, state: change(state.reshape(start.shape)).ravel(),
        (time[0], time[-1]),
        start.ravel(),
        method="DOP853",
        t_eval=time,
        rtol=RELATIVE,
        atol=ABSOLUTE,
    )
    if not answer.success:
        last = float(answer.t[-1]) if len(answer.t) else float(time[0])
        raise IntegrationError(
            f"the integrator stopped after {last:.6g} s: {answer.message}",
            {"time": last, "reason": answer.message},
        )
    return np.moveaxis(answer.y.reshape((*start.shape, -1)), -1, 1)
