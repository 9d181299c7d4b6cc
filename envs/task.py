"""Task: actions, observations and rewards of an environment, for any number of machines.

The module also has typical sizes of the quantities of a machine's actuators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, one_of, read_only
from twin.envs.channels import Channel, channel_scales, channel_slices, rescaled, width
from twin.errors import InputError, UnknownOptionError
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.tasks.task import OBSERVATION_BOUND, History, Results, Scales
from twin.plant.drives import actuator_limit
from twin.plant.plant import forces_at_home
from twin.simulation.batched import make_batched_plant
from twin.simulation.simulate import Scene

HOLDING_FORCE_FACTOR = 2.0
"""Effort scale of an actuator without limit, relative to the largest force that holds the machine
at home."""

LONGEST_EPISODE = 1e6
"""[s] Longest episode duration that can be set."""


def machine_scales(platform: Platform) -> Scales:
    """Return the scales of a machine's actuators, read-only."""
    lower, upper = platform.minimum_coordinates, platform.maximum_coordinates
    half_stroke = 0.5 * (upper - lower)
    holding = forces_at_home(platform)
    default_effort = HOLDING_FORCE_FACTOR * max(float(np.abs(holding).max()), 1.0)
    # Without a limit: the peak speed of a sine of 1 Hz over the whole stroke.
    speeds = actuator_limit(platform, "speed", 2.0 * np.pi * half_stroke)
    efforts = actuator_limit(platform, "effort", default_effort)
    values = (lower, upper, 0.5 * (lower + upper), half_stroke, speeds, efforts, holding)
    return Scales(*(read_only(np.asarray(value, dtype=float)) for value in values))


PositiveNumber = Annotated[float, Field(gt=0.0)]


class TaskSettings(BaseModel):
    """Options of all tasks."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False
    )

    period: float = Field(0.01, gt=0.0, description="of control [s]")
    timestep: float | None = Field(
        None, gt=0.0, description="of the engine [s]; default the longest allowed, at most 1 ms"
    )
    fidelity: str | None = Field(None, description="of the engine; None for the default")
    limits: bool = Field(True, description="whether the drives' limits of force and speed hold")
    weights: Mapping[str, float] = Field(
        default_factory=dict, description="of the reward's terms; overrides the defaults"
    )
    scales: Mapping[str, PositiveNumber | tuple[PositiveNumber, ...]] = Field(
        default_factory=dict,
        description="physical value that corresponds to 1, per observation or action; overrides "
        "the defaults: a policy needs those of its training",
    )
    observation_noise: float = Field(
        0.0, ge=0.0, le=1.0, description="RMS added to each number, in parts of its scale"
    )
    observation_delay: float = Field(
        0.0, ge=0.0, le=1.0, description="[s] by which they are late, in whole control periods"
    )
    action_noise: float = Field(0.0, ge=0.0, le=1.0, description="the same of actions")
    action_delay: float = Field(0.0, ge=0.0, le=1.0, description="the same of actions [s]")
    episode_duration: float | None = Field(
        None,
        gt=0.0,
        le=LONGEST_EPISODE,
        description="[s] after which an episode is truncated, in addition to `max_episode_steps`",
    )
    info: bool = Field(
        True,
        description="whether `info` has signals, terms of the reward and the reason of the end",
    )


class Start(NamedTuple):
    """Initial state of a machine's episode; None for the default."""

    pose: FloatArray | None = None
    """`(7,)`, default home"""
    twist: FloatArray | None = None
    """`(6,)`, default rest"""
    deflection: FloatArray | None = None
    """`(2k,)`, default static deflection"""
    ball: Any = None
    """initial state of the ball, where there is one"""


