"""The task of `VibrationIsolation`: keep the platform still above a base that shakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from twin.analysis.platform import Platform
from twin.basics.arrays import (
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    FloatArray,
    as_instance,
    as_vector,
    bounded,
)
from twin.envs.channels import Channel, rescaled
from twin.envs.environment import PlatformEnv
from twin.envs.random_motion import (
    ShakingTables,
    Spectrum,
    fill_tables,
    leg_rate_per_speed,
    random_lines,
    shaking_force,
    spectrum,
    usual_acceleration,
)
from twin.envs.task import LinearLaw, Start, Task, TaskSettings, read_settings
from twin.envs.vector import PlatformVectorEnv
from twin.errors import InputError
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.tasks.vibration_isolation import (
    ActionLaw,
    Memory,
    Settings,
    Shaking,
    Signals,
    evaluate,
    fill_command,
)
from twin.model.machine_base import without_compiling
from twin.simulation.simulate import Scene

SHARE_OF_EFFORT = 0.2
"""Default force of an action of 1, at most, as a fraction of an actuator's effort."""

EFFORT_SCALE = 0.2
"""Scale of the observed effort beyond the holding effort, as a fraction of an actuator's effort."""

START_FRACTION = 0.25
"""Minimum scale of the observed effort, relative to the effort that reaches an action's speed in a
control period."""

TURNING_LEVEL = 0.1
"""Level of angular rates in the reward, relative to the base velocity over the joints' mean
radius."""

QUIET_NOISE = 0.01
"""Default noise of a reading, relative to the scale of its observation."""

JERK_FRACTION = 0.1
"""Scale of the platform's acceleration, relative to the acceleration that reaches an action's speed
in a control period. Actions that change by twice their range in a period just reach the bound."""

COOPERATION_FACTOR = 0.75
"""Weight of the largest platform speed per leg speed along an axis, with all legs moving together.
Where the product is more than 1, the scale of the platform's acceleration grows by it."""

ROTATION_FACTOR = 2.0
"""Scale of the angular acceleration, relative to the acceleration over the joints' mean radius."""

ACTION_FACTOR = 5.0
"""Speed or force of an action of 1, relative to the RMS velocity of the base, or to the force that
goes with it."""

SPRING_LEG_GAINS = {
    "base_gain": 1.1,
    "base_delay": -0.004,
    "velocity_gain": 0.3,
    "acceleration_gain": 0.004,
}
"""Default gains behind springs, found by trial on `compliant_stewart` with its hardware."""

RIGID_LEG_GAINS = {
    "base_gain": 1.0,
    "base_delay": 0.003,
    "velocity_gain": 0.0,
    "acceleration_gain": 0.0,
}
"""Default gains of rigid machines, found by trial."""


class VibrationIsolationSettings(TaskSettings):
    """Settings of vibration isolation: shaking of the base, actions, errors of the sensors."""

    period: float = Field(0.005, gt=0.0, description="control period [s]")
    action: Literal["velocities", "forces"] = Field(
        "velocities", description="speeds of the actuators, or forces"
    )
    action_scale: float | None = Field(
        None,
        gt=0.0,
        le=1.0,
        description="what 1 means, in parts of the actuators' speed or effort; default five times "
        "the base's RMS velocity, at most all speed, or the force that goes with it, at most 0.2",
    )
    centring: float = Field(
        1.0,
        ge=0.0,
        le=100.0,
        description="[1/s] with which actuators return to where they began, under all speeds",
    )
    acceleration: float | None = Field(
        None,
        gt=0.0,
        le=100.0,
        description="RMS acceleration of the base along each axis [m/s2]; default what the "
        "actuators can make up for, at most 0.5",
    )
    lowest_frequency: float = Field(1.0, gt=0.0, le=1000.0, description="of the shaking [Hz]")
    highest_frequency: float = Field(20.0, gt=0.0, le=1000.0, description="of the shaking [Hz]")
    lines: int = Field(8, ge=1, le=100, description="sines along each axis")
    duration: float = Field(
        4.0, gt=0.0, le=600.0, description="of the shaking [s]; the base rests afterwards"
    )
    forgetting: float = Field(
        1.0, gt=0.0, le=1000.0, description="[s] over which velocities from accelerometers fade"
    )
    accelerometer_noise: float | None = Field(
        None,
        ge=0.0,
        description="RMS of each reading, platform and base [m/s2]; default a hundredth of the "
        "shaking's",
    )
    gyroscope_noise: float | None = Field(
        None,
        ge=0.0,
        description="RMS of each reading [rad/s]; default a hundredth of the observation's scale",
    )
    largest_attitude: float = Field(0.3, gt=0.0, le=3.0, description="[rad] that ends an episode")
    overtravel: float = Field(
        0.05, ge=0.0, le=1.0, description="share of the travel by which a leg may leave its range"
    )

    @model_validator(mode="after")
    def _check_order(self) -> VibrationIsolationSettings:
        if self.lowest_frequency > self.highest_frequency:
            raise ValueError("lowest_frequency must not be above highest_frequency")
        return self


