"""Amplification of the thesis' platform, read from the log of its inertial sensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import spectra
from twin.analysis.inertial.report import decibels
from twin.basics.arrays import FloatArray
from twin.validation.cases.inertial_sensor.platform_log import (
    BAND,
    CHANNEL,
    PERIOD,
    PITCH,
    PRINTED,
    PROPORTIONAL,
    LoggedRun,
    PlatformLogs,
)
from twin.validation.published.papers import THESIS
from twin.validation.results import Curve, Entry, Measure, Panel, Plot, Statement, Table

BANDS = ((0.5, 5.0), (5.0, 15.0), (15.0, 30.0), (30.0, 50.0), (50.0, 70.0))
"""[Hz] in which the ratio is taken together"""

SLOW = (1.0, 15.0)
"""[Hz] far below the filter's 75 Hz, where its delay is that of any frequency"""


def amplification_measures(logs: PlatformLogs) -> Iterator[Entry]:
    """Yield errors of what the logs say, against the platform's own motion."""
    for name, run in logs.runs.items():
        kept = run.trusted
        error = decibels(run.response.amplification[kept] / run.amplification()[kept])
        spread = 20.0 / np.log(10.0) * np.sqrt(np.mean(run.response.uncertainty[kept] ** 2))
        yield Measure(
            f"{name}: amplification from the log against the platform's own, rms at coherent "
            "frequencies",
            np.sqrt(np.mean(error**2)),
            1.0,
            f"noise and backlash cause {spread:.2f} dB; the filter and the steps cause the rest",
            unit="dB",
        )
    found, known = delay_of_log(logs.runs[PROPORTIONAL]), filter_delay(logs)
    yield Measure(
        f"delay of the log against the filter's group delay of {1e3 * known:.2f} ms, error",
        abs(found - known),
        2e-4,
        "noise at the frequencies up to 15 Hz; the log's sample time is 5 ms",
        unit="s",
    )
    before = logs.runs[PROPORTIONAL].difference(logs.reference)
    yield Measure(
        f"{PROPORTIONAL}: difference from the reference without compensation, per that with "
        "amplification and phase compensated",
        before / logs.turned.difference(logs.reference),
        5.0,
        "an amplification known to 0.5 dB, and the phase as well, leave 5 of 44 percent",
        at_least=True,
    )


def filter_delay(logs: PlatformLogs) -> float:
    """Return the group delay [s] of the sensor's filter at low frequencies: 2 zeta / omega."""
    sensor = logs.hardware.parameters.imu
    assert sensor is not None and sensor.bandwidth is not None
    return 2.0 * sensor.damping_ratio / (2.0 * np.pi * sensor.bandwidth)


def delay_of_log(run: LoggedRun) -> float:
    """Return the delay [s] of the readings behind the platform, from the slope of the phase."""
    every = round(1.0 / (run.found.log.rate * PERIOD))
    given, read = run.rate[::every], run.log.angular_rate[:, 1]
    found = spectra(given, read, every * PERIOD, round(1.0 / (every * PERIOD)), detrend="linear")
    slow = (found.frequency >= SLOW[0]) & (found.frequency <= SLOW[1])
    turn, weight = 2.0 * np.pi * found.frequency[slow], np.abs(found.cross[slow])
    return float(-(weight * turn * np.angle(found.cross[slow])).sum() / (weight * turn**2).sum())


class BandRatios(NamedTuple):
    """Ratio of a log to its motion in each of `BANDS` [dB], of all that the motion has there."""

    ratio: FloatArray
    uncertainty: FloatArray
    """one standard deviation"""


def band_ratios(run: LoggedRun) -> BandRatios:
    """Return the ratios that the log of a run gives."""
    found = run.response
    values, spreads = [], []
    for low, high in BANDS:
        kept = (found.frequency >= low) & (found.frequency <= high)
        had = found.reference[kept] * found.amplification[kept] ** 2
        values.append(10.0 * np.log10(had.sum() / found.reference[kept].sum()))
        spreads.append(np.linalg.norm(had * found.uncertainty[kept]) / had.sum())
    return BandRatios(np.array(values), 20.0 / np.log(10.0) * np.array(spreads))


