"""The outcome of one input: a result, a TwinError, or a fault."""

from __future__ import annotations

import math
import signal
import warnings
from collections.abc import Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from traceback import extract_tb
from typing import NamedTuple

import numpy as np

from twin.errors import TwinError

RESULT, REFUSED, LONG = "result", "refused", "long"
"""Outcomes beside faults; `LONG` is for work that takes its time, such as a study."""

PATIENCE = 8.0
"""[s] of processor time for one input, so that a busy machine makes no fault."""

LONG_PATIENCE = 120.0
"""[s] for one that starts processes or waits for others."""

SHARE = 2.0
"""[s] that work may take which is allowed to be long; it is then left."""


class Outcome(NamedTuple):
    """What became of an input."""

    kind: str
    """`RESULT`, `REFUSED`, `LONG`, or what the fault is"""
    seconds: float = 0.0

    @property
    def is_fault(self):
        """Whether it is none of the good ones."""
        return self.kind not in (RESULT, REFUSED, LONG)


class Hang(BaseException):
    """An input takes longer than it may; no `except Exception` of the package takes it."""


@contextmanager
def time_limit(seconds, worked):
    """Raise `Hang` inside after some time, and after some processor time `worked`."""

    def end(*_):
        raise Hang

    timers = (
        (signal.ITIMER_REAL, signal.SIGALRM, seconds),
        (signal.ITIMER_PROF, signal.SIGPROF, worked),
    )
    before = [(number, signal.signal(number, end)) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0.0)
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def aside():
    """Be in a folder that nobody needs: bad paths are written to as well."""
    with TemporaryDirectory() as folder:
        deep = Path(folder) / "a" / "b" / "c"
        deep.mkdir(parents=True)
        with chdir(deep):
            yield


def outcome(call, *, may_take_long=False, waits=False):
    """Return what becomes of a call: numpy must not warn, and results must not hold NaN."""
    began = perf_counter()

    def ended(kind):
        return Outcome(kind, perf_counter() - began)

    try:
        worked = LONG_PATIENCE if waits else PATIENCE
        limit = time_limit(LONG_PATIENCE, SHARE if may_take_long else worked)
        with warnings.catch_warnings(), aside(), limit:
            warnings.simplefilter("error", RuntimeWarning)
            found = call()
            unsound = not_a_number(found)
    except TwinError as error:
        return ended(REFUSED if len(str(error)) > 8 else f"an error without words: {error!r}")
    except Hang:
        return ended(LONG if may_take_long else "takes too long")
    except Exception as error:
        return ended(described(error))
    return ended(f"NaN in {unsound}" if unsound else RESULT)


def described(error):
    """Return what an exception is and where it comes from."""
    own = [each for each in extract_tb(error.__traceback__) if "tests/hostile" not in each.filename]
    place = f"{own[-1].filename[-50:]}:{own[-1].lineno}" if own else "?"
    try:
        text = str(error)[:120]
    except Exception:
        text = "?"
    return f"{type(error).__name__} at {place}: {text}"


def not_a_number(value, name="result", depth=0):
    """Return the name of a part that is NaN, or empty."""
    if isinstance(value, float | np.floating):
        return name if math.isnan(value) else ""
    if isinstance(value, np.ndarray):
        return name if value.dtype.kind == "f" and np.isnan(value).any() else ""
    if isinstance(value, Mapping) and depth < 3:
        parts = value.items()
    elif isinstance(value, tuple | list) and depth < 3:
        parts = dict(enumerate(value)).items()
    else:
        return ""
    return next(filter(None, (not_a_number(v, f"{name}.{k}", depth + 1) for k, v in parts)), "")
