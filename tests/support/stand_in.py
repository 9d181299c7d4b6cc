"""A tiny native vector environment: points that shall stay at the origin against a wind."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

EPISODE = 20


class Points(VectorEnv):
    """Points on a line: position += 0.1 (action + wind); ends early beyond 2."""

    def __init__(
        self,
        num_envs,
        autoreset_mode=AutoresetMode.SAME_STEP,
        wind=0.3,
        max_episode_steps=None,
    ):
        self.num_envs, self.wind = num_envs, wind
        self.metadata = {"autoreset_mode": autoreset_mode}
        self.render_mode = None
        self.single_observation_space = Box(-10.0, 10.0, (2,), np.float32)
        self.single_action_space = Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.generators = [np.random.default_rng(k) for k in range(num_envs)]
        self.at, self.steps = np.zeros(num_envs), np.zeros(num_envs, dtype=int)

    def reset(self, *, seed=None, options=None):
        """Begin episodes in all rows."""
        if seed is not None:
            seeds = seed if isinstance(seed, list) else [seed + k for k in range(self.num_envs)]
            self.generators = [np.random.default_rng(each) for each in seeds]
        for row in range(self.num_envs):
            self.begin_episode(row)
        return self.observed(), self.information()

    def step(self, actions):
        """Do one step in all rows."""
        self.at = self.at + 0.1 * (np.asarray(actions, dtype=float)[:, 0] + self.wind)
        self.steps = self.steps + 1
        rewards, terminated = -np.abs(self.at), np.abs(self.at) > 2.0
        truncated = (self.steps >= EPISODE) & ~terminated
        info, done = self.information(), terminated | truncated
        if done.any() and self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            last, final = self.observed(), self.information()
            for row in np.flatnonzero(done):
                self.begin_episode(row)
            info = {**self.information(), "final_obs": last, "final_info": final}
        return self.observed(), rewards, terminated, truncated, info

    def begin_episode(self, row):
        """Put a point to a random place."""
        self.at[row], self.steps[row] = self.generators[row].uniform(-1.0, 1.0), 0

    def observed(self):
        """Return places and wind, one row per point."""
        return np.stack([self.at, np.full(self.num_envs, self.wind)], axis=1).astype(np.float32)

    def information(self):
        """Return the distances from the goal, as vector environments do."""
        return {"distance": np.abs(self.at), "_distance": np.ones(self.num_envs, dtype=bool)}


def distance_under(act):
    """Return the mean distance of points from the origin in the second half of an episode."""
    env = Points(64)
    observation, _ = env.reset(seed=900)
    distances = []
    for _ in range(EPISODE - 1):
        observation, _, _, _, info = env.step(act(observation))
        distances.append(info["distance"].mean())
    return float(np.mean(distances[9:]))


if "stand_in/Points-v0" not in gymnasium.registry:
    gymnasium.register("stand_in/Points-v0", vector_entry_point=Points)
