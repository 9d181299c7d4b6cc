"""Many generated inputs, each with a seed of its own, and what became of them."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hostile import calls, commands, copies, damage, extensions, files, links, logs
from hostile.outcome import Outcome, aside, outcome
from twin.errors import TwinError

Input = tuple[str, Callable[[], Any]]

GENERATORS = {
    "files": files.file_input,
    "calls": calls.call_input,
    "commands": commands.command_input,
    "logs": logs.log_input,
    "copies": copies.copy_input,
    "links": links.link_input,
    "ends": links.killed_input,
    "damage": damage.damage_input,
    "caches": damage.cache_input,
    "extensions": extensions.extension_input,
}

SHARES = {
    "files": 0.38,
    "calls": 0.378,
    "commands": 0.04,
    "logs": 0.04,
    "links": 0.04,
    "ends": 0.002,
    "copies": 0.01,
    "damage": 0.05,
    "caches": 0.02,
    "extensions": 0.04,
}
"""Of all inputs; a command takes as long as a hundred calls, a killed one as a thousand."""

MEMORY = 4 << 30
"""Bytes beyond those in use that an input may ask for."""


class Judged(NamedTuple):
    """One input and its outcome."""

    kind: str
    number: int
    name: str
    outcome: Outcome


def judged(kind, number, seed):
    """Return the outcome of the input of a kind, a number and a seed."""
    name, call = GENERATORS[kind](Random(f"{seed}/{kind}/{number}"))
    long = kind == "commands" and name in commands.LONG
    return Judged(kind, number, name, outcome(call, may_take_long=long, waits=kind == "ends"))


def numbers(count):
    """Return kind and number of so many inputs, the slow ones spread among the others."""
    listed = [(kind, k) for kind, share in SHARES.items() for k in range(round(share * count))]
    Random(0).shuffle(listed)
    return listed


@lru_cache(maxsize=1)
def warmed_up():
    """Use everything once as it should be: what is compiled then is not counted."""
    for call in calls.calls().values():
        with suppress(TwinError), aside():
            call.function(**call.good)
    for function, good in logs.calls().values():
        function(**good)
    for number in range(copies.PROCESSES):
        copies.warm_up(number)
    for texts, use in files.USES.values():
        for seed in range(20):
            _written_and_used(texts()[seed % len(texts())], use, seed)


def warm_up_commands():
    """Run commands as they should be, in this process: what they compile is kept on disk."""
    for name, words in commands.BASES.items():
        if name != "workspace":  # it compiles nothing of its own
            with commands.alone():
                commands.CliRunner().invoke(commands.app, [name, *words.split()])


def _written_and_used(text, use, seed):
    import tempfile

    with tempfile.TemporaryDirectory() as folder, suppress(TwinError):
        file = Path(folder) / "good.toml"
        file.write_text(text, encoding="utf-8")
        use(file, Random(seed))


def _part(arguments):
    chosen, seed = arguments
    warmed_up()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return [judged(kind, number, seed) for kind, number in chosen]


def judge(count, seed=0, processes=2):
    """Return the outcomes of so many inputs."""
    listed = numbers(count)
    warm_up_commands()
    parts = [(listed[k :: 8 * processes], seed) for k in range(8 * processes)]
    with get_context("spawn").Pool(processes) as pool:
        return [each for part in pool.imap_unordered(_part, parts) for each in part]


def table(found):
    """Return a table of kinds and outcomes, and a line for each fault."""
    found = list(found)
    shown = Counter(
        (each.kind, "fault" if each.outcome.is_fault else each.outcome.kind) for each in found
    )
    kinds = ("result", "refused", "long", "fault")
    lines = [f"{'':10}" + "".join(f"{name:>10}" for name in kinds)]
    for kind in SHARES:
        lines.append(f"{kind:10}" + "".join(f"{shown[kind, name]:10}" for name in kinds))
    faults = [each for each in found if each.outcome.is_fault]
    lines += [f"{each.kind} {each.number} ({each.name}): {each.outcome.kind}" for each in faults]
    return "\n".join(lines)
