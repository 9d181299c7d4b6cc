"""Environments by id, with names of options checked; their channels, and whether a policy fits.

A native vector environment of Gymnasium for Stable-Baselines3, with results of its episodes.

Gymnasium's environments reset themselves within the step that ends an episode (`SAME_STEP`). The
last observation comes as `final_obs`, and here as `terminal_observation` of that row's info.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.errors import InputError, brief
from twin.training.policy import Policy, PolicyChannel, Residual

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

UNCOMPARED_OPTIONS = ("engine", "info", "scales", "render_mode", "autoreset_mode")
"""Options that do not change the task, or that a policy brings along."""

ACTION_OPTION = "action_scale"
"""Option that scales actions; a policy cannot be used with another value."""

DEFAULT_TEXT = "its default"

PARAMETERS_DIFFER = "parameters of the machine"
"""Name of a difference for the same machine and configuration: its file has been edited."""

OWN_PREFIX = "twin/"
"""Prefix of the ids of the package's environments."""

SCALE_TOLERANCE = 1e-6
"""Relative difference up to which scales count as equal."""


class Metric(NamedTuple):
    """One number of an episode, made from a signal in the environment's `info`."""

    name: str
    unit: str
    signal: str
    """name in `info`, physical units"""
    factor: float = 1.0
    """factor from SI to `unit`"""
    kind: Literal["rms", "mean", "largest", "last"] = "rms"
    """how the values at the control instants give one number: rms, mean, largest or last"""

    @property
    def title(self) -> str:
        """Name with its unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


ENVIRONMENT_METRICS: dict[str, tuple[Metric, ...]] = {
    "twin/PoseTracking-v0": (
        Metric("position error", "mm", "position_error", 1e3),
        Metric("orientation error", "mrad", "orientation_error", 1e3),
        Metric("largest error", "mm", "position_error", 1e3, "largest"),
    ),
    "twin/VibrationIsolation-v0": (
        Metric("transmissibility", "", "transmissibility", 1.0, "last"),
        Metric("acceleration", "m/s2", "absolute_acceleration"),
        Metric("displacement", "mm", "absolute_displacement", 1e3),
    ),
    "twin/MotionCueing-v0": (
        Metric("perceived error", "thresholds", "score", 1.0, "last"),
        Metric("false cues", "thresholds", "false_cues", 1.0, "last"),
    ),
    "twin/BallBalance-v0": (
        Metric("distance", "mm", "target_error", 1e3),
        Metric("ball speed", "mm/s", "ball_velocity", 1e3),
    ),
}
"""Environment id -> its metrics, the most important first."""


def signal_values(metrics: tuple[Metric, ...], info: Mapping[str, Any]) -> FloatArray:
    """Return the metrics' signals `(N, metrics)` of one step; vectors count by their lengths."""
    columns = [np.asarray(info[metric.signal], dtype=float) for metric in metrics]
    magnitudes = [
        values if values.ndim == 1 else np.linalg.norm(values, axis=-1) for values in columns
    ]
    return np.stack(magnitudes, axis=1)


class Accumulator:
    """Accumulates the metrics of episodes that run in parallel."""

    def __init__(self, metrics: tuple[Metric, ...], size: int) -> None:
        """Start with no steps in `size` environments."""
        self.metrics = metrics
        self.sums = np.zeros((size, len(metrics)))
        self.largest = np.zeros((size, len(metrics)))
        self.last = np.zeros((size, len(metrics)))
        self.count = np.zeros(size, dtype=np.int64)

    def add(self, values: FloatArray, indices: Any = slice(None)) -> None:
        """Add a step's values `(m, metrics)` of the signals in some environments."""
        powers = np.array([2 if metric.kind == "rms" else 1 for metric in self.metrics])
        self.sums[indices] += np.abs(values) ** powers
        self.largest[indices] = np.maximum(self.largest[indices], np.abs(values))
        self.last[indices] = values
        self.count[indices] += 1

    def results(self, indices: Any = slice(None)) -> FloatArray:
        """Return the metrics `(m, metrics)` of some environments' episodes, in their units."""
        means = self.sums[indices] / np.maximum(self.count[indices], 1)[:, None]
        metric_values = np.empty_like(means)
        for k, metric in enumerate(self.metrics):
            values = {
                "rms": np.sqrt(means[:, k]),
                "mean": means[:, k],
                "largest": self.largest[indices][:, k],
                "last": self.last[indices][:, k],
            }[metric.kind]
            metric_values[:, k] = metric.factor * values
        return np.asarray(metric_values)

    def clear(self, indices: Any) -> None:
        """Start new episodes in some environments."""
        self.sums[indices] = self.largest[indices] = self.last[indices] = 0.0
        self.count[indices] = 0


