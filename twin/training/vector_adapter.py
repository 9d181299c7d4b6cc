"""A native vector environment of Gymnasium for Stable-Baselines3, with results of its episodes.

Gymnasium's environments reset themselves within the step that ends an episode (`SAME_STEP`). The
last observation comes as `final_obs`, and here as `terminal_observation` of that row's info.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.training.metrics import Accumulator, Metric, signal_values
from twin.training.residual import Residual

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    VecEnv = object


class Episode(NamedTuple):
    """Results of a finished episode."""

    reward: float
    """sum of its rewards"""
    length: int
    """steps"""
    terminated: bool
    """whether it ended before its time"""
    metrics: tuple[float, ...]
    """in the units of the metrics"""


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
        """Take over an environment.

        Args:
            env: autoreset mode `SAME_STEP`.
            metrics: of the episodes; those without their signal in `info` are left out.
            seed: of the first reset.
            law: that actions correct; None where they are those of the environment.

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
        self._nothing: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._actions: Any = None
        self._law = law
        self._seen: Any = None
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
        self._seen = observations
        return observations

    def step_async(self, actions: Any) -> None:
        """Take the actions `(N, a)` of the next step, or the corrections of the law's."""
        self._actions = actions if self._law is None else self._law.compose(self._seen, actions)

    def step_wait(self) -> tuple[Any, FloatArray, Any, list[dict[str, Any]]]:
        """Make the step: observations `(N, o)`, rewards `(N,)`, ends `(N,)`, infos."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        self._seen = observations
        done = terminated | truncated
        self._rewards += rewards
        self._lengths += 1
        ended = np.flatnonzero(done)
        if self.metrics:
            self._sums.add(self._signals(info, ended))
        infos = self._finish(ended, terminated, info) if len(ended) else self._nothing
        return observations, rewards.astype(np.float32), done, infos

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
        """Return the rows of some numbers; the environment in their place where it shows none."""
        shown = getattr(self.env.unwrapped, "envs", (self.env,) * self.num_envs)
        return [shown[index] for index in self._get_indices(indices)]

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
        """Store the episodes of rows that ended and begin anew; return the infos of all rows."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        results = self._sums.results(ended)
        for row, metrics in zip(ended.tolist(), results.tolist(), strict=True):
            reward, length = float(self._rewards[row]), int(self._lengths[row])
            early = bool(terminated[row])
            self.finished.append(Episode(reward, length, early, tuple(metrics)))
            infos[row] = {
                "terminal_observation": np.asarray(info["final_obs"][row]),
                "TimeLimit.truncated": not early,
                "episode": {"r": reward, "l": length},
            }
        self._sums.clear(ended)
        self._rewards[ended] = 0.0
        self._lengths[ended] = 0
        return infos
