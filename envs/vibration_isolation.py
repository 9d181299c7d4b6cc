"""The task of `VibrationIsolation`: keep the platform still above a base that shakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from twin.analysis.platform import Platform
from twin.basics.arrays import LARGEST_NUMBER, SMALLEST_NUMBER, FloatArray, as_vector, bounded
from twin.envs.channels import Channel, rescaled
from twin.envs.environment import PlatformEnv
from twin.envs.random_motion import (
    ShakingTables,
    Spectrum,
    fill_tables,
    leg_effect,
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
    Limits,
    Memory,
    Shaking,
    Signals,
    evaluate,
    fill_command,
)
from twin.model.machine_base import characteristic_length, without_compiling
from twin.simulation.scene import Scene

SHARE_OF_EFFORT = 0.2

EFFORT_SCALE = 0.2
"""Scale of the effort beside that which holds the machine, per effort of an actuator."""

START_FRACTION = 0.25
"""Least scale of the effort, per effort that reaches an action's speed in a control period."""

TURNING_LEVEL = 0.1
"""Level of angular rates in the reward, per base velocity over the joints' mean radius."""

QUIET_NOISE = 0.01
"""Default noise of a reading, in parts of an observation's scale."""

JERK_FRACTION = 0.1
"""Scale of the platform's acceleration, per acceleration that reaches an action's speed in a
control period. Actions that change by twice their range in a period just reach the bound."""

COOPERATION_FACTOR = 0.75
"""Fraction of the platform's speed along an axis, per speed of legs that all help, by which the
scale of its acceleration grows where it is more than 1."""

ROTATION_FACTOR = 2.0
"""Scale of the angular acceleration, per acceleration over the joints' mean radius."""

ACTION_FACTOR = 5.0
"""Meaning of an action of 1, per RMS velocity of the base, or per force that goes with it."""

BEHIND_SPRINGS = {"base": 1.1, "delay": -0.004, "velocity": 0.3, "acceleration": 0.004}

RIGID_GAINS = {"base": 1.0, "delay": 0.003, "velocity": 0.0, "acceleration": 0.0}
"""Default gains: found by trial on `compliant_stewart` with its hardware, and on rigid machines."""


class VibrationIsolationSettings(TaskSettings):
    """Settings of vibration isolation: shaking of the base, actions, errors of the sensors."""

    period: float = Field(0.005, gt=0.0, description="of control [s]")
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
        description="RMS of the base's along each axis [m/s2]; default what the actuators can "
        "make up for, at most 0.5",
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
    def _ordered(self) -> VibrationIsolationSettings:
        if self.lowest_frequency > self.highest_frequency:
            raise ValueError("lowest_frequency must not be above highest_frequency")
        return self


