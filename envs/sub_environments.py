"""Sub-environments of a native vector environment: the attributes of single environments."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from twin.errors import InputError, brief


class SubEnvironment:
    """One machine of a vector environment.

    It has what a single environment has beside `reset` and `step`, and takes further attributes.
    """

    _env: Any
    _index: int

    def __init__(self, env: SubEnvironmentAccess, index: int) -> None:
        """Take the environment and the number of the machine in it."""
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
        if name in SHARED:
            return getattr(self._env, name)
        raise AttributeError(
            f"a sub-environment of {type(self._env).__name__} has no attribute {name!r}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep an attribute of the caller's own.

        Raises:
            InputError: one that the environment has.
        """
        if name.startswith("_") or name in SHARED or hasattr(type(self), name):
            raise InputError(name, "belongs to the environment; set others, or make it anew")
        self.__dict__[name] = value


SHARED = ("platform", "task", "spec", "metadata", "render_mode", "max_episode_steps")


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
            name: such as "render" or "platform".
            arguments: of the method.
            options: of the method.
        """
        found = [getattr(each, name) for each in self.envs]
        return tuple(each(*arguments, **options) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of all sub-environments."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Keep an attribute of the caller's own in all sub-environments.

        Args:
            name: of none that the environment has.
            values: one, or a list or tuple with one per sub-environment.

        Raises:
            InputError: an attribute of the environment, or another count of values.
        """
        for each, value in zip(self.envs, _as_values(values, len(self.envs)), strict=True):
            setattr(each, name, value)


def _as_values(values: Any, size: int) -> list[Any]:
    """Return a list or tuple of one value each, or one value as often.

    Raises:
        InputError: another count.
    """
    if not isinstance(values, list | tuple):
        return [values] * size
    if len(values) != size:
        raise InputError("values", f"must be one, or {size}, not {brief(values)}")
    return list(values)
