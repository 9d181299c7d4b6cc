"""The page of an environment and the policy that acts in it.

A live session runs an environment and a policy, episode after episode. The environment is driven by
a policy, a law of its task, random actions, or actions of zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from twin.basics.arrays import FloatArray, one_of, whole_number
from twin.basics.files import as_path
from twin.charts.panels import legs
from twin.envs import environment_ids
from twin.envs.task import Task
from twin.errors import InputError, StateError, TwinError
from twin.page.page import Page, Tab
from twin.page.panels.state import note
from twin.page.requests import Requests
from twin.simulation.live.machine_charts import Chart, History, actuator_limits
from twin.simulation.live.runner import HISTORY_INTERVAL, HISTORY_LENGTH
from twin.simulation.simulate import Scene
from twin.training.environments import (
    change_text,
    check_fit,
    explained_differences,
    merged_options,
    option_differences,
)
from twin.training.evaluation import ZERO_ACTOR
from twin.training.policy import Policy, load_policy, policies_of, policy_for
from twin.training.settings import ENVIRONMENT_LAWS, make_law

DEGREES_PER_RADIAN = 180.0 / np.pi

AXIS_NAMES = ("x", "y", "z")

ACCELERATION_CHART = Chart(
    "acceleration",
    "Acceleration in the world",
    "m/s²",
    (*(f"{axis} of the base" for axis in AXIS_NAMES), *AXIS_NAMES),
    setpoint=tuple(f"{axis} of the base" for axis in AXIS_NAMES),
    min_extent=0.1,
)

RANDOM_POLICY = "random"

END_PAUSE = 1.5
"""[s] Engineering choice: pause at the end of an episode, before the next one begins."""


class Part(NamedTuple):
    """A chart and the values of its curves."""

    chart: Chart
    values: Callable[[Mapping[str, Any]], FloatArray]
    """function from `info` of a step"""


TASK_CHARTS: dict[str, tuple[Part, ...]] = {
    "PoseTracking": (
        Part(
            Chart("position_error", "Position error", "mm", AXIS_NAMES, 1e3, min_extent=1e-5),
            lambda info: info["position_error"],
        ),
        Part(
            Chart(
                "rotation_error",
                "Rotation error",
                "deg",
                AXIS_NAMES,
                DEGREES_PER_RADIAN,
                min_extent=1e-4,
            ),
            lambda info: info["orientation_error"],
        ),
    ),
    "MotionCueing": (
        Part(
            Chart("force_error", "Error of perceived force", "m/s²", AXIS_NAMES, min_extent=0.1),
            lambda info: info["perceived_error"][:3],
        ),
        Part(
            Chart(
                "turning_error",
                "Error of perceived turning",
                "deg/s",
                AXIS_NAMES,
                DEGREES_PER_RADIAN,
                min_extent=0.01,
            ),
            lambda info: info["perceived_error"][3:6],
        ),
    ),
    "VibrationIsolation": (
        Part(
            ACCELERATION_CHART,
            lambda info: np.concatenate([info["base_acceleration"], info["absolute_acceleration"]]),
        ),
        Part(
            Chart(
                "displacement", "Displacement in the world", "mm", AXIS_NAMES, 1e3, min_extent=1e-4
            ),
            lambda info: info["absolute_displacement"],
        ),
    ),
    "BallBalance": (
        Part(
            Chart("ball_error", "Ball to target", "mm", AXIS_NAMES[:2], 1e3, min_extent=1e-3),
            lambda info: info["target_error"],
        ),
        Part(
            Chart("slope", "Slope of the plate", "%", AXIS_NAMES[:2], 100.0, min_extent=0.01),
            lambda info: info["slope"],
        ),
    ),
}
"""Charts of a task's error, by the name of its class."""


