"""Functions of logs with spoiled arguments; `damage` reads files with spoiled bytes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import twin
from hostile.values import spoiled
from twin.logs import Channel, Log, LogMapping, check_log, time_offset

TIME = np.linspace(0.0, 1.0, 60)
MOVED = np.sin(np.multiply.outer(TIME, np.arange(5.0, 11.0)))


@lru_cache(maxsize=1)
def calls():
    """Return functions with good arguments, by name."""
    machine = twin.load("stewart")
    legs = Channel("legs", TIME, 1000.0 + MOVED, "mm")

    def mapped(**rule):
        mapping = LogMapping.of({"signals": {"coordinates": rule}})
        return mapping.apply(Log((legs,)), machine)["coordinates"].values

    def checked(**given):
        return len(check_log(Log((Channel("coordinates", **given),)), machine))

    def compared(time, values, most):
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


def log_input(random):
    """Return a name and a call that has a spoiled argument."""
    name = random.choice(sorted(calls()))
    function, good = calls()[name]
    field = random.choice(sorted(good))
    given = good | {field: spoiled(good[field], random)}
    return name, lambda: function(**given)
