"""Frequency responses, their estimation from records, and the excitation that makes the records.

A response has the complex gain over frequency, its coherence, bandwidth, peak and delay.

Sweep (H1): with the spectra X, Y of Hann windows that overlap by half,

    G = sum X* Y / sum |X|^2,   coherence = 1 - sum n / (n - 1) |Y - G X|^2 / sum |Y|^2,

unbiased by noise of the output. The sums are over the n windows in which the sweep passes a
frequency: in the others friction brings harmonics of lower frequencies, which are larger than the
response to higher ones. The coherence is that of a frequency with its neighbours, as a few windows
alone show little of the noise. The standard deviation of G per magnitude is
sqrt((1 - coherence) / (2 n coherence)).

Whole record: for an excitation from rest to rest whose response has died away at the end, the
response is the ratio of the two spectra without any window: no leakage, whatever the damping. The
coherence is that of each line with its neighbours, 1 - n / (n - 1) (1 - |sum X* Y|^2 / (sum |X|^2
sum |Y|^2)) over n lines. G is that of one line alone: its deviation is that of n = 1.

Stepped sine: a sine, a cosine, a constant and a drift are fitted to both signals by least squares
over the settled part of a dwell. The ratio is the gain; what else the output has gives coherence
and deviation.

Reference:
    Bendat and Piersol, Random Data, 4th edition (2010), sections 6.1 and 9.2.

Excitation of a machine: sines of one peak speed, swept or stepped over frequencies. With a constant
peak speed v a sine of frequency f has the amplitude v / (2 pi f): small where it could overload the
drives, large where it could vanish in the encoders. The sweep is logarithmic,
omega = omega_0 exp(a t):

    x = (v / omega) sin(phi),   x' = v cos(phi) - a x,   x'' = -v omega sin(phi) - a x'.

Stepped sines dwell on every frequency for whole periods, so that the reference and its speed go on
without a jump from one to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import nan
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    ComplexArray,
    FloatArray,
    IndexArray,
    as_floats,
    one_of,
    positive,
    whole_number,
)
from twin.charts.panels import Axes, Line, panels_figure
from twin.control.cascade import takes_positions
from twin.control.controller import DEFAULT_PERIOD
from twin.control.gains import drive_model, suitable_velocity_loop
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import Fade
from twin.motion.recording import free_axes
from twin.plant.drives import actuator_limit, equivalent_inertia

CUT_OFF = -3.0
"""[dB] Magnitude at which the bandwidth ends."""

MIN_COHERENCE = 0.5
"""Coherence below which a point is left out of figures."""


class FrequencyResponse(NamedTuple):
    """Gain from one signal to another, lowest frequency first."""

    frequency: FloatArray
    """frequencies `(k,)` [Hz]"""
    gain: ComplexArray
    """`(k,)` complex gain, output over input"""
    coherence: FloatArray
    """`(k,)` fraction of the output power that follows linearly from the input, 0 to 1"""
    deviation: FloatArray
    """`(k,)` relative standard deviation of the gain"""

    @property
    def magnitude(self) -> FloatArray:
        """Magnitude `(k,)` [dB]."""
        with np.errstate(divide="ignore"):
            return 20.0 * np.log10(np.abs(self.gain))

    @property
    def phase(self) -> FloatArray:
        """Phase `(k,)` [rad], unwrapped."""
        return np.unwrap(np.angle(self.gain))

    @property
    def trusted(self) -> FrequencyResponse:
        """The points whose coherence is at least one half."""
        return self.only(self.coherence >= MIN_COHERENCE)

    def only(self, kept: Any) -> FrequencyResponse:
        """Return the points selected by indices or by a mask `(k,)`."""
        return FrequencyResponse(*(values[kept] for values in self))

    def magnitude_at(self, frequency: Any) -> FloatArray:
        """Return magnitudes [dB] at frequencies [Hz], on straight lines between the points.

        Raises:
            InputError: a frequency outside the points.
        """
        hertz = as_floats(frequency, "frequency")
        if hertz.min() < self.frequency[0] or hertz.max() > self.frequency[-1]:
            raise InputError(
                "frequency",
                f"must lie from {self.frequency[0]:.4g} to {self.frequency[-1]:.4g} Hz",
            )
        return np.interp(hertz, self.frequency, self.magnitude)


class ResponseFigures(NamedTuple):
    """Bandwidth, peak and delay of a closed loop; not-a-number where there is none."""

    bandwidth: float
    """frequency [Hz] above the peak where the magnitude first falls below -3 dB"""
    peak: float
    """largest magnitude [dB]"""
    peak_frequency: float
    """frequency of the largest magnitude [Hz]"""
    delay: float
    """[s] slope of the phase up to half the bandwidth, or over all points where there is none"""


def exact_response(frequency: FloatArray, gain: Any) -> FrequencyResponse:
    """Return a response that was calculated, not measured: coherence one, no deviation.

    Raises:
        InputError: shapes that differ, not finite.
    """
    hertz, complex_gain = as_floats(frequency, "frequency"), np.asarray(gain, dtype=complex)
    if hertz.shape != complex_gain.shape or hertz.ndim != 1 or not np.isfinite(complex_gain).all():
        raise InputError("frequency, gain", "must be two lists of the same length, finite")
    return FrequencyResponse(hertz, complex_gain, np.ones_like(hertz), np.zeros_like(hertz))


def response_figures(response: FrequencyResponse) -> ResponseFigures:
    """Return bandwidth, peak and delay of the trusted points of a response.

    Raises:
        InputError: fewer than two trusted points.
    """
    trusted_response = response.trusted
    if len(trusted_response.frequency) < 2:
        raise InputError(
            "response",
            f"has fewer than two points of coherence {MIN_COHERENCE:g} or more; excite it more "
            "strongly",
        )
    magnitude = trusted_response.magnitude
    peak_index = int(magnitude.argmax())
    bandwidth = nan
    falls_below = np.flatnonzero(magnitude[peak_index:] < CUT_OFF)
    if falls_below.size and falls_below[0] > 0:
        last_above = peak_index + int(falls_below[0]) - 1
        low, high = magnitude[last_above], magnitude[last_above + 1]
        crossing_fraction = (CUT_OFF - low) / (high - low)
        step = trusted_response.frequency[last_above + 1] - trusted_response.frequency[last_above]
        bandwidth = float(trusted_response.frequency[last_above] + crossing_fraction * step)
    high_end = 0.5 * bandwidth if np.isfinite(bandwidth) else float(trusted_response.frequency[-1])
    return ResponseFigures(
        bandwidth,
        float(magnitude[peak_index]),
        float(trusted_response.frequency[peak_index]),
        delay_of(trusted_response, high_end),
    )


def delay_of(response: FrequencyResponse, high: float) -> float:
    """Return the delay [s] whose phase is nearest to that of the points up to `high` [Hz].

    A line through the origin, weighted by coherence. Not-a-number without points.

    Raises:
        InputError: a frequency that is not above zero.
    """
    is_in_band = response.frequency <= positive(high, "high")
    omega = 2.0 * np.pi * response.frequency[is_in_band]
    weight = response.coherence[is_in_band] * omega
    if not omega.size or not (weight @ omega) > 0.0:
        return nan
    return float(-(weight @ response.phase[is_in_band]) / (weight @ omega))


def response_figure(responses: Mapping[str, FrequencyResponse], title: str = "") -> Any:
    """Return a plotly figure of responses: magnitude [dB], phase [deg], coherence (measured ones).

    Args:
        responses: by name.
        title: above the figure.

    Raises:
        InputError: no responses.
        MissingDependencyError: plotly is not installed.
    """
    if not responses:
        raise InputError("responses", "must hold at least one")
    trusted = {name: response.trusted for name, response in responses.items()}
    panels = [
        Axes(
            "magnitude [dB]",
            [Line(name, item.frequency, item.magnitude) for name, item in trusted.items()],
        ),
        Axes(
            "phase [deg]",
            [Line(name, item.frequency, np.degrees(item.phase)) for name, item in trusted.items()],
        ),
    ]
    # Calculated responses have none to show.
    if any((item.coherence < 1.0).any() for item in responses.values()):
        lines = [Line(name, item.frequency, item.coherence) for name, item in responses.items()]
        panels.append(Axes("coherence", lines))
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)


EXCITATION_METHODS = ("chirp", "stepped")
"""Excitations of a machine: one logarithmic sweep, or sines one after the other."""

LEAD_IN = 0.3
"""[s] Rest before an excitation: feedforward of the thesis' controller rises, springs and friction
settle."""

FADE_FRACTION = 0.02
"""Fraction of the length of a sweep in which it fades in and out; at most `MAX_FADE`."""

MAX_FADE = 0.1
"""[s] Longest fade of a sweep at its beginning and end."""

MIN_SETTLING_TIME = 0.1
"""[s] Shortest part of a dwell that is left out while the motion settles."""

SETTLING_PERIODS = 2
"""Periods of a sine that are left out at least."""

MIN_EVALUATED_TIME = 0.1
"""[s] Shortest part of a dwell that is evaluated."""

EVALUATED_PERIODS = 4
"""Periods of a sine that are evaluated at least."""

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Directions along and about the base axes; about them in the order x, y, z."""

