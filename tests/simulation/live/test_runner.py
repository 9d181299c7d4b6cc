"""The runner keeps pace with the clock, and survives what its source and its callers do."""

import threading
import time
from contextlib import contextmanager

import pytest
from refusals import refused

from twin.simulation.live.runner import MAX_CATCH_UP, Runner


class Clockwork:
    """A source that only counts."""

    period = 1e-3

    def __init__(self, cost=0.0):
        self.time = 0.0
        self.stopped = ""
        self.real_time_factor = float("nan")
        self.closed = False
        self.threads = set()
        self.cost = cost

    def advance(self, duration):
        """Count."""
        self.threads.add(threading.current_thread().name)
        time.sleep(self.cost * duration)
        self.time += duration

    def reset(self):
        """Begin anew."""
        self.time = 0.0

    def close(self):
        """Take note."""
        self.closed = True


@contextmanager
def running(source, **options):
    runner = Runner(source, **options)
    runner.start()
    try:
        yield runner
    finally:
        runner.close()


def wait(condition):
    end = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def test_a_run_keeps_pace_with_the_clock():
    source = Clockwork()
    with running(source):
        wait(lambda: source.time > 0.0)
        began, before = time.perf_counter(), source.time
        wait(lambda: source.time > before + 0.5)
        passed = time.perf_counter() - began
    # Never ahead of the clock but for what was owed; late only as far as this machine is busy.
    assert source.time - before <= passed + 2.0 * MAX_CATCH_UP
    assert source.closed
    assert source.threads == {"twin-runner"}


def test_a_run_that_nobody_looks_at_waits(constants):
    constants("twin.simulation.live.runner", UNWATCHED_TIMEOUT=0.05, IDLE_POLL_INTERVAL=0.01)
    source, looking = Clockwork(), threading.Event()
    with running(source, is_watched=looking.is_set) as runner:
        wait(lambda: runner.waiting)
        seen = []
        # Time stands still while it waits: what a request sees is what the source had before.
        before = source.time
        runner.do(lambda: seen.append(source.time))
        wait(lambda: bool(seen))
        assert seen == [before]
        looking.set()
        wait(lambda: source.time > before + 0.2)
        assert not runner.waiting


def test_slow_motion_is_slow():
    source = Clockwork()
    with running(source) as runner:
        runner.set_speed(0.1)
        before, began = source.time, time.perf_counter()
        wait(lambda: source.time > before + 0.05)
        assert time.perf_counter() - began > 0.3
        with refused("speed"):
            runner.set_speed(0.0)


def test_a_source_that_is_too_slow_tells_so(constants):
    constants("twin.simulation.live.runner", MAX_CATCH_UP=0.01)
    source = Clockwork(cost=4.0)
    with running(source) as runner:
        wait(lambda: runner.real_time_factor == runner.real_time_factor)
        wait(lambda: runner.real_time_factor < 0.5)
        assert source.real_time_factor < 0.6


def test_paused_it_stands_and_steps():
    source, shown = Clockwork(), []
    with running(source, after_advance=lambda: shown.append(source.time)) as runner:
        runner.paused = True
        count = len(shown)
        wait(lambda: len(shown) > count + 2)
        stood = source.time
        wait(lambda: len(shown) > count + 5)
        assert source.time == stood
        for _ in range(3):
            runner.single_step()
        wait(lambda: source.time > stood + 2.5e-3)
        assert source.time == pytest.approx(stood + 3e-3)
        runner.paused = False
        wait(lambda: source.time > stood + 0.1)


def test_a_stopped_source_is_left_alone_until_it_is_reset():
    source = Clockwork()
    with running(source) as runner:
        wait(lambda: source.time > 0.0)
        runner.do(lambda: setattr(source, "stopped", "it broke"))
        wait(lambda: source.stopped != "" and runner.real_time_factor != runner.real_time_factor)
        assert source.real_time_factor != source.real_time_factor, "not the one before the stop"
        stood = source.time
        runner.single_step()
        served = threading.Event()
        runner.do(served.set)
        assert served.wait(10.0)
        assert source.time == stood
        runner.do(lambda: setattr(source, "stopped", ""))
        runner.paused = False
        wait(lambda: source.time > stood)


def test_errors_of_callers_and_pages_do_not_end_it(caplog):
    source, calls = Clockwork(), []

    def shown():
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("the page is gone")

    with running(source, after_advance=shown) as runner:
        runner.do(lambda: 1 / 0)
        wait(lambda: len(calls) > 5)
        assert source.time > 0.0
    assert "division by zero" in caplog.text
    assert "the page is gone" in caplog.text


def test_closing_twice_is_allowed_and_ends_the_thread():
    source = Clockwork()
    runner = Runner(source)
    runner.start()
    runner.close()
    runner.close()
    assert "twin-runner" not in {thread.name for thread in threading.enumerate()}
