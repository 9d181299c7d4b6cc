"""Processes and their descendants, as the kernel lists them."""

from contextlib import suppress
from pathlib import Path


def family(ancestor):
    """Return a process and all that descend from it."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # of a process that has just ended
            number, rest = status.read_text().split(" (", 1)
            parents[int(number)] = int(rest.rpartition(")")[2].split()[1])
    found, more = set[int](), {ancestor}
    while more:
        found |= more
        more = {child for child, parent in parents.items() if parent in found} - found
    return found


def alive(processes):
    """Return those that have not ended; one that waits for its parent to notice has."""
    return {process for process in processes if Path(f"/proc/{process}/exe").exists()}