class EnvironmentCharts:
    """Charts of a task: reward and its terms, error, actions, forces.

    Attributes:
        charts: in the order of their switches.
    """

    def __init__(self, task: Task) -> None:
        """Define the charts of a task."""
        self._task = task
        self._error_charts = TASK_CHARTS.get(type(task).__name__, ())
        terms = tuple(task.terms)
        max_force = np.unique(actuator_limits(task.platform).force)
        bounds = tuple(max_force[np.isfinite(max_force)].tolist())
        self.charts = (
            Chart("reward", "Reward", "", ("sum", *terms)),
            *(curve_group.chart for curve_group in self._error_charts),
            Chart("actions", "Actions", "", _names(task), limits=(-1.0, 1.0)),
            Chart("return", "Sum of rewards", "", ("return",)),
            Chart(
                "forces",
                "Actuator forces",
                task.platform.force_unit,
                tuple(legs(task.platform.n_actuators)),
                limits=(*(-bound for bound in bounds), *bounds),
            ),
        )

    def values(self, info: Mapping[str, Any], action: Any, returned: float) -> dict[str, Any]:
        """Return the charts' values; terms of the reward are weighted.

        Args:
            info: of the last step.
            action: `(a,)` of it.
            returned: sum of the rewards of the episode so far.
        """
        task = self._task
        terms = task.weights * np.array([info["reward_terms"][name] for name in task.terms])
        values = {
            "reward": np.array([terms.sum(), *terms]),
            "actions": action,
            "return": returned,
            "forces": info["forces"],
        }
        return values | {part.chart.name: part.values(info) for part in self._error_charts}


def _names(task: Task) -> tuple[str, ...]:
    """Return names of all numbers of an action."""
    return tuple(
        f"{channel.name} {k + 1}" if channel.size > 1 else channel.name
        for channel in task.actions
        for k in range(channel.size)
    )


Driver = Callable[[FloatArray], Any]
"""Observation `(o,)` to action `(a,)`."""


def available_laws(environment: str, env: Any) -> tuple[str, ...]:
    """Return the names of the laws that can act in an environment."""
    laws = []
    for name in ENVIRONMENT_LAWS.get(environment, ()):
        with suppress(InputError):
            make_law(name, env)
            laws.append(name)
    return tuple(laws)


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
    if name == ZERO_ACTOR:
        return lambda _: np.zeros(space.shape, space.dtype)
    if name == RANDOM_POLICY:
        return lambda _: space.sample()
    laws = available_laws(environment, env)
    if name in laws:
        return make_law(str(name), env)
    policy = policy_for(name, environment, (ZERO_ACTOR, RANDOM_POLICY, *laws))
    check_fit(policy, env)
    return policy


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
        shipped = tuple(
            shipped_name
            for shipped_name in policies_of(environment)
            if "machine" not in option_differences(load_policy(shipped_name), options)
        )
        is_default = policy is None and options.keys() <= {"engine"}
        name = next(iter(shipped), None) if is_default else policy
        trained = None
        if name is not None and (str(name) in shipped or as_path(name, "policy").is_file()):
            trained = policy_for(name, environment)
            options = merged_options(trained, options, str(name))
        with explained_differences(trained, options, str(name)):
            self._env: Any = gymnasium.make(environment, disable_env_checker=True, **options)
        self._options = options
        base_environment: Any = self._env.unwrapped
        self.platform, self.ball = (
            base_environment.platform,
            base_environment.task.batch.rolling_ball,
        )
        self.period = float(base_environment.task.batch.period)
        laws = available_laws(environment, self._env)
        arguments = () if name is None else (str(name),)
        self.policies = tuple(
            dict.fromkeys((ZERO_ACTOR, RANDOM_POLICY, *laws, *shipped, *arguments))
        )
        self._charts = EnvironmentCharts(base_environment.task)
        self.history = History(self._charts.charts, round(HISTORY_LENGTH / HISTORY_INTERVAL))
        self.real_time_factor = float("nan")
        self._first_seed = seed
        try:
            self.choose(name if name is not None else next(iter(laws), ZERO_ACTOR))
            self.begin(seed)
            self._scene: Scene = base_environment.scene
        except BaseException:
            self._env.close()
            raise

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
        """Switch to another policy.

        Raises:
            InputError: an unknown name, or a policy that does not fit; nothing has changed.
        """
        driver = make_driver(policy, self.environment, self._env)
        self._driver, self.policy = driver, str(policy)
        differences = (
            option_differences(driver, self._options) if isinstance(driver, Policy) else {}
        )
        self.changes = change_text(self.policy, differences, "shown")
        self._started = False

    def begin(self, seed: Any) -> None:
        """Restart with the episode of a seed.

        Raises:
            InputError: not a whole number from 0.
        """
        self._first_seed, self.episode, self.stopped = whole_number(seed, "seed", 0), 0, ""
        self.time = self._time_left = 0.0
        self.history.clear()
        self._next_record = 0.0
        self._next()

    def advance(self, duration: float) -> None:
        """Do whole control periods; after an episode there is a pause, then the next begins."""
        self._time_left += max(duration, 0.0)
        while self._time_left >= self.period * (1.0 - 1e-9) and not self.stopped:
            self._time_left -= self.period
            self.time += self.period
            if self._reason:
                self._pause_left -= self.period
                if self._pause_left <= 0.0:
                    self._guarded(self._next)
            else:
                self._guarded(self._step)

    def reset(self) -> None:
        """Restart with the first seed."""
        self.begin(self._first_seed)

    def close(self) -> None:
        """Free the environment; more calls do nothing."""
        self._env.close()

    def _next(self) -> None:
        """Begin the next episode; the charts have a gap before it."""
        self.seed, self.episode = self._first_seed + self.episode, self.episode + 1
        self._observation, _ = self._env.reset(seed=self.seed)
        self._env.action_space.seed(self.seed)
        self._reason, self.returned, self.steps = "", 0.0, 0
        self._started = False
        if len(self.history):
            self.history.append(self.time, {})

    def _step(self) -> None:
        if not self._started and hasattr(self._driver, "begin"):
            self._driver.begin()
        self._started = True
        action = np.asarray(self._driver(self._observation), dtype=np.float32)
        self._observation, reward, terminated, truncated, info = self._env.step(action)
        self.returned += reward
        self.steps += 1
        if self.time >= self._next_record or terminated or truncated:
            self._next_record = max(self._next_record + HISTORY_INTERVAL, self.time)
            self.history.append(self.time, self._charts.values(info, action, self.returned))
        if terminated or truncated:
            self._reason = info["termination"] or "time is up"
            self._pause_left = END_PAUSE

    def _guarded(self, function: Callable[[], None]) -> None:
        try:
            function()
        except TwinError as error:
            self.stopped = str(error)


