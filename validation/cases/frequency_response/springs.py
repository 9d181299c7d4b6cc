"""Compliance and transmissibility of machines on springs against the linearised machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.linear.compliance import (
    MeasuredCompliance,
    measure_compliance,
    measure_transmissibility,
)
from twin.analysis.platform import Platform
from twin.errors import MissingDependencyError
from twin.validation.measures.comparison import LABELS, missing
from twin.validation.measures.metrics import largest
from twin.validation.results import Curve, Entry, Measure, Panel, Plot

ENGINES = ("analytic", "mujoco")
NAMES = {"analytic": "the reference", "mujoco": LABELS["mujoco"]}
"""Words for engines."""

MUJOCO_BAR = 3e-3
"""Per largest response."""

SHIFTED = "the engine's constraints of finite stiffness shift its resonances"


class Sweep(NamedTuple):
    """Sweeps of a machine with springs."""

    options: dict[str, Any]
    """of both measurements: band [Hz], length, decay and step [s], stiffness and damping that
    hold the actuators"""
    axes: tuple[str, ...]
    """along or about which a wrench is swept"""
    wrench: float
    """[N], a fifth of it in [N m]"""
    shaken: str
    """axis of the base"""
    acceleration: float
    """[m/s2] of the base"""
    accurate: float
    """bar on the analytic engine, per largest compliance"""
    reason: str


SWEEPS = {
    "micro_hexapod": Sweep(
        {
            "low": 50.0,
            "high": 500.0,
            "length": 0.5,
            "holding": (0.0, 0.0),
            "decay": 0.4,
            "timestep": 1e-4,
        },
        ("x",),
        10.0,
        "x",
        1.0,
        1e-4,
        "small motions: what is left is the ringing after the record",
    ),
    "compliant_stewart": Sweep(
        {
            "low": 2.0,
            "high": 60.0,
            "length": 1.5,
            "holding": (5e5, 5e3),
            "decay": 2.0,
            "timestep": 5e-4,
        },
        ("z", "yaw"),
        1.0,
        "z",
        0.2,
        1e-2,
        "the springs that hold the actuators act in steps of 0.5 ms and half a step late",
    ),
}


def swept(platform: Platform) -> tuple[list[Entry], Plot]:
    """Return the compliance under a swept wrench against the linear model, and its plot."""
    sweep = SWEEPS[platform.name]
    measures: list[Entry] = []
    panels = []
    for axis in sweep.axes:
        wrench = sweep.wrench * (1.0 if axis in ("x", "y", "z") else 0.2)
        found = {
            engine: measure_compliance(
                platform, axis, wrench=wrench, engine=engine, **sweep.options
            )
            for engine in ENGINES
        }
        for engine, one in found.items():
            off = largest(one.response.gain - one.linear) / largest(one.linear)
            own = engine == "analytic" or sweep.accurate >= MUJOCO_BAR
            bar, reason = (sweep.accurate, sweep.reason) if own else (MUJOCO_BAR, SHIFTED)
            name = f"compliance along {axis}, {NAMES[engine]}, against the linear model"
            measures.append(Measure(name, off, bar, reason))
        panels.append(_panel(axis, found))
    held = ", springs holding the actuators." if sweep.options["holding"][0] else "."
    caption = "Linear: from the linearised machine. At rest, without a controller" + held
    title = "Compliance from a swept wrench"
    return measures, Plot(title, "frequency [Hz]", *panels, log_x=True, caption=caption)


def _panel(axis: str, found: dict[str, MeasuredCompliance]) -> Panel:
    unit = "m/N" if axis in ("x", "y", "z") else "rad/(N m)"
    curves = [
        Curve(NAMES[engine], one.response.frequency, np.abs(one.response.gain))
        for engine, one in found.items()
    ]
    first = found[ENGINES[0]]
    curves.append(Curve("linear", first.response.frequency, np.abs(first.linear), "dash"))
    return Panel(f"{axis} per wrench [{unit}]", *curves, log_y=True)


def shaken(platform: Platform) -> tuple[list[Entry], list[Plot]]:
    """Return the transmissibility from a shaken base in MuJoCo against the linear model."""
    sweep = SWEEPS[platform.name]
    axis = sweep.shaken
    try:
        found = measure_transmissibility(
            platform, axis, acceleration=sweep.acceleration, **sweep.options
        )
    except MissingDependencyError as error:
        return [missing("MuJoCo", error)], []
    size = largest(found.linear)
    measure = Measure(
        f"transmissibility along {axis}, MuJoCo, against the linear model",
        largest(found.measured - found.linear) / size,
        MUJOCO_BAR,
        f"per largest, {size:.3g}; {SHIFTED}",
    )
    plot = Plot(
        "Transmissibility from a shaken base",
        "frequency [Hz]",
        Panel(
            f"{axis} of the platform per {axis} of the base",
            Curve("MuJoCo", found.frequency, np.abs(found.measured)),
            Curve("linear", found.frequency, np.abs(found.linear), "dash"),
            log_y=True,
        ),
        log_x=True,
        caption="A swept acceleration of the base.",
    )
    return [measure], [plot]
