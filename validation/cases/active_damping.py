"""Active damping: force feedback, velocity feedback, HAC-LAC."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.linear import compliance, decay_poles, linear_modes, slowest_shape
from twin.analysis.platform import Platform
from twin.analysis.stiffness import with_gravity
from twin.basics.arrays import FloatArray
from twin.control.active_damping import (
    DirectVelocityFeedback,
    HacLac,
    IntegralForceFeedback,
    closed_loop,
    smallest_damping,
)
from twin.control.active_damping.closed_loop import (
    continuous_force_feedback,
    continuous_velocity_feedback,
)
from twin.control.active_damping.local import LocalFeedback, series_stiffness, suitable_leak
from twin.control.gains import drive_model
from twin.control.linear import linearise
from twin.control.linear.machine import spring_constants
from twin.engines.base import suitable_timestep
from twin.rotations import displaced, displacement
from twin.simulation.simulate import simulate
from twin.validation.case import (
    CaseResult,
    Curve,
    Entry,
    Measure,
    Panel,
    Plot,
    validation_case,
)
from twin.validation.cases.closed_loop import with_drives, without_drives
from twin.validation.measures.sampling import largest, length_scale, stroke

DISPLAY_NAMES = {
    "iff": "integral force feedback",
    "dvf": "direct velocity feedback",
    "hac_lac": "HAC-LAC",
    "analytic": "the reference",
    "mujoco": "MuJoCo",
}
"""Names of controllers and engines in the report."""

LARGE_RELEASE = 10.0
"""Release at which the spring of the leg that moves most pulls with this multiple of its friction
at rest."""

RELEASE_COUNTS = 1e4
"""Release in encoder counts where there is no friction."""

DECAY_PERIODS = 3
"""Periods of a free decay over which its damping ratio is taken."""

MAX_TIMESTEP = 5e-4
"""[s] Longest step of the engine: hardware transmissions are unstable above 0.67 ms."""

SIX_ACTUATORS_REASON = "the laws of active damping are made for six actuators"

ENGINE_FIDELITIES = (("analytic", "fast"), ("mujoco", "accurate"))
"""Engines that run the decays, with their fidelity."""

TESTED_GAINS = {"iff": 0.15, "dvf": 0.15}
"""Gains at which decays of struts are measured, relative to the best gain, at which the mode does
not oscillate."""

STRUT_RELEASE = 10.0
"""[m/s2] Displacement of struts at the release, per square of the control period. MuJoCo's loops
yield under the machine's weight by less than a hundredth of this swing."""

SERIES_RELEASE = 1e-4
"""[m] Displacement of series springs at the release; less in small machines."""

STRUT_SAMPLES = 150
"""Samples of a strut's decay, one in each control period."""

SERIES_SAMPLES = 500
"""Samples of a series spring's decay. It takes as many control periods or more: as many as the
slowest pole needs for a radian."""

OUTER_PERIODS = 4000
"""Minimum number of control periods in the outer loop's run."""

OUTER_CONSTANTS = 3.0
"""Minimum duration of the outer loop's run, in time constants of its slowest pole."""

MAX_LOAD = 20.0
"""[N] Largest load, down on the platform."""

SAG_FRACTION = 0.05
"""Largest sag of the platform under the load with force feedback alone, as a fraction of the
stroke."""

GAIN_GRID = np.geomspace(1e-1, 1e7, 17)
"""Gains at which the closed loop has to be stable."""