class EnvironmentPanel:
    """Controls of an environment: its policy and its episodes."""

    def __init__(self, gui: Any, requests: Requests, session: EnvironmentSession) -> None:
        """Add the controls to the tab that is being built."""
        self._session = session
        self._policy = gui.add_dropdown(
            "Policy",
            session.policies,
            initial_value=session.policy,
            hint="Policy that acts from now on.",
        )
        self._seed = gui.add_number(
            "Seed",
            session.seed,
            min=0,
            step=1,
            hint="Seed of the next new episode; later ones count on from it.",
        )
        self._new = gui.add_button("New episode", icon="refresh")
        self._text = gui.add_html("")
        requests.on(self._policy.on_update, lambda _: self._choose())
        requests.on(self._new.on_click, lambda _: session.begin(self._seed.value))

    def refresh(self) -> None:
        """Show the state of the episode; called on the run's thread."""
        message_and_changes = self._session.message, self._session.changes
        self._text.content = "".join(
            note(escape(text), "episode") for text in message_and_changes if text
        )

    def _choose(self) -> None:
        try:
            # The session takes other names as files: no page reads the server's files.
            self._session.choose(one_of(self._policy.value, "policy", self._session.policies))
        finally:
            self._policy.value = self._session.policy


def environment_page(server: Any, session: EnvironmentSession) -> Page:
    """Return the page of an environment, for viser's `server`."""
    name = session.environment.partition("/")[2] or session.environment

    def label() -> str:
        return f"{name} \u00b7 {session.platform.name} \u00b7 {session.policy}"

    return Page(
        server,
        session,
        (Tab("Policy", lambda gui, requests, _: [EnvironmentPanel(gui, requests, session)]),),
        label=label,
    )
