"""Causes from residuals of blocks, by likelihood ratios over a window, and what is reported.

A cause S says that the residuals r of all legs follow from few numbers: r = F_S t + noise, with
F_S known from the motion. Over an exponential window of 0.5 s, with w the weights of its blocks and
every leg divided by its healthy deviation, the sums A = sum w F' F and b = sum w F' r give

    t = A_SS^-1 b_S    and    g_S = b_S' A_SS^-1 b_S / lambda_S,

which is twice the logarithm of the likelihood ratio of "cause S" to "healthy". With lambda_S, the
mean of it per number in the healthy time, g_S has a chi-squared distribution with as many degrees
of freedom as S has numbers. For white noise lambda_S is 1/2: noise of a block counts w^2 in g_S.
A cause is suspected from the quantile on that is exceeded by chance once in an hour, or from four
times the largest g_S of the healthy time on (twice in standard deviations).

Which cause it is, the noise of a healthy machine does not tell: a model of a fault is true to some
per cent, not to its noise. With E = sum w r' r, E_S what S leaves of it, and N independent
observations since the suspicion began, the likelihood for unknown noise gives

    2 log L_S = N log(E / (E_S + MODEL_ERROR E)) - |S| log N,

the last part being Schwarz's penalty. A cause is named where its likelihood is 20 times that of any
other; if none is in time, the leg is reported as unexplained.

References:
    Basseville and Nikiforov, Detection of Abrupt Changes (1993), sections 2.4 and 7.2.
    Schwarz, Estimating the dimension of a model, Annals of Statistics 6 (1978).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray

FORGETTING_TIME = 0.5
"""[s] Engineering choice: time constant of the exponential window, a fraction of the 2 s that
detection may take.
"""

FALSE_ALARMS = 1.0
"""[1/h] Largest rate of false alarms of all causes together, for normal errors."""

HEALTHY_MARGIN = 2.0
"""Engineering choice: ratio of a threshold to the largest size of the healthy time, which does not
include the worst case.
"""

MODEL_ERROR = 0.03
"""Engineering choice: fraction of the energy of residuals that the model of the right cause leaves
unexplained.
"""

CORRELATION_TIME = 0.1
"""[s] Engineering choice: time after which a residual is an independent observation."""

MIN_LIKELIHOOD_RATIO = 20.0
"""Engineering choice: likelihood of a named cause over that of the next one."""

CONFIRMATION_TIME = 0.2
"""[s] Engineering choice: how long a cause must be the likeliest before it is reported."""

NAMING_TIME = 1.5
"""[s] Engineering choice: time after which a suspicion without a likeliest cause is reported as
unexplained, a part of the 2 s that a detection may take.
"""

CONDITION_RIDGE = 1e-4
"""Ridge of the normalised sums A: numbers that the motion does not tell apart are kept small."""

LEARNING_INTERVAL = 5
"""Blocks between two statistics of the healthy time; those of each block are nearly the same."""

WHITE_INFLATION = 0.5
"""Least inflation of the statistics: that of white noise in an exponential window."""

TINY = 1e-24
"""Added to sums of squares of what has not moved at all."""

CLEARING_FRACTION = 0.5
"""Engineering choice: fraction of its threshold below which an alarm ends."""

CLEARING_TIME = 2.0
"""[s] Engineering choice: time below that fraction after which an alarm ends."""


Kind = Literal[
    "friction", "backlash", "counts", "payload", "sensor", "overload", "motor", "slip",
    "unexplained", "silence",
]  # fmt: skip
"""Kinds of alarms: faults of the machine, and samples that have stopped."""

ALARM_KINDS: tuple[Kind, ...] = (
    "friction", "backlash", "counts", "payload", "sensor", "overload", "motor", "slip",
    "unexplained",
)  # fmt: skip
"""Kinds of alarms, in the order of the field `alarms` of an estimate."""

LOOK_AT: dict[Kind, str] = {
    "friction": "lubrication, screw and bearings of the leg; temperature of the motor",
    "backlash": "nut, gear and couplings of the leg; play of its joints",
    "counts": "encoder cable, shield and scale of the leg; home the machine before going on",
    "payload": "what is on the platform, and the mass that controller and model are told",
    "sensor": "cable, supply and mounting of the sensor; stop the machine",
    "overload": "what pushes the platform: a collision, a jam, a load beyond the rating",
    "motor": "motor and amplifier of the leg: magnets, windings, current sensors, temperature",
    "slip": "coupling, belt and nut of the leg; home the machine before going on",
    "unexplained": "the leg: motor, screw, joints, sensors; what touches it or the platform",
    "silence": "whether controller and sender still run; network and cable between",
}


class Alarm(NamedTuple):
    """One alarm, raised once."""

    time: float
    """[s] time of the sample"""
    kind: Kind
    leg: int | None
    """number of the leg from 1; None for the machine as a whole"""
    size: float
    """estimate of what has changed"""
    unit: str
    note: str = ""
    """name of the sensor, or kind of load"""

    @property
    def look_at(self) -> str:
        """Parts of the machine to look at."""
        return LOOK_AT[self.kind]

    def __str__(self) -> str:
        location = "machine" if self.leg is None else f"leg {self.leg}"
        note_text = f" ({self.note})" if self.note else ""
        return f"{self.time:.3f} s: {self.kind}, {location}, {self.size:.4g} {self.unit}{note_text}"


Cause = tuple[Kind, int | None]
"""Kind and leg, from 1."""


class Hypothesis(NamedTuple):
    """A cause with the columns of F that belong to its numbers."""

    cause: Cause
    columns: tuple[int, ...]
    smallest: float
    """size below which it is not worth a report"""
    unit: str
    one_sided: bool = False
    """whether a negative size is no fault, such as falling friction"""
    is_vector: bool = False
    """whether its size is the norm of all its numbers"""
    note: str = ""


class Findings(NamedTuple):
    """Findings of a window on all hypotheses; arrays with one entry for each."""

    statistics: FloatArray
    """g of their numbers"""
    sizes: FloatArray
    """estimates of their first number, or norms of all"""
    explained: FloatArray
    """fraction that each explains of the energy beyond the healthy one"""


class LikelihoodWindow:
    """Sums over an exponential window of blocks."""

    def __init__(self, columns: int, block_time: float) -> None:
        """Start with empty sums for a number of columns of F."""
        self._keep = exp(-block_time / FORGETTING_TIME)
        self.squares, self.products = np.zeros((columns, columns)), np.zeros(columns)
        self.energy = self.healthy_energy = self.count = 0.0

    def clear(self) -> None:
        """Reset all sums to zero."""
        self.squares[:], self.products[:] = 0.0, 0.0
        self.energy = self.healthy_energy = self.count = 0.0

    def add(self, residual: FloatArray, columns: FloatArray) -> None:
        """Add a block: residuals `(n,)` and F `(n, k)`, both divided by healthy deviations."""
        self.squares *= self._keep
        self.squares += columns.T @ columns
        self.products *= self._keep
        self.products += columns.T @ residual
        self.energy = self._keep * self.energy + float(residual @ residual)
        self.healthy_energy = self._keep * self.healthy_energy + len(residual)
        self.count = self._keep * self.count + 1.0

    def means(self, columns: slice) -> FloatArray:
        """Return the estimates of columns, each for itself."""
        return self.products[columns] / (np.diag(self.squares)[columns] + TINY)

    def estimate(self, columns: Sequence[int]) -> tuple[float, FloatArray]:
        """Return b' A^-1 b and the estimates A^-1 b of some columns."""
        if len(columns) == 1:  # most causes have one number
            square = float(self.squares[columns[0], columns[0]]) * (1.0 + CONDITION_RIDGE) + TINY
            product = float(self.products[columns[0]])
            return product * product / square, np.array([product / square])
        index = np.array(columns, dtype=np.intp)
        if not len(index):
            return 0.0, np.zeros(0)
        squares, products = self.squares[np.ix_(index, index)], self.products[index]
        scale = np.sqrt(np.diag(squares) + TINY)
        normalised = squares / np.outer(scale, scale) + CONDITION_RIDGE * np.eye(len(index))
        solution = np.linalg.solve(normalised, products / scale)
        return float(products / scale @ solution), solution / scale


