"""Values that are no argument of the right kind, or only look like one; texts likewise."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

Maker = Callable[[], Any]


class Silent:
    """An object whose description fails, as some wrapped ones do."""

    def __repr__(self):
        raise RuntimeError("no description")


def nested(depth):
    """Return a list in a list, and so on."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


MAKERS = (
    lambda: None,
    lambda: True,
    lambda: False,
    lambda: 0,
    lambda: 1,
    lambda: -1,
    lambda: 3,
    lambda: 10**30,
    lambda: 10**400,
    lambda: 10**5000,
    lambda: 0.0,
    lambda: -0.0,
    lambda: 0.5,
    lambda: -2.5,
    lambda: 1e-300,
    lambda: 5e-324,
    lambda: 1e20,
    lambda: 1e300,
    lambda: -1e308,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -float("inf"),
    lambda: 1j,
    lambda: Fraction(1, 3),
    lambda: Decimal("0.1"),
    lambda: "",
    lambda: "x",
    lambda: "z",
    lambda: "1.5",
    lambda: "3 deg",
    lambda: "nan",
    lambda: "a" * 3000,
    lambda: "\N{SNOWMAN}\0\ud800",
    lambda: "../..",
    lambda: b"x",
    lambda: bytearray(3),
    lambda: memoryview(b"abc"),
    lambda: Path("/dev/null/such/place"),
    lambda: datetime.date(2020, 1, 1),
    lambda: object(),
    lambda: Silent(),
    lambda: float,
    lambda: len,
    lambda: lambda *_: float("nan"),
    lambda: ValueError("x"),
    lambda: Ellipsis,
    lambda: slice(3),
    lambda: range(3),
    lambda: iter([1.0]),
    lambda: (each for each in (1.0, 2.0)),
    lambda: (),
    lambda: [],
    lambda: {},
    lambda: set(),
    lambda: {"a": 1},
    lambda: {1: 2},
    lambda: {"z": None},
    lambda: {1.0, 2.0},
    lambda: [None] * 6,
    lambda: ["a"] * 7,
    lambda: [True] * 6,
    lambda: [1 + 1j] * 6,
    lambda: [[1.0, 2.0], [3.0]],
    lambda: [1.0, [2.0]],
    lambda: [[[[]]]],
    lambda: nested(60),
    lambda: nested(3000),
    lambda: list(range(5000)),
    lambda: [float("nan")] * 6,
    lambda: [0.0] * 7,
    lambda: [1e300] * 6,
    lambda: [1.0] * 3,
    lambda: [1.0, 0.0, 0.0, 0.0],
    lambda: np.zeros(0),
    lambda: np.zeros(3),
    lambda: np.zeros(6),
    lambda: np.zeros((7, 0)),
    lambda: np.ones((2, 3)),
    lambda: np.ones((2, 2, 2)),
    lambda: np.full(7, 1e300),
    lambda: np.full(6, np.nan),
    lambda: np.array(3.0),
    lambda: np.array([object()] * 6),
    lambda: np.array(["a", "b"]),
    lambda: np.array([1 + 1j] * 6),
    lambda: np.array([True, False]),
    lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    lambda: np.ma.masked_all(6),
    lambda: np.zeros(3, dtype=[("a", float), ("b", int)]),
    lambda: np.float32("nan"),
    lambda: np.float64(1e308),
    lambda: np.int64(-3),
    lambda: np.uint8(200),
    lambda: np.bool_(True),
    lambda: np.str_("z"),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.random.default_rng(0),
)

TEXTS = (
    *("", " ", "nan", "inf", "-inf", "-1", "0", "1", "3", "0.5", "1e308", "1e-308", "-1e300"),
    *("x", "z", "\N{SNOWMAN}", "a" * 3000, "1" * 5000, "9" * 400, "[1,2", "[" * 3000, "3 deg"),
    *("3 furlong", "1,2,3", "1,,2", "0:1", "0:1:0", "1:2:3:4:5", "=", "a=b=c", "=1", "--", "-x"),
    *(
        "none",
        "null",
        "true",
        "{}",
        "[[]]",
        '{"a": 1}',
        "/dev/null",
        "/dev/null/such/file.toml",
        ".",
        "..",
    ),
    *("stewart", "rss", "still", "cascade", "mujoco", "hardware", "nan,nan,nan", "1e400", "0x10"),
    *("1;2", "%s", "{0}", "$HOME", "'", '"', "\\", "a.npz", "a.csv", "a.html", "twin/None-v0"),
)
"""Texts of the command line; no number among them means hours of honest work."""


def bad_value(random):
    """Return a value of the list, now and then one inside another."""
    value = random.choice(MAKERS)()
    chance = random.random()
    if chance < 0.05:
        return [value] * random.choice((1, 3, 6, 7))
    if chance < 0.08:
        return {random.choice(("z", "x", "a")): value}
    return value


def spoiled(value, random):
    """Return something that is not quite a good value: most often an array with a fault."""
    if isinstance(value, str | type(None) | bool | dict) or random.random() < 0.6:
        return bad_value(random)
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        return bad_value(random)
    change = random.choice(("entry", "shorter", "longer", "scaled", "text", "negative"))
    if not array.ndim:
        factor = random.choice((-1.0, 0.0, 1e-12, 1e12, 1e200, float("nan")))
        return float(array) * factor
    if change == "entry" and array.size:
        array.flat[random.randrange(array.size)] = random.choice((np.nan, np.inf, 1e308, -1e20))
    elif change == "shorter":
        array = array[..., :-1]
    elif change == "longer":
        array = np.concatenate([array, array], axis=-1)
    elif change == "text":
        return array.astype(str).tolist()
    else:
        with np.errstate(all="ignore"):
            array = array * (
                -1.0 if change == "negative" else random.choice((0.0, 1e-9, 1e9, 1e300))
            )
    return array