def merged_options(
    policy: Policy | None, own_options: Mapping[str, Any] | None, name: str = "the policy"
) -> dict[str, Any]:
    """Return the options of a policy's training with the given ones, which win.

    Args:
        policy: trained; None for a baseline, which has none.
        own_options: options; None for none.
        name: name of the policy, for the message.

    Raises:
        InputError: another scale of actions than in the training.
    """
    if policy is None:
        return dict(own_options or {})
    merged = {**policy.options, **(own_options or {})}
    differences = option_differences(policy, merged)
    if ACTION_OPTION in differences:
        value, trained_value = differences[ACTION_OPTION]
        raise InputError(
            ACTION_OPTION,
            f"is {value}, but {trained_value} in the training of {name}, whose actions it would "
            "change",
        )
    return merged


@contextmanager
def explained_differences(
    policy: Policy | None, options: Mapping[str, Any], name: str
) -> Iterator[None]:
    """Name the options that differ from a policy's training where its scales do not fit.

    Raises:
        InputError: the environment made inside does not take the scales of the training.
    """
    try:
        yield
    except InputError as error:
        if policy is None or error.field != "scales":
            raise
        differences_text = difference_text(option_differences(policy, options))
        raise InputError(
            "policy",
            f"{name} does not fit ({error.message}); not as in its training: {differences_text}",
        ) from None


