"""PlatformEnv: one machine of a task as a Gymnasium environment.

The module also renders environments: pictures of one machine, or a window.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_array, one_of, whole_number
from twin.envs.channels import width
from twin.envs.episodes import Episodes, as_seed, machine_or_default
from twin.envs.task import Task
from twin.errors import ClosedEngineError, InputError, StateError, brief
from twin.kernels.tasks.task import OBSERVATION_BOUND
from twin.simulation.simulate import Scene
from twin.viewer.camera import MAX_PIXELS

if TYPE_CHECKING:
    from twin.viewer.camera import Camera, Image
    from twin.viewer.window import Window


class Frames:
    """Pictures of a task's machines, or one of them in a window.

    The machine is drawn as its platform.toml describes it, not as an episode varies it. Camera or
    window open with the first frame.
    """

    def __init__(self, task: Task, render_mode: str, size: tuple[int, int]) -> None:
        """Keep the task to draw, in a window for "human", else in pictures of `size` [pixels]."""
        self.size = size
        batch = task.batch
        self.platform, self.render_mode, self.ball = task.platform, render_mode, batch.rolling_ball
        self.period = batch.period
        self._display: Camera | Window | None = None

    def frame(self, scene: Scene) -> Image | None:
        """Return a picture `(height, width, 3)` uint8, or show it in the window.

        Raises:
            MissingDependencyError: no OpenGL library draws on this computer.
            StateError: a window without a display.
        """
        from twin.viewer.camera import Camera

        display = self._display = self._display or self._open()
        ball = None if scene.ball is None or self.ball is None else scene.ball[:7]
        scene_fields = scene._replace(ball=ball)._asdict()
        if isinstance(display, Camera):
            return display.image(**scene_fields)
        display.show(**scene_fields)
        return None

    def close(self) -> None:
        """Close camera or window; `render` opens it again."""
        if self._display is not None:
            self._display.close()
        self._display = None

    def _open(self) -> Camera | Window:
        """Return a window for "human", a camera otherwise."""
        if self.render_mode == "human":
            from twin.viewer.window import Window

            return Window(self.platform, period=self.period, ghost=True, ball=self.ball)
        from twin.viewer.camera import Camera

        width, height = self.size
        return Camera(self.platform, width=width, height=height, ghost=True, ball=self.ball)


def check_render_mode(render_mode: Any, known: Iterable[str]) -> str | None:
    """Return a mode that is known, or None.

    Raises:
        InputError: another.
    """
    return None if render_mode is None else one_of(render_mode, "render_mode", known)


RENDER_SIZE = (640, 480)
"""[pixels] Width and height of pictures."""


def check_render_size(render_size: Any) -> tuple[int, int]:
    """Return width and height [pixels]; raises InputError where no camera can have them."""
    try:
        width, height = (whole_number(value, "", 1, MAX_PIXELS) for value in render_size)
    except (TypeError, ValueError):
        hint = f"must be two whole numbers from 1 to {MAX_PIXELS}, width and height in pixels"
        raise InputError("render_size", f"{hint}, not {brief(render_size)}") from None
    return width, height


RENDER_MODES = ("human", "rgb_array")
"""Modes of this package; `gymnasium.make` makes `rgb_array_list` from `rgb_array`."""

FIRST_MACHINE = np.array([0])
"""Indices of the machines of a single environment: there is one."""


def task_spaces(task: Task) -> tuple[spaces.Box, spaces.Box]:
    """Return the spaces of observations and of actions of one machine of a task."""
    return (
        spaces.Box(-OBSERVATION_BOUND, OBSERVATION_BOUND, (width(task.observations),), np.float32),
        spaces.Box(-1.0, 1.0, (width(task.actions),), np.float32),
    )


def frames_per_second(task: Task) -> int:
    """Return the pictures per second in real time, at least one."""
    period: float = task.batch.period
    return max(1, round(1.0 / period))


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
        render_size: tuple[int, int] = RENDER_SIZE,
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
            render_size: width and height of pictures [pixels].
            randomisation: path -> distribution over numbers of platform.toml and of the task, drawn
                for every episode; a file or a `Randomisation`; None for none.
            options: options of the task, see the table.

        Raises:
            InputError: an argument that cannot be used.
            MachineNotFoundError: no such machine.
            ParameterError: a platform.toml that cannot be used.
            MissingDependencyError: the engine's library is not installed.
        """
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self._render_size = check_render_size(render_size)
        machine = machine_or_default(machine, self.task_type)
        self._constructor_arguments = (machine, configuration, engine)
        self._options = {
            "render_mode": render_mode,
            "render_size": self._render_size,
            "randomisation": randomisation,
            **options,
        }
        self._episodes = Episodes(
            self.task_type, machine, configuration, engine, 1, randomisation, options
        )
        self.task = self._episodes.task
        self.platform = self._episodes.platform
        self.observation_space, self.action_space = task_spaces(self.task)
        self.metadata = {**self.metadata, "render_fps": frames_per_second(self.task)}
        self._info = MachineInfo(self.task, 0)
        self._frames: Frames | None = None
        self._is_running = self._is_closed = self._has_terminated = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode; `options` are the task's.

        Raises:
            InputError: an option that cannot be used.
            ClosedEngineError: the environment is closed.
        """
        self._check_open()
        super().reset(seed=as_seed(seed))
        self._is_running = False
        self._episodes.reset(FIRST_MACHINE, [self.np_random], options)
        self._is_running, self._has_terminated = True, False
        if self.render_mode == "human":
            self.render()
        info = self._info()
        if self.task.settings.info:
            info["randomised"] = dict(self._episodes.varied[0])
        return self.task.observation[0].copy(), info

    def step(self, action: Any) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """Do one control period; after the end of an episode Gymnasium's logger warns.

        Raises:
            InputError: wrong shape, or not finite.
            StateError: called before `reset`.
            ClosedEngineError: the environment is closed.
        """
        if not self._is_running:
            self._check_open()
            raise StateError("the environment has no episode; call reset before step")
        if self._has_terminated or self._episodes.truncated[0]:
            gym.logger.warn("step() after the end of the episode; call reset() before.")
        self._episodes.step(as_array(action, "action")[None])
        task = self.task
        if self.render_mode == "human":
            self.render()
        self._has_terminated |= bool(task.termination_code[0])
        truncated = bool(self._episodes.truncated[0])
        reward = float(task.reward[0])
        return task.observation[0].copy(), reward, self._has_terminated, truncated, self._info()

    def render(self) -> Any:
        """Return a picture `(height, width, 3)` of the machine, or show it in a window.

        Raises:
            MissingDependencyError: no OpenGL library draws on this computer.
            StateError: a window without a display; or called before `reset`.
        """
        self._check_open()
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode; give one to make().")
            return None
        if not self._is_running:
            raise StateError("the environment has no episode; call reset before render")
        if self._frames is None:
            self._frames = Frames(self.task, self.render_mode, self._render_size)
        return self._frames.frame(self.task.scene(0))

    @property
    def scene(self) -> Scene:
        """Present scene of the machine; its arrays are overwritten by the next step.

        Raises:
            StateError: called before `reset`.
        """
        if not self._is_running:
            raise StateError("the environment has no episode; call reset before scene")
        scene = self.task.scene(0)
        return scene if scene.ball is None else scene._replace(ball=scene.ball[:7])

    def close(self) -> None:
        """Free engine and pictures; calling it twice is allowed."""
        if self._frames is not None:
            self._frames.close()
        self._episodes.close()
        self._is_running, self._is_closed = False, True

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the constructor's arguments, as Gymnasium does; a copy has no episode."""
        return (
            partial(type(self), *self._constructor_arguments, **self._options),
            (),
            {"spec": self.spec},
        )

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedEngineError("the environment is closed; make a new one")


class MachineInfo:
    """`info` of one machine: signals in physical units, reward terms, reason of the end."""

    def __init__(self, task: Task, index: int) -> None:
        """Take views of the machine's values; tasks keep their arrays."""
        self._has_info = task.settings.info
        signals = task.signals.items()
        self._arrays = [(name, value[index]) for name, value in signals if value.ndim > 1]
        self._numbers = [(name, value) for name, value in signals if value.ndim == 1]
        self._terms, self._term_values = tuple(task.terms), task.term_values[index]
        self._reasons, self._codes = task.termination_reasons, task.termination_code
        self._index = index

    def __call__(self) -> dict[str, Any]:
        """Return the present `info`; an empty one with the option `info=False`."""
        if not self._has_info:
            return {}
        info = {name: value.copy() for name, value in self._arrays}
        for name, value in self._numbers:
            info[name] = float(value[self._index])
        info["reward_terms"] = dict(zip(self._terms, self._term_values.tolist(), strict=True))
        info["termination"] = self._reasons[self._codes[self._index]]
        return info
