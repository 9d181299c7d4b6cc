"""Controllers of `twin.control` in the episodes of PoseTracking: same machines, motions, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control import make_controller
from twin.motion import Motion
from twin.plant.plant import Plant
from twin.rotations import angle_between
from twin.simulation.platform import Platform
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory
from twin.training.environments import make_environments
from twin.training.metrics import Accumulator, Metric
from twin.training.rollout import Outcome

TRACKING = "twin/PoseTracking-v0"
"""The environment whose episodes a controller can be given: a machine and a motion."""

SIGNALS = ("position_error", "orientation_error")
"""What is known of a controller's run: distance [m] and angle [rad] from the wanted pose."""

USUAL_FIDELITIES = {"bullet": "fast"}
"""Fidelities of engines in environments, where they are not "accurate"."""

FINEST = 5e-4
"""[s] Longest step of the engine: half the control period of 1 ms, as everywhere else."""


def run_controller(
    name: str,
    options: Mapping[str, Any],
    seeds: Sequence[int],
    metrics: tuple[Metric, ...],
) -> Outcome:
    """Run a controller at its own rate in the episodes that the seeds draw.

    The controller knows the machine as its file describes it, as a policy does; what a
    randomisation changed it does not know. It is scored at the environment's control instants.

    Args:
        name: one of `twin.control.controller_names()`.
        options: of the environment, with the engine.
        seeds: of the episodes, and of the plants' sensors.
        metrics: what to sum up, of `SIGNALS`.

    Raises:
        InputError: a controller that does not fit the machine, or an unknown option.
        MissingDependencyError: a library of the controller's design is not installed.
    """
    engine = options.get("engine", "analytic")
    env = make_environments(TRACKING, len(seeds), {**options, "engine": "analytic"}, "next_step")
    try:
        env.reset(seed=list(seeds))
        task = env.unwrapped.task
        known, period = task.platform, task.batch.period
        step = period / int(np.ceil(period / min(FINEST, task.batch.timestep) - 1e-9))
        rows = [(task.batch.platforms[k], task.motions[k]) for k in range(len(seeds))]
        limit = env.unwrapped.max_episode_steps
    finally:
        env.close()
    sums = Accumulator(metrics, len(seeds))
    length, terminated = np.zeros(len(seeds)), np.zeros(len(seeds))
    for k, ((platform, motion), seed) in enumerate(zip(rows, seeds, strict=True)):
        periods = round(motion.duration / period)
        periods = periods if limit is None else min(periods, limit)
        pose, twist, _ = platform.constrain(*motion.sample(np.zeros(1)))
        run = simulate(
            platform,
            periods * period,
            pose[0],
            twist[0],
            controller=make_controller(name, known, motion),
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
    return Outcome(np.full(len(seeds), np.nan), length, terminated, sums.results())


def _errors(platform: Platform, motion: Motion, run: Trajectory) -> dict[str, FloatArray]:
    """Return the signals at the control instants after the start, each `(k,)`."""
    time = np.minimum(run.time[1:], motion.duration)
    wanted = platform.constrain(*motion.sample(time)).pose
    distance = np.linalg.norm(run.pose[1:, :3] - wanted[:, :3], axis=1)
    return dict(
        zip(SIGNALS, (distance, angle_between(run.pose[1:, 3:], wanted[:, 3:])), strict=True)
    )
