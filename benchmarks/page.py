"""The live page on an idle machine: time to its first picture, and the server's load at rest.

    PYTHONPATH=tests:tests/support python benchmarks/page.py

Chromium draws in software. The first visit warms up server and browser and does not count.
"""

from __future__ import annotations

from os import getloadavg
from statistics import median
from time import perf_counter, process_time, sleep

from browser_rig import Visitor, background, browser_command, open_browser
from live_rig import Live
from playwright.sync_api import Browser

from twin.cli.console import line
from twin.simulation.live.runner import UNWATCHED_TIMEOUT

WINDOW = (1280, 800)
VISITS = 5
REST = 30.0
"""[s] over which the load at rest is taken."""


def first_picture(browser: Browser, url: str) -> float:
    """Return the time [s] from the address to a picture with the machine."""
    visitor = Visitor(browser, WINDOW)
    began = perf_counter()
    visitor.page.goto(url)
    visitor.page.locator("canvas[data-engine]").wait_for()
    visitor.wait(lambda: background(visitor.scene()) < 0.9, "the machine is drawn")
    taken = perf_counter() - began
    visitor.close()
    return taken


def main() -> None:
    """Print both."""
    command = browser_command()
    assert command is not None, "Chromium is missing: apt install chromium"
    live = Live("stewart")
    try:
        with open_browser(command) as browser:
            times = [first_picture(browser, live.url) for _ in range(1 + VISITS)][1:]
        sleep(UNWATCHED_TIMEOUT + 2.0)
        before = process_time()
        sleep(REST)
        load = 100.0 * (process_time() - before) / REST
    finally:
        live.close()
    line(f"first picture: {median(times):.1f} s, {min(times):.1f} to {max(times):.1f} s")
    line(f"server at rest, no page open: {load:.2f} % of a core")
    line(f"load average of the machine meanwhile: {getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
