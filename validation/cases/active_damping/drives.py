"""Active damping through drives and encoders: what is left of it on the nonlinear machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.linear.response import decay_poles, linear_modes, slowest_shape
from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.control.active_damping import (
    DirectVelocityFeedback,
    HacLac,
    IntegralForceFeedback,
    closed_loop,
)
from twin.control.active_damping.best_gain import structural_damping
from twin.control.active_damping.local import LocalFeedback
from twin.control.drive_model import drive_model
from twin.control.linear import LinearMachine
from twin.control.linear.machine import spring_constants
from twin.engines.stability import suitable_timestep
from twin.rotations import displaced, displacement
from twin.simulation.simulate import simulate
from twin.validation.cases.active_damping.figures import NAMES
from twin.validation.measures.metrics import largest
from twin.validation.results import Curve, Entry, Measure, Panel, Plot, Quantity

LOUD = 10.0
"""Release in friction at rest per spring: what the spring of the most moved leg pulls with."""

QUIET = 1.0

COUNTS = 1e4
"""Release in steps of the encoder where nothing rubs."""

PERIODS = 3

STEP = 5e-4
"""[s] Longest step of the engine: transmissions of the hardware configurations need 0.67 ms."""


class Driven(NamedTuple):
    """A machine with drives, its slowest mode, and controllers."""

    platform: Platform
    controllers: dict[str, LocalFeedback]
    ratio: float
    """damping of the slowest mode without control, actuators in series with springs blocked"""
    frequency: float
    """[Hz]"""


def driven_measures(platform: Platform) -> tuple[list[Entry], Plot]:
    """Return damping measured on a machine with drives, and its decays."""
    driven = _driven(platform)
    measures, curves = list(_predicted(driven)), []
    rubbed = bool(drive_model(platform).friction.any())
    for name, controller in driven.controllers.items():
        time, swing = _decay(driven, controller, LOUD)
        curves.append(Curve(NAMES[name], time, swing / abs(swing[0])))
        measures.append(
            Measure(
                f"with drives, {NAMES[name]}: damping ratio over three periods of a free decay",
                _damping(swing),
                driven.ratio,
                f"more than the {driven.ratio:.4f} without control, which a law of the wrong sign "
                "takes away; from the swing's range in the first and the third period of its mode"
                + (f"; released at {LOUD:g} times the friction at rest" if rubbed else ""),
                at_least=True,
            )
        )
        if rubbed and name == "iff":
            measures.append(_stuck(driven, name, controller))
        if not rubbed and name == "dvf":
            measures.append(_pole(controller, swing))
    omega = 2.0 * np.pi * driven.frequency
    ringing = np.sqrt(1.0 - driven.ratio**2) * omega
    alone = np.exp(-driven.ratio * omega * time) * np.cos(ringing * time)
    curves.insert(0, Curve("without control, linear", time, alone, "dot"))
    panel = Panel("slowest mode", *curves)
    return measures, Plot("Free decay with drives and encoders", "time [s]", panel)


def _driven(platform: Platform) -> Driven:
    force = IntegralForceFeedback(platform)
    controllers: dict[str, LocalFeedback] = {
        "iff": force,
        "dvf": DirectVelocityFeedback(platform),
        "hac_lac": HacLac(platform, inner=force),
    }
    passive = force.linear.locked() if platform.n_deflections else force.linear
    modes = linear_modes(passive).swinging
    return Driven(
        platform, controllers, float(modes.damping_ratios[0]), float(modes.frequencies[0])
    )


def _predicted(driven: Driven) -> Iterator[Entry]:
    for name, controller in driven.controllers.items():
        linear = controller.linear
        poles = closed_loop(linear, controller.law).rates
        if isinstance(controller, HacLac):
            poles = controller.outer.poles
        yield Quantity(
            f"with drives, {NAMES[name]}: smallest damping ratio of the linear loop",
            structural_damping(linear, poles),
            note="delay, lag, motors on their transmissions and encoders in the loop; the "
            "transmissions' own modes left out",
        )


def _decay(
    driven: Driven, controller: LocalFeedback, loudness: float
) -> tuple[FloatArray, FloatArray]:
    """Return control instants and the slowest mode `(k,)`, released from rest."""
    platform = driven.platform
    shape, row = slowest_shape(controller.linear)
    stretch = largest(platform.jacobian(platform.home) @ shape)
    drives = drive_model(platform)
    pull = COUNTS * float(drives.resolution.max())
    if drives.friction.any():
        pull = loudness * float((drives.breakaway / spring_constants(platform)[0]).max())
    step = min(STEP, suitable_timestep(platform))
    parts = int(np.ceil(controller.period / step - 1e-9))
    course = simulate(
        platform,
        int(np.ceil(PERIODS / driven.frequency / controller.period)) * controller.period,
        displaced(platform.home, shape * (pull / stretch)),
        deflection=controller.linear.point.deflection,
        controller=controller,
        timestep=controller.period / parts,
        every=parts,
        fidelity="fast",
    )
    return course.time, displacement(course.pose, platform.home) @ row


def _damping(swing: FloatArray) -> float:
    """Return the damping ratio from the ranges of the first and the last of three periods."""
    first, *_, last = (np.ptp(part) for part in np.array_split(swing, PERIODS))
    return float(np.log(first / last) / (2.0 * np.pi * (PERIODS - 1)))


def _stuck(driven: Driven, name: str, controller: LocalFeedback) -> Quantity:
    """Return the damping at forces as small as the drives' friction."""
    return Quantity(
        f"with drives, {NAMES[name]}: damping ratio from {QUIET:g} times the friction at rest",
        _damping(_decay(driven, controller, QUIET)[1]),
        note="motors stick and the machine swings as if blocked, with velocity feedback too: no "
        "law in force damps motions smaller than its drives' friction",
    )


def _pole(controller: LocalFeedback, swing: FloatArray) -> Measure:
    error, measured, predicted = pole_error(controller, controller.linear, swing, 3)
    return Measure(
        f"with drives, {NAMES['dvf']}: pole of the decay against the linear loop with drives",
        error,
        1e-3,
        f"damping ratio {measured:.4f}, predicted {predicted:.4f}; "
        f"an encoder's step is {1.0 / COUNTS:g} of the release, and the swing falls a hundredfold",
    )


def pole_error(
    controller: LocalFeedback, linear: LinearMachine, swing: FloatArray, order: int
) -> tuple[float, float, float]:
    """Return the distance of a decay's pole from the linear loop's, and both damping ratios.

    The distance is per size of the pole; the ratios are the measured and the predicted one.
    """
    rates = closed_loop(linear, controller.law).rates
    found = decay_poles(swing, controller.period, order)
    found = found[found.imag > 0.0][0]
    nearest = rates[np.argmin(np.abs(rates - found))]
    ratios = -found.real / abs(found), -nearest.real / abs(nearest)
    return float(abs(found - nearest) / abs(nearest)), *ratios
