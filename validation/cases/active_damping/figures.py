"""Figures of active damping: poles over the gain, transmissibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from twin.analysis.frequency.linear.response import linear_modes, swinging, transmissibility
from twin.control.active_damping import root_locus
from twin.control.active_damping.laws import LocalLaw, velocity_feedback
from twin.control.active_damping.local import LocalFeedback
from twin.control.active_damping.local_design import force_law, series_stiffness, suitable_leak
from twin.control.linear import LinearMachine
from twin.validation.results import Curve, Panel, Plot

NAMES = {
    "iff": "integral force feedback",
    "dvf": "direct velocity feedback",
    "hac_lac": "HAC-LAC",
    "analytic": "the reference",
    "mujoco": "MuJoCo",
}
"""Words for controllers and engines."""

NEAR_HALF = 0.05
"""Relative distance from half the sampling frequency."""


def locus_plot(linear: LinearMachine, period: float) -> Plot:
    """Return frequencies and damping ratios over the gains of both laws, sampled."""
    platform, leak = linear.platform, suitable_leak(linear)
    held = series_stiffness(linear)

    def by_force(gain: float) -> LocalLaw:
        return force_law(linear, gain, period, leak)

    def by_rate(gain: float) -> LocalLaw:
        return velocity_feedback(platform, gain, period, stiffness=held)

    best = {
        "iff": 100.0 if platform.n_deflections else 4e3,
        "dvf": 1e3 if platform.n_deflections else 3e4,
    }
    frequency: list[Curve] = []
    ratio: list[Curve] = []
    for name, law_of in (("iff", by_force), ("dvf", by_rate)):
        gains = best[name] * np.geomspace(0.01, 3.0, 25)
        place, found, damping = swinging(gains / best[name], root_locus(linear, law_of, gains))
        label = f"{NAMES[name]}, per {best[name]:g} {'1/s' if name == 'iff' else 'N s/m'}"
        frequency.append(Curve(label, place, found, "markers"))
        ratio.append(Curve(label, place, damping, "markers"))
    return Plot(
        "Poles over the gain",
        "gain",
        Panel("frequency [Hz]", *frequency, log_y=True),
        Panel("damping ratio", *ratio),
        log_x=True,
        caption=f"Of the loop sampled every {1e3 * period:g} ms."
        + _growing(frequency, ratio, period),
    )


def _growing(frequency: Sequence[Curve], ratio: Sequence[Curve], period: float) -> str:
    """Return from which gain on a mode of the sampled loop grows; empty where none does."""
    grows = np.concatenate([curve.y < 0.0 for curve in ratio])
    if not grows.any():
        return ""
    gain = np.concatenate([curve.x for curve in ratio])[grows].min()
    text = f" A negative ratio, from {gain:.2g} on, is of a mode that grows"
    half = 0.5 / period
    found = np.concatenate([curve.y for curve in frequency])[grows]
    if np.abs(found / half - 1.0).max() > NEAR_HALF:
        return f"{text}."
    return f"{text} at {half:g} Hz, half the sampling frequency: sampling makes it, not the law."


def transmissibility_plot(
    linear: LinearMachine, passive: LinearMachine, controllers: Mapping[str, LocalFeedback]
) -> Plot:
    """Return the transmissibility from the base, passive and with each controller's law."""
    slow = linear_modes(passive).swinging.frequencies
    fastest = 0.2 / max(controller.period for controller in controllers.values())
    grid = np.geomspace(0.1 * slow[0], min(10.0 * slow[-1], fastest), 300)
    panels = []
    for axis, name in ((0, "x"), (2, "z")):
        curves = [Curve("passive", grid, np.abs(transmissibility(passive, grid)[:, axis, axis]))]
        for kind, controller in controllers.items():
            values = transmissibility(linear, grid, law=controller.law)
            curves.append(Curve(NAMES[kind], grid, np.abs(values[:, axis, axis])))
        panels.append(Panel(f"base to platform, {name}", *curves, log_y=True))
    return Plot("Transmissibility", "frequency [Hz]", *panels, log_x=True)