def amplification_table(logs: PlatformLogs) -> Table:
    """Return differences from the reference, and ratios by band, of all runs."""
    named = dict(logs.runs)
    named |= {f"{name}, command decreased": run for name, run in logs.lowered.items()}
    named[f"{PROPORTIONAL}, ratio and phase taken out"] = logs.turned
    rows = [
        (
            name,
            f"{1e3 * run.difference(logs.reference):.3g}",
            *(_decibels(ratio) for ratio in band_ratios(run).ratio),
        )
        for name, run in named.items()
    ]
    columns = [f"ratio {low:g} to {high:g} Hz [dB]" for low, high in BANDS]
    return Table(
        "Pitch under the thesis' cascade",
        ("run", "rms difference from the reference pitch rate [mrad/s]", *columns),
        tuple(rows),
        "Differences at the same time, no delay taken out; ratios from the log, of the motion that "
        "the controller was given.",
    )


def amplification_plots(logs: PlatformLogs) -> tuple[Plot, ...]:
    """Return ratio and coherence over frequency, and a closer view of the tank motion."""
    sizes, coherences = [], []
    for name, run in logs.runs.items():
        found = run.response
        shown = (found.frequency >= BAND[0]) & (found.frequency <= BAND[1])
        frequency = found.frequency[shown]
        ratio = decibels(found.amplification[shown])
        sizes.append(Curve(f"{name}, log", frequency, ratio, "markers"))
        sizes.append(Curve(f"{name}, platform", frequency, decibels(run.amplification()[shown])))
        coherences.append(Curve(name, frequency, found.coherence[shown]))
    change = logs.change
    some = (change.frequency >= BAND[0]) & (change.frequency <= BAND[1])
    gain = decibels(np.abs(change.gains["pitch"][some]))
    sizes.append(Curve(f"{PROPORTIONAL}, compensation", change.frequency[some], gain, "dash"))
    tank = logs.tank
    time, read = tank.log.time, tank.log.angular_rate[:, 1]
    later = time - filter_delay(logs)
    given = tank.motion(np.maximum(later, 0.0)).twist[:, PITCH]
    view = (time > 1.0) & (time < 2.0)
    return (
        Plot(
            "Amplification from the inertial log",
            "frequency [Hz]",
            Panel("ratio [dB]", *sizes),
            Panel("coherence", *coherences),
            caption="The thesis prints 4 dB at 70 Hz (section 4.3.2.3, of an actuator).",
        ),
        Plot(
            "Tank motion in pitch, a closer view",
            "time [s]",
            Panel(
                "pitch rate [rad/s]",
                Curve("reference, later by the filter's delay", time[view], given[view], "dash"),
                Curve(f"log ({CHANNEL}), {PRINTED}", time[view], read[view]),
            ),
            caption="As thesis figure 4.34; the recorded track is not published.",
        ),
    )


def amplification_statements(logs: PlatformLogs) -> tuple[Statement, ...]:
    """Return the thesis' statement about compensation beside ours, with the printed gains."""
    printed, proportional = logs.runs[PRINTED], logs.runs[PROPORTIONAL]
    sensor = logs.hardware.parameters.imu
    assert sensor is not None and sensor.gyroscopes is not None
    noise = sensor.gyroscopes.noise
    left = {name: run.difference(logs.reference) for name, run in logs.lowered.items()}
    return (
        THESIS["decreased_demand"].judged(
            "The rms difference of the pitch rates falls from "
            f"{1e3 * printed.difference(logs.reference):.0f} to {1e3 * left[PRINTED]:.0f} mrad/s; "
            "with gains in proportion, from "
            f"{1e3 * proportional.difference(logs.reference):.0f} to "
            f"{1e3 * left[PROPORTIONAL]:.0f} mrad/s. The sensor's noise is {1e3 * noise:.1f} "
            "mrad/s.",
            max(left.values()) < noise,
            "the platform also lags, and more at higher frequencies: with the phase compensated as "
            f"well, {1e3 * logs.turned.difference(logs.reference):.1f} mrad/s remain",
        ),
    )


def _decibels(value: float) -> str:
    return f"{round(float(value), 1) + 0.0:.1f}"
