"""Actors of a recorded episode: random actions, functions such as policies, controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control import controller_names, make_controller
from twin.errors import InputError, brief
from twin.plant.signals import Measurement
from twin.training.policy import Policy, policy_for
from twin.training.settings import ENVIRONMENT_LAWS, make_law

if TYPE_CHECKING:
    import gymnasium

    from twin.control.controller import Controller

ROUNDING_TOLERANCE = 1e-6
"""Largest amount by which a rounded action may exceed its space; it is clipped."""

TRACKING_PREFIX = "twin/PoseTracking"
"""Beginning of the ids of environments whose actions are drive commands, and whose episodes have a
motion."""

COMMAND_MODES = {"velocities": "velocity", "forces": "force"}
"""Option `action` of the environment -> command mode that fits it."""

ZERO_EFFORT_FRACTION = 1e-9
"""Fraction of the efforts below which a feedforward counts as zero."""

ACTION_ADVICE = "take residual=False, or a larger action_scale"

LAW_ENVIRONMENTS = {
    law: environment for environment, laws in ENVIRONMENT_LAWS.items() for law in laws
}
"""Law -> environment that it acts in."""

ACTOR_NAMES = ("random", "zero", *controller_names(), *LAW_ENVIRONMENTS)
"""Names of the actors that need no file."""


ActionFunction = Callable[[Any], Any]
"""Function from an observation to an action."""


class Actor(ABC):
    """Chooses the actions of one environment.

    Attributes:
        name: name of the algorithm in the dataset.
    """

    name: str

    def begin(self, seed: int) -> None:
        """Prepare for an episode that has just been reset with `seed`."""
        del seed

    @abstractmethod
    def act(self, observation: Any) -> Any:
        """Return the action for an observation."""


class RandomActor(Actor):
    """Uniformly distributed actions, the same for the same seed."""

    name = "random"

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Keep the action space of `env`."""
        self._space: Any = env.action_space
        self._generator = np.random.default_rng(0)

    def begin(self, seed: int) -> None:
        """Seed the random numbers of the episode."""
        # The environment draws from the seed itself.
        self._generator = np.random.default_rng([seed, 1])

    def act(self, observation: Any) -> FloatArray:
        """Return an action that does not depend on the observation."""
        return np.asarray(self._generator.uniform(self._space.low, self._space.high))


class FunctionActor(Actor):
    """A function from observations to actions."""

    def __init__(self, function: ActionFunction, name: str) -> None:
        """Keep the function and its name in the dataset."""
        self.name, self._function = name, function

    def act(self, observation: Any) -> Any:
        """Return the function's result."""
        return self._function(observation)


class LawActor(Actor):
    """A law of the task by name, with a new instance for every episode."""

    def __init__(self, name: str, env: gymnasium.Env[Any, Any]) -> None:
        """Keep the name of a law and its environment."""
        self.name, self._env = name, env
        self._law: ActionFunction

    def begin(self, seed: int) -> None:
        """Make the law with its filters at rest."""
        self._law = make_law(self.name, self._env)

    def act(self, observation: Any) -> Any:
        """Return the law's action."""
        return self._law(observation)


class NoisyActor(Actor):
    """Another actor with normally distributed noise on its actions, cut to the action space."""

    def __init__(self, actor: Actor, env: gymnasium.Env[Any, Any], deviation: float) -> None:
        """Keep an actor and the standard deviation of the noise, in units of the actions."""
        self.name = f"{actor.name} with noise of {deviation:.3g}"
        self._actor, self._deviation = actor, deviation
        self._space: Any = env.action_space
        self._generator = np.random.default_rng(0)

    def begin(self, seed: int) -> None:
        """Start the actor, and the noise of the episode."""
        self._actor.begin(seed)
        self._generator = np.random.default_rng([seed, 2])

    def act(self, observation: Any) -> FloatArray:
        """Return the actor's action with noise."""
        noise = self._deviation * self._generator.standard_normal(self._space.shape)
        action = np.asarray(self._actor.act(observation)) + noise
        return np.asarray(np.clip(action, self._space.low, self._space.high))


def as_action(action: Any, space: Any) -> Any:
    """Return an action in the environment's space and of its type.

    Raises:
        InputError: wrong shape, not finite, or outside the space.
    """
    try:
        checked = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("policy", f"gave {brief(action)}, which is not an action") from None
    if checked.shape != space.shape:
        raise InputError("policy", f"gave an action of shape {checked.shape}, not {space.shape}")
    excess = np.maximum(checked - space.high, space.low - checked).max(initial=0.0)
    if not excess <= ROUNDING_TOLERANCE:
        raise InputError("policy", "gave an action outside the action space; clip it to the space")
    return np.clip(checked, space.low, space.high).astype(space.dtype)


