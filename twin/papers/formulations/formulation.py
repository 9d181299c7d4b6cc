"""Formulation: equations of motion in one choice of coordinates, to be evaluated and integrated."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_pose, as_vector, one_of, one_pose, positive
from twin.errors import InputError, IntegrationError, SingularPoseError
from twin.kernels.integrators import END_REACHED, SINGULAR_STATE, STEP_COLLAPSED, Tolerances
from twin.kernels.jit import interpreted
from twin.model.machine_model import MachineModel, as_model
from twin.papers.formulations.kernels import march
from twin.papers.formulations.kernels import measures as columns
from twin.papers.formulations.kernels.arrays import JOINT_COUNT, PLATFORM_ACCELERATION
from twin.papers.formulations.kernels.spaces import generalised_forces
from twin.papers.formulations.model import (
    FormulationRun,
    extended_joints,
    make_work,
    pack_model,
    run_of,
)

FORMULATION_CODES = {
    "configuration": march.CONFIGURATION_SPACE,
    "actuator": march.ACTUATOR_SPACE,
    "task": march.TASK_SPACE,
    "extended_to_task": march.EXTENDED_TO_TASK,
    "extended_to_actuator": march.EXTENDED_TO_ACTUATOR,
}

ROOT_TRACKING = ("actuator", "extended_to_actuator")

SINGULAR_CONDITION = 1e4
"""Condition number of the legs' Jacobian above which a step size collapse is reported as
singular."""

MAX_TIMES = 100_000
"""Largest number of output times of a run."""


def formulation_names() -> list[str]:
    """Return the names of the formulations, in the order of the paper."""
    return list(FORMULATION_CODES)


class Formulation:
    """The equations of motion of a machine with six UPS or RSS legs in one choice of coordinates.

    State vectors: "configuration" `(36,)` joint coordinates and rates; "actuator" and
    "extended_to_actuator" `(12,)` actuator coordinates and rates; "task" and "extended_to_task"
    `(13,)` pose and twist. Joint coordinates are, leg by leg, two angles and the actuator's. UPS:
    first and second universal angle, length. RSS: the rod's angles about the crank's axis and
    across it, against the base, and the crank angle.

    Reference: extended-configuration-space paper, sections 3, 4 and 6.
    """

    def __init__(self, platform: MachineModel, name: str) -> None:
        """Prepare a formulation.

        Raises:
            InputError: unknown name, no Platform, or one without six legs of such a kind.
        """
        self.platform = as_model(platform)
        self.name = one_of(name, "formulation", FORMULATION_CODES)
        self.model = pack_model(platform)
        self.kind = FORMULATION_CODES[self.name]
        self.size = {"configuration": 36, "task": 13, "extended_to_task": 13}.get(self.name, 12)

    def __repr__(self) -> str:
        return f"<Formulation {self.name!r} of {self.platform.name!r}>"

    def state_from(self, pose: Any = None, twist: Any = None) -> FloatArray:
        """Return the state vector of a pose `(7,)`, default home, and a twist `(6,)`, default rest.

        Raises:
            InputError: wrong shape, not finite, no unit quaternion.
            SingularPoseError: a leg lies along its universal joint's first axis.
        """
        start_pose, motion = self._checked(pose, twist)
        if self.name.endswith("task"):
            return np.concatenate([start_pose, motion])
        joints, rates = self._joints(start_pose, motion)
        if self.name == "configuration":
            return np.concatenate([joints, rates])
        return np.concatenate([joints[2::3], rates[2::3]])

    def derivative(self, state: Any, forces: Any = None, *, guess: Any = None) -> FloatArray:
        """Return the time derivative of a state vector under actuator forces `(6,)`.

        Args:
            state: `(size,)` as from `state_from`.
            forces: of the actuators [N] or [N m], default none.
            guess: pose `(7,)` from which root tracking starts, default home; used by the actuator
                spaces alone.

        Raises:
            InputError: wrong shape or not finite.
            SingularPoseError: the formulation is singular there or root tracking fails; `data`
                holds formulation and state.
        """
        y = self._state(state)
        force_vector = as_vector(np.zeros(6) if forces is None else forces, "forces", 6)
        track = self.track(self._checked(guess, None, "guess")[0])
        record = np.empty((1, columns.RECORD_SIZE))
        reason, _ = self._march(y, track, force_vector, np.zeros(1), record, np.zeros(2), 1.0)
        if reason != END_REACHED or not np.isfinite(record).all():
            raise SingularPoseError(
                f"{self.name} has no derivative at this state: the pose is singular for it, or "
                "its pose cannot be tracked from the guess. Move away from it or give a guess.",
                {"formulation": self.name, "state": y.copy()},
            )
        joints = record[0, columns.JOINT_ACCELERATION_ENTRY :][:JOINT_COUNT]
        if self.name == "configuration":
            return np.concatenate([y[JOINT_COUNT:], joints])
        if self.name in ROOT_TRACKING:
            return np.concatenate([y[6:], joints[2::3]])
        omega, vector = y[10:], y[4:7]
        quaternion_rate = [-omega @ vector, *(y[3] * omega + np.cross(omega, vector))]
        return np.concatenate(
            [y[7:10], 0.5 * np.array(quaternion_rate), record[0, PLATFORM_ACCELERATION:][:6]]
        )

    def generalised_forces(self, pose: Any, twist: Any, accelerations: Any) -> FloatArray:
        """Return the generalised forces of a motion `(k, 6)` by inverse dynamics.

        "extended_to_actuator": forces [N] or torques [N m] of the actuators for accelerations of
        their coordinates. "extended_to_task": wrench on the platform for accelerations of the
        twist.

        Args:
            pose: `(k, 7)`.
            twist: `(k, 6)`.
            accelerations: `(k, 6)` of the formulation's coordinates.

        Raises:
            InputError: another formulation, wrong shapes, not finite.
            SingularPoseError: the formulation is singular at a pose; `data` holds its index.

        Reference: extended-configuration-space paper, section 6.1.
        """
        one_of(self.name, "formulation", ("extended_to_task", "extended_to_actuator"))
        poses = as_pose(as_floats(pose, "pose"), "pose").reshape(-1, 7)
        states = np.concatenate([poses, _rows(twist, "twist", len(poses))], axis=1)
        acceleration_rows = _rows(accelerations, "accelerations", len(poses))
        forces = np.empty_like(acceleration_rows)
        succeeded = generalised_forces(
            self.name in ROOT_TRACKING, self.model, states, acceleration_rows, forces, make_work()
        )
        if succeeded < len(poses):
            raise SingularPoseError(
                f"{self.name} has no inverse dynamics at pose {succeeded}: it is singular for it.",
                {"formulation": self.name, "index": succeeded},
            )
        return forces

    def integrate(
        self,
        duration: float,
        timestep: float = 1e-2,
        pose: Any = None,
        twist: Any = None,
        forces: Any = None,
        tolerance: float = 1e-13,
    ) -> FormulationRun:
        """Return the motion over `duration` [s] by Dormand-Prince 5(4).

        Args:
            duration: [s].
            timestep: [s] between the times of the result; divides the duration.
            pose: start `(7,)`, default home.
            twist: start `(6,)`, default rest.
            forces: `(6,)` [N] or [N m] constant, default free motion.
            tolerance: relative and absolute, per step.

        Raises:
            InputError: wrong shapes, not finite, a step that does not divide.
            SingularPoseError: the start is singular for the leg's universal joint.
            IntegrationError: the formulation meets its singular pose, or the step collapses;
                `data` holds reason, time, pose, twist and step, and as `run` the motion until
                there.
        """
        start_pose, motion = self._checked(pose, twist)
        force_vector = as_vector(np.zeros(6) if forces is None else forces, "forces", 6)
        grid = _grid(positive(duration, "duration"), positive(timestep, "timestep"))
        positive(tolerance, "tolerance")
        y, track, time_and_step = (
            self.state_from(start_pose, motion),
            self.track(start_pose),
            np.zeros(2),
        )
        records = np.empty((len(grid), columns.RECORD_SIZE))
        reason, n_steps = self._march(
            y, track, force_vector, grid, records, time_and_step, tolerance
        )
        run = run_of(self.name, grid[:n_steps], records[:n_steps])
        if not n_steps:  # no derivative at the start, so no record of it
            records[0, :13] = np.concatenate([start_pose, motion])
        if reason != END_REACHED:
            raise self._stopped(reason, run, records[n_steps], time_and_step)
        return run

    def _march(
        self,
        y: FloatArray,
        track: FloatArray,
        forces: FloatArray,
        grid: FloatArray,
        records: FloatArray,
        time_and_step: FloatArray,
        tolerance: float,
    ) -> tuple[int, int]:
        """Fill the records; return reason and number of times reached."""
        equations = march.Equations(self.kind, self.model, forces, track, make_work())
        tolerances = Tolerances(tolerance, tolerance)
        return march.march(equations, y, grid, tolerances, records, time_and_step)

    def _checked(self, pose: Any, twist: Any, field: str = "pose") -> tuple[FloatArray, FloatArray]:
        start_pose = one_pose(self.platform.home if pose is None else pose, field)
        return start_pose, as_vector(np.zeros(6) if twist is None else twist, "twist", 6)

    def _state(self, state: Any) -> FloatArray:
        """Return a checked copy of a state."""
        y = as_vector(state, "state", self.size).copy()
        if self.name.endswith("task"):
            y[:7] = as_pose(y[:7], "state")
            return y
        lengths = y[2:18:3] if self.name == "configuration" else y[:6]
        if self.platform.leg.equations == "ups" and not (lengths > 0.0).all():
            raise InputError("state", "lengths must be above zero")
        return y

    def _joints(self, pose: FloatArray, twist: FloatArray) -> tuple[FloatArray, FloatArray]:
        legs = self.platform.leg_coordinates(pose, twist)
        joints = extended_joints(self.platform, legs.values)
        joints[:, 2] += self.platform.home_coordinates
        rates = extended_joints(self.platform, legs.rates)
        return joints.reshape(JOINT_COUNT), rates.reshape(JOINT_COUNT)

    def track(self, pose: FloatArray) -> FloatArray:
        """Return what root tracking starts from: joints in column 0, or else the pose in row 0."""
        track = np.zeros((JOINT_COUNT, 7))
        if self.name == "actuator":
            track[:, 0] = self._joints(pose, np.zeros(6))[0]
        else:
            track[0] = pose
        return track

    def _stopped(
        self, reason: int, run: FormulationRun, last: FloatArray, time_and_step: FloatArray
    ) -> IntegrationError:
        """Return the error of a run that ended early, with what to do."""
        condition = float(self.platform.condition_number(as_pose(last[:7])))
        if (
            reason == STEP_COLLAPSED
            and self.name in ROOT_TRACKING
            and condition > SINGULAR_CONDITION
        ):
            reason = SINGULAR_STATE
        kind, advice = {
            SINGULAR_STATE: (
                "singular pose",
                f"condition number of the Jacobian {condition:.3g}; the coordinates of this "
                "formulation end there, those of a task-space formulation go on",
            ),
            STEP_COLLAPSED: (
                "step size collapse",
                "the accelerations grow without bound or the tolerance is below rounding",
            ),
        }.get(reason, ("too many steps", "use larger tolerances or a shorter duration"))
        time, step = time_and_step.tolist()
        return IntegrationError(
            f"{self.name} stopped at t = {time:.9g} s ({kind}, last step {step:.3g} s): {advice}",
            {
                "formulation": self.name,
                "reason": kind,
                "time": time,
                "pose": last[:7].copy(),
                "twist": last[7:13].copy(),
                "step": step,
                "condition_number": condition,
                "run": run,
            },
        )


def _rows(value: Any, field: str, count: int) -> FloatArray:
    value_rows = as_floats(value, field)
    if value_rows.shape != (count, 6):
        raise InputError(field, f"must have shape ({count}, 6), got {value_rows.shape}")
    return np.ascontiguousarray(value_rows)


def _grid(end: float, step: float) -> FloatArray:
    if end / step > MAX_TIMES:
        raise InputError("timestep", f"more than {MAX_TIMES} steps; use a larger one")
    n_intervals = round(end / step)
    if n_intervals < 1 or abs(n_intervals * step - end) > 1e-9 * max(step, end):
        raise InputError("timestep", f"{step:.9g} s does not divide the {end:.9g} s")
    return np.linspace(0.0, end, n_intervals + 1)


class Operations(NamedTuple):
    """Operations of one evaluation."""

    additions: int
    """additions and subtractions"""
    multiplications: int
    divisions: int
    functions: int
    """roots, trigonometric functions and their inverses"""

    @property
    def total(self) -> int:
        """Number of all operations."""
        return sum(self)


class Counted(float):
    """A number that counts the operations that it takes part in."""

    counts = np.zeros(4, dtype=np.int64)
    """additions, multiplications, divisions, functions since they were set to zero"""

    def _counted(self, kind: int, value: float) -> Counted:
        self.counts[kind] += 1
        return Counted(value)

    def __add__(self, other: float) -> Counted:
        return self._counted(0, float(self) + float(other))

    def __sub__(self, other: float) -> Counted:
        return self._counted(0, float(self) - float(other))

    def __rsub__(self, other: float) -> Counted:
        return self._counted(0, float(other) - float(self))

    def __mul__(self, other: float) -> Counted:
        return self._counted(1, float(self) * float(other))

    def __truediv__(self, other: float) -> Counted:
        return self._counted(2, float(self) / float(other))

    def __rtruediv__(self, other: float) -> Counted:
        return self._counted(2, float(other) / float(self))

    def __neg__(self) -> Counted:
        return Counted(-float(self))

    def __abs__(self) -> Counted:
        return Counted(abs(float(self)))

    __radd__ = __add__
    __rmul__ = __mul__


def operations(formulation: Formulation) -> Operations:
    """Return the operations of one derivative at home and at rest, its root already found."""
    counting_state = _counting(formulation.state_from())
    track = _counting(formulation.track(formulation.platform.home))
    equations = march.Equations(
        formulation.kind,
        _counting(formulation.model),
        _counting(np.zeros(6)),
        track,
        _counting(make_work()),
    )
    derivative = interpreted(march.derivative)
    Counted.counts[:] = 0
    previous_profiler = sys.getprofile()
    sys.setprofile(_count_functions)
    try:
        derivative(equations, counting_state, _counting(np.zeros(len(counting_state))))
    finally:
        sys.setprofile(previous_profiler)
    return Operations(*(int(count) for count in Counted.counts))


def _count_functions(frame: Any, event: str, called: Any) -> None:
    if event == "c_call" and getattr(called, "__module__", "") == "math":
        Counted.counts[3] += 1


class CountedArray(np.ndarray):
    """An array whose numbers are counted when they are read."""

    def __getitem__(self, index: Any) -> Any:
        entry = super().__getitem__(index)
        return Counted(entry) if isinstance(entry, np.floating) else entry


def _counting(value: Any) -> Any:
    """Return arrays, and tuples of them, with counted numbers."""
    if isinstance(value, tuple):
        return type(value)(*(_counting(part) for part in value))
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return value.view(CountedArray)
