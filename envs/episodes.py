"""Episodes: a task, its machines and their varied parameters, and the delays of its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.analysis.platform import Platform, load
from twin.basics.arrays import SMALLEST_NUMBER, bounded, whole_number
from twin.envs.task import LONGEST_EPISODE, Task, read_settings
from twin.errors import InputError, brief
from twin.kernels.tasks.task import OBSERVATION_BOUND, accept

SIGNAL_SETTINGS = ("observation_noise", "observation_delay", "action_noise", "action_delay")
"""Settings of all tasks that a randomisation may vary as `task.<name>`, besides the task's own."""

EPISODE_DURATION = "episode_duration"
"""Name of the setting for the duration of an episode, which a randomisation may also vary."""

MAX_SIGNAL_SETTING = 1.0
"""Largest noise, relative to the scale of its channel, and longest delay [s]."""


class DelayLine:
    """Delays one signal of N environments by whole control periods, and adds noise to it.

    Attributes:
        is_direct: whether no environment delays or disturbs the signal.
    """

    def __init__(self, num_envs: int, bound: float) -> None:
        """Make a line without delay and noise; noisy samples are clipped to `bound`."""
        self.is_direct = True
        self._bound = bound
        self._delay_steps = np.zeros(num_envs, dtype=np.int64)
        self._noise_std = np.zeros(num_envs)
        self._generators: list[Any] = [None] * num_envs
        self._rows = np.arange(num_envs)
        self._history: Any = np.zeros((num_envs, 0, 0))
        """`(N, periods, width)`, the newest sample first"""

    def reset(
        self,
        index: int,
        initial: Any,
        *,
        delay_steps: int,
        noise_std: float,
        generator: np.random.Generator,
    ) -> Any:
        """Fill the line of one environment with `initial` `(width,)`; return it with its noise.

        Args:
            index: number of the environment.
            initial: sample that arrives until the first pushed one does.
            delay_steps: delay of the samples in control periods.
            noise_std: standard deviation added to each number; 0 for none.
            generator: seeds the noise; untouched without noise.
        """
        self._delay_steps[index], self._noise_std[index] = delay_steps, noise_std
        self.is_direct = not (self._delay_steps.any() or self._noise_std.any())
        self._lengthen(delay_steps + 1, initial)
        if noise_std:
            self._generators[index] = np.random.default_rng(generator.integers(1 << 62))
        self._history[index] = self._noisy(index, initial)
        return self._history[index, 0]

    def push(self, samples: Any) -> Any:
        """Store the newest samples `(N, width)` and return those that arrive now."""
        if self.is_direct:
            return samples
        self._history[:, 1:] = self._history[:, :-1].copy()
        self._history[:, 0] = samples
        for index in np.flatnonzero(self._noise_std).tolist():
            self._history[index, 0] = self._noisy(index, samples[index])
        return self._history[self._rows, self._delay_steps]

    def _lengthen(self, periods: int, sample: Any) -> None:
        """Extend the history to at least `periods` samples as wide as `sample`."""
        size, length, width = self._history.shape
        if length < periods or width != len(sample):
            history = np.zeros((size, max(length, periods), len(sample)), dtype=sample.dtype)
            history[:, :length, :width] = self._history
            self._history = history

    def _noisy(self, index: int, sample: Any) -> Any:
        noise_std = self._noise_std[index]
        if not noise_std:
            return sample
        noise = noise_std * self._generators[index].standard_normal(len(sample))
        return np.clip(sample + noise, -self._bound, self._bound)


