"""Integrating the equations of motion of a platform over a time span.

Along a given motion the springs of the legs deflect as at rest (quasi-static).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_vector,
    flatten_batch,
    one_of,
    one_pose,
    positive,
    read_only,
)
from twin.errors import InputError, IntegrationError, StateError
from twin.kernels.integrators import (
    BUFFERS_FULL,
    END_REACHED,
    STEP_COLLAPSED,
    Steps,
    dormand_prince,
    runge_kutta,
)
from twin.kernels.legs.interface import Legs
from twin.model.machine_base import ZERO_VECTOR

if TYPE_CHECKING:
    from twin.model.machine_model import MachineModel

INTEGRATION_METHODS = ("dormand_prince", "rk4")

BUFFER_STEPS = 512

MAX_STEPS = 1_000_000
"""Largest number of steps of an integration; the continuous output of more would not fit into
memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Motion over `[0, time[-1]]`, to be called at any time inside.

    `method` "dormand_prince" interpolates with its own polynomial of order four, "rk4" with the
    cubic through states and rates at both ends of a step.
    """

    method: str
    time: FloatArray
    """`(k,)` ends of the steps [s], the first is 0"""
    states: FloatArray
    """`(k, 13 + 2m)`: pose, twist, deflections of springs, their rates"""
    coefficients: FloatArray
    """`(k - 1, 5, 13 + 2m)` of the polynomial of each step"""
    legs: Legs
    """constants of the legs; interpolated states are projected onto the legs' constraints"""

    @property
    def pose(self) -> FloatArray:
        """Poses `(k, 7)` at the ends of the steps."""
        return self.states[:, :7]

    @property
    def twist(self) -> FloatArray:
        """Twists `(k, 6)` at the ends of the steps."""
        return self.states[:, 7:13]

    @property
    def deflection(self) -> FloatArray:
        """Deflections of springs and their rates `(k, 2m)` at the ends of the steps."""
        return self.states[:, 13:]

    def __repr__(self) -> str:
        steps, end_time = len(self.time) - 1, float(self.time[-1])
        return f"<Solution by {self.method}: {steps} steps over {end_time:.6g} s>"

    def __call__(self, time: Any) -> tuple[FloatArray, FloatArray]:
        """Return pose `(..., 7)` and twist `(..., 6)` at times `(...)` [s].

        Raises:
            InputError: a time that is not finite or outside the solution.
        """
        states = self.at(time)
        return states[..., :7], states[..., 7:13]

    def at(self, time: Any) -> FloatArray:
        """Return states `(..., 13 + 2m)` at times `(...)` [s].

        Raises:
            InputError: a time that is not finite or outside the solution.
        """
        from twin.kernels.integrators import evaluate

        queries = as_floats(time, "time")
        end_time = float(self.time[-1])
        tolerance = 1e-12 * end_time
        if queries.size and not (
            -tolerance <= queries.min() and queries.max() <= end_time + tolerance
        ):
            raise InputError(
                "time", f"must be between 0 and {end_time:.9g} s, where the solution is"
            )
        flat_times = queries.reshape(-1)
        order = np.argsort(flat_times, kind="stable")
        states_at = np.empty((flat_times.size, self.states.shape[1]))
        evaluate(self.legs, flat_times[order], self.time[1:], 0.0, self.coefficients, states_at)
        result = np.empty_like(states_at)
        result[order] = states_at
        return result.reshape((*queries.shape, result.shape[1]))


Arguments = tuple[FloatArray, Legs, FloatArray, tuple[FloatArray, FloatArray, FloatArray]]
"""Body, legs, state and load, as the integrators take them."""


class ForceTable(NamedTuple):
    """Actuator forces over time: knots, and the interpolation between them.

    Integrators never step across a knot, so that jumps do not spoil their order.
    """

    time: Any
    """`(k,)` [s], increasing, the first is 0; the last value holds after the last knot"""
    forces: Any
    """`(k, n)` [N] or [N m]"""
    interpolation: str = "hold"
    """"hold": constant to the next knot; "linear": straight lines"""


