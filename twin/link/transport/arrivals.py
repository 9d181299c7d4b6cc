"""Order of arrivals: lost, doubled, reordered and late samples are told apart and counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from math import inf

from twin.link.protocol.sample import SEQUENCES, Sample

WINDOW = 4096
"""Sequence numbers back to which doubled samples are told from reordered ones."""

ALL = (1 << WINDOW) - 1
"""Bits of all sequence numbers of the window, the newest in the last place."""

SILENCE = 1.0
"""[s] Adopted: without a newer sample, after which an older number, or another sender, is a new
beginning."""

MAX_REASONS = 16
"""Kinds of what was left out that are told apart."""

LATE = 0.02
"""[s] Adopted: how much longer than the fastest sample a late one has taken."""

DRIFT = 1e-4
"""Adopted: largest relative difference of two clocks."""


@dataclass
class Counts:
    """Samples that arrived, and what was wrong with others."""

    received: int = 0
    """handed on"""
    lost: int = 0
    """never arrived, by the gaps in their sequence numbers"""
    doubled: int = 0
    """arrived before; left out"""
    reordered: int = 0
    """older than one handed on before, however old; left out"""
    late: int = 0
    """took 20 ms longer than the fastest; handed on"""
    restarted: int = 0
    """sequences that began anew"""
    malformed: int = 0
    """no datagrams of the protocol, with other legs or of another kind; left out"""
    foreign: int = 0
    """from hosts that are not allowed, or from a second sender; left out"""
    reasons: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    """what was wrong with malformed and foreign ones -> how many"""

    def refuse(self, reason: str) -> None:
        """Count one more that was left out for a reason; rare kinds share one."""
        known = reason in self.reasons or len(self.reasons) < MAX_REASONS
        self.reasons[reason if known else "of other kinds"] += 1

    def __str__(self) -> str:
        """Return the counts in words, without those that are zero."""
        names = [each.name for each in fields(self) if each.name != "reasons"]
        words = [f"{number} {name}" for name in names if (number := getattr(self, name))]
        return ", ".join(words) or "nothing received"


class Arrivals:
    """Sequence numbers and delays of one sender's samples.

    A number below the newest one is left out. It begins a new sequence where the sender's clock
    says that it is a later sample, or where nothing newer came for `SILENCE`.
    """

    def __init__(self, counts: Counts) -> None:
        """Begin with the first sample, counted in `counts`."""
        self._counts = counts
        self.restart()

    def restart(self) -> None:
        """Take the next sample as the first one."""
        self._newest, self._seen, self._time = -1, 0, -inf
        self._fastest, self._last = inf, 0.0

    def accept(self, sample: Sample, arrival: float) -> bool:
        """Count a sample and return whether to hand it on.

        Args:
            sample: as decoded.
            arrival: [s] of the own clock, which does not go back.
        """
        counts = self._counts
        ahead = (sample.sequence - self._newest + SEQUENCES // 2) % SEQUENCES - SEQUENCES // 2
        later = sample.time > self._time or arrival - self._last >= SILENCE
        if self._newest >= 0 and ahead < 0 and later:
            counts.restarted += 1
            self.restart()
        if self._newest < 0:
            self._seen = ALL  # none before it is missing
        elif ahead > 0:
            counts.lost += ahead - 1
            self._seen = (self._seen << min(ahead, WINDOW) | 1) & ALL
        else:
            self._leave_out(-ahead)
            return False
        self._newest, self._time = sample.sequence, sample.time
        counts.received += 1
        counts.late += self._is_late(arrival - sample.time, arrival)
        return True

    def _leave_out(self, behind: int) -> None:
        """Count a sample that is so many numbers behind the newest one."""
        counts = self._counts
        if behind < WINDOW and self._seen >> behind & 1:
            counts.doubled += 1
            return
        counts.reordered += 1
        if behind < WINDOW:
            self._seen |= 1 << behind
            counts.lost = max(counts.lost - 1, 0)

    def _is_late(self, delay: float, arrival: float) -> bool:
        """Return whether a delay between two clocks is much longer than the shortest so far."""
        self._fastest = min(self._fastest + DRIFT * (arrival - self._last), delay)
        self._last = arrival
        return delay > self._fastest + LATE
