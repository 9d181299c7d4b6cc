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
"""Engineering choice: ratio of a named cause's likelihood to that of the next one."""

CONFIRMATION_TIME = 0.2
"""[s] Engineering choice: how long a cause must be the likeliest before it is reported."""

NAMING_TIME = 1.5
"""[s] Engineering choice: time after which a suspicion without a likeliest cause is reported as
unexplained, a part of the 2 s that a detection may take.
"""

CONDITION_RIDGE = 1e-4
"""Ridge of the normalised sums A, which keeps coefficients small that the motion leaves open."""

LEARNING_INTERVAL = 5
"""Blocks between two statistics of the healthy time; those of each block are nearly the same."""

WHITE_INFLATION = 0.5
"""Least inflation of the statistics: that of white noise in an exponential window."""

SUM_FLOOR = 1e-24
"""Term that keeps sums of squares above zero where nothing has moved."""

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

PARTS_TO_CHECK: dict[Kind, str] = {
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
    def parts_to_check(self) -> str:
        """Parts of the machine to look at."""
        return PARTS_TO_CHECK[self.kind]

    def __str__(self) -> str:
        location = "machine" if self.leg is None else f"leg {self.leg}"
        note_text = f" ({self.note})" if self.note else ""
        return f"{self.time:.3f} s: {self.kind}, {location}, {self.size:.4g} {self.unit}{note_text}"


Cause = tuple[Kind, int | None]
"""Kind and leg, from 1."""


class Hypothesis(NamedTuple):
    """A cause with the columns of F whose coefficients describe it."""

    cause: Cause
    columns: tuple[int, ...]
    min_size: float
    """size below which the cause is not worth a report"""
    unit: str
    one_sided: bool = False
    """whether a negative size is no fault, such as falling friction"""
    is_vector: bool = False
    """whether its size is the norm of all its coefficients, or else the first one"""
    note: str = ""


class LikelihoodWindow:
    """Sums over an exponential window of blocks."""

    def __init__(self, columns: int, block_time: float) -> None:
        """Start with empty sums for a number of columns of F."""
        self._decay = exp(-block_time / FORGETTING_TIME)
        self.squares, self.products = np.zeros((columns, columns)), np.zeros(columns)
        self.energy = self.healthy_energy = self.count = 0.0

    def clear(self) -> None:
        """Reset all sums to zero."""
        self.squares[:], self.products[:] = 0.0, 0.0
        self.energy = self.healthy_energy = self.count = 0.0

    def add(self, residual: FloatArray, columns: FloatArray) -> None:
        """Add a block: residuals `(n,)` and F `(n, k)`, both divided by healthy deviations."""
        self.squares *= self._decay
        self.squares += columns.T @ columns
        self.products *= self._decay
        self.products += columns.T @ residual
        self.energy = self._decay * self.energy + float(residual @ residual)
        self.healthy_energy = self._decay * self.healthy_energy + len(residual)
        self.count = self._decay * self.count + 1.0

    def means(self, columns: slice) -> FloatArray:
        """Return the estimates of columns, each as if it were the only one."""
        return self.products[columns] / (np.diag(self.squares)[columns] + SUM_FLOOR)

    def estimate(self, columns: Sequence[int]) -> tuple[float, FloatArray]:
        """Return b' A^-1 b and the estimates A^-1 b of some columns."""
        if len(columns) == 1:  # most causes have one number
            square = (
                float(self.squares[columns[0], columns[0]]) * (1.0 + CONDITION_RIDGE) + SUM_FLOOR
            )
            product = float(self.products[columns[0]])
            return product * product / square, np.array([product / square])
        index = np.array(columns, dtype=np.intp)
        if not len(index):
            return 0.0, np.zeros(0)
        squares, products = self.squares[np.ix_(index, index)], self.products[index]
        scale = np.sqrt(np.diag(squares) + SUM_FLOOR)
        normalised = squares / np.outer(scale, scale) + CONDITION_RIDGE * np.eye(len(index))
        solution = np.linalg.solve(normalised, products / scale)
        return float(products / scale @ solution), solution / scale


class CauseDetector:
    """Finds which cause explains the residuals of one kind, and when that is worth an alarm.

    Attributes:
        active: causes whose alarms have been raised and have not ended.
        leading: likeliest cause of the present suspicion; None without a likeliest one.
        suspected_since: [s] time at which the present suspicion began; None without a suspicion.
        onset_sizes: size of each hypothesis when the last suspicion began.
        thresholds: threshold of the statistic g of each hypothesis.
        inflation: lambda of each hypothesis.
        ratios: size of each hypothesis relative to its threshold.
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
            hypotheses: the possible causes; those of kind "unexplained" are never named before
                `NAMING_TIME`.
            n_columns: number of columns of F.
            block_time: [s].
            confirmation: [s] time for which a cause must be the likeliest.
            describe: function that rewords an alarm for its reader; None leaves alarms as they are.
        """
        self._hypotheses, self._block_time = tuple(hypotheses), block_time
        self._confirmation, self._describe = confirmation, describe
        self.window = LikelihoodWindow(n_columns, block_time)
        self.inflation = np.ones(len(hypotheses))
        self.thresholds = np.full(len(hypotheses), np.inf)
        self.active: dict[Cause, Alarm] = {}
        self._columns: dict[Cause, tuple[int, ...]] = {}
        self._last_seen: dict[Cause, float] = {}
        self.suspected_since: float | None = None
        self.onset_sizes = np.zeros(len(hypotheses))
        self.leading: Cause | None = None
        self._leading_since = 0.0
        self._min_sizes = np.array([hypothesis.min_size for hypothesis in hypotheses])
        self._one_sided = np.array([hypothesis.one_sided for hypothesis in hypotheses])
        self._counts = np.array([len(hypothesis.columns) for hypothesis in hypotheses], dtype=float)
        self._unexplained_indices = [
            k for k, hypothesis in enumerate(hypotheses) if hypothesis.cause[0] == "unexplained"
        ]
        self.ratios = np.zeros(len(hypotheses))

    def learn(self, blocks: Sequence[tuple[FloatArray, FloatArray]]) -> None:
        """Learn inflation and thresholds from residuals and F of healthy blocks."""
        from scipy.stats import chi2

        rows = []
        for number, (residual, columns) in enumerate(blocks):
            self.window.add(residual, columns)
            if self.is_full and number % LEARNING_INTERVAL == 0:
                rows.append(
                    [self.window.estimate(hypothesis.columns)[0] for hypothesis in self._hypotheses]
                )
        self.window.clear()
        statistics = np.array(rows) if rows else np.zeros((1, len(self._counts)))
        self.inflation = np.maximum(statistics.mean(axis=0) / self._counts, WHITE_INFLATION)
        decisions = 3600.0 / (2.0 * FORGETTING_TIME) * len(self._counts)
        quantiles = chi2.isf(FALSE_ALARMS / decisions, self._counts)
        largest = statistics.max(axis=0) / self.inflation
        self.thresholds = np.maximum(quantiles, HEALTHY_MARGIN**2 * largest)

    @property
    def is_full(self) -> bool:
        """Whether the window holds more than a time constant of blocks."""
        return self.window.count * self._block_time > 0.63 * FORGETTING_TIME

    def clear(self) -> None:
        """Forget the window and the suspicion."""
        self.window.clear()
        self.suspected_since = self.leading = None

    def _known_columns(self) -> list[int]:
        """Return the columns of the active causes."""
        return sorted({k for columns in self._columns.values() for k in columns})

    def known_part(self, columns: FloatArray) -> FloatArray:
        """Return the residual `(n,)` of a block that active causes explain, from F `(n, k)`."""
        known_columns = self._known_columns()
        return columns[:, known_columns] @ self.window.estimate(known_columns)[1]

    def findings(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return statistic, size and explained fraction of each hypothesis.

        All are beyond what the active causes explain. A size is the first coefficient or the norm
        of all; a fraction is that of the energy beyond the healthy energy.
        """
        known_columns = self._known_columns()
        known_statistic, _ = self.window.estimate(known_columns)
        rows = []
        for hypothesis in self._hypotheses:
            other_columns = [k for k in known_columns if k not in hypothesis.columns]
            base = known_statistic
            if len(other_columns) < len(known_columns):
                base = self.window.estimate(other_columns)[0]
            joint_statistic, estimates = self.window.estimate([*hypothesis.columns, *other_columns])
            own = estimates[: len(hypothesis.columns)]
            size = float(np.linalg.norm(own) if hypothesis.is_vector else own[0])
            energy = max(joint_statistic - base, 0.0)
            unexplained = self.window.energy - self.window.healthy_energy - base
            rows.append((energy, size, energy / max(unexplained, energy, SUM_FLOOR)))
        energies, sizes, explained_fractions = np.array(rows).T
        return energies / self.inflation, sizes, explained_fractions

    def update(self, time: float, allowance: FloatArray | float = 0.0) -> list[Alarm]:
        """Return the alarms that are new after a block at `time` [s].

        Args:
            time: time of the block.
            allowance: increase of the smallest sizes, one for each hypothesis.
        """
        if not self.is_full:
            return []
        statistics, sizes, explained_fractions = self.findings()
        min_sizes, magnitudes = self._min_sizes + allowance, np.abs(sizes)
        relative_sizes = np.minimum(magnitudes / min_sizes, 1.0)
        self.ratios = np.sqrt(statistics / self.thresholds) * relative_sizes
        self._end_alarms(time)
        magnitudes[self._one_sided] = sizes[self._one_sided]
        is_fault = (statistics > self.thresholds) & (magnitudes > min_sizes)
        if self.suspected_since is None:
            self.suspected_since, self.onset_sizes = time, sizes
        elapsed = time - self.suspected_since
        winner = self._winner(explained_fractions, elapsed)
        if not is_fault.any() or (winner is not None and not is_fault[winner]):
            # There is no fault, or its likeliest cause is too small for a report.
            self.suspected_since = self.leading = None
        elif winner is not None:
            cause = self._hypotheses[winner].cause
            if self.leading != cause:
                self.leading, self._leading_since = cause, time
            if time - self._leading_since >= self._confirmation:
                return self._raise_alarm(time, self._hypotheses[winner], sizes[winner])
        elif elapsed >= NAMING_TIME and self._unexplained_indices:
            index = max(self._unexplained_indices, key=lambda k: statistics[k])
            if magnitudes[index] > min_sizes[index]:
                return self._raise_alarm(time, self._hypotheses[index], sizes[index])
        return []

    def _winner(self, explained_fractions: FloatArray, elapsed: float) -> int | None:
        """Return the index of the hypothesis that is certain; None where none is.

        A hypothesis is certain that is `MIN_LIKELIHOOD_RATIO` times likelier than other causes.

        Args:
            explained_fractions: those of `findings`.
            elapsed: [s] time since the suspicion began.
        """
        observations = 1.0 + min(elapsed, 2.0 * FORGETTING_TIME) / CORRELATION_TIME
        scores = -observations * np.log(1.0 - explained_fractions + MODEL_ERROR)
        scores -= self._counts * log(observations)
        unexplained, indices = self._unexplained_indices, range(len(scores))
        best = max((k for k in indices if k not in unexplained), key=lambda k: scores[k])
        cause = self._hypotheses[best].cause
        # An unexplained force in one leg rivals causes that have more coefficients.
        rivals = [
            scores[k]
            for k in indices
            if self._hypotheses[k].cause != cause
            and (k not in unexplained or self._counts[k] < self._counts[best])
        ]
        lead = scores[best] - max(rivals, default=-np.inf)
        return best if lead > 2.0 * log(MIN_LIKELIHOOD_RATIO) else None

    def _raise_alarm(self, time: float, hypothesis: Hypothesis, size: float) -> list[Alarm]:
        """Return the alarm of a hypothesis, unless it lasts already."""
        self.suspected_since = self.leading = None
        cause = hypothesis.cause
        if cause in self.active:
            return []
        plain_alarm = Alarm(time, *cause, float(size), hypothesis.unit, hypothesis.note)
        alarm = plain_alarm if self._describe is None else self._describe(plain_alarm)
        self.active[cause], self._columns[cause] = alarm, hypothesis.columns
        self._last_seen[cause] = time
        return [alarm]

    def _end_alarms(self, time: float) -> None:
        """End the alarms whose causes have been below their thresholds for long enough."""
        for cause in list(self.active):
            indices = [
                k for k, hypothesis in enumerate(self._hypotheses) if hypothesis.cause == cause
            ]
            if max(self.ratios[k] for k in indices) > CLEARING_FRACTION:
                self._last_seen[cause] = time
            elif time - self._last_seen[cause] > CLEARING_TIME:
                del self.active[cause], self._columns[cause]
