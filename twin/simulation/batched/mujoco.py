"""Batched plants in MuJoCo: one batch of simulations, stepped on all cores.

Results are those of single engines, bit for bit. Forces of drives and of dry friction are held over
each step of the engine, so that MuJoCo is called once a step; where nothing changes within a
period, it takes all but the last step at once. The machine is compiled without what is only for
display.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple, cast

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray, NotCopied
from twin.engines.base import LARGEST_GAP, Scheme, check_timestep
from twin.engines.mechanism import Mechanism, check_masses, joint_motion, make_mechanism
from twin.engines.mjcf import BALL_NAME, REFERENCE_BODY
from twin.engines.mujoco import (
    INTEGRATION_STATE,
    FreeBody,
    compile_model,
    coordinates,
    layout_of,
    make_settings,
    mujoco,
    platform_of,
    velocities,
)
from twin.errors import InputError
from twin.kernels.batched.mujoco import after_period, before_step, read_balls, store_twists
from twin.machine.mechanism import PLATFORM_NAME
from twin.model.ball import Ball, place_on_plate
from twin.model.batch import usable_cores
from twin.model.engine import Fidelity, State
from twin.model.machine_model import MachineModel
from twin.plant.signals import COMMAND_MODES
from twin.simulation.batched.batched_plant import BatchedPlant, place_drives


class Fields(NamedTuple):
    """MuJoCo's own arrays of all machines, no copies."""

    qpos: FloatArray
    qvel: FloatArray
    ctrl: FloatArray
    generalised_forces: FloatArray
    """generalised forces that are applied"""
    sites: FloatArray
    """`(N, sites, 3)` positions of the sites [m], base axes"""
    positions: FloatArray
    """`(N, 3)` position of the platform [m], base axes"""
    quaternions: FloatArray
    """`(N, 4)` orientation of the platform in the base, scalar first"""
    motions: FloatArray
    """`(N, 6)` of the platform: angular velocity [rad/s], velocity of the tree's centre of mass
    [m/s]"""
    centers: FloatArray
    """`(N, 3)` centre of mass of the platform's tree [m], base axes"""
    warning: Any
    """`(N, kinds, 2)` last information and count of MuJoCo's warnings"""


class PlantArrays(NamedTuple):
    """Arrays of all machines that are not among those of MuJoCo."""

    home: FloatArray
    """`(N, n)` coordinates of the actuators at home"""
    quaternion_sign: FloatArray
    """`(N,)` 1 or -1: factor on MuJoCo's quaternion of a platform on joints, for the sign of the
    pose that was set"""
    previous_twists: FloatArray
    """`(N, 6)` twists one step of the engine before the end of the period"""


class Cycle(NamedTuple):
    """Arrays that the kernels between two steps use; few arguments shorten the call."""

    constants: FloatArray
    states: FloatArray
    gains: FloatArray
    counters: Any
    queue: FloatArray
    reset_speeds: FloatArray
    zeros: FloatArray
    failed: Any
    coordinates: FloatArray
    rates: FloatArray
    forces: FloatArray
    qpos: FloatArray
    qvel: FloatArray
    ctrl: FloatArray
    generalised_forces: FloatArray
    warning: Any
    joints: IndexArray
    joint_gains: FloatArray
    springs: IndexArray
    sliding_joints: IndexArray
    home: FloatArray
    """`(N, n)` coordinates of the actuators at home"""
    foot_friction: FloatArray
    """`(N, f, 2)` Coulomb friction [N] and transition speed [m/s] of the feet"""


def cycle_of(home: FloatArray, foot_friction: FloatArray, *groups: Any) -> Cycle:
    """Return the arrays of a cycle from groups of arrays that have them by the same names."""
    cycle_fields: dict[str, Any] = {"home": home, "foot_friction": foot_friction}
    for group in groups:
        cycle_fields |= group._asdict()
    return Cycle(*(cycle_fields[name] for name in Cycle._fields))


