"""PlatformEnv: one machine of a task as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from twin.basics.arrays import FloatArray
from twin.envs.channels import width
from twin.envs.episodes import Episodes
from twin.envs.rendering import Frames, check_render_mode
from twin.envs.task import Task
from twin.errors import ClosedEngineError, StateError
from twin.kernels.tasks.observation import LARGEST
from twin.simulation.batched.batched_plant import BatchedPlant
from twin.simulation.platform import Platform
from twin.simulation.scene import Scene

RENDER_MODES = ("human", "rgb_array")
"""`rgb_array_list` is what `gymnasium.make` makes of `rgb_array`."""

ROW = np.array([0])


def task_spaces(task: Task) -> tuple[spaces.Box, spaces.Box]:
    """Return the spaces of observations and of actions of one machine of a task."""
    seen, moved = width(task.observations), width(task.actions)
    return (
        spaces.Box(-LARGEST, LARGEST, (seen,), np.float32),
        spaces.Box(-1.0, 1.0, (moved,), np.float32),
    )


def frames_per_second(task: Task) -> int:
    """Return the pictures per second in real time, at least one."""
    batch: BatchedPlant = task.batch
    return max(1, round(1.0 / batch.period))


def make_frames(task: Task, render_mode: str) -> Frames:
    """Return what shows the machines of a task."""
    batch = task.batch
    return Frames(task.platform, render_mode, batch.rolling_ball, period=batch.period)


class PlatformEnv(gym.Env[Any, Any]):
    """A task on one machine; children name the task and document its spaces.

    Attributes:
        task: actions, observations and what they mean in physical units.
        platform: the machine as its parameters describe it.
    """

    task_type: ClassVar[type[Task]]
    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 100}  # noqa: RUF012

    def __init__(
        self,
        machine: str | Platform = "",
        configuration: str | None = None,
        engine: str = "analytic",
        *,
        render_mode: str | None = None,
        randomisation: Any = None,
        **options: Any,
    ) -> None:
        """Load the machine; `reset` begins an episode.

        Args:
            machine: name, path of a platform.toml, or a Platform; default the task's usual one.
            configuration: configuration of the machine's parameters, such as "hardware"; None for
                an ideal plant.
            engine: "analytic", "mujoco" or "bullet".
            render_mode: "human" (a window), "rgb_array" or None; `gymnasium.make` also takes
                "rgb_array_list".
            randomisation: path -> distribution over numbers of platform.toml and of the task, drawn
                for every episode; a file or a `Randomisation`; None for none.
            options: of the task, see the table.

        Raises:
            InputError: an argument that cannot be used.
            MachineNotFoundError: no such machine.
            ParameterError: a platform.toml that cannot be used.
            MissingDependencyError: the engine's library is not installed.
        """
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self._given = (
            machine or self.task_type.usual_machine,
            configuration,
            engine,
            randomisation,
        )
        self._options = dict(options)
        machine, configuration, engine, randomisation = self._given
        self._episodes = Episodes(
            self.task_type, machine, configuration, engine, 1, randomisation, self._options
        )
        self.task = self._episodes.task
        self.platform = self._episodes.platform
        self.observation_space, self.action_space = task_spaces(self.task)
        self.metadata = {**self.metadata, "render_fps": frames_per_second(self.task)}
        self._info = MachineInfo(self.task, 0)
        self._frames: Frames | None = None
        self._running = self._closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode; `options` are the task's.

        Raises:
            InputError: an option that cannot be used.
            ClosedEngineError: the environment is closed.
        """
        self._check_open()
        super().reset(seed=seed)
        self._running = False
        self._episodes.reset(ROW, [self.np_random], options)
        self._running = True
        if self.render_mode == "human":
            self.render()
        info = self._info()
        info["randomised"] = dict(self._episodes.varied[0])
        return self.task.observation[0].copy(), info

    def step(self, action: Any) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """Do one control period.

        Raises:
            InputError: wrong shape, or not finite.
            StateError: called before `reset`.
            ClosedEngineError: the environment is closed.
        """
        if not self._running:
            self._check_open()
            raise StateError("the environment has no episode; call reset before step")
        self._episodes.step(np.asarray(action)[None])
        task = self.task
        if self.render_mode == "human":
            self.render()
        ended = bool(task.reason[0])
        return task.observation[0].copy(), float(task.reward[0]), ended, False, self._info()

    def render(self) -> Any:
        """Return a picture `(height, width, 3)` of the machine, or show it in a window.

        Raises:
            MissingDependencyError: no OpenGL library draws on this machine.
            StateError: a window without a display; or called before `reset`.
        """
        self._check_open()
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode; give one to make().")
            return None
        if not self._running:
            raise StateError("the environment has no episode; call reset before render")
        if self._frames is None:
            self._frames = make_frames(self.task, self.render_mode)
        return self._frames.frame(self.task.scene(0))

    @property
    def scene(self) -> Scene:
        """Present scene of the machine; its arrays are overwritten by the next step.

        Raises:
            StateError: called before `reset`.
        """
        if not self._running:
            raise StateError("the environment has no episode; call reset before scene")
        scene = self.task.scene(0)
        return scene if scene.ball is None else scene._replace(ball=scene.ball[:7])

    def close(self) -> None:
        """Free engine and pictures; calling it twice is allowed."""
        if self._frames is not None:
            self._frames.close()
        self._episodes.close()
        self._running, self._closed = False, True

    def __reduce__(self) -> tuple[Any, ...]:
        """Make copies anew from the arguments, as Gymnasium's own are; they have no episode."""
        return (
            _made,
            (type(self), self._given, self.render_mode, self._options),
            {"spec": self.spec},
        )

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEngineError("the environment is closed; make a new one")


def _made(
    kind: type[PlatformEnv], given: tuple[Any, ...], render_mode: str | None, options: Any
) -> PlatformEnv:
    machine, configuration, engine, randomisation = given
    return kind(
        machine,
        configuration,
        engine,
        render_mode=render_mode,
        randomisation=randomisation,
        **options,
    )


class MachineInfo:
    """`info` of one machine: signals in physical units, reward terms, reason of the end."""

    def __init__(self, task: Task, index: int) -> None:
        """Take views of the machine's values; tasks keep their arrays."""
        signals = task.signals.items()
        self._arrays = [(name, value[index]) for name, value in signals if value.ndim > 1]
        self._numbers = [(name, value) for name, value in signals if value.ndim == 1]
        self._terms, self._term = tuple(task.terms), task.term[index]
        self._reasons, self._reason, self._index = task.reasons, task.reason, index

    def __call__(self) -> dict[str, Any]:
        """Return what there is now."""
        info: dict[str, Any] = {name: value.copy() for name, value in self._arrays}
        for name, value in self._numbers:
            info[name] = float(value[self._index])
        info["reward_terms"] = dict(zip(self._terms, self._term.tolist(), strict=True))
        info["termination"] = self._reasons[self._reason[self._index]]
        return info
