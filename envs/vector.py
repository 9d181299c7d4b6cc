"""PlatformVectorEnv: many machines of a task as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from twin.analysis.platform import Platform
from twin.basics.arrays import as_array, one_of, whole_number
from twin.envs.environment import (
    RENDER_MODES,
    RENDER_SIZE,
    Frames,
    MachineInfo,
    check_render_mode,
    check_render_size,
    frames_per_second,
    task_spaces,
)
from twin.envs.episodes import Episodes, as_options, as_seed, machine_or_default
from twin.envs.task import Task
from twin.errors import ClosedEngineError, InputError, StateError, brief

SHARED_ATTRIBUTES = ("platform", "task", "spec", "metadata", "render_mode", "max_episode_steps")

AUTORESET_MODES = tuple(mode.value for mode in AutoresetMode)


class SubEnvironment:
    """One machine of a vector environment.

    It has the attributes of a single environment except `reset` and `step`, and takes others.
    """

    _env: Any
    _index: int

    def __init__(self, env: SubEnvironmentAccess, index: int) -> None:
        """Keep the vector environment and the index of the machine in it."""
        self.__dict__.update(_env=env, _index=index)

    @property
    def observation_space(self) -> Any:
        """Space of one machine's observations."""
        return self._env.single_observation_space

    @property
    def action_space(self) -> Any:
        """Space of one machine's actions."""
        return self._env.single_action_space

    @property
    def np_random(self) -> Any:
        """Generator of the machine's episodes."""
        return self._env.np_random[self._index]

    @property
    def np_random_seed(self) -> Any:
        """Seed of the generator."""
        return self._env.np_random_seed[self._index]

    @property
    def scene(self) -> Any:
        """Present scene of the machine."""
        return self._env.task.scene(self._index)

    @property
    def unwrapped(self) -> SubEnvironment:
        """The sub-environment itself."""
        return self

    def render(self) -> Any:
        """Return a picture of the machine, None without a render mode.

        Raises:
            StateError: some machines have no episode.
        """
        pictures = self._env.render()
        return None if pictures is None else pictures[self._index]

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute, as single environments do."""
        return getattr(self, name)

    def __getattr__(self, name: str) -> Any:
        """Return what all machines share: platform, task, spec, metadata, render mode, limit."""
        if name in SHARED_ATTRIBUTES:
            return getattr(self._env, name)
        raise AttributeError(
            f"a sub-environment of {type(self._env).__name__} has no attribute {name!r}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Store an attribute that the caller defines.

        Raises:
            InputError: one that the environment has.
        """
        if name.startswith("_") or name in SHARED_ATTRIBUTES or hasattr(type(self), name):
            raise InputError(name, "belongs to the environment; set others, or make it anew")
        self.__dict__[name] = value