def fields_of(batch: Any) -> Fields:
    """Return the arrays of a batch; those of bodies are the results of its last call."""
    body = batch.model.body(PLATFORM_NAME)
    return Fields._make(
        [
            *map(batch.bind, ("qpos", "qvel", "ctrl", "qfrc_applied", "site_xpos")),
            *(batch.bind(name)[:, body.id] for name in ("xpos", "xquat", "cvel")),
            batch.bind("subtree_com")[:, body.rootid[0]],
            batch.warning,
        ]
    )


def wrenches_of(batch: Any) -> FloatArray:
    """Return MuJoCo's own array `(N, 6)` of wrenches on the platforms' reference points."""
    wrenches: FloatArray = batch.bind("xfrc_applied")[:, batch.model.body(REFERENCE_BODY).id]
    return wrenches


def have_same_parts(one: Any, other: Any) -> bool:
    """Return whether two models have the same parts at the same indices."""
    size_names = ("nq", "nv", "nu", "nbody", "njnt", "nsite", "ngeom", "neq", "nstate")
    same_sizes = all(getattr(one, size, 0) == getattr(other, size, 0) for size in size_names)
    return same_sizes and part_names(one) == part_names(other)


def part_names(model: Any) -> list[str]:
    """Return the names of a model's joints, sites and actuators in their order."""
    kinds = (mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_ACTUATOR)
    counts = (model.njnt, model.nsite, model.nu)
    return [
        str(mujoco.mj_id2name(model, int(kind), part_index))
        for kind, n_parts in zip(kinds, counts, strict=True)
        for part_index in range(n_parts)
    ]


class CompiledMachine(NamedTuple):
    """A machine as MuJoCo has it."""

    machine: Mechanism
    model: Any

    @property
    def foot_friction(self) -> FloatArray:
        """Coulomb friction [N] and transition speed [m/s] of the sliding feet `(f, 2)`."""
        feet = [(foot.coulomb, foot.transition_speed) for foot in self.machine.frictions]
        return np.array(feet, dtype=float).reshape(-1, 2)


def compile_machine(
    platform: MachineModel, timestep: float, fidelity: str, ball: Ball | None
) -> CompiledMachine:
    """Return a machine compiled for steps of `timestep` [s], with a ball on it or without.

    Raises:
        InputError: MuJoCo refuses the machine.
    """
    machine = _without_shapes(make_mechanism(platform.parameters, ball=ball))
    check_masses(machine, platform.parameters, "mujoco")
    model = compile_model(machine, timestep)
    make_settings(timestep, cast(Fidelity, fidelity)).apply(model, timestep)
    # A bad state must be seen; MuJoCo would put the machine home and go on.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    return CompiledMachine(machine, model)


def scheme_of(platform: MachineModel, timestep: float, fidelity: str) -> Scheme:
    """Return the scheme for springs and dampers; dry friction is held constant over a step."""
    feet = (getattr(leg, "friction", None) for leg in platform.parameters.legs)
    if any(foot is not None and foot.coulomb for foot in feet):
        return "explicit"
    return make_settings(timestep, cast(Fidelity, fidelity)).scheme


def has_drives(platform: MachineModel) -> bool:
    """Return whether forces on a machine's legs differ from their commands."""
    return any(leg.drive is not None for leg in platform.parameters.legs)


def _without_shapes(machine: Mechanism) -> Mechanism:
    """Return a machine without shapes: it steps the same, 6 % faster, in half the memory."""
    bare_bodies = tuple(body._replace(shapes=()) for body in machine.bodies)
    return replace(machine, base_shapes=(), bodies=bare_bodies)


batches: Any = import_module("mujoco.batch")  # here, where a missing MuJoCo has been reported

stages = mujoco.mjtStage
STEP_STAGE, POSITION_STAGE, VELOCITY_STAGE = map(
    int, (stages.mjSTAGE_NONE, stages.mjSTAGE_POS, stages.mjSTAGE_VEL)
)
"""Stages of MuJoCo up to which derived quantities are computed at the end of a call."""


