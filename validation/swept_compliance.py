"""Compliance from a swept wrench on the engines against the linearised machine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.linear.compliance import MeasuredCompliance, measure_compliance
from twin.simulation.platform import Platform
from twin.validation.results import Curve, Measure, Panel, Plot

ENGINES = ("analytic", "mujoco")


class Sweep(NamedTuple):
    """What is swept on a machine with springs."""

    axes: tuple[str, ...]
    low: float
    high: float
    length: float
    wrench: float
    holding: tuple[float, float]
    decay: float
    """[s] after the sweep"""
    timestep: float
    accurate: float
    """bar on the analytic engine, per largest compliance"""
    reason: str


SWEEPS = {
    "micro_hexapod": Sweep(
        ("x",),
        50.0,
        500.0,
        0.5,
        10.0,
        (0.0, 0.0),
        0.4,
        1e-4,
        1e-4,
        "small motions: what is left is the ringing after the record",
    ),
    "compliant_stewart": Sweep(
        ("z", "yaw"),
        2.0,
        60.0,
        1.5,
        1.0,
        (5e5, 5e3),
        2.0,
        5e-4,
        1e-2,
        "the springs that hold the actuators act in steps of 0.5 ms and half a step late",
    ),
}


def swept(platform: Platform) -> tuple[list[Measure], Plot]:
    """Return measured against linear compliance of a machine on springs, and their plot."""
    sweep = SWEEPS[platform.name]
    measures, panels = [], []
    for axis in sweep.axes:
        found = {
            engine: measure_compliance(
                platform,
                axis,
                low=sweep.low,
                high=sweep.high,
                length=sweep.length,
                wrench=sweep.wrench * (1.0 if axis in ("x", "y", "z") else 0.2),
                holding=sweep.holding,
                decay=sweep.decay,
                engine=engine,
                timestep=sweep.timestep,
            )
            for engine in ENGINES
        }
        for engine, one in found.items():
            away = np.abs(one.response.gain - one.linear).max() / np.abs(one.linear).max()
            bar = sweep.accurate if engine == "analytic" else max(sweep.accurate, 3e-3)
            measures.append(
                Measure(
                    f"compliance along {axis}, {engine}, against the linear model",
                    float(away),
                    "1",
                    bar,
                    sweep.reason
                    if bar == sweep.accurate
                    else "the engine's constraints of finite stiffness shift its resonances",
                )
            )
        panels.append(_panel(axis, found))
    plot = Plot(
        "Compliance from a swept wrench",
        "frequency [Hz]",
        tuple(panels),
        log_x=True,
        caption="Linear: from the linearised machine. At rest, without a controller"
        + (", springs holding the actuators." if sweep.holding[0] else "."),
    )
    return measures, plot


def _panel(axis: str, found: dict[str, MeasuredCompliance]) -> Panel:
    unit = "m/N" if axis in ("x", "y", "z") else "rad/(N m)"
    curves = [
        Curve(engine, one.response.frequency, np.abs(one.response.gain))
        for engine, one in found.items()
    ]
    first = found[ENGINES[0]]
    curves.append(Curve("linear", first.response.frequency, np.abs(first.linear), "dash"))
    return Panel(f"{axis} per wrench [{unit}]", tuple(curves), log_y=True)
