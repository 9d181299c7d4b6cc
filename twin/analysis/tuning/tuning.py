"""Tuning of one loop: its gains, the search for them, and the figures of the responses.

The result can be written as the [control] table of a platform.toml. Its figure shows the response
of every iteration between its bounds.

The search finds parameters whose response keeps bounds, by linear programs in a trust region.
Gains are compared by their ratio, so the search runs over the logarithms p of the m parameters.
With the violations c(p) of all bounds, negative inside, and their differences A, each iteration
solves

    minimise g   subject to   c + A d <= g,   |d| <= r,   low <= p + d <= high

for the step d. Where that leaves room inside the bounds, the smallest step that reaches them is
taken instead: minimise r subject to c + A d <= 0, with a small margin. A step counts if the largest
violation falls; else the region r is halved. The search ends with the first parameters whose
largest violation is not above zero: on the start's side of the admissible set, with gains no
larger than necessary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import inf, nan
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, positive
from twin.charts.panels import Axes, Line, panels_figure
from twin.control.cascade import takes_positions
from twin.control.controller import DEFAULT_PERIOD, Controller
from twin.control.gains import suitable_position_loop, suitable_velocity_loop
from twin.errors import InputError, SimulationStoppedError
from twin.model.machine_model import MachineModel, as_model
from twin.plant.plant import Plant
from twin.simulation.simulate import Trajectory, simulate

TIME_TOLERANCE = 1e-9
"""[s] Distance from a corner of the bounds at which a sample counts as on it: sums of steps leave
as much."""

GRADIENT_STEP = 1e-3
"""Step of a parameter's logarithm for the derivatives, relative to its range."""

INITIAL_REGION = 0.3
"""Half the width of the first trust region, relative to the range."""

MIN_REGION = 1e-4
"""Half the width of the trust region, relative to the range, below which the search ends."""

REGION_GROWTH = 2.0
"""Factor by which the trust region is widened."""

BOUND_MARGIN = 1e-3
"""Margin inside the bounds at which a step aims, so that curvature does not leave it outside."""

MIN_DECREASE_RATIO = 0.5
"""Fall of the violation, relative to the predicted one, above which the region is widened."""

MAX_ITERATIONS = 30
"""Maximum number of iterations of a search."""

SIGNIFICANT_DIGITS = 4
"""Number of significant digits of a tuned gain."""


@dataclass(frozen=True)
class StepSpecification:
    """Bounds of a response from 0 to 1, times from the step. Cannot be changed.

    The response must stay above -`undershoot` before `rise_time` and above `rise` from then on,
    below 1 + `overshoot` before `settling_time`, and within `settling` of 1 from then on.

    Raises:
        InputError: not finite, not above zero, or times in the wrong order.

    Reference:
        Albayrak, thesis, METU 2005, section 4.3.1.1.2 and figure 4.16, whose numbers are the
        defaults.
    """

    rise_time: float = 6e-3
    """[s]"""
    rise: float = 0.995
    """fraction of the step that counts as risen"""
    settling_time: float = 20e-3
    """[s]"""
    settling: float = 0.005
    """half the width of the band, per step"""
    overshoot: float = 0.10
    """largest overshoot, per step"""
    undershoot: float = 0.01
    """largest undershoot, per step"""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, positive(getattr(self, field.name), field.name))
        if self.rise > 1.0:
            raise InputError("rise", f"is a fraction of the step, at most 1, not {self.rise:g}")
        if self.settling_time < self.rise_time:
            raise InputError("settling_time", "must not be before rise_time")

    def lower(self, time: FloatArray) -> FloatArray:
        """Return the lower bound `(k,)` at times `(k,)` [s] after the step."""
        settled_bound = max(self.rise, 1.0 - self.settling)
        rising_bound = np.where(
            time < self.settling_time - TIME_TOLERANCE, self.rise, settled_bound
        )
        return np.where(time < self.rise_time - TIME_TOLERANCE, -self.undershoot, rising_bound)

    def upper(self, time: FloatArray) -> FloatArray:
        """Return the upper bound `(k,)` at times `(k,)` [s] after the step."""
        is_settled = time >= self.settling_time - TIME_TOLERANCE
        return np.where(is_settled, 1.0 + self.settling, 1.0 + self.overshoot)

    def violations(self, time: FloatArray, response: FloatArray) -> FloatArray:
        """Return the violations of the bounds by a response `(k,)`: lower, then upper `(2k,)`.

        Per step; negative where it is inside.

        Raises:
            InputError: shapes that differ.
        """
        times, values = _series(time, response)
        return np.concatenate([self.lower(times) - values, values - self.upper(times)])

    def violation(self, time: FloatArray, response: FloatArray) -> float:
        """Return the largest of the violations: zero or less where the specification is met.

        Raises:
            InputError: shapes that differ.
        """
        return float(self.violations(time, response).max())


