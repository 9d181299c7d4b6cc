"""Batched plants in MuJoCo: one batch of simulations, stepped on all cores.

Results are those of single engines, bit for bit. Forces of drives and of dry friction are held over
each step of the engine, so that MuJoCo is called once a step; where nothing changes within a
period, it takes all but the last step at once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from twin.basics.copies import NotCopied
from twin.engines.guard import LARGEST_GAP
from twin.engines.mechanism.joints import joint_motion
from twin.engines.mjcf.ball import BALL
from twin.engines.mujoco.engine import SAVED
from twin.engines.mujoco.model import coordinates, mujoco, velocities
from twin.engines.mujoco.platform import FreeBody, platform_of
from twin.engines.stability import check_timestep
from twin.errors import InputError
from twin.kernels.batched.drives import issue_all
from twin.kernels.batched.mujoco import after_period, before_step, keep_twists, read_balls
from twin.model.ball.position import is_lost, on_plate, place_on_plate
from twin.model.batch import usable_cores
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.plant.signals import MODES
from twin.simulation.batched.batched_plant import BatchedPlant
from twin.simulation.batched.drive_arrays import place_drives
from twin.simulation.batched.mujoco_machine import (
    CompiledMachine,
    Kept,
    alike,
    compile_machine,
    cycle_of,
    fields_of,
    has_drives,
    layout_of,
    scheme_of,
    wrenches_of,
)

batches: Any = import_module("mujoco.batch")  # here, where a missing MuJoCo has been reported

STEP_ONLY, POSITIONS, MOTIONS = (
    int(stage)
    for stage in (
        mujoco.mjtStage.mjSTAGE_NONE,
        mujoco.mjtStage.mjSTAGE_POS,
        mujoco.mjtStage.mjSTAGE_VEL,
    )
)
"""What is computed at the end of a call, beside the state."""


class MujocoBatchedPlant(NotCopied, BatchedPlant):
    """Machines in one `mujoco.batch.Batch`.

    The fidelity "accurate" integrates with RK4, "fast" with Euler's method; see the engine. A
    batch of one gives what one of many gives, and both what `MujocoEngine` gives.
    """

    name: ClassVar[str] = "mujoco"
    own_fidelity: ClassVar[str] = "accurate"

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
        self._kept = Kept(home, np.ones(size), np.zeros((size, 6)))
        self._dry = np.tile(self._nominal.dry_friction, (size, 1, 1))
        self._data = mujoco.MjData(model)
        self._tilted = False
        self._driven = np.full(size, has_drives(platform))
        self._stage = POSITIONS if machine.floats else MOTIONS
        self._adopt_arrays()

    def close(self) -> None:
        """Free the batch; calling it twice is allowed."""
        super().close()
        self._batch = None
        for own in (self._compiled, self._models, self._gravity):
            own.clear()

    def _check_step(self, platform: MachineModel, timestep: float) -> None:
        check_timestep(platform, timestep, self.name, scheme_of(platform, timestep, self.fidelity))

    def _compile(self, platform: MachineModel) -> CompiledMachine:
        return compile_machine(platform, self.timestep, self.fidelity, self.rolling_ball)

    def _adopt(self, index: int, platform: MachineModel) -> None:
        if platform is self.platform:
            made = self._nominal._replace(model=copy.copy(self._nominal.model))
        else:
            made = self._compile(platform)
        dry = made.dry_friction
        if not alike(self._nominal.model, made.model) or dry.shape != self._dry.shape[1:]:
            raise InputError(
                "platforms", f"{platform.name} is no machine like {self.platform.name}"
            )
        super()._adopt(index, platform)
        self._compiled[index], self._dry[index] = made, dry
        self._kept.home[index] = platform.home_coordinates
        self._driven[index] = has_drives(platform)
        self._set_models()

    def _adopt_arrays(self) -> None:
        groups = (self._drive_arrays, self.machines, self._fields, self._layout)
        self._cycle = cycle_of(self._kept.home, self._dry, *groups)

    def _set_models(self) -> None:
        """Hand the machines' own models to the batch.

        Raises:
            InputError: one of them has other parts than the others.
        """
        self._models = [made.model for made in self._compiled]
        self._gravity = [model.opt.gravity for model in self._models]
        try:
            self._batch.set_models(self._models)
        except ValueError as error:
            raise InputError("platforms", f"must all have the same parts ({error})") from None

    def _place(self, index: int, state: State, ball: Any) -> None:
        """Put the machine where its engine would, and its whole record into the batch."""
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
        self._kept.sign[index] = platform.sign
        if self.rolling_ball is not None:
            self.ball[index] = place_on_plate(self.rolling_ball, state.pose, state.twist, ball)
            self.ball_lost[index] = False
            FreeBody(model, data, BALL).place(self.ball[index, :7], self.ball[index, 7:])
        elif ball is not None:
            raise InputError("ball", "this batch was made without one")
        self._batch.reset([index], stage=STEP_ONLY)  # warnings that were counted
        mujoco.mj_getState(model, data, self._batch.state[index], SAVED)
        places, speeds = self._layout.joints
        lengths = self._kept.home[index] + data.qpos[places].sum(axis=0)
        rates = data.qvel[speeds].sum(axis=0)
        self._hold(index, state._replace(lengths=lengths, rates=rates))

    def _hold(self, index: int, state: State) -> None:
        """Let the drives of a machine start where MuJoCo's joints are, to the last bit."""
        plant, machines = self._plants[index], self.machines
        place_drives(self._drive_arrays, index, plant, self._gains, state)
        machines.coordinates[index], machines.rates[index] = plant.actuated(state)

    def _advance(self) -> None:
        arrays, machines, inputs = self._drive_arrays, self.machines, self._inputs
        issue_all(
            arrays.counters, arrays.queue, inputs.command, inputs.feedforward, machines.failed
        )
        self._wrenches[:] = inputs.wrench
        self._kept.before[:] = machines.twist
        settings = (self.ratio, MODES.index(self.mode), self.timestep)
        indices, runs = self._going(), self._runs()
        with _no_log():
            for part, length in enumerate(runs, start=1):
                self._tilt(part - 1)
                if before_step(self._cycle, *settings, length - 1):
                    indices = self._going()
                if 1 < part == len(runs):
                    keep_twists(machines.failed, self._fields, self._layout, self._kept.before)
                self._step(indices, length, self._stage if part >= len(runs) - 1 else STEP_ONLY)
        ends = (self._kept, LARGEST_GAP, self.period, self.timestep)
        after_period(arrays, machines, self._fields, self._layout, *ends)
        if self.rolling_ball is not None:
            read_balls(machines.failed, self._fields, self.ball)
            lost = is_lost(self.rolling_ball, on_plate(self.pose, self.twist, self.ball))
            self.ball_lost |= lost & ~machines.failed

    def _runs(self) -> list[int]:
        """Return the numbers of steps of the engine over which forces are held, in turn."""
        changing = self._shaken or self._dry.size or self._driven.any()
        constant = self.mode == "force" and not changing
        return [self.ratio - 1, 1] if constant and self.ratio > 1 else [1] * self.ratio

    def _going(self) -> Any:
        """Return the machines that have not failed; None for all."""
        failed = self.machines.failed
        return np.flatnonzero(~failed).astype(np.int32) if failed.any() else None

    def _step(self, indices: Any, count: int, stage: int) -> None:
        """Step machines; those in which MuJoCo gives up keep the state they had, and fail."""
        try:
            self._batch.step(indices, count, stage)
        except batches.SimulationError as error:
            self.machines.failed[error.ids] = True

    def _tilt(self, part: int) -> None:
        """Apply the acceleration of the bases in one step of the engine, or end it."""
        if not (self._shaken or self._tilted):
            return
        if not self._tilted:
            for index, made in enumerate(self._compiled):
                if made is self._nominal:
                    self._compiled[index] = made._replace(model=copy.copy(made.model))
            self._set_models()
        felt = np.zeros((self.size, 3))
        felt[:, 2] = [-made.machine.gravity for made in self._compiled]
        if self._shaken:
            felt -= self._inputs.shaking[:, part]
        for own, field in zip(self._gravity, felt, strict=True):
            own[:] = field
        self._tilted = self._shaken
        self._batch.set_models(self._models)  # required after any change


@contextmanager
def _no_log() -> Iterator[None]:
    """Keep MuJoCo from writing warnings to a file: the batch counts them."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_ignore)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _ignore(_: str) -> None:
    """Let a warning pass."""