def integrate(
    platform: MachineModel,
    duration: float,
    pose: Any = None,
    twist: Any = None,
    forces: Any = None,
    wrench: Any = None,
    *,
    deflection: Any = None,
    method: str = "dormand_prince",
    timestep: float = 1e-3,
    relative_tolerance: float = 1e-12,
    absolute_tolerance: float = 1e-12,
) -> Solution:
    """Return the motion of a platform under given forces, compiled from end to end.

    Args:
        platform: the machine.
        duration: [s].
        pose: start `(7,)`, default home.
        twist: start `(6,)`, default rest.
        forces: `(n,)` [N] or [N m] constant, a `ForceTable`, or None for free motion.
        wrench: `(6,)` on the platform, constant in base axes [N, N m].
        deflection: start `(2k,)` of deflections of springs, default zero.
        method: "dormand_prince" (adaptive) or "rk4" (fixed `timestep`).
        timestep: [s] of "rk4"; must divide the time between knots.
        relative_tolerance: of "dormand_prince", per step.
        absolute_tolerance: of "dormand_prince", per step.

    Raises:
        InputError: wrong shapes, not finite, unknown method, knots that do not increase.
        IntegrationError: singular state or step size collapse; `data` holds reason, time, pose,
            twist and step.
    """
    from twin.model.machine_model import as_model

    as_model(platform)
    end_time = positive(duration, "duration")
    y = start_state(platform, pose, twist, deflection)
    platform_wrench = as_vector(np.zeros(6) if wrench is None else wrench, "wrench", 6)
    one_of(method, "method", INTEGRATION_METHODS)
    tolerances = (
        positive(relative_tolerance, "relative_tolerance"),
        positive(absolute_tolerance, "absolute_tolerance"),
    )
    time_step = positive(timestep, "timestep")
    if method == "rk4" and end_time / time_step > MAX_STEPS:
        raise InputError("timestep", f"more than {MAX_STEPS} steps; use a larger one")
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    buffers = (
        np.empty(BUFFER_STEPS),
        np.empty((BUFFER_STEPS, y.size)),
        np.empty((BUFFER_STEPS, 5, y.size)),
    )
    initial_state = y.copy()
    for segment_start, segment_end, force, slope in _segments(platform, forces, end_time):
        arguments = (*platform.constants[:2], y, (force, slope, platform_wrench))
        if method == "rk4":
            _fixed(arguments, segment_start, segment_end, time_step, parts)
        else:
            _adaptive(arguments, segment_start, segment_end, tolerances, buffers, parts)
    time = np.concatenate([[0.0], *(segment[0] for segment in parts)])
    states = np.concatenate([initial_state[None], *(segment[1] for segment in parts)])
    coefficients = np.concatenate([segment[2] for segment in parts])
    return Solution(method, time, states, coefficients, platform.constants.legs)


def start_state(platform: MachineModel, pose: Any, twist: Any, deflection: Any) -> FloatArray:
    """Return the checked state `(13 + 2k,)` at `pose`, `twist` and `deflection`; None: home, rest.

    Raises:
        InputError: wrong shape, not finite, or a motion that the machine cannot have.
    """
    from twin.model.machine_base import check_constraints

    y = np.concatenate(
        [
            one_pose(platform.home if pose is None else pose),
            as_vector(np.zeros(6) if twist is None else twist, "twist", 6),
            platform.as_deflection(deflection),
        ]
    )
    if platform.dof < 6:
        check_constraints(platform.constants.legs, y[None, :7], y[None, 7:13])
    return y


def _segments(
    platform: MachineModel, forces: Any, end: float
) -> list[tuple[float, float, FloatArray, FloatArray]]:
    """Return (begin, stop, forces at begin, their slope) between the knots."""
    n = platform.n_actuators
    if not isinstance(forces, ForceTable):
        constant = as_vector(np.zeros(n) if forces is None else forces, "forces", n)
        return [(0.0, end, constant, np.zeros(n))]
    time = as_floats(forces.time, "forces.time")
    values = as_floats(forces.forces, "forces.forces", n)
    if time.ndim != 1 or values.ndim != 2 or len(time) != len(values) or not len(time):
        raise InputError(
            "forces", f"needs one row of forces per knot: {time.size} knots, {values.shape} forces"
        )
    if time[0] != 0.0 or not (np.diff(time) > 0).all():
        raise InputError("forces.time", "must start at 0 and increase")
    one_of(forces.interpolation, "forces.interpolation", ("hold", "linear"))
    segments = []
    for k, segment_start in enumerate(time[time < end]):
        next_time = time[k + 1] if k + 1 < len(time) else np.inf
        slope = np.zeros(n)
        if forces.interpolation == "linear" and np.isfinite(next_time):
            slope = (values[k + 1] - values[k]) / (next_time - segment_start)
        segments.append((float(segment_start), float(min(next_time, end)), values[k], slope))
    return segments


def _fixed(arguments: Arguments, begin: float, stop: float, step: float, parts: list[Any]) -> None:
    """Integrate with equal steps, and append times, states and interpolation to `parts`."""
    n_steps = round((stop - begin) / step)
    if n_steps < 1 or abs(n_steps * step - (stop - begin)) > 1e-9 * max(step, stop):
        raise InputError(
            "timestep", f"{step:.9g} s does not divide the {stop - begin:.9g} s between knots"
        )
    y, step = arguments[2], (stop - begin) / n_steps
    initial_state = y.copy()
    rates = np.empty((n_steps + 1, initial_state.size))
    times, states = np.empty(n_steps), np.empty((n_steps, initial_state.size))
    n_done = runge_kutta(*arguments, step, times, states, rates)
    if n_done < n_steps:
        _stopped(
            "singular", begin + n_done * step, states[n_done - 1] if n_done else initial_state, step
        )
    # Cubic Hermite interpolation, in the coefficients of the kernel's continuous output.
    step_starts = np.concatenate([initial_state[None], states[:-1]])
    state_change = states - step_starts
    rate_error = step * rates[:-1] - state_change
    dense = np.zeros((n_steps, 5, initial_state.size))
    dense[:, 0], dense[:, 1], dense[:, 2] = step_starts, state_change, rate_error
    dense[:, 3] = state_change - step * rates[1:] - rate_error
    parts.append((begin + times, states, dense))