VELOCITY_STEP = StepSpecification()
"""Specification of the thesis' velocity step."""


POSITION_STEP = StepSpecification(
    rise_time=2.0, rise=0.99, settling_time=2.0, settling=0.01, overshoot=0.25, undershoot=0.02
)
"""Specification of a position step that only has to settle, within 1 percent.

Reference:
    Albayrak, thesis, METU 2005, section 4.3.2.2: "settles down about 2 seconds". The band and the
    overshoot are adopted: the paper gives neither.
"""


class StepFigures(NamedTuple):
    """Figures of a step response, per step; not-a-number where a level is not reached."""

    rise_time: float
    """[s] first time at the specification's `rise`"""
    settling_time: float
    """[s] last time outside the specification's band; infinite if the record ends outside"""
    overshoot: float
    """highest value less 1; negative if 1 is not reached"""


def step_figures(
    time: FloatArray, response: FloatArray, specification: StepSpecification = VELOCITY_STEP
) -> StepFigures:
    """Return the figures of a response `(k,)` at times `(k,)` [s] after the step.

    Crossings lie on straight lines between the samples.

    Raises:
        InputError: shapes that differ, not finite.
    """
    times, values = _series(time, response)
    unsettled_samples = np.flatnonzero(np.abs(values - 1.0) > specification.settling)
    if not unsettled_samples.size:
        settling_time = float(times[0])
    elif unsettled_samples[-1] == len(values) - 1:
        settling_time = inf
    else:
        last_outside = unsettled_samples[-1]
        band_edge = 1.0 + np.copysign(specification.settling, values[last_outside] - 1.0)
        settling_time = _crossing(times, values, last_outside, float(band_edge))
    risen_samples = np.flatnonzero(values >= specification.rise)
    rise = nan
    if risen_samples.size:
        first_risen = risen_samples[0]
        rise = (
            _crossing(times, values, first_risen - 1, specification.rise)
            if first_risen
            else times[0]
        )
    return StepFigures(float(rise), float(settling_time), float(values.max() - 1.0))


def _crossing(time: FloatArray, values: FloatArray, index_before: int, level: float) -> float:
    """Return the time [s] at `level` on the line from sample `index_before` to the next."""
    low, high = values[index_before], values[index_before + 1]
    fraction = (level - low) / (high - low)
    return float(time[index_before] + fraction * (time[index_before + 1] - time[index_before]))