class MujocoBatchedPlant(NotCopied, BatchedPlant):
    """Machines in one `mujoco.batch.Batch`.

    The fidelity "accurate" integrates with RK4, "fast" with Euler's method; see the engine. A
    batch of one gives what one of many gives, and both what `MujocoEngine` gives.
    """

    name = "mujoco"
    default_fidelity = "accurate"

    def _prepare(self) -> None:
        """Compile the machine."""
        platform, size = self.platform, self.size
        self._nominal = self._compile(platform)
        self._compiled = [self._nominal] * size
        self._models: list[Any] = []
        self._gravity: list[Any] = []
        machine, model = self._nominal
        self._batch: Any = batches.Batch(model, size, min(size, usable_cores()))
        self._layout = layout_of(machine, model)
        self._joints = coordinates(model, machine.joint_names)
        self._joint_rates = velocities(model, machine.joint_names)
        self._fields = fields_of(self._batch)
        self._wrenches = wrenches_of(self._batch)
        home = np.tile(platform.home_coordinates, (size, 1))
        self._plant_arrays = PlantArrays(home, np.ones(size), np.zeros((size, 6)))
        self._foot_friction = np.tile(self._nominal.foot_friction, (size, 1, 1))
        self._data = mujoco.MjData(model)
        self._is_gravity_changed = False
        self._has_drives = np.full(size, has_drives(platform))
        self._stage = POSITION_STAGE if machine.floats else VELOCITY_STAGE
        self._adopt_arrays()

    def close(self) -> None:
        """Free the batch; calling it twice is allowed."""
        super().close()
        self._batch = None
        for resources in (self._compiled, self._models, self._gravity):
            resources.clear()

    def _check_step(self, platform: MachineModel, timestep: float) -> None:
        check_timestep(platform, timestep, self.name, scheme_of(platform, timestep, self.fidelity))

    def _compile(self, platform: MachineModel) -> CompiledMachine:
        return compile_machine(platform, self.timestep, self.fidelity, self.rolling_ball)

    def _adopt(self, index: int, platform: MachineModel) -> None:
        if platform is self.platform:
            compiled = self._nominal._replace(model=copy.copy(self._nominal.model))
        else:
            compiled = self._compile(platform)
        foot_friction = compiled.foot_friction
        if (
            not have_same_parts(self._nominal.model, compiled.model)
            or foot_friction.shape != self._foot_friction.shape[1:]
            or np.any(compiled.machine.measured_gains != self._layout.joint_gains)
        ):
            raise InputError(
                "platforms", f"{platform.name} is no machine like {self.platform.name}"
            )
        super()._adopt(index, platform)
        self._compiled[index], self._foot_friction[index] = compiled, foot_friction
        self._plant_arrays.home[index] = platform.home_coordinates
        self._has_drives[index] = has_drives(platform)
        self._set_models()

    def _adopt_arrays(self) -> None:
        groups = (self._drive_arrays, self.machines, self._fields, self._layout)
        self._cycle = cycle_of(self._plant_arrays.home, self._foot_friction, *groups)

    def _set_models(self) -> None:
        """Hand the machines' own models to the batch.

        Raises:
            InputError: one of them has other parts than the others.
        """
        self._models = [compiled.model for compiled in self._compiled]
        self._gravity = [model.opt.gravity for model in self._models]
        try:
            self._batch.set_models(self._models)
        except ValueError as error:
            raise InputError("platforms", f"must all have the same parts ({error})") from None

    def _place(self, index: int, state: State, ball: Any) -> None:
        """Put one machine into a state, and its ball at (x, y, vx, vy) on the plate."""
        (machine, model), data = self._compiled[index], self._data
        mujoco.mj_resetData(model, data)
        legs = self.platforms[index].leg_coordinates(
            state.pose, state.twist, deflection=state.deflection
        )
        joints = joint_motion(machine, legs)
        data.qpos[self._joints] = joints.values
        data.qvel[self._joint_rates] = joints.rates
        platform = platform_of(machine, model, data)
        platform.place(state.pose, state.twist)
        self._plant_arrays.quaternion_sign[index] = platform.sign
        if self.rolling_ball is not None:
            self.ball[index] = place_on_plate(self.rolling_ball, state.pose, state.twist, ball)
            self.ball_lost[index] = False
            FreeBody(model, data, BALL_NAME).place(self.ball[index, :7], self.ball[index, 7:])
        elif ball is not None:
            raise InputError("ball", "this batch was made without one")
        self._batch.reset([index], stage=STEP_STAGE)  # warnings that were counted
        mujoco.mj_getState(model, data, self._batch.state[index], INTEGRATION_STATE)
        joint_positions, joint_speeds = self._layout.joints
        gains = self._layout.joint_gains
        lengths = self._plant_arrays.home[index] + (gains * data.qpos[joint_positions]).sum(axis=0)
        rates = (gains * data.qvel[joint_speeds]).sum(axis=0)
        # The drives start at exactly the joint coordinates that MuJoCo has.
        state = state._replace(lengths=lengths, rates=rates)
        plant, machines = self._plants[index], self.machines
        place_drives(self._drive_arrays, index, plant, self._gains, state)
        machines.coordinates[index], machines.rates[index] = plant.actuated(state)

    def _advance(self) -> None:
        machines = self.machines
        self._issue()
        self._wrenches[:] = self._inputs.wrench
        self._plant_arrays.previous_twists[:] = machines.twist
        settings = (self.ratio, COMMAND_MODES.index(self.mode), self.timestep)
        indices, runs = self._running_machines(), self._runs()
        with _no_log():
            for run_number, run_length in enumerate(runs, start=1):
                self._set_base_accelerations(run_number - 1)
                if before_step(self._cycle, *settings, run_length - 1):
                    indices = self._running_machines()
                if 1 < run_number == len(runs):
                    store_twists(
                        machines.failed,
                        self._fields,
                        self._layout,
                        self._plant_arrays.previous_twists,
                    )
                self._step(
                    indices, run_length, self._stage if run_number >= len(runs) - 1 else STEP_STAGE
                )
        end_arguments = (self._plant_arrays, LARGEST_GAP, self.period, self.timestep)
        after_period(self._drive_arrays, machines, self._fields, self._layout, *end_arguments)
        if self.rolling_ball is not None:
            read_balls(machines.failed, self._fields, self.ball)
            self._note_lost_balls()

    def _runs(self) -> list[int]:
        """Return the numbers of engine steps for which forces are held, one after the other."""
        inputs_change = self._is_shaken or self._foot_friction.size or self._has_drives.any()
        constant = self.mode == "force" and not inputs_change
        return [self.ratio - 1, 1] if constant and self.ratio > 1 else [1] * self.ratio

    def _running_machines(self) -> Any:
        """Return the machines that have not failed; None for all."""
        is_failed = self.machines.failed
        return np.flatnonzero(~is_failed).astype(np.int32) if is_failed.any() else None

    def _step(self, indices: Any, count: int, stage: int) -> None:
        """Step machines; those in which MuJoCo gives up keep the state they had, and fail."""
        try:
            self._batch.step(indices, count, stage)
        except batches.SimulationError as error:
            self.machines.failed[error.ids] = True

    def _set_base_accelerations(self, substep: int) -> None:
        """Apply the acceleration of the bases in one step of the engine, or end it."""
        if not (self._is_shaken or self._is_gravity_changed):
            return
        if not self._is_gravity_changed:
            for index, compiled in enumerate(self._compiled):
                if compiled is self._nominal:
                    self._compiled[index] = compiled._replace(model=copy.copy(compiled.model))
            self._set_models()
        fields = np.zeros((self.size, 3))
        fields[:, 2] = [-compiled.machine.gravity for compiled in self._compiled]
        if self._is_shaken:
            fields -= self._inputs.shaking[:, substep]
        for gravity, field in zip(self._gravity, fields, strict=True):
            gravity[:] = field
        self._is_gravity_changed = self._is_shaken
        self._batch.set_models(self._models)  # required after any change


@contextmanager
def _no_log() -> Iterator[None]:
    """Suppress MuJoCo's warning file, because the batch counts the warnings."""
    previous_handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(previous_handler)
