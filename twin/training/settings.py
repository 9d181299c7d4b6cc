"""Settings of a training, and hyperparameters of the algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from twin.basics.arrays import FloatArray
from twin.errors import InputError, brief

ENVIRONMENT_LAWS: dict[str, tuple[str, ...]] = {
    "twin/MotionCueing-v0": ("classical", "adaptive", "tilt_law"),
    "twin/VibrationIsolation-v0": ("isolation_law",),
    "twin/BallBalance-v0": ("balance_law",),
}
"""Environment -> names of its laws; controllers of `twin.control` are those of pose tracking."""

LAW_CLASSES = {
    "isolation_law": ("twin.envs.vibration_isolation", "IsolationLaw"),
    "tilt_law": ("twin.envs.motion_cueing.washout", "TiltLaw"),
    "balance_law": ("twin.envs.ball_balance", "BalanceLaw"),
}
"""Static linear laws: module and class, made from a task."""

NO_LAW = "none"

RANDOM_SEARCH = "ars"
"""Name of augmented random search."""

ENVIRONMENT_DEFAULTS: dict[str, dict[str, Any]] = {
    "twin/VibrationIsolation-v0": {
        "algorithm": RANDOM_SEARCH,
        "law": "isolation_law",
        "correction": 0.5,
        "episode": 400,
        "episodes": 8,
        "deviation": 0.005,
        "rate": 0.008,
        "shared": (
            "platform acceleration",
            "platform angular rate",
            "platform angular acceleration",
            "platform velocity",
            "base acceleration",
            "base velocity",
            "rate",
            "last action",
        ),
    },
    "twin/BallBalance-v0": {
        "algorithm": RANDOM_SEARCH,
        "law": "balance_law",
        "correction": 0.5,
        "discount": 0.99,
        "episode": 400,
        "episodes": 8,
        "final_rate": 0.0005,
    },
    "twin/MotionCueing-v0": {
        "algorithm": RANDOM_SEARCH,
        "law": "tilt_law",
        "correction": 0.5,
        "discount": 0.98,
    },
}
"""Environment -> algorithm that solves it where PPO does not, and hyperparameters that it asks for,
of the algorithms that have them (docs/training.md). With a shorter horizon than that of the ball,
doing nothing is worth more than the law that solves it."""

DEFAULT_ALGORITHM = "ppo"
"""Algorithm for environments that are not in `ENVIRONMENT_DEFAULTS`: its defaults are made for
tracking."""

DEFAULT_NUM_ENVS = {"ppo": 64, "sac": 64, RANDOM_SEARCH: 384}
"""Algorithm -> usual number of environments; random search needs two for each direction and
episode."""


UnitFraction = Annotated[float, Field(ge=0.0, le=1.0)]


def _rising(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if any(next_point[0] <= point[0] for point, next_point in pairwise(points)):
        raise ValueError("must be at progresses that rise")
    return points


CurriculumPoints = Annotated[tuple[tuple[UnitFraction, UnitFraction], ...], AfterValidator(_rising)]
"""Progress of the training, 0 to 1, and the fraction of the randomisation at that progress."""


def fraction_at(points: CurriculumPoints, progress: float) -> float:
    """Return the fraction at a progress: linear between points, constant outside them."""
    if not points:
        return 1.0
    progresses, fractions = np.array(points).T
    return float(np.interp(progress, progresses, fractions))


def widen(env: Any, points: CurriculumPoints, progress: float) -> None:
    """Set the fraction of an environment's randomisation; without points it stays whole."""
    if points:
        env.unwrapped.episodes.share = fraction_at(points, progress)


def linear_gains(name: str, env: Any) -> FloatArray:
    """Return the gains `(a, o)` of a linear law for the spaces of an environment.

    Raises:
        InputError: no such law of the environment, one that is not linear, or actions that the law
            does not command.
    """
    linear_laws = [
        law
        for law in ENVIRONMENT_LAWS.get(env.spec.id if env.spec else "", ())
        if law in LAW_CLASSES
    ]
    if name not in linear_laws:
        raise InputError("law", f"must be one of {', '.join((NO_LAW, *linear_laws))}, not {name!r}")
    gains: FloatArray = make_law(name, env).gains  # type: ignore[attr-defined]
    return gains


