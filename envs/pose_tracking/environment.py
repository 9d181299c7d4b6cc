"""twin/PoseTracking-v0: follow a motion with a platform."""

from __future__ import annotations

from typing import Any

from twin.basics.arrays import as_instance, one_of
from twin.envs.environment import PlatformEnv
from twin.envs.pose_tracking.task import Goals, PoseTracking
from twin.envs.vector import PlatformVectorEnv
from twin.errors import InputError, StateError


class PoseTrackingEnv(PlatformEnv):
    """Follow a random or a given motion with the platform.

    The machine starts on the motion, held by its drives. Numbers of the tables are those of the
    default machine `stewart`; those of others are in `env.unwrapped.task.actions` and
    `.observations`. n is the number of actuators.

    Actions, each from -1 to 1:

    | option `action` | name | size | unit | 1 means |
    | --- | --- | --- | --- | --- |
    | velocities | actuator velocity | 6 | m/s | 0.0508 |
    | forces | actuator force | 6 | N | 614.6 |
    | pose | pose increment | 6 | m, rad | 0.00023, 0.00023, 0.00023, 0.000535, 0.000535, 0.000535 |

    They come on top of the motion's own speeds over the period, of the forces that hold the
    machine at home, or of the motion's pose. A position loop adds to velocities, too (option
    `position_gain`). With `residual=False` actions are the whole command, and 1 means five times
    as much.

    Observations, each the physical value divided by the scale, clipped to ±10:

    | name | size | unit | scale |
    | --- | --- | --- | --- |
    | coordinate error | 6 | m | 0.000575 |
    | rate error | 6 | m/s | 0.0254 |
    | accumulated error | 6 | m s | 0.000575 |
    | coordinate | 6 | m | 0.115 |
    | rate | 6 | m/s | 0.254 |
    | reference rate | 6 | m/s | 0.254 |
    | reference change 1 | 6 | m/s | 0.0254 |
    | reference change 2 | 6 | m/s | 0.0254 |
    | reference change 3 | 6 | m/s | 0.0254 |
    | last action | 6 | 1 | 1 |

    Errors are measured by the machine's own sensors. Accumulated errors fade over 1 s.
    Coordinates are from the middle of the travel. The reference rate is the mean over the coming
    control period, reference change k its change from period k - 1 to period k after it.

    Reward terms:

    | name | weight | range | what |
    | --- | --- | --- | --- |
    | position | 0.5 | 0 to 1 | 1 without error, falls with the logarithm of it |
    | orientation | 0.5 | 0 to 1 | the same for the angle of the error |
    | smoothness | 0.02 | -4 to 0 | minus the mean square change of the action |
    | economy | 0 | -inf to 0 | minus the mean square of effort over limit |

    Ends:

    | reason | when |
    | --- | --- |
    | engine | the engine had to give up: singular, loops open |
    | position | the platform is `largest_position_error` away |
    | attitude | it is turned by `largest_attitude_error` |
    | limit | a leg is `overtravel` beyond its range |

    Truncated after 500 steps (`max_episode_steps`).

    Info, beside `reward_terms`, `termination` and, after a reset, `randomised`:

    | name | size | unit | what |
    | --- | --- | --- | --- |
    | position_error | 3 | m | reference less platform, base axes |
    | orientation_error | 3 | rad | rotation vector from platform to reference, base axes |
    | coordinate_error | 6 | m | reference less measured coordinates |
    | reference_pose | 7 | m, 1 | position and quaternion of the reference |
    | pose | 7 | m, 1 | the platform's position and quaternion in the base frame |
    | twist | 6 | m/s, rad/s | its velocity and angular velocity, base axes |
    | forces | 6 | N | of the actuators on the legs, at the last engine step |
    | loop_gap | 1 | m | how far the loops are open |

    Options:

    | name | default |
    | --- | --- |
    | period | 0.01 |
    | timestep | None |
    | fidelity | None |
    | limits | True |
    | weights | {} |
    | scales | {} |
    | observation_noise | 0.0 |
    | observation_delay | 0.0 |
    | action_noise | 0.0 |
    | action_delay | 0.0 |
    | episode_duration | None |
    | info | True |
    | action | velocities |
    | residual | True |
    | action_scale | None |
    | position_gain | None |
    | motion | None |
    | duration | 5.0 |
    | amplitude | 0.4 |
    | lowest_frequency | 0.1 |
    | highest_frequency | 2.0 |
    | lines | 5 |
    | preview | 3 |
    | largest_position_error | None |
    | largest_attitude_error | 0.3 |
    | goal | False |
    | overtravel | 0.05 |

    What they mean is in `PoseTrackingSettings`. `reset(options={"motion": motion})` follows a given
    motion for one episode. A randomisation may also vary `task.amplitude`,
    `task.lowest_frequency` and `task.highest_frequency`.

    With `goal=True` an observation is a dictionary, as hindsight replay takes it. `observation` has
    coordinates, rates and the last action, `achieved_goal` and `desired_goal` are the poses of the
    platform and of the reference from home. The reward has the terms of position and orientation
    alone, and `compute_reward` returns it for goals of any number.

    Versions: v0, the first.
    """

    task_type = PoseTracking

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Load the machine; `reset` begins an episode. See `PlatformEnv`."""
        super().__init__(*arguments, **options)
        task = as_instance(self.task, "task", PoseTracking)
        self._goals = Goals(task) if task.settings.goal else None
        if self._goals is not None:
            self.observation_space: Any = self._goals.space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; see `PlatformEnv`."""
        observation, info = super().reset(seed=seed, options=options)
        return (
            self._goals.observation_with_goals(observation) if self._goals else observation
        ), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Do one control period; see `PlatformEnv`."""
        result = super().step(action)
        if self._goals is None:
            return result
        goal_observation = self._goals.observation_with_goals(result[0])
        reward = float(
            self._goals.reward(goal_observation["achieved_goal"], goal_observation["desired_goal"])
        )
        return goal_observation, reward, *result[2:]

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return the rewards of goals `(..., 6)`: a number for one pair, an array for many.

        Raises:
            StateError: the environment was made without `goal=True`.
        """
        if self._goals is None:
            raise StateError("make the environment with goal=True to compute rewards of goals")
        return self._goals.reward(achieved_goal, desired_goal)


class PoseTrackingVectorEnv(PlatformVectorEnv):
    """Vector environment of `PoseTrackingEnv`: the same spaces, rewards, ends and options.

    With `device="cuda"` it is a `PoseTrackingCudaEnv`, on a graphics card.
    """

    task_type = PoseTracking

    def __new__(cls, *arguments: Any, **keywords: Any) -> Any:
        """Return a vector environment on the processor, or on the `device` that is given."""
        device = keywords.pop("device", None)
        if device is None:
            return super().__new__(cls)
        from twin.envs.pose_tracking.cuda_environment import PoseTrackingCudaEnv

        one_of(device, "device", ("cuda",))
        return PoseTrackingCudaEnv(*arguments, **keywords)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Load the machine; `reset` begins the episodes. See `PlatformVectorEnv`.

        Raises:
            InputError: observations with goals.
        """
        if options.get("goal"):
            raise InputError("goal", "is for single environments: take vectorization_mode='sync'")
        super().__init__(*arguments, **options)