class SubEnvironmentAccess:
    """Access to sub-environments as in Gymnasium's `SyncVectorEnv`: attributes and methods."""

    num_envs: int

    @cached_property
    def envs(self) -> tuple[SubEnvironment, ...]:
        """The machines, with the attributes of single environments."""
        return tuple(SubEnvironment(self, index) for index in range(self.num_envs))

    def call(self, name: str, *arguments: Any, **options: Any) -> tuple[Any, ...]:
        """Return the results of a method, or an attribute, of all sub-environments.

        Args:
            name: name of the method or attribute, such as "render" or "platform".
            arguments: positional arguments of the method.
            options: keyword arguments of the method.
        """
        attributes = [getattr(attribute, name) for attribute in self.envs]
        return tuple(
            attribute(*arguments, **options) if callable(attribute) else attribute
            for attribute in attributes
        )

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of all sub-environments."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Store an attribute that the caller defines in all sub-environments.

        Args:
            name: name that the environment does not have itself.
            values: one value, or a list or tuple with one per sub-environment.

        Raises:
            InputError: an attribute of the environment, or another count of values.
        """
        for sub_environment, value in zip(
            self.envs, _as_values(values, len(self.envs)), strict=True
        ):
            setattr(sub_environment, name, value)


def _as_values(values: Any, size: int) -> list[Any]:
    """Return a list with one value for each sub-environment, from a list or from one value.

    Raises:
        InputError: another count.
    """
    if not isinstance(values, list | tuple):
        return [values] * size
    if len(values) != size:
        raise InputError("values", f"must be one, or {size}, not {brief(values)}")
    return list(values)


class PlatformVectorEnv(SubEnvironmentAccess, VectorEnv[Any, Any, Any]):
    """A task on many machines; with the same seeds bit-equal to single environments.

    Attributes:
        task: actions, observations and what they mean in physical units.
        episodes: those of all machines; their `share` narrows a randomisation.
        platform: the machine as its parameters describe it.
        max_episode_steps: control periods after which an episode is truncated; None for never.
    """

    task_type: ClassVar[type[Task]]

    def __init__(
        self,
        num_envs: int = 1,
        machine: str | Platform = "",
        configuration: str | None = None,
        engine: str = "analytic",
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        render_size: tuple[int, int] = RENDER_SIZE,
        randomisation: Any = None,
        **options: Any,
    ) -> None:
        """Load the machine; `reset` begins the episodes.

        Args:
            num_envs: number of machines.
            machine: name, path of a platform.toml, or a Platform; default the task's usual one.
            configuration: configuration of the machine's parameters, such as "hardware"; None for
                an ideal plant.
            engine: "analytic", "mujoco" or "bullet".
            max_episode_steps: control periods after which an episode is truncated.
            autoreset_mode: "NextStep", "SameStep" or "Disabled"; see Gymnasium's `AutoresetMode`.
            render_mode: "rgb_array" or None.
            render_size: width and height of pictures [pixels].
            randomisation: as of the single environment.
            options: options of the task.

        Raises:
            InputError: an argument that cannot be used.
            MachineNotFoundError: no such machine.
            ParameterError: a platform.toml that cannot be used.
            MissingDependencyError: the engine's library is not installed.
        """
        self.render_mode = check_render_mode(render_mode, RENDER_MODES[1:])
        self._render_size = check_render_size(render_size)
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        self.autoreset_mode = AutoresetMode(one_of(mode, "autoreset_mode", AUTORESET_MODES))
        self.max_episode_steps = _steps(max_episode_steps)
        machine = machine_or_default(machine, self.task_type)
        self._constructor_arguments = (num_envs, machine, configuration, engine)
        self._options = {"randomisation": randomisation, **options}
        self.episodes = Episodes(
            self.task_type, machine, configuration, engine, num_envs, randomisation, options
        )
        self.task, self.platform = self.episodes.task, self.episodes.platform
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = task_spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {
            "render_modes": list(RENDER_MODES[1:]),
            "render_fps": frames_per_second(self.task),
            "autoreset_mode": self.autoreset_mode,
        }
        self._generators: list[Any] = [None] * num_envs
        self._seeds = [-1] * num_envs
        self._is_over = np.zeros(num_envs, dtype=bool)
        self._is_started = np.zeros(num_envs, dtype=bool)
        self._all_machines = np.ones(num_envs, dtype=bool)
        self._frames: Frames | None = None

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Generators of the machines."""
        self._seed_generators([None] * self.num_envs, range(self.num_envs), renew=False)
        return tuple(self._generators)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seeds of the machines' generators."""
        self._seed_generators([None] * self.num_envs, range(self.num_envs), renew=False)
        return tuple(self._seeds)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes in all machines, or in those of the option `reset_mask` `(N,)`.

        Args:
            seed: machine i gets the seed `seed` + i; or one seed per machine.
            options: the task's, and `reset_mask`.

        Raises:
            InputError: seeds or options that cannot be used.
            ClosedEngineError: the environment is closed.
        """
        self._check_open()
        reset_options = as_options(options)
        mask = _mask(reset_options.pop("reset_mask", None), self.num_envs)
        seeds = _seeds(seed, self.num_envs)
        indices = np.flatnonzero(mask)
        self._seed_generators(seeds, indices.tolist(), renew=True)
        self._begin(indices, reset_options)
        self._is_over[indices] = False
        infos = self._infos(mask)
        self._add_randomised(infos, indices)
        return self.task.observation.copy(), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Do one control period in all machines.

        Raises:
            InputError: wrong shape, or not finite.
            StateError: a machine has no episode, or one that is over with autoreset disabled.
            ClosedEngineError: the environment is closed.
        """
        self._check_open()
        task = self.task
        was_over = self._is_over.copy()
        self._check_started()
        if self.autoreset_mode is AutoresetMode.DISABLED and was_over.any():
            raise StateError("some episodes are over; call reset, with reset_mask for some of them")
        self.episodes.step(as_array(actions, "action"))
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and was_over.any():
            self._begin(np.flatnonzero(was_over), {})
            self._add_randomised(infos, np.flatnonzero(was_over))
            task.reward[was_over] = 0.0
            task.termination_code[was_over] = 0
        terminated = task.termination_code != 0
        truncated, limit = self.episodes.truncated, self.max_episode_steps
        if limit is not None:
            truncated |= task.steps >= limit
        is_over = terminated | truncated
        reward = task.reward.copy()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and is_over.any():
            indices = np.flatnonzero(is_over)
            for index in indices.tolist():
                final_values = {
                    "final_obs": task.observation[index].copy(),
                    "final_info": MachineInfo(task, index)(),
                }
                infos = self._add_info(infos, final_values, index)
            self._begin(indices, {})
            self._add_randomised(infos, indices)
            is_over = np.zeros_like(is_over)
        self._is_over = is_over
        infos |= self._infos(self._all_machines)
        return task.observation.copy(), reward, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture `(height, width, 3)` of each machine; None without a `render_mode`.

        Raises:
            MissingDependencyError: no OpenGL library draws on this computer.
            StateError: some machines have no episode.
        """
        self._check_open()
        if self.render_mode is None:
            return None
        self._check_started()
        if self._frames is None:
            self._frames = Frames(self.task, self.render_mode, self._render_size)
        return tuple(self._frames.frame(self.task.scene(index)) for index in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:
        """Free engines and pictures; an environment that its constructor refused has none."""
        for resource in (getattr(self, "_frames", None), getattr(self, "episodes", None)):
            if resource is not None:
                resource.close()

    def _begin(self, indices: Any, options: dict[str, Any]) -> None:
        generators = [self._generators[index] for index in indices.tolist()]
        self._is_started[indices] = False
        self.episodes.reset(indices, generators, options)
        self._is_started[indices] = True

    def _add_randomised(self, infos: dict[str, Any], indices: Any) -> None:
        """Add to `infos` the parameters that were varied in the new episodes of `indices`."""
        for index in indices.tolist() if self.task.settings.info else ():
            infos |= self._add_info(infos, {"randomised": dict(self.episodes.varied[index])}, index)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the constructor's arguments; a copy is made from them and has no episodes."""
        keywords = {
            "max_episode_steps": self.max_episode_steps,
            "autoreset_mode": self.autoreset_mode,
            "render_mode": self.render_mode,
            "render_size": self._render_size,
            **self._options,
        }
        return (
            partial(type(self), *self._constructor_arguments, **keywords),
            (),
            {"spec": self.spec},
        )

    def _infos(self, mask: Any) -> dict[str, Any]:
        """Return `info` of all machines, with the mask of those that have it."""
        task = self.task
        if not task.settings.info:
            return {}

        def masked(values: Mapping[str, Any]) -> dict[str, Any]:
            infos = {}
            for name, value in values.items():
                infos[name], infos[f"_{name}"] = value.copy(), mask.copy()
            return infos

        terms = masked(dict(zip(task.terms, task.term_values.T, strict=True)))
        reasons = np.array(task.termination_reasons, dtype=object)[task.termination_code]
        return masked({**task.signals, "reward_terms": terms, "termination": reasons})

    def _seed_generators(self, seeds: Sequence[Any], indices: Any, *, renew: bool) -> None:
        for index in indices:
            if self._generators[index] is None or (renew and seeds[index] is not None):
                self._generators[index], self._seeds[index] = seeding.np_random(seeds[index])

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEngineError("the environment is closed; make a new one")

    def _check_started(self) -> None:
        if not self._is_started.all():
            raise StateError("some machines have no episode; call reset, with reset_mask for some")


def _steps(value: Any) -> int | None:
    if value is None or value == -1:  # as in `gymnasium.make`
        return None
    return whole_number(value, "max_episode_steps", 1)


def _mask(value: Any, size: int) -> Any:
    if value is None:
        return np.ones(size, dtype=bool)
    mask = as_array(value, "reset_mask")
    if mask.shape != (size,) or mask.dtype != bool or not mask.any():
        raise InputError("reset_mask", f"must have shape ({size},), type bool, and a true entry")
    return mask


def _seeds(seed: Any, size: int) -> list[Any]:
    """Return one seed for each environment; a single number is counted on from."""
    if seed is None:
        return [None] * size
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        return [as_seed(int(seed) + index) for index in range(size)]
    if not isinstance(seed, (Sequence, np.ndarray)) or isinstance(seed, str):
        raise InputError("seed", f"must be one number, or {size}, not {brief(seed)}")
    seeds = [as_seed(value) for value in seed]
    if len(seeds) != size:
        raise InputError("seed", f"must be one number, or {size}, not {len(seeds)}")
    return seeds
