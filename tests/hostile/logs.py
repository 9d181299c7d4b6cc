"""Logs with faults: calls with spoiled arguments, and files with spoiled bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import twin
from hostile.values import spoiled
from twin.logs import Channel, Log, LogMapping, check_log, read_log, time_offset, write_log

PIECES = (b"nan", b"1e400", b"1e200", b"-", b",", b"\n", b"[", b"]", b"\0", b'"', b"{}", b"null")
"""Put into files, beside random bytes."""

TIME = np.linspace(0.0, 1.0, 60)
MOVED = np.sin(np.multiply.outer(TIME, np.arange(5.0, 11.0)))


@lru_cache(maxsize=1)
def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return functions with good arguments, by name."""
    machine = twin.load("stewart")
    legs = Channel("legs", TIME, 1000.0 + MOVED, "mm")

    def mapped(**rule: Any) -> Any:
        mapping = LogMapping.of({"signals": {"coordinates": rule}})
        return mapping.apply(Log((legs,)), machine)["coordinates"].values

    def checked(**given: Any) -> Any:
        return len(check_log(Log((Channel("coordinates", **given),)), machine))

    def compared(time: Any, values: Any, most: Any) -> Any:
        return tuple(time_offset(Channel("a", time, values, "m"), legs, most))

    return {
        "mapping": (
            mapped,
            {
                "channels": ["legs"],
                "unit": "mm",
                "sign": [1, 1, 1, -1, 1, 1],
                "offset": [0.0, 0.1, 0.0, 0.0, 0.0, 0.0],
                "legs": [1, 2, 3, 4, 6, 5],
                "delay": 0.01,
            },
        ),
        "check": (checked, {"time": TIME, "values": MOVED, "units": ("m",) * 6}),
        "offset": (compared, {"time": TIME, "values": MOVED, "most": 0.1}),
        "between": (lambda **o: legs.at(**o), {"times": [0.1, 0.2]}),
    }


@lru_cache(maxsize=1)
def texts() -> dict[str, bytes]:
    """Return the bytes of good files, by the ending of their names."""
    log = Log((Channel("coordinates", TIME, 1.2 + 0.01 * MOVED, "m"),), {"machine": "stewart"})
    with tempfile.TemporaryDirectory() as folder:
        return {
            ending: write_log(log, Path(folder) / f"good{ending}").read_bytes()
            for ending, library in ((".csv", "csv"), (".parquet", "pyarrow"), (".mcap", "mcap"))
            if find_spec(library)
        }


def log_input(random: Random) -> tuple[str, Callable[[], Any]]:
    """Return a name and a call that reads a spoiled file, or has a spoiled argument."""
    if random.random() < 0.4:
        name = random.choice(sorted(calls()))
        function, good = calls()[name]
        field = random.choice(sorted(good))
        given = good | {field: spoiled(good[field], random)}
        return name, lambda: function(**given)
    ending = random.choice(sorted(texts()))
    content = _damaged(texts()[ending], random)

    def read() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"bad{ending}"
            path.write_bytes(content)
            return len(check_log(read_log(path), twin.load("stewart")))

    return f"read {ending}", read


def _damaged(content: bytes, random: Random) -> bytes:
    """Return bytes with a few changes, cuts and insertions."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        place = random.randrange(len(data) + 1)
        kind = random.choice(("change", "cut", "insert", "piece", "end"))
        if kind == "change":
            data[place : place + 1] = random.randbytes(1)
        elif kind == "cut":
            del data[place : place + random.randrange(20)]
        elif kind == "insert":
            data[place:place] = random.randbytes(random.randrange(10))
        elif kind == "piece":
            data[place:place] = random.choice(PIECES)
        elif random.random() < 0.2:
            del data[place:]
    return bytes(data)