class VibrationIsolation(Task):
    """Keep the platform still above a base that shakes."""

    title: ClassVar[str] = "vibration isolation"
    default_machine: ClassVar[str] = "compliant_stewart"
    settings_type: ClassVar[type[TaskSettings]] = VibrationIsolationSettings
    terms: ClassVar[Mapping[str, float]] = {
        "acceleration": 0.6,
        "displacement": 0.2,
        "rotation": 0.2,
        "stroke": 0.05,
        "smoothness": 0.01,
    }
    termination_reasons: ClassVar[tuple[str, ...]] = ("", "engine", "attitude", "limit")
    names: ClassVar[tuple[str, ...]] = ("acceleration", "lowest_frequency", "highest_frequency")

    kernel = staticmethod(evaluate)

    settings: VibrationIsolationSettings

    def __init__(
        self, platform: Platform, settings: VibrationIsolationSettings, engine: str, size: int
    ) -> None:
        """Prepare spaces and tables.

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
        self._allocate()
        self._make_arrays(level)

    def _batch_options(self) -> dict[str, Any]:
        return {"mode": "force" if self.settings.action == "forces" else "velocity"}

    def _action_channel(self, level: Spectrum) -> Channel:
        platform, scales, share = self.platform, self.scales, self.settings.action_scale
        n, unit = platform.n_actuators, platform.coordinate_unit
        if self.settings.action == "forces":
            size = (share or SHARE_OF_EFFORT) * scales.effort
            if share is None:
                size = np.minimum(size, ACTION_FACTOR * shaking_force(platform, level))
            return Channel("actuator force", n, platform.force_unit, size)
        size = ACTION_FACTOR * level.velocity * np.maximum(leg_effect(platform), 1e-12)
        size = np.minimum(scales.speed, size) if share is None else share * scales.speed
        return Channel("actuator velocity", n, f"{unit}/s", size)

    def _observation_channels(self, level: Spectrum) -> tuple[Channel, ...]:
        platform, n, unit = self.platform, self.platform.n_actuators, self.platform.coordinate_unit
        radius = characteristic_length(platform.platform_joints)
        effect = np.maximum(leg_effect(platform), 1e-12)
        legs = np.linalg.pinv(platform.jacobian(platform.home))
        starting = START_FRACTION * self._starting_effort(legs)
        effort = np.maximum(EFFORT_SCALE * self.scales.effort, starting)
        together = max(1.0, COOPERATION_FACTOR * float(np.linalg.norm(legs[:3], axis=1).max()))
        abrupt = together * JERK_FRACTION * ACTION_FACTOR * level.velocity / self.batch.period
        felt = max(level.acceleration, abrupt)
        return (
            Channel("platform acceleration", 3, "m/s2", felt),
            Channel("platform angular rate", 3, "rad/s", level.velocity / radius),
            Channel("platform angular acceleration", 3, "rad/s2", ROTATION_FACTOR * felt / radius),
            Channel("base acceleration", 3, "m/s2", level.acceleration),
            Channel("platform velocity", 3, "m/s", level.velocity),
            Channel("base velocity", 3, "m/s", level.velocity),
            Channel("coordinate", n, unit, level.displacement * effect),
            Channel("rate", n, f"{unit}/s", level.velocity * effect),
            Channel("effort", n, platform.force_unit, effort),
            Channel("last action", n, "1", 1.0),
        )

    def _starting_effort(self, legs: Any) -> float:
        """Return the effort that reaches the speed of an action within a period, 0 for forces.

        Args:
            legs: inverse Jacobian at home `(6, n)`.
        """
        platform = self.platform
        if self.settings.action == "forces":
            return 0.0
        with without_compiling():
            mass = platform.mass_matrix(platform.home)
        inertia = np.einsum("ki,kl,li->i", legs, mass, legs)
        return float((inertia * self.actions[0].scale).max()) / self.batch.period

    def _make_arrays(self, level: Spectrum) -> None:
        settings, batch, size = self.settings, self.batch, self.size
        n, scales = self.platform.n_actuators, self.scales
        periods = int(np.ceil(settings.duration / batch.period - 1e-9))
        self._shaking = Shaking(
            np.zeros((size, periods + 1, batch.ratio, 3)),
            np.zeros((size, periods + 1, 3)),
            np.zeros((size, periods + 1, 9)),
        )
        self._memory = Memory(*(np.zeros((size, width)) for width in (n, 7, 6, 18, 2, 3)))
        shapes = [(size, 3)] * 4 + [(size,)]
        self._signals = Signals(*[np.zeros(shape) for shape in shapes])
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        limits = Limits(
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
        given = (settings.accelerometer_noise, settings.gyroscope_noise)
        self._radius = characteristic_length(self.platform.platform_joints)
        usual = (QUIET_NOISE * level.acceleration, QUIET_NOISE * level.velocity / self._radius)
        linear, turning = (q if g is None else g for g, q in zip(given, usual, strict=True))
        self._noise = np.repeat([linear, turning, linear], 3)
        self.shaking = np.zeros((size, batch.ratio, 3))
        self._fill = SameTypes(fill_command)
        tables, now = (self._shaking.mean, self._memory.start), (batch.measured, self.shaking)
        self._filled = Bundle(self.steps, self._law, *tables, *now, self.drive_commands)
        self._group(self._shaking, limits, self._signals, self._memory)

    def default_values(self) -> dict[str, float]:
        """Return what those of `names` are where nothing varies them."""
        return {**super().default_values(), "acceleration": self.acceleration}

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw how the base shakes; options: what `names` lists.

        Raises:
            InputError: an option that cannot be used.
        """
        self._check_options(options)
        acceleration, lowest, highest = (
            bounded(options.get(name, value), name, SMALLEST_NUMBER, LARGEST_NUMBER)
            for name, value in self.default_values().items()
        )
        highest = max(highest, lowest)
        if options:
            drawn = zip(self.names, (acceleration, lowest, highest), strict=True)
            read_settings(type(self.settings), dict(drawn))
        lines = random_lines(generator, acceleration, lowest, highest, self.settings.lines)
        shaking = self._shaking
        tables = ShakingTables(shaking.mean[index, :-1], shaking.displacement[index])
        fill_tables(lines, self.batch.timestep, tables)
        generator.standard_normal(out=shaking.noise[index])
        shaking.noise[index] *= self._noise
        level, along = spectrum(acceleration, lowest, highest), np.sqrt(3.0)
        radius = self._radius
        if platform.platform_joints is not self.platform.platform_joints:
            radius = characteristic_length(platform.platform_joints)
        self._memory.levels[index] = along * np.array(
            [level.acceleration, level.displacement, TURNING_LEVEL * level.velocity / radius]
        )
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` and `shaking` for the coming period."""
        self._fill(actions, self._filled)

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine, with the displacement of its base."""
        displacement = self._shaking.displacement[index]
        now = displacement[min(self.steps[index], len(displacement) - 1)]
        return super().scene(index)._replace(base_displacement=now)


class IsolationLaw(LinearLaw):
    """Isolation law, linear in the observation: feedforward of the base's motion and feedback.

    In directions of the base, with the Jacobian J at home, the actuators' speeds are

        speeds = -J (base (v_b + delay a_b) + velocity v_p + acceleration a_p)

    from the velocities v and accelerations a, measured by inertial sensors of base and platform.
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
        base: float | None = None,
        delay: float | None = None,
        velocity: float | None = None,
        acceleration: float | None = None,
    ) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: of an environment, `env.unwrapped.task`.
            base: part of the base's velocity compensated; default 1.1 behind springs, else 1.
            delay: [s] of the base's measured velocity, less than zero where it leads, as velocities
                that fade do; default -4 ms behind springs, else 3 ms.
            velocity: part of the platform's that is opposed; default 0.3 behind springs, else none.
            acceleration: of the platform that is opposed [s]; default 4 ms behind springs, else
                none: where legs are rigid it is their own.

        Raises:
            InputError: another task, forces as actions, a gain that is not finite.
        """
        if not isinstance(task, VibrationIsolation):
            raise InputError("task", f"must be of VibrationIsolation, not {type(task).__name__}")
        if task.settings.action != "velocities":
            raise InputError(
                "task", "the law commands velocities; make it with action='velocities'"
            )
        jacobian = task.platform.jacobian(task.platform.home)[:, :3]
        usual = BEHIND_SPRINGS if task.platform.n_deflections else RIGID_GAINS
        given = {
            name: usual[name] if value is None else float(as_vector([value], name, 1)[0])
            for name, value in zip(usual, (base, delay, velocity, acceleration), strict=True)
        }
        weights = {
            "base velocity": given["base"],
            "base acceleration": given["base"] * given["delay"],
            "platform velocity": given["velocity"],
            "platform acceleration": given["acceleration"],
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
