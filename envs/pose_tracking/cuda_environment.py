"""Pose tracking on a graphics card: the environment, and its machines and motions as arrays."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from twin.analysis.platform import Platform
from twin.basics.arrays import as_instance, whole_number
from twin.envs.channels import width
from twin.envs.environment import task_spaces
from twin.envs.episodes import SIGNAL_SETTINGS, Episodes, as_seed, machine_or_default
from twin.envs.pose_tracking.task import PoseTracking
from twin.errors import ClosedEngineError, InputError, StateError, brief
from twin.kernels.cuda.batches import Period, Rows, Sizes
from twin.kernels.cuda.pose_tracking import Layout, States, Tables, Views, tracking_kernel
from twin.model.device import THREADS_PER_BLOCK, CardModel, as_card_array, is_on_card
from twin.plant.signals import COMMAND_MODES

MAX_MOTIONS = 256
"""Default limit on the number of random motions that are drawn: each takes some 3 ms."""


def assign_rows(task: PoseTracking) -> tuple[Rows, Views]:
    """Assign rows of the card's tables to the arrays of a task; return the rows and their views."""
    machines, _, history, results, _, _, signals = task.groups
    size, n = task.size, task.platform.n_actuators
    drives, rows = task.batch.drives, Rows()
    task_arrays = (
        np.zeros((size, n)),
        np.zeros_like(task.last_action),
        *(results[index] for index in (2, 4, 5)),
    )
    groups = (machines, drives[:-1], history, signals, task_arrays)
    return rows, Views(*(rows.add(group) for group in groups))


def layout_of(task: PoseTracking, rows: Rows, views: Views, episode_periods: int) -> Layout:
    """Return the sizes and constants for which the kernel of a task is compiled.

    Args:
        task: task with its pool of motions.
        rows: rows of its arrays.
        views: views of the same rows.
        episode_periods: number of control periods in an episode.
    """
    batch, law, reference, task_settings = (
        task.batch,
        task.acting.law,
        task.groups[4],
        task.groups[5],
    )
    legs = batch.platform.constants.legs
    return Layout(
        Sizes(type(legs), *legs.rows.shape),
        Period(batch.ratio, COMMAND_MODES.index(batch.mode), batch.timestep),
        views,
        (rows.sizes[0], rows.sizes[1]),
        task.size,
        reference[0].shape[1],
        width(task.actions),
        width(task.observations),
        len(task.weights),
        tuple(task_settings),
        (float(law.gain), float(law.period), bool(law.residual)),
        batch.mode == "velocity",
        episode_periods,
    )


def tables_of(task: PoseTracking, rows: Rows, copy: Any) -> Tables:
    """Return the tables of the motion pool on a card; `copy` copies a flat array there."""
    body, legs = task.platform.constants[:2]
    scales, results, reference = task.groups[1], task.groups[3], task.groups[4]
    scales_and_weights = np.concatenate([*scales, task.acting.law.scale, results[1], results[3]])
    floats, numbers = rows.pack()
    arrays = (body, legs.rows, scales_and_weights, floats, numbers, task.observation, *reference)
    return Tables(*(copy(np.ascontiguousarray(array).reshape(-1)) for array in arrays))


def empty_states(size: int, layout: Layout, copy: Any) -> States:
    """Return states in which every machine next starts an episode, on the motion of its index."""
    floats, numbers = layout.entries
    motion = (np.arange(size) - 1) % layout.motions
    arrays = (
        np.zeros(floats * size),
        np.zeros(numbers * size, dtype=np.int64),
        np.zeros(size * layout.observations, dtype=np.float32),
        np.zeros(size),
        np.zeros(size, dtype=bool),
        np.zeros(size, dtype=bool),
        np.ones(size, dtype=bool),
        motion,
    )
    return States(*(copy(array) for array in arrays))


def prepare(
    task: PoseTracking, size: int, episode_periods: int, copy: Any
) -> tuple[Any, Tables, States]:
    """Return the kernel of a task whose episodes have begun, its tables and states.

    Args:
        task: task with its pool of motions.
        size: number of machines on the card.
        episode_periods: number of control periods in an episode.
        copy: copies a flat array to the card.
    """
    rows, views = assign_rows(task)
    layout = layout_of(task, rows, views, episode_periods)
    states = empty_states(size, layout, copy)
    return tracking_kernel(layout), tables_of(task, rows, copy), states


