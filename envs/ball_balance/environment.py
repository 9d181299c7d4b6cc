"""twin/BallBalance-v0: balance and move a ball on a platform."""

from __future__ import annotations

from typing import ClassVar

from twin.envs.ball_balance.task import BallBalance
from twin.envs.environment import PlatformEnv
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv


class BallBalanceEnv(PlatformEnv):
    """Bring a ball to its target on a plate that the platform carries, and keep it there.

    The ball starts somewhere on the plate, rolling; the machine starts at home, held by its drives.
    MuJoCo and PyBullet find the contact between ball and plate; the analytic reference lets the
    ball roll without slip, and hop (docs/ball.md). Numbers of the tables are those of the default
    machine `stewart`; those of others are in `env.unwrapped.task.actions` and `.observations`. n
    is the number of actuators.

    Actions, each from -1 to 1:

    | option `action` | name | size | unit | 1 means |
    | --- | --- | --- | --- | --- |
    | tilt | tilt increment | 2 | rad | 0.003319, 0.003374 |
    | pose | pose increment | 6 | m, rad | 0.0028, 0.0029, 0.0014, 0.0033, 0.0034, 0.0065 |
    | velocities | actuator velocity | 6 | m/s | 0.127 |

    Increments in one control period add up to a displacement from home, along and about the base
    axes as far as the machine can move so. A loop around the legs' encoders follows it. They
    end where one of the displacements alone would take half the travel (option `tilt`), tilts at
    0.1 rad (`largest_tilt`).

    Observations, each the physical value divided by the scale, clipped to ±10:

    | name | size | unit | scale |
    | --- | --- | --- | --- |
    | target error | 2 | m | 0.129 |
    | ball position | 2 | m | 0.258 |
    | ball velocity | 2 | m/s | 0.129 |
    | target velocity | 2 | m/s | 0.129 |
    | slope | 2 | 1 | 0.1 |
    | tilt rate | 2 | rad/s | 0.5 |
    | coordinate | 6 | m | 0.115 |
    | rate | 6 | m/s | 0.254 |
    | displacement | 2 | rad | 0.1 |
    | last action | 2 | 1 | 1 |

    Ball and target are seen from the plate, in its axes, from its middle. The slope is how far
    the plate's x and y axes point down: a ball at rest there starts to roll that way.
    Coordinates, from the middle of the travel, and rates are those measured by the machine's
    sensors. The displacement is that of the actions; with `action="velocities"` there is none.

    Reward terms:

    | name | weight | range | what |
    | --- | --- | --- | --- |
    | closeness | 1 | 0 to 1 | 1 on the target, falls with the logarithm of the way to it |
    | calmness | 0.1 | -1 to 0 | minus the square of the ball's speed against the target's |
    | smoothness | 0.02 | -4 to 0 | minus the mean square change of the action |
    | loss | 10 | -1 to 0 | -1 where the ball is lost |

    Ends:

    | reason | when |
    | --- | --- |
    | engine | the engine had to give up: singular, loops open |
    | ball | the ball is over the plate's edge, or its radius above or below the plate |
    | limit | a leg is `overtravel` beyond its range |

    Truncated after 1000 steps (`max_episode_steps`).

    Info, beside `reward_terms`, `termination` and, after a reset, `randomised`:

    | name | size | unit | what |
    | --- | --- | --- | --- |
    | ball_position | 2 | m | on the plate, from its middle |
    | ball_velocity | 2 | m/s | against the plate |
    | target | 2 | m | where the ball shall be |
    | target_error | 2 | m | target less ball |
    | slope | 2 | 1 | how far the plate's x and y axes point down |
    | tilt_rate | 2 | rad/s | of roll and pitch |
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
    | action | tilt |
    | action_scale | 0.5 |
    | tilt | 0.5 |
    | largest_tilt | 0.1 |
    | ball | None |
    | target | steps |
    | hold | 4.0 |
    | target_radius | 0.5 |
    | lap | 6.0 |
    | start_radius | 0.5 |
    | start_speed | 0.1 |
    | overtravel | 0.05 |

    What they mean is in `BallBalanceSettings`.
    `reset(options={"target": (x, y), "ball": (x, y, vx, vy)})` sets target [m] and start [m, m/s]
    of one episode. A randomisation may also vary
    `task.target_radius`, `task.start_radius` and `task.start_speed`.

    Versions: v0, the first.
    """

    task_type: ClassVar[type[Task]] = BallBalance


class BallBalanceVectorEnv(PlatformVectorEnv):
    """Vector environment of `BallBalanceEnv`: the same spaces, rewards, ends and options."""

    task_type: ClassVar[type[Task]] = BallBalance
