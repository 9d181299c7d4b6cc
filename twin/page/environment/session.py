"""A live session of an environment and a policy, episode after episode.

Drivers of an environment: a policy, a law of its task, random actions, or actions of zero.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from twin.basics.arrays import FloatArray, one_of, whole_number
from twin.basics.files import as_path
from twin.envs import environment_ids
from twin.errors import InputError, StateError, TwinError
from twin.page.environment.charts import EnvironmentCharts
from twin.simulation.live.machine_charts import History
from twin.simulation.live.runner import KEPT, NOTE
from twin.simulation.scene import Scene
from twin.training.environments import check_fit
from twin.training.evaluation.baselines import ZERO
from twin.training.laws import LAWS, make_law
from twin.training.options import (
    change_text,
    explained_differences,
    merged_options,
    option_differences,
)
from twin.training.policy import Policy, policies_of, policy_for

RANDOM = "random"

Driver = Callable[[FloatArray], Any]
"""Observation `(o,)` to action `(a,)`."""


def own_laws(environment: str, env: Any) -> tuple[str, ...]:
    """Return the names of the laws that can act in an environment."""
    found = []
    for name in LAWS.get(environment, ()):
        with suppress(InputError):
            make_law(name, env)
            found.append(name)
    return tuple(found)


def make_driver(name: str | Path, environment: str, env: Any) -> Driver:
    """Return the driver of a name.

    Args:
        name: "zero", "random", a law of the task, a shipped policy or a file.
        environment: id.
        env: the environment; its space of actions draws random ones.

    Raises:
        InputError: an unknown name, or a policy that does not fit; lists the known names.
    """
    space = env.action_space
    if name == ZERO:
        return lambda _: np.zeros(space.shape, space.dtype)
    if name == RANDOM:
        return lambda _: space.sample()
    laws = own_laws(environment, env)
    if name in laws:
        return make_law(str(name), env)
    policy = policy_for(name, environment, (ZERO, RANDOM, *laws))
    check_fit(policy, env)
    return policy


REST = 1.5
"""[s] Adopted: time for which the end of an episode stays on the page."""


class EnvironmentSession:
    """Episodes of one of the package's environments, in its own control periods.

    Attributes:
        environment: id.
        platform: the machine as its file describes it.
        ball: that rolls on it, None where there is none.
        history: of the charts, the last 30 s.
        period: of control [s].
        policies: names that can be chosen: "zero", "random", laws of the task, shipped policies,
            the given file.
        policy: name of the one that acts.
        changes: how the environment differs from the one of the policy's training, as a sentence;
            empty where it does not.
        episode: number of the present one, from 1.
        seed: of the episode.
        returned: sum of its rewards so far.
        steps: control periods of it so far.
        stopped: why the session has stopped; empty while it goes on.
        real_time_factor: set by the runner.
    """

    def __init__(
        self, environment: str, policy: str | Path | None = None, *, seed: int = 0, **options: Any
    ) -> None:
        """Make the environment and begin an episode.

        Args:
            environment: id such as "twin/PoseTracking-v0".
            policy: "zero", "random", a law of the task, a shipped policy, or a file of one;
                default: the best of these.
            seed: of the first episode; the others have the next numbers.
            options: of the environment, beside those that the policy was trained with.

        Raises:
            InputError: an unknown id or option, a policy that does not fit.
            MachineNotFoundError: no such machine.
            ParameterError: a platform.toml that cannot be used.
            MissingDependencyError: the engine's library is not installed.
        """
        self.environment = one_of(environment, "environment", environment_ids())
        shipped = policies_of(environment)
        usual = policy is None and options.keys() <= {"engine"}
        name = next(iter(shipped), None) if usual else policy
        trained = None
        if name is not None and (str(name) in shipped or as_path(name, "policy").is_file()):
            trained = policy_for(name, environment)
            options = merged_options(trained, options, str(name))
        with explained_differences(trained, options, str(name)):
            self._env: Any = gymnasium.make(environment, disable_env_checker=True, **options)
        self._options = options
        inner: Any = self._env.unwrapped
        self.platform, self.ball = inner.platform, inner.task.batch.rolling_ball
        self.period = float(inner.task.batch.period)
        laws = own_laws(environment, self._env)
        given = () if name is None else (str(name),)
        self.policies = tuple(dict.fromkeys((ZERO, RANDOM, *laws, *shipped, *given)))
        self._charts = EnvironmentCharts(inner.task)
        self.history = History(self._charts.charts, round(KEPT / NOTE))
        self.real_time_factor = float("nan")
        self._first = seed
        try:
            self.choose(name if name is not None else next(iter(laws), ZERO))
            self.begin(seed)
            self._scene: Scene = inner.scene
        except BaseException:
            self._env.close()
            raise

    @property
    def time(self) -> float:
        """[s] of all episodes since the last reset."""
        return self._time

    @property
    def scene(self) -> Scene:
        """Present scene, with the reference pose as a ghost.

        If an episode could not begin, the scene at the end of the one before.
        """
        with suppress(StateError):
            self._scene = self._env.unwrapped.scene
        return self._scene

    @property
    def message(self) -> str:
        """Number and return of the episode; at its end, the reason."""
        text = f"episode {self.episode}, seed {self.seed}, return {self.returned:.4g}"
        return f"{text}; ended after {self.steps} steps: {self._reason}" if self._reason else text

    def choose(self, policy: str | Path) -> None:
        """Let another policy act from now on.

        Raises:
            InputError: an unknown name, or a policy that does not fit; nothing has changed.
        """
        driver = make_driver(policy, self.environment, self._env)
        self._driver, self.policy = driver, str(policy)
        apart = option_differences(driver, self._options) if isinstance(driver, Policy) else {}
        self.changes = change_text(self.policy, apart, "shown")
        self._started = False

    def begin(self, seed: Any) -> None:
        """Begin again with the episode of a seed, as the first.

        Raises:
            InputError: not a whole number from 0.
        """
        self._first, self.episode, self.stopped = whole_number(seed, "seed", 0), 0, ""
        self._time = self._left = 0.0
        self.history.clear()
        self._due = 0.0
        self._next()

    def advance(self, duration: float) -> None:
        """Do whole control periods; after an episode there is a pause, then the next begins."""
        self._left += max(duration, 0.0)
        while self._left >= self.period * (1.0 - 1e-9) and not self.stopped:
            self._left -= self.period
            self._time += self.period
            if self._reason:
                self._rest -= self.period
                if self._rest <= 0.0:
                    self._guarded(self._next)
            else:
                self._guarded(self._step)

    def reset(self) -> None:
        """Begin anew with the first seed."""
        self.begin(self._first)

    def close(self) -> None:
        """Free the environment; more calls do nothing."""
        self._env.close()

    def _next(self) -> None:
        """Begin the next episode; the charts have a gap before it."""
        self.seed, self.episode = self._first + self.episode, self.episode + 1
        self._observation, _ = self._env.reset(seed=self.seed)
        self._env.action_space.seed(self.seed)
        self._reason, self.returned, self.steps = "", 0.0, 0
        self._started = False
        if len(self.history):
            self.history.append(self._time, {})

    def _step(self) -> None:
        if not self._started and hasattr(self._driver, "begin"):
            self._driver.begin()
        self._started = True
        action = np.asarray(self._driver(self._observation), dtype=np.float32)
        self._observation, reward, ended, truncated, info = self._env.step(action)
        self.returned += reward
        self.steps += 1
        if self._time >= self._due or ended or truncated:
            self._due = max(self._due + NOTE, self._time)
            self.history.append(self._time, self._charts.values(info, action, self.returned))
        if ended or truncated:
            self._reason = info["termination"] or "time is up"
            self._rest = REST

    def _guarded(self, function: Callable[[], None]) -> None:
        try:
            function()
        except TwinError as error:
            self.stopped = str(error)