class PoseTrackingCudaEnv(VectorEnv[Any, Any, Any]):
    """Vector environment of `PoseTrackingEnv` on a graphics card.

    Observations, rewards and ends are those of `PoseTrackingVectorEnv`, as arrays on the card with
    the CUDA array interface: `torch.as_tensor(observation, device="cuda")` copies nothing. The
    next step overwrites them. Actions are arrays on the card or of numpy, clipped to 1; one that is
    not finite ends its episode.

    `reset` draws a pool of random motions on the processor. Machine i begins on motion i. An
    episode that is over begins anew on the next motion, within the next step (autoreset
    "NextStep"). With as many motions as machines, the first episodes are those of
    `PoseTrackingVectorEnv` with the same seed.

    Any configuration of the machine is possible, with its drives and encoders. Actions are speeds
    or forces. Increments of the pose, randomised machines, other engines and pictures are refused.
    """

    def __init__(
        self,
        num_envs: int = 1,
        machine: str | Platform = "",
        configuration: str | None = None,
        engine: str = "analytic",
        *,
        max_episode_steps: int | None = None,
        motions: int | None = None,
        randomisation: Any = None,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        """Load the machine; `reset` begins the episodes.

        Args:
            num_envs: number of machines.
            machine: name, path of a platform.toml, or a Platform.
            configuration: configuration of the machine's parameters; None for an ideal plant.
            engine: "analytic".
            max_episode_steps: control periods after which an episode is truncated.
            motions: number of motions in the pool; default one per machine, at most 256.
            randomisation: None.
            render_mode: None.
            autoreset_mode: "NextStep".
            options: options of the task.

        Raises:
            InputError: an argument that cannot be used on a card, or there is no card.
            MissingDependencyError: the extra `cuda` is not installed.
        """
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        for name, value, allowed in (
            ("engine", engine, "analytic"), ("randomisation", randomisation, None),
            ("render_mode", render_mode, None), ("autoreset_mode", mode, "NextStep"),
            ("episode_duration", options.get("episode_duration"), None),
            *((name, options.get(name, 0.0), 0.0) for name in SIGNAL_SETTINGS),
        ):  # fmt: skip
            if value != allowed:
                raise InputError(name, f"must be {allowed} on a graphics card, not {brief(value)}")
        if options.get("action") == "pose":
            raise InputError("action", "must be velocities or forces on a graphics card")
        self.num_envs = whole_number(num_envs, "num_envs", 1)
        self.stock_size = min(num_envs, MAX_MOTIONS) if motions is None else motions
        self._episodes = Episodes(
            PoseTracking,
            machine_or_default(machine, PoseTracking),
            configuration,
            "analytic",
            self.stock_size,
            None,
            options,
        )
        self.task = as_instance(self._episodes.task, "task", PoseTracking)
        self.platform = self._episodes.platform
        self._model = CardModel(self.platform)
        self.single_observation_space, self.single_action_space = task_spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        # No limit: more control periods than any run has.
        self._episode_periods = 2**62 if max_episode_steps in (None, -1) else max_episode_steps
        self._card_parts: tuple[Any, Any, Any] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes in all machines; a seed, and the first call, draw the motions.

        Args:
            seed: motion i is drawn with the seed `seed` + i.
            options: none.

        Raises:
            InputError: a seed or options that cannot be used.
            ClosedEngineError: the environment is closed.
        """
        self._check_open()
        if options:
            raise InputError("options", "a graphics card takes none")
        if self._card_parts is None or seed is not None:
            self._draw(as_seed(seed))
        assert self._card_parts is not None
        kernel, tables, states = self._card_parts
        states.needs_reset.copy_to_device(np.ones(self.num_envs, dtype=bool))
        states.motion.copy_to_device((np.arange(self.num_envs) - 1) % self.stock_size)
        no_actions = np.zeros(self.num_envs * width(self.task.actions))
        self._launch(kernel, tables, states, self._model.copied(no_actions))
        return self._observation(states), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Do one control period in all machines; return arrays on the card.

        Raises:
            InputError: actions of another shape.
            StateError: no episode has begun.
            ClosedEngineError: the environment is closed.
        """
        self._check_open()
        if self._card_parts is None:
            raise StateError("no episode has begun; call reset")
        kernel, tables, states = self._card_parts
        self._launch(kernel, tables, states, self._on_this_card(actions))
        return self._observation(states), states.reward, states.terminated, states.truncated, {}

    def close_extras(self, **_: Any) -> None:
        """Release the arrays on the card."""
        self._card_parts = None

    def _draw(self, seed: int | None) -> None:
        """Draw the pool of motions and copy it to the card."""
        size = self.stock_size
        seeds = [None if seed is None else seed + index for index in range(size)]
        self._episodes.reset(
            np.arange(size), [seeding.np_random(episode_seed)[0] for episode_seed in seeds]
        )
        kernel, tables, states = prepare(
            self.task, self.num_envs, self._episode_periods, self._model.copied
        )
        if self._card_parts is not None:
            kernel = self._card_parts[0]  # the compiled one is used again
        self._card_parts = kernel, tables, states

    def _launch(self, kernel: Any, *arguments: Any) -> None:
        threads = min(THREADS_PER_BLOCK, self.num_envs)
        blocks = ceil(self.num_envs / threads)
        kernel[blocks, threads](*arguments)

    def _observation(self, states: Any) -> Any:
        return states.observation.reshape((self.num_envs, -1))

    def _on_this_card(self, actions: Any) -> Any:
        """Return actions as a flat array on the card."""
        shape = (self.num_envs, width(self.task.actions))
        checked_actions = actions if is_on_card(actions) else np.asarray(actions, dtype=np.float64)
        if tuple(checked_actions.shape) != shape:
            raise InputError(
                "actions", f"must have shape {shape}, not {tuple(checked_actions.shape)}"
            )
        if not is_on_card(checked_actions):
            return self._model.copied(checked_actions.reshape(-1))
        card_actions = as_card_array(checked_actions)
        if not card_actions.is_c_contiguous():
            raise InputError("actions", "must be contiguous on the card")
        return card_actions.reshape(shape[0] * shape[1])

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEngineError("the environment is closed; make a new one")
