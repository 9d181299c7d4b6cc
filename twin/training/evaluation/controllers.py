"""Controllers of `twin.control` in the episodes of PoseTracking: same machines and motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control import make_controller
from twin.envs.episodes import Episodes
from twin.envs.pose_tracking.task import PoseTracking
from twin.envs.registration import ENVIRONMENTS
from twin.motion import Motion
from twin.plant.plant import Plant
from twin.rotations import angle_between
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory
from twin.training.evaluation.rollout import Outcome
from twin.training.metrics import Accumulator, Metric

TRACKING = "twin/PoseTracking-v0"
"""The environment whose episodes have a machine and a motion for a controller."""

SIGNALS = ("position_error", "orientation_error")
"""Signals of a controller's run: distance [m] and angle [rad] from the reference pose."""

USUAL_FIDELITIES = {"bullet": "fast"}
"""Fidelities of engines in environments, where they are not "accurate"."""

FINEST = 5e-4
"""[s] Longest step of the engine: half the control period of 1 ms, as everywhere else."""

USUAL_LIMIT = ENVIRONMENTS[TRACKING].max_episode_steps

ARGUMENTS = ("machine", "configuration", "engine", "randomisation", "max_episode_steps")
"""Options of the environment that are not of its task."""


def run_controller(
    name: str,
    options: Mapping[str, Any],
    seeds: Sequence[int],
    metrics: tuple[Metric, ...],
) -> Outcome:
    """Run a controller at its own rate in the episodes that the seeds draw.

    The controller knows the machine as its file describes it, as a policy does; it does not know
    the changes of a randomisation. Its errors count at the environment's control instants.

    Args:
        name: one of `twin.control.controller_names()`.
        options: of the environment, with the engine.
        seeds: of the episodes, and of the plants' sensors.
        metrics: of the errors, from `SIGNALS`.

    Raises:
        InputError: a controller that does not fit the machine, or an unknown option.
        MissingDependencyError: a library of the controller's design is not installed.
    """
    given: dict[str, Any] = {"engine": "analytic", "max_episode_steps": USUAL_LIMIT, **options}
    machine, configuration, engine, randomisation, limit = map(given.get, ARGUMENTS)
    assert engine is not None
    episodes = Episodes(
        PoseTracking,
        machine or PoseTracking.usual_machine,
        configuration,
        "analytic",
        len(seeds),
        randomisation,
        {key: value for key, value in options.items() if key not in ARGUMENTS},
    )
    episodes.reset(range(len(seeds)), [np_random(seed)[0] for seed in seeds])
    task: Any = episodes.task
    batch, motions = task.batch, task.motions
    period = batch.period
    step = period / int(np.ceil(period / min(FINEST, batch.timestep) - 1e-9))
    sums = Accumulator(metrics, len(seeds))
    length, terminated = np.zeros(len(seeds)), np.zeros(len(seeds))
    for k, (platform, motion, seed) in enumerate(zip(batch.platforms, motions, seeds, strict=True)):
        periods = int(min(round(motion.duration / period), episodes.most_steps[k]))
        periods = periods if limit in (None, -1) else min(periods, limit)
        pose, twist, _ = platform.constrain(*motion.sample(np.zeros(1)))
        run = simulate(
            platform,
            periods * period,
            pose[0],
            twist[0],
            controller=make_controller(name, episodes.platform, motion),
            plant=Plant(platform, seed=seed),
            engine=engine,
            fidelity=options.get("fidelity") or USUAL_FIDELITIES.get(engine, "accurate"),
            timestep=step,
            every=round(period / step),
            progress=False,
        )
        errors = _errors(platform, motion, run)
        for step_errors in zip(*(errors[metric.signal] for metric in metrics), strict=True):
            sums.add(np.array([step_errors]), np.array([k]))
        length[k], terminated[k] = len(run) - 1, float(bool(run.stopped))
    episodes.close()
    return Outcome(np.full(len(seeds), np.nan), length, terminated, sums.results())


def _errors(platform: Platform, motion: Motion, run: Trajectory) -> dict[str, FloatArray]:
    """Return the signals at the control instants after the start, each `(k,)`."""
    time = np.minimum(run.time[1:], motion.duration)
    reference = platform.constrain(*motion.sample(time)).pose
    distance = np.linalg.norm(run.pose[1:, :3] - reference[:, :3], axis=1)
    angle = angle_between(run.pose[1:, 3:], reference[:, 3:])
    return dict(zip(SIGNALS, (distance, angle), strict=True))