def driven_measures(platform: Platform) -> list[Entry]:
    """Return damping measured on a machine with drives."""
    force = IntegralForceFeedback(platform)
    controllers: dict[str, LocalFeedback] = {
        "iff": force,
        "dvf": DirectVelocityFeedback(platform),
        "hac_lac": HacLac(platform, inner=force),
    }
    # The slowest mode without control, with the actuators in series blocked.
    passive = force.linear.locked() if platform.n_deflections else force.linear
    modes = linear_modes(passive).swinging
    frequency, ratio = float(modes.frequencies[0]), float(modes.damping_ratios[0])
    measures: list[Entry] = []
    has_friction = bool(drive_model(platform).friction.any())
    for name, controller in controllers.items():
        swing = _decay(controller, frequency)
        measures.append(
            Measure(
                f"with drives, {DISPLAY_NAMES[name]}: damping ratio over three periods of a free "
                "decay",
                _damping(swing),
                ratio,
                f"more than the {ratio:.4f} without control, which a law of the "
                "wrong sign takes away; from the swing's range in the first and the third period "
                "of its mode"
                + (
                    f"; released at {LARGE_RELEASE:g} times the friction at rest"
                    if has_friction
                    else ""
                ),
                at_least=True,
            )
        )
        if not has_friction and name == "dvf":
            measures.append(_pole(controller, swing))
    return measures


def _decay(controller: LocalFeedback, frequency: float) -> FloatArray:
    """Return the slowest mode's coordinate `(k,)` at the control instants, released from rest.

    `frequency` [Hz] is that of the mode.
    """
    platform = controller.platform
    shape, mode_row = slowest_shape(controller.linear)
    length_change = largest(platform.jacobian(platform.home) @ shape)
    drives = drive_model(platform)
    spring_compression = RELEASE_COUNTS * float(drives.resolution.max())
    if drives.friction.any():
        spring_compression = LARGE_RELEASE * float(
            (drives.breakaway / spring_constants(platform)[0]).max()
        )
    step = min(MAX_TIMESTEP, suitable_timestep(platform))
    # The tolerance keeps rounding from adding a substep where the period is a whole multiple.
    substeps = int(np.ceil(controller.period / step - 1e-9))
    trajectory = simulate(
        platform,
        int(np.ceil(DECAY_PERIODS / frequency / controller.period)) * controller.period,
        displaced(platform.home, shape * (spring_compression / length_change)),
        deflection=controller.linear.point.deflection,
        controller=controller,
        timestep=controller.period / substeps,
        every=substeps,
        fidelity="fast",
    )
    return displacement(trajectory.pose, platform.home) @ mode_row


def _damping(swing: FloatArray) -> float:
    """Return the damping ratio from the ranges of the first and the last of three periods."""
    first_range, *_, last_range = map(np.ptp, np.array_split(swing, DECAY_PERIODS))
    return float(np.log(first_range / last_range) / (2.0 * np.pi * (DECAY_PERIODS - 1)))


def _pole(controller: LocalFeedback, swing: FloatArray) -> Measure:
    rates = closed_loop(controller.linear, controller.law).rates
    poles = decay_poles(swing, controller.period, 3)
    measured = complex(poles[poles.imag > 0.0][0])
    predicted = complex(rates[np.argmin(np.abs(rates - measured))])
    return Measure(
        f"with drives, {DISPLAY_NAMES['dvf']}: pole of the decay against the linear loop with "
        "drives",
        abs(measured - predicted) / abs(predicted),
        1e-3,
        f"damping ratio {_ratio(measured):.4f}, predicted {_ratio(predicted):.4f}; "
        f"an encoder's step is {1.0 / RELEASE_COUNTS:g} of the release, and the swing falls a "
        "hundredfold",
    )


class Release(NamedTuple):
    """A release of the machine from rest along its slowest mode, and how its decay is sampled."""

    start: FloatArray
    """`(6,)` displacement [m], [rad] of the platform from home"""
    row: FloatArray
    """`(6,)` row that gives the mode's coordinate of a displacement"""
    samples: int
    every: int
    """number of control periods between samples"""


