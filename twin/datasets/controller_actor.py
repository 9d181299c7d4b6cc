"""A controller of `twin.control` as the actor of an environment that follows motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control import make_controller
from twin.datasets.actors import Actor
from twin.errors import InputError
from twin.plant.signals import Measurement

if TYPE_CHECKING:
    import gymnasium

    from twin.control.controller import Controller

TRACKING = "twin/PoseTracking"
"""Environments whose actions are commands of the drives, and whose episodes have a motion."""

MODES = {"velocities": "velocity", "forces": "force"}
"""Option `action` of the environment -> mode of the commands that fit it."""

QUIET = 1e-9
"""Share of the efforts below which a feedforward counts as zero."""

ADVICE = "take residual=False, or a larger action_scale"


class ControllerActor(Actor):
    """A controller at the environment's control period, along the motion of every episode.

    It gets the measurements of the environment's sensors, and knows the machine as its file
    describes it. Its action is the command less the part that the environment adds by itself.

    Attributes:
        name: of the controller.
        cuts: whether commands beyond the range of actions are cut to it, rather than refused.
        controller: of the episode, None before the first.
        last_command: `(n,)` of its last command, speeds or forces.
    """

    def __init__(self, name: str, env: gymnasium.Env[Any, Any]) -> None:
        """Check that the controller's commands can be actions of `env`.

        Raises:
            InputError: another environment, or one whose actions are pose increments.
        """
        self.name, self._env, self.cuts = name, env, False
        spec = env.spec
        if spec is None or not spec.id.startswith(TRACKING):
            raise InputError("policy", f"the controller {name} can act in {TRACKING}-v0 only")
        self._task: Any = env.unwrapped.task  # type: ignore[attr-defined]
        kind = self._task.settings.action
        if kind not in MODES:
            raise InputError(
                "policy", f"controllers give speeds or forces; action={kind!r} takes neither"
            )
        self._mode = MODES[kind]
        self.controller: Controller | None = None
        self.last_command: FloatArray = np.zeros(0)

    def begin(self, seed: int) -> None:
        """Make the controller anew for the motion of the episode.

        Raises:
            InputError: a controller that does not fit the machine.
            MissingDependencyError: a library of its design is not installed.
        """
        del seed
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
            StateError: `begin` was not called.
        """
        del observation
        if self.controller is None:
            self.begin(0)
        assert self.controller is not None
        task = self._task
        command = self.controller.update(int(task.steps[0]), self._measurement())
        if command.mode != self._mode:
            raise InputError(
                "policy",
                f"the controller {self.name} commands by {command.mode}, the environment takes "
                f"{task.settings.action}: set the option action",
            )
        self._check_feedforward(command.feedforward)
        task.command(np.zeros(task.last_action.shape))
        self.last_command = command.values.copy()
        own, scale = task.drive_commands[0], np.asarray(task.actions[0].scale)
        action = (command.values - own) / scale
        most = float(np.abs(action).max())
        if not most <= 1.0 + 1e-9 and not self.cuts:
            unit = task.actions[0].unit
            raise InputError(
                "policy",
                f"the controller {self.name} commands {most:.3g} times the range of an action "
                f"({float(np.max(scale)):.4g} {unit}); {ADVICE}",
            )
        return np.asarray(np.clip(action, -1.0, 1.0))

    def _measurement(self) -> Measurement:
        batch = self._task.batch
        return Measurement(
            float(self._task.steps[0]) * batch.period,
            batch.measured[0].copy(),
            batch.measured_rates[0].copy(),
            batch.forces[0].copy(),
        )

    def _check_feedforward(self, feedforward: FloatArray | None) -> None:
        if feedforward is None:
            return
        size = float(np.abs(feedforward).max())
        if size > QUIET * float(np.max(self._task.scales.effort)):
            raise InputError(
                "policy",
                f"the controller {self.name} adds {size:.3g} {self._task.platform.force_unit} to "
                "the drives' own forces, which an action cannot express",
            )
