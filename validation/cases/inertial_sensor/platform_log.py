"""Logs of the inertial sensor on the thesis' platform, driven in pitch by its cascade.

The machine has its drives, encoders and sensor (`hardware`). Log, reference and platform share one
clock, so no delay is searched for: those of platform and sensor stay where they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import spectra
from twin.analysis.inertial.compensation import Compensation, compensate
from twin.analysis.inertial.response import ChannelResponse, InertialComparison, compare_log
from twin.analysis.platform import Platform, load
from twin.basics.arrays import FloatArray
from twin.control.cascade import Cascade
from twin.control.observer.design import lumped_mass
from twin.engines import make_engine
from twin.motion import Motion, MultiSineMotion, RecordedMotion
from twin.plant.inertial_sensor import InertialLog
from twin.simulation.simulate import simulate
from twin.validation.cases.tank_motion import tank_motion

PRINTED, PROPORTIONAL = "gains as printed", "gains in proportion"
"""Of the velocity loops: the thesis' 20 N per mm/s, and as much more as the armature is heavier
than what the thesis' model moves."""

PERIOD, STEP = 1e-3, 5e-4
"""[s] of the cascade, and of the engine and the drives"""

DURATION, TANK_DURATION = 4.0, 3.0
"""[s] of runs along sines and along the tank motion"""

FADE, BEYOND = 0.5, 0.01
"""[s] rise and fall of the sines; how far a reference goes beyond the run"""

BAND = (0.5, 70.0)
"""[Hz] thesis, section 4.3.2.3: content of the tank motion in pitch"""

RATE, CORNER = 0.06, 10.0
"""[rad/s] root mean square of the pitch rate, [Hz] above which it falls as a vehicle's does: ten
times the sensor's noise, and within the drives' forces"""

TANK_BEGIN = 2.0
"""[s] from which the tank motion has its full size"""

COHERENT = 0.8
"""From which a ratio is trusted, as in the compensation"""

PITCH, CHANNEL = 4, "wy"


class LoggedRun(NamedTuple):
    """A platform driven in pitch, at `k` control instants, and what its sensor wrote down."""

    motion: Motion
    """that was given to the controller"""
    time: FloatArray
    """`(k,)` [s]"""
    rate: FloatArray
    """`(k,)` [rad/s] of the platform in pitch"""
    log: InertialLog
    found: InertialComparison
    """the log against the motion, on one clock"""

    @property
    def response(self) -> ChannelResponse:
        """The pitch channel of the log against the motion."""
        return self.found.responses[CHANNEL]

    @property
    def trusted(self) -> FloatArray:
        """Frequencies of the response in `BAND` at which it is coherent, as truth values."""
        found = self.response
        inside = (found.frequency >= BAND[0]) & (found.frequency <= BAND[1])
        return np.asarray(inside & (found.coherence >= COHERENT))

    def rate_of(self, motion: Motion) -> FloatArray:
        """Return the pitch rate `(k,)` of a motion at the same times."""
        return motion(self.time).twist[:, PITCH]

    def difference(self, motion: Motion) -> float:
        """Return the rms difference [rad/s] of the platform's pitch rate from a motion's."""
        inside = (self.time > FADE) & (self.time < self.time[-1] - FADE)
        off = (self.rate - self.rate_of(motion))[inside]
        return float(np.sqrt(np.mean(off**2)))

    def amplification(self) -> FloatArray:
        """Return the platform's own ratio at the response's frequencies, by the same windows."""
        every = round(1.0 / (self.found.log.rate * PERIOD))
        given, had = (part[::every] for part in (self.rate_of(self.motion), self.rate))
        size = 2 * (len(self.response.frequency) - 1)
        own = spectra(given, had, every * PERIOD, size, detrend="linear")
        return np.asarray(np.abs(own.transfer))


class PlatformLogs(NamedTuple):
    """All runs of the case."""

    hardware: Platform
    reference: Motion
    """sines over the whole band"""
    runs: dict[str, LoggedRun]
    """gains -> along the reference"""
    lowered: dict[str, LoggedRun]
    """gains -> the reference divided by the ratio that the log gave"""
    turned: LoggedRun
    """gains in proportion: by the ratio and the phase"""
    tank: LoggedRun
    """gains as printed: tank motion in pitch"""
    change: Compensation
    """of the gains in proportion, by the ratio"""


