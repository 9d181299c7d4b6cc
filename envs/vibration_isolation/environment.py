"""twin/VibrationIsolation-v0: keep a platform still above a shaking base."""

from __future__ import annotations

from typing import ClassVar

from twin.envs.environment import PlatformEnv
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv
from twin.envs.vibration_isolation.task import VibrationIsolation


class VibrationIsolationEnv(PlatformEnv):
    """Keep the platform still above a base that shakes, through the actuators.

    The base accelerates along its three axes by random sines between two frequencies, drawn for
    every episode, from rest to rest; it does not turn. The machine starts at home, held by its
    drives, and without actions they go on holding: that is the passive machine. Numbers of the
    tables are those of the default machine `compliant_stewart`; those of others are in
    `env.unwrapped.task.actions` and `.observations`.

    Actions, each from -1 to 1:

    | option `action` | name | size | unit | 1 means |
    | --- | --- | --- | --- | --- |
    | velocities | actuator velocity | 6 | m/s | 0.1623 |
    | forces | actuator force | 6 | N | 242.5 |

    Velocities come on top of a slow return to where the actuators began (`centring`), forces on top
    of those that hold the machine at home.

    Observations, each the physical value divided by the scale, clipped to ±10:

    | name | size | unit | scale |
    | --- | --- | --- | --- |
    | platform acceleration | 3 | m/s2 | 3.247 |
    | platform angular rate | 3 | rad/s | 0.0755 |
    | platform angular acceleration | 3 | rad/s2 | 15.1 |
    | base acceleration | 3 | m/s2 | 0.5 |
    | platform velocity | 3 | m/s | 0.03247 |
    | base velocity | 3 | m/s | 0.03247 |
    | coordinate | 6 | m | 0.003659 |
    | rate | 6 | m/s | 0.03247 |
    | effort | 6 | N | 652.4 |
    | last action | 6 | 1 | 1 |

    Those of the platform are measured by an inertial sensor at its reference point, in its own
    axes. It reads the mean specific force over the last control period less gravity at rest, the
    angular rate, and the change of it in the period. A sensor on the base measures its
    acceleration. Readings have noise. Velocities are sums of these accelerations that fade
    (`forgetting`). Measured coordinates count from the start of the episode. The effort is that of
    the drives less the part that holds the machine at home. Deflections of springs are not
    observed.

    Reward terms:

    | name | weight | range | what |
    | --- | --- | --- | --- |
    | acceleration | 0.6 | 0 to 1 | 1 without absolute acceleration, falls with its logarithm |
    | displacement | 0.2 | 0 to 1 | the same for the absolute displacement |
    | rotation | 0.2 | 0 to 1 | the same for the angular rate |
    | stroke | 0.05 | -inf to 0 | minus the mean square way of the actuators, in parts of half |
    | smoothness | 0.01 | -4 to 0 | minus the mean square change of the action |

    A platform that moves as its base does gets about half of the first two.

    Ends:

    | reason | when |
    | --- | --- |
    | engine | the engine had to give up: singular, loops open |
    | attitude | the platform is turned by `largest_attitude` |
    | limit | a leg is `overtravel` beyond its range |

    Truncated after 800 steps (`max_episode_steps`).

    Info, beside `reward_terms`, `termination` and, after a reset, `randomised`:

    | name | size | unit | what |
    | --- | --- | --- | --- |
    | absolute_acceleration | 3 | m/s2 | of the platform in the room, mean over the period |
    | base_acceleration | 3 | m/s2 | the same of the base |
    | absolute_displacement | 3 | m | of the platform in the room, since the reset |
    | rotation | 3 | rad | rotation vector since the reset |
    | transmissibility | 1 | 1 | ratio of the RMS accelerations since the reset |
    | pose | 7 | m, 1 | the platform's position and quaternion in the base frame |
    | twist | 6 | m/s, rad/s | its velocity and angular velocity, base axes |
    | forces | 6 | N | of the actuators on the legs, at the last engine step |
    | loop_gap | 1 | m | how far the loops are open |

    Options:

    | name | default |
    | --- | --- |
    | period | 0.005 |
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
    | action_scale | None |
    | centring | 1.0 |
    | acceleration | None |
    | lowest_frequency | 1.0 |
    | highest_frequency | 20.0 |
    | lines | 8 |
    | duration | 4.0 |
    | forgetting | 1.0 |
    | accelerometer_noise | None |
    | gyroscope_noise | None |
    | largest_attitude | 0.3 |
    | overtravel | 0.05 |

    What they mean is in `VibrationIsolationSettings`. `reset(options={"acceleration": 0.2})`, and
    the same of both frequencies, are for one episode; a randomisation may vary them as
    `task.acceleration`, `task.lowest_frequency` and `task.highest_frequency`. `IsolationLaw` is an
    analytic law on the same observations.

    Versions: v0, the first.
    """

    task_type: ClassVar[type[Task]] = VibrationIsolation


class VibrationIsolationVectorEnv(PlatformVectorEnv):
    """Vector environment of `VibrationIsolationEnv`: the same spaces and rewards."""

    task_type: ClassVar[type[Task]] = VibrationIsolation