@validation_case(
    kinds=("strut", "viscoelastic"),
    because="only legs with springs have modes to be damped",
    condition=lambda platform: "" if platform.n_actuators == 6 else SIX_ACTUATORS_REASON,
    run_time=2.5,
)
def check_active_damping(platform: Platform) -> CaseResult:
    """Active damping: force feedback, velocity feedback, HAC-LAC.

    Local loops in every leg damp the modes: integral force feedback and direct velocity feedback.
    Their gains damp the worst mode best. The slowest mode's free decay is measured on the nonlinear
    machine without drives, in the analytic engine and in MuJoCo. Its pole is compared with that of
    the sampled linear loop's decay from the same release, found in the same way. An outer loop on
    the pose then removes the displacement that the local loops allow. In configuration hardware all
    of it runs through delay, lag, motors on transmissions, dry friction and encoders. The case
    measures the damping that is left.
    """
    driven_machine = with_drives(platform)  # the machine itself where it has no such configuration
    has_drives = driven_machine is not platform
    platform = without_drives(platform)
    force, velocity = IntegralForceFeedback(platform), DirectVelocityFeedback(platform)
    decays, plot = _decays({"iff": force, "dvf": velocity})
    measures: list[Entry] = [_all_gains(platform), *decays, *_outer(platform, force)]
    if has_drives:
        measures += driven_measures(driven_machine)
    return check_active_damping.result(platform, measures, (plot,))


def _all_gains(platform: Platform) -> Measure:
    """Return the worst damping over all gains of the continuous collocated laws."""
    floating = with_gravity(platform, 0.0)
    linear, damping_ratios = linearise(floating), []
    for gain in GAIN_GRID:
        laws = [continuous_velocity_feedback(floating, gain, stiffness=series_stiffness(linear))]
        if not platform.n_deflections:
            laws.append(continuous_force_feedback(floating, gain, leak=suitable_leak(linear)))
        damping_ratios += [smallest_damping(closed_loop(linear, law).poles) for law in laws]
    return Measure(
        f"smallest damping ratio over gains from {GAIN_GRID[0]:g} to {GAIN_GRID[-1]:g}, not "
        "sampled",
        min(damping_ratios),
        0.0,
        "collocated laws dissipate: no gain makes a mode grow; gravity off",
        at_least=True,
    )


def _decays(controllers: dict[str, LocalFeedback]) -> tuple[list[Entry], Plot]:
    measures: list[Entry] = []
    panels = []
    for name, controller in controllers.items():
        swinging_controller = _swinging_controller(name, controller)
        release = _release(swinging_controller)
        predicted = _decay_pole(
            swinging_controller, release, _linear_swing(swinging_controller, release)
        )
        curves: list[Curve] = []
        for engine, fidelity in ENGINE_FIDELITIES:
            time, swing = _swing(swinging_controller, release, engine, fidelity)
            measured = _decay_pole(swinging_controller, release, swing)
            measures.append(
                Measure(
                    f"{DISPLAY_NAMES[name]} in {DISPLAY_NAMES[engine]}: pole of the slowest mode's "
                    "decay against the linear loop",
                    abs(measured - predicted) / abs(predicted),
                    2e-4,
                    f"{_gain_text(name, controller)}damping ratio {_ratio(measured):.5f}, "
                    f"predicted {_ratio(predicted):.5f}; loops of impedance 0.9999 are soft by "
                    "1e-4",
                )
            )
            # The engines' curves lie on each other.
            style = "dash" if curves else "line"
            curves.append(Curve(DISPLAY_NAMES[engine], time, swing / abs(swing[0]), style))
        panels.append(Panel(f"{DISPLAY_NAMES[name]}: slowest mode", *curves))
    return measures, Plot("Free decay of the slowest mode", "time [s]", *panels)


def _gain_text(name: str, controller: LocalFeedback) -> str:
    """Return at which part of the best gain a decay is measured; empty for the whole of it."""
    if controller.platform.n_deflections:
        return ""
    return f"at {TESTED_GAINS[name]:g} of the best gain; "


def _swinging_controller(name: str, best_controller: LocalFeedback) -> LocalFeedback:
    """Return a controller whose slowest mode still swings."""
    platform = best_controller.platform
    if platform.n_deflections:
        return best_controller
    best_gain = -float(best_controller.law.feedthrough[0, 1])
    if name == "dvf":
        return DirectVelocityFeedback(platform, gain=TESTED_GAINS[name] * best_gain)
    factor = -float(best_controller.law.feedthrough[0, 2])
    gain = -np.log(1.0 - factor) / best_controller.period
    return IntegralForceFeedback(platform, gain=TESTED_GAINS[name] * gain)