def _series(time: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    times, values = as_floats(time, "time"), as_floats(response, "response")
    if times.ndim != 1 or values.shape != times.shape or len(times) < 2:
        raise InputError("time, response", "must be two lists of the same length, at least 2")
    return times, values


Respond = Callable[[FloatArray], FloatArray]
Violate = Callable[[FloatArray], FloatArray]


class Trial(NamedTuple):
    """Parameters at the end of an iteration, with their response."""

    parameters: FloatArray
    """tuned parameters `(m,)` in SI"""
    response: FloatArray
    """response `(k,)` with these parameters"""
    violation: float
    """largest violation, zero or less where all bounds are kept"""
    responses: int
    """number of responses computed so far"""


class Search(NamedTuple):
    """Trials from the start to the result."""

    trials: tuple[Trial, ...]
    """trials: the start first, then one per iteration"""
    met: bool
    """whether the last trial keeps all bounds"""
    reason: str
    """why the search ended"""

    @property
    def best(self) -> Trial:
        """The last trial, which has the smallest violation."""
        return self.trials[-1]


def search_bounds(
    respond: Respond,
    violate: Violate,
    start: Any,
    low: Any,
    high: Any,
    *,
    watch: Callable[[Trial], None] | None = None,
) -> Search:
    """Return the search from `start` for parameters that keep all bounds.

    Args:
        respond: parameters `(m,)` to response `(k,)`; infinite entries where there is none.
        violate: response to violations `(c,)`, zero or less inside.
        start: parameters `(m,)`.
        low: smallest parameters `(m,)`, above zero.
        high: largest parameters `(m,)`.
        watch: called with every trial as it is found.

    Raises:
        InputError: shapes that differ, bounds not above zero or out of order, a start outside, or
            one without a response.
    """
    initial, lowest, highest = (
        as_floats(value, name) for value, name in ((start, "start"), (low, "low"), (high, "high"))
    )
    if initial.ndim != 1 or lowest.shape != initial.shape or highest.shape != initial.shape:
        raise InputError("start, low, high", "must be lists of the same length")
    if not (lowest > 0.0).all() or not (lowest < highest).all():
        raise InputError("low, high", "must be above zero, low below high")
    if (initial < lowest).any() or (initial > highest).any():
        raise InputError("start", f"must lie from {lowest.tolist()} to {highest.tolist()}")
    task = _Task(respond, violate, lowest, highest)
    position = np.log(initial / lowest) / np.log(highest / lowest)
    violations = task.violations(position)
    if not np.isfinite(violations).all():
        raise InputError("start", "has no response to begin with: the loop is unstable there")
    trials = [task.trial(position, violations)]
    region = INITIAL_REGION

    report_trial = watch or (lambda _: None)
    report_trial(trials[-1])
    while violations.max() > 0.0:
        if len(trials) > MAX_ITERATIONS:
            return Search(tuple(trials), False, f"not met after {MAX_ITERATIONS} iterations")
        slopes = task.slopes(position, violations)
        while region >= MIN_REGION:
            step, predicted = _step(violations, slopes, position, region)
            trial = np.clip(position + step, 0.0, 1.0)
            trial_violations = task.violations(trial)
            decrease = violations.max() - trial_violations.max()
            expected_decrease = violations.max() - predicted
            if decrease > 0.0:
                if decrease > MIN_DECREASE_RATIO * expected_decrease:
                    region = min(1.0, region * REGION_GROWTH)
                break
            region *= 0.5
        else:
            return Search(tuple(trials), False, "no better parameters near the last ones")
        position, violations = trial, trial_violations
        trials.append(task.trial(position, violations))
        report_trial(trials[-1])
    return Search(tuple(trials), True, "all bounds are kept")


class _Task:
    """Responses and violations over parameters scaled from 0 (low) to 1 (high), logarithmically."""

    def __init__(
        self, respond: Respond, violate: Violate, low: FloatArray, high: FloatArray
    ) -> None:
        self._respond, self._violate = respond, violate
        self._low, self._ratio = low, high / low
        self._count = 0
        self._last: FloatArray = np.empty(0)

    def violations(self, position: FloatArray) -> FloatArray:
        self._last = self._respond(self._low * self._ratio**position)
        self._count += 1
        if not np.isfinite(self._last).all():
            return np.full(1, np.inf)
        return self._violate(self._last)

    def slopes(self, position: FloatArray, violations: FloatArray) -> FloatArray:
        columns = []
        for k in range(len(position)):
            shifted_position = position.copy()
            shift = GRADIENT_STEP if position[k] + GRADIENT_STEP <= 1.0 else -GRADIENT_STEP
            shifted_position[k] += shift
            shifted_violations = self.violations(shifted_position)
            if shifted_violations.shape != violations.shape:
                shifted_violations = violations
            columns.append((shifted_violations - violations) / shift)
        return np.column_stack(columns)

    def trial(self, position: FloatArray, violations: FloatArray) -> Trial:
        return Trial(
            self._low * self._ratio**position, self._last, float(violations.max()), self._count
        )


def _step(
    violations: FloatArray, slopes: FloatArray, position: FloatArray, region: float
) -> tuple[FloatArray, float]:
    """Return the step `(m,)` and the largest predicted violation after it, by linear programs."""
    from scipy.optimize import linprog

    m, ones = len(position), np.ones((len(violations), 1))
    bounds = [(max(-region, -value), min(region, 1.0 - value)) for value in position]
    cost = np.append(np.zeros(m), 1.0)
    solution = linprog(
        cost, np.hstack([slopes, -ones]), -violations, bounds=[*bounds, (None, None)]
    )
    if solution.x[m] > -BOUND_MARGIN:
        return solution.x[:m], float(solution.x[m])
    step_sides = np.vstack([np.eye(m), -np.eye(m)])
    shortest_step = linprog(
        cost,
        np.vstack([np.hstack([slopes, 0.0 * ones]), np.hstack([step_sides, -np.ones((2 * m, 1))])]),
        np.append(-BOUND_MARGIN - violations, np.zeros(2 * m)),
        bounds=[*bounds, (0.0, None)],
    )
    return shortest_step.x[:m], -BOUND_MARGIN


class Gain(NamedTuple):
    """A gain of a controller with its bounds and the start of a search, SI."""

    name: str
    """key in the [control] table"""
    unit: str
    """SI unit of the gain"""
    low: float
    high: float
    start: float


class Tuning(NamedTuple):
    """The outcome of tuning one loop."""

    machine: str
    engine: str
    loop: str
    """"velocity" or "position" """
    gains: tuple[Gain, ...]
    specification: StepSpecification
    time: FloatArray
    """`(k,)` [s] after the step, of the responses"""
    search: Search

    @property
    def values(self) -> FloatArray:
        """The gains found `(m,)`, SI."""
        return self.search.best.parameters

    def figures(self, trial: Trial | None = None) -> StepFigures:
        """Return the figures of a trial's response, default the best one's."""
        response = (self.search.best if trial is None else trial).response
        return step_figures(self.time, response, self.specification)


def velocity_gain(platform: MachineModel) -> tuple[str, str]:
    """Return key and unit of a machine's velocity gain in the [control] table."""
    cranks = platform.coordinate_unit == "rad"
    return ("crank_velocity_gain", "N m s/rad") if cranks else ("velocity_gain", "N s/m")


def control_snippet(platform: MachineModel, tuning: Tuning) -> str:
    """Return a complete [control] table: gains found, and the machine's own for the other loop.

    It replaces the table of that name in the machine's file, if there is one.

    Raises:
        InputError: not a machine.
    """
    configured = as_model(platform).parameters.control
    gain, time = suitable_velocity_loop(platform, DEFAULT_PERIOD)
    position, integral = suitable_position_loop(platform, DEFAULT_PERIOD)
    own_gain, unit = velocity_gain(platform)
    entries = {
        own_gain: (float(gain.mean()), unit),
        "velocity_time": (float(time.mean()), "s"),
        "position_gain": (position, "1/s"),
        "position_integral": (integral, "1/s2"),
        "feedforward_start": (0.0 if configured is None else configured.feedforward_start, "s"),
        "feedforward_rise": (0.0 if configured is None else configured.feedforward_rise, "s"),
    }
    entries |= {
        one.name: (value, one.unit)
        for one, value in zip(tuning.gains, tuning.values.tolist(), strict=True)
    }
    verdict = "meets" if tuning.search.met else "does not meet"
    lines = [
        f"# {verdict} the specification: largest violation "
        f"{100.0 * tuning.search.best.violation:.3g} percent of the step",
        "[control]",
        f'source = "twin tune {tuning.machine} on {tuning.engine}: {tuning.loop} loop"',
        *(
            f'{name} = "{value:.{SIGNIFICANT_DIGITS}g} {unit}"'
            for name, (value, unit) in entries.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def tuning_figure(tuning: Tuning) -> Any:
    """Return a plotly figure of responses over time, bounds dotted, and of the violations.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    rule, milliseconds = tuning.specification, 1e3 * tuning.time
    lines = [
        Line(f"iteration {k}: {gains_text(tuning, trial.parameters)}", milliseconds, trial.response)
        for k, trial in enumerate(tuning.search.trials)
    ]
    lines += [
        Line("lower bound", milliseconds, rule.lower(tuning.time), "dot"),
        Line("upper bound", milliseconds, rule.upper(tuning.time), "dot"),
    ]
    title = f"{tuning.machine} on {tuning.engine}: step of the {tuning.loop} loop"
    quantity = "speed" if tuning.loop == "velocity" else "displacement"
    return panels_figure([Axes(f"{quantity} per step", lines)], "time [ms]", title=title)


def gains_text(tuning: Tuning, values: Any) -> str:
    """Return gains as a short text, such as "21.9 N/(mm/s), 3.19 ms"."""
    texts = []
    for gain, value in zip(tuning.gains, values, strict=True):
        if gain.unit == "N s/m":
            texts.append(f"{1e-3 * value:.3g} N/(mm/s)")
        elif gain.unit == "s":
            texts.append(f"{1e3 * value:.3g} ms")
        else:
            texts.append(f"{value:.4g} {gain.unit}")
    return ", ".join(texts)


@dataclass(frozen=True, kw_only=True)
class StepStudy(ABC):
    """Step of one loop of a machine, and its simulation. Cannot be changed.

    Raises:
        InputError: size, duration or timestep not above zero.
    """

    loop: ClassVar[str]
    specification: ClassVar[StepSpecification]
    """default of `tune`"""

    size: float | None = None
    """size of the step; None: a round fraction of the machine's speed or travel"""
    duration: float
    """time [s] of the response after the step"""
    timestep: float
    """[s] time step of the engine"""
    engine: str = "analytic"
    """name of the engine"""
    fidelity: str = "accurate"
    """fidelity of the engine"""

    def __post_init__(self) -> None:
        for name in ("size", "duration", "timestep"):
            if name != "size" or self.size is not None:
                object.__setattr__(self, name, positive(getattr(self, name), name))

    @abstractmethod
    def gains(self, platform: MachineModel) -> tuple[Gain, ...]:
        """Return the gains of the loop with their bounds and starts."""

    @abstractmethod
    def step_size(self, platform: MachineModel) -> float:
        """Return the size of the step that a machine makes."""

    @abstractmethod
    def response(self, platform: MachineModel, *gains: float) -> tuple[FloatArray, FloatArray]:
        """Return time [s] and response per step `(k,)`, infinite where the loop was stopped."""

    def lasting(self, specification: StepSpecification) -> Self:
        """Return the study with a duration that shows whether a specification is met."""
        return self

    @property
    def time(self) -> FloatArray:
        """Times `(k,)` [s] after the step."""
        steps = np.arange(round(self.duration / self.timestep) + 1)
        return np.asarray(steps * self.timestep, dtype=np.float64)

    def tune(
        self,
        platform: MachineModel,
        *,
        specification: StepSpecification | None = None,
        start: Any = None,
        low: Any = None,
        high: Any = None,
        watch: Callable[[Trial], None] | None = None,
    ) -> Tuning:
        """Return gains whose step response meets a specification.

        Args:
            platform: the machine, with or without drives in its parameters.
            specification: of the response, default that of the study.
            start: gains `(m,)`, SI; default those of `gains`, as for the bounds.
            low: smallest gains `(m,)`.
            high: largest gains `(m,)`.
            watch: called with every trial.

        Raises:
            InputError: an argument that cannot be used, a start at which the loop is unstable, or
                drives that take positions.
        """
        if takes_positions(platform):
            raise InputError(
                "machine", f"the drives of {platform.name} take positions: no loop to tune"
            )
        rule = self.specification if specification is None else specification
        gains = _chosen(self.gains(platform), low, high, start)
        study = self.lasting(rule)
        time, study = study.time, replace(study, size=study.step_size(platform))
        result = search_bounds(
            lambda values: study.response(platform, *values.tolist())[1],
            lambda response: rule.violations(time, response),
            [gain.start for gain in gains],
            [gain.low for gain in gains],
            [gain.high for gain in gains],
            watch=watch,
        )
        return Tuning(platform.name, self.engine, self.loop, gains, rule, time, result)

    def simulated(
        self,
        platform: MachineModel,
        controller: Controller,
        duration: float,
        plant: Plant | None = None,
    ) -> Trajectory | None:
        """Return the motion under a controller; None where the simulation was stopped."""
        try:
            simulation = simulate(
                platform,
                duration,
                controller=controller,
                plant=plant,
                engine=self.engine,
                fidelity=self.fidelity,
                timestep=self.timestep,
                progress=False,
            )
        except SimulationStoppedError:
            return None
        return None if simulation.stopped else simulation

    def no_response(self) -> tuple[FloatArray, FloatArray]:
        """Return time and response of a loop that was stopped: infinite."""
        return self.time, np.full(len(self.time), np.inf)


def _chosen(gains: tuple[Gain, ...], low: Any, high: Any, start: Any) -> tuple[Gain, ...]:
    """Return gains with other bounds and starts, `(m,)` each; None keeps what they have.

    Raises:
        InputError: another size, not finite.
    """
    columns = {"low": low, "high": high, "start": start}
    for name, values in columns.items():
        if values is not None:
            checked_values = as_floats(values, name, len(gains)).tolist()
            gains = tuple(
                gain._replace(**{name: value})
                for gain, value in zip(gains, checked_values, strict=True)
            )
    return gains