def platform_logs() -> PlatformLogs:
    """Drive the platform along the reference, and with what its logs say taken out of it."""
    hardware = load("stewart", "hardware")
    heavier = lumped_mass(hardware)[0] / lumped_mass(load("stewart"), drives=False)[0]
    gains = {PRINTED: 1.0, PROPORTIONAL: float(heavier)}
    frequency = np.arange(BAND[0], BAND[1] + 0.25, 0.5)
    shape = 1.0 / np.hypot(1.0, frequency / CORNER)
    size = RATE * np.sqrt(2.0 / (shape**2).sum()) * shape / (2.0 * np.pi * frequency)
    sines = MultiSineMotion(
        hardware.home,
        frequencies=frequency,
        amplitude={"pitch": size},
        phases="random",
        seed=3,
        duration=DURATION + BEYOND,
        fade_in=FADE,
        fade_out=FADE,
    )
    # Evaluated many times: a spline is ten times faster than 140 sines.
    time = np.asarray(np.arange(round(sines.duration / PERIOD) + 1) * PERIOD)
    reference = _pitch_of(sines, time)
    runs = {name: logged(hardware, reference, share) for name, share in gains.items()}
    changes = {name: compensate(reference, run.found) for name, run in runs.items()}
    lowered = {
        name: logged(hardware, _recorded(change), gains[name]) for name, change in changes.items()
    }
    both = compensate(reference, runs[PROPORTIONAL].found, phase=True)
    turned = logged(hardware, _recorded(both), gains[PROPORTIONAL])
    tank = logged(hardware, _tank_in_pitch(), 1.0, TANK_DURATION)
    return PlatformLogs(hardware, reference, runs, lowered, turned, tank, changes[PROPORTIONAL])


def logged(machine: Platform, motion: Motion, gain: float, duration: float = DURATION) -> LoggedRun:
    """Return the run of a machine along a motion, by the cascade with `gain` times its gains."""
    own = Cascade(machine).loop_gains[0, 0]
    controller = Cascade(
        machine,
        motion,
        period=PERIOD,
        velocity_gain=gain * own,
        feedforward_start=0.0,
        feedforward_rise=0.0,
    )
    reference = controller.reference
    engine = make_engine("analytic", machine, STEP, "fast")
    course = simulate(
        machine,
        duration,
        pose=reference.pose[0],
        twist=reference.twist[0],
        controller=controller,
        engine=engine,
        every=round(PERIOD / STEP),
        progress=False,
    )
    engine.close()
    sensor = machine.parameters.imu
    assert sensor is not None and sensor.output_rate is not None
    # The loop reads the sensor every period; it writes a line when it has a new reading.
    every = round(1.0 / (sensor.output_rate * PERIOD))
    lines = course.signals["inertial"][::every]
    log = InertialLog(course.signals["time"][::every], lines[:, :3], lines[:, 3:])
    found = compare_log(machine, motion, log, sensor, offset=0.0)
    return LoggedRun(motion, course.time, course.twist[:, PITCH], log, found)


def _recorded(change: Compensation) -> RecordedMotion:
    return _in_pitch(load("stewart").home, change.time, change.axes["pitch"])


def _tank_in_pitch() -> RecordedMotion:
    time = np.asarray(np.arange(round((TANK_DURATION + BEYOND) / PERIOD) + 1) * PERIOD)
    return _pitch_of(tank_motion(load("stewart")), time, TANK_BEGIN)


def _pitch_of(motion: Motion, time: FloatArray, begin: float = 0.0) -> RecordedMotion:
    """Return the pitch of a motion alone, from a time [s] on."""
    values = motion.axes(time + begin).values[:, motion.axis_names.index("pitch")]
    return _in_pitch(motion.center, time, values)


def _in_pitch(center: FloatArray, time: FloatArray, pitch: FloatArray) -> RecordedMotion:
    return RecordedMotion(center, time, {"pitch": pitch}, check_size=False)