def _release(controller: LocalFeedback) -> Release:
    """Return a release of the slowest mode that suits the machine's size and its poles."""
    shape, mode_row = slowest_shape(controller.linear)
    shape = shape / largest(shape)
    if not controller.platform.n_deflections:
        amplitude = STRUT_RELEASE * controller.period**2
        return Release(amplitude * shape, mode_row, STRUT_SAMPLES, 1)
    rates = closed_loop(controller.linear, controller.law).rates
    radian_time = 1.0 / float(np.abs(rates[rates.imag > 0.0]).min())
    sample_periods = max(1, ceil(radian_time / controller.period / SERIES_SAMPLES))
    amplitude = SERIES_RELEASE * length_scale(controller.platform)
    return Release(amplitude * shape, mode_row, SERIES_SAMPLES, sample_periods)


def _linear_swing(controller: LocalFeedback, release: Release) -> FloatArray:
    """Return amplitudes `(k,)` of the slowest mode after a release of the linear loop."""
    linear = controller.linear
    loop = closed_loop(linear, controller.law)
    sample_transition = np.linalg.matrix_power(loop.A, release.every)
    state, swing = np.zeros(len(sample_transition)), np.empty(release.samples + 1)
    state[: linear.size] = np.linalg.lstsq(linear.displacement_map, release.start, rcond=None)[0]
    for k in range(len(swing)):
        swing[k] = release.row @ linear.displacement_map @ state[: linear.size]
        state = sample_transition @ state
    return swing


def _decay_pole(controller: LocalFeedback, release: Release, swing: FloatArray) -> complex:
    """Return the pole [1/s] of a swing `(k,)` that has most of its amplitude."""
    fitted_poles = 5 if controller.platform.n_deflections else 3
    poles = decay_poles(swing, release.every * controller.period, fitted_poles)
    return complex(poles[poles.imag > 0.0][0])


def _ratio(pole: complex) -> float:
    """Return the damping ratio of a pole."""
    return -pole.real / abs(pole)


def _swing(
    controller: LocalFeedback, release: Release, engine: str, fidelity: str
) -> tuple[FloatArray, FloatArray]:
    """Return times and amplitudes `(k,)` of the slowest mode after a release."""
    platform = controller.platform
    trajectory = simulate(
        platform,
        release.samples * release.every * controller.period,
        displaced(platform.home, release.start),
        deflection=controller.linear.point.deflection,
        controller=controller,
        engine=engine,
        timestep=controller.period,
        every=release.every,
        fidelity=fidelity,
    )
    return trajectory.time, displacement(trajectory.pose, platform.home) @ release.row


def _outer(platform: Platform, inner: IntegralForceFeedback) -> Iterator[Entry]:
    displacements = []
    outer = HacLac(platform, inner=inner)
    # The machine bears the load with force feedback alone.
    heave_compliance = abs(compliance(inner.linear, [0.0], law=inner.law)[0, 2, 2])
    load = min(MAX_LOAD, SAG_FRACTION * stroke(platform) / float(heave_compliance))
    slowest_rate, periods = float(-outer.outer.poles.real.max()), OUTER_PERIODS
    if slowest_rate > 0.0:
        periods = max(periods, ceil(OUTER_CONSTANTS / slowest_rate / outer.period))
    for controller in (inner, outer):
        trajectory = simulate(
            platform,
            periods * controller.period,
            deflection=inner.linear.point.deflection,
            controller=controller,
            wrench=[0.0, 0.0, -load, 0.0, 0.0, 0.0],
            timestep=controller.period,
            every=periods,
            fidelity="fast",
        )
        if trajectory.stopped:
            yield Measure("stop under the load", 1.0, 0.0, trajectory.stopped)
            return
        displacements.append(largest(displacement(trajectory.pose[-1], platform.home)))
    yield Measure(
        f"HAC-LAC: displacement under {load:.3g} N, per that with force feedback alone",
        displacements[1] / displacements[0],
        0.1,
        f"integral action; {periods * outer.period:.3g} s are a few of its time constants",
    )
