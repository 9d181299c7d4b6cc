"""The command `warm`: kernels compiled ahead, so that later programs load them."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import line, progress_bar, table
from twin.cli.options import option

if TYPE_CHECKING:
    from twin.analysis.platform import Platform

Environments = Annotated[
    list[str] | None,
    option(
        "Also an environment, such as twin/PoseTracking-v0; may be repeated.",
        "--environment",
        metavar="ENV",
    ),
]
SHORT_DURATION = 0.01
"""[s] Duration of the simulations and of the motion."""


class Part(NamedTuple):
    """One thing that a user may do with a machine, and whose code is compiled."""

    machine: str
    name: str
    do: Callable[[], object]


@app.command()
def warm(
    machines: options.Machines = None,
    *,
    configuration: options.Configuration = None,
    environment: Environments = None,
    engine: options.Engine = "analytic",
) -> None:
    """Compile the equations of machines ahead: kinematics, dynamics, simulation, environments.

    Compiled code is kept on the disk. Programs and commands that use it start in a second or two.
    """
    from twin.analysis.platform import load
    from twin.basics.arrays import one_of
    from twin.envs import environment_ids
    from twin.machine.machine import machine_names

    tasks = [
        one_of(environment_name, "environment", environment_ids())
        for environment_name in environment or ()
    ]
    platforms = [load(name, configuration) for name in machines or machine_names()]
    parts = [part for platform in platforms for part in _parts(platform, tasks, engine)]
    rows = []
    with progress_bar("compiling", len(parts)) as show:
        for part in parts:
            show(f"{part.machine}: {part.name}")
            start_time = clock.perf_counter()
            part.do()
            rows.append((part.machine, part.name, clock.perf_counter() - start_time))
    table(("machine", "part", "time [s]"), rows)
    line(f"compiled or loaded in {sum(row[-1] for row in rows):.0f} s")


def _parts(
    platform: Platform, environments: list[str], engine: options.EngineName
) -> Iterator[Part]:
    """Yield the parts that are compiled for a machine; each part uses those before it."""
    name = platform.name
    yield Part(name, "kinematics", partial(_kinematics, platform))
    yield Part(name, "dynamics", partial(_dynamics, platform))
    yield Part(name, "simulation", partial(_simulate, platform, engine))
    yield Part(name, "drives and cascade", partial(_track, platform, engine))
    for environment in environments:
        yield Part(name, environment, partial(_step, platform, engine, environment))


def _kinematics(platform: Platform) -> None:
    platform.forward_kinematics(platform.inverse_kinematics(platform.home))
    platform.jacobian(platform.home)


def _dynamics(platform: Platform) -> None:
    import numpy as np

    no_motion = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, no_motion, no_motion)
    platform.forward_dynamics(platform.home, no_motion, forces)
    platform.energy(platform.home, no_motion)


def _simulate(platform: Platform, engine: options.EngineName) -> None:
    import numpy as np

    no_motion = np.zeros(6)
    holding_forces = platform.inverse_dynamics(platform.home, no_motion, no_motion)
    platform.simulate(SHORT_DURATION, forces=holding_forces, engine=engine)


def _track(platform: Platform, engine: options.EngineName) -> None:
    """Run a short closed loop, which compiles what tracking needs."""
    from twin.cli.closed_loop import closed_loop
    from twin.cli.motion import motion_specification
    from twin.control import make_controller

    motion = motion_specification("still", "z", None, 1.0, SHORT_DURATION).motion_of(platform)
    controller = make_controller("cascade", platform, motion)
    closed_loop(platform, controller, SHORT_DURATION, engine=engine, fidelity="accurate")


def _step(platform: Platform, engine: options.EngineName, environment: str) -> None:
    import gymnasium

    env: Any = gymnasium.make(environment, machine=platform, engine=engine)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()