class VibrationIsolation(Task):
    """Keep the platform still above a base that shakes."""

    title = "vibration isolation"
    default_machine = "compliant_stewart"
    settings_type = VibrationIsolationSettings
    terms: ClassVar[Mapping[str, float]] = {
        "acceleration": 0.6,
        "displacement": 0.2,
        "rotation": 0.2,
        "stroke": 0.05,
        "smoothness": 0.01,
    }
    termination_reasons = ("", "engine", "attitude", "limit")
    varied_settings: ClassVar[tuple[str, ...]] = (
        "acceleration",
        "lowest_frequency",
        "highest_frequency",
    )

    kernel = staticmethod(evaluate)

    settings: VibrationIsolationSettings

    def __init__(
        self, platform: Platform, settings: VibrationIsolationSettings, engine: str, size: int
    ) -> None:
        """Prepare the channels and the tables of the shaking.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        super().__init__(platform, settings, engine, size)
        band = (settings.lowest_frequency, settings.highest_frequency)
        self.acceleration = settings.acceleration or usual_acceleration(
            platform, self.scales, *band
        )
        level = spectrum(self.acceleration, *band)
        self.actions = rescaled([self._action_channel(level)], settings.scales)
        self.observations = self._observation_channels(level)
        self.allocate()
        self._make_arrays(level)

    def _batch_options(self) -> dict[str, Any]:
        return {"mode": "force" if self.settings.action == "forces" else "velocity"}

    def _action_channel(self, level: Spectrum) -> Channel:
        """Return the channel of the actions, scaled by what a shaken base asks for."""
        platform, scales, scale_fraction = self.platform, self.scales, self.settings.action_scale
        n, unit = platform.n_actuators, platform.coordinate_unit
        if self.settings.action == "forces":
            effort_scale = (scale_fraction or SHARE_OF_EFFORT) * scales.effort
            if scale_fraction is None:
                effort_scale = np.minimum(
                    effort_scale, ACTION_FACTOR * shaking_force(platform, level)
                )
            return Channel("actuator force", n, platform.force_unit, effort_scale)
        if scale_fraction is None:
            rate_per_speed = np.maximum(leg_rate_per_speed(platform), 1e-12)
            speed_scale = np.minimum(scales.speed, ACTION_FACTOR * level.velocity * rate_per_speed)
        else:
            speed_scale = scale_fraction * scales.speed
        return Channel("actuator velocity", n, f"{unit}/s", speed_scale)

    def _observation_channels(self, level: Spectrum) -> tuple[Channel, ...]:
        """Return the channels of the observation, scaled by what a shaken base causes."""
        platform, n, unit = self.platform, self.platform.n_actuators, self.platform.coordinate_unit
        leg_motion_per_base = np.maximum(leg_rate_per_speed(platform), 1e-12)
        inverse_jacobian = np.linalg.pinv(platform.jacobian(platform.home))
        starting_effort = START_FRACTION * self._starting_effort(inverse_jacobian)
        effort_scale = np.maximum(EFFORT_SCALE * self.scales.effort, starting_effort)
        joint_motion_factor = max(
            1.0, COOPERATION_FACTOR * float(np.linalg.norm(inverse_jacobian[:3], axis=1).max())
        )
        abrupt_acceleration = (
            joint_motion_factor * JERK_FRACTION * ACTION_FACTOR * level.velocity / self.batch.period
        )
        acceleration_scale = max(level.acceleration, abrupt_acceleration)
        return (
            Channel("platform acceleration", 3, "m/s2", acceleration_scale),
            Channel("platform angular rate", 3, "rad/s", level.velocity / platform.joint_radius),
            Channel(
                "platform angular acceleration",
                3,
                "rad/s2",
                ROTATION_FACTOR * acceleration_scale / platform.joint_radius,
            ),
            Channel("base acceleration", 3, "m/s2", level.acceleration),
            Channel("platform velocity", 3, "m/s", level.velocity),
            Channel("base velocity", 3, "m/s", level.velocity),
            Channel("coordinate", n, unit, level.displacement * leg_motion_per_base),
            Channel("rate", n, f"{unit}/s", level.velocity * leg_motion_per_base),
            Channel("effort", n, platform.force_unit, effort_scale),
            Channel("last action", n, "1", 1.0),
        )

    def _starting_effort(self, inverse_jacobian: Any) -> float:
        """Return the effort that reaches the speed of an action within a period, 0 for forces.

        Args:
            inverse_jacobian: inverse Jacobian at home `(6, n)`.
        """
        platform = self.platform
        if self.settings.action == "forces":
            return 0.0
        with without_compiling():
            mass_matrix = platform.mass_matrix(platform.home)
        leg_inertia = np.einsum("ki,kl,li->i", inverse_jacobian, mass_matrix, inverse_jacobian)
        return float((leg_inertia * self.actions[0].scale).max()) / self.batch.period

    def _make_arrays(self, level: Spectrum) -> None:
        """Make the arrays of all machines that the kernel reads and writes."""
        settings, batch, size = self.settings, self.batch, self.size
        n, scales = self.platform.n_actuators, self.scales
        period_count = int(np.ceil(settings.duration / batch.period - 1e-9))
        self._shaking = Shaking(
            np.zeros((size, period_count + 1, batch.ratio, 3)),
            np.zeros((size, period_count + 1, 3)),
            np.zeros((size, period_count + 1, 9)),
        )
        self._memory = Memory(*(np.zeros((size, width)) for width in (n, 7, 6, 18, 2, 3)))
        shapes = [(size, 3)] * 4 + [(size,)]
        self._signals = Signals(*[np.zeros(shape) for shape in shapes])
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        task_settings = Settings(
            batch.period,
            settings.forgetting,
            self.platform.parameters.gravity,
            settings.largest_attitude,
            settings.overtravel,
        )
        scale = np.asarray(self.actions[0].scale)
        if settings.action == "forces":
            self._law = ActionLaw(scale, scales.holding, 0.0)
        else:
            self._law = ActionLaw(scale, np.zeros(n), settings.centring)
        self._radius = self.platform.joint_radius
        acceleration_noise, rate_noise = settings.accelerometer_noise, settings.gyroscope_noise
        if acceleration_noise is None:
            acceleration_noise = QUIET_NOISE * level.acceleration
        if rate_noise is None:
            rate_noise = QUIET_NOISE * level.velocity / self._radius
        self._noise = np.repeat([acceleration_noise, rate_noise, acceleration_noise], 3)
        self.shaking = np.zeros((size, batch.ratio, 3))
        self._fill = SameTypes(fill_command)
        shaking_tables = (self._shaking.mean, self._memory.start)
        current_arrays = (batch.measured, self.shaking)
        self._command_bundle = Bundle(
            self.steps, self._law, *shaking_tables, *current_arrays, self.drive_commands
        )
        self._group(self._shaking, task_settings, self._signals, self._memory)

    def default_values(self) -> dict[str, float]:
        """Return the values of the `varied_settings` where no randomisation varies them."""
        return {**super().default_values(), "acceleration": self.acceleration}

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw the shaking of the base for an episode; `options` may have the `varied_settings`.

        Raises:
            InputError: an option that cannot be used.
        """
        self._check_options(options)
        values = {
            name: bounded(options.get(name, value), name, SMALLEST_NUMBER, LARGEST_NUMBER)
            for name, value in self.default_values().items()
        }
        values["highest_frequency"] = max(values["highest_frequency"], values["lowest_frequency"])
        if options:
            read_settings(type(self.settings), values)
        sine_lines = random_lines(generator, **values, count=self.settings.lines)
        shaking = self._shaking
        tables = ShakingTables(shaking.mean[index, :-1], shaking.displacement[index])
        fill_tables(sine_lines, self.batch.timestep, tables)
        generator.standard_normal(out=shaking.noise[index])
        shaking.noise[index] *= self._noise
        # Three equal axes: the norm of a vector is sqrt(3) times the level of one axis.
        level = spectrum(**values)
        axis_factor = np.sqrt(3.0)
        radius = self._radius
        if platform.platform_joints is not self.platform.platform_joints:
            radius = platform.joint_radius
        self._memory.levels[index] = axis_factor * np.array(
            [level.acceleration, level.displacement, TURNING_LEVEL * level.velocity / radius]
        )
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` and `shaking` for the coming period."""
        self._fill(actions, self._command_bundle)

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine, with the displacement of its base."""
        displacement = self._shaking.displacement[index]
        current_displacement = displacement[min(self.steps[index], len(displacement) - 1)]
        return super().scene(index)._replace(base_displacement=current_displacement)


class IsolationLaw(LinearLaw):
    """Isolation law, linear in the observation: feedforward of the base's motion and feedback.

    In directions of the base, with the Jacobian J at home, the actuators' speeds are

        speeds = -J (base_gain (v_b + base_delay a_b) + velocity_gain v_p + acceleration_gain a_p)

    from velocities v and accelerations a, measured by inertial sensors of base and platform.
    The first part moves the platform against its base; feedback of velocity stiffens, behind a
    spring, against inertial space what feedback of acceleration damps there (skyhook). It needs
    speeds as actions.

    Reference: D. Karnopp, M. J. Crosby, R. A. Harwood, Vibration control using semi-active force
    generators, Journal of Engineering for Industry 96 (1974), for the skyhook.
    """

    def __init__(
        self,
        task: VibrationIsolation,
        *,
        base_gain: float | None = None,
        base_delay: float | None = None,
        velocity_gain: float | None = None,
        acceleration_gain: float | None = None,
    ) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: task of an environment, `env.unwrapped.task`.
            base_gain: fraction of the base's velocity that is compensated; default 1.1 behind
                springs, else 1.
            base_delay: [s] of the base's measured velocity, less than zero where it leads, as
                velocities that fade do; default -4 ms behind springs, else 3 ms.
            velocity_gain: fraction of the platform's velocity that is opposed; default 0.3 behind
                springs, else zero.
            acceleration_gain: speed per acceleration of the platform that is opposed [s]; default
                4 ms behind springs, else zero: rigid legs make the platform follow their own
                acceleration.

        Raises:
            InputError: another task, forces as actions, a gain that is not finite.
        """
        if as_instance(task, "task", VibrationIsolation).settings.action != "velocities":
            raise InputError(
                "task", "the law commands velocities; make it with action='velocities'"
            )
        jacobian = task.platform.jacobian(task.platform.home)[:, :3]
        standard_gains = SPRING_LEG_GAINS if task.platform.n_deflections else RIGID_LEG_GAINS
        gains = {
            name: standard_gains[name] if value is None else float(as_vector([value], name, 1)[0])
            for name, value in zip(
                standard_gains,
                (base_gain, base_delay, velocity_gain, acceleration_gain),
                strict=True,
            )
        }
        weights = {
            "base velocity": gains["base_gain"],
            "base acceleration": gains["base_gain"] * gains["base_delay"],
            "platform velocity": gains["velocity_gain"],
            "platform acceleration": gains["acceleration_gain"],
        }
        super().__init__(task, {name: -gain * jacobian for name, gain in weights.items()})


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
    | stroke | 0.05 | -inf to 0 | minus the actuators' mean square displacement per half stroke |
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

    What they mean is in `VibrationIsolationSettings` and `TaskSettings`.
    `reset(options={"acceleration": 0.2})`, and the same of both frequencies, are for one episode; a
    randomisation may vary them as `task.acceleration`, `task.lowest_frequency` and
    `task.highest_frequency`. `IsolationLaw` is an analytic law on the same observations.

    Versions: v0, the first.
    """

    task_type = VibrationIsolation


class VibrationIsolationVectorEnv(PlatformVectorEnv):
    """Vector environment of `VibrationIsolationEnv`: the same spaces and rewards."""

    task_type = VibrationIsolation
