"""twin/MotionCueing-v0: let the platform's driver perceive the manoeuvre of a vehicle."""

from __future__ import annotations

from typing import ClassVar

from twin.envs.environment import PlatformEnv
from twin.envs.motion_cueing.task import MotionCueing
from twin.envs.task import Task
from twin.envs.vector import PlatformVectorEnv


class MotionCueingEnv(PlatformEnv):
    """Let the platform's driver perceive the manoeuvre of a vehicle, inside the workspace.

    The machine starts at rest at home, the manoeuvre begins at once. Perception is that of
    `twin.motion.cueing`: otoliths and canals of both drivers, exact for what is linear within a
    period. The platform's driver feels gravity in the platform's axes and the mean acceleration of
    the head over each period: no push between two samples is lost. Numbers of the tables are those
    of the default machine `stewart`; those of others are in `env.unwrapped.task.actions` and
    `.observations`. Axes are in the order x, y, z, yaw, pitch, roll, those that the machine has:
    `driving_simulator` has z, pitch, roll.

    Actions, each from -1 to 1:

    | option `action` | name | size | unit | 1 means |
    | --- | --- | --- | --- | --- |
    | accelerations | pose acceleration | 6 | m/s2, rad/s2 | 5.57, 5.7, 2.85, 13, 6.75, 6.64 |
    | increments | pose increment | 6 | m, rad | 0.00557, 0.0057, 0.00285, 0.013, 0.00675, 0.00664 |
    | velocities | actuator velocity | 6 | m/s | 0.254 |

    Actions on the pose move a command: 1 is full speed along the axis alone within 0.1 s, or full
    speed. The command keeps the actuators' speeds and stops softly before the ends of their
    travel. Its coordinates are turned into speeds of the actuators, with a correction by `gain`.
    Machines with more actuators than degrees of freedom take no speeds of the actuators.

    Observations, each the physical value divided by the scale, clipped to ±10:

    | name | size | unit | scale |
    | --- | --- | --- | --- |
    | force perceived in the vehicle | 3 | m/s2 | 1.7, 1.7, 2.8 |
    | rotation perceived in the vehicle | 3 | rad/s | 0.5236, 0.6283, 0.4538 |
    | force perceived on the platform | 3 | m/s2 | 1.7, 1.7, 2.8 |
    | rotation perceived on the platform | 3 | rad/s | 0.5236, 0.6283, 0.4538 |
    | specific force 0 | 3 | m/s2 | 5 |
    | angular rate 0 | 3 | rad/s | 0.5 |
    | displacement | 6 | m, rad | 0.215, 0.215, 0.125, 0.51, 0.3, 0.295 |
    | velocity | 6 | m/s, rad/s | 0.5574, 0.57, 0.2854, 1.296, 0.6747, 0.6638 |
    | commanded displacement | 6 | m, rad | 0.215, 0.215, 0.125, 0.51, 0.3, 0.295 |
    | commanded velocity | 6 | m/s, rad/s | 0.5574, 0.57, 0.2854, 1.296, 0.6747, 0.6638 |
    | coordinate | 6 | m | 0.115 |
    | last action | 6 | 1 | 1 |

    Specific force is less that at rest. With `preview` n, specific force and angular rate k follow
    for k up to n, k times `preview_spacing` periods ahead. Displacements are from home, velocities
    in base axes, coordinates measured from the middle of the travel. With actions on the
    actuators nothing is commanded.

    Reward terms:

    | name | weight | range | what |
    | --- | --- | --- | --- |
    | force | 1 | -inf to 0 | minus the mean square error of perceived force in ten thresholds |
    | rotation | 1 | -inf to 0 | the same of perceived rotation |
    | false_cue | 0.5 | -inf to 0 | the same of what is felt and should not be |
    | neutral | 0.02 | -inf to 0 | minus the mean square displacement in parts of the travel |
    | smoothness | 0.05 | -1 to 0 | minus the mean square of half the change of the action |
    | end | 100 | -1 to 0 | -1 when the episode ends before its time |

    With `score`, the error so far in thresholds as in `PerceivedError.total`, the means of force
    and rotation over an episode add up to -2 (score / 10)^2.

    Ends:

    | reason | when |
    | --- | --- |
    | engine | the engine had to give up: singular, loops open |
    | limit | an actuator is outside its range |

    Truncated after 1200 steps (`max_episode_steps`), the 12 s of random drives and manoeuvres.
    A manoeuvre that ends before holds its last values.

    Info, beside `reward_terms`, `termination` and, after a reset, `randomised`:

    | name | size | unit | what |
    | --- | --- | --- | --- |
    | perceived_vehicle | 6 | m/s2, rad/s | force and rotation perceived in the vehicle |
    | perceived_platform | 6 | m/s2, rad/s | the same on the platform |
    | perceived_error | 6 | m/s2, rad/s | platform less vehicle |
    | felt | 6 | m/s2, rad/s | specific force less that at rest and angular rate of the platform |
    | axes | 6 | m, rad | displacement from home |
    | command | 6 | m, rad | commanded displacement |
    | score | 1 | 1 | error so far, in thresholds of perception |
    | false_cues | 1 | 1 | the part of it that should not be felt |
    | intensity | 1 | 1 | of the manoeuvre |
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
    | action | accelerations |
    | manoeuvre | drive |
    | intensity | 1.0 |
    | lowest_intensity | 0.4 |
    | head | None |
    | preview | 0 |
    | preview_spacing | 10 |
    | margin | 0.02 |
    | gain | 10.0 |

    What they mean is in `MotionCueingSettings`. `reset(options={"manoeuvre": ...})`, and the same
    of "intensity", are for one episode. A randomisation may also vary `task.intensity` and
    `task.lowest_intensity`.

    Versions: v0, the first.
    """

    task_type: ClassVar[type[Task]] = MotionCueing
    task: MotionCueing


class MotionCueingVectorEnv(PlatformVectorEnv):
    """Vector environment of `MotionCueingEnv`: the same spaces, rewards, ends and options."""

    task_type: ClassVar[type[Task]] = MotionCueing
    task: MotionCueing
