"""The command `bench`."""

from __future__ import annotations

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import Column, table


@app.command()
def bench(machines: options.Machines = None) -> None:
    """Time the main functions and the engines' steps on this computer."""
    from twin.analysis.benchmark import BATCH_SIZE, function_times, step_times
    from twin.analysis.platform import load
    from twin.engines.stability import suitable_timestep
    from twin.machine.machine import machine_names

    for name in machines or machine_names():
        platform = load(name)
        functions = [
            (time.name, f"{1e6 * time.one:.2f}", f"{1e6 * time.batch:.2f}", f"{1 / time.batch:.3g}")
            for time in function_times(platform)
        ]
        columns = [Column("function"), Column("one call [us]", True)]
        columns += [Column(f"in a batch of {BATCH_SIZE} [us]", True), Column("states [1/s]", True)]
        table(columns, functions, platform.name)
        timestep = suitable_timestep(platform)
        steps = [
            (time.engine, time.fidelity, "not installed", "")
            if time.step is None
            else (
                time.engine,
                time.fidelity,
                f"{1e6 * time.step:.1f}",
                f"{timestep / time.step:.1f}",
            )
            for time in step_times(platform)
        ]
        columns = [Column("engine"), Column("fidelity"), Column("step [us]", True)]
        columns += [Column(f"times real time at {1e3 * timestep:g} ms [1]", True)]
        table(columns, steps)
