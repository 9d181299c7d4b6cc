"""Run all mutations on two processes, and write the table of what catches each."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from mutations.catalogue import MUTATIONS, outcome_at
from mutations.table import write


def main() -> int:
    """Return 1 where a mutation is not caught."""
    start = time.perf_counter()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        outcomes = list(pool.map(outcome_at, range(len(MUTATIONS))))
    write(outcomes)
    missed = [one.mutation for one in outcomes if not one.caught]
    for mutation in missed:
        print(f"not caught: {mutation.machine}, {mutation.side}: {mutation.text}")
    count = len(outcomes) - len(missed)
    print(f"{count} of {len(outcomes)} caught in {time.perf_counter() - start:.0f} s")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
