"""Motions with locked actuators, and load cases.

A load case is a constant force or moment. The platform is in an equilibrium with locked actuators,
and a load takes it to another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, cross
from twin.errors import IntegrationError
from twin.papers.compliant_legs.equations import solve_locked
from twin.papers.compliant_legs.machine import (
    LOAD_FRAMES,
    NO_LOAD,
    CompliantMachine,
    Load,
    checked_state,
    leg_state,
    load,
    solved,
    wrench_in_base,
)
from twin.papers.compliant_legs.rest import (
    Equilibrium,
    locked_equilibrium,
    locked_linearisation,
)
from twin.rotations import displacement

LOAD_KINDS = ("force", "moment")

AXES = ("x", "y", "z")


RELATIVE_TOLERANCE = 1e-10
"""Relative tolerance of a step of the integration."""

ABSOLUTE_TOLERANCE = 1e-12
"""Absolute tolerance of a step of the integration, in SI units."""


class CompliantMotion(NamedTuple):
    """States over time; the first axis is that of several motions, where there are several."""

    time: FloatArray
    """`(steps,)` [s]"""
    pose: FloatArray
    """`(..., steps, 7)` of the platform in the base"""
    twist: FloatArray
    """`(..., steps, 6)` of the platform, base axes [m/s, rad/s]"""
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
    initial_state = np.tile(np.concatenate([poses[0], twists[0]]), (len(loads), 1))

    def change(state: FloatArray) -> FloatArray:
        poses, twists = normalised(state[:, :7]), state[:, 7:]
        deflection = locked_states(machine, poses, twists, lengths)
        wrenches = np.array(
            [
                wrench_in_base(platform_load, pose_row)
                for platform_load, pose_row in zip(loads, poses, strict=True)
            ]
        )
        solution = solve_locked(machine, poses, twists, deflection, wrenches)
        return np.hstack([pose_rate(poses, twists), solution.acceleration])

    states = integrated(change, time, initial_state)
    poses, twists = normalised(states[..., :7]), states[..., 7:]
    locked_state = locked_states(machine, poses.reshape(-1, 7), twists.reshape(-1, 6), lengths)
    return CompliantMotion(time, poses, twists, locked_state.reshape((*poses.shape[:-1], -1)))


def locked_states(
    machine: CompliantMachine, pose: FloatArray, twist: FloatArray, extension: FloatArray
) -> FloatArray:
    """Return the deflection states `(batch, 2n)` with actuators at fixed extensions `(n,)`."""
    legs = leg_state(machine, pose, twist, np.zeros((len(pose), 2 * machine.n_legs)))
    return np.hstack([legs.extension - extension, legs.length_rate])


def pose_rate(pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the time derivatives `(batch, 7)` of poses with twists `(batch, 6)`."""
    scalar, vector, omega = pose[:, 3:4], pose[:, 4:], twist[:, 3:]
    scalar_rate = -(vector * omega).sum(axis=1, keepdims=True)
    return np.hstack(
        [twist[:, :3], scalar_rate / 2.0, (scalar * omega + cross(omega, vector)) / 2.0]
    )


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

    result = solve_ivp(
        lambda _, state: change(state.reshape(start.shape)).ravel(),
        (time[0], time[-1]),
        start.ravel(),
        method="DOP853",
        t_eval=time,
        rtol=RELATIVE_TOLERANCE,
        atol=ABSOLUTE_TOLERANCE,
    )
    if not result.success:
        last_time = float(result.t[-1]) if len(result.t) else float(time[0])
        raise IntegrationError(
            f"the integrator stopped after {last_time:.6g} s: {result.message}",
            {"time": last_time, "reason": result.message},
        )
    return np.moveaxis(result.y.reshape((*start.shape, -1)), -1, 1)


class LoadCase(NamedTuple):
    """One load case."""

    kind: str
    """`force` or `moment`"""
    frame: str
    """`base` or `platform`"""
    axis: str
    """`x`, `y` or `z` of the frame"""
    load: Load
    """The load itself"""


class LoadResponse(NamedTuple):
    """Response to a load case; displacements (translation [m], rotation vector [rad])."""

    case: LoadCase
    """Load case of this response"""
    quasi_static: FloatArray
    """Displacement of the new equilibrium `(6,)`"""
    linear: FloatArray
    """Quasi-static displacement by the linear stiffness matrix `(6,)`"""


def standard_load_cases(force: float = 100.0, moment: float = 20.0) -> tuple[LoadCase, ...]:
    """Return the twelve cases: force [N] or moment [N m], in both frames, along three axes."""
    size = {"force": force, "moment": moment}
    return tuple(
        LoadCase(load_kind, frame, axis, load(**{load_kind: size[load_kind] * unit}, frame=frame))
        for load_kind in LOAD_KINDS
        for frame in LOAD_FRAMES
        for axis, unit in zip(AXES, np.eye(3), strict=True)
    )


def run_load_cases(
    machine: CompliantMachine, cases: Sequence[LoadCase], start: Equilibrium
) -> tuple[LoadResponse, ...]:
    """Return the displacements under load cases, each from the same equilibrium.

    Args:
        machine: the machine.
        cases: load cases.
        start: equilibrium without load and with locked actuators.

    Raises:
        StateError: no equilibrium under a load.
    """
    stiffness = locked_linearisation(machine, start).stiffness
    responses = []
    for case in cases:
        equilibrium = locked_equilibrium(machine, start.extension, case.load, start.pose)
        linear = solved(stiffness, wrench_in_base(case.load, start.pose))
        responses.append(LoadResponse(case, displacement(equilibrium.pose, start.pose), linear))
    return tuple(responses)
