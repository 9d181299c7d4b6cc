"""Windows of a log that is read block by block: memory holds one window and one block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from twin.basics.arrays import positive
from twin.logs.channel import Channel
from twin.logs.log import Log, join

ROUNDING = 1e-9
"""Part of a window by which a sample at its end may be early."""


def windows(blocks: Iterable[Log], seconds: float) -> Iterator[Log]:
    """Yield logs of `seconds` each, from the first time on; windows without samples are left out.

    A window has all channels that were seen so far, some of them maybe without samples.

    A sample whose clock steps back belongs to the window that is open when it is read.

    Raises:
        InputError: a length that is not above zero.
    """
    length = positive(seconds, "seconds")
    start: float | None = None
    opened = 0.0
    known: dict[str, Channel] = {}
    waiting: list[Log] = []
    for block in blocks:
        known = {each.name: each.kept(slice(0)) for each in block.channels} | known
        filled = [each for each in block.channels if len(each)]
        if not filled:
            continue
        start = block.span[0] if start is None else start
        numbers = [
            np.maximum.accumulate(
                np.maximum(np.floor((each.time - start) / length + ROUNDING), opened)
            )
            for each in filled
        ]
        for number in np.unique(np.concatenate(numbers)):
            if waiting and number > opened:
                yield join([Log(tuple(known.values())), *waiting])
                waiting = []
            opened = float(number)
            parts = zip(filled, numbers, strict=True)
            kept = tuple(each.kept(own == number) for each, own in parts)
            waiting.append(Log(kept, block.metadata))
    if waiting:
        yield join([Log(tuple(known.values())), *waiting])