class ControllerActor(Actor):
    """A controller at the environment's control period, along the motion of every episode.

    It gets the measurements of the environment's sensors, and knows the machine as its file
    describes it. Its action is the command less the part that the environment adds by itself, over
    the largest part that an action adds.

    Attributes:
        name: name of the controller.
        clips_commands: whether commands beyond the range of actions are clipped, not refused.
        controller: controller of the episode, from its begin on.
        last_command: `(n,)` its last command, speeds or forces of the actuators.
    """

    def __init__(self, name: str, env: gymnasium.Env[Any, Any]) -> None:
        """Check that the controller's commands can be actions of `env`.

        Raises:
            InputError: another environment, or one whose actions are pose increments.
        """
        self.name, self._env, self.clips_commands = name, env, False
        spec = env.spec
        if spec is None or not spec.id.startswith(TRACKING_PREFIX):
            raise InputError(
                "policy", f"the controller {name} can act in {TRACKING_PREFIX}-v0 only"
            )
        self._task: Any = env.unwrapped.task  # type: ignore[attr-defined]
        kind = self._task.settings.action
        if kind not in COMMAND_MODES:
            raise InputError(
                "policy", f"controllers give speeds or forces; action={kind!r} takes neither"
            )
        self._mode = COMMAND_MODES[kind]
        self.controller: Controller
        self.last_command: FloatArray = np.zeros(0)

    def begin(self, seed: int) -> None:
        """Make a new controller for the motion of the episode.

        Raises:
            InputError: a controller that does not fit the machine.
            MissingDependencyError: a library of its design is not installed.
        """
        task = self._task
        self.controller = make_controller(
            self.name, task.platform, task.motions[0], period=task.batch.period
        )
        self.controller.start(self._measurement())

    def act(self, observation: Any) -> FloatArray:
        """Return the controller's command as an action.

        Raises:
            InputError: a command of another kind than the actions, or beyond their range.
            ControlError: the controller cannot go on.
        """
        task = self._task
        command = self.controller.update(int(task.steps[0]), self._measurement())
        if command.mode != self._mode:
            raise InputError(
                "policy",
                f"the controller {self.name} commands by {command.mode}, the environment takes "
                f"{task.settings.action}: set the option action",
            )
        self._check_feedforward(command.feedforward)
        # An action of zero shows the command that the environment adds by itself.
        task.command(np.zeros(task.last_action.shape))
        self.last_command = command.values.copy()
        environment_command, scale = task.drive_commands[0], np.asarray(task.actions[0].scale)
        action = (command.values - environment_command) / scale
        largest_action = float(np.abs(action).max())
        if not largest_action <= 1.0 + 1e-9 and not self.clips_commands:
            unit = task.actions[0].unit
            raise InputError(
                "policy",
                f"the controller {self.name} commands {largest_action:.3g} times the range of an "
                f"action ({float(np.max(scale)):.4g} {unit}); {ACTION_ADVICE}",
            )
        return np.asarray(np.clip(action, -1.0, 1.0))

    def _measurement(self) -> Measurement:
        """Return what the machine's sensors read."""
        batch = self._task.batch
        return Measurement(
            float(self._task.steps[0]) * batch.period,
            batch.measured[0].copy(),
            batch.measured_rates[0].copy(),
            batch.forces[0].copy(),
        )

    def _check_feedforward(self, feedforward: FloatArray | None) -> None:
        """Refuse forces that are added to the drives, which no action can say."""
        if feedforward is None:
            return
        largest_feedforward = float(np.abs(feedforward).max())
        if largest_feedforward > ZERO_EFFORT_FRACTION * float(np.max(self._task.scales.effort)):
            raise InputError(
                "policy",
                f"the controller {self.name} adds {largest_feedforward:.3g} "
                f"{self._task.platform.force_unit} to the drives' own forces, which an action "
                "cannot express",
            )


def saved_policy(policy: Any, environment: str) -> Policy | None:
    """Return a shipped policy by name, or the one in a file; None for another actor.

    Raises:
        InputError: no such policy, or one for another environment.
    """
    if not isinstance(policy, (str, Path)) or policy in ACTOR_NAMES:
        return None
    return policy_for(policy, environment, ACTOR_NAMES)


def make_actor(policy: Any, env: gymnasium.Env[Any, Any], saved: Policy | None) -> Actor:
    """Return the actor of `env`.

    Args:
        policy: "random", "zero", the name of a controller or of a law of the task, a function, or
            the name of `saved`.
        env: the environment.
        saved: result of `saved_policy`.

    Raises:
        InputError: none of these, or a controller or law that cannot act in this environment.
    """
    if saved is not None:
        return FunctionActor(saved, f"{saved.origin.algorithm or 'policy'} ({Path(policy).name})")
    if isinstance(policy, str):
        if policy == "random":
            return RandomActor(env)
        if policy == "zero":
            zero_action = np.zeros(env.action_space.shape or ())
            return FunctionActor(lambda _: zero_action, "zero")
        if policy not in LAW_ENVIRONMENTS:
            return ControllerActor(policy, env)
        if env.spec is None or env.spec.id != LAW_ENVIRONMENTS[policy]:
            raise InputError(
                "policy", f"the law {policy} can act in {LAW_ENVIRONMENTS[policy]} only"
            )
        return LawActor(policy, env)
    if callable(policy):
        return FunctionActor(policy, getattr(policy, "__name__", type(policy).__name__))
    raise InputError("policy", f"must be a name, a file or a function, not {brief(policy)}")
