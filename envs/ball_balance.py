"""The task of `BallBalance`: bring a ball to its target on the platform and keep it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from twin.analysis.platform import Platform
from twin.basics.arrays import (
    FloatArray,
    as_instance,
    as_vector,
    not_negative,
    positive,
    read_only,
)
from twin.control.gains import suitable_position_loop
from twin.envs.channels import Channel, rescaled
from twin.envs.environment import PlatformEnv
from twin.envs.task import LinearLaw, Start, Task, TaskSettings, read_settings
from twin.envs.vector import PlatformVectorEnv
from twin.errors import InputError
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.tasks.ball_balance import (
    Balls,
    Increments,
    Settings,
    Signals,
    Targets,
    evaluate,
    pose_command,
)
from twin.kernels.tasks.task import ActionLaw
from twin.model.ball import Ball, as_ball, as_start
from twin.model.machine_base import without_compiling

TARGETS_PER_EPISODE = 16
"""Number of targets that are drawn for an episode; then they repeat."""

FINE_DISTANCE = 0.02
"""Distance scale of the closeness reward, in plate radii."""

SPEED_SCALE = 0.5
"""Scale of speeds, in plate radii per second."""

MIN_COLUMN_FRACTION = 1e-6
"""Fraction of the Jacobian's largest entry below which a column counts as zero: the machine cannot
move along that axis."""

BALANCE_LAW = {"frequency": 2.7, "damping": 0.8, "share": 0.06}

PILLAR_LAW = {"frequency": 0.7, "damping": 1.0, "share": 0.05}
"""Default numbers: found by trial on `stewart`, and on `driving_simulator`, whose plate turns about
a point far below it."""

TILTS_OF_SLOPES = np.array([[0.0, -1.0], [1.0, 0.0]])
"""Roll and pitch [rad] that give unit slopes along x and y."""


class BallBalanceSettings(TaskSettings):
    """Settings of ball balancing: ball, target, actions, termination."""

    action: Literal["tilt", "pose", "velocities"] = Field(
        "tilt", description="increments of roll and pitch, of all six, or speeds of the actuators"
    )
    action_scale: float = Field(
        0.5, gt=0.0, le=1.0, description="what 1 means, in parts of the actuators' speed"
    )
    tilt: float = Field(
        0.5,
        gt=0.0,
        le=1.0,
        description="share of the travel by which the increments may add up, where only one of "
        "the degrees of freedom is displaced",
    )
    largest_tilt: float = Field(0.1, gt=0.0, le=0.5, description="but no more than this [rad]")
    ball: Any = Field(
        None,
        description="a `Ball`, or a table of its numbers; None for one that suits the machine",
    )
    target: Literal["steps", "circle"] = Field(
        "steps", description="a target that jumps, or one that goes round in circles"
    )
    hold: float = Field(4.0, gt=0.0, le=1e4, description="[s] until the next target")
    target_radius: float = Field(
        0.5, ge=0.0, le=0.9, description="share of the plate's radius that targets keep to"
    )
    lap: float = Field(6.0, gt=0.1, le=1e4, description="[s] of a circle")
    start_radius: float = Field(
        0.5, ge=0.0, le=0.9, description="share of the plate's radius that the ball starts within"
    )
    start_speed: float = Field(
        0.1, ge=0.0, le=1.0, description="largest of the ball, in plate radii per second"
    )
    overtravel: float = Field(
        0.05, ge=0.0, le=1.0, description="share of the travel by which a leg may leave its range"
    )


class BallBalance(Task):
    """Bring a ball to its target and keep it there."""

    title = "ball balance"
    default_machine = "stewart"
    settings_type = BallBalanceSettings
    terms: ClassVar[Mapping[str, float]] = {
        "closeness": 1.0,
        "calmness": 0.1,
        "smoothness": 0.02,
        "loss": 10.0,
    }
    termination_reasons = ("", "engine", "ball", "limit")
    varied_settings: ClassVar[tuple[str, ...]] = ("target_radius", "start_radius", "start_speed")

    kernel = staticmethod(evaluate)

    settings: BallBalanceSettings

    def __init__(
        self, platform: Platform, settings: BallBalanceSettings, engine: str, size: int
    ) -> None:
        """Prepare the channels and arrays of the task.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        ball_setting = True if settings.ball is None else settings.ball
        ball = as_ball(ball_setting, platform.parameters)
        assert ball is not None
        self.ball: Ball = ball
        self._moves_pose = settings.action != "velocities"
        super().__init__(platform, settings, engine, size)
        self.actions = rescaled([self._action_channel()], settings.scales)
        self.observations = self._observation_channels()
        self._make_arrays()
        self.allocate()
        self._group(
            self._targets, self._task_settings, self._signals, self._balls, self._increments
        )
        legs, measured = platform.constants.legs, self.batch.measured
        self._fill_commands: Any = SameTypes(pose_command)
        self._command_bundle = Bundle(
            self._law, legs, self._increments, measured, self.drive_commands
        )

    def _batch_options(self) -> dict[str, Any]:
        return {"mode": "velocity", "ball": self.ball}

    def _action_channel(self) -> Channel:
        """Return the channels of an action; set the limits of increments."""
        platform, scales, settings = self.platform, self.scales, self.settings
        speed_fraction, unit = settings.action_scale, platform.coordinate_unit
        if not self._moves_pose:
            self._axes = np.empty(0, dtype=np.int64)
            self._bounds = np.empty(0)
            velocity = read_only(speed_fraction * scales.speed)
            return Channel("actuator velocity", platform.n_actuators, f"{unit}/s", velocity)
        is_tilt = settings.action == "tilt"
        actuated = np.array([3, 4] if is_tilt else range(6), dtype=np.int64)
        with without_compiling():
            rates_per_axis = np.abs(platform.jacobian(platform.home))
        is_free = rates_per_axis.max(axis=0) > MIN_COLUMN_FRACTION * rates_per_axis.max()
        if is_tilt and not is_free[actuated].all():
            raise InputError("action", f"{platform.name} does not tilt; use 'velocities'")
        self._axes = actuated[is_free[actuated]]
        rates_per_axis = rates_per_axis[:, self._axes]
        # The lower bound keeps a leg that hardly moves along an axis from giving it a huge travel.
        rates_per_axis = np.maximum(rates_per_axis, 1e-3 * rates_per_axis.max(axis=0))
        home = platform.home_coordinates
        coordinate_margin = np.minimum(scales.upper - home, home - scales.lower)
        max_displacement = settings.tilt * (coordinate_margin[:, None] / rates_per_axis).min(axis=0)
        max_displacement[self._axes >= 3] = np.minimum(
            max_displacement[self._axes >= 3], settings.largest_tilt
        )
        self._bounds = max_displacement
        max_speed = speed_fraction * (scales.speed[:, None] / rates_per_axis).min(axis=0)
        increment = read_only(max_speed * self.batch.period)
        if is_tilt:
            return Channel("tilt increment", 2, "rad", increment)
        return Channel("pose increment", len(increment), "m, rad", increment)

    def _observation_channels(self) -> tuple[Channel, ...]:
        """Return the channels of the observation with their scales."""
        n, scales, unit = self.platform.n_actuators, self.scales, self.platform.coordinate_unit
        radius, action = self.ball.plate_radius, self.actions[0]
        largest_tilt = self.settings.largest_tilt
        command: tuple[Channel, ...] = ()
        if self._moves_pose:
            command = (Channel("displacement", action.size, action.unit, read_only(self._bounds)),)
        return (
            Channel("target error", 2, "m", 0.5 * radius),
            Channel("ball position", 2, "m", radius),
            Channel("ball velocity", 2, "m/s", SPEED_SCALE * radius),
            Channel("target velocity", 2, "m/s", SPEED_SCALE * radius),
            Channel("slope", 2, "1", largest_tilt),
            Channel("tilt rate", 2, "rad/s", 5.0 * largest_tilt),
            Channel("coordinate", n, unit, scales.half),
            Channel("rate", n, f"{unit}/s", scales.speed),
            *command,
            Channel("last action", action.size, "1", 1.0),
        )

    def _make_arrays(self) -> None:
        """Make the arrays of all machines that the kernel reads and writes."""
        size, n, radius = self.size, self.platform.n_actuators, self.ball.plate_radius
        batch, settings = self.batch, self.settings
        self._targets = Targets(
            np.zeros((size, TARGETS_PER_EPISODE, 2)), np.zeros((size, 3)), np.zeros((size, 4))
        )
        self._increments = Increments(
            self._axes,
            np.zeros((size, len(self._axes))),
            np.zeros((size, n)),
            np.array(self.platform.home),
            np.zeros(n),
            np.zeros(6),
            np.zeros(13),
        )
        self._balls = Balls(batch.ball, batch.ball_lost, np.zeros(6))
        self._signals = Signals(*(np.zeros((size, 2)) for _ in Signals._fields))
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        self._task_settings = Settings(
            batch.period,
            settings.hold,
            FINE_DISTANCE * radius,
            2.0 * radius,
            SPEED_SCALE * radius,
            settings.overtravel,
        )
        gain = suitable_position_loop(self.platform, 1e-3)[0]
        action_scale = np.asarray(self.actions[0].scale)
        self._law = ActionLaw(action_scale, self._bounds, gain, batch.period, False)

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw targets and ball; options: `target`, `ball`, and the `varied_settings`.

        Raises:
            InputError: an option that cannot be used.
        """
        self._check_options(options, "target", "ball")
        settings, plate_radius = self.settings, self.ball.plate_radius
        values = {
            name: not_negative(options.get(name, getattr(settings, name)), name)
            for name in self.varied_settings
        }
        if not values.keys().isdisjoint(options):
            read_settings(type(settings), values)
        target_centers = _points_in_disc(
            generator, values["target_radius"] * plate_radius, TARGETS_PER_EPISODE
        )
        circle = np.array([0.0, 2.0 * np.pi / settings.lap, generator.uniform(0.0, 2.0 * np.pi)])
        if settings.target == "circle":
            circle[0] = values["target_radius"] * plate_radius * generator.uniform(0.5, 1.0)
            circle[1] *= generator.choice([-1.0, 1.0])
            target_centers[:] = 0.0
        position = _points_in_disc(generator, values["start_radius"] * plate_radius, 1)[0]
        velocity = _points_in_disc(generator, values["start_speed"] * plate_radius, 1)[0]
        ball_start = np.concatenate([position, velocity])
        if options.get("target") is not None:
            target_centers[:], circle[0] = as_vector(options["target"], "target", 2), 0.0
        if options.get("ball") is not None:
            ball_start = as_vector(as_start(options["ball"], self.ball), "ball", 4)
        self._targets.centers[index], self._targets.circles[index] = target_centers, circle
        self._increments.offset[index] = 0.0
        self._increments.setpoint[index] = self.platform.home_coordinates
        return Start(ball=ball_start)

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions."""
        if not self._moves_pose:
            np.multiply(actions, self._law.scale, out=self.drive_commands)
            return
        self._fill_commands(actions, self._command_bundle)


