"""`make hostile`: 10,000 generated inputs, or one of them again.

PYTHONPATH=tests:tests/support python -m hostile [COUNT [SEED]]
PYTHONPATH=tests:tests/support python -m hostile KIND:NUMBER [SEED]
"""

from __future__ import annotations

import sys
import time
from random import Random

from hostile.run import GENERATORS, judge, judged, table

COUNT = 10_000


def main(words):
    """Judge inputs; return 1 where there is a fault."""
    first = words[0] if words else str(COUNT)
    seed = int(words[1]) if len(words) > 1 else 0
    if ":" in first:
        kind, _, number = first.partition(":")
        found = [judged(kind, int(number), seed)]
        if found[0].outcome.is_fault:
            GENERATORS[kind](Random(f"{seed}/{kind}/{number}"))[1]()
    else:
        began = time.perf_counter()
        found = judge(int(first), seed)
        print(f"{len(found)} inputs of seed {seed} in {time.perf_counter() - began:.0f} s")
    print(table(found))
    return int(any(each.outcome.is_fault for each in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