class Episodes:
    """Episodes of machines: common part of the single and the vector environment.

    Attributes:
        platform: the machine as its parameters describe it.
        task: actions, observations and rewards.
        action_line: delay and noise of the actions on their way to the machines.
        observation_line: delay and noise of the observations on their way to the policies.
        size: number of machines.
        share: of the way from the nominal to the drawn numbers in episodes to come; a curriculum
            widens it.
        max_steps: `(N,)` control periods after which each episode is truncated; inf before the
            first.
        varied: for each machine, path -> value of what a randomisation drew for its episode.
    """

    def __init__(
        self,
        task_type: type[Task],
        machine: str | Platform,
        configuration: str | None,
        engine: str,
        size: int,
        randomisation: Any,
        options: Mapping[str, Any],
    ) -> None:
        """Load the machine and make the task.

        Args:
            task_type: class of the task.
            machine: name, path of a platform.toml, or a Platform.
            configuration: configuration of the machine's parameters, such as "hardware"; None for
                none.
            engine: "analytic", "mujoco" or "bullet".
            size: number of machines.
            randomisation: path -> distribution, a file, or a `Randomisation`; None for none.
            options: options of the task.

        Raises:
            InputError: an argument that cannot be used.
            MachineNotFoundError: no such machine.
            ParameterError: a platform.toml that cannot be used.
            MissingDependencyError: the engine's library is not installed.
        """
        self.platform = _platform(machine, configuration)
        settings = read_settings(task_type.settings_type, options)
        self.size = size
        self.task = task_type(self.platform, settings, engine, size)
        self.action_line = DelayLine(size, bound=1.0)
        self.observation_line = DelayLine(size, bound=OBSERVATION_BOUND)
        self._longest = settings.episode_duration or LONGEST_EPISODE
        self.randomisation = self._randomisation(randomisation)
        self.share = 1.0
        self.max_steps = np.full(size, np.inf)
        self._clipped_actions = np.zeros_like(self.task.last_action)
        self._everyone = np.arange(size)
        self.varied: list[dict[str, float]] = [{} for _ in range(size)]

    def reset(
        self,
        indices: Any,
        generators: Sequence[np.random.Generator],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin new episodes in `indices` `(m,)`; each machine has its own random generator.

        Raises:
            InputError: an option that cannot be used.
        """
        task, reset_options = self.task, as_options(options)
        platforms, starts, signals = [], [], []
        for index, generator in zip(indices, generators, strict=True):
            platform, values = self._draw(index, generator)
            task.clear(index)
            values |= reset_options
            signals.append(self._signal_settings(values))
            self.max_steps[index] = self._steps(values.pop(EPISODE_DURATION, self._longest))
            starts.append(task.begin(index, generator, platform, values))
            platforms.append(platform)
        for index, platform, start in zip(indices, platforms, starts, strict=True):
            task.batch.reset(
                np.array([index]),
                pose=_one(start.pose),
                twist=_one(start.twist),
                deflection=_one(start.deflection),
                platforms=[platform],
                ball=None if start.ball is None else [start.ball],
            )
        task.evaluate(np.ascontiguousarray(indices, dtype=np.int64))
        for index, generator, signal in zip(indices, generators, signals, strict=True):
            observation_noise, observation_delay, action_noise, action_delay = signal
            task.observation[index] = self.observation_line.reset(
                index,
                task.observation[index],
                delay_steps=self._periods(observation_delay),
                noise_std=observation_noise,
                generator=generator,
            )
            self.action_line.reset(
                index,
                task.last_action[index],
                delay_steps=self._periods(action_delay),
                noise_std=action_noise,
                generator=generator,
            )

    def step(self, actions: NDArray[Any]) -> None:
        """Do one control period of all machines under actions `(N, a)`, clipped to 1.

        Observation, reward and termination code are then in the task's arrays, and `truncated`
        says which episodes have reached their duration.

        Raises:
            InputError: wrong shape, or not finite.
        """
        task = self.task
        actions = self.action_line.push(self._clip(actions))
        task.command(actions)
        task.batch.advance(
            task.drive_commands,
            feedforward=task.feedforward,
            wrench=task.wrench,
            shaking=task.shaking,
        )
        task.evaluate(self._everyone, actions)
        if not self.observation_line.is_direct:
            task.observation[:] = self.observation_line.push(task.observation)

    def _clip(self, actions: NDArray[Any]) -> Any:
        """Return actions as numbers within 1; the array is overwritten by the next call."""
        clipped_actions = self._clipped_actions
        if actions.shape != clipped_actions.shape or actions.dtype.kind not in "fiu":
            raise InputError("action", f"must be numbers of shape {clipped_actions.shape[1:]}")
        if actions.dtype.char not in "fd" or not actions.dtype.isnative:
            actions = actions.astype(np.float64)
        if not accept(actions, clipped_actions):
            raise InputError("action", "is not finite")
        return clipped_actions

    @property
    def truncated(self) -> Any:
        """Whether each machine `(N,)` has reached the duration of its episode."""
        return self.task.steps >= self.max_steps

    def close(self) -> None:
        """Free the engines."""
        self.task.close()

    def _steps(self, duration: Any) -> int:
        """Return the control periods of a duration [s], at least one."""
        return max(
            1, self._periods(bounded(duration, EPISODE_DURATION, SMALLEST_NUMBER, LONGEST_EPISODE))
        )

    def _periods(self, seconds: float) -> int:
        """Return the control periods nearest to a time [s]."""
        periods: float = seconds / self.task.settings.period
        return round(periods)

    def _signal_settings(self, values: dict[str, Any]) -> list[float]:
        """Take noise and delays of an episode out of its values, in the order of their names.

        Raises:
            InputError: a noise above the scale, a delay above 1 s, or one that is negative.
        """
        return [
            bounded(
                values.pop(name, getattr(self.task.settings, name)), name, 0.0, MAX_SIGNAL_SETTING
            )
            for name in SIGNAL_SETTINGS
        ]

    def _draw(
        self, index: int, generator: np.random.Generator
    ) -> tuple[Platform, dict[str, float]]:
        """Return the machine of the next episode, and values of the task that were varied."""
        if self.randomisation is None:
            return self.platform, {}
        sample = self.randomisation.sample(generator, self.platform.parameters, self.share)
        task_values = {f"task.{name}": value for name, value in sample.task_values.items()}
        self.varied[index] = {**sample.values, **task_values}
        nominal = self.platform
        if not sample.values:
            return nominal, dict(sample.task_values)
        platform = Platform(sample.parameters, limits=nominal.limits, like=nominal)
        return platform, dict(sample.task_values)

    def _randomisation(self, randomisation: Any) -> Any:
        """Return the randomisation of machine and task; None for none."""
        if randomisation is None:
            return None
        from twin.machine.randomisation import as_randomisation

        settings = self.task.settings
        defaults = {name: getattr(settings, name) for name in SIGNAL_SETTINGS}
        defaults |= {**self.task.default_values(), EPISODE_DURATION: self._longest}
        return as_randomisation(randomisation, self.platform.parameters, defaults)


def machine_or_default(machine: Any, task_type: type[Task]) -> Any:
    """Return the given machine, or the task's default one for None and an empty name."""
    is_missing = machine is None or (isinstance(machine, str) and not machine)
    return task_type.default_machine if is_missing else machine


def as_seed(value: Any) -> int | None:
    """Return a seed, None for none; raises InputError where it is no whole number from 0."""
    return None if value is None else whole_number(value, "seed", 0)


def as_options(value: Any) -> dict[str, Any]:
    """Return the options of a reset as a dictionary; raises InputError where they are none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InputError("options", f"must map names to values, not be {brief(value)}")
    return dict(value)


def _platform(machine: Any, configuration: str | None) -> Platform:
    """Return the machine that a name, a path or a Platform stands for."""
    if isinstance(machine, Platform):
        if configuration is not None:
            raise InputError(
                "configuration", "is for a machine given by name or path; load it with it"
            )
        return machine
    return load(machine, configuration)


def _one(value: Any) -> Any:
    return None if value is None else np.asarray(value)[None]
