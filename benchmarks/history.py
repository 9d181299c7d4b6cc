"""A few ratios within one run, as one more row of a history.

Run `make history`: half a minute. Each row of `benchmarks/results/history.csv` names the commit
that it was measured on. Both parts of a ratio are processor times, taken in turn. The row of MJX
needs it (`pip install mujoco-mjx`).
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mujoco
import numpy as np
from overhead import HEAVIER, PERIODS, commit, compiled_periods, environment, ratio

import twin
from twin.analysis.platform import Platform
from twin.kernels.derivatives import States, forward_dynamics_slopes
from twin.kernels.dynamics.forward import forward_dynamics_batch
from twin.machine.machine import parameters_path
from twin.model import batch
from twin.model.derivatives import dynamics_width
from twin.rotations import displaced
from twin.simulation.batched import make_batched_plant

RESULTS = Path(__file__).parent / "results" / "history.csv"

COUNT = 4096
"""States of a batch."""

CALLS = 40
"""Of Pinocchio, which takes one state at a time."""

MACHINES = 256
"""That take a Runge-Kutta step at once."""

Row = tuple[str, float]
"""Name of a ratio, ratio"""


def batch_of(platform: Platform) -> States:
    """Return random states about home."""
    random, n = np.random.default_rng(7), platform.n_actuators
    poses = displaced(platform.home, 0.02 * random.normal(size=(COUNT, 6)))
    twists, wrenches = 0.3 * random.normal(size=(2, COUNT, 6))
    forces = 300.0 * random.normal(size=(COUNT, n))
    return States(poses, twists, np.zeros((COUNT, 2 * platform.n_deflections)), forces, wrenches)


def dynamics(name: str) -> Iterator[Row]:
    """Yield how forward dynamics compares on one core: batches, derivatives, calls, Pinocchio."""
    platform = twin.load(name)
    constants, states, out = platform.constants[:2], batch_of(platform), np.empty((COUNT, 6))
    slopes = np.empty((COUNT, 6, 27))
    in_lanes: Any = batch.lanes_kernel(forward_dynamics_batch)

    def alone() -> None:
        forward_dynamics_batch(*constants, *states, out)

    def lanes() -> None:
        batch.fill_in_lanes(in_lanes, constants, states, out, from_user=False)

    def derivatives() -> None:
        forward_dynamics_slopes(*constants, dynamics_width(), states, slopes)

    one_state = [rows[0].copy() for rows in (states.poses, states.twists, states.inputs)]

    def public_calls() -> None:
        for _ in range(CALLS):
            platform.forward_dynamics(*one_state)

    with patch.object(batch, "usable_cores", lambda: 1):
        yield f"{name}: single states / lanes", ratio(alone, lanes)
        yield f"{name}: all derivatives / single state", ratio(derivatives, alone)
        theirs = pinocchio_calls(name, states)
        yield f"{name}: Pinocchio / lanes", ratio(theirs, lanes, CALLS / COUNT)
        yield f"{name}: Pinocchio's call / one public call", ratio(theirs, public_calls)


def pinocchio_calls(name: str, states: States) -> Callable[[], None]:
    """Return a call that solves the constraint dynamics of the first state `CALLS` times."""
    import pinocchio
    from pinocchio_tree import Tree

    tree = Tree(tomllib.loads(parameters_path(name).read_text(encoding="utf-8")))
    q = tree.close(states.poses[0])
    v = tree.motion(q, states.twists[0])[1]
    torque = tree.passive(q, v)
    torque[tree.actuated] += states.inputs[0]
    loops = (*tree.contacts(), pinocchio.ProximalSettings(1e-12, 1e-12, 10))

    def calls() -> None:
        for _ in range(CALLS):
            pinocchio.constraintDynamics(tree.model, tree.data, q, v, torque, *loops)

    return calls


def tracking() -> Iterator[Row]:
    """Yield what a step and a reset of `PoseTracking` take, per compiled control period."""
    plain, varied = (environment("PoseTracking", None, spread) for spread in (None, HEAVIER))
    periods = compiled_periods(plain.task.batch)
    action = np.zeros(plain.action_space.shape, dtype=np.float32)

    def steps() -> None:
        for _ in range(PERIODS):
            plain.step(action)

    yield "PoseTracking: step / compiled period", ratio(steps, periods)
    yield "PoseTracking: randomised reset / period", ratio(varied.reset, periods, 1.0 / PERIODS)


def runge_kutta_steps() -> Iterator[Row]:
    """Yield the time of MJX per ours for Runge-Kutta steps of many machines; nothing without it."""
    try:
        import jax
        from mujoco import mjx
    except ImportError:
        return
    scene = mujoco.MjModel.from_xml_path(str(parameters_path("stewart").with_name("scene.xml")))
    scene.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    scene.opt.iterations = scene.opt.ls_iterations = 4
    model, data = mjx.put_model(scene), mjx.put_data(scene, mujoco.MjData(scene))
    machines = jax.vmap(lambda _: data)(np.arange(MACHINES))
    step = jax.jit(jax.vmap(lambda one: mjx.step(model, one)))

    def theirs() -> None:
        jax.block_until_ready(step(machines))

    platform, timestep = twin.load("stewart"), 1e-3
    plant = make_batched_plant("analytic", platform, MACHINES, timestep, timestep, mode="force")
    plant.reset(np.arange(MACHINES))
    forces = plant.forces.copy()
    yield "stewart: MJX in single precision / ours", ratio(theirs, lambda: plant.advance(forces))


def main() -> None:
    """Measure the ratios, print them and add them to the history."""
    row = {"commit": commit()}
    for measured in (dynamics("stewart"), dynamics("srspm"), tracking(), runge_kutta_steps()):
        for name, value in measured:
            row[name] = f"{value:.3g}"
            print(f"{name:<44} {value:>7.3g}", flush=True)
    rows = [row]
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            rows = [*csv.DictReader(file), row]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for each in rows for name in each)
        writer = csv.DictWriter(file, list(names), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