class CauseDetector:
    """Finds which cause explains the residuals of one kind, and when that is worth an alarm.

    Attributes:
        active: causes whose alarms have been raised and have not ended.
        leading: likeliest cause of what is suspected at present; None without one.
        suspected_since: [s] time at which the present suspicion began; None without one.
        onset_sizes: of each hypothesis, when the last suspicion began.
        thresholds: of the statistics g, one for each hypothesis.
        inflation: lambda of each hypothesis.
        ratios: largest ratio of each hypothesis to its threshold, in sizes.
    """

    def __init__(
        self,
        hypotheses: Sequence[Hypothesis],
        n_columns: int,
        block_time: float,
        confirmation: float = CONFIRMATION_TIME,
        describe: Callable[[Alarm], Alarm] | None = None,
    ) -> None:
        """Prepare; `learn` gives the healthy statistics.

        Args:
            hypotheses: the causes among which is decided; those of kind "unexplained" are never
                named before `NAMING_TIME`.
            n_columns: number of columns of F.
            block_time: [s].
            confirmation: [s] for which a cause must be the likeliest.
            describe: returns an alarm in the words of its reader; default: as it is.
        """
        self._hypotheses, self._block_time = tuple(hypotheses), block_time
        self._confirmation, self._describe = confirmation, describe
        self.window = LikelihoodWindow(n_columns, block_time)
        self.inflation = np.ones(len(hypotheses))
        self.thresholds = np.full(len(hypotheses), np.inf)
        self.active: dict[Cause, Alarm] = {}
        self._columns: dict[Cause, tuple[int, ...]] = {}
        self._seen: dict[Cause, float] = {}
        self.suspected_since: float | None = None
        self.onset_sizes = np.zeros(len(hypotheses))
        self.leading: Cause | None = None
        self._leading_since = 0.0
        self._smallest = np.array([each.smallest for each in hypotheses])
        self._one_sided = np.array([each.one_sided for each in hypotheses])
        causes = [each.cause for each in hypotheses]
        self._nameless = [k for k, (kind, _) in enumerate(causes) if kind == "unexplained"]
        self.ratios = np.zeros(len(hypotheses))

    def learn(self, blocks: Sequence[tuple[FloatArray, FloatArray]]) -> None:
        """Take the statistics of healthy blocks, residuals and F of each, for normal."""
        from scipy.stats import chi2

        rows = []
        for number, (residual, columns) in enumerate(blocks):
            self.window.add(residual, columns)
            if self.is_full and number % LEARNING_INTERVAL == 0:
                rows.append([self.window.estimate(each.columns)[0] for each in self._hypotheses])
        self.window.clear()
        numbers = np.array([len(each.columns) for each in self._hypotheses], dtype=float)
        statistics = np.array(rows) if rows else np.zeros((1, len(numbers)))
        self.inflation = np.maximum(statistics.mean(axis=0) / numbers, WHITE_INFLATION)
        decisions = 3600.0 / (2.0 * FORGETTING_TIME) * len(numbers)
        quantiles = chi2.isf(FALSE_ALARMS / decisions, numbers)
        largest = statistics.max(axis=0) / self.inflation
        self.thresholds = np.maximum(quantiles, HEALTHY_MARGIN**2 * largest)

    @property
    def is_full(self) -> bool:
        """Whether the window holds more than a time constant of blocks."""
        return self.window.count * self._block_time > 0.63 * FORGETTING_TIME

    def clear(self) -> None:
        """Forget the window and what is suspected."""
        self.window.clear()
        self.suspected_since = self.leading = None

    def _known(self) -> list[int]:
        """Return the columns of the active causes."""
        return sorted({k for columns in self._columns.values() for k in columns})

    def known(self, columns: FloatArray) -> FloatArray:
        """Return what the active causes explain of a block `(n,)`, from its F `(n, k)`."""
        known = self._known()
        return np.asarray(columns[:, known] @ self.window.estimate(known)[1])

    def findings(self) -> Findings:
        """Return what each hypothesis explains beyond the active causes."""
        known = self._known()
        already, _ = self.window.estimate(known)
        rows = []
        for hypothesis in self._hypotheses:
            rest = [k for k in known if k not in hypothesis.columns]
            base = already if len(rest) == len(known) else self.window.estimate(rest)[0]
            both, estimates = self.window.estimate([*hypothesis.columns, *rest])
            own = estimates[: len(hypothesis.columns)]
            size = float(np.linalg.norm(own) if hypothesis.is_vector else own[0])
            energy = max(both - base, 0.0)
            unexplained = self.window.energy - self.window.healthy_energy - base
            rows.append((energy, size, energy / max(unexplained, energy, TINY)))
        energies, sizes, explained = np.array(rows).T
        return Findings(energies / self.inflation, sizes, explained)

    def update(self, time: float, allowance: FloatArray | float = 0.0) -> list[Alarm]:
        """Return the alarms that are new after a block at `time` [s].

        Args:
            time: of the block.
            allowance: added to the smallest sizes, one for each hypothesis.
        """
        if not self.is_full:
            return []
        found = self.findings()
        statistics, sizes, smallest = found.statistics, found.sizes, self._smallest + allowance
        magnitudes = np.abs(sizes)
        self.ratios = np.sqrt(statistics / self.thresholds) * np.minimum(magnitudes / smallest, 1.0)
        self._end(time)
        magnitudes[self._one_sided] = sizes[self._one_sided]
        is_fault = (statistics > self.thresholds) & (magnitudes > smallest)
        if self.suspected_since is None:
            self.suspected_since, self.onset_sizes = time, sizes
        elapsed = time - self.suspected_since
        winner = self._winner(found, elapsed)
        if not is_fault.any() or (winner is not None and not is_fault[winner]):
            # Nothing is there, or what explains it needs no report.
            self.suspected_since = self.leading = None
        elif winner is not None:
            cause = self._hypotheses[winner].cause
            if self.leading != cause:
                self.leading, self._leading_since = cause, time
            if time - self._leading_since >= self._confirmation:
                return self._raise(time, self._hypotheses[winner], sizes[winner])
        elif elapsed >= NAMING_TIME and self._nameless:
            leg = max(self._nameless, key=lambda k: statistics[k])
            if magnitudes[leg] > smallest[leg]:
                return self._raise(time, self._hypotheses[leg], sizes[leg])
        return []

    def _winner(self, found: Findings, elapsed: float) -> int | None:
        """Return the hypothesis that is `MIN_LIKELIHOOD_RATIO` times likelier than other causes.

        Args:
            found: by the window.
            elapsed: [s] since the suspicion began.
        """
        observations = 1.0 + min(elapsed, 2.0 * FORGETTING_TIME) / CORRELATION_TIME
        numbers = [len(each.columns) for each in self._hypotheses]
        evidence = -observations * np.log(1.0 - found.explained + MODEL_ERROR)
        evidence -= np.array(numbers) * log(observations)
        named = [k for k in range(len(numbers)) if k not in self._nameless]
        best = max(named, key=lambda k: evidence[k])
        # Something in one leg is a rival of what takes more numbers to explain it.
        rivals = [*named, *(k for k in self._nameless if numbers[k] < numbers[best])]
        cause = self._hypotheses[best].cause
        others = [evidence[k] for k in rivals if self._hypotheses[k].cause != cause]
        is_certain = evidence[best] - max(others, default=-np.inf) > 2.0 * log(MIN_LIKELIHOOD_RATIO)
        return best if is_certain else None

    def _raise(self, time: float, hypothesis: Hypothesis, size: float) -> list[Alarm]:
        """Return the alarm of a hypothesis, unless it lasts already."""
        self.suspected_since = self.leading = None
        cause = hypothesis.cause
        if cause in self.active:
            return []
        named = Alarm(time, *cause, float(size), hypothesis.unit, hypothesis.note)
        alarm = named if self._describe is None else self._describe(named)
        self.active[cause], self._columns[cause] = alarm, hypothesis.columns
        self._seen[cause] = time
        return [alarm]

    def _end(self, time: float) -> None:
        """End the alarms whose causes have been below their thresholds for long enough."""
        for cause in list(self.active):
            numbers = [k for k, each in enumerate(self._hypotheses) if each.cause == cause]
            if max(self.ratios[k] for k in numbers) > CLEARING_FRACTION:
                self._seen[cause] = time
            elif time - self._seen[cause] > CLEARING_TIME:
                del self.active[cause], self._columns[cause]
