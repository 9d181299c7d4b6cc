"""Order of arrivals: lost, doubled, reordered and late samples are told apart and counted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf

from twin.link.protocol.sample import SEQUENCES, Sample

WINDOW = 64
"""Sequence numbers back to which doubled ones are known; one further back is a new beginning."""

ALL = (1 << WINDOW) - 1
"""Bits of all sequence numbers of the window, the newest in the last place."""

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
    """older than one handed on before; left out"""
    late: int = 0
    """took 20 ms longer than the fastest; handed on"""
    restarted: int = 0
    """sequences that began anew"""
    malformed: int = 0
    """no datagrams of the protocol, with other legs or of another kind; left out"""
    foreign: int = 0
    """from hosts that are not allowed, or from a second sender; left out"""

    def __str__(self) -> str:
        """Return the counts in words, without those that are zero."""
        known = {name: number for name, number in asdict(self).items() if number}
        words = [f"{number} {name}" for name, number in known.items()]
        return ", ".join(words) or "nothing received"


class Arrivals:
    """Sequence numbers and delays of one sender's samples."""

    def __init__(self, counts: Counts) -> None:
        """Begin with the first sample, counted in `counts`."""
        self._counts = counts
        self.restart()

    def restart(self) -> None:
        """Take the next sample as the first one."""
        self._newest, self._seen = -1, 0
        self._fastest, self._last = inf, 0.0

    def accept(self, sample: Sample, arrival: float) -> bool:
        """Count a sample and return whether to hand it on.

        Args:
            sample: as decoded.
            arrival: [s] of the own clock, which does not go back.
        """
        counts = self._counts
        ahead = (sample.sequence - self._newest + SEQUENCES // 2) % SEQUENCES - SEQUENCES // 2
        if self._newest >= 0 and ahead <= -WINDOW:
            counts.restarted += 1
            self.restart()
        if self._newest < 0:
            self._newest, self._seen = sample.sequence, ALL  # none before it is missing
        elif ahead > 0:
            counts.lost += ahead - 1
            self._newest = sample.sequence
            self._seen = (self._seen << min(ahead, WINDOW) | 1) & ALL
        elif self._seen >> -ahead & 1:
            counts.doubled += 1
            return False
        else:
            self._seen |= 1 << -ahead
            counts.reordered += 1
            counts.lost = max(counts.lost - 1, 0)
            return False
        counts.received += 1
        counts.late += self._is_late(arrival - sample.time, arrival)
        return True

    def _is_late(self, delay: float, arrival: float) -> bool:
        """Return whether a delay between two clocks is much longer than the shortest so far."""
        self._fastest = min(self._fastest + DRIFT * (arrival - self._last), delay)
        self._last = arrival
        return delay > self._fastest + LATE
