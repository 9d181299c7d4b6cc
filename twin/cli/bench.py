"""The command `bench`."""

from __future__ import annotations

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import table


@app.command()
def bench(machines: options.Machines = None) -> None:
    """Time the main functions and the engines' steps on this computer."""
    from twin.analysis.benchmark import BATCH_SIZE, function_times, step_times
    from twin.analysis.platform import load
    from twin.engines.base import suitable_timestep
    from twin.machine.machine import machine_names

    for name in machines or machine_names():
        platform = load(name)
        functions = [
            (time.name, 1e6 * time.one, 1e6 * time.batch, 1.0 / time.batch)
            for time in function_times(platform)
        ]
        in_batch = f"in a batch of {BATCH_SIZE} [us]"
        columns = ("function", "one call [us]", in_batch, "states [1/s]")
        table(columns, functions, platform.name)
        timestep = suitable_timestep(platform)
        steps = [
            (time.engine, time.fidelity, "not installed", "")
            if time.step is None
            else (time.engine, time.fidelity, 1e6 * time.step, timestep / time.step)
            for time in step_times(platform)
        ]
        real_time = f"times real time at {1e3 * timestep:g} ms [1]"
        table(("engine", "fidelity", "step [us]", real_time), steps)