MAX_SPEED_FRACTION = 0.5
"""Largest fraction of an actuator's speed limit that an excitation uses to be measurable
(engineering choice).
"""

MAX_EFFORT_FRACTION = 0.5
"""Largest fraction of an actuator's effort that the velocity loop gives (engineering choice)."""

MAX_ACCELERATION_RATIO = 2.0
"""Largest acceleration relative to the actuator's limit (engineering choice); the limit acts in the
highest octave only.
"""

FRICTION_RATIO = 10.0
"""Velocity gain per describing-function gain of dry friction at the peak speed (engineering
choice).
"""

NOISE_RATIO = 2.0
"""Amplitude at the highest frequency in encoder steps (engineering choice)."""

POSITION_FREQUENCY_RATIO = 0.4
"""Highest frequency that servos and steppers can follow, relative to their position update rate."""

TASK_SPEED = 0.01
"""[1/s] Strokes per second that an excitation may use where limits are not known (engineering
choice).
"""

MOVING_RATE_FRACTION = 0.05
"""Rate, relative to that of the fastest actuator, from which an actuator counts as moving."""

WINDOW_OVERLAP = 0.5
"""Fraction by which neighbouring windows overlap."""

MIN_INPUT_POWER = 1e-12
"""Power of the input, relative to its largest, at which a frequency counts as not excited."""