def _points_in_disc(generator: np.random.Generator, radius: float, count: int) -> FloatArray:
    """Return positions `(count, 2)`, uniformly distributed over a disc."""
    angle = generator.uniform(0.0, 2.0 * np.pi, count)
    distance = radius * np.sqrt(generator.uniform(0.0, 1.0, count))
    return np.stack([distance * np.cos(angle), distance * np.sin(angle)], axis=1)


class BalanceLaw(LinearLaw):
    """Balance law: the plate's slope follows from the error of the ball, by its equation of motion.

    A plate tilted by s accelerates the ball by g s / (1 + k). The wanted slope is therefore

        s = (frequency^2 error - 2 damping frequency velocity) (1 + k) / g

    with error and velocity against the target. Only a share of the way to it is done in a period: a
    plate that turns about a point below it moves under the ball, which the law would take for the
    ball's own speed. It needs tilts as actions.
    """

    def __init__(
        self,
        task: BallBalance,
        *,
        frequency: float | None = None,
        damping: float | None = None,
        share: float | None = None,
    ) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: task of an environment, `env.unwrapped.task`.
            frequency: of the response [rad/s]; default 2.7, of platforms on pillars 0.7.
            damping: ratio of the response; default 0.8, or 1.
            share: share of the way to the wanted slope in a period; default 0.06, or 0.05.

        Raises:
            InputError: another task, other actions than tilts, a number not above zero.
        """
        if as_instance(task, "task", BallBalance).settings.action != "tilt":
            raise InputError("task", "the law commands tilts; make it with action='tilt'")
        default_numbers = PILLAR_LAW if task.platform.leg.has_foot else BALANCE_LAW
        arguments = {"frequency": frequency, "damping": damping, "share": share}
        numbers = {
            name: positive(default_numbers[name] if value is None else value, name)
            for name, value in arguments.items()
        }
        share, frequency = numbers["share"], numbers["frequency"]
        acceleration_per_slope = task.platform.parameters.gravity / (1.0 + task.ball.inertia_factor)
        stiffness = share * frequency**2 / acceleration_per_slope
        damping = share * 2.0 * numbers["damping"] * frequency / acceleration_per_slope
        parts = {
            "target error": stiffness * TILTS_OF_SLOPES,
            "ball velocity": -damping * TILTS_OF_SLOPES,
            "target velocity": damping * TILTS_OF_SLOPES,
            "displacement": -share * np.eye(2),
        }
        super().__init__(task, parts)


class BallBalanceEnv(PlatformEnv):
    """Bring a ball to its target on a plate that the platform carries, and keep it there.

    The ball starts somewhere on the plate, rolling; the machine starts at home, held by its drives.
    MuJoCo and PyBullet find the contact between ball and plate; the analytic reference lets the
    ball roll without slip, and hop (docs/theory.md). Numbers of the tables are those of the default
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

    task_type = BallBalance


class BallBalanceVectorEnv(PlatformVectorEnv):
    """Vector environment of `BallBalanceEnv`: the same spaces, rewards, ends and options."""

    task_type = BallBalance