def option_differences(policy: Policy, options: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return name -> (value here, value in the training) of the options that differ.

    The file of the machine may have changed since: then the digests of its parameters differ.
    """
    standard_options = _usual_options(policy.origin.environment)
    trained_options, differences = policy.origin.options, {}
    for name in sorted(({*trained_options, *options}) - set(UNCOMPARED_OPTIONS)):
        value, trained_value = (
            _text({**standard_options, **values}.get(name, DEFAULT_TEXT))
            for values in (options, trained_options)
        )
        if value != trained_value:
            differences[name] = value, trained_value
    trained_value = policy.origin.parameters
    used_options = {**standard_options, **options}
    if (
        trained_value
        and "machine" in used_options
        and not {"machine", "configuration"} & {*differences}
    ):
        value = _parameters(used_options)
        if value != trained_value:
            differences[PARAMETERS_DIFFER] = value, trained_value
    return differences


def difference_text(differences: Mapping[str, tuple[str, str]], mark: str = "") -> str:
    """Return differences as a text: "acceleration 0.2 (training: null)".

    Args:
        differences: name -> (value here, value in the training).
        mark: around names and values, such as the backtick of Markdown.
    """
    return ", ".join(
        f"{mark}{name}{mark} {mark}{value}{mark} (training: {mark}{training_value}{mark})"
        for name, (value, training_value) in differences.items()
    )


def change_text(
    name: str, differences: Mapping[str, tuple[str, str]], use: str, mark: str = ""
) -> str:
    """Return "NAME is not USE as it was trained: ..."; empty without differences."""
    if not differences:
        return ""
    differences_text = difference_text(differences, mark)
    return f"{mark}{name}{mark} is not {use} as it was trained: {differences_text}."


def _parameters(options: Mapping[str, Any]) -> str:
    """Return the digest of the parameters of an environment's machine."""
    machine = options["machine"]
    if not isinstance(machine, Platform):
        machine = load(machine, options.get("configuration"))
    return machine.hash


def _usual_options(environment: str) -> dict[str, Any]:
    """Return the defaults of an environment: those of its task, and those it is registered with.

    They have no machine where the environment is not made of a `twin.envs.task.Task`.
    """
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    module, _, name = environment.rpartition(":")
    with suppress(ImportError):  # the evaluation reports a module that cannot be imported
        import_module(module or "twin.envs")
    spec = gymnasium.registry.get(name)
    if spec is None:
        return {}
    creator = spec.entry_point or spec.vector_entry_point
    creator = load_env_creator(creator) if isinstance(creator, str) else creator
    task = getattr(creator, "task_type", None)
    if task is None:
        return dict(spec.kwargs)
    fields = task.settings_type.model_fields.items()
    return {
        "machine": task.default_machine,
        "configuration": None,
        "randomisation": None,
        "max_episode_steps": spec.max_episode_steps,
        **{field: info.get_default(call_default_factory=True) for field, info in fields},
        **spec.kwargs,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


@contextmanager
def checked_environment(environment: Any) -> Iterator[None]:
    """Register the package's environments; inside, errors of `gymnasium.make` name their field.

    Raises:
        InputError: an unknown id, or options that the environment does not take.
    """
    if not isinstance(environment, str):
        raise InputError("environment", f"must be an id, not {brief(environment)}")
    importlib.import_module("twin.envs")
    try:
        yield
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        known_names = ", ".join(
            sorted(name for name in gymnasium.registry if name.startswith(OWN_PREFIX))
        )
        raise InputError(
            "environment", f"cannot make {brief(environment)} ({error}); known: {known_names}"
        ) from None
    except InputError:
        raise
    except TypeError as error:
        field_name = "options" if environment.startswith(OWN_PREFIX) else "environment"
        raise InputError(field_name, f"{environment} does not take the options: {error}") from None


def check_registered(environment: str) -> None:
    """Check that an environment has an id; the module of "module:id" is not imported for that.

    Raises:
        InputError: an unknown id; the message lists the package's own.
    """
    if ":" not in environment:
        with checked_environment(environment):
            gymnasium.spec(environment)


def make_environments(
    environment: str, size: int, options: Mapping[str, Any], autoreset: str = "same_step"
) -> Any:
    """Return a native vector environment (`gymnasium.vector.VectorEnv`).

    Args:
        environment: id such as "twin/PoseTracking-v0"; "module:id" imports a module first.
        size: environments in it.
        options: keyword arguments of the environment.
        autoreset: "same_step" (a finished episode is replaced within the step), "next_step" or
            "disabled".

    Raises:
        InputError: an unknown id, or options that the environment does not take.
    """
    with checked_environment(environment):
        return gymnasium.make_vec(
            environment,
            num_envs=size,
            vectorization_mode="vector_entry_point",
            **{**options, "autoreset_mode": AutoresetMode[autoreset.upper()]},
        )


def channels(env: Any) -> tuple[tuple[PolicyChannel, ...], tuple[PolicyChannel, ...]]:
    """Return the channels of observations and actions; none for an environment without names."""
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        return (), ()
    return _channels(task.observations), _channels(task.actions)


def check_fit(policy: Policy, env: Any) -> None:
    """Check that a policy is made for an environment: the same numbers with the same meaning.

    Args:
        policy: trained.
        env: a single environment, or a vector of them.

    Raises:
        InputError: other observations or actions, or other scales of them; names the options that
            differ from those of the training.
    """
    differences = option_differences(policy, env.spec.kwargs) if env.spec else {}
    advice = "make it with `policy.options`, the options of the training"
    if differences:
        advice = f"not as in the training: {difference_text(differences)}"
    prefix = "single_" if hasattr(env, "num_envs") else ""
    observation_space, action_space = (
        getattr(env, f"{prefix}{kind}_space") for kind in ("observation", "action")
    )
    sizes = (observation_space.shape[0], action_space.shape[0])
    policy_sizes = (policy.mean.size, policy.biases[-1].size)
    if policy_sizes != sizes:
        raise InputError(
            "policy",
            f"takes {policy_sizes[0]} observations to {policy_sizes[1]} actions, the environment "
            f"has {sizes[0]} and {sizes[1]}; {advice}",
        )
    for kind, table in zip(("observations", "actions"), channels(env), strict=True):
        trained_channels = getattr(policy.origin, kind)
        if not (trained_channels and table):
            continue
        for channel, trained_channel in zip(table, trained_channels, strict=False):
            scales = np.atleast_1d(channel.scale), np.atleast_1d(trained_channel.scale)
            same_channel = (channel.name, channel.size, channel.unit) == (
                trained_channel.name,
                trained_channel.size,
                trained_channel.unit,
            )
            if not same_channel or not np.allclose(*scales, rtol=SCALE_TOLERANCE, atol=0.0):
                raise InputError(
                    "policy",
                    f"was trained with {kind} where {trained_channel.name} has another place or "
                    f"scale; {advice}",
                )


def _channels(table: Any) -> tuple[PolicyChannel, ...]:
    return tuple(
        PolicyChannel(
            name=channel.name, size=channel.size, unit=channel.unit, scale=_scale(channel.scale)
        )
        for channel in table
    )


def _scale(scale: Any) -> float | tuple[float, ...]:
    values = np.asarray(scale, dtype=float)
    return float(values) if values.ndim == 0 else tuple(values.tolist())


try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    VecEnv = object


class Episode(NamedTuple):
    """Results of a finished episode."""

    reward: float
    """sum of the rewards of the episode"""
    length: int
    """number of steps"""
    terminated: bool
    """whether the episode was terminated before its time limit"""
    metrics: tuple[float, ...]
    """values of the metrics in their units"""


class VectorAdapter(VecEnv):  # type: ignore[misc]
    """Stable-Baselines3's `VecEnv` over a native vector environment.

    Attributes:
        finished: episodes since they were last collected, oldest first.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        metrics: tuple[Metric, ...] = (),
        seed: int = 0,
        law: Residual | None = None,
    ) -> None:
        """Wrap a native vector environment.

        Args:
            env: environment with autoreset mode `SAME_STEP`.
            metrics: metrics of the episodes; those without their signal in `info` are left out.
            seed: seed of the first reset.
            law: law that the actions correct; None where they are the environment's actions.

        Raises:
            InputError: another autoreset mode.
        """
        from gymnasium.vector import AutoresetMode

        if env.metadata.get("autoreset_mode") is not AutoresetMode.SAME_STEP:
            raise InputError("env", "must reset finished episodes within the step (SAME_STEP)")
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self.finished: list[Episode] = []
        self._metrics = metrics
        self._seed: int | None = seed
        self._empty_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._actions: Any = None
        self._law = law
        self._last_observations: Any = None
        self._begin(())

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics that the environment has signals for; known after the first reset."""
        return self._sums.metrics

    def reset(self) -> Any:
        """Begin new episodes in all rows; return the observations `(N, o)`."""
        observations, info = self.env.reset(seed=self._seed)
        self._seed = None
        self._begin(tuple(metric for metric in self._metrics if metric.signal in info))
        self._last_observations = observations
        return observations

    def step_async(self, actions: Any) -> None:
        """Store the actions `(N, a)` of the next step, or the corrections of a law's actions."""
        self._actions = (
            actions if self._law is None else self._law.compose(self._last_observations, actions)
        )

    def step_wait(self) -> tuple[Any, FloatArray, Any, list[dict[str, Any]]]:
        """Make the step: observations `(N, o)`, rewards `(N,)`, ends `(N,)`, infos."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        self._last_observations = observations
        is_done = terminated | truncated
        self._rewards += rewards
        self._lengths += 1
        finished_rows = np.flatnonzero(is_done)
        if self.metrics:
            self._sums.add(self._signals(info, finished_rows))
        infos = (
            self._finish(finished_rows, terminated, info)
            if len(finished_rows)
            else self._empty_infos
        )
        return observations, rewards.astype(np.float32), is_done, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def collect(self) -> list[Episode]:
        """Return the episodes finished since the last call."""
        finished, self.finished = self.finished, []
        return finished

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each row, or else that of the environment once per row."""
        return [getattr(row, attr_name) for row in self._rows(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of each row.

        Raises:
            InputError: rows that the environment does not show, or an attribute of its own.
        """
        for row in self._own_rows(attr_name, indices):
            setattr(row, attr_name, value)

    def env_method(
        self, method_name: str, *arguments: Any, indices: Any = None, **options: Any
    ) -> list[Any]:
        """Return the results of a method of each row.

        Raises:
            InputError: rows that the environment does not show.
        """
        rows = self._own_rows(method_name, indices)
        return [getattr(row, method_name)(*arguments, **options) for row in rows]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False once per row: rows are not wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    def _rows(self, indices: Any) -> list[Any]:
        """Return the sub-environments of some indices, or the environment itself without any."""
        sub_environments = getattr(self.env.unwrapped, "envs", (self.env,) * self.num_envs)
        return [sub_environments[index] for index in self._get_indices(indices)]

    def _own_rows(self, name: str, indices: Any) -> list[Any]:
        if not hasattr(self.env.unwrapped, "envs"):
            raise InputError(name, "rows of this environment cannot be reached one by one")
        return self._rows(indices)

    def _begin(self, metrics: tuple[Metric, ...]) -> None:
        self._sums = Accumulator(metrics, self.num_envs)
        self._rewards = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)

    def _signals(self, info: dict[str, Any], ended: Any) -> FloatArray:
        """Return the metrics' signals `(N, metrics)` of this step; of ended rows, their last."""
        values = signal_values(self.metrics, info)
        if len(ended) and "final_info" in info:
            values[ended] = signal_values(self.metrics, info["final_info"])[ended]
        return values

    def _finish(self, ended: Any, terminated: Any, info: dict[str, Any]) -> list[dict[str, Any]]:
        """Store the episodes of finished rows and restart their sums; return all rows' infos."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        results = self._sums.results(ended)
        for row, metrics in zip(ended.tolist(), results.tolist(), strict=True):
            reward, length = float(self._rewards[row]), int(self._lengths[row])
            is_terminated = bool(terminated[row])
            self.finished.append(Episode(reward, length, is_terminated, tuple(metrics)))
            infos[row] = {
                "terminal_observation": np.asarray(info["final_obs"][row]),
                "TimeLimit.truncated": not is_terminated,
                "episode": {"r": reward, "l": length},
            }
        self._sums.clear(ended)
        self._rewards[ended] = 0.0
        self._lengths[ended] = 0
        return infos