COHERENCE_LINES = 3
"""Number of lines over which the coherence of a whole record is averaged."""

SWEEP_NEIGHBOURS = 7
"""Number of lines over which the coherence of a sweep is averaged (engineering choice)."""

PASSING_POWER = 0.05
"""Power of the input in a window, relative to the largest of its line, from which the sweep passes
the line (engineering choice).
"""

MIN_WINDOWS = 2
"""Minimum number of windows per frequency: those with the largest input power are used."""

MIN_SAMPLES = 8
"""Minimum number of samples of a window or of a dwell."""


class Excitation(ABC):
    """A displacement over time, from rest.

    Attributes:
        speed: peak [m/s], [rad/s].
        length: [s] without the rest before.
    """

    speed: float
    length: float

    @property
    def duration(self) -> float:
        """Time [s] with the rest before."""
        return LEAD_IN + self.length

    @abstractmethod
    def moving(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed, acceleration `(k,)` at times `(k,)` [s] after the rest."""

    def sample(self, time: FloatArray) -> FloatArray:
        """Return displacement, speed and acceleration `(3, k)` at times `(k,)` [s]."""
        is_excited = (time >= LEAD_IN) & (time <= self.duration)
        derivatives = np.zeros((3, len(time)))
        derivatives[:, is_excited] = self.moving(time[is_excited] - LEAD_IN)
        return derivatives


class SweptSine(Excitation):
    """A logarithmic sweep of constant peak speed."""

    def __init__(self, low: Any, high: Any, speed: Any, length: Any) -> None:
        """Describe the sweep.

        Args:
            low: frequency at its start [Hz].
            high: frequency at its end [Hz].
            speed: peak [m/s], [rad/s].
            length: [s] without the rest before.

        Raises:
            InputError: not above zero, or not increasing.
        """
        self.speed, self.length = positive(speed, "speed"), positive(length, "length")
        self._low, self._high = positive(low, "low"), positive(high, "high")
        if not self._low < self._high:
            raise InputError("low, high", "must increase")
        fade_time = min(MAX_FADE, FADE_FRACTION * self.length)
        self._fade = Fade(fade_time, fade_time, self.length)

    def moving(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed, acceleration `(k,)` at times `(k,)` [s] after the rest."""
        start_omega = 2.0 * np.pi * self._low
        growth_rate = np.log(self._high / self._low) / self.length
        omega = start_omega * np.exp(growth_rate * time)
        phase = start_omega * np.expm1(growth_rate * time) / growth_rate
        x = self.speed / omega * np.sin(phase)
        x1 = self.speed * np.cos(phase) - growth_rate * x
        x2 = -self.speed * omega * np.sin(phase) - growth_rate * x1
        w, w1, w2 = self._fade.window(time)
        return w * x, w1 * x + w * x1, w2 * x + 2.0 * w1 * x1 + w * x2


class SteppedSine(Excitation):
    """One sine after the other, all of the same peak speed.

    Attributes:
        frequencies: `(m,)` [Hz].
    """

    def __init__(self, frequencies: Any, speed: Any) -> None:
        """Describe the sines.

        Args:
            frequencies: `(m,)` [Hz], increasing.
            speed: peak [m/s], [rad/s].

        Raises:
            InputError: not above zero, or not increasing.
        """
        hertz = as_floats(frequencies, "frequencies")
        if hertz.ndim != 1 or not hertz.size or not (np.diff(hertz, prepend=0.0) > 0.0).all():
            raise InputError("frequencies", "must be a list [Hz] that increases from above zero")
        settling = np.maximum(np.ceil(MIN_SETTLING_TIME * hertz), SETTLING_PERIODS) / hertz
        evaluated = np.maximum(np.ceil(MIN_EVALUATED_TIME * hertz), EVALUATED_PERIODS) / hertz
        self._ends = np.cumsum(settling + evaluated)
        self._starts = np.concatenate([[0.0], self._ends[:-1]])
        self._settled = self._starts + settling
        self.frequencies, self.speed = hertz, positive(speed, "speed")
        self.length = float(self._ends[-1])

    def dwells(self) -> list[tuple[float, float, float]]:
        """Return frequency [Hz], begin and end [s] of the settled part of every dwell."""
        columns = (self.frequencies, LEAD_IN + self._settled, LEAD_IN + self._ends)
        return [tuple(row) for row in np.stack(columns, axis=1).tolist()]

    def moving(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed, acceleration `(k,)` at times `(k,)` [s] after the rest."""
        dwell_index = np.searchsorted(self._starts, time, side="right") - 1
        omega = 2.0 * np.pi * self.frequencies[dwell_index]
        phase = omega * (time - self._starts[dwell_index])
        sine = np.sin(phase)
        return self.speed / omega * sine, self.speed * np.cos(phase), -self.speed * omega * sine


SPEED_FRACTION = 0.02
"""Fraction of an actuator's speed limit that an excitation uses (engineering choice)."""

EFFORT_FRACTION = 0.1
"""Fraction of an actuator's effort limit that an excitation uses (engineering choice)."""

POSITION_SPEED_FRACTION = 0.25
"""Fraction of a servo's or stepper's speed limit that an excitation uses (engineering choice)."""

POSITION_EFFORT_FRACTION = 0.3
"""Fraction of a servo's or stepper's effort limit that an excitation uses (engineering choice)."""

POSITION_TRAVEL_FRACTION = 0.2
"""Fraction of the travel from home to a servo's or stepper's nearer end (engineering choice)."""


class Path(NamedTuple):
    """A straight path through home: twist and actuator rates per unit of path."""

    name: str
    twist: FloatArray
    """`(6,)` twist of the platform per unit of the path, base axes"""
    rates: FloatArray
    """`(n,)` rates of the actuators per unit of the path"""


def axis_path(platform: MachineModel, axis: str) -> Path:
    """Return the path along or about a base axis through home.

    Raises:
        InputError: unknown axis, or one that the machine cannot move along.
    """
    column = AXES.index(one_of(axis, "axis", AXES))
    home = as_model(platform).home
    unit = np.eye(6)[column]
    twist = platform.constrain(home, unit, np.zeros(6)).twist
    if abs(twist[column]) < 1e-9:
        known = ", ".join(free_axes(platform))
        raise InputError("axis", f"{platform.name} cannot move along {axis}; its axes are {known}")
    twist = twist / twist[column]
    return Path(axis, twist, platform.jacobian(home) @ twist)


def actuator_path(platform: MachineModel, actuator: int) -> Path:
    """Return the path through home on which one actuator moves and the others rest.

    Raises:
        InputError: no such actuator, or actuators that cannot move one at a time.
    """
    n = as_model(platform).n_actuators
    whole_number(actuator, "actuator", 1, n)
    if platform.dof != n:
        raise InputError(
            "actuator", f"the actuators of {platform.name} cannot move one at a time; give an axis"
        )
    # Rates of all actuators, and none off the constraints.
    rows = np.vstack([platform.jacobian(platform.home), platform.constraints(platform.home)])
    unit = np.eye(6)[actuator - 1]
    return Path(f"actuator {actuator}", np.linalg.solve(rows, unit), unit[:n])


def highest_frequency(platform: MachineModel, limit: float) -> float:
    """Return the frequency [Hz], at most `limit`, up to which a machine's drives can follow."""
    drives = [leg.drive for leg in platform.parameters.legs if leg.drive is not None]
    position_loops = [drive.positioning() for drive in drives]
    rates = [loop.update_rate for loop in position_loops if loop is not None]
    return min([limit, *(POSITION_FREQUENCY_RATIO * rate for rate in rates)])


class SuitableSpeed(NamedTuple):
    """Peak speed of an excitation along a path."""

    value: float
    """peak speed along the path [m/s], [rad/s]"""
    limit: str
    """limit that keeps the speed below what friction and encoders require: "speed", "acceleration",
    "force", "torque" or "stroke"; empty where the speed is as high as they require"""


def suitable_speed(platform: MachineModel, path: Path, low: float, high: float) -> SuitableSpeed:
    """Return a peak speed along a path, far below the drives' limits yet large enough to measure.

    Dry friction F acts on a sine of peak speed v like a gain 4 F / (pi v), and encoders read in
    steps. The speed is raised to where the velocity loop's gain K is `FRICTION_RATIO` times as
    much, and the amplitude at the highest frequency `NOISE_RATIO` steps. It uses no more than
    `MAX_SPEED_FRACTION` of the speed, `MAX_ACCELERATION_RATIO` of the acceleration at the highest
    frequency, and `POSITION_TRAVEL_FRACTION` of the way to an end; K v takes no more than
    `MAX_EFFORT_FRACTION` of the effort. Springs in the legs, which take more speed than the
    platform, are left out of this.

    Servos and steppers have dead bands and resolutions in which small motions vanish: their speed
    is as large as their travel allows at the lowest frequency.

    Args:
        platform: the machine.
        path: the straight path through home.
        low: lowest frequency [Hz].
        high: highest frequency [Hz].

    Raises:
        InputError: not a machine, or a frequency not above zero.
    """
    slowest, omega = 2.0 * np.pi * positive(low, "low"), 2.0 * np.pi * positive(high, "high")
    coordinates = as_model(platform).inverse_kinematics(platform.home)
    lowest, highest = platform.minimum_coordinates, platform.maximum_coordinates
    free_travel = np.minimum(coordinates - lowest, highest - coordinates)
    speed_fraction, effort_fraction = SPEED_FRACTION, EFFORT_FRACTION
    travel_speed = TASK_SPEED * (highest - lowest)
    if takes_positions(platform):
        speed_fraction, effort_fraction = POSITION_SPEED_FRACTION, POSITION_EFFORT_FRACTION
        travel_speed = POSITION_TRAVEL_FRACTION * slowest * free_travel
    bounds = [
        travel_speed,
        speed_fraction * actuator_limit(platform, "speed"),
        effort_fraction
        * actuator_limit(platform, "effort")
        / (omega * equivalent_inertia(platform)),
    ]
    actuator_speed = np.min(bounds, axis=0)
    required_speed = np.zeros_like(actuator_speed)
    speed_limits = {"speed": np.full_like(actuator_speed, np.inf)}
    if not (takes_positions(platform) or platform.n_deflections):
        drives, gain = drive_model(platform), suitable_velocity_loop(platform, DEFAULT_PERIOD)[0]
        # Describing function of dry friction F at peak speed v: gain 4 F / (pi v).
        friction_speed = FRICTION_RATIO * 4.0 * drives.friction / (np.pi * gain)
        required_speed = np.maximum(friction_speed, NOISE_RATIO * drives.resolution * omega)
        speed_limits = {
            "speed": MAX_SPEED_FRACTION * actuator_limit(platform, "speed"),
            "acceleration": MAX_ACCELERATION_RATIO
            * actuator_limit(platform, "acceleration")
            / omega,
            "force": MAX_EFFORT_FRACTION * actuator_limit(platform, "effort") / gain,
            "stroke": POSITION_TRAVEL_FRACTION * slowest * free_travel,
        }
    speed_limit = np.min([*speed_limits.values()], axis=0)
    actuator_speed = np.maximum(actuator_speed, np.minimum(required_speed, speed_limit))
    rates = np.abs(path.rates)
    moving_actuators = np.flatnonzero(rates > MOVING_RATE_FRACTION * rates.max())
    path_speeds = actuator_speed[moving_actuators] / rates[moving_actuators]
    limiting = moving_actuators[path_speeds.argmin()]
    limit = ""
    if actuator_speed[limiting] < required_speed[limiting]:
        limit = min(speed_limits, key=lambda name: float(speed_limits[name][limiting]))
    if limit == "force" and platform.coordinate_unit == "rad":
        limit = "torque"
    return SuitableSpeed(float(path_speeds.min()), limit)


class Spectra(NamedTuple):
    """Spectra of an input and an output, averaged over windows."""

    frequency: FloatArray
    """`(k,)` frequencies [Hz] from 0 to half the sampling rate"""
    input_power: FloatArray
    """`(k,)` power density of the input"""
    output_power: FloatArray
    """`(k,)` power density of the output"""
    cross: ComplexArray
    """`(k,)` cross power density"""

    @property
    def transfer(self) -> ComplexArray:
        """Frequency response `(k,)`, output over input; zero where the input has no power."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(self.cross / self.input_power, nan=0.0, posinf=0.0, neginf=0.0)

    @property
    def coherence(self) -> FloatArray:
        """Fraction of the output that follows linearly from the input `(k,)`, 0 to 1."""
        return _coherence(self.cross, self.input_power, self.output_power)


def spectra(
    input_signal: FloatArray, output_signal: FloatArray, step: float, size: int, *, detrend: str
) -> Spectra:
    """Return the spectra of records `(m,)` over Hann windows that overlap by half.

    Args:
        input_signal: evenly sampled.
        output_signal: at the same times.
        step: between samples [s].
        size: samples of a window, at most `m`.
        detrend: "constant" or "linear", taken out of every window.
    """
    from scipy.signal import csd, welch

    overlap = size - max(1, round(size * (1.0 - WINDOW_OVERLAP)))
    options = {"fs": 1.0 / step, "nperseg": size, "noverlap": overlap, "detrend": detrend}
    frequency, cross = csd(input_signal, output_signal, **options)
    input_power, output_power = (
        welch(signal, **options)[1] for signal in (input_signal, output_signal)
    )
    return Spectra(frequency, input_power, output_power, cross)


def sweep_response(
    input_signal: Any, output_signal: Any, period: Any, *, window: Any, low: Any, high: Any
) -> FrequencyResponse:
    """Return the response from `input_signal` to `output_signal`, between two frequencies.

    Args:
        input_signal: input `(m,)`, evenly sampled.
        output_signal: output `(m,)`.
        period: between samples [s].
        window: length of a window [s]; its inverse is the distance of the frequencies.
        low: lowest frequency [Hz].
        high: highest frequency [Hz], below half the sampling rate.

    Raises:
        InputError: shapes that differ, a record shorter than a window, frequencies that the samples
            do not resolve, or an input without any.
    """
    x, y = _records(input_signal, output_signal)
    step, length = positive(period, "period"), positive(window, "window")
    size = round(length / step)
    if size < MIN_SAMPLES or size > len(x):
        raise InputError(
            "window", f"must hold from {MIN_SAMPLES} samples to the record's {len(x)}, not {size}"
        )
    low_frequency, high_frequency = positive(low, "low"), positive(high, "high")
    if not low_frequency < high_frequency <= 0.5 / step:
        raise InputError("low, high", f"must increase and stay below {0.5 / step:g} Hz")
    line_frequencies = np.fft.rfftfreq(size, step)
    is_in_band = (line_frequencies >= low_frequency * (1.0 - 1e-9)) & (
        line_frequencies <= high_frequency * (1.0 + 1e-9)
    )
    input_spectra, output_spectra = (
        _window_spectra(record, size)[:, is_in_band] for record in (x, y)
    )
    powers = np.abs(input_spectra) ** 2
    max_powers = powers.max(axis=0, initial=0.0)
    if not max_powers.max(initial=0.0) > 0.0:
        raise InputError("input_signal", "has nothing between these frequencies")
    required_powers = np.sort(powers, axis=0)[-min(MIN_WINDOWS, len(powers))]
    passing = powers >= np.minimum(PASSING_POWER * max_powers, required_powers)
    is_excited = max_powers > MIN_INPUT_POWER * max_powers.max()
    input_spectra, output_spectra = (
        np.where(passing, spectra_of_signal, 0.0)[:, is_excited]
        for spectra_of_signal in (input_spectra, output_spectra)
    )
    gain = (input_spectra.conj() * output_spectra).sum(axis=0) / (np.abs(input_spectra) ** 2).sum(
        axis=0
    )
    n_windows = passing[:, is_excited].sum(axis=0)
    noise = (
        (np.abs(output_spectra - gain * input_spectra) ** 2).sum(axis=0)
        * n_windows
        / np.maximum(n_windows - 1, 1)
    )
    coherence = 1.0 - _ratio(
        *(_smoothed(power) for power in (noise, (np.abs(output_spectra) ** 2).sum(axis=0)))
    )
    return FrequencyResponse(
        line_frequencies[is_in_band][is_excited], gain, coherence, deviation(coherence, n_windows)
    )


def _window_spectra(record: FloatArray, size: int) -> ComplexArray:
    """Return the spectra `(windows, lines)` of Hann windows over a record, without their means."""
    from scipy.signal.windows import hann

    window_shift = max(1, round(size * (1.0 - WINDOW_OVERLAP)))
    windows = np.lib.stride_tricks.sliding_window_view(record, size)[::window_shift]
    centred_windows = windows - windows.mean(axis=1, keepdims=True)
    return np.fft.rfft(centred_windows * hann(size, sym=False), axis=1)


def _smoothed(powers: FloatArray) -> FloatArray:
    """Return moving sums over `SWEEP_NEIGHBOURS` lines."""
    half_width = SWEEP_NEIGHBOURS // 2
    return np.convolve(powers, np.ones(SWEEP_NEIGHBOURS))[half_width : half_width + len(powers)]


def _ratio(noise: FloatArray, power: FloatArray) -> FloatArray:
    """Return the noise fraction of an output's power, 0 to 1; 1 where there is no output."""
    ratio = np.divide(noise, power, out=np.ones_like(power), where=power > 0.0)
    return np.clip(ratio, 0.0, 1.0)


def burst_response(
    input_signal: Any, output_signal: Any, period: Any, *, low: Any, high: Any
) -> FrequencyResponse:
    """Return the response from records that begin at rest and end after all has died away.

    Args:
        input_signal: input `(m,)`, evenly sampled.
        output_signal: output `(m,)`.
        period: between samples [s].
        low: lowest frequency [Hz].
        high: highest frequency [Hz], below half the sampling rate.

    Raises:
        InputError: shapes that differ, frequencies that the samples do not resolve, or an input
            that has nothing at one of them.
    """
    x, y = _records(input_signal, output_signal)
    step = positive(period, "period")
    low_frequency = positive(low, "low")
    high_frequency = positive(high, "high")
    frequency = np.fft.rfftfreq(len(x), step)
    is_in_band = (frequency >= low_frequency) & (frequency <= high_frequency)
    if not is_in_band.any() or high_frequency > 0.5 / step:
        raise InputError(
            "low, high",
            f"must enclose a multiple of {1.0 / (len(x) * step):.4g} Hz and not exceed "
            f"{0.5 / step:g} Hz",
        )
    input_spectrum, output_spectrum = np.fft.rfft(x), np.fft.rfft(y)
    line_frequencies = np.asarray(frequency[is_in_band], dtype=np.float64)
    if not np.abs(input_spectrum[is_in_band]).min() > 0.0:
        raise InputError("input_signal", "has nothing at some of these frequencies")
    window = np.ones(COHERENCE_LINES)
    cross = np.convolve(input_spectrum.conj() * output_spectrum, window, "same")[is_in_band]
    powers = [
        np.convolve(np.abs(spectrum) ** 2, window, "same")[is_in_band]
        for spectrum in (input_spectrum, output_spectrum)
    ]
    # So few lines fit one gain well whatever the noise.
    noise_share = (1.0 - _coherence(cross, *powers)) * COHERENCE_LINES / (COHERENCE_LINES - 1)
    coherence = np.maximum(1.0 - noise_share, 0.0)
    return FrequencyResponse(
        line_frequencies,
        output_spectrum[is_in_band] / input_spectrum[is_in_band],
        coherence,
        deviation(coherence, 1.0),
    )


def sine_response(
    input_signal: Any, output_signal: Any, period: Any, frequency: Any
) -> FrequencyResponse:
    """Return the response at one frequency from a settled record of one sine.

    Args:
        input_signal: input `(m,)`, evenly sampled.
        output_signal: output `(m,)`.
        period: between samples [s].
        frequency: [Hz], below half the sampling rate.

    Raises:
        InputError: shapes that differ, less than a period of the sine, a frequency the samples
            do not resolve, or an input without it.
    """
    x, y = _records(input_signal, output_signal)
    step, hertz = positive(period, "period"), positive(frequency, "frequency")
    if hertz >= 0.5 / step:
        raise InputError("frequency", f"must stay below {0.5 / step:g} Hz")
    if len(x) < MIN_SAMPLES or len(x) * step * hertz < 1.0 - 1e-9:
        raise InputError(
            "input_signal", f"must hold {MIN_SAMPLES} samples and a period of the sine"
        )
    time = np.arange(len(x)) * step
    angle = 2.0 * np.pi * hertz * time
    regressors = np.column_stack(
        [np.cos(angle), np.sin(angle), np.ones_like(time), time - time.mean()]
    )
    coefficients = np.linalg.lstsq(regressors, np.column_stack([x, y]), rcond=None)[0]
    input_amplitude, output_amplitude = coefficients[0] - 1j * coefficients[1]
    if not abs(input_amplitude) > 0.0:
        raise InputError("input_signal", f"has nothing at {hertz:g} Hz")
    residual = y - regressors @ coefficients[:, 1]
    sine = 0.5 * abs(output_amplitude) ** 2
    noise = float(residual @ residual) / max(1, len(x) - regressors.shape[1])
    coherence = np.array([sine / (sine + noise) if sine + noise > 0.0 else 0.0])
    return FrequencyResponse(
        np.array([hertz]),
        np.array([output_amplitude / input_amplitude]),
        coherence,
        deviation(coherence, 0.5 * len(x)),
    )


def joined(parts: list[FrequencyResponse]) -> FrequencyResponse:
    """Return several responses as one, in their order; at least one."""
    return FrequencyResponse(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def deviation(coherence: FloatArray, averages: float | IndexArray) -> FloatArray:
    """Return the relative standard deviation of a gain; infinite at zero coherence."""
    with np.errstate(divide="ignore"):
        return np.sqrt((1.0 - coherence) / (2.0 * averages * coherence))


def _coherence(
    cross: ComplexArray, input_power: FloatArray, output_power: FloatArray
) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.abs(cross) ** 2 / (input_power * output_power))
    return np.clip(ratio, 0.0, 1.0)


def _records(input_signal: Any, output_signal: Any) -> tuple[FloatArray, FloatArray]:
    x, y = as_floats(input_signal, "input_signal"), as_floats(output_signal, "output_signal")
    if x.ndim != 1 or y.shape != x.shape:
        raise InputError("input_signal, output_signal", "must be two lists of the same length")
    return x, y