def _adaptive(
    arguments: Arguments,
    begin: float,
    stop: float,
    tolerances: tuple[float, float],
    buffers: Steps,
    parts: list[Any],
) -> None:
    """Integrate with adapted steps, and append them to `parts`."""
    # The first step tried is 1 ms; step size control adapts it.
    time_and_step = np.array([0.0, min(stop - begin, 1e-3)])
    total_steps = 0
    while True:
        reason, n_steps = dormand_prince(
            *arguments, time_and_step, stop - begin, tolerances, buffers
        )
        times, states, dense = (buffer[:n_steps].copy() for buffer in buffers)
        parts.append((begin + times, states, dense))
        total_steps += n_steps
        if reason == END_REACHED:
            return
        if reason != BUFFERS_FULL or total_steps > MAX_STEPS:
            failure = {BUFFERS_FULL: "too many steps", STEP_COLLAPSED: "step size collapse"}.get(
                reason, "singular"
            )
            _stopped(
                failure, begin + float(time_and_step[0]), arguments[2], float(time_and_step[1])
            )


def _stopped(reason: str, time: float, y: FloatArray, step: float) -> None:
    """Raise the error of an integration that cannot go on."""
    advice = {
        "singular": "the state is singular there (a leg without length, stretched or along its "
        "first axis) or overflows; change the start or the forces",
        "step size collapse": "the forces change too fast or the tolerance is below rounding",
        "too many steps": "use larger tolerances or a shorter duration",
    }[reason]
    final_state = {"pose": y[:7].copy(), "twist": y[7:13].copy(), "deflection": y[13:].copy()}
    raise IntegrationError(
        f"stopped at t = {time:.9g} s ({reason}, next step {step:.3g} s): {advice}",
        {"reason": reason, "time": time, "step": step, **final_state},
    )


DIFFERENCE_STEP = 1e-5
"""[m] Step of the finite differences for the stiffness of springs."""

MAX_ITERATIONS = 20

AT_REST = 1e-9
"""[m/s2] Deflection acceleration below which a spring counts as at rest."""


def resting_deflection(platform: MachineModel, pose: Any = None) -> FloatArray:
    """Return the static deflection `(2k,)` at rest at a pose, default home; empty without springs.

    Raises:
        InputError: wrong shape or not finite.
        StateError: there is none.
    """
    if not platform.n_deflections:
        return np.empty(0)
    if pose is None:
        return _home_deflection(platform)
    return static_deflection(platform, pose, ZERO_VECTOR, ZERO_VECTOR)


@lru_cache(maxsize=32)
def _home_deflection(platform: MachineModel) -> FloatArray:
    return read_only(static_deflection(platform, platform.home, ZERO_VECTOR, ZERO_VECTOR))


def static_deflection(
    platform: MachineModel, pose: Any, twist: Any, acceleration: Any, wrench: Any = None
) -> FloatArray:
    """Return deflections of springs, with rates zero, `(..., 2k)` that do not accelerate.

    Newton with difference quotients; the forces are those of the inverse dynamics.

    Args:
        platform: the machine; without springs inside its legs there is nothing to find.
        pose: `(..., 7)`.
        twist: `(..., 6)`.
        acceleration: `(..., 6)`.
        wrench: external, `(6,)`, default none.

    Raises:
        InputError: wrong shapes or not finite.
        StateError: there are none.
    """
    k = platform.n_deflections
    shape, (poses, twists, motion_acceleration) = flatten_batch(
        pose=as_floats(pose, "pose", 7),
        twist=as_floats(twist, "twist", 6),
        acceleration=as_floats(acceleration, "acceleration", 6),
    )
    n_poses = len(poses)
    deflections_found = np.zeros((n_poses, k))

    def accelerations(trials: FloatArray) -> FloatArray:
        """Return spring accelerations `(m, count, k)` [m/s2] at trial deflections of that shape."""
        deflections = np.concatenate([trials, np.zeros_like(trials)], axis=-1)
        forces = platform.inverse_dynamics(
            poses, twists, motion_acceleration, wrench, deflection=deflections
        )
        baseline = platform.forward_dynamics(poses, twists, forces, wrench, deflection=deflections)
        return baseline[..., 6:]

    increments = DIFFERENCE_STEP * np.vstack([np.zeros(k), np.eye(k)])[:, None]
    for _ in range(MAX_ITERATIONS):
        baseline, *perturbed = accelerations(deflections_found + increments)
        if not np.abs(baseline).max(initial=0.0) > AT_REST:
            return np.hstack([deflections_found, np.zeros((n_poses, k))]).reshape((*shape, 2 * k))
        changes = [(shifted - baseline) / DIFFERENCE_STEP for shifted in perturbed]
        slopes = np.stack(changes, axis=-1)
        deflections_found = deflections_found - np.linalg.solve(slopes, baseline[..., None])[..., 0]
    raise StateError(f"{platform.name}: the springs in the legs find no place to rest")