class Task(ABC):
    """Commands from actions, observations and rewards from states, for a batched plant.

    Arrays are overwritten by every step; copy those that are kept.

    Attributes:
        platform: the machine with its nominal parameters, on which scales and tables are based.
        settings: the task's options.
        batch: batched plant of all machines.
        actions: channels of an action; 1 is `scale`, and no number exceeds 1.
        observations: channels of an observation.
        observation: `(N, o)`, float32.
        term_values: `(N, t)` the reward's terms, not weighted.
        weights: `(t,)`.
        reward: `(N,)` sum of the weighted terms.
        termination_code: `(N,)` code of the reason for the episode's end; 0 while it goes on.
        steps: `(N,)` control periods since the machine's reset.
        signals: name -> `(N, ...)` in physical units, for `info`.
        groups: the arrays and numbers that the task's kernel takes.
    """

    title: ClassVar[str]
    default_machine: ClassVar[str]
    settings_type: ClassVar[type[TaskSettings]] = TaskSettings
    terms: ClassVar[Mapping[str, float]]
    """Names of the reward's terms and their usual weights."""
    termination_reasons: ClassVar[tuple[str, ...]]
    """Reasons for an episode's end, by code; the first is empty, the second "engine"."""
    varied_settings: ClassVar[tuple[str, ...]] = ()
    """Settings of the task that a randomisation may vary as `task.<name>`, besides the
    machine's."""
    kernel: Callable[[Any, Any, Any], None] | None = None
    """`evaluate` of the task's kernels, a static method; None where a task overrides `evaluate`."""

    actions: tuple[Channel, ...]
    observations: tuple[Channel, ...]
    signals: dict[str, Any]

    def __init__(self, platform: Platform, settings: Any, engine: str, size: int) -> None:
        """Make the batched plant and what all tasks have; children then call `allocate`.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        self.platform = platform
        self.settings = settings
        self.size = size
        self.scales = machine_scales(platform)
        self.batch = make_batched_plant(
            engine,
            platform,
            size,
            settings.period,
            settings.timestep,
            fidelity=settings.fidelity,
            limits=settings.limits,
            **self._batch_options(),
        )
        self.weights = self._weights(settings.weights)

    def _batch_options(self) -> dict[str, Any]:
        """Return further options of the batched plant: `mode`, `ball`."""
        return {}

    def allocate(self) -> None:
        """Make the arrays of all tasks; `actions` and `observations` are known.

        Raises:
            InputError: scales of channels that there are not.
        """
        size, scales = self.size, self.settings.scales
        self.observations = rescaled(self.observations, scales)
        for name in scales:
            one_of(name, "scales", [c.name for c in (*self.observations, *self.actions)])
        self.drive_commands = np.zeros((size, self.platform.n_actuators))
        self.feedforward: FloatArray | None = None
        self.wrench: FloatArray | None = None
        self.shaking: FloatArray | None = None
        self._scale = channel_scales(self.observations)
        self.observation = np.zeros((size, width(self.observations)), dtype=np.float32)
        self.last_action, self._previous_action = np.zeros((2, size, width(self.actions)))
        self.term_values = np.zeros((size, len(self.terms)))
        self.reward = np.zeros(size)
        self.termination_code = np.zeros(size, dtype=np.int64)
        self.steps = np.zeros(size, dtype=np.int64)
        self._no_actions = np.empty((0, width(self.actions)))
        self._group()

    def _group(self, *arrays: Any) -> None:
        """Group the arrays of all tasks, then a task's own ones, in the form its kernel takes."""
        history = History(self.steps, self.last_action, self._previous_action)
        results = Results(
            self.observation,
            self._scale,
            self.term_values,
            self.weights,
            self.reward,
            self.termination_code,
        )
        self.groups = (self.batch.machines, self.scales, history, results, *arrays)
        if self.kernel is not None:
            self._bundle, self._evaluate = Bundle(*self.groups), SameTypes(self.kernel)

    def _plant_signals(self) -> dict[str, Any]:
        """Return the signals that all tasks have."""
        batch = self.batch
        return {
            "pose": batch.pose,
            "twist": batch.twist,
            "forces": batch.forces,
            "loop_gap": batch.gap,
        }

    def clear(self, index: int) -> None:
        """Clear steps and actions of an environment whose episode is over."""
        self.steps[index] = 0
        self.last_action[index] = self._previous_action[index] = 0.0

    def _check_options(self, options: Mapping[str, Any], *own_options: str) -> None:
        """Refuse options of `reset` other than a task's `own_options` and the `varied_settings`.

        Raises:
            InputError: another option; lists those there are.
        """
        for name in options:
            one_of(name, "options", (*own_options, *self.varied_settings))

    def _weights(self, weights: Mapping[str, float]) -> FloatArray:
        for name in weights:
            one_of(name, "weights", self.terms)
        return np.array([weights.get(name, default) for name, default in self.terms.items()])

    def default_values(self) -> dict[str, float]:
        """Return the values of the `varied_settings` where no randomisation varies them."""
        return {name: getattr(self.settings, name) for name in self.varied_settings}

    @abstractmethod
    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw the episode of a machine with the parameters of `platform`.

        Args:
            index: index of the machine.
            generator: random generator of everything that is drawn in the episode.
            platform: its machine, with varied parameters.
            options: those of `reset`, and values of the task that were varied.

        Raises:
            InputError: an option that cannot be used.
        """

    @abstractmethod
    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` and other inputs of the machines from actions `(N, a)` within 1."""

    def evaluate(self, indices: Any, actions: FloatArray | None = None) -> None:
        """Fill observation, reward, termination and signals of `indices` `(m,)`.

        Tasks without a kernel override it: see `count`, `write_observation` and `write_reward`.

        Args:
            indices: numbers of machines.
            actions: `(N, a)` of the control period that is over, to be counted; None after a reset.
        """
        self._evaluate(indices, self._no_actions if actions is None else actions, self._bundle)

    def count(self, actions: FloatArray | None) -> None:
        """Count a control period and keep its actions `(N, a)`; None after a reset."""
        if actions is not None:
            self.steps += 1
            self._previous_action[:] = self.last_action
            self.last_action[:] = actions

    def write_observation(self, indices: Any, values: Mapping[str, Any]) -> None:
        """Fill the observations of `indices` `(m,)` from physical values of all machines.

        Args:
            indices: numbers of machines.
            values: name of a channel -> `(N, size)`, or `(N,)` for a channel of one number.

        Raises:
            InputError: other names than those of the channels.
        """
        _check_same_names(values, channel_slices(self.observations), "values")
        for name, columns in channel_slices(self.observations).items():
            value = np.asarray(values[name]).reshape(self.size, -1)[indices] / self._scale[columns]
            bounded_value = np.clip(value, -OBSERVATION_BOUND, OBSERVATION_BOUND)
            self.observation[indices, columns] = bounded_value

    def write_reward(self, indices: Any, terms: Mapping[str, Any]) -> None:
        """Fill terms and rewards of `indices` `(m,)` from the terms `(N,)` of all machines.

        Raises:
            InputError: other names than those of `terms`.
        """
        _check_same_names(terms, self.terms, "terms")
        values = np.stack([np.broadcast_to(terms[name], self.size) for name in self.terms], axis=1)
        self.term_values[indices] = values[indices]
        self.reward[indices] = values[indices] @ self.weights

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine."""
        batch = self.batch
        ball = None if batch.rolling_ball is None else batch.ball[index]
        return Scene(batch.pose[index], batch.deflection[index], ball=ball)

    def close(self) -> None:
        """Free the engines."""
        self.batch.close()


def _check_same_names(values: Mapping[str, Any], names: Collection[str], field: str) -> None:
    """Raise InputError where `values` has other names than `names`."""
    if values.keys() != set(names):
        raise InputError(field, f"must be {', '.join(names)}, not {', '.join(values) or 'none'}")


def read_settings(settings_type: type[TaskSettings], options: Mapping[str, Any]) -> TaskSettings:
    """Return checked options of a task.

    Raises:
        UnknownOptionError: an option that the task does not have.
        InputError: a value that cannot be used; names the option.
    """
    try:
        return settings_type(**options)
    except ValidationError as error:
        first_error = error.errors()[0]
        field = ".".join(str(part) for part in first_error["loc"]) or "options"
        if first_error["type"] == "extra_forbidden":
            known_options = ", ".join(settings_type.model_fields)
            message = f"got an unexpected keyword argument {field!r}; there are {known_options}"
            raise UnknownOptionError(field, message) from None
        raise InputError(field, first_error["msg"]) from None


class LinearLaw:
    """Actions in proportion to the observation, within 1.

    Attributes:
        gains: `(a, o)`; the action is gains @ observation, within 1.
    """

    gains: FloatArray

    def __init__(self, task: Task, parts: Mapping[str, Any]) -> None:
        """Take the gains in physical units.

        Args:
            task: task whose channels the names refer to.
            parts: name of an observation -> `(a, size)` action's unit per observation's unit.
        """
        scales, slices = channel_scales(task.observations), channel_slices(task.observations)
        action_scales = channel_scales(task.actions)
        gains = np.zeros((len(action_scales), len(scales)))
        for name, gain in parts.items():
            gains[:, slices[name]] = gain
        self.gains = read_only(gains * scales / action_scales[:, None])

    def __call__(self, observation: Any) -> FloatArray:
        """Return actions `(..., a)` for observations `(..., o)`."""
        action = np.asarray(observation, dtype=float) @ self.gains.T
        return action.clip(-1.0, 1.0)