def make_law(name: str, env: Any) -> Callable[[Any], FloatArray]:
    """Return a law as a function from observations `(..., o)` to actions `(..., a)`.

    Make it anew for every episode: washouts are filters.

    Args:
        name: name of the law.
        env: a single environment, or a vector with a filter for each of its rows.

    Raises:
        InputError: another task, or actions that the law does not command.
    """
    if name in LAW_CLASSES:
        module, class_name = LAW_CLASSES[name]
        law: Callable[[Any], FloatArray] = getattr(import_module(module), class_name)(
            env.unwrapped.task
        )
        return law
    from twin.envs.motion_cueing.washout import WashoutPolicy

    if not hasattr(env, "num_envs"):
        return WashoutPolicy(env, name)
    filters = [WashoutPolicy(env, name) for _ in range(env.num_envs)]
    return lambda observations: np.stack(
        [washout(row) for washout, row in zip(filters, observations, strict=True)]
    )


Positive = Annotated[float, Field(gt=0.0)]
PositiveFraction = Annotated[float, Field(gt=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]


class Settings(BaseModel):
    """Base of the settings: frozen, nothing unknown, only finite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ResidualSettings(Settings):
    """Hyperparameters of every algorithm: the law beneath the policy, and its episodes."""

    law: str = NO_LAW
    """linear law that the policy corrects; "none" if the policy acts alone"""
    correction: PositiveFraction = 0.3
    """largest correction of the law, as a share of the largest action"""
    episode: Count | None = None
    """control periods of an episode in the training; None for those of the environment"""
    curriculum: CurriculumPoints = ()
    """progress of the training and share of the randomisation then, such as [[0, 0.2], [0.5, 1]];
    none for the whole one from the start"""


class PpoSettings(ResidualSettings):
    """Hyperparameters of proximal policy optimisation.

    The defaults are made for residual actions at short horizons: little exploration, large batches.

    Reference:
        Schulman et al., "Proximal policy optimization algorithms", 2017, arXiv:1707.06347.
    """

    learning_rate: Positive = 1e-3
    final_learning_rate: Positive = 5e-5
    """learning rate at the last step; it changes linearly"""
    rollout: Count = 32
    """steps of every environment between two updates of the policy"""
    batch: Count = 2048
    epochs: Count = 5
    discount: PositiveFraction = 0.95
    trace: PositiveFraction = 0.9
    """lambda of the generalised advantage estimate"""
    clip: Positive = 0.2
    entropy: Annotated[float, Field(ge=0.0)] = 0.0
    value_weight: Positive = 0.5
    gradient_norm: Positive = 0.5
    target_divergence: Positive | None = 0.03
    """Kullback-Leibler divergence of the policies above which an update ends early; None: no
    limit"""
    log_deviation: float = -1.5
    """initial logarithm of the standard deviation of the actions"""
    hold: Count | None = None
    """steps for which exploration keeps its direction (gSDE: Raffin et al., "Smooth exploration for
    robotic reinforcement learning", 2020, arXiv:2005.05719); None for independent noise"""
    layers: tuple[Count, ...] = (64, 64)
    activation: Literal["tanh", "relu"] = "tanh"


class SacSettings(ResidualSettings):
    """Hyperparameters of soft actor-critic.

    Reference:
        Haarnoja et al., "Soft actor-critic algorithms and applications", 2018, arXiv:1812.05905.
    """

    learning_rate: Positive = 1e-3
    buffer: Count = 300_000
    batch: Count = 256
    discount: PositiveFraction = 0.95
    following: PositiveFraction = 0.005
    """fraction by which the target networks move to the trained ones at an update (tau)"""
    start: Annotated[int, Field(ge=0)] = 2000
    """steps of random actions before the first update"""
    updates: Count = 8
    """updates of the networks after a step of all environments"""
    layers: tuple[Count, ...] = (64, 64)
    activation: Literal["tanh", "relu"] = "relu"


class SearchSettings(ResidualSettings):
    """Settings of random search; see `RandomSearch`."""

    episodes: Count = 6
    """number of episodes in which every direction is tried"""
    deviation: Positive = 0.01
    """standard deviation of the tried policy's numbers from the present ones"""
    rate: Positive = 0.012
    """change of the policy's numbers in an iteration, per deviation of the returns"""
    final_rate: Positive = 0.001
    """rate at the last step; it changes linearly"""
    best: PositiveFraction = 0.5
    """fraction of the directions that move the policy"""
    layers: tuple[Count, ...] = ()
    """sizes of the hidden layers; empty for a linear policy"""
    shared: tuple[str, ...] = ()
    """channels of the observation, and "constant", whose gains are searched, the same in all legs;
    none for all numbers of the policy"""


ALGORITHM_SETTINGS: dict[str, type[ResidualSettings]] = {
    "ppo": PpoSettings,
    "sac": SacSettings,
    RANDOM_SEARCH: SearchSettings,
}
"""Names of the algorithms -> their hyperparameters."""


class TrainingSettings(Settings):
    """All settings of a training."""

    environment: str
    """id of the environment, such as twin/PoseTracking-v0"""
    algorithm: Literal["ppo", "sac", "ars"]
    steps: Count
    """total number of steps of all environments"""
    envs: Count
    seed: Annotated[int, Field(ge=0)] = 0
    options: dict[str, Any] = Field(default_factory=dict)
    """options of the environment"""
    normalise: bool = True
    """subtract the running mean of each observation, then divide by its running deviation"""
    normalise_rewards: bool = True
    checkpoint_every: Count = 250_000
    """number of steps between two checkpoints"""
    threads: Count = 1
    """number of threads of PyTorch"""
    hyperparameters: PpoSettings | SacSettings | SearchSettings = PpoSettings()


def training_settings(
    algorithm: str | None,
    hyperparameters: Mapping[str, Any],
    envs: int | None = None,
    **settings: Any,
) -> TrainingSettings:
    """Return checked settings.

    Args:
        algorithm: "ppo", "sac" or "ars"; None for the environment's in `ENVIRONMENT_DEFAULTS`.
        hyperparameters: by name, where they differ from the defaults.
        envs: environments side by side; None for the algorithm's in `DEFAULT_NUM_ENVS`.
        settings: further fields of `TrainingSettings`.

    Raises:
        InputError: unknown names or values that cannot be used; names the first of them.
    """
    environment_defaults = ENVIRONMENT_DEFAULTS.get(str(settings.get("environment")), {})
    algorithm = (
        environment_defaults.get("algorithm", DEFAULT_ALGORITHM) if algorithm is None else algorithm
    )
    if algorithm not in ALGORITHM_SETTINGS:
        raise InputError(
            "algorithm", f"must be one of {', '.join(ALGORITHM_SETTINGS)}, not {brief(algorithm)}"
        )
    model = ALGORITHM_SETTINGS[algorithm]
    defaults = {
        name: value for name, value in environment_defaults.items() if name in model.model_fields
    }
    checked = validated(model, {**defaults, **hyperparameters})
    num_envs = DEFAULT_NUM_ENVS[algorithm] if envs is None else envs
    content = {"algorithm": algorithm, "hyperparameters": checked, "envs": num_envs, **settings}
    result: TrainingSettings = validated(TrainingSettings, content)
    return result


def validated(model: type[Any], content: Any) -> Any:
    """Return an instance of a pydantic `model` made from `content`.

    Raises:
        InputError: it does not fit; the first problem with its field.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first_error = error.errors()[0]
        field_name = ".".join(str(part) for part in first_error["loc"]) or model.__name__
        message = first_error["msg"]
        if first_error["type"] == "extra_forbidden":
            message = f"is unknown; known: {', '.join(sorted(model.model_fields))}"
        raise InputError(field_name, message) from None
