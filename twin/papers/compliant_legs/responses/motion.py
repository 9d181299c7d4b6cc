"""Motions in time, integrated by scipy: actuators pushing, or locked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector
from twin.errors import InputError, IntegrationError
from twin.papers.compliant_legs.equations.solve import solve_free, solve_locked
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


def free_motion(
    machine: CompliantMachine,
    time: Any,
    pose: Any,
    twist: Any = None,
    deflection: Any = None,
    forces: Any = None,
    load: Load = NO_LOAD,
) -> CompliantMotion:
    """Return the motion under constant actuator forces.

    Args:
        machine: the machine.
        time: times to report `(steps,)` [s], ascending; the state belongs to the first.
        pose: `(7,)`.
        twist: `(6,)`; default rest.
        deflection: `(2n,)`; default relaxed springs at rest.
        forces: actuator forces `(n,)` [N]; default zero.
        load: external load.

    Raises:
        InputError: wrong shapes, not finite, times that do not ascend.
        IntegrationError: the integrator stopped.
    """
    n = machine.n_legs
    shape, arrays = checked_state(machine, pose, twist, deflection, forces=(forces, n))
    if shape:
        raise InputError("pose", f"must be one state, got a batch of shape {shape}")
    start = np.concatenate([part[0] for part in arrays[:3]])

    def change(state: FloatArray) -> FloatArray:
        poses, twists, deflections = np.split(state, [7, 13], axis=-1)
        poses = _normalised(poses)
        found = solve_free(
            machine, poses, twists, deflections, arrays[3], wrench_in_base(load, poses)
        )
        rates = [deflections[:, n:], found.deflection_acceleration]
        return np.hstack([_pose_rate(poses, twists), found.acceleration, *rates])

    times, states = _integrated(change, time, start[None])
    pose, twist, deflection = np.split(states[0], [7, 13], axis=-1)
    return CompliantMotion(times, _normalised(pose), twist, deflection)


def locked_motions(
    machine: CompliantMachine,
    time: Any,
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
        InputError: wrong shapes, not finite, times that do not ascend, no load.
        IntegrationError: the integrator stopped.
    """
    lengths = as_vector(extension, "extension", machine.n_legs)
    if not loads:
        raise InputError("loads", "at least one is needed; NO_LOAD is a load")
    shape, (poses, twists, _) = checked_state(machine, pose, twist, None)
    if shape:
        raise InputError("pose", f"must be one state, got a batch of shape {shape}")
    start = np.tile(np.concatenate([poses[0], twists[0]]), (len(loads), 1))

    def change(state: FloatArray) -> FloatArray:
        poses, twists = _normalised(state[:, :7]), state[:, 7:]
        deflection = locked_states(machine, poses, twists, lengths)
        wrenches = np.array(
            [wrench_in_base(one, place) for one, place in zip(loads, poses, strict=True)]
        )
        found = solve_locked(machine, poses, twists, deflection, wrenches)
        return np.hstack([_pose_rate(poses, twists), found.acceleration])

    times, states = _integrated(change, time, start)
    poses, twists = _normalised(states[..., :7]), states[..., 7:]
    flat = locked_states(machine, poses.reshape(-1, 7), twists.reshape(-1, 6), lengths)
    return CompliantMotion(times, poses, twists, flat.reshape((*poses.shape[:-1], -1)))


def locked_states(
    machine: CompliantMachine, pose: FloatArray, twist: FloatArray, extension: FloatArray
) -> FloatArray:
    """Return the deflection states `(batch, 2n)` with actuators at fixed extensions `(n,)`."""
    legs = leg_state(machine, pose, twist, np.zeros((len(pose), 2 * machine.n_legs)))
    return np.hstack([legs.extension - extension, legs.length_rate])


def _pose_rate(pose: FloatArray, twist: FloatArray) -> FloatArray:
    scalar, vector, omega = pose[:, 3:4], pose[:, 4:], twist[:, 3:]
    turning = -(vector * omega).sum(axis=1, keepdims=True)
    return np.hstack(
        [twist[:, :3], turning / 2.0, (scalar * omega + np.cross(omega, vector)) / 2.0]
    )


def _normalised(pose: FloatArray) -> FloatArray:
    norm = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    return np.concatenate([pose[..., :3], pose[..., 3:] / norm], axis=-1)


def _integrated(
    change: Callable[[FloatArray], FloatArray], time: Any, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the times and the states `(motions, steps, size)` from `start` `(motions, size)`."""
    from scipy.integrate import solve_ivp

    times = as_floats(time, "time")
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0.0).all():
        raise InputError("time", "must be at least two ascending numbers")
    answer = solve_ivp(
        lambda _, state: change(state.reshape(start.shape)).ravel(),
        (times[0], times[-1]),
        start.ravel(),
        method="DOP853",
        t_eval=times,
        rtol=RELATIVE,
        atol=ABSOLUTE,
    )
    if not answer.success:
        last = float(answer.t[-1]) if len(answer.t) else float(times[0])
        raise IntegrationError(
            f"the integrator stopped after {last:.6g} s: {answer.message}",
            {"time": last, "reason": answer.message},
        )
    return times, np.moveaxis(answer.y.reshape((*start.shape, -1)), -1, 1)
